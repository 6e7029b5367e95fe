"""Trunks and linear layers of LPIPS from files of weights, whatever the names that a program gave them.

Trunks are read from torchvision's state dicts (`features.0.weight`) and from states of the `lpips` package
(`net.slice1.0.weight`); linear layers from files of that package (`lin0.model.1.weight`).
"""

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from backend.foundation.errors import InvalidInput, brief
from backend.foundation.printable import printable
from backend.metrics.pairs.nets import NETS
from backend.metrics.weights import read_weights

if TYPE_CHECKING:
    import torch

    from backend.metrics.pairs.trunk import Trunk

_TRUNK = re.compile(
    r"(?:(?:.*\.)?(?:features|slice\d)\.)?(\d+\.(?:squeeze\.|expand[13]x[13]\.)?(?:weight|bias))"
)
_LINEAR = re.compile(r"(?:.*\.)?(?:lin|lins\.)(\d+)(?:\.(?:model\.\d\.)?weight)?")
VERSIONS = ("0.1", "0.0")
PUBLISHED: Mapping[str, tuple[str, str]] = {
    "f3e6b8e0db8a34f52936347253f791a3038767597e3b6ebe04c4a310e106f8c2": ("alex", "0.1"),
    "7883f023f8d495d2c83703a7e6c581fd4ebda9f118bc668e7c68d1139aa4173d": ("alex", "0.0"),
    "1e12fddcec0ba767e53f24b4ea914e13081314f8519d0a9414c41324c9ff8019": ("vgg", "0.1"),
    "331f93e5ee5a108457493b12aa57a066ba6243cbbd54461fa998df4c726d1519": ("vgg", "0.0"),
    "6b5c58d96250f32f9130a027536282c16c577eabedd13f8b34b8c3bfccdcc59b": ("squeeze", "0.1"),
    "aa3a7bc1ec03249d4c1092feceeb09ffbf18da2b4fa7b4f18b904c9ef50d8b42": ("squeeze", "0.0"),
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
    trunk: "Trunk | None"
    linear: Linear | None

    @property
    def nets(self) -> set[str]:
        """The names of the networks that they are for."""
        trunk = {self.trunk.net.name} if self.trunk else set()
        return trunk | ({self.linear.net} if self.linear else set())

    @property
    def description(self) -> str:
        trunk = f"the trunk {self.trunk.net.title}" if self.trunk else ""
        linear = f"linear layers for {NETS[self.linear.net].title}" if self.linear else ""
        return " and ".join(filter(None, (trunk, linear)))


def read_trunk(path: Path, net: str) -> "Trunk":
    """Return the trunk of a file.

    Args:
        net: `alex`, `vgg` or `squeeze`.

    Raises:
        NotFound: there is no such file.
        InvalidInput: it is no file of weights, or has no such trunk.
    """
    parts = read_parts(path)
    if parts.trunk is None or parts.trunk.net.name != net:
        raise InvalidInput(
            f"{printable(path)} must have the trunk {NETS[net].title}; it has {parts.description}"
        )
    return parts.trunk


def read_linear(path: Path, net: str) -> list[np.ndarray]:
    """Return the weights of each linear layer of a file, shape (channels,), float64.

    Raises:
        NotFound: there is no such file.
        InvalidInput: it is no file of weights, or has no linear layers for this trunk.
    """
    parts = read_parts(path)
    if parts.linear is None or parts.linear.net != net:
        raise InvalidInput(
            f"{printable(path)} must have the linear layers of LPIPS for {NETS[net].title}; it has "
            f"{parts.description}"
        )
    return [*parts.linear.weights]


def read_parts(path: Path) -> Parts:
    """Return what a file has: a trunk, linear layers, or both.

    Raises:
        NotFound: there is no such file.
        InvalidInput: it is no file of weights, has neither, or has numbers that can't be weights.
    """
    tensors = read_weights(path)
    try:
        parts = Parts(path, _trunk(path, tensors), _linear(tensors))
    except _Unfit as error:
        raise InvalidInput(f"{printable(path)}: {error}") from None
    if parts.trunk is None and parts.linear is None:
        names = ", ".join(map(brief, list(tensors)[:3])) or "no tensors"
        raise InvalidInput(
            f"{printable(path)} must have a trunk ({_titles()}, as of torchvision) or linear layers of LPIPS "
            f"(lin0.model.1.weight, …); it has {names}"
        )
    return parts


def hash_of(arrays: Iterable[np.ndarray]) -> str:
    """Return the SHA-256 of arrays as 32-bit floats in order, whatever file they come from."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.shape}".encode())
        digest.update(np.ascontiguousarray(array, "<f4").data)
    return digest.hexdigest()


class _Unfit(Exception):
    """Arrays that cannot be the weights of LPIPS."""


def _titles() -> str:
    *others, last = (net.title for net in NETS.values())
    return f"{', '.join(others)} or {last}"


def _trunk(path: Path, tensors: "Mapping[str, torch.Tensor]") -> "Trunk | None":
    state: dict[str, torch.Tensor] = {}
    for name, tensor in tensors.items():
        if match := _TRUNK.fullmatch(name):
            if match[1] in state:
                raise _Unfit(f"{match[1]} of a trunk is there twice")
            state[match[1]] = tensor
    return _trunk_of(path, state) if state else None


def _trunk_of(path: Path, state: "dict[str, torch.Tensor]") -> "Trunk":
    from backend.metrics.pairs.trunk import Trunk, layers_of

    shapes = {name: tensor.shape for name, tensor in state.items()}
    for net in NETS.values():
        layers = layers_of(net)
        expected = layers.state_dict()
        if shapes != {name: tensor.shape for name, tensor in expected.items()}:
            continue
        fit = {name: _finite(state[name], f"{name} of the trunk").float() for name in expected}
        layers.load_state_dict({name: each.contiguous() for name, each in fit.items()}, assign=True)
        kernels = [each.permute(2, 3, 1, 0).numpy() for each in fit.values() if each.ndim == 4]
        biases = [each.numpy() for each in fit.values() if each.ndim == 1]
        digest = hash_of((*kernels, *biases))
        is_published = digest == net.published or _is_example(path, net.example)
        return Trunk(net, layers.requires_grad_(False), digest, is_published)
    raise _Unfit(
        f"expected the convolutions of {_titles()} without batch normalisation, got {len(shapes)} tensors, "
        f"the first of shape {' x '.join(map(str, next(iter(shapes.values())))) or '()'}"
    )


def _is_example(path: Path, example: str) -> bool:
    """Return whether a file is torchvision's, whose name ends in the first digits of its SHA-256."""
    with path.open("rb") as file:
        digits = hashlib.file_digest(file, "sha256").hexdigest()
    return digits.startswith(Path(example).stem.rpartition("-")[2])


def _linear(tensors: "Mapping[str, torch.Tensor]") -> Linear | None:
    weights: dict[int, torch.Tensor] = {}
    for name, tensor in tensors.items():
        if match := _LINEAR.fullmatch(name):
            layer = int(match[1])
            if layer in weights and not weights[layer].equal(tensor):
                raise _Unfit(f"the linear layer {layer} is there twice, with different weights")
            weights[layer] = tensor
    if not weights:
        return None
    widths = tuple(weights[place].numel() for place in sorted(weights))
    names = [net.name for net in NETS.values() if net.widths == widths]
    if not names or sorted(weights) != list(range(len(widths))):
        expected = " or ".join(f"{', '.join(map(str, net.widths))} ({net.title})" for net in NETS.values())
        raise _Unfit(f"expected linear layers of {expected} weights, got {', '.join(map(str, widths))}")
    layers = [
        _finite(weights[i], f"the linear layer {i}").double().numpy().ravel() for i in range(len(weights))
    ]
    for i, layer in enumerate(layers):
        if (negative := int((layer < 0).sum())) > 0:
            raise _Unfit(
                f"the linear layer {i} has {negative} negative weights, the lowest {layer.min():g}; those of "
                "LPIPS are not negative, else a distance could be"
            )
    return Linear(names[0], tuple(layers), hash_of(layers))


def _finite(tensor: "torch.Tensor", what: str) -> "torch.Tensor":
    if not tensor.is_floating_point():
        raise _Unfit(f"{what} has {tensor.dtype}; floating-point numbers are expected")
    if not tensor.float().isfinite().all():
        raise _Unfit(f"{what} has NaN or infinity among its numbers")
    return tensor
