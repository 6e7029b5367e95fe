"""The responses file: bad rows are refused by line and column; what is written comes back."""

import csv
import gzip
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.foundation.csv_formulas import escape_formula
from backend.foundation.errors import InvalidInput, NotFound
from backend.responses.readers import COLUMNS, read_answers, write_responses
from backend.responses.reading import chunks
from backend.responses.reading.metrics import read_metrics
from tests.unit.response_rows import read_responses, score_file

HEADER = "model,evaluator,truth,response"
FLASHED = f"{HEADER},block,trial_index,exposure_ms"


def written(folder, text, name="r.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_rows_are_read_with_the_known_columns_they_have(tmp_path):
    path = written(tmp_path, f"{HEADER},extra,rt,flags\nm,e,real,fake,7,0.25,late hidden\n")

    assert list(read_responses(path)) == [
        {
            "model": "m", "evaluator": "e", "truth": "real", "response": "fake", "rt": 0.25,
            "flags": ("late", "hidden"), "method": "infinity",
        }
    ]  # fmt: skip


def test_a_byte_order_mark_and_empty_lines_do_no_harm(tmp_path):
    path = written(tmp_path, f"\ufeff{HEADER}\n\nm,e,real,fake\n\n")

    assert len(list(read_responses(path))) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{HEADER}\nm,e,maybe,fake\n", r"r\.csv line 2: truth must be 'real' or 'fake', not 'maybe'"),
        (f"{HEADER}\nm,e,real,\n", "line 2: response must be 'real', 'fake' or 'not_sure', not ''"),
        (f"{HEADER}\n,e,real,fake\n", "line 2: model must be a name, not ''"),
        (f"{HEADER},simulated\nm,e,real,fake,\nm,e,real,fake,1\n", "line 3: simulated must be true or false"),
        (f"{HEADER}\nm, ,real,fake\n", "line 2: evaluator must be a name, not ' '"),
        (f"{HEADER}\nm,e,real\n", "line 2: expected 4 cells, got 3"),
        (f"{HEADER}\n\nm,e,real,fake\n\nm,e,real\n", "line 5: expected 4 cells, got 3"),
        (f'{HEADER},class\nm,e,real,fake,"a\nb"\nm,e,no,fake,x\n', "line 4: truth must be 'real'"),
        ("model,truth\nm,real\n", "evaluator, response missing"),
        ("model|evaluator|truth|response\n", "separated by commas"),
        (f"{HEADER},model\nm,e,real,fake,n\n", "must name a column once; model repeated"),
        ("", "line 1: the header must name"),
        (f"{HEADER}\n", "has no responses"),
        (f"{HEADER}\n\n\n", "has no responses"),
        (
            f"{HEADER},method\nm,e,real,fake,space\n",
            "line 2: method must be 'infinity', 'time', 'exposures', ",
        ),
        (
            f"{HEADER},method\nm,e,real,fake,infinity\nm,e,real,fake,time\n",
            "line 3: method must be 'infinity' as in the rows before .*, not 'time'",
        ),
        (f"{HEADER},method\nm,e,real,fake,infinity\nm,e,real,fake,\n", "line 3: method must be 'infinity'"),
        (f"{HEADER},exposure_ms\nm,e,real,fake,100\n", "block, trial_index missing"),
        (f"{HEADER},method\nm,e,real,fake,time\n", "block, trial_index, exposure_ms missing"),
        (f"{FLASHED}\nm,e,real,fake,0,0,nan\n", r"exposure_ms must be a number above 0 .*, not 'nan'"),
        (f"{FLASHED}\nm,e,real,fake,0,0,inf\n", r"exposure_ms must be a number above 0 .*, not 'inf'"),
        (f"{FLASHED}\nm,e,real,fake,0,0,1_00\n", r"exposure_ms must be a number above 0 .*, not '1_00'"),
        (f"{FLASHED}\nm,e,real,fake,0,0,-30\n", r"exposure_ms must be a number above 0 .*, not '-30'"),
        (f"{FLASHED}\nm,e,real,fake,x,0,500\n", "block must be a whole number from 0, not 'x'"),
        (f"{FLASHED}\nm,e,real,fake,,0,500\n", "block must be a whole number from 0, not ''"),
        (f"{FLASHED}\nm,e,real,fake,0,1.5,500\n", "trial_index must be a whole number from 0, not '1.5'"),
        (f"{FLASHED}\nm,e,real,fake,0,0,500\nm,e,real,fake,0,1,\n", "line 3: exposure_ms must be a number"),
        (f"{FLASHED}\nm,e,real,fake,0,0,\nm,e,real,fake,0,1,500\n", "line 3: exposure_ms must be empty as"),
        (f"{HEADER},trial_index\nm,e,real,fake,3\nm,e,real,real,3\n", "line 3: trial_index 3 of e is in"),
        (f"{HEADER},trial_index\nm,e,real,fake,3\nm,e,real,real,03\n", "line 3: trial_index 3 of e is in"),
        (f"{HEADER}\nm\xe9,e,real,fake\n".encode("latin-1"), "line 2: must be UTF-8 text, not the byte 0xe9"),
        (f"\xe9,{HEADER}\n".encode("latin-1"), "line 1: must be UTF-8 text, not the byte 0xe9"),
        (f"{HEADER}\n{'m' * 200_000},e,real,fake\n", "line 2: must be CSV; field larger"),
    ],
)  # fmt: skip
def test_a_bad_file_is_refused_by_line_and_column(tmp_path, text, message):
    path = written(tmp_path, text)

    with pytest.raises(InvalidInput, match=message):
        read_answers(path)


