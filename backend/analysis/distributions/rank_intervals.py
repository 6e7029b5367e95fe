"""Intervals of a rank correlation over models: what other models of the same kind would give.

The models are taken for a random sample. Approximate intervals on Fisher's scale (Bonett and Wright, 2000) do
not hold for the few models of a study: with 4 to 6 of them and a strong correlation they cover 25 to 75% in
place of 95%, and around +1 or -1, which few models often give by chance, they have no width at all. So the
interval is that of all correlations that a test would not reject (Neyman, 1937): the distribution of rho and
tau in samples of n models is simulated for a grid of normal copulas, that is, for scores and metrics that
some increasing functions make bivariate normal. Ranks do not depend on these functions, so that nothing more
is assumed. Correlations of few models are discrete, hence it covers more than its level rather than less.

With more than `MOST` models the approximation is used, unless all are in one order, of which it has no
width: then that of `MOST` models holds, which is wider.
"""

import math
from functools import lru_cache

import numpy as np
from scipy.special import ndtri

FEWEST = 4
"""With three models an interval of 95% excludes next to nothing, whatever they show."""
MOST = 60
_SAMPLES, _FEWEST_SAMPLES = 40_000, 4_000
_CELLS = 8_000_000
_GRID = np.linspace(0, 6, 25)
"""Correlations of the normal copula, on Fisher's scale; those below 0 are known by symmetry."""
_EQUAL = 1e-9  # sums in another order differ by less
_SEED = 19


def over_models(rho: float, tau: float, models: int, level: float) -> dict[str, list[float]] | None:
    """Return the intervals of `rho` and of `tau`; None with fewer than `FEWEST` models.

    They are for the population's rho, 6/pi asin(r/2), and tau, 2/pi asin(r), of a normal copula with
    correlation r.
    """
    if models < FEWEST:
        return None
    if models > MOST and abs(rho) < 1:
        return {
            "rho": fisher_interval(rho, (1 + rho**2 / 2) / (models - 3), level),
            "tau": fisher_interval(tau, 0.437 / (models - 4), level),
        }
    of_rho, of_tau = _simulated(min(models, MOST))
    return {
        "rho": [6 / math.pi * math.asin(r / 2) for r in _not_rejected(of_rho, rho, level)],
        "tau": [2 / math.pi * math.asin(r) for r in _not_rejected(of_tau, tau, level)],
    }


def fisher_interval(value: float, variance: float, level: float) -> list[float]:
    """Return the interval of a correlation within (-1, 1) whose Fisher's z has this variance."""
    half = math.sqrt(variance) * float(ndtri((1 + level) / 2))
    return [math.tanh(math.atanh(value) - half), math.tanh(math.atanh(value) + half)]


def _not_rejected(simulated: np.ndarray, value: float, level: float) -> tuple[float, float]:
    """Return the least and the greatest r for which neither tail beyond `value` is below (1 - level) / 2.

    Args:
        simulated: correlations of samples, sorted: shape (len(_GRID), samples).
    """
    alpha = (1 - level) / 2
    z = np.concatenate([-_GRID[:0:-1], _GRID])
    least = _at(z, _tail(simulated, value), alpha)
    greatest = -_at(z, _tail(simulated, -value), alpha)
    return math.tanh(least), math.tanh(greatest)


def _tail(simulated: np.ndarray, value: float) -> np.ndarray:
    """Return the probit of the probability of a correlation of `value` or more, from r = -1 to r = 1."""
    samples = simulated.shape[1]
    above = [samples - np.searchsorted(row, value - _EQUAL) for row in simulated]
    below = [np.searchsorted(row, -value + _EQUAL) for row in simulated[:0:-1]]
    share = np.clip(np.array([*below, *above]) / samples, 0.5 / samples, 1 - 0.5 / samples)
    return ndtri(np.maximum.accumulate(share))


def _at(z: np.ndarray, tail: np.ndarray, alpha: float) -> float:
    """Return the z at which the tail reaches `alpha`; infinite if it is above it even at the first."""
    wanted = float(ndtri(alpha))
    return -math.inf if tail[0] > wanted else float(np.interp(wanted, tail, z))


@lru_cache(maxsize=16)
def _simulated(models: int) -> tuple[np.ndarray, np.ndarray]:
    """Return sorted correlations, rho and tau, of samples of `models` for each r of the grid."""
    rng = np.random.default_rng([_SEED, models])
    samples = max(_FEWEST_SAMPLES, min(_SAMPLES, _CELLS // models**2))
    x = np.sort(rng.standard_normal((samples, models)), axis=1)
    noise = rng.standard_normal((samples, models))
    place = np.arange(models) - (models - 1) / 2
    later = np.triu(np.ones((models, models), np.int8), 1)
    rho, tau = np.empty((2, len(_GRID), samples))
    for i, r in enumerate(np.tanh(_GRID)):
        y = r * x + math.sqrt(1 - r**2) * noise
        is_below = (y[:, :, None] < y[:, None, :]).view(np.int8)
        rho[i] = is_below.sum(axis=1, dtype=np.int32) @ place / (place @ place)
        concordant = np.einsum("kij,ij->k", is_below, later, dtype=np.int32)
        tau[i] = 2 * concordant / later.sum(dtype=np.int32) - 1
    return np.sort(rho, axis=1), np.sort(tau, axis=1)
