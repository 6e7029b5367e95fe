"""Resampled scores: independent within models if people judged one, else the same people for all."""

import numpy as np
import pytest
from scipy import stats

from backend.analysis.score_resamples import resampled_scores
from backend.analysis.table.evaluator_values import values_by_model
from backend.analysis.table.response_rows import answers_of

WRONG = {"a": [1, 3, 5, 7], "b": [2, 4, 6, 8], "c": [3, 5, 7, 9]}
"""Wrong answers of four people of ten, by model."""


def rows(person, wrong=WRONG):
    """Return answers to ten fakes; `person` names the evaluator of a model and a number."""
    return [
        {"model": model, "evaluator": person(model, i), "truth": "fake", "response": ("fake", "real")[j < n]}
        for model, counts in wrong.items()
        for i, n in enumerate(counts)
        for j in range(10)
    ]


def resamples(data, seed=0, iterations=4000, **options):
    answers = answers_of(data, "infinity")
    rng = np.random.default_rng(seed)
    return resampled_scores(answers, values_by_model(answers), rng, 0.95, iterations, **options)


def test_of_different_people_scores_vary_alone_and_as_much_as_students_t_allows():
    found = resamples(rows(lambda model, i: f"{model}{i}"))

    assert found.models == ("a", "b", "c")
    assert found.scores.mean(axis=0) == pytest.approx([40, 50, 60], abs=1)
    # s / sqrt(n), s the SD of 10, 30, 50, 70, widened from the normal to Student's quantile of 3
    error = np.std([10, 30, 50, 70], ddof=1) / 2 * stats.t.ppf(0.975, 3) / stats.norm.ppf(0.975)
    assert found.scores.std(axis=0) == pytest.approx([error] * 3, rel=0.05)
    assert np.abs(np.corrcoef(found.scores.T)[np.triu_indices(3, 1)]).max() < 0.05


def test_of_the_same_people_the_differences_between_models_do_not_vary():
    found = resamples(rows(lambda model, i: str(i)))

    assert found.scores[:, 1] - found.scores[:, 0] == pytest.approx(np.full(4000, 10))
    assert found.scores[:, 0].std() > 10


def test_where_people_judged_some_of_the_models_a_resample_may_have_nobody_for_one():
    data = [row for row in rows(lambda model, i: str(i)) if row["model"] != "c" or row["evaluator"] in "01"]

    found = resamples(data)

    missing = np.isnan(found.scores[:, 2])
    assert missing.mean() == pytest.approx(0.5**4, abs=0.01)  # none of two of four people in four drawings
    assert np.isfinite(found.scores[:, :2]).all()


@pytest.mark.parametrize("person", [lambda model, i: f"{model}{i}", lambda model, i: str(i)])
def test_more_people_drawn_vary_less(person):
    four, many = (resamples(rows(person), drawn=drawn).scores.std(axis=0) for drawn in (None, 400))

    assert many == pytest.approx(four / 10, rel=0.1)


def test_one_evaluator_shows_no_variation():
    data = [row for row in rows(lambda model, i: f"{model}{i}") if row["evaluator"] not in ("b1", "b2", "b3")]

    assert resamples(data) is None


def test_equal_means_stay_equal():
    found = resamples(rows(lambda model, i: str(i), {"a": [1, 2, 4], "b": [1, 2, 4], "c": [3, 3, 3]}))

    assert (found.scores[:, 0] == found.scores[:, 1]).all()
    assert (found.scores[:, 2] == 30).all()