def test_of_several_bad_cells_the_first_is_named(tmp_path):
    lines = [f"m,e,real,fake,0,{i},bad{i}" for i in range(50)]
    path = written(tmp_path, "\n".join([FLASHED, *lines]))

    with pytest.raises(InvalidInput, match=r"line 2: exposure_ms must be .*, not 'bad0'"):
        read_answers(path)


GOOD = {"model": "m", "evaluator": "e", "truth": "real", "response": "real"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "line 2: must be a JSON object"),
        ("{", "line 2: must be a JSON object"),
        ("[" * 100_000, "line 2: must be a JSON object"),
        ('{"model": "m", "truth": "real"}', "line 2: evaluator, response missing"),
        (json.dumps(GOOD | {"truth": 1}), "line 2: truth must be 'real' or 'fake', not '1'"),
        (json.dumps(GOOD | {"truth": ["real"]}), r"line 2: truth must be a text or a number, not \['real'\]"),
        (json.dumps(GOOD | {"block": True}), "line 2: block must be a text or a number, not True"),
        (json.dumps(GOOD | {"evaluator": None}), "line 2: evaluator must be a name, not ''"),
    ],
)
def test_json_lines_are_refused_by_line_and_column(tmp_path, text, message):
    path = written(tmp_path, f"{json.dumps(GOOD)}\n{text}\n", "r.jsonl")

    with pytest.raises(InvalidInput, match=message):
        read_answers(path)


def test_half_a_surrogate_pair_is_refused(tmp_path):
    path = written(tmp_path, json.dumps(GOOD | {"evaluator": "e\ud800"}), "r.jsonl")

    with pytest.raises(InvalidInput, match=r"line 1: evaluator must be Unicode text, not 'e\\ud800'"):
        read_answers(path)


LOOSE = [("Fake", "REAL"), (" fake", "Real "), ("fAKE", "\treal")]


@pytest.mark.parametrize("name", ["r.csv", "comma.csv", "r.jsonl"])
def test_real_and_fake_are_taken_in_any_case_with_blanks_around(tmp_path, name):
    rows = [GOOD | {"truth": truth, "response": response} for truth, response in LOOSE]
    if name == "r.jsonl":
        path = written(tmp_path, "\n".join(map(json.dumps, rows)), name)
    else:
        model = '"m"' if name == "r.csv" else '"m,n"'
        path = written(tmp_path, "\n".join([HEADER, *(f"{model},e,{t},{r}" for t, r in LOOSE)]), name)

    answers = read_answers(path)

    assert answers.is_fake.tolist() == [True] * 3
    assert answers.said_fake.tolist() == [False] * 3
    assert [(row["truth"], row["response"]) for row in read_responses(path)] == [("fake", "real")] * 3


def test_json_lines_score_as_the_same_rows_in_csv(tmp_path):
    rows = [GOOD | {"evaluator": e, "response": r} for e in (0, 1, 2) for r in ("real", "fake", "fake")[e:]]
    lines = "\n".join(map(json.dumps, rows))
    cells = "\n".join(",".join(map(str, row.values())) for row in rows)

    from_json = score_file(written(tmp_path, lines, "r.jsonl"))

    assert from_json == score_file(written(tmp_path, f"{HEADER}\n{cells}\n"))


def test_a_column_of_methods_rules_over_exposures(tmp_path):
    path = written(tmp_path, f"{HEADER},method,exposure_ms\nm,e,real,fake,infinity,500\n")

    assert read_answers(path).method == "infinity"


