"""Jobs that make the tables of large competitions."""

from collections.abc import Callable
from datetime import datetime

from backend.experiment.records import Study
from backend.jobs import queue
from backend.members.roles import OWNER
from backend.stores.store import Store

_KIND = "table"


def have_made(store: Store, clock: Callable[[], datetime], study: Study, version: str) -> None:
    """Have the table of a study made by the worker, once for each version of what it is made of."""
    args = {"study": study.name}
    queue.enqueue(store, _KIND, study.name, OWNER, args, clock(), key=f"{study.name} {version}")
