"""Child processes that run this package beside a server: how they find it, and keep out of its way."""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

LOWEST_PRIORITY = 19
"""The niceness of what nobody waits for."""


def environment_of_child(ours: Mapping[str, str]) -> dict[str, str]:
    """Return `ours` such that Python imports this package, wherever it lies."""
    here = str(Path(__file__).resolve().parents[2])
    before = ours.get("PYTHONPATH")
    return {**ours, "PYTHONPATH": os.pathsep.join([here, *([before] if before else [])])}


def lower_priority() -> None:
    """Give this process, and those that it starts, the lowest priority."""
    with suppress(OSError):
        os.nice(LOWEST_PRIORITY)
