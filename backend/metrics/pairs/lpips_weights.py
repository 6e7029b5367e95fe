"""Trunks and linear layers of LPIPS from files of weights, whatever the names that a program gave them.

Trunks are read from torchvision's state dicts (`features.0.weight`), from states of the `lpips` package
(`net.slice1.0.weight`), and from those of flax (`AlexNet_0.Conv_0.kernel`); linear layers from files of the
`lpips` package (`lin0.model.1.weight`) and of flax (`NetLinLayer_0.Conv_0.kernel`).
"""

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from backend.foundation.errors import InvalidInput
from backend.foundation.printable import printable
from backend.metrics.pairs.trunk import NETS, Net, Trunk
from backend.metrics.weights.files import read_weights

_TORCH = re.compile(r"(?:.*\.)?(?:features|slice\d)\.(\d+)\.(weight|bias)")
_BARE = re.compile(r"(\d+)\.(weight|bias)")
_FLAX = re.compile(r"(?:.*\.)?(AlexNet|VGG16)_0\.Conv_(\d+)\.(kernel|bias)")
_LINEAR = re.compile(
    r"(?:.*\.)?(?:lin|lins\.|NetLinLayer_)(\d+)(?:\.(?:model\.\d\.|Conv_0\.)?(weight|kernel))?"
)
VERSIONS = ("0.1", "0.0")
PUBLISHED: Mapping[str, tuple[str, str]] = {
    "f3e6b8e0db8a34f52936347253f791a3038767597e3b6ebe04c4a310e106f8c2": ("alex", "0.1"),
    "7883f023f8d495d2c83703a7e6c581fd4ebda9f118bc668e7c68d1139aa4173d": ("alex", "0.0"),
    "1e12fddcec0ba767e53f24b4ea914e13081314f8519d0a9414c41324c9ff8019": ("vgg", "0.1"),
    "331f93e5ee5a108457493b12aa57a066ba6243cbbd54461fa998df4c726d1519": ("vgg", "0.0"),
}
"""By the hash of linear layers: net and version of those that the authors published."""


@dataclass(frozen=True)
class Linear:
    """The linear layers of LPIPS."""

    net: str
    weights: tuple[np.ndarray, ...]
    """For each layer, shape (channels,), float64, not negative."""
    hash: str
    """SHA-256 of the weights as 32-bit floats."""

    @property
    def version(self) -> str:
        """`0.1` or `0.0` if they are those that the authors published, else ''."""
        return PUBLISHED.get(self.hash, ("", ""))[1]


@dataclass(frozen=True)
class Parts:
    """What a file of weights has for LPIPS."""

    path: Path
    trunk: Trunk | None
    linear: Linear | None

    @property
    def nets(self) -> set[str]:
        """The names of the networks that they are for."""
        trunk = {self.trunk.net.name} if self.trunk else set()
        return trunk | ({self.linear.net} if self.linear else set())

    @property
    def description(self) -> str:
        """What the file has, in words."""
        trunk = f"the trunk {self.trunk.net.title}" if self.trunk else ""
        linear = f"linear layers for {NETS[self.linear.net].title}" if self.linear else ""
        return " and ".join(filter(None, (trunk, linear)))


def read_trunk(path: Path, net: str) -> Trunk:
    """Return the trunk of a file.

    Args:
        net: `alex` or `vgg`.

    Raises:
        NotFound: there is no such file.
        InvalidInput: it is no file of weights, or has no such trunk.
    """
    found = read_parts(path)
    if found.trunk is None or found.trunk.net.name != net:
        raise InvalidInput(
            f"{printable(path)} must have the trunk {NETS[net].title}; it has {found.description}"
        )
    return found.trunk


def read_linear(path: Path, net: str) -> list[np.ndarray]:
    """Return the weights of each linear layer of a file, shape (channels,), float64.

    Raises:
        NotFound: there is no such file.
        InvalidInput: it is no file of weights, or has no linear layers for this trunk.
    """
    found = read_parts(path)
    if found.linear is None or found.linear.net != net:
        raise InvalidInput(
            f"{printable(path)} must have the linear layers of LPIPS for {NETS[net].title}; it has "
            f"{found.description}"
        )
    return [*found.linear.weights]


def read_parts(path: Path) -> Parts:
    """Return what a file has: a trunk, linear layers, or both.

    Raises:
        NotFound: there is no such file.
        InvalidInput: it is no file of weights, has neither, or has numbers that can't be weights.
    """
    arrays = read_weights(path, _is_wanted)
    try:
        found = Parts(path, _trunk(arrays), _linear(arrays))
    except _Unfit as error:
        raise InvalidInput(f"{printable(path)}: {error}") from None
    if found.trunk is None and found.linear is None:
        names = ", ".join(list(arrays)[:3]) or "no arrays of such names"
        raise InvalidInput(
            f"{printable(path)} must have a trunk (AlexNet or VGG16, as of torchvision) or linear layers of "
            f"LPIPS (lin0.model.1.weight, …); it has {names}"
        )
    return found


