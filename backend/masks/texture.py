"""Texture masks: noise projected until it has a picture's joint statistics, in colour.

Portilla and Simoncelli (2000, "A parametric texture model based on joint statistics of complex
wavelet coefficients"). A picture is taken to its principal colours, of variance 1 and uncorrelated;
one that varies along fewer than three has as many channels, and a gray one has one. Covariances are
across channels, so that colours keep together at every scale. Coarse scales are settled first, on
their small grids; then all are projected together, each round going a little beyond its projection.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from backend.masks import pyramid as pyramids
from backend.masks.luminance import at_luminance, mean_luminance
from backend.masks.products import mixed
from backend.masks.projection import match_covariance, match_lags, match_moments
from backend.masks.pyramid import Pyramid
from backend.masks.statistics import (
    BandStatistics,
    LowpassStatistics,
    Statistics,
    centred,
    doubled_phase,
    measure,
    remaining_error,
    rows,
    standard_moments,
    without_mean,
)

VERSION = 1
"""Goes up whenever the same picture and seed give another mask, so that no old one is taken from a cache."""
TOLERANCE = 0.005
"""Remaining error (`statistics.remaining_error`) at which the statistics count as matched."""
MOST_ROUNDS = 40
_ROUNDS_A_CHECK = 5
_COARSE_ROUNDS = 8
_BEYOND = 0.8
"""Share of a round's progress that is added to it: the error halves in about half as many rounds."""
_FAINT = 0.25
"""Standard deviation (in levels of 255) below which a colour is left out: rounding alone gives 0.29."""
_LARGEST_TILE_PX = 512
"""Larger masks repeat a tile: its statistics are those of the whole, since all count as periodic."""
_TINY = 1e-12


@dataclass(frozen=True)
class Source:
    """A picture as the synthesis wants it back."""

    mean: np.ndarray
    """(colour, 1): of 255 levels."""
    directions: np.ndarray
    """(colour, channel): levels = mean + directions @ channels."""
    channels: np.ndarray
    """(channel, side, side): the principal colours, of mean 0 and variance 1, float32."""
    skewness: np.ndarray
    """Of the levels, as are kurtosis, low and high; by colour."""
    kurtosis: np.ndarray
    low: np.ndarray
    high: np.ndarray


