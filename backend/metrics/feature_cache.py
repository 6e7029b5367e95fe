"""Cache of features: by the hash of a picture and the extractor, in SQLite files that may be removed.

`EXTRACTOR-HASH.sqlite` holds the features of one extractor, `pictures.sqlite` which picture a file showed
when it had this size and these times, so that a second run need not open it. The hash of a picture is that
of its pixels: files that differ in padding or encoder, but show the same, have the same features.

Several processes may use a cache at once, and any may be killed. Every row has a digest; what is damaged
counts as missing, and a file that is no database is made anew. A cache that cannot be written is no error.
"""

import hashlib
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from backend.foundation.file_permissions import make_folder, private
from backend.metrics.features import Extractor

_WAIT_S = 60
_AT_ONCE = 500
_DIGEST = 16
_SETTLED_NS = 20_000_000
"""A file changed again within a tick of the clock of its file system would look unchanged."""
_NOT_DAMAGED = {
    sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_NOMEM,
}  # fmt: skip
_T = TypeVar("_T")


@dataclass(frozen=True)
class Shown:
    """What a file shows."""

    key: bytes
    """Hash of size and pixels."""
    width: int
    height: int


def picture_key(pixels: np.ndarray) -> bytes:
    """Return the hash of a picture, uint8 of shape (height, width, 3)."""
    digest = hashlib.blake2b(repr(pixels.shape).encode(), digest_size=32)
    digest.update(np.ascontiguousarray(pixels).data)
    return digest.digest()


class FeatureCache:
    """The features of one extractor, by `picture_key`."""

    def __init__(self, folder: Path, extractor: Extractor):
        self._file = _File(
            folder / f"{extractor.hash}.sqlite",
            "CREATE TABLE IF NOT EXISTS features (picture BLOB PRIMARY KEY, vector BLOB, digest BLOB)",
        )

    def get(self, keys: Iterable[bytes]) -> dict[bytes, np.ndarray]:
        """Return the cached features, float32, of those pictures that have some."""
        rows = self._file.select("SELECT picture, vector, digest FROM features WHERE picture", [*keys])
        return {
            key: np.frombuffer(vector, "<f4")
            for key, vector, digest in rows
            if isinstance(vector, bytes) and len(vector) % 4 == 0 and _digest(key, vector) == digest
        }

    def put(self, features: Mapping[bytes, np.ndarray]) -> None:
        rows = [(key, values.astype("<f4").tobytes()) for key, values in features.items()]
        self._file.insert(
            "INSERT OR REPLACE INTO features VALUES (?, ?, ?)",
            [(key, vector, _digest(key, vector)) for key, vector in rows],
        )

    def close(self) -> None:
        self._file.close()


class PictureIndex:
    """What the files shown so far were seen to show, by their paths, sizes and times.

    Args:
        decoder: name and version of what decodes files; another one may decode them otherwise.
    """

    def __init__(self, folder: Path, decoder: str):
        self._decoder = decoder
        self._file = _File(
            folder / "pictures.sqlite",
            "CREATE TABLE IF NOT EXISTS pictures (path BLOB PRIMARY KEY, state TEXT, picture BLOB, "
            "width INTEGER, height INTEGER, digest BLOB)",
        )

    def get(self, paths: Sequence[Path]) -> dict[Path, Shown]:
        """Return what those files show that have not changed since they were put here."""
        by_name = {_name(path): path for path in paths}
        rows = self._file.select("SELECT * FROM pictures WHERE path", [*by_name])
        features = {}
        for name, state, key, width, height, digest in rows:
            path = by_name[name]
            if digest == _digest(*map(_bytes, (name, state, key, width, height))) and state == self._state(
                path
            ):
                features[path] = Shown(key, width, height)
        return features

    def put(self, shown: Mapping[Path, Shown], read_at_ns: int) -> None:
        """Store what files show, except of those that had just been changed when they were read.

        Args:
            read_at_ns: when the first of them was read, or before (`time.time_ns`).
        """
        rows = []
        for path, what in shown.items():
            state = self._state(path, read_at_ns - _SETTLED_NS)
            if state:
                row = (_name(path), state, what.key, what.width, what.height)
                rows.append((*row, _digest(*map(_bytes, row))))
        self._file.insert("INSERT OR REPLACE INTO pictures VALUES (?, ?, ?, ?, ?, ?)", rows)

    def close(self) -> None:
        self._file.close()

    def _state(self, path: Path, before_ns: int | None = None) -> str:
        """Return what changes when a file is written; '' if it is gone, or was changed after `before_ns`."""
        try:
            now = path.stat()
        except OSError:
            return ""
        if before_ns is not None and max(now.st_mtime_ns, now.st_ctime_ns) > before_ns:
            return ""
        return f"{now.st_size} {now.st_mtime_ns} {now.st_ctime_ns} {now.st_ino} {self._decoder}"


class _File:
    """An SQLite file with one table: opened when needed, made anew if damaged, else left alone."""

    def __init__(self, path: Path, table: str):
        self._path, self._table = path, table
        self._connection: sqlite3.Connection | None = None
        self._is_usable = True

    def select(self, query: str, keys: Sequence[bytes]) -> list[tuple]:
        """Return the rows of `query`, which ends at the column of keys, for these keys."""
        if not keys or not self._path.exists():
            return []

        def read(connection: sqlite3.Connection) -> list[tuple]:
            rows = []
            for start in range(0, len(keys), _AT_ONCE):
                some = keys[start : start + _AT_ONCE]
                rows += connection.execute(f"{query} IN ({','.join('?' * len(some))})", some).fetchall()
            return rows

        return self._guarded(read, [])

    def insert(self, statement: str, rows: Sequence[tuple]) -> None:
        def write(connection: sqlite3.Connection) -> None:
            with connection:
                connection.executemany(statement, rows)

        if rows:
            self._guarded(write, None)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _guarded(self, work: Callable[[sqlite3.Connection], _T], otherwise: _T) -> _T:
        """Return what `work` does with the connection; `otherwise` if the file cannot be used."""
        for _ in range(2):
            if not self._is_usable:
                break
            try:
                return work(self._opened())
            except (sqlite3.Error, OSError) as error:
                self.close()
                if isinstance(error, OSError) or error.sqlite_errorcode & 0xFF in _NOT_DAMAGED:
                    break
                self._remove()
        self._is_usable = False
        return otherwise

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            make_folder(self._path.parent)
            with open(self._path, "ab", opener=private):  # SQLite would create it readable by others
                pass
            self._connection = sqlite3.connect(self._path, timeout=_WAIT_S)
            self._connection.execute("PRAGMA synchronous = NORMAL")
            self._connection.execute(self._table)
        return self._connection

    def _remove(self) -> None:
        for path in (self._path.with_name(f"{self._path.name}-journal"), self._path):
            with suppress(OSError):
                path.unlink()


def read_time() -> int:
    """Return the time to pass to `PictureIndex.put`, taken before files are read."""
    return time.time_ns()


def _name(path: Path) -> bytes:
    return os.fsencode(path.absolute())


def _bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode(errors="surrogateescape")


def _digest(*parts: bytes) -> bytes:
    digest = hashlib.blake2b(digest_size=_DIGEST)
    for part in parts:
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.digest()
