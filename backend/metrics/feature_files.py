"""Files of features (`.npz`), as other programs and `openhype metrics --save-features` write them.

Arrays: `features` (pictures, dimensions), and if known `classes` (one text a picture), `extractor` (its
name), `hash` (SHA-256 of what determines its features, 64 hexadecimal digits) and `size` (size and filter
of its resize, as text). Nothing in a file is unpickled, and an array is read only after its header was
checked against the length of what follows it.
"""

import hashlib
import os
import re
import secrets
import struct
import tokenize
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from backend.foundation.counted_nouns import counted
from backend.foundation.errors import InvalidInput, brief
from backend.foundation.npy_header import NoHeader, read_npy_header
from backend.foundation.printable import escaped, printable
from backend.foundation.text_files import unreadable
from backend.metrics.features import Extractor, Features

_MOST_BYTES = 16 * 2**30
"""A larger array would hardly fit into memory; it is refused before it is read."""
_MOST_TEXT_BYTES = 2**20
_LONGEST_NAME = 100
_HASH = re.compile(r"[0-9a-f]{64}")
_STATISTICS = {"mu", "sigma"}
_UNREADABLE = (
    OSError, EOFError, ValueError, SyntaxError, RuntimeError, NotImplementedError, MemoryError, KeyError,
    TypeError, NoHeader, zipfile.BadZipFile, zlib.error, struct.error, tokenize.TokenError,
)  # fmt: skip
"""Exceptions of zipfile and numpy for damaged files."""


def read_features(path: Path, extractor_name: str = "") -> Features:
    """Return the features of a file.

    Args:
        extractor_name: what to call the extractor if the file does not say.

    Raises:
        NotFound: there is no such file.
        InvalidInput: it holds no features, or says not of which extractor they are.
    """
    where = printable(path)
    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        if isinstance(error, ValueError):
            raise unreadable(path, error) from None
        raise InvalidInput(
            f"{where} must be a file of features, .npz as numpy.savez writes it; it is no zip archive, "
            "or cut off"
        ) from None
    except OSError as error:
        raise unreadable(path, error) from None
    with archive:
        members = _members(archive, where)
        _check_members(where, members)
        values = _array(archive, members, "features", where, _MOST_BYTES)
        extractor = _extractor(archive, members, where, extractor_name)
        classes = _classes(archive, members, where, len(values)) if "classes" in members else ()
    return Features(_native(values), extractor, classes, where)


def write_features(path: Path, features: Features) -> None:
    """Write features into a file that `read_features` reads, atomically."""
    arrays: dict[str, Any] = {
        "features": features.values,
        "extractor": np.array(features.extractor.name),
        "hash": np.array(features.extractor.hash),
    }
    if features.extractor.size:
        arrays["size"] = np.array(features.extractor.size)
    if features.classes:
        arrays["classes"] = np.array(features.classes)
    partial = path.with_name(f".{secrets.token_hex(8)}.partial")
    try:
        with partial.open("xb") as file:
            np.savez(file, **arrays)
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def _members(archive: zipfile.ZipFile, where: str) -> dict[str, zipfile.ZipInfo]:
    """Return the arrays of the archive by name, each of which must be there once."""
    members: dict[str, zipfile.ZipInfo] = {}
    for info in archive.infolist():
        name = info.filename.removesuffix(".npy")
        if name in members:
            raise InvalidInput(f"{where} has two arrays called {brief(name)}; each needs a name of its own")
        members[name] = info
    return members


def _check_members(where: str, members: dict[str, zipfile.ZipInfo]) -> None:
    if "features" in members:
        return
    if members.keys() >= _STATISTICS:
        raise InvalidInput(
            f"{where} has only mean and covariance (mu, sigma), without the features: no interval, "
            "kernel distance, "
            "precision or recall follows from them, nor whether there were enough pictures; save the "
            "features "
            "themselves, as the array features (pictures, dimensions)"
        )
    names = ", ".join(brief(name) for name in sorted(members)[:5]) or "no array"
    raise InvalidInput(f"{where} must have the array features (pictures, dimensions), and has {names}")


