"""Opinion scores from files: CSV and lines of TID2013, and what is refused with its line."""

import pytest

from backend.foundation.errors import InvalidInput
from backend.responses.reading.opinion_scores import are_opinion_scores, read_opinion_scores


@pytest.fixture
def written(tmp_path):
    def write(*lines, name="mos.csv"):
        (tmp_path / name).write_text("\n".join([*lines, ""]), "utf-8")
        return tmp_path / name

    return write


def test_a_csv_with_all_columns(written):
    path = written("Stimulus;Score;SD;votes;reference;else", "a.png;5,5;1,25;30.0;x;1", "b.png;2;0;29;y;1")

    found = read_opinion_scores(path)

    assert are_opinion_scores(path)
    assert found.stimuli == ("a", "b")
    assert [*map(list, (found.scores, found.sds, found.votes))] == [[5.5, 2], [1.25, 0], [30, 29]]
    assert found.references == ("x", "y")


def test_lines_in_the_way_of_tid2013_state_their_references(written):
    path = written("5.51429 I01_01_1.bmp", "", "3.2 I02_24_5.bmp", name="mos_with_names.txt")

    found = read_opinion_scores(path)

    assert are_opinion_scores(path)
    assert (found.stimuli, [*found.scores]) == (("I01_01_1", "I02_24_5"), [5.51429, 3.2])
    assert (found.references, found.sds, found.votes) == (("I01", "I02"), None, None)


@pytest.mark.parametrize(
    "lines", [["model,evaluator,truth,response"], ["item,d0,d1"], ["one two", "5 a"], [""], ["5 a b"]]
)
def test_other_files_are_none(written, tmp_path, lines):
    assert not are_opinion_scores(written(*lines))
    assert not are_opinion_scores(tmp_path)
    assert not are_opinion_scores(tmp_path / "nothing.csv")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["stimulus,score", "a,x"], "line 2: score must be a finite number, not 'x'"),
        (["stimulus,score", "a,nan"], "line 2: score must be a finite number, not 'nan'"),
        (["stimulus,score,sd", "a,1,-1"], "line 2: sd must be a number of 0 or more, not '-1'"),
        (["stimulus,score,votes", "a,1,2.5"], "line 2: votes must be a whole number from 1 on, not '2.5'"),
        (["stimulus,score,reference", "a,1,"], "line 2: reference must be a name"),
        (["stimulus,score", ",1"], "line 2: stimulus must be a name"),
        (["stimulus,score", "a.png,1", "a.bmp,2"], "line 3: a must occur once, and is on line 2 too"),
        (["stimulus,score"], "has no opinion scores"),
        (["stimulus,score,score", "a,1,2"], "score repeated"),
        (["5 a", "x b"], "line 2: must be a score and a name"),
    ],
)
def test_what_is_refused(written, lines, message):
    with pytest.raises(InvalidInput, match=message):
        read_opinion_scores(written(*lines))
