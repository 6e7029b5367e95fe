"""Reads state dicts as PyTorch writes them, without PyTorch: the zip format, and the format before 1.6.

The zip format has a pickle `NAME/data.pkl` and a file `NAME/data/KEY` for each storage. The older format is
a sequence: a magic number, the protocol version and the writer's machine as pickles; the pickle of the data;
the pickled list of the storages' keys; and for each of them the number of elements (64 bits) and the
elements, all in little-endian order. A tensor is a view on a storage: offset, sizes and strides in elements.

TorchScript is the zip format with programs beside it, which are not looked at; its pickle has objects of
classes of these programs, of which only the attributes are read.
"""

import math
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from io import BytesIO
from mmap import mmap
from typing import Any

import numpy as np

from backend.foundation.errors import brief
from backend.metrics.weights.pickles import BadPickle, Built, Global, entries, read_pickle

MAGIC = 0x1950A86A20F9469CFC6C
_PROTOCOL = 1001
_MOST_PICKLE_BYTES = 1 << 26
_MOST_DIMENSIONS = 8
_DTYPES = {
    "torch.FloatStorage": "f4",
    "torch.DoubleStorage": "f8",
    "torch.HalfStorage": "f2",
    "torch.LongStorage": "i8",  # counters of batch normalisation
    "torch.IntStorage": "i4",
    "torch.ShortStorage": "i2",
    "torch.CharStorage": "i1",
    "torch.ByteStorage": "u1",
    "torch.BoolStorage": "?",
}
_KINDS = ", ".join(name.removeprefix("torch.") for name in _DTYPES)


@dataclass(frozen=True)
class Storage:
    """A one-dimensional array in the file."""

    key: str
    dtype: str
    count: int
    start: int = 0
    """First element within the stored array, for the views of very old files."""


@dataclass(frozen=True)
class Tensor:
    """A tensor of a state dict; `read_tensor` returns its values."""

    storage: Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    read: Callable[[Storage], bytes]
    order: str = "<"

    def values(self) -> np.ndarray:
        """Return the values as an array of the machine's byte order.

        Raises:
            BadPickle: the tensor does not lie within its storage, or the storage within the file.
        """
        dtype = np.dtype(f"{self.order}{self.storage.dtype}")
        data = self.read(self.storage)
        if len(data) != self.storage.count * dtype.itemsize:
            raise BadPickle(
                f"a storage of it must have {self.storage.count * dtype.itemsize:,} bytes, not {len(data):,}"
            )
        base = np.frombuffer(data, dtype)[self.offset :]
        strides = tuple(step * dtype.itemsize for step in self.strides)
        view = np.lib.stride_tricks.as_strided(base, self.shape, strides, writeable=False)
        return np.array(view, dtype.newbyteorder("="))


class _Module(Built, dict):
    """Stands for an object of a class of TorchScript: its attributes by name."""

    def build(self, state: Any) -> None:
        """Take the attributes."""
        if type(state) is not dict:
            raise BadPickle("it has a module of TorchScript without attributes")
        self.update(state)


def read_zip(archive: zipfile.ZipFile) -> Any:
    """Return what is in a file of the zip format, with a `Tensor` in place of each tensor.

    Raises:
        BadPickle: it is no such file.
    """
    (name,) = [name for name in archive.namelist() if name.endswith("data.pkl")][:1] or [""]
    root = name.removesuffix("data.pkl")
    order = _order(archive, f"{root}byteorder")

    def stored(storage: Storage) -> bytes:
        return _member(archive, f"{root}data/{storage.key}")

    source = BytesIO(_member(archive, name, _MOST_PICKLE_BYTES))
    return read_pickle(source, _calls(stored, order), _persistent)


def read_legacy(view: mmap) -> Any:
    """Return what is in a file of the older format, with a `Tensor` in place of each tensor.

    Raises:
        BadPickle: it is no such file.
    """
    view.seek(0)
    magic, protocol, machine = (read_pickle(view, {}) for _ in range(3))
    if magic != MAGIC or protocol != _PROTOCOL:
        raise BadPickle(f"expected version {_PROTOCOL} of PyTorch's format, got {protocol!r:.40}")
    if not isinstance(machine, dict) or machine.get("little_endian") is not True:
        raise BadPickle("it was written on a machine that is not little-endian")
    places: dict[str, tuple[int, int, str]] = {}

    def stored(storage: Storage) -> bytes:
        start, count, _ = places[storage.key]
        size = np.dtype(storage.dtype).itemsize
        if storage.start + storage.count > count:
            raise BadPickle("a tensor of it lies outside of its storage")
        return view[start + storage.start * size : start + (storage.start + storage.count) * size]

    types: dict[str, str] = {}

    def persistent(key: Any) -> Storage:
        storage = _persistent(key)
        if types.setdefault(storage.key, storage.dtype) != storage.dtype:
            raise BadPickle("a storage of it has two types")
        return storage

    found = read_pickle(view, _calls(stored, "<"), persistent)
    _place(view, read_pickle(view, {}), types, places)
    return found


