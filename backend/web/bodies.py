"""Bodies of requests, as the types that they are declared as."""

from typing import TypeVar

from flask import request
from msgspec import Struct

from backend.task import requests

T = TypeVar("T")


class NoFields(Struct, frozen=True):
    """The body of a request that says all by its path: `{}`."""


def body(declared: type[T], limit: int = requests.MAX_BODY_BYTES) -> T:
    """Return the body of the current request.

    Args:
        limit: maximum length (bytes); a longer body is refused unread, with 413.
    """
    if limit != requests.MAX_BODY_BYTES:
        request.max_content_length = limit
    return requests.parse(request.get_data(cache=False), declared)
