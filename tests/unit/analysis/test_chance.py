"""A score against 50%: tests by hand and by scipy, what they conclude, and how often they err."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from backend.analysis.comparisons import chance
from backend.analysis.comparisons.chance import over_models
from backend.analysis.distributions.inference import Component, Share, mean_of
from backend.analysis.score_intervals import share_of
from backend.analysis.table.evaluator_values import values_by_model
from backend.foundation.errors import InvalidInput

from ..shared_pictures import shared_answers

SURE = 10**9
"""Answers so many that single ones do not matter."""


def against_chance(values, responses=SURE, **options):
    """Return the tests of evaluators' values (percent) who share no pictures."""
    return chance.against_chance(share(np.array(values, float), responses), **options)


def share(values, answers, pictures=None):
    mean = mean_of(values / 100)
    return Share(mean.value, mean.people, pictures, answers=answers)


def spread(mean, sd, count):
    z = np.linspace(-1, 1, count)
    return mean + sd * (z - z.mean()) / z.std(ddof=1)


def test_four_evaluators_by_hand():
    # 50, 52, 54, 56: mean 53, error sqrt(5 / 3) with p q = .53 * .47; at 50% the error is larger by
    # sqrt(.25 / (p q)), so that t = 3 / 1.29099 * sqrt(.2491 / .25)
    found = against_chance([50.0, 52, 54, 56], margin=5)

    assert found["hyperrealism"]["t"] == pytest.approx(3 / (5 / 3) ** 0.5 * (0.2491 / 0.25) ** 0.5)
    assert found["hyperrealism"]["df"] == 3
    # t(3) at 0.95 is 2.35336 (any table); size .2491 / (5 / 3e4) = 1494.6, weight t**2 / size = .0037056:
    # centre (.53 + .0018528) / 1.0037056 = .529889, half sqrt(.0037056 (.2491 + .0009264)) / 1.0037056.
    # below it reaches g (1 + 2 t**2) / 4 = .028165 farther, g = 3 sqrt(5 / 3e4) .06 / .2491: weight .0037947
    assert found["equivalence"]["ci"] == pytest.approx([49.9199, 56.0214], abs=1e-3)
    assert found["equivalence"]["ci_level"] == 0.9


def test_p_values_agree_with_scipys_one_sided_tests():
    values = np.array([50.0, 47, 54, 56, 59, 52])
    variance = values.mean() * (100 - values.mean())

    longer = 3 * stats.sem(values) * (2 * values.mean() - 100) / variance / 4

    found = against_chance(values, margin=4)

    def p(null, alternative):
        # as in Wilson's interval, the variance is that of a share of `null`
        t = stats.ttest_1samp(values, null).statistic * (variance / (null * (100 - null))) ** 0.5
        if t > 0:  # of log-odds below 0 the longer tail is the lower one: g (1 + 2 q^2) / 4 + q = t
            t = optimize.brentq(lambda q: q + longer * (1 + 2 * q**2) - t, 0, t)
        return stats.t.sf(t, 5) if alternative == "greater" else stats.t.cdf(t, 5)

    above, within = p(50, "greater"), max(p(46, "greater"), p(54, "less"))
    assert found["hyperrealism"]["p"] == pytest.approx(above, rel=1e-6)
    assert found["equivalence"]["p"] == pytest.approx(within, rel=1e-6)


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        (spread(50, 5, 30), "within 5 points of 50%"),
        (spread(52, 3, 30), "within 5 points of 50%, and above it"),
        (spread(48, 3, 30), "within 5 points of 50%, and below it"),
        (spread(60, 5, 30), "above 50%; not shown to be within 5 points of 50%"),
        (spread(30, 5, 30), "below 50%"),
        (spread(51, 20, 10), "neither shown to be above 50% nor within 5 points of 50%"),
    ],
)
def test_the_verdict_says_what_was_shown_and_no_more(values, verdict):
    assert against_chance(values)["verdict"] == verdict


def test_one_evaluator_has_no_test():
    assert chance.against_chance(None) is None


@pytest.mark.parametrize("share", [0, 50, 100])
def test_evaluators_who_are_all_alike_are_as_sure_as_their_answers(share):
    found = against_chance([share] * 3, responses=300, margin=10)

    # 300 answers: t = (share - 50) / 2.887
    assert found["hyperrealism"]["t"] == pytest.approx((share - 50) / 2.8868, abs=1e-3)
    assert (found["equivalence"]["p"] < 0.05) == (share == 50)


