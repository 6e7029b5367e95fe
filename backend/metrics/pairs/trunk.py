"""The trunks of LPIPS, AlexNet and VGG16, in numpy: activations of five layers, in 32-bit floats.

The layers are those whose outputs LPIPS compares (Zhang et al., CVPR 2018): the rectified outputs of the
five convolutions of AlexNet, and of conv1_2, conv2_2, conv3_3, conv4_3 and conv5_3 of VGG16, each before
pooling. Arrays are (pictures, height, width, channels), so that a convolution is one product of matrices
whose rows are copied in runs of a pixel's channels.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from backend.foundation.errors import InvalidInput

_SHIFT = np.array([-0.030, -0.088, -0.188])
_SCALE = np.array([0.458, 0.448, 0.450])
"""ImageNet's means and standard deviations of red, green and blue, for values from -1 to 1."""
_COLUMN_BYTES = 1 << 24
"""Largest matrix of copied neighbourhoods, about the size of a processor's cache."""


@dataclass(frozen=True)
class Convolution:
    """A convolution, followed by rectification."""

    channels: int
    side: int
    stride: int = 1
    padding: int = 1
    pool: int = 0
    """Side of the maximum pooling of its input, with a stride of 2; 0 if there is none."""
    is_compared: bool = True
    """Whether LPIPS compares its output."""


_SAME = Convolution(0, 3)


@dataclass(frozen=True)
class Net:
    """The architecture of a trunk."""

    name: str
    title: str
    convolutions: tuple[Convolution, ...]
    places: tuple[int, ...]
    """Index of each convolution among torchvision's `features`."""
    module: str
    """Name of the trunk in files of flax."""
    example: str = ""
    """torchvision's file of the weights that LPIPS was published with."""
    published: str = ""
    """`Trunk.hash` of these weights."""

    @property
    def widths(self) -> tuple[int, ...]:
        """The number of channels of each compared layer."""
        return tuple(each.channels for each in self.convolutions if each.is_compared)

    @property
    def shapes(self) -> tuple[tuple[int, int, int, int], ...]:
        """The shape of each kernel: height, width, channels in, channels out."""
        inputs = (3, *(each.channels for each in self.convolutions))
        return tuple(
            (each.side, each.side, inner, each.channels)
            for inner, each in zip(inputs, self.convolutions, strict=False)
        )

    @cached_property
    def min_side_px(self) -> int:
        """The shortest side of a picture of which each layer has at least one output."""
        return next(side for side in range(1, 1000) if self._sides(side)[-1] >= 1)

    def _sides(self, side: int) -> list[int]:
        sides = []
        for each in self.convolutions:
            if each.pool:
                side = (side - each.pool) // 2 + 1 if side >= each.pool else 0
            side = (side + 2 * each.padding - each.side) // each.stride + 1 if side > 0 else 0
            sides.append(side)
        return sides


def _vgg(blocks: Sequence[tuple[int, int]]) -> tuple[Convolution, ...]:
    return tuple(
        Convolution(channels, 3, pool=2 if block and i == 0 else 0, is_compared=i == count - 1)
        for block, (channels, count) in enumerate(blocks)
        for i in range(count)
    )


ALEX = Net(
    "alex",
    "AlexNet",
    (
        Convolution(64, 11, 4, 2),
        Convolution(192, 5, padding=2, pool=3),
        Convolution(384, 3, pool=3),
        Convolution(256, 3),
        Convolution(256, 3),
    ),
    (0, 3, 6, 8, 10),
    "AlexNet",
    "alexnet-owt-7be5be79.pth",
    "7594d08886176fd37b00671787e7f6a718fed5fb93039e171cc2bc58f5e8e935",
)
VGG = Net(
    "vgg",
    "VGG16",
    _vgg([(64, 2), (128, 2), (256, 3), (512, 3), (512, 3)]),
    (0, 2, 5, 7, 10, 12, 14, 17, 19, 21, 24, 26, 28),
    "VGG16",
    "vgg16-397923af.pth",
    "900f1b297688ae9574f804c3bd51b018bc6aeecc83c02ae263d49c229ae490fe",
)
NETS: Mapping[str, Net] = {net.name: net for net in (ALEX, VGG)}