def _place(view: mmap, keys: Any, types: Mapping[str, str], places: dict[str, tuple[int, int, str]]) -> None:
    """Find where each storage stands; all must lie within the file."""
    if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
        raise BadPickle("its list of storages is broken")
    if {*keys} != {*types} or len({*keys}) != len(keys):
        raise BadPickle("its list of storages is not that of its tensors")
    for key in keys:
        head = view.read(8)
        count, start = int.from_bytes(head, "little"), view.tell()
        end = start + count * np.dtype(types[key]).itemsize
        if len(head) < 8 or end > len(view):
            raise BadPickle("it is truncated: a storage ends after the end of the file")
        places[key] = (start, count, types[key])
        view.seek(end)


def _order(archive: zipfile.ZipFile, name: str) -> str:
    """Return `<` or `>`; files of PyTorch before 2.1 do not say, and are little-endian."""
    text = _member(archive, name, 16) if name in archive.namelist() else b"little"
    if text not in (b"little", b"big"):
        raise BadPickle(f"its byte order must be little or big, not {text!r}")
    return "<" if text == b"little" else ">"


def _member(archive: zipfile.ZipFile, name: str, most: int = 1 << 40) -> bytes:
    """Return a file of the archive, which PyTorch does not compress, so that it can't exceed the archive."""
    try:
        info = archive.getinfo(name)
        if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 1:
            raise BadPickle(
                f"its part {brief(name)} is compressed or encrypted, as torch.save never writes it"
            )
        if info.file_size > most:
            raise BadPickle(f"its part {brief(name)} has {info.file_size:,} bytes, more than {most:,}")
        return archive.read(info)
    except KeyError:
        raise BadPickle(f"its part {brief(name)} is missing") from None
    except (zipfile.BadZipFile, EOFError, OSError, NotImplementedError, MemoryError) as error:
        raise BadPickle(f"its part {brief(name)} is broken: {brief(str(error))}") from None


def _persistent(key: Any) -> Storage:
    """Return the storage that a persistent id names."""
    if not isinstance(key, tuple) or len(key) not in (5, 6) or key[0] != "storage":
        raise BadPickle("it refers to data that are no storage")
    _, kind, name, _, count, *views = key
    if not isinstance(kind, Global) or kind.name not in _DTYPES:
        what = kind.name if isinstance(kind, Global) else type(kind).__name__
        raise BadPickle(f"it has a storage of type {what!r:.60}; {_KINDS} are expected")
    if not isinstance(name, str) or not _is_count(count):
        raise BadPickle("it has a storage without a name or size")
    start = 0
    if views and views[0] is not None:
        view = views[0]
        if not isinstance(view, tuple) or len(view) != 3 or not all(map(_is_count, view[1:])):
            raise BadPickle("it has a broken view on a storage")
        _, start, count = view
    return Storage(name, _DTYPES[kind.name], count, start)


def _calls(stored: Callable[[Storage], bytes], order: str) -> Mapping[str, Callable[..., Any]]:
    """Return what the pickle of a state dict calls."""

    def tensor(storage: Any, offset: Any, shape: Any, strides: Any, *_: Any) -> Tensor:
        if not isinstance(storage, Storage) or not _is_count(offset):
            raise BadPickle("it has a tensor without a storage")
        _check_view(storage, offset, shape, strides)
        return Tensor(storage, offset, shape, strides, stored, order)

    def parameter(data: Any, *_: Any) -> Tensor:
        if not isinstance(data, Tensor):
            raise BadPickle("it has a parameter that is no tensor")
        return data

    def module(*_: Any) -> _Module:
        return _Module()

    def numbers(found: Any, *_: Any) -> Any:
        return found

    return {
        "collections.OrderedDict": entries,
        "__torch__.*": module,
        **{f"torch.jit._pickle.build_{kind}list": numbers for kind in ("int", "double", "bool", "tensor")},
        "torch._utils._rebuild_tensor": tensor,
        "torch._utils._rebuild_tensor_v2": tensor,
        "torch._utils._rebuild_parameter": parameter,
    }


def _check_view(storage: Storage, offset: int, shape: Any, strides: Any) -> None:
    for each in (shape, strides):
        if not isinstance(each, tuple) or len(each) > _MOST_DIMENSIONS or not all(map(_is_count, each)):
            raise BadPickle("it has a tensor whose sizes or strides are no short list of counts")
    last = offset + sum((size - 1) * step for size, step in zip(shape, strides, strict=True))
    if math.prod(shape) > storage.count or (0 not in shape and last >= storage.count):
        raise BadPickle(
            f"it has a tensor of shape {shape!r:.80}, which does not lie within its storage of "
            f"{storage.count:,} numbers"
        )


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 1 << 40
