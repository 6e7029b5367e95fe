"""How long the body of a request may be: short, but for the routes by which uploads arrive."""

import re

from backend.client.file_stream import PART_BYTES
from backend.task.requests import MAX_BODY_BYTES

_ABOVE = r"(/[^/]+){0,8}"  # the path below which a proxy may have put this server
_ROUTES = (("PUT", re.compile(_ABOVE + r"/api/uploads/[0-9a-f]{32}/parts/[0-9]{1,5}"), PART_BYTES),)
"""Method, path and limit (bytes) of the routes that take long bodies."""


def body_limit(method: str, path: str) -> int:
    """Return the longest body (bytes) that a route takes."""
    for verb, pattern, limit in _ROUTES:
        if verb == method and pattern.fullmatch(path):
            return limit
    return MAX_BODY_BYTES
