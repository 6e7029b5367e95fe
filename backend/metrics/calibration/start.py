"""Weights with which a fit begins, and the metric as it was before."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from backend.foundation.errors import InvalidInput

UNIFORM, RANDOM, FILE = "uniform", "random", "file"
UNIFORM_WEIGHT = 0.1
"""The mean weight of the published linear layers is about 0.1; scores do not depend on it."""


@dataclass(frozen=True)
class Start:
    """The first weights of a fit, and those of the metric as it was."""

    kind: str
    """`uniform`, `random` or `file`."""
    weights: np.ndarray
    """Shape (channels,), float64; 0 or more."""
    before: np.ndarray
    """Shape (channels,): of the metric as it was: those of the file, or equal ones (no linear layers)."""


def start_of(kind: str, layers: Sequence[int], seed: int, given: Sequence[np.ndarray] = ()) -> Start:
    """Return the start of a fit.

    Args:
        kind: `uniform`: equal weights. `random`: as the reference draws them, uniform from
            -1 / sqrt(channels) to 1 / sqrt(channels) of each layer, with 0 for negative ones, as it does
            after its first step. `file`: those `given`.
        layers: number of channels of each layer.
        given: weights by layer.

    Raises:
        InvalidInput: weights given are negative, not finite, or all 0, or of other widths.
    """
    equal = np.full(sum(layers), UNIFORM_WEIGHT)
    if kind == UNIFORM:
        return Start(kind, equal, equal)
    if kind == RANDOM:
        rng = np.random.default_rng([seed, 1])
        drawn = [rng.uniform(-1, 1, channels) / np.sqrt(channels) for channels in layers]
        return Start(kind, np.maximum(np.concatenate(drawn), 0), equal)
    widths = tuple(len(layer) for layer in given)
    if widths != tuple(layers):
        raise InvalidInput(f"the weights to start from must have layers of {layers} channels, not {widths}")
    weights = np.concatenate([np.asarray(layer, float) for layer in given])
    if not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
        raise InvalidInput("the weights to start from must be finite, 0 or more, and not all 0")
    return Start(FILE, weights, weights)
