"""How far the statistics of a texture are from those that it was made for."""

from collections.abc import Iterator

import numpy as np

from backend.stimuli.masks.portilla_simoncelli import LowpassStatistics, Statistics

_EMPTY = 1e-6
"""Share of a channel's variance below which a band counts as empty, its content as rounding error."""


def remaining_error(found: Statistics, wanted: Statistics) -> float:
    """Return the root mean squared difference of all statistics, each in units of its own scale.

    Covariances are divided by the wanted standard deviations, so that they are compared as correlations;
    skewness and kurtosis are compared as they are.
    """
    differences = [
        (a - b).ravel() for a, b in zip(_normalised(found, wanted), _normalised(wanted, wanted), strict=True)
    ]
    return float(np.sqrt(np.mean(np.concatenate(differences) ** 2)))


def _normalised(found: Statistics, wanted: Statistics) -> Iterator[np.ndarray]:
    for here, goal, coarser in zip(found.scales, wanted.scales, [*wanted.scales[1:], None], strict=True):
        size, real = (_sd(c) for c in (goal.magnitude_covariance, goal.real_covariance))
        yield here.magnitude_mean / size[:, None]
        yield here.magnitude_covariance / np.outer(size, size)
        yield here.magnitude_lags / size[:, None] ** 2
        yield here.real_covariance / np.outer(real, real)
        if coarser is not None:
            yield here.magnitude_parents / np.outer(size, _sd(coarser.magnitude_covariance))
            yield here.real_parents / np.outer(real, np.tile(_sd(coarser.real_covariance), 2))
        yield from _normalised_lowpass(here.lowpass, goal.lowpass)
    yield from _normalised_lowpass(found.below, wanted.below)
    above = _sd(wanted.above)
    yield found.above / np.outer(above, above)


def _normalised_lowpass(here: LowpassStatistics, goal: LowpassStatistics) -> Iterator[np.ndarray]:
    sd = _sd(goal.covariance)
    yield here.covariance / np.outer(sd, sd)
    yield here.lags / sd[:, None] ** 2
    yield here.skewness
    yield here.kurtosis


def _sd(covariance: np.ndarray) -> np.ndarray:
    return np.sqrt(np.maximum(np.diag(covariance), _EMPTY))
