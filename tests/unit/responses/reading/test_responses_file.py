"""A responses file as columns: the answers that its rows are, however the file is written."""

import csv
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.analysis.table.response_rows import answers_of
from backend.foundation.csv_formulas import escape_formula
from backend.foundation.errors import InvalidInput
from backend.responses.readers import read_answers
from backend.responses.reading import chunks
from backend.responses.reading.responses_file import read_columns

HEADER = "model,evaluator,truth,response"


def written(folder, text, name="r.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def as_data(answers):
    """Return answers as plain data that compare."""
    columns = {"model": answers.model, "evaluator": answers.evaluator, **answers.texts}
    numbers = {"is_fake": answers.is_fake, "said_fake": answers.said_fake, **answers.numbers}
    numbers |= {} if answers.simulated is None else {"simulated": answers.simulated}
    if answers.method == "time":
        order = {}
        blocks = np.array([order.setdefault(code, len(order)) for code in answers.block])
        numbers |= {"block": blocks, "exposure_ms": answers.exposure_ms}
    return {
        "method": answers.method,
        **{name: [column.names[code] for code in column.codes] for name, column in columns.items()},
        **{name: np.nan_to_num(column, nan=-1.0).tolist() for name, column in numbers.items()},
    }


names = st.text(st.characters(exclude_categories=("Cc", "Cs")), min_size=1, max_size=20).filter(str.strip)
sides = st.sampled_from(["real", "fake", "Real", "FAKE", " fake"])
numbers = st.none() | st.floats(0, 1e6).map(lambda ms: round(ms, 3))
rows = st.lists(
    st.fixed_dictionaries(
        {
            "class": st.sampled_from(["", "cat", "a dog of more than eight letters"]),
            "model": names, "evaluator": names, "block": st.integers(0, 3), "truth": sides,
            "response": sides, "exposure_ms": st.floats(1, 1000), "shown_ms": numbers, "rt": numbers,
            "stimulus": names, "unknown": st.text("ab,c", max_size=3),
            "simulated": st.sampled_from(["", "true", "false", "True"]),
        }
    ),
    min_size=1,
    max_size=30,
)  # fmt: skip


@settings(deadline=None, max_examples=50)
@given(rows, st.booleans(), st.sampled_from(["\n", "\r\n"]), st.sampled_from([0, 1]), st.booleans())
def test_a_file_gives_the_answers_of_its_rows(tmp_path_factory, rows, is_time, line_end, quoting, simulated):
    rows = [row | {"trial_index": i, "simulated": "true" if simulated else ""} for i, row in enumerate(rows)]
    columns = [name for name in rows[0] if is_time or name != "exposure_ms"]
    file = io.StringIO(newline="")
    writer = csv.DictWriter(file, columns, lineterminator=line_end, quoting=quoting, extrasaction="ignore")
    writer.writeheader()
    writer.writerows({name: escape_formula(value) for name, value in row.items()} for row in rows)
    path = written(tmp_path_factory.getbasetemp(), file.getvalue(), "both.csv")

    found = read_answers(path, details=True)

    kept = [{name: row[name] for name in columns if row[name] is not None} for row in rows]
    assert as_data(found) == as_data(answers_of(kept, "time" if is_time else "infinity"))


@pytest.mark.parametrize(
    "text",
    [
        f"{HEADER}\nm,e,real,fake\nm,f,fake,fake",
        f"\ufeff{HEADER}\r\nm,e,real,fake\r\nm,f,fake,fake\r\n",
        f"{HEADER}\rm,e,real,fake\rm,f,fake,fake\r",
        '"model","evaluator","truth","response"\n"m","e","real","fake"\n"m","f","fake","fake"\n',
        f"{HEADER},trial_index\nm,e,real,fake,\nm,f,fake,fake,\n",
        f"{HEADER},trial_index\nm,e,real,fake,12345678901234567\nm,f,fake,fake,0\n",
        f"{HEADER},method\nm,e,real,fake,infinity\nm,f,fake,fake,infinity\n",
        "response,truth,evaluator,model\nfake,real,e,m\nfake,fake,f,m\n",
        f"{HEADER}\nm,e,REAL, Fake\nm,f,Fake,fake \n",
        f"{HEADER}\n\nm,e,real,fake\n\n\nm,f,fake,fake\n\n",
        f'{HEADER},class\nm,e,real,fake,"a, ""b""\nc"\nm,f,fake,fake,\n',
    ],
)
def test_a_file_is_read_however_it_is_written(tmp_path, text):
    answers = read_columns(written(tmp_path, text), details=True)

    assert answers.evaluator.names == ["e", "f"]
    assert (answers.is_fake.tolist(), answers.said_fake.tolist()) == ([False, True], [True, True])


@pytest.mark.parametrize("name", ['"m,n"', 'm"n', '"m""n"', "m" * 300, '"m\nn"'])
def test_a_name_may_hold_anything(tmp_path, name):
    path = written(tmp_path, f"{HEADER}\n{name},e,real,fake\n")

    (found,) = read_columns(path, details=False).model.names
    assert found == next(csv.reader(io.StringIO(name, newline="")))[0]


def test_names_are_told_apart_across_chunks(tmp_path, monkeypatch):
    monkeypatch.setattr(chunks, "_CHUNK_ROWS", 16)
    monkeypatch.setattr(chunks, "_BATCH_ROWS", 4)
    lines = [f"model-{'x' * (i % 40)},evaluator-{i % 13:09d},real,fake" for i in range(301)]

    answers = read_columns(written(tmp_path, "\n".join([HEADER, *lines])), details=False)

    assert [answers.model.names[code] for code in answers.model.codes] == [
        f"model-{'x' * (i % 40)}" for i in range(301)
    ]
    assert (len(answers.model.names), len(answers.evaluator.names)) == (40, 13)


@pytest.mark.parametrize("cell", ["soon", "nan", "inf", "1_0", "\u0661", "1e999"])
@pytest.mark.parametrize("others", ["", "2.5"])
def test_a_bad_number_of_a_column_in_use_is_refused_by_line(tmp_path, others, cell):
    path = written(tmp_path, f"{HEADER},rt\nm,e,real,fake,{others}\nm,e,real,fake,{cell}\n")

    with pytest.raises(InvalidInput, match=f"line 3: rt must be a number, not '{cell}'"):
        read_columns(path, details=True)


@pytest.mark.parametrize("cell", [" 2.5", "2.5e0", "+2.5"])
def test_a_number_may_be_written_in_other_ways(tmp_path, cell):
    path = written(tmp_path, f"{HEADER},rt\nm,e,real,fake,\nm,e,real,fake,{cell}\n")

    first, second = read_columns(path, details=True).numbers["rt"]
    assert (np.isnan(first), second) == (True, 2.5)


def test_a_trial_of_one_person_may_stand_in_another_model_but_not_twice_in_one(tmp_path):
    lines = [f"{model},e{i % 3},real,real,{i // 3}" for model in "ab" for i in range(9)]
    good = written(tmp_path, "\n".join([f"{HEADER},trial_index", *lines]))
    bad = written(tmp_path, "\n".join([f"{HEADER},trial_index", *lines, lines[4], lines[2]]), "bad.csv")

    assert len(read_columns(good, details=False)) == 18
    with pytest.raises(InvalidInput, match=r"bad\.csv line 20: trial_index 1 of e1 is in the file twice"):
        read_columns(bad, details=False)
