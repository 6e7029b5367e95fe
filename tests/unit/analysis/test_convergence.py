"""The staircase readings give the table from which the default was chosen."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.analysis.models.convergence import (
    MODELS,
    READINGS,
    as_table,
    bias_as_table,
    bias_table,
    convergence_table,
)
from backend.analysis.models.simulated_staircase import modal_exposures
from backend.experiment import staircase
from backend.experiment.observer import ConstantObserver, PsychometricObserver
from backend.experiment.staircase import StaircaseRule, equilibrium_accuracy
from backend.foundation.errors import InvalidInput

# Mean and SD (ms) of 4,000 simulated evaluators, by model in the order of MODELS (method.md, section 2).
EXPECTED = {
    "A": [(100, 0), (100, 0), (100, 0), (101, 12), (100, 0), (106, 29)],
    "B": [(100, 2), (164, 134), (342, 258), (569, 334), (936, 111), (992, 44)],
    "C": [(100, 0), (113, 51), (184, 134), (333, 227), (554, 112), (771, 171)],
    "D": [(307, 131), (518, 262), (753, 251), (866, 224), (1000, 3), (1000, 2)],
}
EVALUATORS = 4000


def noise_ms(sd):
    """Return 4 standard errors of the difference of two simulations, plus 1 ms for the rounding."""
    return 4 * sd * (2 / EVALUATORS) ** 0.5 + 1


@pytest.mark.slow("simulates many studies")
def test_every_reading_gives_its_row_within_the_noise_of_two_simulations():
    table = convergence_table(np.random.default_rng(1), EVALUATORS)

    for name, cells in table.items():
        for (mean, sd), (expected, expected_sd) in zip(cells, EXPECTED[name[0]], strict=True):
            assert mean == pytest.approx(expected, abs=noise_ms(max(sd, expected_sd))), name
            assert abs(sd - expected_sd) < 0.1 * expected_sd + 6, name


@pytest.mark.slow("simulates many evaluators to know an interval's coverage")
def test_with_accuracy_that_rises_with_exposure_the_default_gives_its_row():
    table = convergence_table(np.random.default_rng(2), EVALUATORS, observer="exponential")

    cells = table["C: three in a row -30, each wrong +10 (hype-2019)"]
    for (mean, sd), expected in zip(cells, [115, 163, 260, 387, 570, 773], strict=True):
        assert mean == pytest.approx(expected, abs=noise_ms(sd))


steps = st.sampled_from([5, 10, 16.5, 30, 100])
rules = st.builds(
    StaircaseRule,
    right_to_descend=st.integers(1, 4),
    down_ms=steps,
    up_ms=steps,
    start_ms=st.sampled_from([100, 500, 1000]),
)


@given(rules, st.integers(0, 2**32 - 1), st.sampled_from(["constant", "sloped"]))
def test_many_staircases_side_by_side_do_what_one_does(rule, seed, observer):
    rng = np.random.default_rng(seed)
    best, dice = rng.uniform(0.3, 1, 3), rng.random((60, 3))
    kinds = {"constant": ConstantObserver, "sloped": lambda best: PsychometricObserver(200, lapse=1 - best)}
    people = [kinds[observer](one) for one in best]

    def accuracy(ms):
        return np.array([[person.accuracy(one) for person in people] for one in ms[:, 0]])

    modes = modal_exposures(rule, accuracy, dice)

    for i, person in enumerate(people):
        state, alone = staircase.start(rule), []
        for trial in range(60):
            alone.append(state.exposure_ms)
            was_correct = dice[trial, i] < person.accuracy(state.exposure_ms)
            state = staircase.step(rule, state, bool(was_correct))
        assert modes[i] == staircase.modal_exposure(alone)


@pytest.mark.parametrize("name", READINGS)
def test_a_steep_observer_is_held_where_accuracy_is_the_rules_equilibrium(name):
    rule, rng = READINGS[name], Random(5)
    observer = PsychometricObserver(threshold_ms=400, slope=6, guess=0)
    # guess 0, lapse 0: accuracy p is reached at threshold * (p / (1 - p))**(1 / slope)
    p = equilibrium_accuracy(rule)
    expected = 400 * (p / (1 - p)) ** (1 / 6)

    state, shown = staircase.start(rule), []
    for _ in range(6000):
        shown.append(state.exposure_ms)
        was_correct = observer.answer("real", state.exposure_ms, rng) == "real"
        state = staircase.step(rule, state, was_correct)

    # a staircase can be no nearer than its longest step, 30 ms
    assert np.mean(shown[1000:]) == pytest.approx(expected, abs=30)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"observer": "weibull"}, "observer must be 'constant' or 'exponential', not 'weibull'"),
        ({"evaluators": 1}, "needs two evaluators or more, not 1"),
    ],
)
def test_a_simulation_that_cannot_be_is_refused(options, message):
    with pytest.raises(InvalidInput, match=message):
        convergence_table(np.random.default_rng(0), **options)


def test_the_text_shows_published_values_and_computed_equilibria():
    text = as_table(convergence_table(np.random.default_rng(4), 50))

    assert all(model.label in text for model in MODELS)
    assert all(share in text for share in ("25.0%", "75.0%", "63.0%", "90.9%"))
    assert "439 (196)" in text


def test_the_default_rule_is_biased_and_comes_to_753_ms_at_most():
    """152 ms reads 188, 244 reads 309, 427 reads 465, 670 reads 562; who guesses 753 (SD 104)."""
    rows = bias_table(StaircaseRule(), np.random.default_rng(3), 1500)

    by_threshold = {row["threshold_ms"]: row for row in rows}
    for threshold, expected in ((150, 188), (250, 315), (425, 465), (670, 562)):
        assert by_threshold[threshold]["mode_ms"] == pytest.approx(expected, abs=12)
    assert by_threshold[None]["mode_ms"] == pytest.approx(753, abs=10)
    assert by_threshold[None]["sd_ms"] == pytest.approx(104, rel=0.1)
    assert (
        by_threshold[None]["at_ceiling"]
        < by_threshold[None]["reached_ceiling"]
        == pytest.approx(0.35, abs=0.03)
    )
    assert "guesses" in bias_as_table(rows)
