"""What a fit needs of the pictures of triplets: two vectors for each distorted picture, one entry a channel."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from backend.foundation.errors import InvalidInput


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
    by the number of positions: the variance that dropout with chance 1/2 gives to `phi0`."""
    psi1: np.ndarray

    def __post_init__(self) -> None:
        shape = (len(self.phi0), sum(self.layers))
        for name in ("phi0", "phi1", "psi0", "psi1"):
            values = getattr(self, name)
            if values.shape != shape or values.dtype != np.float32:
                raise InvalidInput(
                    f"{name} must be float32 of shape {shape}, not {values.dtype} of shape {values.shape}"
                )
            if not (np.isfinite(values) & (values >= 0)).all():
                row = int(np.argmin((np.isfinite(values) & (values >= 0)).all(axis=1)))
                raise InvalidInput(f"{name} must be finite numbers of 0 or more; those of triplet {row} are not")

    def __len__(self) -> int:
        return len(self.phi0)

    def distances(self, weights: np.ndarray) -> np.ndarray:
        """Return the distances of `p0` and `p1` from the reference, shape (triplets, 2), in float64."""
        return np.stack([self.phi0 @ weights, self.phi1 @ weights], axis=1).astype(float)


def of_layers(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Return vectors given by layer, each of shape (triplets, channels), side by side in float32."""
    return np.concatenate([np.asarray(part, np.float32) for part in parts], axis=1)
