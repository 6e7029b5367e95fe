"""The exact bootstrap against hand-worked cases and against very many dice."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend import bootstrap

whole = st.lists(st.integers(0, 100), min_size=2, max_size=30)


def test_two_of_two_values_by_hand():
    # means of two draws from {0, 1}: 0, 1/2, 1 with 1/4, 1/2, 1/4
    interval = bootstrap.exact([0, 1], 2, level=0.5)

    assert (interval.low, interval.high) == (0.0, 0.5)
    assert interval.std == pytest.approx((1 / 8) ** 0.5)


def test_an_interval_of_one_draw_is_the_values_own_quantiles():
    interval = bootstrap.exact([10, 20, 30, 40], 1, level=0.5)

    assert (interval.low, interval.high) == (10.0, 30.0)


def test_the_exact_interval_is_where_400000_resamples_end():
    rng = np.random.default_rng(1)
    values = [Fraction(int(k)) for k in rng.binomial(100, 0.4, 30)]

    exact = bootstrap.exact(values, 30)
    drawn = bootstrap.monte_carlo(values, 30, 0.95, 400_000, rng)

    assert drawn.std == pytest.approx(exact.std, rel=0.005)
    assert (drawn.low, drawn.high) == (
        pytest.approx(exact.low, abs=0.05),
        pytest.approx(exact.high, abs=0.05),
    )


def test_means_of_three_modes_lie_on_a_lattice_too():
    values = [Fraction(470 + 500 + 440, 3), Fraction(1000, 3), Fraction(100), Fraction(320, 3)]

    assert bootstrap.exact(values, 30).way == "exact"


def test_values_without_a_lattice_of_sensible_size_are_not_forced_onto_one():
    values = [Fraction(str(x)) for x in (0.1234567891, 0.9876543219, 0.5555555557)]

    assert bootstrap.exact(values, 30) is None


@given(whole, st.integers(-50, 50))
def test_a_shift_of_the_values_shifts_the_interval(values, shift):
    here, there = bootstrap.exact(values, 10), bootstrap.exact([v + shift for v in values], 10)

    assert (there.low, there.high) == (pytest.approx(here.low + shift), pytest.approx(here.high + shift))
    assert there.std == pytest.approx(here.std)


@given(whole)
def test_the_interval_lies_within_the_values_and_in_order(values):
    interval = bootstrap.exact(values, len(values))

    assert min(values) <= interval.low <= interval.high <= max(values)


@given(whole, st.randoms())
def test_the_order_of_evaluators_does_not_matter(values, random):
    mixed = list(values)
    random.shuffle(mixed)

    assert bootstrap.exact(mixed, 12) == bootstrap.exact(values, 12)
