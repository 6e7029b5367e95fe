"""Follow-ups in responses files from elsewhere: taken as they are, or refused with line and column."""

import pytest

from backend.foundation.errors import InvalidInput
from backend.responses.readers import read_answers
from tests.unit.response_rows import read_responses, score_file

HEADER = "model,evaluator,truth,response,confidence,confidence_points,confidence_rt,reasons,comment,mark"


def written(folder, *cells):
    rows = [f"gan,e{i},fake,{'real' if i % 2 else 'fake'},{each}" for i, each in enumerate(cells)]
    path = folder / "responses.csv"
    path.write_text("\n".join([HEADER, *rows, ""]), "utf-8")
    return path


def test_values_of_other_programs_are_accepted(tmp_path):
    path = written(
        tmp_path, "3,5,812.5,1 12,odd hands,10 20", "0,101,,,,0 0 1000 1000", ",,,,,", "0.83,,,2,'=1,500.5 3"
    )

    rows = list(read_responses(path))

    assert [row["confidence"] for row in rows] == [3, 0, None, 0.83]
    assert [row["confidence_points"] for row in rows] == [5, 101, None, None]
    assert [row["reasons"] for row in rows] == [(1, 12), (), (), (2,)]
    assert [row["comment"] for row in rows] == ["odd hands", "", "", "=1"]
    assert [row["mark"] for row in rows] == [(10, 20), (0, 0, 1000, 1000), (), (500.5, 3)]
    assert len(read_answers(path)) == 4


def test_reasons_of_files_from_elsewhere_may_be_words(tmp_path):
    rows = list(read_responses(written(tmp_path, ",,,hands 2,,")))

    assert [row["reasons"] for row in rows] == [("hands", 2)]


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ("high,,,,,", "confidence must be a number, not 'high'"),
        ("nan,,,,,", "confidence must be a number, not 'nan'"),
        ("6,5,,,,", "confidence must be from 1 to 5, by its confidence_points, not '6'"),
        ("0,5,,,,", "confidence must be from 1 to 5"),
        ("101,101,,,,", "confidence must be from 0 to 100"),
        ("3,1,,,,", "confidence_points must be a whole number above 1, not '1'"),
        ("3,five,,,,", "confidence_points must be a whole number above 1"),
        (f"3,{'9' * 400},,,,", "confidence_points must be a whole number above 1"),
        ("3,5,soon,,,", "confidence_rt must be a number, not 'soon'"),
        (
            ",,,hands 0,,",
            "reasons must be whole numbers from 1, or words, separated by spaces, not 'hands 0'",
        ),
        (",,,0,,", "reasons must be whole numbers from 1"),
        (",,,1.5,,", "reasons must be whole numbers from 1"),
        (",,,,,1001 0", "mark must be x and y, or x, y, width and height, in thousandths .*not '1001 0'"),
        (",,,,,1 2 3", "mark must be x and y"),
        (",,,,,900 0 200 5", "mark must be x and y"),
        (",,,,,left", "mark must be x and y"),
        (",,,,,-1 0", "mark must be x and y"),
    ],
)
def test_a_value_that_cannot_be_is_refused_with_its_line(tmp_path, cells, message):
    path = written(tmp_path, "3,5,,,,", cells)

    with pytest.raises(InvalidInput, match=f"responses.csv line 3: {message}"):
        list(read_responses(path))
    with pytest.raises(InvalidInput, match=f"responses.csv line 3: {message}"):
        score_file(path)


def test_json_lines_may_have_lists(tmp_path):
    path = tmp_path / "responses.jsonl"
    base = '"model": "gan", "evaluator": "e", "truth": "fake", "response": "fake"'
    path.write_text(f'{{{base}, "confidence": 2, "reasons": [1, 3], "mark": [10, 20.5]}}\n', "utf-8")

    (row,) = read_responses(path)

    assert (row["confidence"], row["reasons"], row["mark"]) == (2, (1, 3), (10, 20.5))
