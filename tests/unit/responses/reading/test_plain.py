"""The fast reader reads what the careful one reads, and leaves to it what it must refuse."""

import csv
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.foundation.errors import InvalidInput
from backend.responses.reading import plain
from backend.responses.reading.careful import read_carefully
from backend.responses.reading.cells import NotPlain
from backend.responses.reading.plain import read_plain

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
def test_both_readers_give_the_same_answers(tmp_path_factory, rows, is_time, line_end, quoting, details):
    columns = [*rows[0], "trial_index"]
    if not is_time:
        columns.remove("exposure_ms")
    file = io.StringIO(newline="")
    writer = csv.DictWriter(file, columns, lineterminator=line_end, quoting=quoting, extrasaction="ignore")
    writer.writeheader()
    writer.writerows(row | {"trial_index": i} for i, row in enumerate(rows))
    path = written(tmp_path_factory.getbasetemp(), file.getvalue(), "both.csv")
    careful = as_data(read_carefully(path, details))

    try:
        fast = as_data(read_plain(path, details))
    except NotPlain:
        assert any(mark in str([*row.values()]) for row in rows for mark in ',"')
        return

    assert fast == careful


@pytest.mark.parametrize(
    "text",
    [
        f"{HEADER}\nm,e,real,fake\nm,f,fake,fake",
        f"\ufeff{HEADER}\r\nm,e,real,fake\r\nm,f,fake,fake\r\n",
        '"model","evaluator","truth","response"\n"m","e","real","fake"\n"m","f","fake","fake"\n',
        f"{HEADER},trial_index\nm,e,real,fake,\nm,f,fake,fake,\n",
        f"{HEADER},method\nm,e,real,fake,infinity\nm,f,fake,fake,infinity\n",
        "response,truth,evaluator,model\nfake,real,e,m\nfake,fake,f,m\n",
        f"{HEADER}\nm,e,REAL, Fake\nm,f,Fake,fake \n",
    ],
)
def test_plain_files_are_read_fast(tmp_path, text):
    path = written(tmp_path, text)

    answers = read_plain(path, details=True)

    assert as_data(answers) == as_data(read_carefully(path, details=True))
    assert answers.evaluator.names == ["e", "f"]


@pytest.mark.parametrize(
    "text",
    [
        f'{HEADER}\n"m,n",e,real,fake\n',
        f'{HEADER}\nm"n,e,real,fake\n',
        f'{HEADER}\n"m""n",e,real,fake\n',
        f"{HEADER}\n\nm,e,real,fake\n",
        f"{HEADER}\nm,{'e' * 300},real,fake\n",
        f"{HEADER},trial_index\nm,e,real,fake,1234567890\n",
        "model,evaluator,truth,response\rm,e,real,fake\r",
    ],
)
def test_files_that_are_not_plain_are_left_to_the_careful_reader(tmp_path, text):
    path = written(tmp_path, text)

    with pytest.raises(NotPlain):
        read_plain(path, details=False)
    assert len(read_carefully(path, details=False)) == 1


def test_names_are_told_apart_across_blocks_of_any_length(tmp_path, monkeypatch):
    monkeypatch.setattr(plain, "_BLOCK_BYTES", 64)
    lines = [f"model-{'x' * (i % 40)},evaluator-{i % 13:09d},real,fake" for i in range(300)]
    path = written(tmp_path, "\n".join([HEADER, *lines]))

    answers = read_plain(path, details=False)

    assert as_data(answers) == as_data(read_carefully(path, details=False))
    assert len(answers.model.names) == 40


def test_a_bad_number_of_a_column_in_use_is_refused_by_line(tmp_path):
    path = written(tmp_path, f"{HEADER},rt\nm,e,real,fake,\nm,e,real,fake,soon\n")

    with pytest.raises(NotPlain):
        read_plain(path, details=True)
    with pytest.raises(InvalidInput, match="line 3: rt must be a number, not 'soon'"):
        read_carefully(path, details=True)
