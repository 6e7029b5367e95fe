"""Errors and problems with the keys of the settings that they are about, such as `("settings", "images")`."""

from backend.foundation.errors import InvalidInput, Keys, Problem

_OUTSIDE = ("kind", "method", "models", "items", "real", "practice", "checks")
"""Entries of an order that are checked with its settings."""


def keys_of(name: str) -> Keys:
    """Return the keys of a setting, or of an entry beside the settings."""
    return (name,) if name in _OUTSIDE else ("settings", name)


def invalid_setting(message: str, *names: str) -> InvalidInput:
    """Return the error about settings that do not fit together; the first that is given is at fault."""
    keys, *also = map(keys_of, names)
    return InvalidInput(message, keys=keys, also=also)


def problem_of(message: str, *names: str) -> Problem:
    """Return the problem that settings have with the pictures of a study."""
    keys, *also = map(keys_of, names)
    return Problem(message, keys, also)
