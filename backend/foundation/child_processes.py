"""Child processes that run this package beside a server: how they find it, and keep out of its way."""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

LOWEST_PRIORITY = 19
"""The niceness of what nobody waits for."""
_SHARE_OF_MEMORY = 0.75
_OF_CONTAINER = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)
"""The most memory of this container, in bytes or `max`, of control groups of version 2 and 1."""
_ENDED_FIRST = Path("/proc/self/oom_score_adj"), "1000"
"""What the system ends first where memory is short (proc(5)); what this process starts inherits it."""


def environment_of_child(ours: Mapping[str, str]) -> dict[str, str]:
    """Return `ours` such that Python imports this package, wherever it lies."""
    here = str(Path(__file__).resolve().parents[2])
    before = ours.get("PYTHONPATH")
    return {**ours, "PYTHONPATH": os.pathsep.join([here, *([before] if before else [])])}


def lower_priority() -> None:
    """Give this process, and those that it starts, the lowest priority."""
    with suppress(OSError):
        os.nice(LOWEST_PRIORITY)


def bound_memory() -> None:
    """Have this process fail where memory is short, and those that it starts, and let the server go on.

    None gets more than three quarters of the machine's memory, or of the container's: what needs more fails
    with MemoryError. If several together take too much, the system ends one of these first. A lower limit
    (`ulimit -d`) stays.
    """
    import resource

    limit = int(_SHARE_OF_MEMORY * memory())
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if soft == resource.RLIM_INFINITY or soft > limit:
        resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
    with suppress(OSError):  # no such file but on Linux
        path, score = _ENDED_FIRST
        path.write_text(score)


def memory() -> int:
    """Return the memory of this machine, or of this container if it may have less (bytes)."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for path in _OF_CONTAINER:
        with suppress(OSError, ValueError):
            total = min(total, int(path.read_text()))
    return total
