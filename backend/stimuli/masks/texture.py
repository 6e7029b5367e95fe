"""Texture masks: noise projected until it has an image's joint statistics, in colour.

Portilla and Simoncelli (2000, "A parametric texture model based on joint statistics of complex
wavelet coefficients"). An image is transformed to its principal colours, uncorrelated and of variance 1;
an image that varies along fewer than three has as many channels, and a gray one has one. Covariances are
across channels, so that colours stay correlated at every scale. Coarse scales are matched first, on their
small grids; then all are projected together, and each round extrapolates a little beyond its projection,
except for the last ones.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from backend.stimuli.masks import pyramid as pyramids
from backend.stimuli.masks.luminance import at_luminance, mean_luminance
from backend.stimuli.masks.matmul import central_covariance, mixed
from backend.stimuli.masks.memory import reuse_memory
from backend.stimuli.masks.portilla_simoncelli import (
    BandStatistics,
    LowpassStatistics,
    Statistics,
    doubled_phase,
    half_covariance,
    measure,
    power,
    real_rows,
    rows,
    standard_moments,
    without_mean,
)
from backend.stimuli.masks.projection import covariance_map, lag_gain, match_covariance, match_moments
from backend.stimuli.masks.pyramid import Pyramid

VERSION = 3
"""Incremented whenever the same image and seed give another mask, so that cached old masks are ignored."""
ROUNDS = 10
"""Projections of all scales. Statistics that can be matched are then nearer than after 25 projections without
extrapolation; of those that contradict each other, more rounds change little."""
_COARSE_ROUNDS = 8
_BEYOND = 0.8
"""Share of a round's progress that is added to it: the error halves in about half as many rounds."""
_BEYOND_MAGNITUDES = 0.5
"""Share of a change of magnitudes that is added to it: in a real band, part of the change is lost."""
_BEYOND_MOMENTS = 0.5
_FAINT = 0.25
"""Standard deviation (in levels of 255) below which a colour is omitted: rounding alone gives 0.29."""
_LARGEST_TILE_PX = 512
"""Larger masks repeat a tile, which has the statistics of the full mask, since all count as periodic."""
_TINY = 1e-12


@dataclass(frozen=True)
class Source:
    """The properties of an image that the synthesis reproduces."""

    mean: np.ndarray
    """(colour, 1): mean level, of 255."""
    directions: np.ndarray
    """(colour, channel): levels = mean + directions @ channels."""
    channels: np.ndarray
    """(channel, side, side): the principal colours, of mean 0 and variance 1, float32."""
    skewness: np.ndarray
    """Skewness of the levels, by colour; kurtosis, low and high likewise."""
    kurtosis: np.ndarray
    low: np.ndarray
    high: np.ndarray


def synthesise(
    picture: np.ndarray,
    rng: np.random.Generator,
    *,
    rounds: int = ROUNDS,
) -> np.ndarray:
    """Return a texture mask of `picture`, with its statistics and none of its shapes.

    Args:
        picture: (side, side, 3), uint8, at least 16 px.
        rng: random generator of the noise that the mask starts from.
        rounds: number of projections of all scales.

    Returns:
        (side, side, 3), uint8, within the image's own range of levels by colour, except for the shift
        (a level or so) that gives it the image's mean relative luminance, within 0.001. An image
        without contrast is returned unchanged.
    """
    reuse_memory()
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
        half = _iterated(half, [partial(_projected, wanted, pyramid, finest)], _COARSE_ROUNDS)

    def project_all(half: np.ndarray, share: float) -> np.ndarray:
        return _as_pixels(_projected(wanted, pyramid, 0, half, share), source, pyramid)

    coarse = [partial(_projected, wanted, pyramid, 1)] if len(pyramid.scales) > 1 else []
    half = _iterated(half, [*coarse, project_all], rounds)
    levels = _levels(pyramids.field(half, pyramid.side), source)
    whole = np.tile(np.moveaxis(levels, 0, -1), (tiles, tiles, 1))[:side, :side]
    return at_luminance(np.broadcast_to(whole, picture.shape), mean_luminance(picture))


def read(picture: np.ndarray) -> Source:
    """Return an image (side, side, 3; uint8) in its principal colours, those that vary noticeably."""
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


