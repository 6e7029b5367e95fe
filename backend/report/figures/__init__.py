"""Figures of a report: functions that take plain data and a width (inches) and return a drawn figure."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any


def __getattr__(name: str) -> Any:
    """Import a module of figures where it first draws: matplotlib takes a second, and is optional."""
    if find_spec(f"{__name__}.{name}") is None:
        raise AttributeError(f"there is no module of figures {name!r}")
    return import_module(f"{__name__}.{name}")
