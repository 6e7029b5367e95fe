"""Routes of jobs: what they do, how far they are, and their cancellation."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from backend.experiment.records import Study
from backend.foundation.errors import NotFound
from backend.jobs import queue
from backend.jobs.queue import Job
from backend.members.roles import RESEARCHER, SUBMITTER
from backend.stores.store import Store
from backend.web.authorisation import caller
from backend.web.context import Context
from backend.web.job_types import Enqueued, JobReply, Jobs
from backend.web.routing import Routes, as_declared

route = Routes(SUBMITTER)


class JobsQuery(Struct, frozen=True):
    """Which jobs are asked for."""

    study: str | None = None
    """only jobs about this study."""
    state: Annotated[Literal["open"] | None, Meta(extra={"expected": "'open'"})] = None
    """only jobs that wait or run."""


@route("GET /api/jobs", role=RESEARCHER)
def list_jobs(context: Context, query: JobsQuery) -> Jobs:
    """Jobs, the newest first, without their results.

    Returns:
        The jobs.
    """
    if query.state is None:
        listed = queue.jobs(context.store, query.study)
    else:
        every = reversed(queue.open_jobs(context.store))
        listed = [each for each in every if query.study in (None, each.study)]
    return {"jobs": [*map(reply_of, listed)]}


@route("GET /api/jobs/{job}")
def show_job(context: Context, job: str) -> JobReply:
    """How far a job is, and what it gave; a submitter sees only its own.

    Returns:
        The job.
    """
    return reply_of(_visible(context.store, job))


@route("POST /api/jobs/{job}/cancel", "409")
def cancel_job(context: Context, job: str) -> JobReply:
    """Cancel a job; one that runs stops within seconds.

    Returns:
        The job.
    """
    _visible(context.store, job)
    return reply_of(queue.cancel(context.store, job, context.clock()))


def enqueued(context: Context, kind: str, study: Study, args: Mapping[str, Any]) -> Enqueued:
    """Enqueue a job of the caller's on a study, and return the reply.

    The study's date is among the job's arguments, so that it is not done on a later study of the same name.
    """
    facts = {"created_at": study.created_at, **args}
    job = queue.enqueue(context.store, kind, study.name, caller().name, facts, context.clock())
    return {"job": job.id}


def reply_of(job: Job) -> JobReply:
    """Return what a reply says of a job."""
    return as_declared(JobReply, job, job=job.id, reason=queue.reason_for(job, caller().may(RESEARCHER)))


def _visible(store: Store, job_id: str) -> Job:
    """Return a job that the caller may see.

    Raises:
        NotFound: there is none, or it is another member's.
    """
    job, member = queue.job(store, job_id), caller()
    if not member.may(RESEARCHER) and job.member != member.name:
        raise NotFound(f"there is no job {job_id!r}", code="unknown_job")
    return job
