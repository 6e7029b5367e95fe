"""Who left, compared between models: by hand, by listing all tables, and against scipy."""

from itertools import product
from math import comb

import numpy as np
import pytest
from scipy import stats

from backend.analysis import dropout
from backend.analysis.dropout import dropout_test


def found(began, left, seed=0):
    return dropout_test(began, left, np.random.default_rng(seed))


def test_two_models_by_hand():
    # 3 of 4 against 0 of 4: of the C(8, 3) = 56 ways to choose who left, C(4, 3) = 4 fall on either model
    test = found([4, 4], [3, 0])

    assert test["p"] == pytest.approx(8 / 56)
    # (3 - 1.5)^2 / (1.5 * 5/8) twice
    assert test["statistic"] == pytest.approx(2 * 1.5**2 / (1.5 * 5 / 8))
    assert (test["df"], test["method"], test["tables"]) == (1, "exact", None)


@pytest.mark.parametrize(
    ("began", "left"), [([5, 7, 6], [0, 4, 1]), ([3, 9, 4, 6], [2, 2, 0, 5]), ([12, 12, 12], [1, 2, 3])]
)
def test_p_is_the_share_of_all_tables_of_the_same_margins(began, left):
    statistic = stats.chi2_contingency([left, np.subtract(began, left)], correction=False).statistic
    share, total = sum(left) / sum(began), 0
    for table in product(*(range(n + 1) for n in began)):
        if sum(table) == sum(left):
            theirs = sum(
                (d - n * share) ** 2 / (n * share * (1 - share)) for n, d in zip(began, table, strict=True)
            )
            ways = np.prod([comb(n, d) for n, d in zip(began, table, strict=True)])
            total += ways if theirs >= statistic - 1e-9 else 0

    test = found(began, left)

    assert test["statistic"] == pytest.approx(statistic)
    assert test["p"] == pytest.approx(total / comb(sum(began), sum(left)))


def test_random_tables_agree_with_the_exact_test_and_with_scipys(monkeypatch):
    began, left = [30, 28, 33, 31], [9, 2, 4, 3]
    exact = found(began, left)
    monkeypatch.setattr(dropout, "_MOST_STATES", 0)

    drawn = found(began, left)

    error = np.sqrt(exact["p"] * (1 - exact["p"]) / dropout.DRAWN)
    assert (drawn["method"], drawn["tables"]) == ("monte-carlo", dropout.DRAWN)
    assert abs(drawn["p"] - exact["p"]) < 4 * error
    table = [left, np.subtract(began, left)]
    method = stats.MonteCarloMethod(n_resamples=20_000, rng=np.random.default_rng(1))
    theirs = stats.chi2_contingency(table, correction=False, method=method)
    assert abs(theirs.pvalue - exact["p"]) < 4 * np.sqrt(exact["p"] / 20_000)


def test_it_errs_as_often_as_it_says_at_most():
    rng = np.random.default_rng(3)
    p = []
    for _ in range(400):
        left = rng.binomial([20, 15, 10], 0.1)
        test = found([20, 15, 10], left)
        p.append(1.0 if test is None else test["p"])

    assert np.mean(np.array(p) < 0.05) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)


@pytest.mark.parametrize(
    ("began", "left"), [([5], [2]), ([5, 0], [2, 0]), ([5, 5], [0, 0]), ([2, 3], [2, 3])]
)
def test_there_is_no_test_where_nothing_can_differ(began, left):
    assert found(began, left) is None


def test_models_that_nobody_began_are_left_out():
    assert found([4, 0, 4], [3, 0, 0]) == found([4, 4], [3, 0])


def test_very_many_tables_are_drawn():
    rng = np.random.default_rng(2)
    began = rng.integers(28, 61, 40)

    assert found(began, rng.binomial(began, 0.3))["method"] == "monte-carlo"
