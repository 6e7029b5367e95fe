"""Routes of files to download: report, data set, responses, masks, demo. The server computes none of them."""

import hashlib
import json
from typing import Annotated, Any, Literal

from flask import Response, request
from msgspec import Meta, Struct
from msgspec.structs import asdict
from werkzeug.http import parse_dict_header

from backend.experiment.records import Study
from backend.foundation.errors import Unavailable
from backend.members.roles import RESEARCHER
from backend.metrics import study_metrics
from backend.responses.study_data import version
from backend.stores.store import Store
from backend.task.requests import Whole
from backend.web.authorisation import caller
from backend.web.context import Context
from backend.web.downloads import WAIT_S
from backend.web.plan_types import Share
from backend.web.routing import Routes

MEDIA = {"zip": "application/zip", "csv": "text/csv", "png": "image/png"}
_SENT: dict[str, Any] = {
    "is_polled": True,
    "headers": ("Content-Disposition",),
    "also": {303: ("On AWS: the file is at `Location`, for a minute; send no token there", None)},
}
route = Routes(RESEARCHER)
Line = Annotated[str, Meta(max_length=300)]


class AnswersQuery(Struct, frozen=True):
    """Whose answers are asked for."""

    simulated: bool = False
    """`true`: of simulated sessions, instead of real ones."""


class ReportQuery(AnswersQuery, frozen=True):
    """What a report shows."""

    title: Line = ""
    """Of the page."""
    exposures: Literal["nominal", "shown"] = "nominal"
    """HYPE-time: as the staircase asked for, or as displays showed them."""
    level: Share | None = None
    """Of the intervals, between 0 and 1; by default 0.95."""
    margin: Annotated[float, Meta(gt=0, lt=50)] = 5.0
    """Percentage points that count as no difference, of two models or from 50%."""
    threshold_at: Annotated[float, Meta(gt=0.5, lt=1)] = 0.75
    """Accuracy at which thresholds are taken; by default 0.75."""
    iterations: Annotated[int, Meta(ge=1, le=10_000_000)] | None = None
    """Monte Carlo bootstrap instead of the exact one."""
    seed: Whole | None = None
    """Of that bootstrap."""


class ExportQuery(AnswersQuery, frozen=True):
    """What a data set contains, and what is declared of it."""

    croissant: bool = True
    """`false`: without croissant.json, the header for `datasets`, model cards and CITATION.cff."""
    creator: Annotated[list[Line], Meta(max_length=50)] = []
    """Who made the data set: `Lovelace, Ada`; again for each."""
    license: Line = ""
    """Such as CC-BY-4.0, or an address."""
    url: Line = ""
    """Where the data set is published."""
    release: Line = ""
    """Version of the data set; by default 1.0.0."""
    bapps: bool = False
    """2AFC, JND: `true`: also pictures and votes in the layout of BAPPS."""


class MasksQuery(Struct, frozen=True):
    """How many masks are asked for."""

    count: Annotated[int, Meta(ge=1, le=1000)] = 10
    """How many; by default 10."""


class SiteQuery(Struct, frozen=True):
    """How large a demo is to be."""

    each: Annotated[int, Meta(ge=1, le=1_000_000)] = 100
    """Pictures of the reals, and of each model, at most; by default 100."""


@route("GET /api/studies/{study}/report.zip", "409 501 503", reply_media=MEDIA["zip"], **_SENT)
def send_report(context: Context, study: Study, query: ReportQuery) -> Response:
    """A report: page, figures, tables. While it is being made: 503, to be asked for again.

    Returns:
        One folder with index.html.
    """
    return _sent(context, study, "report.zip", asdict(query), study_metrics.version(context.data, study.name))


@route("GET /api/studies/{study}/export.zip", "409 501 503", reply_media=MEDIA["zip"], **_SENT)
def send_export(context: Context, study: Study, query: ExportQuery) -> Response:
    """The answers as a Psych-DS data set, with what publishing it needs.

    Returns:
        One folder.
    """
    options = {
        "simulated": query.simulated,
        "bapps": query.bapps,
        "croissant": _declared(query) if query.croissant else None,
    }
    unfinished = _unfinished(context.store, study.name, query.simulated)
    return _sent(context, study, "export.zip", options, unfinished)


@route("GET /api/studies/{study}/responses.csv", "409 501 503", reply_media=MEDIA["csv"], **_SENT)
def send_responses(context: Context, study: Study, query: AnswersQuery) -> Response:
    """The scored answers, one row each: the file to score.

    Returns:
        The answers.
    """
    return _sent(context, study, "responses.csv", asdict(query))


@route("GET /api/studies/{study}/masks.png", "409 501 503", reply_media=MEDIA["png"], **_SENT)
def send_masks(context: Context, study: Study, query: MasksQuery) -> Response:
    """Masks of a study, to look at.

    Returns:
        A picture.
    """
    return _sent(context, study, "masks.png", asdict(query))


@route("GET /api/studies/{study}/site.zip", "409 501 503", reply_media=MEDIA["zip"], **_SENT)
def send_site(context: Context, study: Study, query: SiteQuery) -> Response:
    """A demo of a study as files for any web server; it contains the truth of its pictures.

    Returns:
        One folder with index.html.
    """
    return _sent(context, study, "site.zip", asdict(query))


def _sent(context: Context, study: Study, kind: str, options: dict[str, Any], *facts: str) -> Response:
    """Return a file of a study, or 304; `facts` change whenever its content may.

    Raises:
        Unavailable: as `Downloads.get`; also if the file was removed just now, since somebody withdrew.
    """
    known = version(context.store, study, options.get("simulated", False))
    tag = "-".join(filter(None, (known, *facts, _shortened(options))))
    if request.if_none_match.contains(tag):
        reply = Response(status=304)
    else:
        downloads = context.downloads
        path = downloads.get(study, kind, options, tag, caller().name, _longest_wait_s())
        try:
            reply = downloads.sent(path, MEDIA[kind.rpartition(".")[2]], f"{study.name}-{kind}")
        except FileNotFoundError:
            raise Unavailable(
                f"{kind} of study {study.name} is being made anew; ask again", code="being_made"
            ) from None
    reply.set_etag(tag)
    reply.headers["Cache-Control"] = "private, no-cache"
    return reply


def _longest_wait_s() -> float:
    """Return how long the client prefers to wait (s), by the header `Prefer: wait=SECONDS` (RFC 7240)."""
    wait = parse_dict_header(request.headers.get("Prefer", "")).get("wait") or ""
    return min(float(wait), WAIT_S) if wait.isdecimal() else WAIT_S


def _declared(query: ExportQuery) -> dict[str, Any]:
    """Return what is declared of a data set, checked.

    Raises:
        InvalidInput: one of it is not as it must be.
    """
    from backend.responses.publication.terms import terms_of

    terms_of("", tuple(query.creator), query.license, query.url, query.release)
    return {
        "creators": query.creator, "licence": query.license, "url": query.url, "release": query.release,
    }  # fmt: skip


def _shortened(options: dict[str, Any]) -> str:
    """Return options as a short text that differs whenever they do."""
    return hashlib.blake2b(json.dumps(options, sort_keys=True).encode(), digest_size=8).hexdigest()


def _unfinished(store: Store, study: str, simulated: bool) -> str:
    """Return a text that changes with the sessions that are not finished, which an export has as well."""
    if simulated:
        return str(sum(cursor.version for _, cursor in store.sessions(study, simulated=True)))
    return str(sum(cursor.version for _, cursor in store.cursors(study)))
