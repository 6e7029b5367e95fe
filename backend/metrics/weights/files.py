"""Reads a file of weights, whatever its format, as arrays by name; nothing in a file is run as code."""

import math
import mmap
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from backend.foundation.errors import InvalidInput, NotFound, brief, reason
from backend.foundation.printable import printable
from backend.metrics.weights.numpy_files import PickledArray, read_npz, read_numpy_pickle
from backend.metrics.weights.pickles import BadPickle, read_pickle
from backend.metrics.weights.safetensors_files import is_safetensors, read_safetensors
from backend.metrics.weights.torch_files import MAGIC, Tensor, read_legacy, read_zip

FORMATS = "PyTorch (.pth, .pt), safetensors, numpy (.npz), or a pickle of arrays of numpy"
_MOST_ARRAYS = 20_000
_DEEPEST = 12
_MOST_SHARED = 8
_PICKLE = b"\x80"


def read_weights(path: Path, is_wanted: Callable[[str], bool] = lambda name: True) -> dict[str, np.ndarray]:
    """Return the arrays of a file by name, in the order of the file; names of nested parts join with dots.

    Args:
        is_wanted: whether the array of a name is read.

    Raises:
        NotFound: there is no such file.
        InvalidInput: it is no file of weights, it is broken, or it would run code.
    """
    path = Path(path)
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "is not there"
        raise (InvalidInput if path.exists() else NotFound)(
            f"{printable(path)} {what}; expected a file of weights: {FORMATS}"
        )
    try:
        return _read(path, is_wanted)
    except BadPickle as error:
        raise InvalidInput(f"{printable(path)} cannot be read as weights: {error}") from None
    except OSError as error:
        raise InvalidInput(f"{printable(path)} cannot be read: {reason(error)}") from None


def _read(path: Path, is_wanted: Callable[[str], bool]) -> dict[str, np.ndarray]:
    if path.stat().st_size == 0:
        raise BadPickle("it is empty")
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
        head = view[:16]
        if head.startswith(b"PK"):
            return _read_archive(path, is_wanted)
        if is_safetensors(head):
            return _flat(read_safetensors(view), is_wanted)
        if head.startswith(_PICKLE):
            return _flat(_read_pickles(view), is_wanted, len(view))
    raise BadPickle(f"expected {FORMATS}, got a file that begins with {head!r}")


def _read_archive(path: Path, is_wanted: Callable[[str], bool]) -> dict[str, np.ndarray]:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            if any(name.endswith("data.pkl") for name in names):
                return _flat(read_zip(archive), is_wanted, path.stat().st_size)
            if names and all(name.endswith(".npy") for name in names):
                return _flat(read_npz(archive), is_wanted)
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise BadPickle(f"it is a broken zip archive: {brief(str(error))}") from None
    raise BadPickle(f"expected {FORMATS}, got a zip archive of other files")


def _read_pickles(view: mmap.mmap) -> Any:
    """Return what a pickle has, or a file of PyTorch's older format, which begins with a pickled number."""
    try:
        is_torch = read_pickle(view, {}) == MAGIC
    except BadPickle:
        is_torch = False
    view.seek(0)
    return read_legacy(view) if is_torch else read_numpy_pickle(view)


def _flat(
    found: Any, is_wanted: Callable[[str], bool], file_bytes: float = math.inf
) -> dict[str, np.ndarray]:
    """Return the arrays in nested dictionaries by their dotted names; other values are left out.

    Arrays may share their numbers in a file of `file_bytes`, but not so often that memory would not suffice.
    """
    if not isinstance(found, Mapping):
        raise BadPickle(f"expected a dictionary of arrays, got {type(found).__name__}")
    flat: dict[str, np.ndarray] = {}
    waiting, count, size = [("", found, 0)], 0, 0
    while waiting:
        name, value, depth = waiting.pop()
        if isinstance(value, Mapping):
            count += len(value)
            if depth > _DEEPEST or count > _MOST_ARRAYS:
                raise BadPickle(f"it nests dictionaries too deeply, or has more than {_MOST_ARRAYS:,} arrays")
            inner = [(f"{name}.{key}" if name else str(key), each, depth + 1) for key, each in value.items()]
            waiting += inner[::-1]
        elif is_wanted(name) and isinstance(value, np.ndarray | Tensor | PickledArray):
            flat[name] = value if isinstance(value, np.ndarray) else value.values()
            if (size := size + flat[name].nbytes) > _MOST_SHARED * file_bytes:
                raise BadPickle("its arrays are many times larger than the file")
    return flat
