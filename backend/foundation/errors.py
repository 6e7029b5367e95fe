"""The errors that openhype raises on purpose, free of HTTP.

A message says what was expected, what came and where, then what to do. `code` is a short
word for programs; the doors (handlers, CLI) map a class to a status, in one place each.
"""

import errno

_LONGEST_SHOWN = 80
_REASONS = {
    errno.ENOENT: "there is no such file or folder",
    errno.EISDIR: "it is a folder",
    errno.ENOTDIR: "a part of its path is a file, not a folder",
    errno.EEXIST: "there is something of that name already",
    errno.EACCES: "this user has no right to it",
    errno.EPERM: "this user has no right to it",
    errno.EROFS: "it lies where nothing can be written",
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "this user's share of the disk is full",
    errno.EMFILE: "too many files are open",
    errno.ENFILE: "too many files are open",
    errno.ENAMETOOLONG: "the name is too long",
    errno.EIO: "the disk cannot read or write it",
}


def brief(value: object) -> str:
    """Return how a value is written, cut where it is longer than a line of a message should hold."""
    try:
        text = repr(value)
    except ValueError:  # a whole number of thousands of digits
        text = f"a {type(value).__name__} that is too long to show"
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def reason(error: OSError) -> str:
    """Return in words why the system refused, without its number."""
    return _REASONS.get(error.errno or 0) or error.strerror or type(error).__name__


class OpenhypeError(Exception):
    """Base of every error that is an answer to the caller rather than a fault in the code."""

    code = "error"

    def __init__(self, message: str, code: str | None = None):
        super().__init__(message)
        if code is not None:
            self.code = code


class StoreFailed(OpenhypeError):
    """What was to be stored was not, for a reason outside of it, such as a full disk."""

    code = "store_failed"


class InvalidInput(OpenhypeError):
    """What came is not of the expected form."""

    code = "invalid"


class NotJson(OpenhypeError):
    """A body does not say that it is JSON."""

    code = "not_json"


class NotInstalled(OpenhypeError):
    """A package that only this needs is not there."""

    code = "not_installed"


class Unavailable(OpenhypeError):
    """Another service that is needed for the answer could not be asked; it is worth trying again."""

    code = "unavailable"


class TooMany(OpenhypeError):
    """More is asked at once, or in a time, than can be done; it is worth trying again later."""

    code = "too_many"

    def __init__(self, message: str, code: str | None = None, retry_after_s: int = 5):
        super().__init__(message, code)
        self.retry_after_s = retry_after_s


class NotFound(OpenhypeError):
    """No such study, session or file."""

    code = "not_found"


class NotAllowed(OpenhypeError):
    """A token or key is missing, wrong, or another's."""

    code = "not_allowed"


class Conflict(OpenhypeError):
    """Well formed, but it does not fit what is stored already."""

    code = "conflict"