@dataclass(frozen=True)
class Trunk:
    """A trunk with its weights."""

    net: Net
    kernels: tuple[np.ndarray, ...]
    """For each convolution: shape (side, side, channels in, channels out), float32."""
    biases: tuple[np.ndarray, ...]
    """For each convolution: shape (channels out,), float32."""
    hash: str = ""
    """SHA-256 of the weights."""

    @property
    def is_published(self) -> bool:
        """Whether the weights are those that LPIPS was published with."""
        return self.hash == self.net.published


def scaled(pictures: np.ndarray, version: str = "0.1") -> np.ndarray:
    """Return the input of a trunk, float32, of pictures with values from 0 to 255.

    Version 0.1 of LPIPS standardises values from -1 to 1 as the trunk's training did; version 0.0 did not.
    """
    values = pictures / 127.5 - 1
    return (values if version == "0.0" else (values - _SHIFT) / _SCALE).astype(np.float32)


def check_size(net: Net, height: int, width: int) -> None:
    """Raise InvalidInput if pictures are too small for the trunk."""
    if min(height, width) < net.min_side_px:
        raise InvalidInput(
            f"LPIPS with {net.title} needs pictures of {net.min_side_px} px or more on each side, not "
            f"{width} x {height}"
        )


def activations(trunk: Trunk, inputs: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the activations of each compared layer, shape (pictures, height, width, channels), float32.

    Args:
        inputs: shape (pictures, height, width, 3), as `scaled` returns them.
    """
    values = inputs
    for layer, kernel, bias in zip(trunk.net.convolutions, trunk.kernels, trunk.biases, strict=True):
        if layer.pool:
            values = pooled(values, layer.pool)
        values = convolved(values, kernel, bias, layer.stride, layer.padding)
        np.maximum(values, 0, out=values)
        if layer.is_compared:
            yield values


def convolved(
    values: np.ndarray, kernel: np.ndarray, bias: np.ndarray, stride: int, padding: int
) -> np.ndarray:
    """Return the cross-correlation of pictures with a kernel, plus the bias, padded with zeros.

    Args:
        values: shape (pictures, height, width, channels in).
        kernel: shape (side, side, channels in, channels out).
    """
    side, outer = kernel.shape[0], kernel.shape[-1]
    padded = np.pad(values, ((0, 0), (padding, padding), (padding, padding), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (side, side), axis=(1, 2))
    windows = windows[:, ::stride, ::stride].transpose(0, 1, 2, 4, 5, 3)
    count, height, width = windows.shape[:3]
    matrix = kernel.reshape(-1, outer)
    made = np.empty((count, height, width, outer), values.dtype)
    rows = max(1, _COLUMN_BYTES // (width * len(matrix) * values.itemsize))
    pictures = max(1, rows // height)
    for first in range(0, count, pictures):
        for top in range(0, height, rows):
            block = slice(first, first + pictures), slice(top, top + rows)
            columns = windows[block].reshape(-1, len(matrix))
            made[block] = (columns @ matrix).reshape(made[block].shape)
    made += bias
    return made


def pooled(values: np.ndarray, side: int) -> np.ndarray:
    """Return the maximum of each square of `side` pixels, with a stride of 2."""
    height, width = ((length - side) // 2 + 1 for length in values.shape[1:3])
    first, *others = (
        values[:, down : down + 2 * height - 1 : 2, across : across + 2 * width - 1 : 2]
        for down in range(side)
        for across in range(side)
    )
    made = first.copy()
    for part in others:
        np.maximum(made, part, out=made)
    return made
