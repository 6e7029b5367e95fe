"""Routes of submissions to standing studies.

A submitter learns of its own submissions alone: what is another's, or not open to it, is answered as if it
did not exist.
"""

from collections.abc import Sequence
from datetime import datetime
from operator import itemgetter
from typing import Any

from flask import Flask

from backend.experiment.records import Study
from backend.foundation.errors import Conflict
from backend.jobs import queue
from backend.members.roles import RESEARCHER, SUBMITTER
from backend.standing import submissions
from backend.standing.states import CHECKING, COLLECTING, SCORED
from backend.standing.submissions import Submission
from backend.standing.terms import Standing, standings
from backend.standing.tries import tries_of
from backend.studies.closing import close_model
from backend.web import queries
from backend.web.authorisation import caller
from backend.web.bodies import NoFields, body
from backend.web.context import Context
from backend.web.operations import TRUE_OR_FALSE, Operation, Operations
from backend.web.standing_types import (
    OwnSubmissions,
    PicturesGiven,
    SubmissionFacts,
    SubmissionGiven,
    SubmissionList,
)
from backend.web.submission_desk import Desk

_SIMULATED = (
    "simulated",
    "query",
    TRUE_OR_FALSE,
    "Have simulated evaluators counted in place of real ones, for a rehearsal",
)
_SUBMISSION = ("The submission", SubmissionFacts)
OPERATIONS: Operations = {
    "POST /api/studies/{study}/submissions": Operation(
        "Submit a model; the same model with the same pictures again is the same submission",
        {200: ("It was submitted before", SubmissionFacts), 201: ("It is submitted", SubmissionFacts)},
        "400 404 409 415 503",
        SubmissionGiven,
        role=SUBMITTER,
    ),
    "GET /api/studies/{study}/submissions": Operation(
        "The caller's submissions and what is left of its limit; for a researcher everybody's",
        {200: ("The submissions", SubmissionList)},
        "404",
        role=SUBMITTER,
    ),
    "GET /api/submissions": Operation(
        "The caller's own submissions to all studies, and the studies that take models of the caller in",
        {200: ("Submissions, the latest first; studies in the order of their names", OwnSubmissions)},
        "",
        role=SUBMITTER,
    ),
    "GET /api/submissions/{submission}": Operation(
        "A submission of the caller: its state, the reason, and its result",
        {200: _SUBMISSION},
        "400 404",
        role=SUBMITTER,
        parameters=(_SIMULATED,),
    ),
    "POST /api/submissions/{submission}/pictures": Operation(
        "Have the pictures of a submission checked, which then joins the study; again, it changes nothing",
        {200: _SUBMISSION},
        "400 404 409 415 429 503",
        PicturesGiven,
        role=SUBMITTER,
    ),
    "POST /api/submissions/{submission}/withdraw": Operation(
        "Withdraw a submission that is not scored yet; again, it changes nothing",
        {200: _SUBMISSION},
        "400 404 409 415 503",
        NoFields,
        role=SUBMITTER,
    ),
}


def add_routes(app: Flask, context: Context) -> None:
    """Add the routes of submissions."""
    store, clock, desk = context.store, context.clock, Desk(context)

    @app.post("/api/studies/<study>/submissions")
    def submit_model(study: str) -> tuple[dict, int]:
        given, member = body(SubmissionGiven), caller()
        found, record = desk.open_to(member, study)
        one, is_new = submissions.submit(
            store,
            context.keys.hashing,
            found,
            record,
            member.name,
            given.model,
            given.digest,
            clock(),
            member.may(RESEARCHER),
            desk.has_failed,
        )
        return desk.look(found, record).view(one), 201 if is_new else 200

    @app.get("/api/studies/<study>/submissions")
    def list_submissions(study: str) -> dict:
        member = caller()
        found, record = desk.open_to(member, study)
        look, is_all = desk.look(found, record), member.may(RESEARCHER)
        if is_all:
            listed = submissions.of_study(store, found)
        else:
            listed = [*submissions.of_member(store, found, member.name)]
        limit, terms = record.terms.limit, record.terms
        tries = tries_of(look.tries(member.name), limit, clock()) if limit and not is_all else None
        return {
            "submissions": [look.view(one) for one in listed],
            "opens_at": terms.opens_at,
            "closes_at": terms.closes_at,
            "embargo_until": terms.embargo_until,
            "counts": terms.counts,
            "limit": {**vars(limit), **vars(tries)} if limit and tries else None,
        }

    @app.get("/api/submissions")
    def own_submissions() -> dict:
        member, now = caller(), clock()
        studies, own = [], []
        for found, record in standings(store):
            mine = submissions.of_member(store, found, member.name)
            look = desk.look(found, record)
            own += [(one.created_at, look.view(one)) for one in mine]
            if record.admits(member.name):
                studies.append(_open_study(found, record, look.tries(member.name), now))
        latest = sorted(own, key=itemgetter(0), reverse=True)
        return {"studies": studies, "submissions": [view for _, view in latest]}

    @app.get("/api/submissions/<submission>")
    def show_submission(submission: str) -> dict:
        simulated = queries.truth_value("simulated")
        found, record, one = desk.submission(submission)
        return desk.look(found, record, simulated).view(one)

    @app.post("/api/submissions/<submission>/pictures")
    def give_submitted_pictures(submission: str) -> dict:
        given = body(PicturesGiven)
        found, record, one = desk.submission(submission)
        desk.check_upload(one, given.upload)
        if (desk.has_failed(one) or not one.upload) and not caller().may(RESEARCHER):
            queue.check_room(store, one.member)
        one = submissions.give_pictures(store, found, record, one, given.upload, clock(), desk.has_failed)
        return desk.look(found, record).view(one)

    @app.post("/api/submissions/<submission>/withdraw")
    def withdraw_submission(submission: str) -> dict:
        body(NoFields)
        found, record, one = desk.submission(submission)
        state = desk.look(found, record).state(one).state
        if state == SCORED:
            raise Conflict(
                f"{one.model} has been judged by all its evaluators, and what was judged stays",
                code="already_scored",
            )
        if state in (COLLECTING, CHECKING) and found.is_mixed:
            raise Conflict(
                f"{one.model} is judged beside other models in each session, and can no longer be taken out",
                code="already_judged",
            )
        one = submissions.withdraw(store, found, one, clock())
        if one.withdrawn_at and one.joined_at:  # also if it joined just now
            found = close_model(store, found, one.called)
        return desk.look(found, record).view(one)


def _open_study(study: Study, record: Standing, own: Sequence[Submission], now: datetime) -> dict[str, Any]:
    """Return what a member is told of a standing study that admits it; `own` are its submissions."""
    terms, limit = record.terms, record.terms.limit
    return {
        "study": study.name,
        "title": terms.title,
        "about": terms.about,
        "opens_at": terms.opens_at,
        "closes_at": terms.closes_at,
        "embargo_until": terms.embargo_until,
        "counts": terms.counts,
        "limit": {**vars(limit), **vars(tries_of(own, limit, now))} if limit else None,
    }
