"""Routes of standing studies, of submissions, and of the competitions that anyone may see.

A submitter learns of its own submissions alone: what is another's, or not open to it, is answered as if it
did not exist.
"""

import gzip
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from operator import itemgetter
from typing import Any

import msgspec
from flask import Flask, Response, request

from backend.experiment.records import Study
from backend.foundation.errors import Conflict, InvalidInput, NotFound
from backend.jobs import queue
from backend.members.roles import OWNER, RESEARCHER, SUBMITTER, Member
from backend.standing import submissions
from backend.standing.competition import Competitions
from backend.standing.progress import ProgressReader
from backend.standing.protocol_hash import hash_of
from backend.standing.states import (
    AWAITING,
    CHECKING,
    COLLECTING,
    FAILED_JOBS,
    SCORED,
    JobState,
    SubmissionState,
    result_of,
    state_of,
)
from backend.standing.submissions import Submission
from backend.standing.terms import Limit, Standing, Terms, plain_terms, stand, standing, standings
from backend.standing.tries import number_of, tries_of
from backend.studies.closing import close_model
from backend.uploads import uploads
from backend.web import headers, queries
from backend.web.authorisation import caller
from backend.web.bodies import NoFields, body
from backend.web.context import Context
from backend.web.operations import TRUE_OR_FALSE, Operation, Operations
from backend.web.standing_types import (
    MAX_TERMS_BYTES,
    CompetitionFacts,
    CompetitionList,
    OwnSubmissions,
    PicturesGiven,
    StandingFacts,
    SubmissionFacts,
    SubmissionGiven,
    SubmissionList,
    TermsGiven,
)

JOIN, TABLE = "join", "table"
_SIMULATED = (
    "simulated",
    "query",
    TRUE_OR_FALSE,
    "Have simulated evaluators counted in place of real ones, for a rehearsal",
)
_SUBMISSION = ("The submission", SubmissionFacts)
OPERATIONS: Operations = {
    "POST /api/studies/{study}/standing": Operation(
        "Make a study a standing one, which takes models in, or change its terms",
        {200: ("The terms", StandingFacts)},
        "400 404 413 415 503",
        TermsGiven,
        role=RESEARCHER,
    ),
    "GET /api/studies/{study}/standing": Operation(
        "The terms of a standing study", {200: ("The terms", StandingFacts)}, "404", role=RESEARCHER
    ),
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
    "GET /api/competitions": Operation(
        "The competitions that anyone may see", {200: ("The competitions", CompetitionList)}, ""
    ),
    "GET /api/competitions/{study}": Operation(
        "A competition, and its table after the embargo; any site's page may read it",
        {200: ("The competition", CompetitionFacts)},
        "404",
    ),
}


