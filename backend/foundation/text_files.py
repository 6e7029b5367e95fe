"""Reading of text files that people write by hand, with errors that say what to do."""

from pathlib import Path
from typing import TextIO

from backend.foundation.errors import InvalidInput, NotFound, OpenhypeError, reason

MOST_BYTES = 2**20
_OTHERS = {
    b"\xff\xfe": "UTF-16 (Excel's Unicode Text)",
    b"\xfe\xff": "UTF-16",
    b"\x1f\x8b": "compressed by gzip",
    b"PK\x03\x04": "a zip archive or a workbook such as .xlsx",
}
"""By their first bytes, what files are that are taken for text."""


def read_text(path: Path, most_bytes: int = MOST_BYTES) -> str:
    """Return the text of a UTF-8 file.

    Raises:
        NotFound: there is no such file.
        InvalidInput: it cannot be read, is longer than `most_bytes`, or is not UTF-8.
    """
    try:
        with path.open("rb") as file:
            data = file.read(most_bytes + 1)
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from None
    if len(data) > most_bytes:
        raise InvalidInput(f"{path} must be a text of at most {most_bytes:,} bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _bad_byte(path, data, line, data[error.start]) from None


def open_text(path: Path) -> TextIO:
    """Return a UTF-8 file opened for reading, with line ends as they are.

    Raises:
        NotFound: there is no such file.
        InvalidInput: it cannot be read.
    """
    try:
        return path.open(encoding="utf-8-sig", newline="")
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from None


def not_utf8(path: Path) -> InvalidInput:
    """Return the error for a file that is not UTF-8, with the first line that is invalid."""
    with path.open("rb") as file:
        first = file.peek(4)
        for line, text in enumerate(file, start=1):
            try:
                text.decode("utf-8")
            except UnicodeDecodeError as error:
                return _bad_byte(path, first, line, text[error.start])
    return InvalidInput(f"{path} must be UTF-8 text")


def _bad_byte(path: Path, data: bytes, line: int, byte: int) -> InvalidInput:
    """Return the error for a file that begins with `data` and has a byte that is not UTF-8."""
    if other := next((what for start, what in _OTHERS.items() if data.startswith(start)), None):
        return InvalidInput(f"{path} line {line}: must be UTF-8 text, and is {other}; save it as CSV UTF-8")
    return InvalidInput(f"{path} line {line}: must be UTF-8 text, not the byte 0x{byte:02x}")


def unreadable(path: Path, error: OSError | ValueError) -> OpenhypeError:
    """Return the error for a file that could not be opened; a name with a zero byte causes a ValueError."""
    if isinstance(error, FileNotFoundError):
        return NotFound(f"there is no file {path}")
    why = reason(error) if isinstance(error, OSError) else "no file can be called so"
    return InvalidInput(f"{path} cannot be read: {why}")