@pytest.mark.parametrize("margin", [0, -1, 50, float("nan")])
def test_a_margin_without_a_sense_is_refused(margin):
    with pytest.raises(InvalidInput, match="margin must be between 0 and 50 percentage points"):
        against_chance([1.0, 2.0], margin=margin)


SHARES = st.builds(
    lambda values, answers, of_pictures, df: share(
        np.array(values), answers, Component(of_pictures * np.mean(values) * (100 - np.mean(values)), df)
    ),
    st.lists(st.integers(0, 100), min_size=2, max_size=20),
    st.integers(20, 3000),
    st.sampled_from([0.0, 4e-8, 1.2e-6]),
    st.sampled_from([1.0, 7.5, 60.0]),
)


@given(SHARES)
def test_equivalence_holds_only_where_its_interval_is_within_the_margin(share):
    found = chance.against_chance(share, margin=10)["equivalence"]

    if found["p"] < 0.05:
        assert found["ci"][0] > 40 - 1e-9
        assert found["ci"][1] < 60 + 1e-9


@given(SHARES, st.sampled_from([0.05, 0.4, 0.5, 0.9]), st.sampled_from([0.8, 0.9, 0.95, 0.99]))
def test_a_test_rejects_only_what_the_interval_does_not_contain(share, null, level):
    low, high = share.interval(level)

    found = share.test(null)

    for p, is_outside in ((found.p_above, low > null), (found.p_below, high < null)):
        assert is_outside or p > (1 - level) / 2 - 1e-9


def test_a_score_of_50_percent_is_called_hyper_realistic_in_5_of_100():
    """2,000 models at 50%: the one-sided test rejects in 5% (SE 0.5%)."""
    rng = np.random.default_rng(4)
    drawn = rng.binomial(100, rng.beta(50, 50, (2000, 30))).astype(float)

    found = [against_chance(values, responses=3000)["hyperrealism"] for values in drawn]

    for p in ("p", "p_below"):
        assert np.mean([one[p] < 0.05 for one in found]) == pytest.approx(0.05, abs=0.015)


@pytest.mark.parametrize(("people", "pictures"), [(30, 40), (60, 20), (10, 40), (30, 400)])
def test_pictures_that_everybody_saw_make_no_verdict_false(people, pictures):
    """400 models at 50% and at 55%; SDs of probits .25 and .6: errors of 5% (SE 1.1%)."""
    rng = np.random.default_rng(pictures)

    def tests(share):
        for _ in range(400):
            answers = shared_answers(rng, people, pictures, share)
            yield chance.against_chance(share_of(answers, 0, values_by_model(answers)["m"]))

    equal, apart = [*tests(0.5)], [*tests(0.55)]

    most = 0.06 + 2 * math.sqrt(0.05 * 0.95 / 400)
    assert np.mean([one["hyperrealism"]["p"] < 0.05 for one in equal]) < most
    assert np.mean([one["hyperrealism"]["p_below"] < 0.05 for one in equal]) < most
    assert np.mean([one["equivalence"]["p"] < 0.05 for one in apart]) < most


def test_p_values_of_several_models_are_holms_and_the_verdict_follows_them():
    # 54.375 of SD 7 and 12 evaluators: t = 2.165 * .9962, less .04 for the longer tail below: p = .0296,
    # alone, three times that among three
    tests = [against_chance(spread(mean, 7, 12)) for mean in (54.375, 50, 40)]

    found = over_models([tests[0], None, *tests[1:]])

    there = [one for one in found if one is not None]
    assert found[1] is None
    assert there[0]["hyperrealism"]["p"] == tests[0]["hyperrealism"]["p"] == pytest.approx(0.0296, abs=2e-4)
    assert there[0]["hyperrealism"]["p_holm"] == pytest.approx(3 * tests[0]["hyperrealism"]["p"])
    assert there[2]["hyperrealism"]["p_below_holm"] == pytest.approx(3 * tests[2]["hyperrealism"]["p_below"])
    assert tests[0]["verdict"].startswith("above 50%")
    assert there[0]["verdict"] == "neither shown to be above 50% nor within 5 points of 50%"
    assert there[2]["verdict"] == "below 50%"


def test_of_one_model_the_corrected_test_is_the_plain_one():
    (found,) = over_models([against_chance([60.0, 62, 58, 61])])

    assert found["hyperrealism"]["p_holm"] == found["hyperrealism"]["p"]
    assert found["equivalence"]["p_holm"] == found["equivalence"]["p"]
