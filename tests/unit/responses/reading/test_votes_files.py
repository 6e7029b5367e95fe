"""Votes and distances from files: what is read, and what is refused with file and line."""

import csv

import numpy as np
import pytest

from backend.foundation.errors import InvalidInput, NotFound
from backend.responses.reading.distances import read_distances
from backend.responses.reading.votes_file import read_votes

HEADER = "item,model,evaluator,left,right,response"
ITEMS = ("cnn/000000", "cnn/000001", "traditional/000001")


def written(path, *lines):
    path.write_text("\n".join([*lines, ""]), "utf-8")
    return path


@pytest.fixture
def votes(tmp_path):
    return lambda *lines: read_votes(written(tmp_path / "votes.csv", *lines))


@pytest.fixture
def distances(tmp_path):
    return lambda *lines, kind="2afc": read_distances(written(tmp_path / "l2.csv", *lines), kind, ITEMS)


def test_votes_of_both_kinds(votes):
    two = votes(HEADER, "cnn/1,cnn,ann,p0,p1,Right", "cnn/1,cnn,bob,p1,p0, right ")
    jnd = votes("item,model,evaluator,response", "cnn/1,cnn,ann,same", "cnn/1,cnn,bob,different")

    assert (two.kind, [*two.share]) == ("2afc", [0.5])
    assert (jnd.kind, [*jnd.share]) == ("jnd", [0.5])


def test_json_lines_are_votes_too(tmp_path):
    path = written(
        tmp_path / "votes.jsonl",
        '{"item": "cnn/1", "model": "cnn", "evaluator": "ann", "response": "same", "simulated": false}',
    )

    assert read_votes(path).kind == "jnd"


def test_simulated_votes_are_apart(tmp_path):
    rows = [f"cnn/1,cnn,{who},same,{value}" for who, value in (("a", "true"), ("b", "false"), ("c", ""))]
    path = written(tmp_path / "votes.csv", "item,model,evaluator,response,simulated", *rows)
    alone = written(tmp_path / "alone.csv", "item,model,evaluator,response,simulated", rows[0])
    real = written(tmp_path / "real.csv", "item,model,evaluator,response,simulated", rows[1])

    assert (read_votes(path).evaluators, read_votes(path).is_simulated) == (2, False)
    assert (read_votes(path, simulated=True).evaluators, read_votes(path, True).is_simulated) == (1, True)
    assert read_votes(alone).is_simulated
    with pytest.raises(InvalidInput, match=r"real\.csv has no responses of simulated sessions"):
        read_votes(real, simulated=True)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([HEADER], "has no responses"),
        (["item,evaluator,response", "x,a,left"], "line 1: the header must name the columns item, model"),
        (
            ["item,model,evaluator,response", "cnn/1,cnn,a,left"],
            "line 1: 2AFC needs the columns left and right, .* left, right missing",
        ),
        (
            [HEADER, "cnn/1,cnn,a,p0,p1,left", "cnn/1,cnn,b,p0,p0,left"],
            "line 3: left, right must be p0 and p1",
        ),
        (
            [HEADER, "cnn/1,cnn,a,p0,p1,left", "cnn/1,cnn,b,p0,p1,same"],
            "line 3: response must be left or right",
        ),
        ([HEADER, "cnn/1,cnn,a,p0,p1,real"], "line 2: response must be left or right .2AFC., or same"),
        ([HEADER, "cnn/1,cnn,a,p0,p1,left", ",cnn,b,p0,p1,left"], "line 3: item must be a name, not ''"),
        ([HEADER, "cnn/1, ,a,p0,p1,left"], "line 2: model must be a name"),
        ([HEADER, "cnn/1,cnn, ,p0,p1,left"], "line 2: evaluator must be a name"),
        ([HEADER + ",method", "cnn/1,cnn,a,p0,p1,left,infinity"], "line 2: method must be 2afc or jnd"),
        (
            [HEADER + ",method", "cnn/1,cnn,a,p0,p1,left,2afc", "cnn/1,cnn,b,p0,p1,left,jnd"],
            "line 3: method must be empty or 2afc",
        ),
        ([HEADER + ",trial_kind", "cnn/1,cnn,a,p0,p1,left,tset"], "line 2: trial_kind must be"),
        ([HEADER + ",excluded", "cnn/1,cnn,a,p0,p1,left,maybe"], "line 2: excluded must be true or false"),
        ([HEADER, "cnn/1,cnn,a,p0,p1"], "line 2: expected 6 cells, got 5"),
    ],
)
def test_votes_that_are_none(votes, lines, message):
    with pytest.raises(InvalidInput, match=rf"votes\.csv.*{message}"):
        votes(*lines)


