"""The population of thresholds: what it reduces to, what it recovers, and what it says at the bounds."""

import numpy as np
import pytest

from backend.analysis.models import population
from backend.analysis.models.population import Counts, Range, expected_modes
from backend.analysis.score_intervals import score_details
from backend.analysis.table.evaluator_values import values_by_model
from backend.analysis.time_scores import _counts
from backend.experiment.staircase import NAMED_RULES, StaircaseRule, equilibrium_accuracy
from validate.coverage import coverage
from validate.studies import TimePopulation

RULE = NAMED_RULES["hype-2019"]
AT = equilibrium_accuracy(RULE)
RANGE = Range(100, 1000, RULE, 150)


def beside(simulated, evaluators, seed=1):
    """Return what stands beside the score of one simulated study."""
    answers = simulated.study(evaluators, np.random.default_rng(seed))
    return score_details(answers, values_by_model(answers), 0.95)["m"]


def exact_people(thresholds, at=0.75):
    """Return answers of evaluators whose thresholds are as good as known: 10^6 at each exposure."""
    ms = np.geomspace(60, 1500, 15)
    middle = np.log(thresholds)[:, None] - population._shift(2.0, 0.0, at)
    chances = 0.5 + 0.5 / (1 + np.exp(-2.0 * (np.log(ms)[None] - middle)))
    total = np.full(chances.shape, 1e6)
    return Counts(ms, np.round(chances * total), total)


def test_of_thresholds_that_are_known_the_interval_is_students():
    rng = np.random.default_rng(5)
    logs = np.log(300) + 0.4 * rng.standard_normal(12)
    # on the grid of thresholds, so that likelihoods of one point are the points themselves
    grid = population._grid(RANGE)
    logs = grid[np.abs(grid[:, None] - logs).argmin(axis=0)]

    low, middle, high = population.population(exact_people(np.exp(logs)), RANGE, 0.75, 0.95).threshold

    half = 2.201 * logs.std(ddof=1) / 12**0.5
    assert middle == pytest.approx(logs.mean(), abs=0.03)
    assert [low, high] == pytest.approx([logs.mean() - half, logs.mean() + half], abs=0.05)


@pytest.mark.parametrize("threshold", [130, 250, 450])
@pytest.mark.slow("simulates many evaluators to know an interval's coverage")
def test_the_typical_threshold_comes_back(threshold):
    found = [
        beside(TimePopulation(threshold, refresh_hz=None), 30, seed)["threshold"]["ms"] for seed in range(8)
    ]

    # the mean of eight medians of 30 people with an SD of 0.5: SE 3.2%
    assert np.mean(found) == pytest.approx(threshold, rel=0.1)


def test_a_steep_function_is_held_at_the_accuracy_that_the_rule_settles_at():
    # the mode of many blocks of an observer of slope 4 lies near the threshold
    x = population._grid(RANGE)
    modes = expected_modes(RANGE, AT)[-3]

    for ms in (150, 250, 400):
        assert np.interp(np.log(ms), x, modes) == pytest.approx(ms, abs=35)
    assert modes[0] == 100
    assert np.all(np.diff(modes) >= -25)


def test_without_a_rule_the_mode_is_taken_for_the_threshold():
    found = expected_modes(Range(100, 1000, None, 150), 0.75)

    assert (found.min(), found.max()) == (100, pytest.approx(1000))


def test_when_all_stand_at_the_shortest_exposure_there_is_room_above_by_how_well_they_do_there():
    just, far = beside(TimePopulation(85, people=0.05), 8), beside(TimePopulation(25, people=0.05), 8)

    assert just["interval"]["method"] == far["interval"]["method"] == "population"
    assert just["interval"]["ci"][1] > far["interval"]["ci"][1] >= 100
    assert far["interval"]["ci"][1] < 110


def test_the_interval_holds_the_score():
    for seed in range(6):
        answers = TimePopulation(60).study(5, np.random.default_rng(seed))
        values = values_by_model(answers)
        low, high = score_details(answers, values, 0.95)["m"]["interval"]["ci"]

        assert 100 <= low <= values["m"].numbers.mean() <= high <= 1000


@pytest.mark.parametrize("threshold", [60, 250, 1500])
@pytest.mark.slow("simulates many evaluators to know an interval's coverage")
def test_the_interval_covers_at_floor_middle_and_ceiling(threshold):
    """60 studies of 5 evaluators, SE 3%; `make validate` has the table."""
    found = coverage(TimePopulation(threshold), 5, 60, np.random.default_rng(1))

    assert found["interval"] > 0.86
    assert threshold != 60 or found["percentile"] < 0.8


@pytest.mark.parametrize("seed", [2, 3])
def test_of_many_evaluators_a_finer_grid_says_the_same(monkeypatch, seed):
    """Of 60 people the SD between them is known to a tenth, less than a step of the first look's grid."""
    counts = _counts(TimePopulation(40).study(60, np.random.default_rng(seed)), 0)

    found = population.population(counts, RANGE, AT, 0.95)
    monkeypatch.setattr(population, "_SD_POINTS", 60)
    monkeypatch.setattr(population, "_FINE", 161)
    finer = population.population(counts, RANGE, AT, 0.95)

    for coarse, fine in ((found.expected, finer.expected), (found.threshold, finer.threshold)):
        assert coarse[2] - coarse[0] == pytest.approx(fine[2] - fine[0], rel=0.05)
        assert coarse == pytest.approx(fine, abs=0.05 * (fine[2] - fine[0]))


def test_other_rules_have_populations_too():
    slow = StaircaseRule(1, 20, 20, start_ms=400, min_ms=50, max_ms=800)
    simulated = TimePopulation(200, rule=NAMED_RULES["weighted-75"])

    assert beside(simulated, 6)["threshold"]["at"] == 0.75
    assert expected_modes(Range(50, 800, slow, 60), 0.75).max() <= 800
