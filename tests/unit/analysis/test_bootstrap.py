"""The exact bootstrap against hand-worked cases and against very many dice."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.analysis.distributions import bootstrap
from backend.foundation.errors import InvalidInput

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


@pytest.mark.parametrize(
    ("model", "sd", "published"),
    [
        ("WGAN-GP", 2.69, [0.84, 0.69, 0.61, 0.54, 0.49, 0.45, 0.43]),
        ("BEGAN", 8.39, [2.65, 2.20, 1.86, 1.67, 1.55, 1.42, 1.33]),
        ("ProGAN", 4.83, [1.53, 1.24, 1.08, 0.97, 0.87, 0.83, 0.76]),
        ("StyleGAN", 6.92, [2.19, 1.79, 1.57, 1.38, 1.27, 1.16, 1.09]),
        ("StyleGAN trunc", 13.4, [4.21, 3.46, 2.95, 2.69, 2.44, 2.25, 2.13]),
        ("StyleGAN no-trunc", 9.67, [3.04, 2.50, 2.17, 1.96, 1.77, 1.62, 1.52]),
        ("WGAN-GP, ms", 0, [0.0] * 5),
        ("BEGAN, ms", 39.2, [12.50, 10.08, 8.85, 7.86, 7.06]),
        ("ProGAN, ms", 162, [51.03, 41.97, 36.31, 32.25, 29.72]),
        ("StyleGAN, ms", 178, [56.36, 46.07, 39.94, 35.66, 32.53]),
        ("StyleGAN trunc, ms", 166, [52.29, 42.95, 37.54, 33.21, 30.34, 28.12, 26.22]),
        ("StyleGAN no-trunc, ms", 155.4, [49.28, 40.33, 34.75, 31.31, 28.32, 26.19, 24.37]),
    ],
)
def test_deviations_fall_with_evaluators_as_in_the_published_tables(model, sd, published):
    """Workshop paper, tables 6 and 7: bootstrap SD of 10 to 40 evaluators, from 10,000 iterations.

    Any values of that SD will do; the noise of the printed SDs is 1 / sqrt(2 * 10,000), 0.7%, and
    their rounding up to 1.2%.
    """
    values = [Fraction(str(500 - sd)), Fraction(str(500 + sd))]

    ours = [bootstrap.exact(values, 10 + 5 * i).std for i in range(len(published))]

    assert ours == pytest.approx(published, rel=0.025), model


def convolved(values, drawn):
    """Return the exact distribution of the sum: {sum: ways}."""
    sums = {0: 1}
    for _ in range(drawn):
        longer = {}
        for total, ways in sums.items():
            for value in values:
                longer[total + value] = longer.get(total + value, 0) + ways
        sums = longer
    return sums


@given(
    st.lists(st.integers(-9, 9), min_size=2, max_size=7), st.integers(1, 7), st.sampled_from([0.5, 0.9, 0.95])
)
def test_the_ends_are_those_of_a_convolution_in_whole_numbers(values, drawn, level):
    sums, reached, ends = convolved(values, drawn), 0, []
    tail = (1 - Fraction(str(level))) / 2
    for q in (tail, 1 - tail):
        for total in sorted(sums):
            reached += sums[total]
            if Fraction(reached, len(values) ** drawn) >= q:
                ends.append(total / drawn)
                break
        reached = 0

    interval = bootstrap.exact(values, drawn, level)

    assert (interval.low, interval.high) == pytest.approx(tuple(ends))


@given(whole, st.integers(1, 40))
def test_a_scale_of_the_values_scales_the_interval(values, factor):
    here = bootstrap.exact(values, 10)

    there = bootstrap.exact([Fraction(value, factor) for value in values], 10)

    scaled = [number / factor for number in (here.std, here.low, here.high)]
    assert [there.std, there.low, there.high] == pytest.approx(scaled)


@pytest.mark.parametrize(
    ("values", "drawn", "level", "message"),
    [
        ([], 1, 0.95, "at least one value"),
        ([1, 2], 0, 0.95, "sampled must be 1 or more, not 0"),
        ([1, 2], -1, 0.95, "sampled must be 1 or more, not -1"),
        ([1, 2], 2, 95, "level must be between 0 and 1, such as 0.95, not 95"),
    ],
)
def test_a_bootstrap_that_cannot_be_is_refused(values, drawn, level, message):
    with pytest.raises(InvalidInput, match=message):
        bootstrap.exact(values, drawn, level)
    with pytest.raises(InvalidInput, match=message):
        bootstrap.monte_carlo(values, drawn, level, 10, np.random.default_rng(0))


def test_one_value_has_an_interval_of_no_width():
    assert bootstrap.exact([Fraction(7, 2)], 30) == bootstrap.Interval(0.0, 3.5, 3.5, "exact")


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
