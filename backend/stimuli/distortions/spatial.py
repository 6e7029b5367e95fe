"""Spatial distortions: shifts, warps, ghosts and chromatic aberration. Edges are mirrored.

A warp is stated by the largest displacement that it makes. Pictures are resampled by cubic splines.
"""

from typing import Literal

import numpy as np
from scipy.ndimage import map_coordinates

from backend.stimuli.distortions.distortion import Choice, Distortion, Magnitude, Seed, Uniform

_LINEAR: Literal[1] = 1
_CUBIC: Literal[3] = 3
"""Orders of the splines between the control points of a warp."""


def shifting(levels: np.ndarray, distance_px: float, angle_deg: float) -> np.ndarray:
    """Return the picture moved by `distance_px` at an angle (0 right, 90 down), to whole pixels."""
    return shifted(levels, *whole_shift(distance_px, angle_deg))


def ghosting(levels: np.ndarray, opacity: float, distance_px: float, angle_deg: float) -> np.ndarray:
    """Return the picture with a moved copy of itself laid over it, `opacity` (0 to 1) of the sum."""
    ghost = shifted(levels, *whole_shift(distance_px, angle_deg))
    return (1 - opacity) * levels + opacity * ghost


def chromatic_aberration(levels: np.ndarray, distance_px: float, angle_deg: float) -> np.ndarray:
    """Return the picture with red moved by `distance_px` at an angle, and blue as far the other way."""
    angle = np.deg2rad(angle_deg)
    moved = distance_px * np.array([np.sin(angle), np.cos(angle)])
    made = levels.copy()
    for channel, sign in ((0, 1), (2, -1)):
        displacement = np.broadcast_to(sign * moved, (*levels.shape[:2], 2))
        made[..., channel] = warped(levels[..., channel : channel + 1], displacement)[..., 0]
    return made


def affine_warp(levels: np.ndarray, reach_px: float, seed: int) -> np.ndarray:
    """Return the picture under a random linear map about its centre (rotation, scale, shear).

    The entries of its difference from the identity are uniform, then scaled.
    """
    y, x = _from_centre(levels.shape)
    entries = np.random.default_rng(seed).uniform(-1, 1, (2, 2))
    displacement = np.stack([entry[0] * y + entry[1] * x for entry in entries], axis=-1)
    return warped(levels, _with_reach(displacement, reach_px))


def homography(levels: np.ndarray, reach_px: float, seed: int) -> np.ndarray:
    """Return the picture in the perspective that moves its four corners by random vectors.

    The longest of the four is `reach_px` long.
    """
    height, width = levels.shape[:2]
    corners = np.array([(0, 0), (0, width - 1), (height - 1, width - 1), (height - 1, 0)], np.float64)
    moves = _with_reach(np.random.default_rng(seed).uniform(-1, 1, (4, 2)), reach_px)
    matrix = _perspective(corners + moves, corners)
    y, x = np.mgrid[:height, :width].astype(np.float64)
    v, u, w = (row[0] * y + row[1] * x + row[2] for row in matrix)
    return warped(levels, np.stack([y - v / w, x - u / w], axis=-1))


def linear_warping(levels: np.ndarray, reach_px: float, cells: int, seed: int) -> np.ndarray:
    """Return the picture with the points of a grid moved at random, and linearly between them."""
    return warped(levels, random_field(levels.shape, reach_px, cells, seed, _LINEAR))


def cubic_warping(levels: np.ndarray, reach_px: float, cells: int, seed: int) -> np.ndarray:
    """Return the picture with the points of a grid moved at random, and along cubic splines between them."""
    return warped(levels, random_field(levels.shape, reach_px, cells, seed, _CUBIC))


def shifted(levels: np.ndarray, down_px: int, right_px: int) -> np.ndarray:
    """Return the picture moved by whole pixels."""
    down, right = abs(down_px), abs(right_px)
    padded = np.pad(levels, ((down, down), (right, right), (0, 0)), mode="symmetric")
    height, width = levels.shape[:2]
    return padded[down - down_px : down - down_px + height, right - right_px : right - right_px + width]


