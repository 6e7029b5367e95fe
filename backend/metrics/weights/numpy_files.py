"""Reads arrays of numpy from `.npz` files and from pickles of (nested) dictionaries of arrays."""

import io
import math
import zipfile
from collections.abc import Callable, Mapping
from mmap import mmap
from typing import Any

import numpy as np

from backend.foundation.errors import brief
from backend.foundation.npy_header import NoHeader, read_npy_header
from backend.metrics.weights.pickles import BadPickle, Built, Global, entries, read_pickle

_FLOATS = ("f2", "f4", "f8")
_MOST_BYTES = 1 << 32


class PickledArray(Built):
    """An array of a pickle; `values` after it got its state."""

    def __init__(self) -> None:
        self._made: np.ndarray | None = None

    def build(self, state: Any) -> None:
        """Take version, shape, type, whether the order is Fortran's, and the bytes."""
        if not isinstance(state, tuple) or len(state) != 5:
            raise BadPickle("it has an array with a broken state")
        _, shape, dtype, is_fortran, data = state
        self._made = _array(data, dtype, shape, "F" if is_fortran else "C")

    def values(self) -> np.ndarray:
        """Return the array.

        Raises:
            BadPickle: it never got its state.
        """
        if self._made is None:
            raise BadPickle("it has an array without values")
        return self._made.astype(self._made.dtype.newbyteorder("="), copy=False)


class _Dtype(Built):
    """The type of an array's elements."""

    def __init__(self, code: Any, *_: Any) -> None:
        if code not in _FLOATS:
            raise BadPickle(f"it has an array of type {code!r:.40}; floating-point numbers are expected")
        self.code, self.order = code, "="

    def build(self, state: Any) -> None:
        """Take version and byte order."""
        if not isinstance(state, tuple) or len(state) < 2 or state[1] not in ("<", ">", "="):
            raise BadPickle("it has an array of unknown byte order")
        self.order = state[1]


def read_numpy_pickle(view: mmap) -> Any:
    """Return the value of a file that is a pickle, with a `PickledArray` in place of each array.

    Raises:
        BadPickle: it has other objects than numbers, texts, dictionaries and arrays.
    """
    return read_pickle(view, _CALLS, most_text=len(view))


def read_npz(archive: zipfile.ZipFile) -> Mapping[str, np.ndarray]:
    """Return the arrays of an `.npz` file by name.

    Raises:
        BadPickle: a part is no array of floating-point numbers.
    """
    if (size := sum(info.file_size for info in archive.infolist())) > _MOST_BYTES:
        raise BadPickle(f"its arrays have {size:,} bytes, more than {_MOST_BYTES:,}")
    return {info.filename.removesuffix(".npy"): _read_npy(archive, info) for info in archive.infolist()}


def _read_npy(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> np.ndarray:
    where = f"its part {brief(info.filename)}"
    try:
        stream = io.BytesIO(archive.read(info))
    except (zipfile.BadZipFile, EOFError, OSError, NotImplementedError, RuntimeError, MemoryError) as error:
        raise BadPickle(f"{where} is broken: {brief(str(error))}") from None
    try:
        header = read_npy_header(stream)
    except NoHeader:
        raise BadPickle(f"{where} is no array of numpy") from None
    shape, dtype = header.shape, header.dtype
    if dtype.kind != "f":
        raise BadPickle(f"{where} is an array of {dtype}; floating-point numbers are expected")
    body = stream.read()
    if len(body) != math.prod(shape) * dtype.itemsize:
        raise BadPickle(f"{where} has {len(body):,} bytes, which are no array of shape {shape!r:.80}")
    made = np.frombuffer(body, dtype).reshape(shape, order="F" if header.is_fortran else "C")
    return made.astype(dtype.newbyteorder("="))


def _array(data: Any, dtype: Any, shape: Any, order: Any = "C") -> np.ndarray:
    """Return an array that was given by its bytes, if they are as many as it has."""
    is_shape = isinstance(shape, tuple) and len(shape) <= 8 and all(type(n) is int and n >= 0 for n in shape)
    if not isinstance(dtype, _Dtype) or not isinstance(data, bytes | bytearray) or not is_shape:
        raise BadPickle("it has an array without type, shape or bytes")
    kind = np.dtype(f"{dtype.order}{dtype.code}")
    if len(data) != math.prod(shape) * kind.itemsize:
        raise BadPickle(f"it has {len(data):,} bytes for an array of {kind} of shape {shape!r:.80}")
    return np.frombuffer(data, kind).reshape(shape, order="F" if order == "F" else "C")


def _reconstruct(kind: Any, *_: Any) -> PickledArray:
    if not isinstance(kind, Global) or kind.name != "numpy.ndarray":
        raise BadPickle("it has an array of an unknown class")
    return PickledArray()


def _from_buffer(data: Any, dtype: Any, shape: Any, order: Any = "C", *_: Any) -> PickledArray:
    made = PickledArray()
    made.build((1, shape, dtype, order == "F", data))
    return made


def _encoded(text: Any, encoding: Any = "") -> bytes:
    """Return bytes that a pickle of an early protocol has as text."""
    if not isinstance(text, str) or encoding != "latin1":
        raise BadPickle("it has bytes in an unknown form")
    return text.encode("latin1")


_CALLS: Mapping[str, Callable[..., Any]] = {
    "collections.OrderedDict": entries,
    "_codecs.encode": _encoded,
    "numpy.dtype": _Dtype,
    **{
        f"numpy.{core}.{name}": call
        for core in ("core", "_core")
        for name, call in (("multiarray._reconstruct", _reconstruct), ("numeric._frombuffer", _from_buffer))
    },
}
