"""The errors that openhype raises deliberately, independent of HTTP.

A message states what was expected, what was given and where, then what to do. `code` is a short
word for programs; the entry points (handlers, CLI) map a class to a status, in one place each.
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
    """Return the representation of a value, truncated if it is too long for a line of a message."""
    try:
        text = repr(value)
    except ValueError:  # an integer of thousands of digits
        text = f"a {type(value).__name__} that is too long to show"
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def reason(error: OSError) -> str:
    """Return the reason for a system error in words, without its number."""
    return _REASONS.get(error.errno or 0) or error.strerror or type(error).__name__


class OpenhypeError(Exception):
    """Base class of errors that report a problem to the caller, as opposed to faults in the code."""

    code = "error"

    def __init__(self, message: str, code: str | None = None):
        super().__init__(message)
        if code is not None:
            self.code = code


class StoreFailed(OpenhypeError):
    """Data could not be stored for an external reason, such as a full disk."""

    code = "store_failed"


class InvalidInput(OpenhypeError):
    """The input is not of the expected form."""

    code = "invalid"


class NotJson(OpenhypeError):
    """The body of a request is not declared as JSON."""

    code = "not_json"


class NotInstalled(OpenhypeError):
    """A package that only this feature needs is not installed."""

    code = "not_installed"


class Unavailable(OpenhypeError):
    """Something needed for the answer, such as another service, is unavailable; it is worth trying again."""

    code = "unavailable"


class TooMany(OpenhypeError):
    """Too much is requested at once or within a period; it is worth trying again later."""

    code = "too_many"

    def __init__(self, message: str, code: str | None = None, retry_after_s: int = 5):
        super().__init__(message, code)
        self.retry_after_s = retry_after_s


class NotFound(OpenhypeError):
    """There is no such study, session or file."""

    code = "not_found"


class NotAllowed(OpenhypeError):
    """A token or key is missing, wrong, or belongs to somebody else."""

    code = "not_allowed"


class Conflict(OpenhypeError):
    """A well-formed request conflicts with what is stored already."""

    code = "conflict"
