"""What a fit needs of the pictures of triplets: two vectors for each distorted picture, one entry a channel.

LPIPS is linear in its weights, and the mean over positions is taken after weighting, so that the mean may
come first: the distance of a pair is the weighted sum of a vector phi with one entry a channel
(`pairs/lpips.py`). A second vector, psi, holds what dropout of single entries does to that mean.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from backend.foundation.errors import InvalidInput
from backend.metrics.pairs.lpips import Activations, normalised
from backend.metrics.pairs.trunk import Trunk, activations, check_size, scaled

_BATCH = 16
"""Triplets whose pictures are in memory at once."""
Pictures = Callable[[int], Sequence[np.ndarray]]
"""Returns the pictures of a triplet, given its index: reference, `p0`, `p1`, each of shape (height, width, 3)
with values from 0 to 255."""


@dataclass(frozen=True)
class Vectors:
    """Vectors of triplets, the channels of all layers side by side; float32, all finite and 0 or more."""

    layers: tuple[int, ...]
    """Number of channels of each layer."""
    phi0: np.ndarray
    """Shape (triplets, channels): of reference and `p0`, the mean over positions of the squared difference of
    activations that have unit length at each position. The distance is their weighted sum."""
    phi1: np.ndarray
    """The same of reference and `p1`."""
    psi0: np.ndarray
    """Shape (triplets, channels): the mean over positions of the square of these squared differences, divided
    by the number of positions: the variance of `phi0` if each entry is dropped with chance 1/2 and else
    doubled."""
    psi1: np.ndarray

    def __post_init__(self) -> None:
        shape = (len(self.phi0), sum(self.layers))
        for name in ("phi0", "phi1", "psi0", "psi1"):
            values = getattr(self, name)
            if values.shape != shape or values.dtype != np.float32:
                raise InvalidInput(
                    f"{name} must be float32 of shape {shape}, not {values.dtype} of shape {values.shape}"
                )
            is_valid = (np.isfinite(values) & (values >= 0)).all(axis=1)
            if not is_valid.all():
                raise InvalidInput(
                    f"{name} must be finite numbers of 0 or more; those of triplet "
                    f"{int(np.argmin(is_valid))} are not (triplets are counted from 0)"
                )

    def __len__(self) -> int:
        return len(self.phi0)

    def distances(self, weights: np.ndarray) -> np.ndarray:
        """Return the distances of `p0` and `p1` from the reference, shape (triplets, 2), in float64."""
        return np.stack([self.phi0 @ weights, self.phi1 @ weights], axis=1)

    def by_layer(self, values: np.ndarray) -> list[np.ndarray]:
        """Return values of channels, along the last axis, for each layer."""
        return np.split(values, np.cumsum(self.layers)[:-1], axis=-1)


def vectors_of(
    trunk: Trunk,
    pictures: Pictures,
    triplets: int,
    version: str = "0.1",
    activations_of: Activations = activations,
    progress: Callable[..., Iterable] | None = None,
) -> Vectors:
    """Return the vectors of triplets.

    Args:
        progress: wraps the triplets, such as a progress bar; called with `total` and `label`.

    Raises:
        InvalidInput: the pictures of a triplet differ in size, or are too small for the trunk.
    """
    channels = sum(trunk.net.widths)
    found = {name: np.empty((triplets, channels), np.float32) for name in ("phi0", "phi1", "psi0", "psi1")}
    waiting: list[tuple[int, Sequence[np.ndarray]]] = []

    def empty() -> None:
        parts = [np.stack(part) for part in zip(*(of for _, of in waiting), strict=True)]
        rows = [row for row, _ in waiting]
        for name, values in _moments(trunk, parts, version, activations_of).items():
            found[name][rows] = values
        waiting.clear()

    numbers = range(triplets)
    for i in progress(numbers, total=triplets, label="pictures") if progress else numbers:
        parts = pictures(i)
        check_size(trunk.net, *parts[0].shape[:2])
        if waiting and (len(waiting) == _BATCH or waiting[0][1][0].shape != parts[0].shape):
            empty()
        waiting.append((i, parts))
    if waiting:
        empty()
    return Vectors(trunk.net.widths, **found)


def _moments(
    trunk: Trunk, parts: Sequence[np.ndarray], version: str, activations_of: Activations
) -> dict[str, np.ndarray]:
    """Return the vectors of triplets whose pictures have one size, by name, shape (triplets, channels)."""
    found: dict[str, list[np.ndarray]] = {}
    layers = (activations_of(trunk, scaled(part, version)) for part in parts)
    for reference, *others in zip(*layers, strict=True):
        first = normalised(reference)
        positions = first.shape[1] * first.shape[2]
        for side, other in enumerate(others):
            squared = (normalised(other) - first) ** 2
            found.setdefault(f"phi{side}", []).append(squared.mean(axis=(1, 2), dtype=np.float64))
            squares = (squared**2).mean(axis=(1, 2), dtype=np.float64)
            found.setdefault(f"psi{side}", []).append(squares / positions)
    return {name: np.concatenate(values, axis=1) for name, values in found.items()}


def rows_of(vectors: Vectors, rows: Any) -> Vectors:
    """Return the vectors of some triplets."""
    return Vectors(
        vectors.layers, vectors.phi0[rows], vectors.phi1[rows], vectors.psi0[rows], vectors.psi1[rows]
    )
