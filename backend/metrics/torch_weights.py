"""Weights in the formats of torch, read without running anything that a file contains.

A file of `torch.save` is a pickle, and unpickling may run any program; `torch.load(weights_only=True)`
refuses everything but tensors. CLIP is published as TorchScript, which torch reads together with its
program: here only the tensors are taken, by an unpickler that knows no class of Python.
"""

import hashlib
import io
import pickle
import re
import warnings
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backend.foundation.errors import InvalidInput
from backend.foundation.printable import printable
from backend.foundation.text_files import unreadable

if TYPE_CHECKING:
    import torch

_UNREADABLE = (
    OSError, EOFError, ValueError, RuntimeError, KeyError, TypeError, AttributeError, IndexError,
    AssertionError, MemoryError, OverflowError, ImportError, NotImplementedError, pickle.UnpicklingError,
    zipfile.BadZipFile,
)  # fmt: skip
"""Exceptions of torch, pickle and zipfile for what is no file of weights."""
_MOST_BYTES = 16 * 2**30


@dataclass(frozen=True)
class Weights:
    """The tensors of a file."""

    tensors: "dict[str, torch.Tensor]"
    sha256: str
    """Of the file."""
    source: str


def read_weights(path: Path) -> Weights:
    """Return the tensors of a file, by name: of a state dictionary, or of a TorchScript archive.

    Raises:
        NotFound: there is no such file.
        InvalidInput: it is no such file, or contains anything but tensors.
    """
    where = printable(path)
    try:
        size = path.stat().st_size
        if size > _MOST_BYTES:
            raise InvalidInput(f"{where} must be a file of weights; it has {size:,} bytes, too many")
        content = path.read_bytes()
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the format of the pickle
            found = _script_tensors(content) if _is_script(content) else _saved(content)
    except _UNREADABLE as error:
        raise InvalidInput(
            f"{where} must be a file of weights, as torch.save writes them; {_why(error)}"
        ) from None
    return Weights(_checked(found, where), hashlib.sha256(content).hexdigest(), where)


def _saved(content: bytes) -> Any:
    import torch

    return torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)


def _checked(found: Any, where: str) -> "dict[str, torch.Tensor]":
    import torch

    if not isinstance(found, dict) or not all(
        isinstance(name, str) and isinstance(value, torch.Tensor) for name, value in found.items()
    ):
        raise InvalidInput(
            f"{where} must hold tensors by name (a state dictionary), not {type(found).__name__}"
        )
    for name, value in found.items():
        if value.is_floating_point() and not bool(torch.isfinite(value).all()):
            raise InvalidInput(f"{where}: {name!a} has weights that are not finite numbers")
    return dict(found)


def _why(error: BaseException) -> str:
    """Return why a file is refused; torch's own message is a page of advice to load it nevertheless."""
    asked = re.search(r"GLOBAL (\S+)|it asks for (\S+)", str(error))
    if asked:
        return f"it asks to run {asked[1] or asked[2]}, and nothing but tensors is loaded"
    return "it is another kind of file, or cut off"


def _is_script(content: bytes) -> bool:
    """Return whether this is a TorchScript archive: a zip with `constants.pkl`, which `torch.save` lacks."""
    if not content.startswith(b"PK"):
        return False
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return any(name.endswith("/constants.pkl") for name in archive.namelist())


_DTYPES = {
    "DoubleStorage": "float64", "FloatStorage": "float32", "HalfStorage": "float16",
    "BFloat16Storage": "bfloat16",
    "LongStorage": "int64", "IntStorage": "int32", "ShortStorage": "int16", "CharStorage": "int8",
    "ByteStorage": "uint8", "BoolStorage": "bool",
}  # fmt: skip


class _Module:
    """Stands for an object of a class of the archive's own program: its attributes, and no program."""

    def __init__(self, *_: Any):
        self.attributes: dict[str, Any] = {}

    def __setstate__(self, state: Any) -> None:
        self.attributes = state if isinstance(state, dict) else {}


class _ScriptUnpickler(pickle.Unpickler):
    """Knows tensors, and makes anything of the archive's own classes a `_Module`; refuses all else."""

    def __init__(self, archive: zipfile.ZipFile, root: str):
        super().__init__(io.BytesIO(archive.read(f"{root}/data.pkl")))
        self._archive, self._root = archive, root

    def find_class(self, module: str, name: str) -> Any:
        if module.partition(".")[0] == "__torch__":
            return _Module
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _tensor
        if (module, name) == ("collections", "OrderedDict"):
            return dict
        if module == "torch" and name in _DTYPES:
            return _DTYPES[name]
        if module == "torch.jit._pickle" and name in ("build_intlist", "build_doublelist", "build_boollist"):
            return list
        raise pickle.UnpicklingError(f"it asks for {module}.{name}")

    def persistent_load(self, pid: Any) -> "torch.Tensor":
        import torch

        _, dtype, key, *_ = pid
        content = self._archive.read(f"{self._root}/data/{key}")
        if not content:
            return torch.empty(0, dtype=getattr(torch, dtype))
        return torch.frombuffer(bytearray(content), dtype=getattr(torch, dtype))


def _tensor(storage: "torch.Tensor", offset: int, shape: Any, stride: Any, *_: Any) -> "torch.Tensor":
    if any(step < 0 for step in (offset, *shape, *stride)):
        raise ValueError("a tensor has a negative size")
    return storage.as_strided(tuple(shape), tuple(stride), offset)  # refuses what lies outside the storage


def _script_tensors(content: bytes) -> "dict[str, torch.Tensor]":
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        (root,) = {name.partition("/")[0] for name in archive.namelist() if name.endswith("/data.pkl")}
        found = _ScriptUnpickler(archive, root).load()
    tensors: dict[str, Any] = {}
    _collect(found, "", tensors)
    return tensors


def _collect(value: Any, name: str, tensors: dict[str, Any]) -> None:
    """Put the tensors of a module and of the modules inside it into `tensors`, by their dotted names."""
    import torch

    if isinstance(value, torch.Tensor):
        tensors[name] = value.clone()
    elif isinstance(value, _Module):
        for key, part in value.attributes.items():
            _collect(part, f"{name}.{key}" if name else key, tensors)
