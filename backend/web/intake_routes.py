"""Routes by which studies are made from uploads: orders, audits of pictures, drafts."""

import re
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from backend.administration.study_spec import StudySpec
from backend.experiment.records import Stimulus, Study
from backend.foundation.errors import Conflict, InvalidInput, NotFound
from backend.foundation.names import clean
from backend.foundation.timestamps import stamp
from backend.jobs import queue
from backend.jobs.study_orders import StudyOrder, study_order, worded
from backend.members.roles import RESEARCHER, Member
from backend.stores.store import Entry
from backend.stores.updates import update
from backend.uploads import uploads
from backend.web.authorisation import caller, concerns
from backend.web.context import Context
from backend.web.job_types import (
    DraftReply,
    Drafts,
    Duplicate,
    Enqueued,
    ModelGiven,
    StudyBody,
    plain,
)
from backend.web.preview_routes import OpenedPreview, opened
from backend.web.routing import Routes

DRAFTS = "drafts"
"""The book of drafts, by member and id."""
MOST_BYTES = 256 * 1024
_MOST_DRAFTS = 100
_DRAFT = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_UNNAMED = "audit"
"""The name of a study that has none yet, in an audit."""
route = Routes(RESEARCHER)


@route("POST /api/studies", "404 409 413 503", status=202, most_bytes=MOST_BYTES)
def order_study(context: Context, given: StudyBody) -> Enqueued:
    """Make a study from uploads; the same order again returns the same job.

    Returns:
        It is being made.
    """
    from backend.jobs import create_study

    ordered, member = _ordered(given), caller()
    concerns(_checked(ordered).name)
    before = create_study.ordered_before(context.store, member.name, ordered, context.clock())
    if before is None:
        _check(context, ordered, member)
        before = create_study.order(context.store, member.name, ordered, context.clock())
    return {"job": before.id}


@route("POST /api/audits", "404 409 413 503", status=202, most_bytes=MOST_BYTES)
def order_audit(context: Context, given: StudyBody) -> Enqueued:
    """Compare the pictures of an order's sides, and find files that cannot be used; nothing is made.

    The same order of the same content, also of another member, is the same job.

    Returns:
        It is being done.
    """
    from backend.jobs import intake_audit

    ordered, member = _ordered(given, _UNNAMED), caller()
    _checked(ordered)
    digests = upload_digests(context, ordered.uploads, member)
    return {"job": intake_audit.order(context.store, member.name, ordered, digests, context.clock()).id}


@route("POST /api/previews", "404 409 413 503", status=201, is_audited=False, most_bytes=MOST_BYTES)
def preview_order(context: Context, given: StudyBody) -> OpenedPreview:
    """Open a preview of the study that an order would make, with fewer pictures; no study is made.

    Returns:
        It is open.
    """
    from backend.web.order_previews import make

    ordered, member = _ordered(given, _UNNAMED), caller()
    spec = _checked(ordered)
    upload_digests(context, ordered.uploads, member)
    return opened(context, spec.name, lambda preview: make(preview, context, ordered))


@route("POST /api/studies/{study}/models", "409 503", status=202)
def join_model(context: Context, study: Study, given: ModelGiven) -> Enqueued:
    """Have a model join a study, also while evaluators answer; the same order again returns the same job.

    Returns:
        Its pictures are being checked, then it joins.
    """
    from backend.administration.join import check
    from backend.jobs.join_model import KIND

    store, member = context.store, caller()
    args = {"created_at": study.created_at, **msgspec.to_builtins(given), "model": clean(given.model)}
    same = (study.name, member.name, args)
    before = next((job for job in queue.open_jobs(store) if (job.study, job.member, job.args) == same), None)
    if before is None:
        check(study, args["model"])
        upload_digests(context, {f"model {args['model']}": given.upload}, member)
        before = queue.enqueue(store, KIND, study.name, member.name, args, context.clock())
    return {"job": before.id}


@route("GET /api/drafts")
def list_drafts(context: Context) -> Drafts:
    """One's own drafts of orders.

    Returns:
        The drafts.
    """
    return {"drafts": [_reply(entry.key, entry.data) for entry in _own_drafts(context)]}


@route("GET /api/drafts/{draft}")
def show_draft(context: Context, draft: str) -> DraftReply:
    """A draft of one's own.

    Returns:
        The draft.
    """
    entry = context.store.entry(DRAFTS, _own(draft))
    if entry is None:
        raise NotFound(f"there is no draft {draft!r}", code="unknown_draft")
    return _reply(entry.key, entry.data)


@route("POST /api/drafts/{draft}", "409 413 503", without="404", is_audited=False, most_bytes=MOST_BYTES)
def store_draft(context: Context, draft: str, given: StudyBody) -> DraftReply:
    """Store a draft, any part of an order, under an id of one's own choice.

    Returns:
        It is stored.
    """
    if not _DRAFT.fullmatch(draft):
        raise InvalidInput(f"a draft's id must be 1 to 64 letters, digits, _ and -, not {draft!r}")
    return _stored(context, draft, plain(given))


