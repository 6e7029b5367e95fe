"""LPIPS (Zhang et al., CVPR 2018): a weighted squared difference of a network's activations.

At each position of a layer, the channels' activations are divided by their length. The distance is the sum
over layers of the mean over positions of the weighted sum over channels of squared differences. Since that
is linear in the weights, the mean over positions comes first: a pair has one number for each channel, from
which the distance follows for any linear layers, without (weights of 1) or with.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from backend.metrics.pairs.trunk import Trunk, activations, check_size, scaled

_EPSILON = 1e-10
"""Added to the length by which activations are divided, as the authors' code does."""
Activations = Callable[[Trunk, np.ndarray], Iterable[np.ndarray]]


def differences_from_first(
    trunk: Trunk,
    parts: Sequence[np.ndarray],
    version: str = "0.1",
    activations_of: Activations = activations,
) -> Iterator[np.ndarray]:
    """Yield, for each layer, the differences of the other parts from the first, which is computed once.

    Args:
        parts: pictures of items, each of shape (items, height, width, 3); the first part is the reference.

    Yields:
        Arrays of shape (items, parts - 1, channels), float64.

    Raises:
        InvalidInput: the pictures are too small for the trunk.
    """
    check_size(trunk.net, *parts[0].shape[1:3])
    # Each part by itself: equal pictures then stand at equal rows of the matrices, and products of matrices
    # may differ in the last digit between rows. So equal pictures have distances that are exactly equal.
    for layers in zip(*(activations_of(trunk, scaled(part, version)) for part in parts), strict=True):
        first, *others = map(normalised, layers)
        squared = [((other - first) ** 2).mean(axis=(1, 2), dtype=np.float64) for other in others]
        yield np.stack(squared, axis=1)


def normalised(layer: np.ndarray) -> np.ndarray:
    """Return activations divided by their length over channels, the last axis."""
    length = np.sqrt(np.einsum("...c,...c->...", layer, layer))
    return layer / (length + np.float32(_EPSILON))[..., None]


def lpips(
    trunk: Trunk,
    weights: Sequence[np.ndarray] | None,
    parts: Sequence[np.ndarray],
    version: str = "0.1",
    activations_of: Activations = activations,
) -> np.ndarray:
    """Return the distances of the other parts of items from the first, shape (items, parts - 1), float64.

    Args:
        weights: of the linear layers, each of shape (channels,); None for the distance without them.
    """
    layers = differences_from_first(trunk, parts, version, activations_of)
    if weights is None:
        return sum(layer.sum(axis=-1) for layer in layers)
    return sum(layer @ of for layer, of in zip(layers, weights, strict=True))
