"""Files of weights by PyTorch, which reads them as data: state dicts in both its formats, and TorchScript.

`torch.load(weights_only=True)` makes tensors and containers of them, and calls nothing else that a file
names. Versions before 2.10 could be made to run code all the same (CVE-2025-32434, CVE-2026-24747), so they
are refused. The programs of TorchScript are not read: only the attributes of its modules.
"""

import io
import pickle
import struct
import warnings
import zipfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from backend.foundation.errors import InvalidInput, NotFound, NotInstalled, brief, reason
from backend.foundation.optional_packages import check, install_command
from backend.foundation.printable import printable

if TYPE_CHECKING:
    import torch

FORMAT = "weights as torch.save writes them (.pth, .pt)"
_SAFE = (2, 10)
"""The first version of PyTorch without known ways to run code from weights."""
_OLD = pickle.dumps(0x1950A86A20F9469CFC6C, 2)
"""How files of the format before 1.6 begin; later ones are zip archives."""
_MOST_SHARED = 8
"""Tensors may share their numbers, but not so that together they are this many times larger than the file."""
_ERRORS = (
    pickle.UnpicklingError, RuntimeError, EOFError, LookupError, ValueError, TypeError, AttributeError,
    AssertionError, OverflowError, MemoryError, struct.error, zipfile.BadZipFile,
)  # fmt: skip
"""What PyTorch raises of files that are broken."""


class _Unfit(Exception):
    """A file that PyTorch may read, but that has no weights as they are used here."""


class _Module(dict):
    """Stands for an object of a class of TorchScript: its attributes by name."""

    def __setstate__(self, attributes: Any) -> None:
        self.update(attributes)


def check_torch(what: str) -> None:
    """Raise NotInstalled if PyTorch is missing, or is a version that weights can make run code."""
    check(what, "torch")
    installed = version("torch")
    if tuple(map(int, installed.split(".")[:2])) < _SAFE:
        raise NotInstalled(
            f"{what} needs torch {'.'.join(map(str, _SAFE))} or newer, not {installed}, in which a file of "
            f"weights can run code; run: {install_command('torch')}"
        )


def read_weights(path: Path) -> "dict[str, torch.Tensor]":
    """Return the tensors of a file by name, in the order of the file; names of nested parts join with dots.

    Raises:
        NotFound: there is no such file.
        InvalidInput: it is no file of weights, it is broken, or it would run code.
        NotInstalled: PyTorch is missing, or too old.
    """
    check_torch(f"reading {printable(path)}")
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "is not there"
        raise (InvalidInput if path.exists() else NotFound)(f"{printable(path)} {what}; expected {FORMAT}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of old formats, and of broken files
            return _tensors_of(path)
    except OSError as error:
        raise InvalidInput(f"{printable(path)} cannot be read: {reason(error)}") from None
    except _Unfit as error:
        raise InvalidInput(f"{printable(path)} cannot be read as weights: {error}") from None
    except _ERRORS as error:
        raise InvalidInput(
            f"{printable(path)} cannot be read as weights: PyTorch says {_sentence(error)}; expected {FORMAT}"
        ) from None


def _tensors_of(path: Path) -> "dict[str, torch.Tensor]":
    import torch

    size, source = path.stat().st_size, cast(Any, path)
    names: list[str] = []
    with path.open("rb") as file:
        head = file.read(len(_OLD))
    if not head.startswith((b"PK", _OLD)):
        raise _Unfit(f"expected {FORMAT}, got a file that begins with {head!r}")
    if head != _OLD:
        with zipfile.ZipFile(path) as archive:
            parts = [info for info in archive.infolist() if not _is_program(info.filename)]
            if sum(info.file_size for info in parts) > size:
                raise _Unfit("its parts are compressed, as torch.save never writes them, or overlap")
            if damaged := archive.testzip():
                raise _Unfit(f"its part {brief(damaged)} is damaged")
            if any(name.endswith("/constants.pkl") for name in archive.namelist()):
                source = _without_programs(archive)
                names = torch.serialization.get_unsafe_globals_in_checkpoint(source)
                source.seek(0)
    modules = [(_Module, name) for name in names if name.startswith("__torch__.")]
    lists = [(list, name) for name in names if name.startswith("torch.jit._pickle.build_")]
    with torch.serialization.safe_globals([*modules, *lists]):
        content = torch.load(source, map_location="cpu", weights_only=True)
    if not isinstance(content, dict):
        raise _Unfit(f"it has a {type(content).__name__}, not a dictionary of tensors")
    if not (tensors := dict(_named(content, "", set()))):
        raise _Unfit("it has no tensors")
    if any(tensor.layout is not torch.strided or tensor.is_quantized for tensor in tensors.values()):
        raise _Unfit("it has tensors that are sparse or quantized")
    if sum(tensor.nbytes for tensor in tensors.values()) > _MOST_SHARED * size:
        raise _Unfit("its tensors are many times larger than the file")
    return tensors


def _is_program(name: str) -> bool:
    """Return whether a part of an archive is a program of TorchScript; others are never compressed."""
    return name.partition("/")[2].startswith("code/")


def _without_programs(archive: zipfile.ZipFile) -> io.BytesIO:
    """Return an archive of TorchScript as one of torch.save: without its programs and their constants."""
    copy = io.BytesIO()
    with zipfile.ZipFile(copy, "w") as out:
        for name in archive.namelist():
            root, _, part = name.partition("/")
            if part in ("data.pkl", "version", "byteorder") or part.startswith("data/"):
                out.writestr(f"{root}/{part}", archive.read(name))
    copy.seek(0)
    return copy


def _named(content: dict, prefix: str, seen: set[int]) -> "Iterator[tuple[str, torch.Tensor]]":
    """Yield the tensors in nested dictionaries, each of which counts once, wherever else it stands."""
    import torch

    seen.add(id(content))
    for key, value in content.items():
        if isinstance(value, torch.Tensor):
            yield f"{prefix}{key}", value.detach()
        elif isinstance(value, dict) and id(value) not in seen:
            yield from _named(value, f"{prefix}{key}.", seen)


def _sentence(error: BaseException) -> str:
    """Return what is wrong with a file without PyTorch's advice, which is to trust it."""
    lines = str(error).rpartition("WeightsUnpickler error: ")[2].splitlines()
    text = next((line for line in lines if line and not line.startswith("Weights only load failed")), "")
    return brief(
        f"{type(error).__name__}: {text.partition(' Please ')[0].partition(' was not an allowed')[0]}"
    )
