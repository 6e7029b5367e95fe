"""The noncentral t distribution, for the power of t-tests and the intervals of effect sizes.

T = (Z + shift) / S, where Z is standard normal and df * S^2 is chi-squared with df degrees of freedom
(Johnson, Kotz and Balakrishnan, 1995, chapter 31). So, for t > 0,

    P(T > t) = E[Phi(shift - t S)] = E[P(S < (Z + shift) / t)],

and the smoother of the two integrands is summed over a fixed grid. Nothing is subtracted
from 1: each tail is a sum of positive terms, accurate even where the other tail is almost 1. Programs that
expand the distribution in a series (such as `scipy.special.nctdtr`) give NaN there.
"""

import math
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import chdtr, chdtrc, gammaln, ndtr, ndtri

from backend.foundation.errors import InvalidInput

_REACH = 9.0
"""SDs on either side; the probability beyond them is below 1e-18."""
_LARGE_DF = 1e10
_FEW_DF = 5.0
"""With fewer degrees of freedom, log S has a long tail and needs a longer grid."""
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
_PANELS = 12
_STEPS = 12
_CLOSE = 1e-11
"""Tolerance on the scale of the normal quantile."""


def sf(t: np.ndarray | float, df: np.ndarray | float, shift: np.ndarray | float) -> np.ndarray:
    """Return P(T > t), to 1e-10, in the shape that the arguments broadcast to.

    Args:
        df: degrees of freedom, 1 or more.
        shift: the noncentrality parameter: the mean of the normal variable.

    Raises:
        InvalidInput: a number that is not finite, or fewer degrees of freedom.
    """
    t, df, shift = np.broadcast_arrays(*(np.asarray(one, float) for one in (t, df, shift)))
    is_known = np.isfinite(t) & np.isfinite(df) & np.isfinite(shift) & (df >= 1)
    if not is_known.all():
        one = [float(column[~is_known][0]) for column in (t, df, shift)]
        raise InvalidInput(
            f"a noncentral t needs finite numbers and 1 degree of freedom or more, not t = {one[0]:g}, "
            f"df = {one[1]:g}, shift = {one[2]:g}"
        )
    tails = np.empty(t.shape)
    # for t < 0, the upper tail of T is the lower tail of -T
    is_above, sign = t >= 0, np.where(t < 0, -1.0, 1.0)
    size, shifts, dfs = np.abs(t), sign * shift, np.minimum(df, _LARGE_DF)
    is_over_s = size <= np.sqrt(2 * dfs)
    for kind, summed in ((is_over_s & (dfs >= _FEW_DF), _over_s), (is_over_s & (dfs < _FEW_DF), _over_s),
                         (~is_over_s, _over_z)):  # fmt: skip
        if kind.any():
            tails[kind] = summed(size[kind], dfs[kind], shifts[kind], is_above[kind])
    return tails


def cdf(t: np.ndarray | float, df: np.ndarray | float, shift: np.ndarray | float) -> np.ndarray:
    """Return P(T < t); arguments and errors as for `sf`."""
    return sf(-np.asarray(t, float), df, -np.asarray(shift, float))


def shift_where(above: float, t: np.ndarray | float, df: np.ndarray | float) -> np.ndarray:
    """Return the shift for which P(T > t) is `above`, in the shape that `t` and `df` broadcast to.

    It is found by the secant method on the scale of the normal quantile, on which P(T > t) is nearly linear
    in the shift, or by a bracketing root finder if that does not converge.

    Raises:
        InvalidInput: as for `sf`, or a probability that is not between 0 and 1.
    """
    if not 0 < above < 1:
        raise InvalidInput(f"a probability must be between 0 and 1, not {above}")
    t, df = np.broadcast_arrays(np.asarray(t, float), np.asarray(df, float))
    shape, t, df = t.shape, t.ravel(), df.ravel()
    wanted, scale = float(ndtri(above)), np.sqrt(1 + t**2 / (2 * df))

    def excess(shift: np.ndarray) -> np.ndarray:
        return ndtri(sf(t, df, shift)) - wanted

    x0 = t + wanted * scale
    y0 = excess(x0)
    x1 = np.where(np.isfinite(y0), x0 - y0 * scale, x0)
    y1 = excess(x1)
    for _ in range(_STEPS):
        with np.errstate(invalid="ignore", divide="ignore"):
            step = -y1 * (x1 - x0) / (y1 - y0)
        step = np.where(np.isfinite(step) & (np.abs(y1) > _CLOSE), step, 0.0)
        if not step.any():
            break
        x0, y0, x1 = x1, y1, x1 + step
        y1 = excess(x1)
    for place in np.flatnonzero(~(np.abs(y1) <= 100 * _CLOSE)):
        x1[place] = _bracketed(above, t[place], df[place])
    result: np.ndarray = x1.reshape(shape)
    return result


