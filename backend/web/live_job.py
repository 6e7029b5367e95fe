"""The job `live`: the scores of a running study that the console shows, where the server cannot compute them.

A function on AWS stands still between requests, and another one may answer the next. So the worker computes
the scores, once for each twentieth of the finished sessions, and the server shows the latest.
"""

from datetime import datetime
from typing import Any, cast

from backend.experiment.records import Study
from backend.foundation.timestamps import utc_now
from backend.jobs import queue
from backend.jobs.queue import Job
from backend.jobs.study_work import study_of
from backend.jobs.work import Work
from backend.stores.store import Store
from backend.web.monitor import Watch
from backend.web.progress_types import LiveScores, StudyProgress

KIND = "live"
_STEPS = 20
"""The scores are computed again when this share of the finished sessions (1 of 20) is new."""


def latest_scores(
    store: Store, study: Study, progress: StudyProgress, member: str, now: datetime
) -> LiveScores | None:
    """Return the scores that the worker computed last, None before the first, and have new ones computed."""
    finished = sum(each["finished"] for each in progress["models"])
    if study.kind != "study" or not finished or study.hides_scores:
        return None
    version = [study.version, _rounded(finished), progress["withdrawn"]["sessions"]]
    args = {"created_at": study.created_at, "version": version}

    def is_outdated(before: Job) -> bool:
        return not before.is_open and before.args != args

    job = queue.enqueue(
        store, KIND, study.name, member, args, now, f"{study.name} {study.created_at}", is_outdated
    )
    result = store.entry(queue.RESULTS, job.id)
    return cast(LiveScores | None, result.data.get("scores")) if result else None


def run(work: Work, job: Job) -> dict[str, Any]:
    return {"scores": Watch(work.store, study_of(work, job)).with_scores(utc_now())["scores"]}


def _rounded(finished: int) -> int:
    return finished - finished % max(1, finished // _STEPS)
