"""The job `look`: decides the planned looks of a study that are reached, once enough evaluators finished.

It can be ended at any moment and run again: what was decided is recorded, and stands.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from backend.experiment.records import Study
from backend.foundation.timestamps import stamp, utc_now
from backend.jobs import queue
from backend.members.roles import OWNER
from backend.stores.store import Store

if TYPE_CHECKING:
    from backend.jobs.work import Work

KIND = "look"


def have_decided(store: Store, study: Study, now: datetime) -> None:
    """Have a study's looks decided if the next one may be reached: once for each number of finished sessions.

    A job that failed, for lack of memory perhaps, is tried again with the next session, or within an hour.
    """
    if not study.protocol.looks.looks or not study.begun_at:
        return
    study = store.study(study.name)
    finished, newest = store.finished(study.name)
    if study.has_stopped or finished < _fewest(study):
        return
    done = study.looks_done + sum(study.newcomer_looks)
    key = f"{study.name} {study.created_at} {finished} {newest} {done}"
    queue.enqueue(
        store, KIND, study.name, OWNER, {}, now, key, is_outdated=lambda before: before.state == "failed"
    )


def _fewest(study: Study) -> int:
    """Return with how many finished sessions a look may be reached.

    Who withdraws after a look that ended the sessions of a model is not replaced: these count for none.
    """
    if study.first_have_ended:
        return min(study.wanted.values())
    return sum(count for model, count in study.wanted.items() if model not in study.newcomers)


def run(work: "Work", job: queue.Job) -> Mapping[str, Any]:
    """Decide the looks that are reached, and return how many were decided so far."""
    from backend.responses.study_looks import decide, is_due

    study = work.store.study(job.study or "")
    if is_due(work.store, study):
        decide(work.store, study, stamp(utc_now()))
    return {"looks": work.store.study(study.name).looks_done}
