"""What a fit needs of the pictures of triplets: two vectors for each distorted picture, one entry a channel.

LPIPS is linear in its weights, and the mean over positions is taken after weighting, so that the mean may
come first: the distance of a pair is the weighted sum of a vector phi with one entry a channel
(`pairs/lpips.py`). A second vector, psi, holds what dropout of single entries does to that mean.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from backend.foundation.errors import InvalidInput

if TYPE_CHECKING:
    import torch

    from backend.metrics.pairs.trunk import Trunk


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


def moments(trunk: "Trunk", parts: Sequence[np.ndarray], version: str = "0.1") -> np.ndarray:
    """Return phi and psi of triplets, shape (triplets, 2 sides, 2, channels), float32.

    Args:
        parts: references, `p0` and `p1`, each of shape (triplets, height, width, 3), values from 0 to 255.

    Raises:
        InvalidInput: the pictures are too small for the trunk.
    """
    from backend.metrics.pairs.lpips import squared_differences

    layers = squared_differences(trunk, parts, version)
    return np.concatenate([np.stack([*map(_moments, sides)], axis=1) for sides in layers], axis=-1)


def _moments(squared: "torch.Tensor") -> np.ndarray:
    """Return phi and psi of a layer and side, shape (triplets, 2, channels), float32."""
    import torch

    positions = squared.shape[2] * squared.shape[3]
    phi = squared.mean((2, 3), dtype=torch.float64)
    psi = squared.square().mean((2, 3), dtype=torch.float64) / positions
    return torch.stack([phi, psi], dim=1).float().numpy()


def vectors_of(layers: Sequence[int], values: np.ndarray) -> Vectors:
    phi0, psi0, phi1, psi1 = (np.ascontiguousarray(values[:, side, k]) for side in (0, 1) for k in (0, 1))
    return Vectors(tuple(layers), phi0, phi1, psi0, psi1)
