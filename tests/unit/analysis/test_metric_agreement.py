"""Agreement of metrics with scores: the papers' values, who is left out, and when there is no interval."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.analysis.agreement.metric_agreement import NOISE, direction, metric_agreement
from backend.analysis.score_resamples import ScoreResamples
from backend.foundation.errors import InvalidInput

from .test_ranks import FID, INFINITY, KID, PRECISION

MODELS = ["stylegan", "progan", "began", "wgan", "trunc", "no-trunc"]
SCORES = dict(zip(MODELS, INFINITY, strict=True))
METRICS = {
    name: dict(zip(MODELS, values, strict=True))
    for name, values in {"FID": FID, "KID": KID, "Precision": PRECISION}.items()
}


def resamples(scores=SCORES, error=1.3, times=2000, seed=0):
    """Return scores with independent normal errors."""
    rng = np.random.default_rng(seed)
    drawn = np.array([*scores.values()]) + error * rng.standard_normal((times, len(scores)))
    return ScoreResamples(tuple(scores), drawn)


def test_the_papers_table_has_its_correlations_and_directions():
    rows = {row["metric"]: row for row in metric_agreement(SCORES, METRICS, resamples())}

    assert {name: round(row["rho"], 3) for name, row in rows.items()} == {
        "FID": -0.029,
        "KID": -0.609,
        "Precision": 0.657,
    }
    assert {name: row["direction"] for name, row in rows.items()} == {
        "FID": "lower",
        "KID": "lower",
        "Precision": "higher",
    }
    # these scores are 8 points or 6 SEs apart, so that hardly another order is possible
    for row in rows.values():
        assert row["stability"] > 0.99
        if row["evaluators_ci"] is None:
            assert (
                row["evaluators_note"] == "95% or more of the resamples of evaluators give this correlation"
            )
        else:
            assert row["evaluators_ci"] == pytest.approx([row["rho"]] * 2, abs=0.02)
            assert row["evaluators_ci"][0] < row["evaluators_ci"][1]
        assert row["models_ci"][0] < row["rho"] < row["models_ci"][1]
        assert row["models_ci"][1] - row["models_ci"][0] > 1  # six models say little about others


def test_close_scores_widen_the_interval_over_evaluators_by_the_orders_they_allow():
    scores = {"a": 10.0, "b": 20.0, "c": 20.5, "d": 40.0}
    values = {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}

    (row,) = metric_agreement(scores, {"m": values}, resamples(scores))

    # b and c may change places: rho 1 or .8; moved away from 0 as a resample's stability says
    assert row["rho"] == 1
    assert row["evaluators_ci"] == [pytest.approx(0.8), 1.0]
    assert row["tau_evaluators_ci"] == [pytest.approx(4 / 6), 1.0]


def test_ends_are_moved_away_from_0_by_the_share_of_the_order_that_scores_resolve():
    scores = {"a": 10.0, "b": 20.0, "c": 20.5, "d": 40.0}
    values = {"a": 2.0, "b": 1.0, "c": 3.0, "d": 4.0}

    (row,) = metric_agreement(scores, {"m": values}, resamples(scores, error=0.4))

    # rho is .8, and .4 if b and c change places; 1 is out of reach of a resample but not of the truth
    resolved = (row["stability"] - 0.690) / (1 - 0.690)
    assert row["evaluators_ci"] == [pytest.approx(0.4), pytest.approx(0.8 / resolved, abs=0.001)]
    assert 0.81 < row["evaluators_ci"][1] < 1


@given(
    st.lists(st.integers(0, 8), min_size=3, max_size=7),
    st.floats(0.1, 9),
    st.integers(0, 99),
)
def test_intervals_hold_the_estimate_and_stay_within_1(values, error, seed):
    scores = {str(i): 5.0 * i for i in range(len(values))}
    metric = dict(zip(scores, map(float, values), strict=True))

    (row,) = metric_agreement(scores, {"m": metric}, resamples(scores, error, 200, seed))

    for start in ("", "tau_"):
        for kind in ("evaluators", "models"):
            if ci := row[f"{start}{kind}_ci"]:
                assert -1 <= ci[0] <= row["tau" if start else "rho"] <= ci[1] <= 1
            else:
                assert row[f"{kind}_note"]


def test_scores_that_resolve_nothing_leave_the_interval_without_an_end():
    (row,) = metric_agreement(SCORES, {"FID": METRICS["FID"]}, resamples(error=40))

    assert row["stability"] < NOISE["rho"]
    assert (row["evaluators_ci"], row["tau_evaluators_ci"]) == ([-1, 1], [-1, 1])
    assert row["evaluators_note"] is None
    assert row["models_ci"] is not None


def test_the_stability_of_equal_models_is_that_of_noise():
    rng = np.random.default_rng(5)
    scores = {str(i): value for i, value in enumerate(rng.standard_normal(300))}
    values = {"m": {name: float(name) for name in scores}}

    (row,) = metric_agreement(scores, values, resamples(scores, error=1, times=100))

    assert row["stability"] == pytest.approx(NOISE["rho"], abs=0.04)
    assert row["tau_stability"] == pytest.approx(NOISE["tau"], abs=0.04)


def test_resamples_that_all_tie_are_left_out_and_counted():
    scores = {"a": 1.0, "b": 2.0, "c": 3.0}
    drawn = np.tile([1.0, 2.0, 3.0], (100, 1))
    drawn[:4] = 2.0
    values = {"m": {"a": 1.0, "b": 2.0, "c": 3.0}}

    (few,) = metric_agreement(scores, values, ScoreResamples(("a", "b", "c"), drawn))
    drawn[:6] = 2.0
    (many,) = metric_agreement(scores, values, ScoreResamples(("a", "b", "c"), drawn))

    assert few["undefined"] == 4
    assert few["evaluators_note"] == "95% or more of the resamples of evaluators give this correlation"
    assert (many["undefined"], many["evaluators_ci"]) == (6, None)
    assert "in 6% of resamples all scores tie" in many["evaluators_note"]


def test_a_resample_without_anyone_for_a_model_is_left_out():
    drawn = np.tile([1.0, 2.0, 3.0], (100, 1))
    drawn[0, 1] = math.nan

    (row,) = metric_agreement(
        {"a": 1.0, "b": 2.0, "c": 3.0},
        {"m": {"a": 1.0, "b": 2.0, "c": 3.0}},
        ScoreResamples(("a", "b", "c"), drawn),
    )

    assert (row["resamples"], row["undefined"]) == (100, 1)


def test_models_without_a_metric_are_left_out_and_named():
    scores = {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}
    metrics = {
        "FID": {"a": 4.0, "b": 3.0, "c": 1.0, "d": math.nan, "x": 9.0},
        "KID": {"a": 1.0, "b": None},
    }

    fid, kid = metric_agreement(scores, metrics)

    assert (fid["rho"], fid["models"], fid["without"]) == (-1.0, 3, ["d"])
    assert (kid["rho"], kid["models"], kid["without"]) == (None, 1, ["b", "c", "d"])


@pytest.mark.parametrize(
    ("scores", "values", "why"),
    [
        ([1, 2], [1, 2], "a rank correlation takes three models"),
        ([], [], "a rank correlation takes three models"),
        ([1, 2, 3], [5, 5, 5], "all models have the same value"),
        ([5, 5, 5], [1, 2, 3], "all models have the same score"),
    ],
)
def test_where_nothing_varies_there_is_no_correlation(scores, values, why):
    names = "abc"[: len(scores)]
    known = {"m": dict(zip(names, values, strict=True))}

    (row,) = metric_agreement(dict(zip(names, scores, strict=True)), known)

    assert (row["rho"], row["tau"], row["models_ci"], row["models_note"]) == (None, None, None, why)
    assert row["models"] == len(scores)


def test_three_models_have_no_interval_over_models():
    (row,) = metric_agreement({"a": 1.0, "b": 2.0, "c": 3.0}, {"m": {"a": 1.0, "b": 2.0, "c": 3.0}})

    assert (row["rho"], row["models_ci"]) == (1, None)
    assert row["models_note"] == "3 models are too few; it takes 4"
    assert row["evaluators_note"] == "a model has a single evaluator"


@pytest.mark.parametrize("value", [10**400, "12", [1], "\ud800"])
def test_what_is_no_number_is_refused_by_name(value):
    with pytest.raises(InvalidInput, match="FID of a must be a number that a float holds, or missing, not"):
        metric_agreement({"a": 1.0}, {"FID": {"a": value}})


@pytest.mark.parametrize(
    ("name", "better"),
    [
        ("FID", "lower"),
        ("Frechet distance (layout-1)", "lower"),
        ("Fréchet Inception Distance", "lower"),
        ("KID (inception-v3-compat)", "lower"),
        ("fid_50k", "lower"),
        ("clean-FID", "lower"),
        ("precision", "higher"),
        ("Recall [k=3]", "higher"),
        ("density (dinov2)", "higher"),
        ("Coverage", "higher"),
        ("1 - precision", None),
        ("aesthetics", None),
        ("F1/8 (inception-v3-compat)", "higher"),
        ("F8", "higher"),
        ("", None),
        ("(FID)", None),
        ("fidelity", None),
    ],
)
def test_the_direction_is_known_by_the_name_alone(name, better):
    assert direction(name) == better
