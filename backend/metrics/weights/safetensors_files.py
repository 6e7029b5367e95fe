"""Reads tensors from files of the safetensors format: a JSON header, then the numbers."""

import json
import math
from collections.abc import Mapping
from mmap import mmap
from typing import Any

import numpy as np

from backend.metrics.weights.pickles import BadPickle

_MOST_HEADER_BYTES = 100_000_000
"""The limit of the format."""
_DTYPES = {"F16": "<f2", "F32": "<f4", "F64": "<f8", "I64": "<i8", "I32": "<i4", "U8": "u1", "BOOL": "?"}


def is_safetensors(head: bytes) -> bool:
    """Return whether the first bytes of a file are the length of a header, and its beginning."""
    return len(head) > 8 and head[8:9] == b"{" and int.from_bytes(head[:8], "little") <= _MOST_HEADER_BYTES


def read_safetensors(view: mmap) -> Mapping[str, np.ndarray]:
    """Return the arrays of a file by name.

    Raises:
        BadPickle: the header is broken, or an array does not lie within the file.
    """
    length = int.from_bytes(view[:8], "little")
    try:
        header = json.loads(view[8 : 8 + length].decode("utf-8"))
        found = {name: _tensor(view, 8 + length, of) for name, of in header.items() if name != "__metadata__"}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadPickle(f"its header is broken: {error!s:.80}") from None
    return found


def _tensor(view: mmap, begin: int, of: Any) -> np.ndarray:
    shape, (start, end) = of["shape"], of["data_offsets"]
    if of["dtype"] not in _DTYPES:
        raise BadPickle(f"it has numbers of type {of['dtype']!r:.40}; {', '.join(_DTYPES)} are expected")
    dtype = np.dtype(_DTYPES[of["dtype"]])
    if not all(type(n) is int and n >= 0 for n in (*shape, start, end)) or len(shape) > 8:
        raise BadPickle("it has an array whose shape or position is not a number")
    if end - start != math.prod(shape) * dtype.itemsize or begin + end > len(view):
        raise BadPickle(f"it has an array of shape {shape!r:.80} whose bytes are not in the file")
    data = view[begin + start : begin + end]
    return np.frombuffer(data, dtype).reshape(shape).astype(dtype.newbyteorder("="))