def _array(
    archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], name: str, where: str, most_bytes: int
) -> np.ndarray:
    """Return an array of the archive, of the length that its header claims."""
    info = members[name]
    try:
        with archive.open(info) as file:
            header = read_npy_header(file)
            start = file.tell()
        shape, dtype = header.shape, header.dtype
        length = int(np.prod(shape, dtype=object)) * dtype.itemsize
        if dtype.hasobject:
            raise InvalidInput(
                f"{where}: {name} holds pickled Python objects, which are never loaded; {_plain(name)}"
            )
        if length > most_bytes:
            raise InvalidInput(
                f"{where}: {name} states {brief(shape)} of {dtype}, {length:,} bytes, more than the limit of "
                f"{most_bytes:,}"
            )
        if start + length != info.file_size:
            raise InvalidInput(
                f"{where}: {name} is cut off or damaged: its header states {length:,} bytes, and "
                f"{max(info.file_size - start, 0):,} follow"
            )
        with archive.open(info) as file:
            return np.lib.format.read_array(file, allow_pickle=False)
    except InvalidInput:
        raise
    except _UNREADABLE as error:
        why = " ".join(str(error).split())[:100] or type(error).__name__
        raise InvalidInput(f"{where}: {name} cannot be read as an array of numpy: {why}") from None


def _plain(name: str) -> str:
    if name == "features":
        return "save it as numbers, with numpy.savez(file, features=array.astype('float32'))"
    return f"save it as text, with {name}=numpy.array(values, dtype=str)"


def _native(values: np.ndarray) -> np.ndarray:
    """Return features as float32 or float64 of this machine; what is no number is left to `Features`."""
    if values.dtype.kind != "f":
        return values
    with np.errstate(over="ignore"):  # then infinite, which `Features` refuses
        return np.ascontiguousarray(values, np.float32 if values.dtype.itemsize <= 4 else np.float64)


def _extractor(
    archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], where: str, given: str
) -> Extractor:
    name, digest, size = (
        _text(archive, members, key, where) if key in members else "" for key in ("extractor", "hash", "size")
    )
    if given and name and given != name:
        raise InvalidInput(f"{where} has features of {name!r}, not of {given!r} (--extractor-name)")
    name = name or (given and _decoded(given, "--extractor-name"))
    if not name:
        raise InvalidInput(
            f"{where} does not say of which extractor its features are: save its name as the array extractor "
            "(and a SHA-256 of its weights and settings as hash), or give it with --extractor-name"
        )
    if digest and not _HASH.fullmatch(digest):
        raise InvalidInput(f"{where}: hash must be a SHA-256 of 64 hexadecimal digits, not {brief(digest)}")
    return Extractor(name, digest or hashlib.sha256(f"features named {name}".encode()).hexdigest(), size)


def _text(archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], name: str, where: str) -> str:
    value = _array(archive, members, name, where, _MOST_TEXT_BYTES)
    if value.size != 1 or value.dtype.kind not in "US":
        raise InvalidInput(f"{where}: {name} must be one text, not {value.dtype} of shape {value.shape}")
    return _decoded(value.reshape(-1)[0], f"{where}: {name}")


def _classes(
    archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], where: str, pictures: int
) -> tuple[str, ...]:
    values = _array(archive, members, "classes", where, _MOST_BYTES)
    if values.ndim != 1 or values.dtype.kind not in "USiu":
        raise InvalidInput(
            f"{where}: classes must be one text or whole number a picture, not {values.dtype} of shape "
            f"{values.shape}"
        )
    if len(values) != pictures:
        raise InvalidInput(
            f"{where}: expected a class for each of {counted(pictures, 'picture')}, got {len(values):,}"
        )
    names = {value: _decoded(value, f"{where}: a class") for value in set(values.tolist())}
    return tuple(names[value] for value in values.tolist())


def _decoded(value: object, where: str) -> str:
    """Return a text that can be printed, from a text, bytes or a whole number of an array."""
    try:
        text = value.decode() if isinstance(value, bytes) else str(value)
    except UnicodeDecodeError:
        raise InvalidInput(f"{where} must be UTF-8, not {brief(value)}") from None
    if len(text) > _LONGEST_NAME:
        raise InvalidInput(f"{where} must be a text of at most {_LONGEST_NAME} characters, not {brief(text)}")
    if not text or escaped(text) != text or text != text.strip():
        raise InvalidInput(f"{where} must be plain text without blanks at its ends, not {brief(text)}")
    return text
