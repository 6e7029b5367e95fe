"""Jobs that make the tables of large competitions."""

from collections.abc import Callable
from datetime import datetime

from backend.competitions.states import FAILED_JOBS
from backend.experiment.records import Study
from backend.foundation.timestamps import stamp
from backend.jobs import queue
from backend.members.roles import OWNER
from backend.stores.store import Store

_KIND = "table"
_HOUR = len("2026-01-31T12")


def have_made(store: Store, clock: Callable[[], datetime], study: Study, version: str) -> None:
    """Have the table of a study made by the worker, once for each version of what it is made of.

    If that fails, for lack of memory or of space on the disk perhaps, it is tried again each hour.
    """
    args, now, key = {"study": study.name}, clock(), f"{study.name} {version}"
    job = queue.enqueue(store, _KIND, study.name, OWNER, args, now, key)
    if job.state in FAILED_JOBS:
        queue.enqueue(store, _KIND, study.name, OWNER, args, now, f"{key} {stamp(now)[:_HOUR]}")
