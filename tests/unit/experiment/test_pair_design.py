"""Pairs of a tournament: equal appearances, connected first, then where most is to be learnt; even sides."""

from collections import Counter
from itertools import combinations
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.experiment.pair_design import Tally, inverse, session_pairs, sided, standing

COUNTS = st.integers(2, 12).flatmap(
    lambda size: st.tuples(
        st.just(size),
        st.dictionaries(
            st.sampled_from([*combinations(range(size), 2)]),
            st.builds(Tally, *(st.integers(0, 50),) * 3),
            max_size=20,
        ),
    )
)


@settings(max_examples=80, deadline=None)
@given(COUNTS, st.integers(1, 40), st.randoms(use_true_random=False))
def test_whatever_was_answered_all_appear_equally_often(counts, trials, rng):
    size, tallies = counts

    pairs = session_pairs(standing(size, tallies), trials, rng)

    appeared = Counter(one for pair in pairs for one in pair)
    seen = [appeared[one] for one in range(size)]
    assert len(pairs) == trials
    assert all(0 <= a < b < size for a, b in pairs)
    assert max(seen) - min(seen) <= 1


@settings(max_examples=80, deadline=None)
@given(COUNTS, st.integers(1, 40), st.randoms(use_true_random=False))
def test_each_stands_as_often_left_as_right(counts, trials, rng):
    size, tallies = counts
    pairs = session_pairs(standing(size, tallies), trials, rng)

    placed = sided(pairs, rng)

    left, right = (Counter(place) for place in zip(*placed, strict=True))
    assert [tuple(sorted(pair)) for pair in placed] == pairs
    assert max(abs(left[one] - right[one]) for one in range(size)) <= 1


def test_over_10000_trials_sides_are_even_and_independent_of_the_contestants():
    rng, size, trials = Random(5), 5, 25
    strong = {(a, b): Tally(30, 0, 10) for a, b in combinations(range(size), 2)}
    now, lefts, total = standing(size, strong), Counter(), Counter()
    for _ in range(400):
        for left, right in sided(session_pairs(now, trials, rng), rng):
            pair = (min(left, right), max(left, right))
            lefts[pair] += left == pair[0]
            total[pair] += 1

    assert total.total() == 10_000
    # each pair's share of the lower index on the left: chi-squared over ten pairs, 1% point
    chi2 = sum((2 * lefts[pair] - n) ** 2 / n for pair, n in total.items())
    assert chi2 < 23.2
    assert abs(2 * lefts.total() - 10_000) < 2.6 * 100


@pytest.mark.parametrize("size", [2, 3, 6, 7, 12])
def test_the_first_session_connects_all(size):
    pairs = session_pairs(standing(size, {}), size, Random(1))

    assert is_connected(size, pairs)


def test_separate_groups_are_connected_first():
    tallies = {(0, 1): Tally(5, 0, 5), (2, 3): Tally(5, 0, 5), (4, 5): Tally(5, 0, 5)}

    pairs = session_pairs(standing(6, tallies), 3, Random(1))

    assert is_connected(6, [*pairs, *tallies])


def is_connected(size, pairs):
    group = [*range(size)]
    for a, b in pairs:
        group = [group[a] if one == group[b] else one for one in group]
    return len(set(group)) == 1


def test_a_surely_uneven_pair_waits_for_a_close_one():
    """Two strong and two weak contestants; all differences are about as uncertain, and half of them large."""
    uneven = {(a, b): Tally(475, 0, 25) for a in (0, 1) for b in (2, 3)}
    close = {(0, 1): Tally(50, 0, 50), (2, 3): Tally(50, 0, 50)}

    pairs = session_pairs(standing(4, uneven | close), 20, Random(3))

    assert Counter(pairs)[0, 1] + Counter(pairs)[2, 3] > 10


def test_the_one_who_appeared_least_gets_the_odd_appearance():
    now = standing(5, {pair: Tally(2, 0, 2) for pair in combinations(range(4), 2)} | {(0, 4): Tally(1)})
    appearances = [12, 12, 12, 12, 1]

    for seed in range(10):
        assert 4 in Counter(one for pair in session_pairs(now, 1, Random(seed), appearances) for one in pair)


def test_strengths_and_covariance_are_those_of_newtons_method():
    """The prior: half a win and half a loss against 0; here for one pair, 3 wins to 1, solved by numpy."""
    now = standing(2, {(0, 1): Tally(3, 0, 1)})

    s = now.strengths[0]
    assert now.strengths[1] == pytest.approx(-s, abs=5e-3)
    slope = 3 - 4 / (1 + np.exp(-2 * s)) + 0.5 - 1 / (1 + np.exp(-s))
    assert slope == pytest.approx(0, abs=5e-3)
    p, q = 1 / (1 + np.exp(-2 * s)), 1 / (1 + np.exp(-s))
    information = np.array([[4 * p * (1 - p) + q * (1 - q), -4 * p * (1 - p)]] * 2)
    information[1] = information[1][::-1]
    assert np.array(now.covariance) == pytest.approx(np.linalg.inv(information), abs=1e-2)


def test_an_inverse_is_one():
    rng = np.random.default_rng(1)
    root = rng.normal(size=(8, 8))
    matrix = root @ root.T + np.eye(8)

    assert np.array(inverse(matrix.tolist())) @ matrix == pytest.approx(np.eye(8), abs=1e-9)
