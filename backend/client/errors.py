"""Errors of the client: what the server refused, by its code, and what did not reach it.

No message contains a token, or an address with a signature in it.
"""

from backend.foundation.errors import (
    Conflict,
    InvalidInput,
    NotAllowed,
    NotFound,
    OpenhypeError,
    TooMany,
    Unavailable,
)


class LimitReached(Conflict):
    """A study takes no more submissions of this member for now."""

    code = "limit_reached"


class Refused(OpenhypeError):
    """The pictures of a submission were refused; the message is the server's reason."""

    code = "refused"


class Withdrawn(OpenhypeError):
    """A submission was withdrawn, so that it gets no score."""

    code = "withdrawn"


class PicturesMissing(OpenhypeError):
    """The server has no pictures of a submission, or lost them by a fault; submit them again."""

    code = "pictures_missing"


class JobFailed(OpenhypeError):
    """A job of the server failed or was cancelled; the message is its reason."""

    code = "job_failed"


class ServerFault(OpenhypeError):
    """The server has a fault; the message has the id by which its log can be searched."""

    code = "server_fault"


class TimedOut(OpenhypeError, TimeoutError):
    """The time that the caller gave was over before there was a result."""

    code = "timed_out"


_BY_STATUS: dict[int, type[OpenhypeError]] = {
    401: NotAllowed,
    403: NotAllowed,
    404: NotFound,
    409: Conflict,
    429: TooMany,
    502: Unavailable,
    503: Unavailable,
    504: Unavailable,
}


def error_of(status: int, code: str, message: str, error_id: str = "") -> OpenhypeError:
    """Return the error that a reply of the API stands for."""
    if code == LimitReached.code:
        return LimitReached(message)
    if status in _BY_STATUS:
        return _BY_STATUS[status](message, code or None)
    if status >= 500:
        return ServerFault(f"{message} (id {error_id})" if error_id else message, code or None)
    return InvalidInput(message, code or None)