def synthesise(
    picture: np.ndarray,
    rng: np.random.Generator,
    *,
    rounds: int = MOST_ROUNDS,
    tolerance: float = TOLERANCE,
) -> np.ndarray:
    """Return a texture mask of `picture`: its statistics, and none of its shapes.

    Args:
        picture: (side, side, 3), uint8, from 16 px.
        rng: source of the noise that the mask starts from.
        rounds: projections at most.
        tolerance: remaining error at which to stop before.

    Returns:
        (side, side, 3), uint8, within the picture's own range of levels by colour up to the shift
        (a level or so) that gives it the picture's mean relative luminance, within 0.001. A picture
        without contrast comes back as it is.
    """
    source = read(picture)
    if not len(source.channels):
        return picture.copy()
    side = len(picture)
    tiles = -(-side // _LARGEST_TILE_PX)
    wanted = measure(pyramids.spectrum(source.channels), pyramids.pyramid(side))
    pyramid = pyramids.pyramid(-(-side // tiles))
    noise = rng.standard_normal((len(source.channels), pyramid.side, pyramid.side), dtype=np.float32)
    half = pyramids.spectrum(noise)
    for finest in range(len(pyramid.scales) - 1, 0, -1):
        half = _coarse_settled(half, wanted, pyramid, finest)

    def project(half: np.ndarray) -> np.ndarray:
        return _as_pixels(_projected(half, wanted, pyramid), source, pyramid)

    def is_matched(half: np.ndarray) -> bool:
        return remaining_error(measure(half, pyramid), wanted) <= tolerance

    half = _settled(half, project, rounds, is_matched)
    levels = _levels(pyramids.field(half, pyramid.side), source)
    whole = np.tile(np.moveaxis(levels, 0, -1), (tiles, tiles, 1))[:side, :side]
    return at_luminance(np.broadcast_to(whole, picture.shape), mean_luminance(picture))


def read(picture: np.ndarray) -> Source:
    """Return a picture (side, side, 3; uint8) in its principal colours, those that vary noticeably."""
    is_gray = (picture == picture[..., :1]).all()
    levels = np.moveaxis(picture[..., :1] if is_gray else picture, -1, 0).astype(np.float32)
    flat = rows(levels)
    mean = flat.mean(axis=1, keepdims=True, dtype=float)
    values, vectors = np.linalg.eigh(np.atleast_2d(np.cov(flat, bias=True)))
    noticeable = values > _FAINT**2
    sds, vectors = np.sqrt(values[noticeable]), vectors[:, noticeable]
    channels = mixed((vectors / sds).T, flat - mean.astype(np.float32))
    return Source(
        mean.astype(np.float32),
        vectors * sds,
        channels.reshape(-1, *picture.shape[:2]),
        *standard_moments(flat),
        flat.min(axis=1),
        flat.max(axis=1),
    )


def _coarse_settled(half: np.ndarray, wanted: Statistics, pyramid: Pyramid, finest: int) -> np.ndarray:
    """Return the half spectrum with scale `finest` and the coarser ones brought near what is wanted."""
    scale = pyramid.scales[finest]
    part = pyramids.resized(half, scale.side)

    def project(part: np.ndarray) -> np.ndarray:
        return _low_projected(part, wanted, pyramid, finest) + part * (1 - scale.below)

    part = _settled(part, project, _COARSE_ROUNDS)
    held = pyramids.resized(np.ones_like(part), pyramid.side)
    return half * (1 - held) + pyramids.resized(part, pyramid.side)


def _settled(
    half: np.ndarray,
    project: Callable[[np.ndarray], np.ndarray],
    rounds: int,
    is_matched: Callable[[np.ndarray], bool] = lambda _: False,
) -> np.ndarray:
    """Return `half` projected up to `rounds` times, each time going on a little beyond."""
    before = project(half)
    beyond = before
    for number in range(1, rounds):
        if number % _ROUNDS_A_CHECK == 0 and is_matched(before):
            break
        after = project(beyond)
        beyond, before = after + np.float32(_BEYOND) * (after - before), after
    return before


def _projected(half: np.ndarray, wanted: Statistics, pyramid: Pyramid) -> np.ndarray:
    """Return a half spectrum with all statistics of the pyramid projected once, coarse to fine."""
    low = _low_projected(half, wanted, pyramid, 0)
    above = rows(pyramids.field(half * pyramid.above, pyramid.side))
    above = match_covariance(above, wanted.above).reshape(-1, pyramid.side, pyramid.side)
    return low + pyramids.spectrum(above) * pyramid.above


def _low_projected(half: np.ndarray, wanted: Statistics, pyramid: Pyramid, finest: int) -> np.ndarray:
    """Return what scale `finest` and all below carry of `half`, projected once, on the scale's grid."""
    residual = pyramids.resized(half, pyramid.residual_side) * pyramid.below
    low = _low_matched(residual, pyramid.residual_side, wanted.below)
    parents = None
    for number in range(len(pyramid.scales) - 1, finest - 1, -1):
        scale, goal = pyramid.scales[number], wanted.scales[number]
        bands = pyramids.complex_field(pyramids.bands(half, scale), scale.side)
        real = _bands_matched(bands, parents, goal)
        low = pyramids.resized(low, scale.side) + pyramids.rebuilt(real, scale)
        low = _low_matched(low, scale.side, goal.lowpass)
        if number > finest:
            finer = pyramid.scales[number - 1].side
            parents = pyramids.complex_field(pyramids.analytic_spectrum(real, scale), finer)
    return low


def _low_matched(half: np.ndarray, side: int, goal: LowpassStatistics) -> np.ndarray:
    field = pyramids.field(without_mean(half), side)
    field = match_covariance(rows(field), goal.covariance).reshape(field.shape)
    field = match_lags(field, goal.lags)
    return pyramids.spectrum(match_moments(field, goal.skewness, goal.kurtosis))


def _bands_matched(bands: np.ndarray, parents: np.ndarray | None, goal: BandStatistics) -> np.ndarray:
    """Return the real parts of complex bands, first their magnitudes and then they themselves projected.

    Args:
        bands: (channel, orientation, side, side).
        parents: the coarser scale's, on the same grid; None at the coarsest.
    """
    magnitudes = np.abs(bands)
    coarser = None if parents is None else centred(np.abs(parents))
    size = match_covariance(centred(magnitudes), goal.magnitude_covariance, coarser, goal.magnitude_parents)
    size = match_lags(size.reshape(bands.shape), goal.magnitude_lags)
    size = np.maximum(size + goal.magnitude_mean.reshape(*bands.shape[:2], 1, 1), 0)
    real = rows(bands.real * (size / np.maximum(magnitudes, np.float32(_TINY))))
    doubled = None if parents is None else doubled_phase(parents)
    return match_covariance(real, goal.real_covariance, doubled, goal.real_parents).reshape(bands.shape)


def _as_pixels(half: np.ndarray, source: Source, pyramid: Pyramid) -> np.ndarray:
    """Return a half spectrum whose pixels have the source's moments and range, by colour."""
    channels = pyramids.field(without_mean(half), pyramid.side)
    flat = match_covariance(rows(channels), np.eye(len(channels)))
    levels = _levels(flat.reshape(channels.shape), source)
    inverse = np.linalg.pinv(source.directions)
    return pyramids.spectrum(mixed(inverse, rows(levels) - source.mean).reshape(channels.shape))


def _levels(channels: np.ndarray, source: Source) -> np.ndarray:
    """Return levels (colour, side, side) of the source's moments and within its range."""
    deviations = mixed(source.directions, rows(channels)).reshape(-1, *channels.shape[1:])
    levels = rows(match_moments(deviations, source.skewness, source.kurtosis)) + source.mean
    levels = np.clip(levels, source.low[:, None], source.high[:, None])
    return levels.reshape(-1, *channels.shape[1:])