def whole_shift(distance_px: float, angle_deg: float) -> tuple[int, int]:
    """Return pixels down and right nearest to a distance of 1 or more at an angle; never (0, 0)."""
    angle = np.deg2rad(angle_deg)
    return round(distance_px * np.sin(angle)), round(distance_px * np.cos(angle))


def warped(levels: np.ndarray, displacement: np.ndarray) -> np.ndarray:
    """Return the picture in which what is seen at a pixel comes from the pixel minus its displacement.

    Args:
        displacement: down and right of each pixel (px); (height, width, 2).
    """
    height, width = levels.shape[:2]
    y, x = np.mgrid[:height, :width]
    source = (y - displacement[..., 0], x - displacement[..., 1])
    channels = np.moveaxis(levels, -1, 0)
    return np.stack(
        [map_coordinates(channel, source, order=3, mode="reflect") for channel in channels], axis=-1
    )


def random_field(
    shape: tuple[int, ...], reach_px: float, cells: int, seed: int, order: Literal[1, 3]
) -> np.ndarray:
    """Return random displacements of the points of a grid of `cells` squared, and splines between them.

    Returns:
        (height, width, 2), of which the longest vector is `reach_px` long.
    """
    points = np.random.default_rng(seed).uniform(-1, 1, (2, cells + 1, cells + 1))
    places = np.meshgrid(*(np.linspace(0, cells, length) for length in shape[:2]), indexing="ij")
    field = [map_coordinates(axis, places, order=order, mode="nearest") for axis in points]
    return _with_reach(np.stack(field, axis=-1), reach_px)


def _with_reach(vectors: np.ndarray, reach_px: float) -> np.ndarray:
    """Return vectors (last axis) scaled so that the longest is `reach_px` long."""
    return vectors * (reach_px / np.sqrt((vectors**2).sum(axis=-1)).max())


def _from_centre(shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    height, width = shape[:2]
    y, x = np.mgrid[:height, :width]
    return y - (height - 1) / 2, x - (width - 1) / 2


def _perspective(sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return the 3 x 3 matrix, with 1 in its last place, that maps four points (y, x) to four others."""
    rows, right = [], []
    for (y, x), (v, u) in zip(sources, targets, strict=True):
        rows += [(y, x, 1, 0, 0, 0, -v * y, -v * x), (0, 0, 0, y, x, 1, -u * y, -u * x)]
        right += [v, u]
    return np.append(np.linalg.solve(np.array(rows), np.array(right)), 1).reshape(3, 3)


_ANGLE = Uniform("angle_deg", 0, 360, "degrees")
_REACH = Magnitude("reach_px", 0.5, 10, "px")
_FIELD_REACH = Magnitude("reach_px", 0.5, 5, "px")
"""Farther, a warp of crops of 64 px would fold them."""
_CELLS = Choice("cells", (2, 3, 4), "")

SPATIAL = (
    Distortion("shifting", "spatial", shifting, Magnitude("distance_px", 1, 10, "px"), (_ANGLE,)),
    Distortion("affine_warp", "spatial", affine_warp, _REACH, (Seed(),)),
    Distortion("homography", "spatial", homography, _REACH, (Seed(),)),
    Distortion("linear_warping", "spatial", linear_warping, _FIELD_REACH, (_CELLS, Seed())),
    Distortion("cubic_warping", "spatial", cubic_warping, _FIELD_REACH, (_CELLS, Seed())),
    Distortion(
        "ghosting",
        "spatial",
        ghosting,
        Magnitude("opacity", 0.06, 0.5, "share"),
        (Uniform("distance_px", 2, 10, "px"), _ANGLE),
    ),
    Distortion(
        "chromatic_aberration",
        "spatial",
        chromatic_aberration,
        Magnitude("distance_px", 0.3, 4, "px"),
        (_ANGLE,),
    ),
)
