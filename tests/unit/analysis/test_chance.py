"""A score against 50%: tests by hand and by scipy, and what they conclude."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from backend.analysis.chance import against_chance, over_models
from backend.foundation.errors import InvalidInput


def spread(mean, sd, count):
    z = np.linspace(-1, 1, count)
    return mean + sd * (z - z.mean()) / z.std(ddof=1)


def test_four_evaluators_by_hand():
    # 50, 52, 54, 56: mean 53, SD sqrt(20 / 3), error sqrt(5 / 3), t = 3 / 1.29099
    found = against_chance(np.array([50.0, 52, 54, 56]), margin=5)

    assert found["hyperrealism"]["t"] == pytest.approx(3 / (5 / 3) ** 0.5)
    assert found["hyperrealism"]["df"] == 3
    # t(3) at 0.95 is 2.3534 (any table): 53 -+ 3.0382
    assert found["equivalence"]["ci"] == pytest.approx([49.9618, 56.0382], abs=1e-4)
    assert found["equivalence"]["ci_level"] == 0.9


def test_p_values_agree_with_scipys_one_sided_tests():
    values = np.array([50.0, 47, 54, 56, 61, 49])

    found = against_chance(values, margin=4)

    above = stats.ttest_1samp(values, 50, alternative="greater").pvalue
    within = max(
        stats.ttest_1samp(values, 46, alternative="greater").pvalue,
        stats.ttest_1samp(values, 54, alternative="less").pvalue,
    )
    assert found["hyperrealism"]["p"] == pytest.approx(above, rel=1e-9)
    assert found["equivalence"]["p"] == pytest.approx(within, rel=1e-9)


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


@pytest.mark.parametrize("values", [[50.0], [50.0, 50.0, 50.0], [0.0, 0.0]])
def test_no_test_exists_of_evaluators_who_do_not_vary(values):
    assert against_chance(np.array(values)) is None


@pytest.mark.parametrize("margin", [0, -1, 50, float("nan")])
def test_a_margin_without_a_sense_is_refused(margin):
    with pytest.raises(InvalidInput, match="margin must be between 0 and 50 percentage points"):
        against_chance(np.array([1.0, 2.0]), margin=margin)


@given(st.lists(st.integers(0, 100), min_size=3, max_size=20).filter(lambda some: len(set(some)) > 1))
def test_equivalence_holds_just_where_its_interval_is_within_the_margin(values):
    found = against_chance(np.array(values, float), margin=10)["equivalence"]

    is_within = found["ci"][0] > 40 and found["ci"][1] < 60
    assert (found["p"] < 0.05) == is_within


def test_a_score_of_50_percent_is_called_hyper_realistic_in_5_of_100():
    """2,000 models at 50%: the one-sided test rejects in 5% (SE 0.5%)."""
    rng = np.random.default_rng(4)
    drawn = rng.binomial(100, rng.beta(50, 50, (2000, 30))).astype(float)

    rejected = np.mean([against_chance(values)["hyperrealism"]["p"] < 0.05 for values in drawn])

    assert rejected == pytest.approx(0.05, abs=0.015)


def test_p_values_of_several_models_are_holms_and_the_verdict_follows_them():
    # 54.375 of SD 7 and 12 evaluators: t = 2.165, p = .0266 alone, three times that among three
    tests = [against_chance(spread(mean, 7, 12)) for mean in (54.375, 50, 40)]

    found = over_models([tests[0], None, *tests[1:]])

    there = [one for one in found if one is not None]
    assert found[1] is None
    assert there[0]["hyperrealism"]["p"] == tests[0]["hyperrealism"]["p"] == pytest.approx(0.0266, abs=1e-4)
    assert there[0]["hyperrealism"]["p_holm"] == pytest.approx(3 * tests[0]["hyperrealism"]["p"])
    assert there[2]["hyperrealism"]["p_below_holm"] == pytest.approx(3 * tests[2]["hyperrealism"]["p_below"])
    assert tests[0]["verdict"].startswith("above 50%")
    assert there[0]["verdict"] == "neither shown to be above 50% nor within 5 points of 50%"
    assert there[2]["verdict"] == "below 50%"


def test_of_one_model_the_corrected_test_is_the_plain_one():
    (found,) = over_models([against_chance(np.array([60.0, 62, 58, 61]))])

    assert found["hyperrealism"]["p_holm"] == found["hyperrealism"]["p"]
    assert found["equivalence"]["p_holm"] == found["equivalence"]["p"]