def effects(t: np.ndarray, df: np.ndarray, scale: np.ndarray, level: float) -> list[dict[str, Any]]:
    """Return Cohen's d and Hedges' g with their intervals, for each t of a difference.

    The interval's ends are the shifts for which t is the upper and the lower quantile (Hedges and
    Olkin, 1985).

    Args:
        df: 1 or more; with 1 there is no unbiased g.
        scale: factor from t to d: the square root of the sum of 1 / n.
    """
    bias = [math.exp(gammaln(v / 2) - gammaln((v - 1) / 2)) / math.sqrt(v / 2) if v > 1 else None for v in df]
    low, high = (shift_where(above, t, df) * scale for above in ((1 - level) / 2, (1 + level) / 2))
    columns = zip((t * scale).tolist(), low.tolist(), high.tolist(), bias, strict=True)
    return [
        {
            "d": d,
            "d_ci": [low, high],
            "g": None if by is None else d * by,
            "g_ci": None if by is None else [low * by, high * by],
        }
        for d, low, high, by in columns
    ]


def _bracketed(above: float, t: float, df: float) -> float:
    """Return `shift_where` for one t, by a bracketing root finder."""

    def excess(shift: float) -> float:
        return float(sf(t, df, shift)) - above

    step = 1 + abs(t)
    low, high = t - step, t + step
    while excess(low) > 0:
        low, step = low - step, 2 * step
    while excess(high) < 0:
        high, step = high + step, 2 * step
    return float(brentq(excess, low, high, xtol=1e-12))


def _over_s(t: np.ndarray, df: np.ndarray, shift: np.ndarray, is_above: np.ndarray) -> np.ndarray:
    """Return the mean of Phi(+-(shift - t S)), summed over log S."""
    t, df, shift, sign = (one[:, None] for one in (t, df, shift, np.where(is_above, 1.0, -1.0)))
    spread = 1 / np.sqrt(2 * df)
    low, high = -np.maximum(_REACH * spread, 36 / df), _REACH * spread
    log_s = low + (high - low) * np.linspace(0, 1, 193 if df.min() >= _FEW_DF else 1025)
    density = np.exp(-df / 2 * (np.expm1(2 * log_s) - 2 * log_s))
    summed = (density * ndtr(sign * (shift - t * np.exp(log_s)))).sum(axis=1)
    result: np.ndarray = summed / density.sum(axis=1)
    return result


def _over_z(t: np.ndarray, df: np.ndarray, shift: np.ndarray, is_above: np.ndarray) -> np.ndarray:
    """Return the mean of P(S < (Z + shift) / t), or of P(S > …), summed over Z."""
    low = np.clip(-shift, -_REACH, _REACH)
    half = (_REACH - low)[:, None, None] / _PANELS / 2
    z = low[:, None, None] + half * (2 * np.arange(_PANELS)[:, None] + 1 + _NODES)
    squared = df[:, None, None] * ((z + shift[:, None, None]) / t[:, None, None]) ** 2
    chance = np.empty(squared.shape)
    chance[is_above] = chdtr(df[is_above, None, None], squared[is_above])
    chance[~is_above] = chdtrc(df[~is_above, None, None], squared[~is_above])
    inside = (half * _WEIGHTS * chance * np.exp(-(z**2) / 2)).sum(axis=(1, 2)) / np.sqrt(2 * np.pi)
    result: np.ndarray = inside + np.where(is_above, 0.0, ndtr(low))
    return result