def _iterated(
    half: np.ndarray, projections: Sequence[Callable[[np.ndarray, float], np.ndarray]], rounds: int
) -> np.ndarray:
    """Return `half` after `rounds` of `projections`, each extrapolating a little beyond the last.

    What is extrapolated falls to 0 over the last third of the rounds: else pictures whose statistics
    contradict each other would end in an oscillation.
    """
    before = after = half
    for left in reversed(range(rounds)):
        share = min(left / max(rounds // 3, 1), 1)
        for project in projections:
            beyond = after + np.float32(_BEYOND * share) * (after - before)
            before, after = after, project(beyond, share)
        if left == rounds - 1:
            before = after  # the step away from noise is no direction to extrapolate
    return after


def _projected(
    wanted: Statistics, pyramid: Pyramid, finest: int, half: np.ndarray, share: float
) -> np.ndarray:
    """Return a half spectrum with the statistics of scale `finest` and the coarser ones projected once.

    Args:
        share: of `_BEYOND_MAGNITUDES` and `_BEYOND_MOMENTS`, 0 to 1.
    """
    low = _low_projected(half, wanted, pyramid, finest, share)
    if finest:
        scale = pyramid.scales[finest]
        return half + pyramids.resized(low - pyramids.resized(half, scale.side) * scale.below, pyramid.side)
    above = without_mean(half * pyramid.above)
    exchange = covariance_map(half_covariance(above, pyramid.side), wanted.above)
    return low + _mixed(exchange, above) * pyramid.above


def _low_projected(
    half: np.ndarray, wanted: Statistics, pyramid: Pyramid, finest: int, share: float
) -> np.ndarray:
    """Return the part of `half` in scale `finest` and coarser ones, projected once, on the scale's grid."""
    residual = pyramids.resized(half, pyramid.residual_side) * pyramid.below
    low = _low_matched(residual, pyramid.residual_side, wanted.below, share)
    parents = None
    for number in range(len(pyramid.scales) - 1, finest - 1, -1):
        scale, goal = pyramid.scales[number], wanted.scales[number]
        bands = pyramids.complex_field(pyramids.bands(half, scale), scale.side)
        real = pyramids.spectrum(_bands_matched(bands, parents, goal, share))
        low = pyramids.resized(low, scale.side) + pyramids.rebuilt(real, scale)
        low = _low_matched(low, scale.side, goal.lowpass, share)
        if number > finest:
            finer = pyramid.scales[number - 1].side
            parents = pyramids.complex_field(pyramids.analytic_spectrum(real, scale), finer)
    return low


def _low_matched(half: np.ndarray, side: int, goal: LowpassStatistics, share: float) -> np.ndarray:
    half = without_mean(half)
    half = _mixed(covariance_map(half_covariance(half, side), goal.covariance), half)
    half = half * lag_gain(power(half), side, goal.lags)
    field = pyramids.field(half, side)
    matched = match_moments(field, goal.skewness, goal.kurtosis)
    return pyramids.spectrum(matched + np.float32(_BEYOND_MOMENTS * share) * (matched - field))


def _bands_matched(
    bands: np.ndarray, parents: np.ndarray | None, goal: BandStatistics, share: float
) -> np.ndarray:
    """Return the real parts of complex bands after projecting their magnitudes, then the parts themselves.

    Args:
        bands: (channel, orientation, side, side).
        parents: bands of the coarser scale, on the same grid; None at the coarsest.
    """
    beyond = np.float32(_BEYOND_MAGNITUDES * share)
    magnitudes = np.abs(bands)
    parent_magnitudes = None if parents is None else np.abs(parents)
    size = match_covariance(
        rows(magnitudes),
        goal.magnitude_covariance,
        None if parent_magnitudes is None else rows(parent_magnitudes),
        goal.magnitude_parents,
        central_covariance,
    )
    half = pyramids.spectrum(size.reshape(bands.shape))
    half[..., 0, 0] = 0
    half *= lag_gain(power(half), bands.shape[-1], goal.magnitude_lags) * (1 + beyond)
    half[..., 0, 0] = (1 + beyond) * goal.magnitude_mean.reshape(bands.shape[:2])
    scaled = pyramids.field(half, bands.shape[-1])
    scaled /= np.maximum(magnitudes, np.float32(_TINY), out=magnitudes)
    scaled -= beyond
    np.maximum(scaled, 0, out=scaled)
    scaled *= bands.real
    doubled = None
    if parents is not None and parent_magnitudes is not None:
        doubled = doubled_phase(parents, parent_magnitudes)
    real = match_covariance(rows(scaled), goal.real_covariance, doubled, goal.real_parents)
    return real.reshape(bands.shape)


def _as_pixels(half: np.ndarray, source: Source, pyramid: Pyramid) -> np.ndarray:
    """Return a half spectrum whose pixels have the source's moments and range, by colour."""
    half = without_mean(half)
    unit = covariance_map(half_covariance(half, pyramid.side), np.eye(len(half)))
    levels = _levels(pyramids.field(_mixed(unit, half), pyramid.side), source)
    inverse = np.linalg.pinv(source.directions)
    return _mixed(inverse, pyramids.spectrum(levels - source.mean[..., None]))


def _mixed(matrix: np.ndarray, half: np.ndarray) -> np.ndarray:
    """Return half spectra of fields mixed by `matrix` (channel, channel before)."""
    made = mixed(matrix, real_rows(half))
    return made.view(half.dtype).reshape(-1, *half.shape[1:])


def _levels(channels: np.ndarray, source: Source) -> np.ndarray:
    """Return levels (colour, side, side) with the source's moments and within its range."""
    deviations = mixed(source.directions, rows(channels)).reshape(-1, *channels.shape[1:])
    levels = rows(match_moments(deviations, source.skewness, source.kurtosis)) + source.mean
    levels = np.clip(levels, source.low[:, None], source.high[:, None])
    return levels.reshape(-1, *channels.shape[1:])
