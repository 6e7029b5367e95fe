"""Weights to start from, and schedules."""

import numpy as np
import pytest

from backend.foundation.errors import InvalidInput
from backend.metrics.calibration import schedule
from backend.metrics.calibration.start import start_of

LAYERS = (400, 900)


def test_random_weights_are_drawn_as_the_reference_draws_them():
    """torch's default for a 1 x 1 convolution: uniform within 1 / sqrt(inputs); negative ones become 0."""
    found = start_of("random", LAYERS, 1)

    first, second = np.split(found.weights, [400])
    assert (0.9 / 20 < first.max() <= 1 / 20, 0.9 / 30 < second.max() <= 1 / 30) == (True, True)
    assert found.weights.min() == 0
    assert (found.weights == 0).mean() == pytest.approx(0.5, abs=0.05)
    assert len({*found.before}) == 1


def test_given_weights_are_the_metric_as_it_was():
    given = [np.arange(400.0), np.ones(900)]

    found = start_of("file", LAYERS, 1, given)

    assert found.weights.tolist() == found.before.tolist() == [*np.arange(400.0), *np.ones(900)]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ([np.ones(400)], r"layers of \(400, 900\) channels, not \(400,\)"),
        ([np.ones(400), -np.ones(900)], "0 or more"),
        ([np.ones(400), np.full(900, np.nan)], "finite"),
        ([np.zeros(400), np.zeros(900)], "not all 0"),
    ],
)
def test_weights_that_no_metric_has_are_refused(given, why):
    with pytest.raises(InvalidInput, match=why):
        start_of("file", LAYERS, 1, given)


def test_the_schedule_of_the_paper_is_that_of_its_code():
    """train.py: 5 + 5 epochs at 1e-4, batches of 50; after epochs 6 to 10 the rate falls by a fifth of it."""
    found = schedule.paper(120)

    rates = [found.rate_at(step, 3) for step in range(0, found.steps, 3)]
    assert (found.steps, found.batch, found.beta1, found.dropout) == (30, 50, 0.5, 0.5)
    assert rates == pytest.approx([1e-4] * 6 + [0.8e-4, 0.6e-4, 0.4e-4, 0.2e-4])
    assert not found.is_stopping_early


def test_the_default_schedule_falls_over_its_second_half_and_has_ten_epochs_of_large_data():
    small, large = schedule.default(300), schedule.default(150_000)

    assert small.steps == 10_000
    assert [small.rate_at(step, 6) for step in (0, 5_000, 7_500)] == pytest.approx([1e-3, 1e-3, 5e-4])
    assert large.steps == 30_000