def test_the_same_trial_of_two_sessions_is_no_repeat(tmp_path):
    path = written(tmp_path, f"{HEADER},session,trial_index\nm,e,real,real,s1,0\nm,e,real,real,s2,0\n")

    assert len(list(read_responses(path))) == 2


def test_a_file_that_is_not_there_is_said(tmp_path):
    with pytest.raises(NotFound, match="there is no file"):
        list(read_responses(tmp_path / "none.csv"))


def test_a_number_that_scoring_has_no_use_for_is_refused_when_it_is_read(tmp_path):
    path = written(tmp_path, f"{HEADER},mask_ms,frames\nm,e,real,real,30.1 x,\n")

    with pytest.raises(
        InvalidInput, match=r"line 2: mask_ms must be numbers separated by spaces, not '30\.1 x'"
    ):
        list(read_responses(path))


LONG = 3 * chunks._CHUNK_ROWS


def long_rows(bad_at=None, bad="m,e,nothing,real"):
    return "\n".join(
        bad if i == bad_at else f"m,e{i % 7},real,{'real' if i % 3 else 'fake'}" for i in range(LONG)
    )


def test_a_file_longer_than_a_chunk_is_counted_whole(tmp_path):
    answers = read_answers(written(tmp_path, f"{HEADER}\n{long_rows()}\n"))

    assert len(answers) == LONG
    assert answers.error.sum() == LONG // 3


@pytest.mark.parametrize("at", [0, chunks._CHUNK_ROWS - 1, chunks._CHUNK_ROWS, LONG - 1])
def test_the_line_of_a_bad_row_is_right_wherever_it_stands(tmp_path, at):
    path = written(tmp_path, f"{HEADER}\n{long_rows(bad_at=at)}\n")

    with pytest.raises(InvalidInput, match=rf"line {at + 2}: truth must be"):
        read_answers(path)


@pytest.mark.parametrize("second", [1, chunks._CHUNK_ROWS + 5])
def test_a_trial_is_known_again_however_far_below_it_stands(tmp_path, second):
    lines = [f"m,e,real,real,{i}" for i in range(LONG)]
    lines[second] = "m,e,real,real,0"
    path = written(tmp_path, "\n".join([f"{HEADER},trial_index", *lines]))

    with pytest.raises(InvalidInput, match=f"line {second + 2}: trial_index 0 of e is in the file twice"):
        read_answers(path)


def test_what_is_written_is_scored_as_what_was_stored(tmp_path):
    base = dict.fromkeys(COLUMNS)
    rows = [
        {
            **base, "study": "s", "method": "time", "session": f"s{e}", "model": "m", "evaluator": f"e{e}",
            "block": 0, "trial_index": t, "truth": "real", "response": "real", "exposure_ms": 500 - 30.5 * e,
            "mask_ms": (33.3, 30.1), "flags": ("late", "hidden"),
        }
        for e in range(3)
        for t in range(4)
    ]  # fmt: skip
    file = io.StringIO()

    write_responses(rows, file)

    scores = score_file(written(tmp_path, file.getvalue()))
    assert scores["models"][0]["score"] == 500 - 30.5
    assert "33.3 30.1" in file.getvalue()


