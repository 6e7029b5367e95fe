"""Routes of jobs: what they do, how far they are, and their cancellation."""

from collections.abc import Mapping
from typing import Any

from flask import Flask, request

from backend.experiment.records import Study
from backend.foundation.errors import InvalidInput, NotFound
from backend.jobs import queue
from backend.jobs.queue import Job
from backend.members.roles import RESEARCHER, SUBMITTER
from backend.stores.store import Store
from backend.web.authorisation import caller
from backend.web.bodies import NoFields, body
from backend.web.context import Context
from backend.web.job_types import Enqueued, JobReply, Jobs
from backend.web.operations import Operation, Operations

_STUDY = ("study", "query", {"type": "string"}, "only jobs about this study")
_STATE = ("state", "query", {"type": "string", "enum": ["open"]}, "only jobs that wait or run")
OPERATIONS: Operations = {
    "GET /api/jobs": Operation(
        "Jobs, the newest first, without their results",
        {200: ("The jobs", Jobs)},
        "400 403",
        role=RESEARCHER,
        parameters=(_STUDY, _STATE),
    ),
    "GET /api/jobs/{job}": Operation(
        "How far a job is, and what it gave; a submitter sees only its own",
        {200: ("The job", JobReply)},
        "403 404",
        role=SUBMITTER,
    ),
    "POST /api/jobs/{job}/cancel": Operation(
        "Cancel a job; one that runs stops within seconds",
        {200: ("The job", JobReply)},
        "400 403 404 409 415",
        NoFields,
        role=SUBMITTER,
    ),
}


def add_routes(app: Flask, context: Context) -> None:
    """Add the routes of jobs."""
    store = context.store

    @app.get("/api/jobs")
    def list_jobs() -> dict:
        study, state = request.args.get("study"), request.args.get("state")
        if state not in (None, "open"):
            raise InvalidInput(f"state must be 'open' or left out, not {state!r}")
        if state is None:
            return {"jobs": [reply_of(each) for each in queue.jobs(store, study)]}
        listed = (each for each in reversed(queue.open_jobs(store)) if study in (None, each.study))
        return {"jobs": [*map(reply_of, listed)]}

    @app.get("/api/jobs/<job>")
    def show_job(job: str) -> dict:
        return reply_of(_visible(store, job))

    @app.post("/api/jobs/<job>/cancel")
    def cancel_job(job: str) -> dict:
        body(NoFields)
        _visible(store, job)
        return reply_of(queue.cancel(store, job, context.clock()))


def enqueued(context: Context, kind: str, study: Study, args: Mapping[str, Any]) -> tuple[Enqueued, int]:
    """Enqueue a job of the caller's on a study, and return the reply.

    The study's date is among the job's arguments, so that it is not done on a later study of the same name.
    """
    facts = {"created_at": study.created_at, **args}
    job = queue.enqueue(context.store, kind, study.name, caller().name, facts, context.clock())
    return {"job": job.id}, 202


def reply_of(job: Job) -> dict[str, Any]:
    """Return what a reply says of a job."""
    named = ("kind", "study", "member", "state", "progress", "reason", "result", "created_at", "updated_at")
    facts = {name: getattr(job, name) for name in named}
    return {"job": job.id, **facts, "reason": queue.reason_for(job, caller().may(RESEARCHER))}


def _visible(store: Store, job_id: str) -> Job:
    """Return a job that the caller may see.

    Raises:
        NotFound: there is none, or it is another member's.
    """
    found, member = queue.job(store, job_id), caller()
    if not member.may(RESEARCHER) and found.member != member.name:
        raise NotFound(f"there is no job {job_id!r}", code="unknown_job")
    return found
