"""The time that work takes."""

import time
from collections.abc import Callable


def timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