def hash_of(arrays: Iterable[np.ndarray]) -> str:
    """Return the SHA-256 of arrays as 32-bit floats in order, whatever file they come from."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.shape}".encode())
        digest.update(np.ascontiguousarray(array, "<f4").data)
    return digest.hexdigest()


class _Unfit(Exception):
    """Arrays that cannot be the weights of LPIPS."""


def _is_wanted(name: str) -> bool:
    return any(pattern.fullmatch(name) for pattern in (_TORCH, _BARE, _FLAX, _LINEAR))


def _trunk(arrays: Mapping[str, np.ndarray]) -> Trunk | None:
    """Return the trunk among the arrays, in kernels of shape (side, side, channels in, channels out)."""
    kernels: dict[int, np.ndarray] = {}
    biases: dict[int, np.ndarray] = {}
    for name, array in arrays.items():
        if found := _TORCH.fullmatch(name) or _BARE.fullmatch(name):
            place, kind = int(found[1]), found[2]
            is_kernel = kind == "weight"
            array = array.transpose(2, 3, 1, 0) if is_kernel and array.ndim == 4 else array
        elif found := _FLAX.fullmatch(name):
            place, is_kernel = int(found[2]), found[3] == "kernel"
        else:
            continue
        into = kernels if is_kernel else biases
        if place in into:
            raise _Unfit(f"the layer {place} of a trunk is there twice")
        into[place] = array
    if not kernels and not biases:
        return None
    net = _net_of(kernels, biases)
    ordered = [kernels[place] for place in sorted(kernels)], [biases[place] for place in sorted(biases)]
    for kind, group in zip(("kernel", "bias"), ordered, strict=True):
        for i, array in enumerate(group):
            _check_finite(array, f"the {kind} of convolution {i + 1}")
    kernel, bias = (tuple(np.ascontiguousarray(each, np.float32) for each in group) for group in ordered)
    return Trunk(net, kernel, bias, hash_of((*kernel, *bias)))


def _net_of(kernels: Mapping[int, np.ndarray], biases: Mapping[int, np.ndarray]) -> Net:
    shapes = tuple(kernels[place].shape for place in sorted(kernels))
    widths = tuple(biases[place].shape for place in sorted(biases))
    for net in NETS.values():
        is_placed = tuple(sorted(kernels)) in (net.places, tuple(range(len(net.places))))
        is_complete = shapes == net.shapes and widths == tuple(shape[-1:] for shape in net.shapes)
        if is_complete and is_placed and {*kernels} == {*biases}:
            return net
    first = "first kernel " + " x ".join(map(str, shapes[0])) if shapes else "no kernel"
    raise _Unfit(
        f"expected the convolutions of AlexNet (5) or VGG16 (13, without batch normalisation), got "
        f"{len(shapes)} kernels and {len(widths)} biases, {first}"
    )


def _linear(arrays: Mapping[str, np.ndarray]) -> Linear | None:
    found: dict[int, np.ndarray] = {}
    for name, array in arrays.items():
        if match := _LINEAR.fullmatch(name):
            weights = array.reshape(-1)
            if int(match[1]) in found and not np.array_equal(found[int(match[1])], weights):
                raise _Unfit(f"the linear layer {match[1]} is there twice, with different weights")
            found[int(match[1])] = weights
    if not found:
        return None
    widths = tuple(len(found[place]) for place in sorted(found))
    names = [net.name for net in NETS.values() if net.widths == widths]
    if not names or sorted(found) != list(range(len(widths))):
        expected = " or ".join(f"{', '.join(map(str, net.widths))} ({net.title})" for net in NETS.values())
        raise _Unfit(f"expected linear layers of {expected} weights, got {', '.join(map(str, widths))}")
    layers = [found[place] for place in sorted(found)]
    for i, layer in enumerate(layers):
        _check_finite(layer, f"the linear layer {i}")
        if (negative := int((layer < 0).sum())) > 0:
            raise _Unfit(
                f"the linear layer {i} has {negative} negative weights, the lowest {layer.min():g}; those of "
                "LPIPS are not negative, else a distance could be"
            )
    return Linear(names[0], tuple(layer.astype(np.float64) for layer in layers), hash_of(layers))


def _check_finite(array: np.ndarray, what: str) -> None:
    if array.dtype.kind != "f":
        raise _Unfit(f"{what} has {array.dtype}; floating-point numbers are expected")
    if not (np.abs(array) <= np.finfo(np.float32).max).all():
        raise _Unfit(f"{what} has NaN or infinity among its numbers")
