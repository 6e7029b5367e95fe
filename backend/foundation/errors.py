"""The errors that openhype raises deliberately, independent of HTTP.

A message states what was expected, what was given and where, then what to do. `code` is a short
word for programs; the entry points (handlers, CLI) map a class to a status, in one place each.

`keys` lead to the entry of the input that an error is about, such as `("models", "gan")` or
`("questions", 0, "text")`. They are set where the error is raised, relative to what is checked there; `under`
puts the keys of a table before them on the way up. Nobody searches a message for them.
"""

import errno
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

Key = str | int
"""The name of an entry, or the index (from 0) of an entry in a list or in an array of tables."""
Keys = tuple[Key, ...]

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


FULL = (errno.ENOSPC, errno.EDQUOT)
"""Numbers of system errors that say that a disk is full."""


class OpenhypeError(Exception):
    """Base class of errors that report a problem to the caller, as opposed to faults in the code."""

    code = "error"

    def __init__(self, message: str, code: str | None = None, *, keys: Keys = (), also: Iterable[Keys] = ()):
        super().__init__(message)
        if code is not None:
            self.code = code
        self.keys = keys or getattr(message, "keys", ())
        """The entry that the error is about; () for none, or for all of the input."""
        self.also = tuple(also) or getattr(message, "also", ())
        """Further entries, any of which can be at fault, the likeliest first."""


@contextmanager
def under(*keys: Key) -> Iterator[None]:
    """Put the keys of a table, or of an entry, before those of errors raised within the block."""
    try:
        yield
    except OpenhypeError as error:
        error.keys, error.also = (*keys, *error.keys), tuple((*keys, *each) for each in error.also)
        raise


class Problem(str):
    """A sentence on a problem that is not raised yet, with the keys of an error about it."""

    keys: Keys = ()
    also: tuple[Keys, ...] = ()

    def __new__(cls, sentence: str, keys: Keys = (), also: Iterable[Keys] = ()) -> "Problem":
        made = super().__new__(cls, sentence)
        made.keys, made.also = keys, tuple(also)
        return made


def together(problems: Iterable[str]) -> str:
    """Return problems as one sentence, about the entries of all, the first's first; "" if there are none."""
    sentences = [problem for problem in problems if problem]
    about = [keys for each in sentences if isinstance(each, Problem) for keys in (each.keys, *each.also)]
    keys, *also = [*filter(None, about)] or [()]
    return Problem("; ".join(sentences), keys, also)


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