def test_sentinels_need_neither_set_nor_sides(votes):
    found = votes(
        f"{HEADER},trial_kind", "cnn/1,cnn,a,p0,p1,left,test", ",,a,,,right,check", ",,a,,,left,practice"
    )

    assert found.items == ("cnn/1",)


def test_distances_in_any_order_by_any_name(distances):
    found = distances(
        "note,d1,item,d0", "x,2,traditional/000001,1", "y,-4e-1,000000.png,3", ",6,cnn/000001.PNG,5.5"
    )

    assert found.values == pytest.approx(np.array([[3, -0.4], [5.5, 6], [1, 2]]))
    assert found.extra == ()


def test_distances_of_pairs(distances):
    found = distances("item,d", "cnn/000000,1", "cnn/000001,2", "traditional/000001,3", kind="jnd")

    assert [*found.values] == [1, 2, 3]


def test_items_without_votes_are_named(distances):
    lines = [f"{item},1,2" for item in (*ITEMS, "cnn/000007", "blur/000000")]

    assert distances("item,d0,d1", *lines).extra == ("cnn/000007", "blur/000000")


GOOD = [f"{item},1,2" for item in ITEMS]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "line 1: the header must name the columns item, d0, d1; item, d0, d1 missing"),
        (["item,d", "cnn/000000,1"], "line 1: .*; d0, d1 missing"),
        (["item,d0,d1,d0", "cnn/000000,1,2,3"], "line 1: the header must name a column once; d0 repeated"),
        (["item,d0,d1", *GOOD, "cnn/000000,1,2"], "line 5: cnn/000000 must occur once, and is on line 2 too"),
        (["item,d0,d1", *GOOD, "000000.png,1,2"], "line 5: cnn/000000 must occur once, and is on line 2"),
        (["item,d0,d1", "new,1,2", "new,1,2"], "line 3: new must occur once, and is on line 2 too"),
        (
            ["item,d0,d1", "000001,1,2"],
            "line 2: '000001' may be cnn/000001, traditional/000001; name the set",
        ),
        (["item,d0,d1", "cnn/000000,1"], "line 2: expected 3 cells, got 2"),
        (["item,d0,d1", ",1,2"], "line 2: item must be a name, not ''"),
        (["item,d0,d1", *GOOD[:2]], "has no distance for 1 of 3 items with votes: traditional/000001"),
        (
            ["item,d0,d1", *GOOD[:2], "traditional/1,1,2"],
            "no distance for 1 of 3 .* traditional/000001; it names traditional/1, which are none of these",
        ),
        (["item,d0,d1", '"cnn'], "line"),
    ],
)
def test_distances_that_are_none(distances, lines, message):
    with pytest.raises(InvalidInput, match=rf"l2\.csv.*{message}"):
        distances(*lines)


@pytest.mark.parametrize(
    "cell", ["nan", "NaN", "inf", "-Infinity", "", "far", "1e400", "1_0", "١", "0x1", "1,5"]
)
def test_a_distance_that_is_no_finite_number_is_refused_with_its_line(distances, cell, tmp_path):
    path = tmp_path / "quoted.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(
            [["item", "d0", "d1"], ["cnn/000000", "1", "2"], ["cnn/000001", "1", cell]]
        )

    with pytest.raises(InvalidInput, match=r"quoted\.csv line 3: d1 must be a finite number, not "):
        read_distances(path, "2afc", ITEMS)


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(NotFound, match=r"there is no file .*none\.csv"):
        read_distances(tmp_path / "none.csv", "jnd", ITEMS)
    with pytest.raises(NotFound, match=r"none\.csv"):
        read_votes(tmp_path / "none.csv")


def test_many_missing_items_are_counted_and_some_named(tmp_path):
    items = tuple(f"cnn/{i:06}" for i in range(1000))
    path = written(tmp_path / "l2.csv", "item,d", "cnn/000500,1")

    with pytest.raises(InvalidInput, match=r"999 of 1,000 items .*cnn/000004 and 994 more$"):
        read_distances(path, "jnd", items)
