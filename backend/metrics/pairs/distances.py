"""The distances that can be asked for by name, with the weights that they need."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from backend.foundation.errors import InvalidInput
from backend.foundation.printable import printable
from backend.metrics.pairs.lpips_weights import VERSIONS, Linear, Parts, read_parts
from backend.metrics.pairs.nets import NETS, Net
from backend.metrics.pairs.pixels import IDENTICAL_DB, l2, minus_psnr
from backend.metrics.pairs.structure import one_minus_ms_ssim, one_minus_ssim
from backend.metrics.weights import check_torch

if TYPE_CHECKING:
    from backend.metrics.pairs.trunk import Trunk

OfPair = Callable[[np.ndarray, np.ndarray], float]
_PLAIN: Mapping[str, tuple[str, OfPair]] = {
    "l2": ("root mean squared difference of values from 0 to 1", l2),
    "psnr": (f"minus the PSNR in dB; {-IDENTICAL_DB:g} for equal pictures", minus_psnr),
    "ssim": ("1 - SSIM, mean over red, green and blue", one_minus_ssim),
    "ms-ssim": ("1 - MS-SSIM over five scales, mean over red, green and blue", one_minus_ms_ssim),
}
_LPIPS = {f"lpips-{net.name}": net for net in NETS.values()}
_BASELINE = {f"baseline-{net.name}": net for net in NETS.values()}
"""Without linear layers: all channels count alike."""
NAMES = (*_PLAIN, *_LPIPS, *_BASELINE)
DEFAULT = ("l2", "psnr", "ssim")
"""Those that need neither weights nor large pictures."""


@dataclass(frozen=True)
class Distance:
    """A distance, with its weights if it has any."""

    name: str
    description: str
    """What it is, with its version and the hashes of its weights."""
    measure: Callable[[Sequence[np.ndarray]], np.ndarray]
    """Takes the pictures of items, an array of shape (items, height, width, 3) for each part; returns the
    distances of the other parts from the first, shape (items, parts - 1), float64."""
    is_network: bool = False


def distances_named(names: Sequence[str], weights: Sequence[Path] = (), version: str = "") -> list[Distance]:
    """Return the distances of these names.

    Args:
        weights: files that together have the trunks and linear layers that the distances need.
        version: of LPIPS, `0.1` or `0.0`; '' for that of the published linear layers, for others 0.1.

    Raises:
        NotFound: there is no such file.
        InvalidInput: there is no such distance, or the files are not the weights that the distances need.
        NotInstalled: a distance needs PyTorch, which is missing or too old.
    """
    if unknown := [name for name in names if name not in NAMES]:
        raise InvalidInput(f"there is no distance {unknown[0]!r}; there are {', '.join(NAMES)}")
    nets = {net.name for name, net in {**_LPIPS, **_BASELINE}.items() if name in names}
    if not nets and (weights or version):
        raise InvalidInput(
            f"{', '.join(names)} have no weights; leave --weights and --lpips-version out, or ask for one of "
            f"{', '.join((*_LPIPS, *_BASELINE))}"
        )
    if nets:
        check_torch("LPIPS")
    parts = [read_parts(path) for path in weights]
    for each in parts:
        if not nets & each.nets:
            raise InvalidInput(
                f"{printable(each.path)} has {each.description}, which none of {', '.join(names)} uses"
            )
    return [_distance(name, parts, version) for name in dict.fromkeys(names)]


def _distance(name: str, parts: Sequence[Parts], version: str) -> Distance:
    if name in _PLAIN:
        description, of_pair = _PLAIN[name]
        return Distance(name, description, partial(_of_pairs, of_pair))
    net = {**_LPIPS, **_BASELINE}[name]
    trunk = _trunk(name, net, parts)
    linear = _linear(name, net, parts) if name in _LPIPS else None
    version = _version(linear, version)
    from backend.metrics.pairs.lpips import lpips

    measure = partial(lpips, trunk, None if linear is None else linear.weights, version=version)
    return Distance(name, _description(trunk, linear, version), measure, True)


def _of_pairs(of_pair: OfPair, parts: Sequence[np.ndarray]) -> np.ndarray:
    first, *others = parts
    return np.array([[of_pair(first[i], other[i]) for other in others] for i in range(len(first))])


def _trunk(name: str, net: Net, parts: Sequence[Parts]) -> "Trunk":
    trunks = [(each.path, each.trunk) for each in parts if each.trunk and each.trunk.net is net]
    what = f"the trunk {net.title}, for example torchvision's {net.example}"
    return trunks[_the_only(name, what, [path for path, _ in trunks])][1]


def _linear(name: str, net: Net, parts: Sequence[Parts]) -> Linear:
    """Return the linear layers; a file of their own counts before those that come with a trunk."""
    having = [(each, each.linear) for each in parts if each.linear and each.linear.net == net.name]
    own = [(each, linear) for each, linear in having if each.trunk is None]
    layers = [(each.path, linear) for each, linear in own or having]
    what = f"the linear layers for {net.title}, for example lpips/weights/v0.1/{net.name}.pth"
    return layers[_the_only(name, what, [path for path, _ in layers])][1]


def _the_only(name: str, what: str, paths: Sequence[Path]) -> int:
    """Return 0, the index of the only file that has a part, or refuse none and several."""
    if not paths:
        raise InvalidInput(f"{name} needs {what}; give its file with --weights")
    if len(paths) > 1:
        raise InvalidInput(
            f"{name} needs {what} from one file, not from {' and '.join(map(printable, paths))}"
        )
    return 0


def _version(linear: Linear | None, version: str) -> str:
    """Return the version of LPIPS, on which the scale of the input depends."""
    published = linear.version if linear else ""
    if version and published and version != published:
        raise InvalidInput(
            f"--lpips-version is {version}, but the linear layers are the published ones of v{published}"
        )
    return version or published or VERSIONS[0]


def _description(trunk: "Trunk", linear: Linear | None, version: str) -> str:
    origin = "as published" if trunk.is_published else "not recognised as the published one"
    what = f"trunk {trunk.net.title}, {origin} (sha256 {trunk.hash[:12]})"
    if linear is None:
        return f"without linear layers, input of LPIPS v{version}; {what}"
    layers = "as published" if linear.version else "not published ones"
    return f"LPIPS v{version}; linear layers {layers} (sha256 {linear.hash[:12]}); {what}"
