"""Calibration of LPIPS on the votes and pictures of a study, of its export, or of a tree like BAPPS."""

import hashlib
import platform
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from backend import __version__
from backend.analysis.agreement.votes import Votes
from backend.foundation.errors import InvalidInput
from backend.foundation.printable import printable
from backend.metrics.calibration.calibrate import Calibration, Options, calibrate, check_votes
from backend.metrics.calibration.schedule import PAPER
from backend.metrics.calibration.start import FILE, RANDOM, UNIFORM, Start, start_of
from backend.metrics.calibration.vectors import Vectors, moments, vectors_of
from backend.metrics.calibration.weights_file import weights_bytes
from backend.metrics.pairs.batches import measured
from backend.metrics.pairs.distances import Distance
from backend.metrics.pairs.lpips_weights import VERSIONS, Linear, hash_of, read_parts, read_trunk
from backend.metrics.pairs.nets import NETS
from backend.responses.item_pictures import ItemPictures

if TYPE_CHECKING:
    from backend.metrics.pairs.trunk import Trunk

_PIXELS, _MOMENTS = "reference", "moments"


@dataclass(frozen=True)
class Weights:
    """The weights that a calibration needs."""

    trunk: "Trunk"
    trunk_path: Path
    start: Start
    start_path: Path | None
    version: str
    """Of LPIPS: `0.1` or `0.0`."""
    linear: Linear | None
    """The linear layers to start from; None for a start without a file."""

    @property
    def data(self) -> dict[str, Any]:
        linear = self.linear
        return {
            "net": self.trunk.net.name,
            "lpips_version": self.version,
            "trunk": {
                "file": printable(self.trunk_path.name),
                "hash": self.trunk.hash,
                "is_published": self.trunk.is_published,
            },
            "start": {
                "kind": self.start.kind,
                "file": printable(self.start_path.name) if self.start_path else None,
                "hash": linear.hash if linear else None,
                "published_version": (linear.version or None) if linear else None,
            },
        }


def read_start(net: str, trunk: Path, start: str | None, version: str, options: Options) -> Weights:
    """Return the trunk and the weights to start from.

    Args:
        net: `alex`, `vgg` or `squeeze`.
        start: a file with linear layers, `uniform` or `random`; None for `random` if the schedule is the
            paper's, else `uniform`.
        version: of LPIPS; '' for that of a published start, else 0.1.

    Raises:
        NotInstalled: PyTorch is missing, or too old.
        NotFound, InvalidInput: a file is not there, or not what it must be; the start is of another version.
    """
    weights = read_trunk(trunk, net)
    kind = start or (RANDOM if options.schedule == PAPER else UNIFORM)
    if kind in (UNIFORM, RANDOM):
        made = start_of(kind, weights.net.widths, options.seed)
        return Weights(weights, trunk, made, None, version or VERSIONS[0], None)
    path = Path(kind)
    linear = read_parts(path).linear
    if linear is None or linear.net != net:
        what = f"those for {NETS[linear.net].title}" if linear else "none"
        raise InvalidInput(
            f"{printable(path)} must have the linear layers of LPIPS for {NETS[net].title}; it has {what}"
        )
    if version and linear.version and version != linear.version:
        raise InvalidInput(
            f"{printable(path)} has the published linear layers of LPIPS v{linear.version}, not v{version}"
        )
    made = start_of(FILE, weights.net.widths, options.seed, linear.weights)
    return Weights(weights, trunk, made, path, version or linear.version or VERSIONS[0], linear)


def calibration_of(
    votes: Votes,
    pictures: ItemPictures,
    weights: Weights,
    options: Options,
    progress: Callable[..., Iterable] | None = None,
) -> tuple[Calibration, bytes]:
    """Return a calibration, whose data say all that it came from, and its weights as a file's content.

    Raises:
        InvalidInput: the votes are of another kind or too few, an item has no pictures, or a picture cannot
            be read.
    """
    check_votes(votes)
    vectors, references = _vectors(votes, pictures, weights, progress)
    calibrated = calibrate(votes, references, vectors, weights.start, options, progress)
    content = weights_bytes(calibrated.weights)
    data = {
        **weights.data,
        **calibrated.data,
        "start": weights.data["start"],
        "weights": {"hash": hash_of(calibrated.weights), "sha256": hashlib.sha256(content).hexdigest()},
        "programs": _programs(),
    }
    return Calibration(calibrated.weights, data), content


def _vectors(
    votes: Votes, pictures: ItemPictures, weights: Weights, progress: Callable[..., Iterable] | None
) -> tuple[Vectors, list[str]]:
    """Return the vectors of items, and the hash of the pixels of each item's reference."""
    trunk = weights.trunk
    measure = partial(moments, trunk, version=weights.version)
    both = [Distance(_PIXELS, "", _hashes), Distance(_MOMENTS, "", measure, is_network=True)]
    distances = measured(pictures.of(votes).files, both, progress)
    return vectors_of(trunk.net.widths, distances[_MOMENTS]), [each.decode() for each in distances[_PIXELS]]


def _hashes(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Return the SHA-256 of the first picture of each item, shape (items,), of its size and its pixels."""
    return np.array(
        [
            hashlib.sha256(f"{picture.shape}".encode() + np.ascontiguousarray(picture).tobytes()).hexdigest()
            for picture in parts[0]
        ],
        "S64",
    )


def _programs() -> dict[str, str]:
    from importlib.metadata import version

    return {
        "openhype": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "torch": version("torch"),
    }
