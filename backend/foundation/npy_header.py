"""Reads the header of an array of numpy (`.npy`), whatever a file contains; nothing in it is run as code."""

import warnings
from dataclasses import dataclass
from tokenize import TokenError
from typing import IO

import numpy as np

_NO_HEADER = (
    ValueError, LookupError, EOFError, TypeError, SyntaxError, TokenError, RecursionError, MemoryError,
)  # fmt: skip
"""Exceptions that numpy's reader of headers, which parses Python literals, raises for broken ones."""


class NoHeader(Exception):
    """The file does not begin as an array of numpy does."""


@dataclass(frozen=True)
class NpyHeader:
    """What a header claims of the array that follows it."""

    shape: tuple[int, ...]
    is_fortran: bool
    dtype: np.dtype


def read_npy_header(stream: IO[bytes]) -> NpyHeader:
    """Return the header at the stream's position, which is then after it.

    Raises:
        NoHeader: there is none, or one of a version that arrays of numbers and texts do not have.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of headers that Python 2 wrote
            version = np.lib.format.read_magic(stream)
            read = {
                (1, 0): np.lib.format.read_array_header_1_0,
                (2, 0): np.lib.format.read_array_header_2_0,
            }
            return NpyHeader(*read[version](stream))
    except _NO_HEADER as error:
        raise NoHeader(" ".join(str(error).split())[:100] or type(error).__name__) from None
