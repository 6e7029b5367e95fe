"""Shares, differences and areas over evaluators as clusters: by hand, against scikit-learn, and coverage."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from backend.analysis import clusters
from backend.analysis.clusters import mean_of
from backend.analysis.distributions.inference import t_quantile
from validate.confidence import apart, difference_of, share_of


def area_of(ratings, is_positive, evaluator):
    return clusters.area_of(ratings, is_positive, apart(evaluator))


RATED = st.lists(st.tuples(st.integers(-3, 3), st.booleans(), st.integers(0, 4)), min_size=2, max_size=60)


@given(RATED)
def test_areas_are_those_of_scikit_learn(rated):
    ratings, is_fake, evaluator = map(np.array, zip(*rated, strict=True))

    found = area_of(ratings, is_fake, evaluator)

    if is_fake.all() or not is_fake.any():
        assert found is None
    else:
        assert found.estimate.value == pytest.approx(roc_auc_score(is_fake, ratings), abs=1e-12)


def delong(ratings, is_fake):
    """Return the variance of the area for independent ratings (DeLong and others, 1988), pair by pair."""
    fakes, reals = ratings[is_fake], ratings[~is_fake]
    wins = (fakes[:, None] > reals) + 0.5 * (fakes[:, None] == reals)
    return wins.mean(axis=1).var(ddof=1) / len(fakes) + wins.mean(axis=0).var(ddof=1) / len(reals)


def test_the_variance_is_delongs_where_everybody_rates_one_picture():
    rng = np.random.default_rng(1)
    is_fake = rng.random(40) < 0.5
    ratings = rng.integers(0, 5, 40) + is_fake

    found = area_of(ratings, is_fake, np.arange(40))

    assert found.estimate.people.variance == pytest.approx(delong(ratings, is_fake))
    assert len(found.own) == 0


def test_ratings_given_twice_by_the_same_people_are_no_more_certain():
    rng = np.random.default_rng(2)
    is_fake = rng.random(40) < 0.5
    ratings, evaluator = rng.integers(0, 5, 40) + is_fake, np.arange(40)

    once = area_of(ratings, is_fake, evaluator)
    twice = area_of(np.tile(ratings, 2), np.tile(is_fake, 2), np.tile(evaluator, 2))

    assert twice.estimate.people.variance == pytest.approx(once.estimate.people.variance)


def test_own_areas_compare_each_evaluator_with_themselves():
    # the second evaluator rates everything higher, which only the comparison across evaluators notices
    ratings = np.array([1, 2, 11, 12])
    is_fake, evaluator = np.array([False, True, False, True]), np.array([0, 0, 1, 1])

    found = area_of(ratings, is_fake, evaluator)

    assert found.estimate.value == 0.75  # 2 > 1, 2 < 11, 12 > 1, 12 > 11
    assert found.own.tolist() == [1, 1]


@pytest.mark.parametrize("evaluators", [1, 2])
def test_ratings_that_do_not_vary_have_no_interval(evaluators):
    is_fake = np.tile([True, False], 10)

    equal = area_of(np.ones(20), is_fake, np.arange(20) % (2 * evaluators) // 2)
    apart = area_of(is_fake.astype(float), is_fake, np.arange(20) % (2 * evaluators) // 2)

    assert (equal.estimate.value, equal.estimate.log_odds_interval(0.95)) == (0.5, None)
    assert (apart.estimate.value, apart.estimate.log_odds_interval(0.95)) == (1, None)


def test_a_share_by_hand():
    # evaluators with 1 of 4 and 3 of 4: share 1/2, residuals -1 and 1, variance 2/1 * (1 + 1) / 8**2 = 1/16,
    # as of 4 independent answers; Wilson with t(1) = 12.706: 0.5 -+ 12.706 / sqrt(4 + 12.706**2) / 2
    found = share_of(np.array([1, 3]), np.array([4, 4]), 0.95)

    half = 12.7062 / np.sqrt(4 + 12.7062**2) / 2
    assert found == (0.5, pytest.approx([0.5 - half, 0.5 + half], abs=1e-6))


def test_evaluators_who_are_all_alike_do_not_make_a_share_certain():
    _, (low, high) = share_of(np.array([2, 2, 2]), np.array([4, 4, 4]), 0.95)

    assert low < 0.3
    assert high > 0.7


def test_a_share_of_one_evaluator_has_no_interval_and_one_of_nothing_is_none():
    assert share_of(np.array([1, 0]), np.array([4, 0]), 0.95)[1] is None
    assert share_of(np.array([0, 0]), np.array([0, 0]), 0.95) == (None, None)


def test_a_difference_by_hand():
    # shares 1/2 of 8 and 1/4 of 8; influences (0 - (2 - 1)) / 8 and (0 - (0 - 1)) / 8; variance 2 * 2 / 64
    first, second = (np.array([2, 2]), np.array([4, 4])), (np.array([2, 0]), np.array([4, 4]))

    found = difference_of(first, second, 0.95)

    assert found["difference"] == 0.25
    half = t_quantile(1, 0.95) * 0.25
    assert found["ci"] == pytest.approx([0.25 - half, 0.25 + half])
    assert found["p"] == pytest.approx(0.5)  # t = 1 with 1 degree of freedom: a Cauchy quartile


def test_intervals_of_differences_cover_although_one_share_has_few_answers():
    rng, held, studies = np.random.default_rng(7), 0, 600

    for _ in range(studies):
        wholes = rng.poisson(8, 12), rng.poisson(0.8, 12)  # most evaluators hardly call a real picture fake
        parts = [rng.binomial(whole, 0.15) for whole in wholes]
        found = difference_of(*zip(parts, wholes, strict=True), 0.95)
        if found is None or found["ci"] is None:
            studies -= 1
            continue
        held += found["ci"][0] <= 0 <= found["ci"][1]

    assert studies > 550
    assert held / studies >= 0.93


def test_a_mean_of_one_value_or_of_equal_ones_has_no_interval():
    assert mean_of(np.array([0.3]), 0.95) == (0.3, None)
    assert mean_of(np.array([0.25, 0.25]), 0.95) == (0.25, None)
