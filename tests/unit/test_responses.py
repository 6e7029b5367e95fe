"""The responses file: bad rows are refused by line and column; what is written comes back."""

import io
import json

import pytest

from backend.errors import InvalidInput, NotFound
from backend.responses import COLUMNS, ResponsesFile, score_file, write_responses

HEADER = "model,evaluator,truth,response"


def read(tmp_path, text, name="r.csv"):
    path = tmp_path / name
    path.write_text(text, "utf-8")
    return list(ResponsesFile(path).rows())


def test_rows_are_read_with_what_scoring_needs(tmp_path):
    rows = read(tmp_path, f"{HEADER},extra\nm,e,real,fake,7\n")

    assert rows == [("m", "e", "real", "fake", None, None)]


def test_a_byte_order_mark_and_empty_lines_do_no_harm(tmp_path):
    assert len(read(tmp_path, f"\ufeff{HEADER}\n\nm,e,real,fake\n\n")) == 1


FLASHED = f"{HEADER},block,trial_index,exposure_ms"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{HEADER}\nm,e,maybe,fake\n", r"r\.csv line 2: truth must be 'real' or 'fake', not 'maybe'"),
        (f"{HEADER}\nm,e,real,\n", "line 2: response must be a value, not ''"),
        (f"{HEADER}\n,e,real,fake\n", "line 2: model must be a value"),
        (f"{HEADER}\nm,e,real\n", "line 2: expected 4 cells, got 3"),
        ("model,truth\nm,real\n", "evaluator, response missing"),
        ("", "line 1: the header must name"),
        (f"{HEADER}\n", "has no responses"),
        (f"{HEADER},method\nm,e,real,fake,space\n", "method must be 'infinity' or 'time'"),
        (f"{HEADER},exposure_ms\nm,e,real,fake,100\n", r"block must be a number \(HYPE-time\)"),
        (f"{FLASHED}\nm,e,real,fake,0,0,nan\n", "exposure_ms must be a number above 0"),
        (f"{FLASHED}\nm,e,real,fake,0,0,500\nm,e,real,fake,0,1,\n", "the same in every"),
        (f"{HEADER},trial_index\nm,e,real,fake,3\nm,e,real,real,3\n", "line 3: trial_index 3 of e stands"),
    ],
)  # fmt: skip
def test_a_bad_file_is_refused_by_line_and_column(tmp_path, text, message):
    with pytest.raises(InvalidInput, match=message):
        read(tmp_path, text)


def test_json_lines_are_read_too_and_refused_by_line(tmp_path):
    good = json.dumps({"model": "m", "evaluator": "e", "truth": "real", "response": "real"})

    assert len(read(tmp_path, f"{good}\n{good}\n", "r.jsonl")) == 2
    with pytest.raises(InvalidInput, match="line 2: must be a JSON object"):
        read(tmp_path, f"{good}\n[]\n", "r.jsonl")


def test_a_file_that_is_not_there_is_said(tmp_path):
    with pytest.raises(NotFound, match="could not be read: No such file"):
        list(ResponsesFile(tmp_path / "none.csv").rows())


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
    (tmp_path / "r.csv").write_text(file.getvalue())

    scores = score_file(tmp_path / "r.csv")
    assert scores["models"][0]["score"] == 500 - 30.5
    assert "33.3 30.1" in file.getvalue()