@route("POST /api/studies/{study}/duplicate", "409 503")
def duplicate_study(context: Context, study: Study) -> Duplicate:
    """Make a draft with the settings of a study, and with the pictures that one sent for it.

    Returns:
        The draft, and which pictures it lacks.
    """
    from backend.jobs.duplicate import draft_of

    body, lacks = draft_of(context.store, study, lambda upload: _is_usable(context, upload))
    draft = _stored(context, secrets.token_hex(8), body)["draft"]
    return {"draft": draft, "lacks": lacks}


@route("POST /api/drafts/{draft}/delete")
def delete_draft(context: Context, draft: str) -> dict[str, Any]:
    """Delete a draft; again, it changes nothing.

    Returns:
        It is deleted.
    """
    context.store.erase_entry(DRAFTS, _own(draft))
    return {}


def _ordered(given: StudyBody, name: str | None = None) -> StudyOrder:
    """Return the order in a request's body.

    Args:
        name: the study's, if the order gives none.
    """
    order = plain(given)
    with worded():
        return study_order(order if name is None else {"name": name, **order})


def _checked(ordered: StudyOrder) -> StudySpec:
    """Return the specification of an order after checking each of its entries."""
    with worded():
        return ordered.spec(Path("pictures"))


def _check(context: Context, ordered: StudyOrder, member: Member) -> None:
    """Check all of an order but what only its pictures tell; of those that were audited, their number.

    Raises:
        InvalidInput: an entry that is missing, unknown or invalid, or too few pictures for the settings.
        Conflict: there is a study of this name, or an upload is not complete.
        NotFound: there is no such upload of the member.
    """
    from backend.administration.spec_checks import check

    spec = _checked(ordered)
    with worded():
        check(context.store, spec)
    check_audited(context, ordered, upload_digests(context, ordered.uploads, member))


def audited_order(context: Context, given: StudyBody) -> tuple[StudyOrder, Mapping[str, str]] | None:
    """Return an order with the digests of its uploads; None if an upload is incomplete or gone."""
    ordered = _ordered(given, _UNNAMED)
    try:
        return ordered, upload_digests(context, ordered.uploads, caller())
    except (NotFound, Conflict):
        return None


def check_audited(
    context: Context, ordered: StudyOrder, digests: Mapping[str, str]
) -> tuple[Stimulus, ...] | None:
    """Return the stimuli that an audit found in an order's pictures; None if these were not audited.

    Raises:
        InvalidInput: an entry is invalid, or the pictures do not suffice for the settings.
    """
    from backend.administration.creation_preview import check_pictures
    from backend.jobs import intake_audit

    stimuli = intake_audit.audited(context.store, ordered, digests)
    with worded():
        check_pictures(_checked(ordered), stimuli)
    return stimuli


def upload_digests(context: Context, given: Mapping[str, str], member: Member) -> dict[str, str]:
    """Return the digest of each upload by its folder.

    Raises:
        Conflict: an upload is not complete.
        NotFound: there is no such upload of the member.
    """
    digests = {}
    if context.uploads is None:
        raise InvalidInput("no uploads are received here; use the command line")
    for folder, upload in given.items():
        record = context.uploads.upload(upload)
        if record.member != member.name:
            raise uploads.unknown(upload)
        if record.state != "complete":
            raise Conflict(
                f"the upload of {folder} is not complete; send the parts that are missing first",
                code="parts_missing",
            )
        digests[folder] = record.digest
    return digests


def _is_usable(context: Context, upload: str) -> bool:
    try:
        upload_digests(context, {"": upload}, caller())
    except (Conflict, InvalidInput, NotFound):
        return False
    return True


def _stored(context: Context, draft: str, body: Mapping[str, Any]) -> DraftReply:
    """Store a draft of the caller's.

    Raises:
        Conflict: there are too many.
    """
    store, key = context.store, _own(draft)
    if store.entry(DRAFTS, key) is None and (mine := len(_own_drafts(context))) >= _MOST_DRAFTS:
        raise Conflict(f"you have {mine} drafts, the most there can be; delete some", code="quota")
    data = {"updated_at": stamp(context.clock()), "body": body}
    update(store, DRAFTS, key, lambda _: data)
    return _reply(key, data)


def _own_drafts(context: Context) -> list[Entry]:
    own = _own("")
    return [entry for entry in context.store.entries(DRAFTS) if entry.key.startswith(own)]


def _own(draft: str) -> str:
    """Return the key of a draft of the caller; names of members have no spaces."""
    return f"{caller().name} {draft}"


def _reply(key: str, data: Any) -> DraftReply:
    return {"draft": key.partition(" ")[2], "updated_at": data["updated_at"], "body": data["body"]}
