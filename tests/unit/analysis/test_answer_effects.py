"""Effect sizes in SDs of single answers: by the components of two-way tables, and by numeric derivatives."""

import numpy as np
import pytest
from scipy import stats

from backend.analysis.comparisons.answer_effects import answer_effects
from backend.analysis.crossing import crossed

from ..shared_pictures import shared_answers

SCORES = np.array([55.0, 30, 90])
COVARIANCE = np.array([[6.0, 1, 0], [1, 4, -0.5], [0, -0.5, 2]])
FIRST, SECOND = np.triu_indices(3, 1)


def variance(score):
    """Return the variance of answers of one probability on both sides, in percent squared."""
    return score * (100 - score)


def found_of(scores=SCORES, variances=None, covariance=COVARIANCE, df=(9.0, 20, 4), level=0.95):
    variances = variance(scores) if variances is None else variances
    return answer_effects(scores, scores, variances, covariance, FIRST, SECOND, np.array(df), level)


@pytest.mark.parametrize("level", [0.95, 0.8])
def test_the_interval_is_the_delta_methods_with_numeric_derivatives(level):
    def d(a, b):
        return (a - b) / np.sqrt((variance(a) + variance(b)) / 2)

    for row, i, j, df in zip(found_of(level=level), FIRST, SECOND, (9, 20, 4), strict=True):
        a, b, step = SCORES[i], SCORES[j], 1e-5
        slopes = np.array([d(a + step, b) - d(a - step, b), d(a, b + step) - d(a, b - step)]) / (2 * step)
        error = np.sqrt(slopes @ COVARIANCE[np.ix_([i, j], [i, j])] @ slopes)
        assert row["d"] == pytest.approx(d(a, b))
        assert row["d_ci"] == pytest.approx(stats.t.interval(level, df, d(a, b), error), rel=1e-6)
        assert row["sd"] == pytest.approx(np.sqrt((variance(a) + variance(b)) / 2))


def test_where_models_share_reals_the_variance_moves_with_the_errors_on_fakes():
    def d(a, b, reals=20):
        fakes = np.array([2 * a - reals, 2 * b - reals])
        return (a - b) / np.sqrt((variance(fakes).mean() + variance(reals)) / 2)

    scores, step = np.array([45.0, 25]), 1e-5
    fakes, covariance, (i, j) = 2 * scores - 20, COVARIANCE[:2, :2], np.array([[0], [1]])
    variances = (variance(fakes) + variance(20)) / 2
    (row,) = answer_effects(scores, fakes, variances, covariance, i, j, np.array([9.0]), 0.95)

    a, b = scores
    slopes = np.array([d(a + step, b) - d(a - step, b), d(a, b + step) - d(a, b - step)]) / (2 * step)
    error = np.sqrt(slopes @ covariance @ slopes)
    assert row["d_ci"] == pytest.approx(stats.t.interval(0.95, 9, d(a, b), error), rel=1e-6)


def test_models_in_another_order_have_the_opposite_effect():
    ahead = found_of()
    behind = found_of(SCORES[::-1], covariance=COVARIANCE[::-1, ::-1], df=(4.0, 20, 9))

    for row, other in zip(ahead, behind[::-1], strict=True):
        assert [row["d"], *row["d_ci"]] == pytest.approx(
            [-other["d"], *(-end for end in other["d_ci"][::-1])]
        )


def test_answers_that_do_not_vary_have_no_effect_size():
    found = found_of(variances=np.array([0.0, 0, 900]))

    assert found[0] is None
    assert found[1]["sd"] == pytest.approx(np.sqrt(450))


def test_the_variance_of_answers_is_the_sum_of_the_components_of_two_way_tables():
    """Components by mean squares (Westfall, Kenny and Judd), 80 people and 80 pictures a side."""
    answers = shared_answers(np.random.default_rng(3), 80, 80, 0.3, people_sd=0.5, pictures_sd=1, most=160)

    found = crossed(answers, 0).of_answers

    sums = []
    for side in (False, True):
        mine = np.flatnonzero(answers.is_fake == side)
        order = np.lexsort((answers.texts["stimulus"].codes[mine], answers.evaluator.codes[mine]))
        table = answers.error[mine][order].reshape(80, 80).astype(float)
        people, pictures = table.mean(axis=1), table.mean(axis=0)
        rest = ((table - people[:, None] - pictures + table.mean()) ** 2).sum() / 79**2
        sums.append(people.var(ddof=1) - rest / 80 + pictures.var(ddof=1) - rest / 80 + rest)
    assert found == pytest.approx(np.mean(sums), rel=0.02)
