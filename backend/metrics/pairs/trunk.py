"""The trunks of LPIPS in PyTorch, as torchvision defines and names their layers.

LPIPS compares the rectified outputs of the five convolutions of AlexNet; of conv1_2, conv2_2, conv3_3,
conv4_3 and conv5_3 of VGG16; of the first convolution of SqueezeNet 1.1 and of its fire modules 3, 5, 6, 7,
8 and 9, as the paper of that network counts them (Zhang et al., CVPR 2018, and their code).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from torch.nn import Conv2d, MaxPool2d, Module, ReLU, Sequential

from backend.metrics.pairs.nets import Net

_SHIFT = np.array([-0.030, -0.088, -0.188])
_SCALE = np.array([0.458, 0.448, 0.450])
"""ImageNet's means and standard deviations of red, green and blue, for values from -1 to 1."""


class _Fire(Module):
    """A fire module: a convolution of few channels, then two of `width` channels side by side."""

    def __init__(self, channels: int, narrow: int, width: int) -> None:
        super().__init__()
        self.squeeze = Conv2d(channels, narrow, 1)
        self.expand1x1 = Conv2d(narrow, width, 1)
        self.expand3x3 = Conv2d(narrow, width, 3, padding=1)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        narrow = self.squeeze(values).relu_()
        return torch.cat([self.expand1x1(narrow), self.expand3x3(narrow)], 1).relu_()


@dataclass(frozen=True)
class Trunk:
    """A trunk with its weights."""

    net: Net
    layers: Sequential
    """torchvision's `features`, as far as LPIPS needs them."""
    hash: str = ""
    """SHA-256 of the weights."""
    is_published: bool = False
    """Whether the weights are known to be those that LPIPS was published with."""


def layers_of(net: Net) -> Sequential:
    """Return the layers of a trunk, without weights."""
    with torch.device("meta"):
        return Sequential(*{"alex": _alex, "vgg": _vgg, "squeeze": _squeeze}[net.name]())


_COMPARED = {"alex": (1, 4, 7, 9, 11), "vgg": (3, 8, 15, 22, 29), "squeeze": (1, 4, 7, 9, 10, 11, 12)}
"""By net: the layers whose outputs are compared."""


def _alex() -> Iterator[Module]:
    yield from (Conv2d(3, 64, 11, 4, 2), ReLU(True), MaxPool2d(3, 2))
    yield from (Conv2d(64, 192, 5, padding=2), ReLU(True), MaxPool2d(3, 2))
    for channels, width in pairwise((192, 384, 256, 256)):
        yield from (Conv2d(channels, width, 3, padding=1), ReLU(True))


def _vgg() -> Iterator[Module]:
    channels = 3
    for block, (width, count) in enumerate(((64, 2), (128, 2), (256, 3), (512, 3), (512, 3))):
        if block:
            yield MaxPool2d(2)
        for _ in range(count):
            yield from (Conv2d(channels, width, 3, padding=1), ReLU(True))
            channels = width


def _squeeze() -> Iterator[Module]:
    yield from (Conv2d(3, 64, 3, 2), ReLU(True), MaxPool2d(3, 2, ceil_mode=True))
    yield from (_Fire(64, 16, 64), _Fire(128, 16, 64), MaxPool2d(3, 2, ceil_mode=True))
    yield from (_Fire(128, 32, 128), _Fire(256, 32, 128), MaxPool2d(3, 2, ceil_mode=True))
    yield from (_Fire(256, 48, 192), _Fire(384, 48, 192), _Fire(384, 64, 256), _Fire(512, 64, 256))


def scaled(pictures: np.ndarray, version: str = "0.1") -> torch.Tensor:
    """Return the input of a trunk, shape (pictures, 3, height, width), of values from 0 to 255.

    Version 0.1 of LPIPS standardises values from -1 to 1 as the trunk's training did; version 0.0 did not.

    Args:
        pictures: shape (pictures, height, width, 3).
    """
    values = pictures / 127.5 - 1
    values = values if version == "0.0" else (values - _SHIFT) / _SCALE
    return torch.from_numpy(np.ascontiguousarray(values.transpose(0, 3, 1, 2), np.float32))


def activations(trunk: Trunk, inputs: torch.Tensor) -> Iterator[torch.Tensor]:
    """Yield the activations of each compared layer, shape (pictures, channels, height, width), float32.

    Args:
        inputs: as `scaled` returns them.
    """
    values = inputs
    for place, layer in enumerate(trunk.layers):
        values = layer(values)
        if place in _COMPARED[trunk.net.name]:
            yield values
