"""Routes by which studies are made from uploads: orders, audits of pictures, drafts."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from flask import Flask

from backend.administration.study_spec import StudySpec
from backend.experiment.records import Study
from backend.foundation.errors import Conflict, InvalidInput, NotFound
from backend.foundation.names import clean
from backend.foundation.timestamps import stamp
from backend.jobs import queue
from backend.jobs.queue import Job
from backend.jobs.study_orders import StudyOrder, study_order, worded
from backend.members.roles import RESEARCHER, Member
from backend.stores.updates import update
from backend.uploads import uploads
from backend.web.authorisation import caller, concerns
from backend.web.bodies import NoFields, body
from backend.web.context import Context
from backend.web.job_types import DraftReply, Drafts, Enqueued, ModelGiven, StudyBody, plain
from backend.web.operations import Operation, Operations

DRAFTS = "drafts"
"""The book of drafts, by member and id."""
_MAX_BYTES = 256 * 1024
_MOST_DRAFTS = 100
_DRAFT = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_UNNAMED = "audit"
"""The name of a study that has none yet, in an audit."""
OPERATIONS: Operations = {
    "POST /api/studies": Operation(
        "Make a study from uploads; the same order again returns the same job",
        {202: ("It is being made", Enqueued)},
        "400 403 404 409 413 415 503",
        StudyBody,
        role=RESEARCHER,
    ),
    "POST /api/audits": Operation(
        "Compare the pictures of an order's sides, and find files that cannot be used; nothing is made",
        {202: ("It is being done", Enqueued)},
        "400 403 404 409 413 415 503",
        StudyBody,
        role=RESEARCHER,
    ),
    "POST /api/studies/{study}/models": Operation(
        "Have a model join a study, also while evaluators answer; the same order again returns the same job",
        {202: ("Its pictures are being checked, then it joins", Enqueued)},
        "400 403 404 409 415 503",
        ModelGiven,
        role=RESEARCHER,
    ),
    "GET /api/drafts": Operation(
        "One's own drafts of orders", {200: ("The drafts", Drafts)}, "403", role=RESEARCHER
    ),
    "GET /api/drafts/{draft}": Operation(
        "A draft of one's own", {200: ("The draft", DraftReply)}, "403 404", role=RESEARCHER
    ),
    "POST /api/drafts/{draft}": Operation(
        "Store a draft, any part of an order, under an id of one's own choice",
        {200: ("It is stored", DraftReply)},
        "400 403 409 413 415 503",
        StudyBody,
        role=RESEARCHER,
        is_audited=False,
    ),
    "POST /api/drafts/{draft}/delete": Operation(
        "Delete a draft; again, it changes nothing",
        {200: ("It is deleted", dict[str, Any])},
        "400 403 404 415",
        NoFields,
        role=RESEARCHER,
    ),
}


def add_routes(app: Flask, context: Context) -> None:
    """Add the routes of orders and drafts."""
    _add_orders(app, context)
    _add_drafts(app, context)


def _add_orders(app: Flask, context: Context) -> None:
    store, clock = context.store, context.clock

    @app.post("/api/studies")
    def order_study() -> tuple[dict, int]:
        from backend.jobs import create_study

        ordered, member = _ordered(), caller()
        concerns(_checked(ordered).name)
        before = create_study.ordered_before(store, member.name, ordered, clock())
        if before is None:
            _check(context, ordered, member)
            before = create_study.order(store, member.name, ordered, clock())
        return {"job": before.id}, 202

    @app.post("/api/audits")
    def order_audit() -> tuple[dict, int]:
        from backend.jobs import intake_audit

        ordered, member = _ordered(_UNNAMED), caller()
        _checked(ordered)
        _check_uploads(context, ordered.uploads, member)
        return {"job": intake_audit.order(store, member.name, ordered, clock()).id}, 202

    @app.post("/api/studies/<study>/models")
    def join_model(study: str) -> tuple[dict, int]:
        from backend.administration.join import check
        from backend.jobs.join_model import KIND

        found, given = store.study(study), body(ModelGiven)
        args = {"created_at": found.created_at, **msgspec.to_builtins(given), "model": clean(given.model)}
        before = next((each for each in queue.open_jobs(store) if _is(each, found, args)), None)
        if before is None:
            check(found, args["model"])
            _check_uploads(context, {f"model {args['model']}": given.upload}, caller())
            before = queue.enqueue(store, KIND, found.name, caller().name, args, clock())
        return {"job": before.id}, 202


def _is(job: Job, study: Study, args: dict[str, Any]) -> bool:
    return (job.study, job.member, job.args) == (study.name, caller().name, args)


def _ordered(name: str | None = None) -> StudyOrder:
    """Return the order in the current request's body.

    Args:
        name: the study's, if the order gives none.
    """
    given = plain(body(StudyBody, _MAX_BYTES))
    with worded():
        return study_order(given if name is None else {"name": name, **given})


def _checked(ordered: StudyOrder) -> StudySpec:
    """Return the specification of an order after checking each of its entries."""
    with worded():
        return ordered.spec(Path("pictures"))


def _check(context: Context, ordered: StudyOrder, member: Member) -> None:
    """Check all of an order but its pictures.

    Raises:
        InvalidInput: an entry that is missing, unknown or invalid.
        Conflict: there is a study of this name, or an upload is not complete.
        NotFound: there is no such upload of the member.
    """
    from backend.administration import create

    spec = _checked(ordered)
    with worded():
        create.check(context.store, spec)
    _check_uploads(context, ordered.uploads, member)


def _check_uploads(context: Context, given: Mapping[str, str], member: Member) -> None:
    if context.uploads is None:
        raise InvalidInput("no uploads are received here; make the study on the command line")
    for folder, upload in given.items():
        found = context.uploads.upload(upload)
        if found.member != member.name:
            raise uploads.unknown(upload)
        if found.state != "complete":
            raise Conflict(
                f"the upload of {folder} is not complete; send the parts that are missing first",
                code="parts_missing",
            )


def _add_drafts(app: Flask, context: Context) -> None:
    store = context.store

    @app.get("/api/drafts")
    def list_drafts() -> dict:
        own = _own("")
        return {
            "drafts": [
                _reply(entry.key, entry.data) for entry in store.entries(DRAFTS) if entry.key.startswith(own)
            ]
        }

    @app.get("/api/drafts/<draft>")
    def show_draft(draft: str) -> dict:
        entry = store.entry(DRAFTS, _own(draft))
        if entry is None:
            raise NotFound(f"there is no draft {draft!r}", code="unknown_draft")
        return _reply(entry.key, entry.data)

    @app.post("/api/drafts/<draft>")
    def store_draft(draft: str) -> dict:
        given = plain(body(StudyBody, _MAX_BYTES))
        if not _DRAFT.fullmatch(draft):
            raise InvalidInput(f"a draft's id must be 1 to 64 letters, digits, _ and -, not {draft!r}")
        key, own = _own(draft), _own("")
        if store.entry(DRAFTS, key) is None:
            mine = sum(entry.key.startswith(own) for entry in store.entries(DRAFTS))
            if mine >= _MOST_DRAFTS:
                raise Conflict(f"you have {mine} drafts, the most there can be; delete some", code="quota")
        data = {"updated_at": stamp(context.clock()), "body": given}
        update(store, DRAFTS, key, lambda _: data)
        return _reply(key, data)

    @app.post("/api/drafts/<draft>/delete")
    def delete_draft(draft: str) -> dict:
        body(NoFields)
        store.erase_entry(DRAFTS, _own(draft))
        return {}


def _own(draft: str) -> str:
    """Return the key of a draft of the caller; names of members have no spaces."""
    return f"{caller().name} {draft}"


def _reply(key: str, data: Any) -> dict[str, Any]:
    return {"draft": key.partition(" ")[2], "updated_at": data["updated_at"], "body": data["body"]}
