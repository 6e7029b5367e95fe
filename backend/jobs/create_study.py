"""The job `create`: a study from uploads.

Uploads are unpacked in the job's own folder, and what follows is what the command line does. A job that is
run again because its worker was killed finds the study that it stored, and makes no second one: a study is
created at the time at which its job was ordered, and one job at a time is ordered for a name.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from backend.experiment.records import Study
from backend.foundation.errors import Conflict, InvalidInput, NotFound
from backend.foundation.timestamps import stamp
from backend.jobs.queue import MAKING, Job, enqueue, find
from backend.jobs.study_orders import StudyOrder, first_within, in_words_of_order
from backend.jobs.work import Failed, Work
from backend.stimuli.medium import Refused
from backend.stores.store import Store, study_if_any
from backend.stores.updates import update

KIND = "create"
_LISTED_BYTES = 200_000
"""Files that a failure lists: a result must fit into one entry of a table (400 KB)."""
_OLD = timedelta(days=1)
"""Age from which a reservation without a job is of one that was forgotten."""


def order(store: Store, member: str, ordered: StudyOrder, now: datetime) -> Job:
    """Enqueue the job that makes a study, and return it.

    One job at a time is ordered for a name. The order is stored under the name first, so that whoever comes
    next enqueues its job if a server that was killed did not.

    Raises:
        Conflict: another study of this name is being made (`study_being_made`).
    """
    name = ordered.entries["name"]
    asked = {"member": member, "args": _args(ordered)}

    def reserve(before: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        job = _job_of(store, name, before, now)
        if before is None or job is None or not job.is_open:
            return {**asked, "turn": before["turn"] + 1 if before else 1, "at": stamp(now)}
        if not _is_of(before, asked):
            raise Conflict(
                f"a study {name} is being made at this moment; choose another name, or cancel its job",
                code="study_being_made",
            )
        return None

    entry = update(store, MAKING, name, reserve)
    job = _job_of(store, name, entry.data if entry else None, now)
    if job is None:
        raise NotFound(f"the job that makes {name} was forgotten; order it again", code="unknown_job")
    return job


def ordered_before(store: Store, member: str, ordered: StudyOrder, now: datetime) -> Job | None:
    """Return the job of the same order, if it is open, or made the study that there is."""
    name = ordered.entries["name"]
    entry = store.entry(MAKING, name)
    if entry is None or not _is_of(entry.data, {"member": member, "args": _args(ordered)}):
        return None
    job = _job_of(store, name, entry.data, now)
    if job is None or job.is_open:
        return job
    return job if job.state == "done" and made_before(store, job) else None


def run(work: Work, mine: Job) -> dict[str, Any]:
    """Make the study, or find it made."""
    if (made := made_before(work.store, mine)) is None:
        made = _make(work, mine)
    return {"study": made.name, "models": [*made.models], "notes": [*made.notes]}


def unpack_all(work: Work, uploads: Mapping[str, str], root: Path) -> None:
    """Unpack uploads into folders of `root`; an archive that is refused is named by its folder."""
    from backend.uploads.unpacking import unpack_pictures

    for folder, upload in work.progress(uploads.items(), len(uploads), "unpacking"):
        try:
            unpack_pictures(work.uploads, upload, root / folder)
        except InvalidInput as error:
            raise InvalidInput(f"the archive of {folder}: {error}", code=error.code) from None


def _make(work: Work, mine: Job) -> Study:
    from backend.administration.create import create

    root = work.folder / "pictures"
    ordered = StudyOrder(mine.args["entries"], mine.args["uploads"])
    try:
        unpack_all(work, ordered.uploads, root)
        return create(
            work.store,
            work.data,
            ordered.spec(root),
            datetime.fromisoformat(mine.created_at),
            progress=work.progress,
            publish=work.publish,
            say=work.say,
        )
    except Refused as refused:
        files = first_within((in_words_of_order(each, root) for each in refused.everything), _LISTED_BYTES)
        details = {"files": files} if files else None
        raise Failed(in_words_of_order(str(refused), root), details, refused.keys) from None
    except InvalidInput as error:
        raise Failed(in_words_of_order(str(error), root), keys=error.keys) from None


def made_before(store: Store, mine: Job) -> Study | None:
    """Return the study that an earlier run of a job made, None if none did."""
    study = study_if_any(store, mine.study or "")
    return study if study and study.created_at == stamp(datetime.fromisoformat(mine.created_at)) else None


def _args(ordered: StudyOrder) -> dict[str, Any]:
    return {"entries": ordered.entries, "uploads": ordered.uploads}


def _is_of(reservation: Mapping[str, Any], asked: Mapping[str, Any]) -> bool:
    return all(reservation[name] == value for name, value in asked.items())


def _job_of(store: Store, name: str, reservation: Mapping[str, Any] | None, now: datetime) -> Job | None:
    """Return the job of a reservation, enqueued if it is not yet; None for one that was forgotten."""
    if reservation is None:
        return None
    key, at = f"{name} {reservation['turn']}", datetime.fromisoformat(reservation["at"])
    if now - at > _OLD:
        return find(store, KIND, key)
    return enqueue(store, KIND, name, reservation["member"], reservation["args"], at, key)
