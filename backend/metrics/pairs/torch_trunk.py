"""Activations of a trunk by PyTorch, where that is installed: the same numbers but for rounding."""

from collections.abc import Iterator

import numpy as np

from backend.foundation.optional_packages import check
from backend.metrics.pairs.trunk import Trunk


def check_installed() -> None:
    """Raise NotInstalled if PyTorch is not installed."""
    check("--torch", "torch")


def activations(trunk: Trunk, inputs: np.ndarray) -> Iterator[np.ndarray]:
    """Yield what `trunk.activations` yields."""
    import torch
    from torch.nn.functional import conv2d, max_pool2d, relu

    values = torch.from_numpy(np.ascontiguousarray(inputs.transpose(0, 3, 1, 2)))
    for layer, kernel, bias in zip(trunk.net.convolutions, trunk.kernels, trunk.biases, strict=True):
        with torch.inference_mode():  # not around `yield`: the mode is the thread's, not the generator's
            if layer.pool:
                values = max_pool2d(values, layer.pool, 2)
            weights = torch.from_numpy(kernel.transpose(3, 2, 0, 1).copy())
            values = relu(conv2d(values, weights, torch.from_numpy(bias.copy()), layer.stride, layer.padding))
        if layer.is_compared:
            yield np.ascontiguousarray(values.numpy().transpose(0, 2, 3, 1))