letters = st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp"))
names = st.builds(str.__add__, st.text("'=+-@＝", max_size=3), st.text(letters)).filter(str.strip)
times = st.none() | st.floats(0, 1e9, allow_nan=False)
confidences = st.integers(2, 7).flatmap(lambda n: st.tuples(st.integers(1, n), st.just(n)))
marks = st.tuples(*[st.integers(0, 500)] * 4) | st.tuples(*[st.floats(0, 1000)] * 2) | st.just(())
counts = st.lists(st.integers(0, 99), max_size=5).map(tuple)
rows = st.fixed_dictionaries(
    {
        "study": names, "method": st.just("time"), "session": names, "model": names, "evaluator": names,
        "block": st.integers(0, 9), "trial_index": st.integers(0, 10**6), "stimulus": names,
        "class": st.text("ab=-'"),
        "truth": st.sampled_from(["real", "fake"]), "response": st.sampled_from(["real", "fake"]),
        "exposure_ms": st.floats(1e-3, 1e6), "shown_ms": times, "frames": st.none() | st.integers(0, 999),
        "frame_ms": times, "mask_ms": st.lists(st.floats(0, 1e6), max_size=5).map(tuple), "rt": times,
        "flags": st.lists(st.sampled_from(["late", "hidden", "blurred"])).map(tuple), "at": names,
        "simulated": st.booleans(), "attempt": st.integers(0, 9),
        "evidence": st.sampled_from(["element", "worker"]),
        "lateness_ms": times, "trial_kind": st.sampled_from(["test", "practice", "check", "instructed"]),
        "excluded": st.none() | st.booleans(),
        "item": st.text("ab=-'/"), "left": st.sampled_from(["p0", "real"]), "right": st.text("ab=-'"),
        "planned_frames": counts, "achieved_frames": counts,
        "phase_ms": st.lists(st.floats(0, 1e6), max_size=5).map(tuple),
        "shown_css_px": times, "shown_px": st.none() | st.integers(0, 9999), "browser": st.text("ab=-'"),
        "pixel_ratio": times, "page_scale": times, "surround": st.sampled_from(["", "filter overlay"]),
        "translated": st.sampled_from(["", "pt-BR", "unknown"]),
        "sampling": st.sampled_from(["random", "uncertain"]),
        "confidence": confidences | st.tuples(st.none(), st.none()), "confidence_rt": times,
        "handler_delay_ms": times,
        "reasons": st.lists(st.integers(1, 12)).map(tuple), "comment": st.text("ab=-'"), "mark": marks,
        "clip_plays": st.none() | st.integers(0, 99), "clip_seen_whole": st.none() | st.booleans(),
        "clip_frames_off": st.none() | st.integers(0, 999), "clip_cadence": st.sampled_from(["", "2", "2:3"]),
    }
).map(
    lambda row: row | dict(zip(("confidence", "confidence_points"), row["confidence"], strict=True))
)  # fmt: skip


@given(rows)
def test_a_row_comes_back_exactly_as_it_was_written(tmp_path_factory, row):
    file = io.StringIO()

    write_responses([row], file)

    path = written(tmp_path_factory.getbasetemp(), file.getvalue(), "round.csv")
    assert list(read_responses(path)) == [row]


@pytest.mark.parametrize(
    "name", ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "'=1+1", "''@x", "-5", "'a", "-", "＝1"]
)
def test_a_name_that_is_a_formula_is_scored_under_its_own_name(tmp_path, name):
    base = dict.fromkeys(COLUMNS)
    answer = {**base, "method": "infinity", "evaluator": name, "truth": "fake", "response": "real"}
    rows = [{**answer, "model": name, "class": name, "stimulus": f"{name}{i}"} for i in range(2)]
    file = io.StringIO()

    write_responses(rows, file)

    written_cells = next(csv.DictReader(io.StringIO(file.getvalue(), newline="")))
    assert written_cells["model"] == written_cells["class"] == escape_formula(name)
    path = written(tmp_path, file.getvalue())
    answers = read_answers(path, details=True)
    assert (answers.model.names, answers.evaluator.names) == ([name], [name])
    assert answers.texts["class"].names == [name]
    assert score_file(path)["models"][0]["model"] == name


def mixed(folder, name="mixed.csv", kinds=("true", "false", "")):
    """Write a file in which one model's two evaluators of each kind are wrong on 1 of 2, 0 of 2, 2 of 2."""
    wrong = {"true": 1, "false": 0, "": 2}
    rows = [
        f"m,{kind or 'none'}{e},fake,{'real' if k < wrong[kind] else 'fake'},{kind}"
        for kind in kinds
        for e in range(2)
        for k in range(2)
    ]
    return written(folder, "\n".join([f"{HEADER},simulated", *rows, ""]), name)


@pytest.mark.parametrize("simulated", [True, False])
def test_of_a_file_of_both_kinds_one_is_scored_and_the_other_is_told(tmp_path, simulated):
    scores = score_file(mixed(tmp_path), simulated=simulated)

    (model,) = scores["models"]
    assert scores["simulated"] is simulated
    assert (model["score"], model["evaluators"], model["responses"]) == (
        (50, 2, 4) if simulated else (50, 4, 8)
    )
    assert model["ci"] == ([50, 50] if simulated else [0, 100])
    told = "8 responses of real" if simulated else "4 responses of simulated"
    assert [
        note.startswith(f"{told} sessions are in the source too and are left out") for note in scores["notes"]
    ] == [True]


def test_a_file_of_simulated_sessions_says_that_it_is(tmp_path):
    path = mixed(tmp_path, kinds=("true",))

    plain, asked = score_file(path), score_file(path, simulated=True)

    assert plain == asked
    assert (plain["simulated"], plain["notes"]) == (True, [])


def test_simulated_sessions_that_are_not_there_are_not_scored(tmp_path):
    for path in (mixed(tmp_path, kinds=("false",)), written(tmp_path, f"{HEADER}\nm,e,real,fake\n")):
        assert score_file(path)["simulated"] is False
        with pytest.raises(InvalidInput, match="there are no responses of simulated sessions to score"):
            score_file(path, simulated=True)


