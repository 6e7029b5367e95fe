"""One job at a time changes the pictures of a study in the bucket, however many instances do jobs.

On one machine, locks of files see to that (`DataDir.making`). Of two instances at once, each would bring the
study's files to a length of its own, which would tell the models that joined from the others.
"""

from collections.abc import Mapping
from typing import Any

from backend.foundation.errors import NotFound
from backend.jobs import queue
from backend.jobs.queue import Job
from backend.stores.store import Store
from backend.stores.updates import update

BOOK = "changing_pictures"
"""The book of the jobs that may change pictures, by study."""
CHANGING = frozenset({"create", "delete", "join", "join_model"})
"""Kinds of jobs that change the pictures of their study."""


def reserve(store: Store, job: Job) -> bool:
    """Reserve the study of a job that is to change pictures; return False while another job has it.

    A reservation ends with its job. One whose worker was killed keeps it until it was done again.
    """
    if job.study is None or job.kind not in CHANGING:
        return True

    def rule(before: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        is_taken = before is not None and before["job"] != job.id and _is_open(store, before["job"])
        return None if is_taken else {"job": job.id}

    entry = update(store, BOOK, job.study, rule)
    return entry is not None and entry.data["job"] == job.id


def release(store: Store, study: str) -> None:
    """Forget the reservation of a study that was deleted."""
    store.erase_entry(BOOK, study)


def _is_open(store: Store, job_id: str) -> bool:
    try:
        return queue.job(store, job_id).is_open
    except NotFound:
        return False
