"""Memory of a process that is reused for its next arrays, instead of returned to the system after each.

The arrays of a texture have some megabytes and live for milliseconds: a fifth of the time went into clearing
their pages again and again.
"""

import ctypes
from functools import cache

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""Parameters of `mallopt` in glibc's malloc.h."""
_BYTES = 1 << 28
"""Unused memory that a process may keep."""


@cache
def reuse_memory() -> None:
    """Have this process keep memory that it frees, where the C library is glibc."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # another C library
        return
    mallopt(_MMAP_THRESHOLD, 1 << 25)  # the largest allowed; larger arrays are returned
    mallopt(_TRIM_THRESHOLD, _BYTES)
