"""Routes of files to download: report, data set, responses, masks, demo. The server computes none of them."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from flask import Flask, Response, request, send_file

from backend.members.roles import RESEARCHER
from backend.metrics import stored
from backend.responses.study_data import version
from backend.stores.store import Store
from backend.web import queries
from backend.web.context import Context
from backend.web.download_files import removed
from backend.web.downloads import Downloads
from backend.web.operations import SINCE, TRUE_OR_FALSE, UNCHANGED, Operation, Operations

_PATH = "/api/studies/{study}"
_SIMULATED = (
    "simulated",
    "query",
    TRUE_OR_FALSE,
    "`true`: of simulated sessions, instead of real ones",
)
_NUMBER = {"type": "number"}
_TEXT = {"type": "string", "maxLength": 300}
_NAMES = {"type": "array", "items": _TEXT, "maxItems": 50}
MEDIA = {"zip": "application/zip", "csv": "text/csv", "png": "image/png"}


def _operation(summary: str, what: str, media: str, *parameters: tuple) -> Operation:
    return Operation(
        summary,
        {200: (what, None), **UNCHANGED},
        "400 404 501 503",
        role=RESEARCHER,
        parameters=(*parameters, SINCE),
        headers=("ETag", "Content-Disposition"),
        reply_media=media,
    )


OPERATIONS: Operations = {
    f"GET {_PATH}/report.zip": _operation(
        "A report: page, figures, tables. While it is being made: 503, to be asked for again",
        "One folder with index.html",
        MEDIA["zip"],
        _SIMULATED,
        ("title", "query", {"type": "string", "maxLength": 300}, "Of the page"),
        (
            "exposures",
            "query",
            {"type": "string", "enum": ["nominal", "shown"]},
            "HYPE-time: as the staircase asked for, or as displays showed them",
        ),
        ("level", "query", _NUMBER, "Of the intervals, between 0 and 1; by default 0.95"),
        ("margin", "query", _NUMBER, "Percentage points around 50% that count as indistinguishable"),
        ("threshold_at", "query", _NUMBER, "Accuracy at which thresholds are taken; by default 0.75"),
        (
            "iterations",
            "query",
            {"type": "integer", "minimum": 1},
            "Monte Carlo bootstrap instead of the exact one",
        ),
        ("seed", "query", {"type": "integer", "minimum": 0}, "Of that bootstrap"),
    ),
    f"GET {_PATH}/export.zip": _operation(
        "The answers as a Psych-DS data set, with what publishing it needs",
        "One folder",
        MEDIA["zip"],
        _SIMULATED,
        (
            "croissant",
            "query",
            TRUE_OR_FALSE,
            "`false`: without croissant.json, the header for `datasets`, model cards and CITATION.cff",
        ),
        ("creator", "query", _NAMES, "Who made the data set: `Lovelace, Ada`; again for each"),
        ("license", "query", _TEXT, "Such as CC-BY-4.0, or an address"),
        ("url", "query", _TEXT, "Where the data set is published"),
        ("release", "query", _TEXT, "Version of the data set; by default 1.0.0"),
        (
            "bapps",
            "query",
            TRUE_OR_FALSE,
            "2AFC, JND: `true`: also pictures and votes in the layout of BAPPS",
        ),
    ),
    f"GET {_PATH}/responses.csv": _operation(
        "The scored answers, one row each: the file to score", "The answers", MEDIA["csv"], _SIMULATED
    ),
    f"GET {_PATH}/masks.png": _operation(
        "Masks of a study, to look at",
        "A picture",
        MEDIA["png"],
        ("count", "query", {"type": "integer", "minimum": 1, "maximum": 1000}, "How many; by default 10"),
    ),
    f"GET {_PATH}/site.zip": _operation(
        "A demo of a study as files for any web server; it contains the truth of its pictures",
        "One folder with index.html",
        MEDIA["zip"],
        (
            "each",
            "query",
            {"type": "integer", "minimum": 1},
            "Pictures of the reals, and of each model, at most; by default 100",
        ),
    ),
}


def add_routes(app: Flask, context: Context) -> None:
    """Add the routes."""
    store, data = context.store, context.data
    downloads = Downloads(store, data)

    def sent(study: str, kind: str, options: Mapping[str, Any], *facts: str) -> Response:
        """Return a file of a study, or 304; `facts` change whenever its content may."""
        found = store.study(study)
        simulated = options.get("simulated", False)
        tag = "-".join(filter(None, (version(store, found, simulated), *facts, *_shortened(options))))
        if request.if_none_match.contains(tag):
            reply = Response(status=304)
        else:
            path = downloads.get(found, kind, options, tag)
            try:
                reply = send_file(
                    path,
                    mimetype=MEDIA[kind.rpartition(".")[2]],
                    as_attachment=True,
                    download_name=f"{found.name}-{kind}",
                    etag=False,
                    conditional=True,
                    last_modified=None,
                )
            except FileNotFoundError:
                raise removed(found, kind) from None
        reply.set_etag(tag)
        reply.headers["Cache-Control"] = "private, no-cache"
        return reply

    @app.get("/api/studies/<study>/report.zip")
    def report(study: str) -> Response:
        options = {
            "simulated": queries.truth_value("simulated"),
            "title": queries.text("title"),
            "exposures": queries.choice("exposures", ("nominal", "shown")),
            "level": queries.number("level", 1e-6, 1 - 1e-6),
            "margin": queries.number("margin", 0, 50, is_open=True) or 5.0,
            "threshold_at": queries.number("threshold_at", 0.5, 1, is_open=True) or 0.75,
            "iterations": queries.whole("iterations", 1, 10_000_000),
            "seed": queries.whole("seed", 0, 2**31 - 1),
        }
        return sent(study, "report.zip", options, stored.version(data, study))

    @app.get("/api/studies/<study>/export.zip")
    def export(study: str) -> Response:
        simulated = queries.truth_value("simulated")
        options = {
            "simulated": simulated,
            "bapps": queries.truth_value("bapps"),
            "croissant": _declared() if queries.choice("croissant", ("true", "false")) == "true" else None,
        }
        return sent(study, "export.zip", options, _unfinished(store, study, simulated))

    @app.get("/api/studies/<study>/responses.csv")
    def responses(study: str) -> Response:
        return sent(study, "responses.csv", {"simulated": queries.truth_value("simulated")})

    @app.get("/api/studies/<study>/masks.png")
    def masks(study: str) -> Response:
        return sent(study, "masks.png", {"count": queries.whole("count", 1, 1000) or 10})

    @app.get("/api/studies/<study>/site.zip")
    def site(study: str) -> Response:
        return sent(study, "site.zip", {"each": queries.whole("each", 1, 1_000_000) or 100})


def _declared() -> dict[str, Any]:
    """Return what is declared of a data set, checked.

    Raises:
        InvalidInput: one of it is not as it must be.
    """
    from backend.responses.publication.terms import terms_of

    creators, licence = queries.texts("creator", most=50), queries.text("license")
    url, release = queries.text("url"), queries.text("release")
    terms_of("", creators, licence, url, release)
    return {"creators": creators, "licence": licence, "url": url, "release": release}


def _shortened(options: Mapping[str, Any]) -> tuple[str]:
    """Return options as a short text that differs whenever they do."""
    return (hashlib.blake2b(json.dumps(options, sort_keys=True).encode(), digest_size=8).hexdigest(),)


def _unfinished(store: Store, study: str, simulated: bool) -> str:
    """Return a text that changes with the sessions that are not finished, which an export has as well."""
    if simulated:
        return str(sum(cursor.version for _, cursor in store.sessions(study, simulated=True)))
    return str(sum(cursor.version for _, cursor in store.cursors(study)))
