"""Groups of models of mixed sessions: each model in equally many, pairs as evenly as can be."""

import math
from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.experiment.model_groups import MOST_GROUPS, model_groups

from .. import sample_studies as studies


def grouped(count, size, evaluators=30):
    return model_groups(tuple(f"m{i}" for i in range(count)), size, evaluators)


def of_pairs(groups, count):
    """Return in how many groups each pair of models is, and how many pairs are."""
    found = Counter(pair for group in groups for pair in combinations(group, 2))
    return Counter(found.get(pair, 0) for pair in combinations([f"m{i}" for i in range(count)], 2))


def test_each_model_is_alone_or_all_are_together():
    assert grouped(3, 1) == (("m0",), ("m1",), ("m2",))
    assert grouped(3, 3) == (("m0", "m1", "m2"),)
    assert grouped(1, 1) == (("m0",),)


# Yates (1936), Fisher and Yates (1938), tables XVII and XIX: the designs with these numbers exist.
@pytest.mark.parametrize(
    ("count", "size", "groups", "together"),
    [
        (3, 2, 3, 1), (4, 2, 6, 1), (5, 2, 10, 1), (6, 2, 15, 1), (7, 3, 7, 1), (13, 4, 13, 1), (5, 3, 10, 3),
        (5, 4, 5, 3),
    ],
)  # fmt: skip
def test_pairs_are_in_equally_many_groups_where_such_a_design_is_known(count, size, groups, together):
    found = grouped(count, size)

    assert len(found) == groups
    assert of_pairs(found, count) == {together: count * (count - 1) // 2}


def test_groups_never_change_as_stores_count_sessions_by_them():
    assert grouped(4, 2, 30) == (
        ("m0", "m1"), ("m1", "m2"), ("m2", "m3"), ("m0", "m3"), ("m0", "m2"), ("m1", "m3"),
    )  # fmt: skip
    assert grouped(7, 3)[:2] == (("m0", "m1", "m3"), ("m1", "m2", "m4"))


@given(st.integers(2, 40), st.integers(1, 40), st.integers(1, 200))
def test_models_are_in_equally_many_groups_and_sessions_are_few(count, size, evaluators):
    size = min(size, count)
    groups = grouped(count, size, evaluators)

    in_groups = Counter(model for group in groups for model in group)
    assert len(in_groups) == count
    of_each = min(in_groups.values())
    assert max(in_groups.values()) - of_each <= 1
    assert of_each == sum(map(len, groups)) // count
    assert len(set(groups)) == len(groups) <= max(MOST_GROUPS, count)
    assert {len(set(group)) for group in groups} == {size}
    sessions, least = len(groups) * -(-evaluators // of_each), -(-evaluators * count // size)
    # with `each` sessions of a group, a multiple of it; else within a tenth
    fewest = min(
        -(-m * count // size) * -(-evaluators // m)
        for m in range(1, evaluators + 1)
        if -(-m * count // size) <= min(max(MOST_GROUPS, count), math.comb(count, size))
    )
    assert sessions <= max(1.1 * least, fewest)


@pytest.mark.parametrize(
    ("count", "size", "evaluators", "sessions"),
    [(15, 14, 30, 33), (40, 20, 10, 20), (12, 11, 25, 30), (7, 3, 30, 70)],
)
def test_nobody_is_asked_for_sessions_that_no_model_needs(count, size, evaluators, sessions):
    study = studies.study(
        models=tuple(f"m{i}" for i in range(count)), models_per_session=size, evaluators=evaluators
    )

    assert study.evaluators_wanted == sessions


def test_more_groups_connect_more_pairs_and_none_is_left_out_without_need():
    assert of_pairs(grouped(10, 2), 10) == {0: 5, 1: 40}  # all 45 would need 36 evaluators a model, for 30
    assert of_pairs(grouped(10, 2, 90), 10) == {1: 45}
    assert of_pairs(grouped(6, 3), 6) == {1: 12, 2: 3}
    assert of_pairs(grouped(10, 5), 10) == {2: 35, 3: 10}


def test_a_thousand_models_are_grouped_at_once():
    groups = grouped(1000, 500)

    assert len(groups) == 1000
    assert Counter(len(group) for group in groups) == {500: 1000}
