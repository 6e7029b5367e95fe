"""Tests between models against hand calculation, published figures and scipy."""

import numpy as np
import pytest
from scipy import stats

from backend.analysis.comparisons.means import (
    Moments,
    anova,
    are_comparable,
    effect_sizes,
    equal_spread,
    games_howell,
    student,
    tukey,
    welch,
)


def groups(*sizes, seed=0):
    rng = np.random.default_rng(seed)
    return {f"m{i}": rng.normal(30 + 3 * i, 3 + 2 * i, size) for i, size in enumerate(sizes)}


def test_f_follows_from_the_published_means_and_deviations():
    """HYPE_infinity on CelebA-64: F = 404.4 (HYPE 4.2), means of table 2, SDs of the workshop's table 6.

    A bootstrap's SD times the root of 30 has n as its divisor; SDs and means of few digits leave 1.3%.
    """
    stds = np.array([1.27, 0.87, 1.55, 0.49])
    moments = Moments(np.full(4, 30.0), np.array([50.7, 40.3, 10.0, 3.8]), 30 * stds**2 * 30 / 29)

    found = anova(moments)

    assert found["F"] == pytest.approx(404.4, rel=0.013)
    assert found["df"] == [3, 116]


def test_t_follows_from_the_published_means_and_deviations():
    """StyleGAN on FFHQ with and without truncation: 27.6 and 19.0, SDs 9.7 and 13.4: about 2.9."""
    z = np.linspace(-1, 1, 30)
    z = (z - z.mean()) / z.std(ddof=1)

    found = student({"without": 27.6 + 9.7 * z, "with": 19.0 + 13.4 * z}, 0.95)

    assert found["t"] == pytest.approx(2.85, abs=0.05)
    assert found["df"] == 58


@pytest.mark.parametrize("sizes", [(10, 10, 10), (4, 9, 25, 7)])
def test_variances_between_and_within_agree_with_scipy(sizes):
    some = groups(*sizes)

    ours, theirs = anova(Moments.of(some)), stats.f_oneway(*some.values())
    spread, levene = equal_spread(some), stats.levene(*some.values(), center="median")

    assert (ours["F"], ours["p"]) == pytest.approx((theirs.statistic, theirs.pvalue), rel=1e-9)
    assert (spread["F"], spread["p"]) == pytest.approx((levene.statistic, levene.pvalue), rel=1e-9)


@pytest.mark.parametrize("sizes", [(10, 10, 10), (4, 9, 25, 7)])
def test_welchs_anova_agrees_with_scipy(sizes):
    some = groups(*sizes)

    ours, theirs = welch(Moments.of(some)), stats.f_oneway(*some.values(), equal_var=False)

    assert (ours["F"], ours["p"]) == pytest.approx((theirs.statistic, theirs.pvalue), rel=1e-9)


@pytest.mark.parametrize("sizes", [(10, 10, 10), (4, 9, 25)])
@pytest.mark.parametrize(("compare", "is_equal"), [(tukey, True), (games_howell, False)])
def test_pairs_agree_with_scipy(sizes, compare, is_equal):
    some = groups(*sizes)

    pairs = compare(some, 0.9)

    theirs = stats.tukey_hsd(*some.values(), equal_var=is_equal)
    interval, names = theirs.confidence_interval(0.9), [*some]
    for pair in pairs:
        i, j = names.index(pair["a"]), names.index(pair["b"])
        assert pair["p"] == pytest.approx(theirs.pvalue[i, j], abs=1e-8)
        assert pair["ci"] == pytest.approx([interval.low[i, j], interval.high[i, j]], abs=1e-6)
    assert len(pairs) == 3


def test_the_t_tests_of_two_models_agree_with_scipy():
    some = groups(12, 20)

    found = student(some, 0.95)

    for ours, is_equal in ((found, True), (found["welch"], False)):
        theirs = stats.ttest_ind(*some.values(), equal_var=is_equal)
        assert (ours["t"], ours["p"], ours["df"]) == pytest.approx(
            (theirs.statistic, theirs.pvalue, theirs.df), rel=1e-9
        )
        assert ours["ci"] == pytest.approx(theirs.confidence_interval(0.95), rel=1e-9)


def test_the_effect_size_is_the_difference_in_pooled_deviations():
    # means 2 and 5, both variances 1: d = -3; J(4) = Gamma(2) / (sqrt(2) Gamma(1.5)) = 0.797885
    effect = student({"a": np.array([1.0, 2, 3]), "b": np.array([4.0, 5, 6])}, 0.95)["effect"]

    assert effect["d"] == pytest.approx(-3)
    assert effect["g"] == pytest.approx(-3 * 0.797885, rel=1e-6)


def test_the_interval_of_d_is_where_the_noncentral_t_has_its_tails():
    some = groups(20, 20, seed=3)
    found = student(some, 0.95)

    tails = [stats.nct.cdf(found["t"], 38, bound * np.sqrt(10)) for bound in found["effect"]["d_ci"]]

    assert tails == pytest.approx([0.975, 0.025], abs=1e-6)


def test_the_explained_shares_are_as_worked_by_hand():
    # {1,2,3} and {4,5,6}: between 13.5, within 4, total 17.5; omega (13.5 - 1) / (17.5 + 1)
    found = effect_sizes(Moments.of({"a": np.array([1.0, 2, 3]), "b": np.array([4.0, 5, 6])}))

    assert found == pytest.approx({"eta_squared": 13.5 / 17.5, "omega_squared": 12.5 / 18.5})


def test_models_whose_evaluators_all_agree_are_left_to_the_tests_that_can_bear_it():
    some = {"a": np.array([5.0, 5, 5]), "b": np.array([9.0, 9]), "c": np.array([1.0, 2])}

    assert are_comparable(some)
    assert welch(Moments.of(some)) is None
    assert [(pair["a"], pair["b"]) for pair in games_howell(some, 0.95)] == [("a", "c"), ("b", "c")]
    assert not are_comparable({"a": np.array([5.0, 5]), "b": np.array([9.0, 9])})


@pytest.mark.slow("simulates many evaluators to know an interval's coverage")
def test_intervals_of_all_pairs_hold_together_in_95_of_100():
    """500 studies of five models that do not differ: no pair is told apart in 95% (SE 1%)."""
    rng = np.random.default_rng(5)
    false = {tukey: 0, games_howell: 0}
    for _ in range(500):
        some = {str(i): rng.normal(0, 1, 12) for i in range(5)}
        for compare in false:
            false[compare] += min(pair["p"] for pair in compare(some, 0.95)) < 0.05

    assert false[tukey] / 500 == pytest.approx(0.05, abs=0.03)
    assert false[games_howell] / 500 == pytest.approx(0.05, abs=0.03)
