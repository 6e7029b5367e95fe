"""The errors that openhype raises on purpose, free of HTTP.

A message says what was expected, what came and where, then what to do. `code` is a short
word for programs; the doors (handlers, CLI) map a class to a status, in one place each.
"""


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


class NotInstalled(OpenhypeError):
    """A package that only this needs is not there."""

    code = "not_installed"


class Unavailable(OpenhypeError):
    """Another service that is needed for the answer could not be asked; it is worth trying again."""

    code = "unavailable"


class NotFound(OpenhypeError):
    """No such study, session or file."""

    code = "not_found"


class NotAllowed(OpenhypeError):
    """A token or key is missing, wrong, or another's."""

    code = "not_allowed"


class Conflict(OpenhypeError):
    """Well formed, but it does not fit what is stored already."""

    code = "conflict"