def test_json_lines_say_by_a_truth_value_what_is_simulated(tmp_path):
    row = {"model": "m", "evaluator": "e", "truth": "real", "response": "fake"}
    lines = [json.dumps({**row, "simulated": kind}) for kind in (True, False, None, "true")]
    path = written(tmp_path, "\n".join(lines), "r.jsonl")

    assert [found["simulated"] for found in read_responses(path)] == [True, False, False, True]
    assert score_file(path)["models"][0]["responses"] == 2


@pytest.mark.parametrize(
    ("header", "rows", "notes"),
    [
        ("stimulus", ["1.png"] * 2 + ["2.png"], 1),
        ("stimulus,trial_index", ["1.png,0", "1.png,1", "2.png,2"], 0),
        ("class", ["1", "1", "2"], 0),
    ],
)
def test_rows_that_a_merge_repeated_are_counted_where_no_trial_is_numbered(tmp_path, header, rows, notes):
    text = "\n".join([f"{HEADER},{header}", *(f"m,e,fake,real,{row}" for row in rows)])

    found = read_answers(written(tmp_path, text)).notes

    assert len(found) == notes
    assert all(note.startswith("1 of 3 responses repeat another in evaluator, stimulus,") for note in found)


@pytest.mark.parametrize("column", ["class", "stimulus", "session"])
def test_a_column_of_which_r_has_nothing_but_na_has_no_names(tmp_path, column):
    path = written(tmp_path, f"{HEADER},{column}\nm,e,real,fake,NA\nm,e,fake,fake,NA\n")
    other = written(tmp_path, f"{HEADER},{column}\nm,e,real,fake,NA\nm,e,fake,fake,US\n", "o.csv")

    assert column not in read_answers(path, details=True).texts
    assert [*read_answers(other, details=True).texts[column].names] == ["NA", "US"]


@pytest.mark.parametrize("fault", ["#NAME?", "#VALUE!", "#REF!", "#N/A"])
@pytest.mark.parametrize("column", ["model", "evaluator", "stimulus"])
def test_what_a_spreadsheet_took_for_a_formula_is_refused_as_different_names_became_one(
    tmp_path, column, fault
):
    row = {"model": "m", "evaluator": "e", "truth": "real", "response": "fake", "stimulus": "a.png"}
    lines = [",".join(row), ",".join(row.values()), ",".join({**row, column: fault}.values())]

    with pytest.raises(InvalidInput, match=rf"line 3: {column} must be a name, no fault of a spreadsheet"):
        read_answers(written(tmp_path, "\n".join(lines)))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            (HEADER + "\nm,e,real,fake\n").replace(",", "\t").encode("utf-16"),
            "and is UTF-16 .Excel's Unicode Text",
        ),
        (gzip.compress(f"{HEADER}\nm,e,real,fake\n".encode(), mtime=0), "and is compressed by gzip"),
        (
            f"{HEADER}\nK\u00e4se,e,real,fake\n".encode("latin-1"),
            r"line 2: must be UTF-8 text, not the byte 0xe4",
        ),
    ],
)
def test_a_file_that_is_no_utf_8_is_refused_by_what_it_is(tmp_path, data, message):
    path = written(tmp_path, data)

    for read in (read_answers, read_metrics):
        with pytest.raises(InvalidInput, match=message):
            read(path)


def test_models_that_a_spreadsheet_may_have_rounded_to_one_are_told_of(tmp_path):
    path = written(tmp_path, f"{HEADER}\n1.00E+05,e,real,fake\n1.00E+05,e,fake,fake\n")

    assert "1 of 1 models have names such as '1.00E+05'" in read_answers(path).notes[0]
    assert read_answers(written(tmp_path, f"{HEADER}\n1e5,e,real,fake\n1e5,e,fake,real\n")).notes == ()


def test_metrics_are_read_as_r_and_a_spreadsheet_with_decimal_commas_write_them(tmp_path):
    of_r = written(tmp_path, '"","model","FID"\n"1","gan",5.3\n"2","vae",NA\n')
    of_excel = written(tmp_path, "model;FID\r\ngan;5,3\r\nvae;\r\n", "m.csv")

    assert read_metrics(of_r) == read_metrics(of_excel) == {"FID": {"gan": 5.3}}
    with pytest.raises(InvalidInput, match="line 2: FID must be a number or empty, not '5,300'"):
        read_metrics(written(tmp_path, 'model,FID\ngan,"5,300"\n', "t.csv"))
