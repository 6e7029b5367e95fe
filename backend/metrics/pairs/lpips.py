"""LPIPS (Zhang et al., CVPR 2018): a weighted squared difference of a network's activations.

At each position of a layer, the channels' activations are divided by their length. The distance is the sum
over layers of the mean over positions of the weighted sum over channels of squared differences. Since that
is linear in the weights, the mean over positions comes first: a pair has one number for each channel, from
which the distance follows for any linear layers, without (weights of 1) or with.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import torch

from backend.metrics.pairs.trunk import Trunk, activations, scaled

_EPSILON = 1e-10
"""Added to the length by which activations are divided, as the authors' code does."""


def squared_differences(
    trunk: Trunk, parts: Sequence[np.ndarray], version: str = "0.1"
) -> Iterator[list[torch.Tensor]]:
    """Yield, for each layer, those of the other parts from the first, which is computed once.

    Args:
        parts: pictures of items, each of shape (items, height, width, 3); the first part is the reference.

    Yields:
        For each other part a tensor of shape (items, channels, height, width), float32.

    Raises:
        InvalidInput: the pictures are too small for the trunk.
    """
    trunk.net.check_size(*parts[0].shape[1:3])
    # Each part by itself: equal pictures then stand at equal rows of the matrices, and products of matrices
    # may differ in the last digit between rows. So equal pictures have distances that are exactly equal.
    for layers in zip(*(activations(trunk, scaled(part, version)) for part in parts), strict=True):
        first, *others = map(normalised, layers)
        yield [(other - first).square_() for other in others]


def normalised(layer: torch.Tensor) -> torch.Tensor:
    """Return activations divided by their length over channels, the second axis."""
    return layer / (layer.square().sum(1, keepdim=True).sqrt() + _EPSILON)


def lpips(
    trunk: Trunk, weights: Sequence[np.ndarray] | None, parts: Sequence[np.ndarray], version: str = "0.1"
) -> np.ndarray:
    """Return the distances of the other parts of items from the first, shape (items, parts - 1), float64.

    Args:
        weights: of the linear layers, each of shape (channels,); None for the distance without them.
    """
    layers = (
        np.stack([each.mean((2, 3), dtype=torch.float64).numpy() for each in others], axis=1)
        for others in squared_differences(trunk, parts, version)
    )
    if weights is None:
        return sum(layer.sum(axis=-1) for layer in layers)
    return sum(layer @ of for layer, of in zip(layers, weights, strict=True))