def add_routes(app: Flask, context: Context) -> None:
    """Add the routes of standing studies, submissions and competitions."""
    store, clock = context.store, context.clock
    desk = _Desk(context)
    competitions = desk.competitions

    @app.post("/api/studies/<study>/standing")
    def make_standing(study: str) -> dict:
        given = body(TermsGiven, MAX_TERMS_BYTES)
        found = store.study(study)
        return _facts_of(stand(store, found, _terms(given), clock()))

    @app.get("/api/studies/<study>/standing")
    def show_standing(study: str) -> dict:
        return _facts_of(standing(store, store.study(study)))

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
        )
        return desk.view(found, record, one), 201 if is_new else 200

    @app.get("/api/studies/<study>/submissions")
    def list_submissions(study: str) -> dict:
        member = caller()
        found, record = desk.open_to(member, study)
        own = submissions.of_member(store, found, member.name)
        is_all = member.may(RESEARCHER)
        listed = submissions.of_study(store, found) if is_all else own
        limit, terms = record.terms.limit, record.terms
        tries = tries_of(own, limit, clock()) if limit and not is_all else None
        return {
            "submissions": [desk.view(found, record, one) for one in listed],
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
            own += [(one.created_at, desk.view(found, record, one)) for one in mine]
            if record.admits(member.name):
                studies.append(_open_study(found, record, mine, now))
        latest = sorted(own, key=itemgetter(0), reverse=True)
        return {"studies": studies, "submissions": [view for _, view in latest]}

    @app.get("/api/submissions/<submission>")
    def show_submission(submission: str) -> dict:
        simulated = queries.truth_value("simulated")
        found, record, one = desk.submission(submission)
        return desk.view(found, record, one, simulated)

    @app.post("/api/submissions/<submission>/pictures")
    def give_submitted_pictures(submission: str) -> dict:
        given = body(PicturesGiven)
        found, record, one = desk.submission(submission)
        desk.check_upload(one, given.upload)
        job = desk.job_of(found, one)
        is_failed = job is not None and job.state in FAILED_JOBS
        if (is_failed or not one.upload) and not caller().may(RESEARCHER):
            queue.check_room(store, one.member)
        one = submissions.give_pictures(store, found, record, one, given.upload, clock(), is_failed)
        return desk.view(found, record, one)

    @app.post("/api/submissions/<submission>/withdraw")
    def withdraw_submission(submission: str) -> dict:
        body(NoFields)
        found, record, one = desk.submission(submission)
        state = desk.state(found, one).state
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
        return desk.view(found, record, one)

    @app.get("/api/competitions")
    def list_competitions() -> Response:
        return _public(_json({"competitions": [_entry(*each) for each in competitions.published()]}))

    @app.get("/api/competitions/<study>")
    def show_competition(study: str) -> Response:
        return _public(_json(competitions.of(*competitions.find(study))))

    _add_pages(app, context, competitions)


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


def _add_pages(app: Flask, context: Context, competitions: Competitions) -> None:
    @app.get("/competitions")
    def competitions_page() -> Response:
        from backend.standing import pages

        return _page(pages.competitions_page(competitions.published(), context.clock()))

    @app.get("/competitions/<study>")
    def competition_page(study: str) -> Response:
        from backend.standing import pages

        try:
            data = competitions.of(*competitions.find(study))
        except NotFound as error:
            return _page(pages.nothing(str(error)), 404)
        url = (context.base_url or request.url_root).rstrip("/")
        return _page(pages.competition_page(data, context.clock(), url))

    @app.get("/competitions/<study>/badge.svg")
    def competition_badge(study: str) -> Response:
        from backend.standing.badge import badge as drawn

        data = competitions.of(*competitions.find(study))
        name, submitter = request.args.get("model", ""), request.args.get("by")
        for row in data["models"]:
            if row["model"] == name and submitter in (None, row["submitter"]):
                reply = Response(drawn(data, row), mimetype="image/svg+xml")
                return _public(reply, headers.IMAGE_FOR_ALL)
        raise NotFound(f"no model of the competition {study!r} is called so", code="unknown_model")


class _Desk:
    """Finds submissions for the member who calls, and says how they stand."""

    def __init__(self, context: Context):
        self._context, self._store = context, context.store
        self.competitions = Competitions(context.store, context.clock, self._have_table_made)
        self._progress = {
            simulated: ProgressReader(context.store, context.clock, simulated) for simulated in (False, True)
        }

    def _have_table_made(self, study: Study, version: str) -> None:
        args, now = {"study": study.name}, self._context.clock()
        queue.enqueue(self._store, TABLE, study.name, OWNER, args, now, key=f"{study.name} {version}")

    def open_to(self, member: Member, name: str) -> tuple[Study, Standing]:
        """Return a standing study that a member may submit to.

        Raises:
            NotFound: there is none; to a submitter in the same words if it is not open to it.
        """
        if member.may(RESEARCHER):
            study = self._store.study(name)
            return study, standing(self._store, study)
        try:
            study = self._store.study(name)
            record = standing(self._store, study)
        except NotFound:
            raise _closed_study(name) from None
        if not record.admits(member.name):
            raise _closed_study(name)
        return study, record

    def submission(self, submission_id: str) -> tuple[Study, Standing, Submission]:
        """Return a submission that the caller may see; raises NotFound if it is another's."""
        member = caller()
        whose = None if member.may(RESEARCHER) else member.name
        study, one = submissions.submission(self._store, submission_id, whose)
        return study, standing(self._store, study), one

    def check_upload(self, one: Submission, upload_id: str) -> None:
        """Check that an upload holds the pictures that were submitted.

        Raises:
            NotFound: there is none of the caller.
            Conflict: `parts_missing`, or nothing can be uploaded here.
            InvalidInput: `other_pictures`.
        """
        received = self._context.uploads
        if received is None:
            raise Conflict("this server receives no uploads", code="no_uploads")
        upload = received.upload(upload_id)
        if upload.member not in (one.member, caller().name):
            raise uploads.unknown(upload_id)
        if upload.state != uploads.COMPLETE:
            raise Conflict(
                f"{len(upload.missing)} parts of the upload are missing; send them and complete it first",
                code="parts_missing",
            )
        if upload.digest != one.digest:
            raise InvalidInput(
                f"the upload has the digest {upload.digest}, and the pictures that were submitted have "
                f"{one.digest}",
                code="other_pictures",
            )

    def job_of(self, study: Study, one: Submission) -> JobState | None:
        """Return the state of the job that checks a submission; it is enqueued if it is not yet."""
        if not one.upload or one.joined_at or one.refused_at or one.withdrawn_at:
            return None
        job = queue.enqueue(
            self._store,
            JOIN,
            study.name,
            one.member,
            {"submission": one.id},
            self._context.clock(),
            key=submissions.job_key(one),
        )
        return JobState(job.state, job.updated_at, queue.reason_for(job, caller().may(RESEARCHER)))

    def state(self, study: Study, one: Submission, simulated: bool = False) -> SubmissionState:
        """Return the state of a submission."""
        progress = self._progress[simulated].of(study)
        return state_of(study, one, progress, self.job_of(study, one))

    def view(
        self, study: Study, record: Standing, one: Submission, simulated: bool = False
    ) -> dict[str, Any]:
        """Return what is said of a submission to its member."""
        state = self.state(study, one, simulated)
        row = None
        if state.state == SCORED:
            row = self.competitions.table(study, record, simulated).scores.get(one.called)
            if row is None:
                why = "all its evaluators have finished, and its score is being computed"
                state = SubmissionState(COLLECTING, why, state.at)
        progress = self._progress[simulated].of(study)
        own = submissions.of_member(self._store, study, one.member)
        return {
            "submission": one.id,
            "study": study.name,
            "model": one.model,
            "member": one.member,
            "digest": one.digest,
            "state": state.state,
            "reason": state.reason,
            "created_at": one.created_at,
            "state_at": state.at,
            "try": number_of(own, one),
            "notes": [*one.notes],
            "result": result_of(study, one, state.state, progress, row),
            "needs_pictures": state.state == AWAITING,
        }


def _terms(given: TermsGiven) -> Terms:
    limit = given.limit and Limit(given.limit.count, given.limit.days)
    submitters = given.submitters if isinstance(given.submitters, str) else tuple(given.submitters)
    return Terms(**{**msgspec.structs.asdict(given), "limit": limit, "submitters": submitters})


def _facts_of(record: Standing) -> dict[str, Any]:
    return {
        "study": record.study,
        **plain_terms(record.terms),
        "since": record.since,
        "changes": [dict(change) for change in record.changes],
        "protocol": record.protocol,
        "protocol_sha256": hash_of(record.protocol),
    }


def _entry(study: Study, record: Standing) -> dict[str, Any]:
    terms = record.terms
    return {
        "study": study.name,
        "title": terms.title,
        "method": study.protocol.method,
        "opens_at": terms.opens_at,
        "closes_at": terms.closes_at,
        "embargo_until": terms.embargo_until,
    }


def _closed_study(name: str) -> NotFound:
    return NotFound(f"there is no study {name!r} that you can submit to", code="unknown_study")


def _json(data: Mapping[str, Any]) -> Response:
    text = json.dumps(data, allow_nan=False, ensure_ascii=False)
    return Response(text.encode("utf-8", "backslashreplace"), mimetype="application/json")


def _page(text: str, status: int = 200) -> Response:
    return _public(Response(text, status, mimetype="text/html"), headers.PAGE_FOR_ALL)


def _public(reply: Response, sent: Mapping[str, str] = headers.DATA_FOR_ALL) -> Response:
    """Return a reply that caches may keep for a minute, and that is sent only if it changed."""
    reply.headers.update(sent)
    reply.set_etag(sha256(reply.get_data()).hexdigest()[:24])
    reply.headers["Vary"] = "Accept-Encoding"
    if reply.status_code == 200 and request.accept_encodings["gzip"] > 0:
        reply.set_data(gzip.compress(reply.get_data(), compresslevel=6, mtime=0))
        reply.headers["Content-Encoding"] = "gzip"
    return reply.make_conditional(request)
