"""The staircase readings give the table from which the default was chosen."""

import numpy as np
import pytest

from backend import staircase
from backend.settling import MODELS, READINGS, _exposures, _modes, as_table, settling_table

# Mean and SD (ms) of 4,000 simulated evaluators, by model in the order of MODELS.
EXPECTED = {
    "A": [(100, 0), (100, 0), (100, 0), (101, 12), (100, 0), (106, 29)],
    "B": [(100, 2), (164, 134), (342, 258), (569, 334), (936, 111), (992, 44)],
    "C": [(100, 0), (113, 51), (184, 134), (333, 227), (554, 112), (771, 171)],
    "D": [(307, 131), (518, 262), (753, 251), (866, 224), (1000, 3), (1000, 2)],
}
EVALUATORS = 4000


def test_every_reading_gives_its_row_within_the_noise_of_two_simulations():
    table = settling_table(np.random.default_rng(1), EVALUATORS)

    for name, cells in table.items():
        for (mean, sd), (expected, expected_sd) in zip(cells, EXPECTED[name[0]], strict=True):
            noise = max(sd, expected_sd) * (2 / EVALUATORS) ** 0.5
            assert abs(mean - expected) < 5 * noise + 1, name
            assert abs(sd - expected_sd) < 0.1 * expected_sd + 6, name


def test_with_accuracy_that_rises_with_exposure_the_default_gives_its_row():
    table = settling_table(np.random.default_rng(2), EVALUATORS, observer="exponential")

    means = [mean for mean, _ in table["C: three in a row -30, each wrong +10 (hype-2019)"]]
    assert means == pytest.approx([115, 163, 260, 387, 570, 773], abs=22)


@pytest.mark.parametrize("name", READINGS)
def test_many_staircases_side_by_side_do_what_one_does(name):
    rule, rng = READINGS[name], np.random.default_rng(3)
    best, dice = np.array([0.4, 0.7, 0.95]), rng.random((120, 3))

    shown = _exposures(rule, best, "constant", dice)

    for person in range(3):
        state, alone = staircase.start(rule), []
        for trial in range(120):
            alone.append(state.exposure_ms)
            state = staircase.step(rule, state, bool(dice[trial, person] < best[person]))
        assert shown[:, person].tolist() == alone
        assert _modes(shown)[person] == staircase.modal_exposure(alone)


def test_the_text_shows_published_values_and_computed_equilibria():
    text = as_table(settling_table(np.random.default_rng(4), 50))

    assert all(model.name in text for model in MODELS)
    assert "63.0%" in text
    assert "439 (178)" in text
