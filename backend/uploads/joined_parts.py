"""The numbered parts of an upload, read as one file."""

import io
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path
from typing import BinaryIO

_BUFFER = 256 * 1024


@contextmanager
def open_archive(archive: Path) -> Iterator[BinaryIO]:
    """Open an archive for reading: a file, or a folder of its parts, named by number from 0."""
    if not archive.is_dir():
        with archive.open("rb") as file:
            yield file
        return
    with JoinedParts(archive) as joined, io.BufferedReader(joined, _BUFFER) as file:
        yield file


class JoinedParts(io.RawIOBase):
    """The parts in a folder as one file to read; one part is open at a time."""

    def __init__(self, folder: Path):
        super().__init__()
        count = sum(path.name.isdecimal() for path in folder.iterdir())
        self._paths = [folder / str(number) for number in range(count)]
        self._starts = [0, *accumulate(path.stat().st_size for path in self._paths)]
        self._at, self._number = 0, -1
        self._file: io.FileIO | None = None

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._starts[-1]}[whence]
        self._at = max(0, base + offset)
        return self._at

    def readinto(self, buffer) -> int:
        if self._at >= self._starts[-1]:
            return 0
        number = bisect_right(self._starts, self._at) - 1
        file = self._file
        if file is None or number != self._number:
            file = self._open(number)
        file.seek(self._at - self._starts[number])
        count = file.readinto(buffer)
        self._at += count
        return count

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
        super().close()

    def _open(self, number: int) -> io.FileIO:
        if self._file is not None:
            self._file.close()
        self._file, self._number = io.FileIO(self._paths[number]), number
        return self._file
