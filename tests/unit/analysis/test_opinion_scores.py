"""Rank correlations with mean opinion scores: scipy's values, a jackknife by hand, ceilings and edges."""

import json
import math

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr, t

from backend.analysis.agreement.opinion_scores import OpinionScores, opinion_agreement, references_of
from backend.analysis.distributions.rank_intervals import over_models


def found_of(scores, values, **more):
    stimuli = tuple(f"s{i}" for i in range(len(scores)))
    data = opinion_agreement(
        OpinionScores(stimuli, np.array(scores, float), **more), {"m": np.array(values, float)}
    )
    json.dumps(data, allow_nan=False)
    return data


@pytest.fixture
def drawn():
    """Scores and values of 60 stimuli with ties, of 6 references."""
    rng = np.random.default_rng(3)
    scores = rng.normal(size=60).round(1)
    return scores, (scores + rng.normal(size=60)).round(1), tuple(f"I{i % 6}" for i in range(60))


def test_coefficients_are_those_of_scipy(drawn):
    scores, values, _ = drawn

    (row,) = found_of(scores, values)["metrics"]

    assert row["rho"] == pytest.approx(spearmanr(scores, values).statistic, abs=1e-12)
    assert row["tau"] == pytest.approx(kendalltau(scores, values).statistic, abs=1e-12)
    assert row["ties"] == sum(np.sum(values == value) > 1 for value in values)


def test_independent_stimuli_have_the_interval_of_rank_correlations(drawn):
    scores, values, _ = drawn

    (row,) = found_of(scores, values)["metrics"]

    expected = over_models(row["rho"], row["tau"], 60, 0.95)
    assert (row["rho_ci"], row["tau_ci"]) == (expected["rho"], expected["tau"])


def test_with_references_the_interval_is_the_jackknife_over_them(drawn):
    scores, values, references = drawn

    data = found_of(scores, values, references=references)

    (row,) = data["metrics"]
    group = np.arange(60) % 6
    z = [math.atanh(spearmanr(scores[group != g], values[group != g]).statistic) for g in range(6)]
    whole = math.atanh(row["rho"])
    half = t.ppf(0.975, 5) * math.sqrt(5 / 6 * np.var(z) * 6)
    bias = 5 * (np.mean(z) - whole)
    expected = [math.tanh(whole - max(bias, 0) - half), math.tanh(whole - min(bias, 0) + half)]
    assert data["references"] == 6
    assert row["rho_ci"] == pytest.approx(expected)


def test_the_ceiling_is_what_the_noise_of_the_opinions_leaves():
    # variance of 1, 2, 3, 4 is 5/3; noise 1/4 each: r^2 = 1 - 0.25 / (5/3) = 0.85
    data = found_of([1, 2, 3, 4], [4, 3, 2, 1], sds=np.full(4, 2.0), votes=np.full(4, 16.0))

    assert data["reliability"] == pytest.approx(0.85)
    assert data["ceiling"]["rho"] == pytest.approx(6 / math.pi * math.asin(math.sqrt(0.85) / 2))
    assert data["ceiling"]["tau"] == pytest.approx(2 / math.pi * math.asin(math.sqrt(0.85)))
    assert data["votes"] == 64


def test_opinions_that_are_all_noise_leave_nothing():
    assert found_of([1, 2, 3], [1, 2, 3], sds=np.full(3, 9.0), votes=np.full(3, 2.0))["reliability"] == 0


@pytest.mark.parametrize(
    ("scores", "values", "references", "note"),
    [
        ([1, 2], [1, 2], None, "it takes three stimuli"),
        ([1, 1, 1], [1, 2, 3], None, "all stimuli have the same score"),
        ([1, 2, 3], [2, 2, 2], None, "all stimuli have the same value"),
        ([1, 2, 3], [1, 3, 2], None, "an interval takes four stimuli"),
        ([1, 2, 3, 4], [1, 3, 2, 4], tuple("aabb"), "an interval takes 5 references"),
        (
            [1, 2, 3, 4, 5, 6],
            [1, 2, 3, 4, 5, 6],
            tuple("abcdef"),
            "without one of the references all stimuli are in one order, or tie",
        ),
    ],
)
def test_what_cannot_be_told_is_none_with_its_reason(scores, values, references, note):
    (row,) = found_of(scores, values, references=references)["metrics"]

    assert row["rho_ci"] is None
    assert row["tau_ci"] is None
    assert row["note"] == note


def test_names_like_those_of_tid2013_state_their_reference():
    assert references_of(["I01_01_1", "I02_24_5"]) == ("I01", "I02")
    assert references_of(["I01_01_1", "a_b_c"]) is None
    assert references_of(["cat"]) is None
