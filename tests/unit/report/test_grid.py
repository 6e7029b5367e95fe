"""The grid of studies in which coverage is measured: its cells, its numbers, and the table in the docs."""

import json
from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from validate.grid import BATCH, MARKS, RESULTS, as_markdown, cells, held, parts, rows, truths
from validate.inferences import DOCS, GRID, INFERENCES, entry_of
from validate.judged import JUDGED, Edge, Interval, Null, Ranks, Together

MEASURED = [*rows(json.loads(RESULTS.read_text("utf-8")))]


def test_any_two_factors_of_a_judgment_meet_in_each_pair_of_levels():
    """25 cells of strength two: each pair of the 5 numbers of people, of pools, of shares and of SDs once."""
    factors = [
        (cell.people, cell.pool, cell.share, (cell.people_sd, cell.pictures_sd)) for cell in cells("pair")
    ]

    for first, second in combinations(zip(*factors, strict=True), 2):
        assert {*Counter(zip(first, second, strict=True)).values()} == {1}


def test_the_first_five_cells_have_all_numbers_of_people_and_of_pictures():
    some = [*cells("time")][:5]

    assert len({cell.people for cell in some}) == len({cell.pool for cell in some}) == 5


def test_numbers_hold_as_they_promise():
    both = np.array([0.0, 4.0]), np.array([2.0, 6.0])
    assert Interval(0, *both).held(np.array([1.0, 1.0])) == 0.5
    assert Together(0, *both).held(np.array([1.0, 1.0])) == 0
    assert Null([0.01, 0.2, 0.3, 0.9]).held(None) == 0.75
    assert Edge(0, -4, 4).held(5) == 0  # within the margin, at whose edge the models are: a false verdict
    assert Edge(0, -4, 6).held(5) == 1
    true = np.array([50.0, 50.1, 40.0])  # the first two are equal
    assert Ranks(true, [(1, 2), (1, 2), (3, 3)]).held(true) == 1
    assert Ranks(true, [(2, 2), (1, 2), (3, 3)]).held(true) == 0


def test_each_entry_that_the_grid_measures_has_cells_and_no_other():
    found = {
        entry_of(row["name"], JUDGED[row["cell"].judgment].method or row["cell"].judgment.lower())[0].what
        for row in MEASURED
    }

    assert {one.what for one in INFERENCES if one.measured == GRID} <= found
    assert all(row["studies"] >= BATCH / 2 for row in MEASURED)


def test_the_docs_have_the_table():
    begin, end = MARKS

    assert DOCS.read_text("utf-8").partition(begin)[2].partition(end)[0].strip() == as_markdown(MEASURED)


@pytest.mark.slow("simulates studies of every judgment")
@pytest.mark.parametrize("judgment", [name for name in JUDGED if name != "staircases"])
def test_each_number_of_a_judgment_is_in_the_list(judgment):
    for part in [part for part in parts() if part[0].judgment == judgment][: len(JUDGED[judgment].numbers)]:
        names = held(part, truths(part, 1), range(2), 1)

        assert names
        assert all(entry_of(name, JUDGED[judgment].method or judgment.lower()) for name in names)
