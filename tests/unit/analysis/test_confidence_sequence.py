"""The score as it comes in: the interval of one look, and the one that holds at any."""

import numpy as np
import pytest

import openhype
from backend.analysis.confidence_sequence import any_look, score_by_evaluators
from backend.analysis.distributions.inference import Component, Share
from backend.analysis.score_intervals import score_details
from backend.analysis.table.evaluator_values import Values, values_by_model
from backend.analysis.table.response_rows import answers_of
from validate.studies import InfinityPopulation, TimePopulation


def test_any_look_is_the_mixture_of_t_statistics_by_hand():
    # n = 4, mean 30, ss = 200, c^2 = 3, alpha = .05: R = (7/3)^(1/4) .05^(-1/2) = 5.53 is too large;
    # n = 20, ss = 5 * 200: R = (23/3)^(1/20) .05^(-1/10) = 1.4938: sqrt(1000 * 23 * .4938 / (20 * 18.519))
    four = np.array([20.0, 40, 30, 30])
    twenty = np.tile(four, 5)
    interval = {"ci": [29, 31], "share_of_pictures": None}

    share = Share(0.3, Component(0.01, 3), answers=200)
    assert any_look(Values([], four, None), interval, share, 0.95) == [0, 100]
    assert any_look(Values([], four, None), interval, None, 0.95) == [0, None]
    found = any_look(Values([], twenty, None), interval, None, 0.95)
    assert found == pytest.approx([30 - 5.537, 30 + 5.537], abs=0.01)


def test_it_is_never_narrower_than_the_interval_of_one_look():
    interval = {"ci": [100, 130], "share_of_pictures": None}

    assert any_look(Values([], np.full(20, 100.0), None), interval, None, 0.95) == [100, 130]


@pytest.mark.parametrize("population", [InfinityPopulation(0.3, pool=30), TimePopulation(200)])
def test_the_last_point_is_the_score_of_all(population):
    answers = population.study(8, np.random.default_rng(1))

    rows = score_by_evaluators(answers, "m", list(range(8))[::-1], points=3)

    values = values_by_model(answers)
    assert [row["evaluators"] for row in rows] == [5, 6, 8]
    assert rows[-1]["score"] == pytest.approx(values["m"].numbers.mean())
    assert rows[-1]["ci"] == pytest.approx(score_details(answers, values, 0.95)["m"]["interval"]["ci"])


def test_fewer_than_five_evaluators_have_no_line():
    assert (
        score_by_evaluators(InfinityPopulation(0.3).study(4, np.random.default_rng(1)), "m", list(range(4)))
        == []
    )


@pytest.mark.slow("simulates many studies")
def test_over_all_looks_together_it_misses_as_seldom_as_promised():
    """60 studies of 5 to 30 evaluators, looked at after each: the interval of one look misses far more."""
    rng, missed = np.random.default_rng(3), {"ci": 0, "any_look": 0}
    for _ in range(60):
        rows = score_by_evaluators(
            InfinityPopulation(0.3, pool=30).study(30, rng), "m", list(range(30)), points=26
        )
        for name in missed:
            missed[name] += any(not row[name][0] <= 30 <= row[name][1] for row in rows)

    assert missed["any_look"] <= 6
    assert missed["ci"] > missed["any_look"]


def of_one_value(people):
    """Return staircases that are at 400 ms most often for everybody, and answers that name no stimulus."""
    exposures = [300, 500, *[400] * 10]
    return [
        {"model": "m", "evaluator": f"e{i}", "block": 0, "trial_index": place, "exposure_ms": ms,
         "truth": "fake", "response": ("fake", "real")[place % 2]}
        for i in range(people)
        for place, ms in enumerate(exposures)
    ]  # fmt: skip


def test_there_is_no_line_as_long_as_all_have_one_value():
    rows = of_one_value(7)
    alike, names = answers_of(rows, "time"), [f"e{i}" for i in range(7)]
    differing = answers_of(
        [row for row in rows if row["evaluator"] != "e6" or row["exposure_ms"] < 400], "time"
    )

    assert score_by_evaluators(alike, "m", names) == []
    assert [row["evaluators"] for row in score_by_evaluators(differing, "m", names)] == [7]


def test_a_pilot_whose_evaluators_have_one_value_plans_nothing():
    (row,) = openhype.plan(of_one_value(6), method="time", width=100)["rows"]

    assert row["evaluators"] is None
    assert "one value" in row["why_none"]
