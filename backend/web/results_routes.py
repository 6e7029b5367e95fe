"""A study's status and scores, and the results pages, which ask whoever is not signed in for a token.

Scores and pages are computed on request, and recomputed only when a session was finished since.
"""

from collections.abc import Callable
from typing import Any

from flask import Flask, Response, request
from markupsafe import Markup
from msgspec import Struct

from backend.experiment.records import Study
from backend.foundation.errors import NotAllowed, Unavailable
from backend.members.roles import RESEARCHER
from backend.studies import look_records
from backend.web import assets, console_routes, login, queries
from backend.web.authorisation import caller, require
from backend.web.compression import compressed
from backend.web.context import Context
from backend.web.results import page_html, scores_json
from backend.web.results_cache import results_cache
from backend.web.routing import Routes

_MOST_BYTES = 32 * 2**20
"""Memory of the scores and pages that a server remembers; a page has 0.1 to 1 MiB."""
_WAIT_S = 2.0
"""Time for which a request waits for the worker."""
_AGAIN_S = 3
"""Time (s) after which a page that waits for results loads itself again."""
status, scores = Routes(RESEARCHER), Routes(RESEARCHER)
"""A study's progress; its scores, the full ones of which have the metrics that are kept with the study."""


class ScoresQuery(Struct, frozen=True):
    """Which scores are asked for."""

    full: bool = False
    """`true`: with all findings of a report (`findings`)."""
    simulated: bool = False
    """`true`: of simulated sessions, rather than real ones; `simulated` in the reply says which."""


@status("GET /api/studies/{study}/status")
def show_status(context: Context, study: Study) -> dict[str, Any]:
    """How far a study is.

    Returns:
        Sessions by model and state, pay, wage; finished simulated sessions apart (`simulated`).
    """
    from backend.web.progress import progress

    return progress(context.store, study)


@scores(
    "GET /api/studies/{study}/scores",
    "409 503",
    gives=dict[str, Any],
    is_polled=True,
    also={
        303: (
            "On AWS, if they are long: the scores are at `Location`, for a minute; send no token there",
            None,
        )
    },
)
def show_scores(context: Context, study: Study, query: ScoresQuery) -> Response:
    """The scores of a study, computed now. On AWS the worker does it; meanwhile: 503, to be asked for again.

    Returns:
        Scores, intervals, tests.
    """
    from backend.metrics import study_metrics
    from backend.responses.study_data import version

    store, data, simulated = context.store, context.data, query.simulated
    look_records.check_shown(study, simulated)
    tag = version(store, study, simulated)
    tag = _tagged(tag, study_metrics.version(data, study.name) if query.full else "")
    reply = unchanged(tag)
    if reply is None:
        options = {"full": query.full, "simulated": simulated}
        body = _computed(
            context, study, "scores.json", options, tag,
            lambda: scores_json(store, data, study, context.clock(), **options),
        )  # fmt: skip
        reply = compressed(Response(body, mimetype="application/json"))
        downloads = context.downloads
        if len(reply.get_data()) > downloads.most_bytes:
            path = downloads.get(study, "scores.json", options, tag, caller().name, _WAIT_S)
            reply = downloads.sent(path, "application/json", f"{study.name}-scores.json")
        reply.set_etag(tag)
    reply.headers["Cache-Control"] = "private, no-cache"
    return reply


def _computed(
    context: Context,
    study: Study,
    kind: str,
    options: dict[str, Any],
    tag: str,
    make: Callable[[], bytes],
) -> bytes:
    """Return what `make` computes, once for each tag; on AWS, the worker computes it.

    Raises:
        Unavailable: `being_made`: by the worker.
    """

    def made_elsewhere() -> bytes:
        try:
            path = downloads.get(study, kind, options, tag, caller().name, _WAIT_S)
            return downloads.content(path)
        except FileNotFoundError:
            raise Unavailable(f"{kind} of study {study.name} is being made anew", code="being_made") from None

    downloads = context.downloads
    key = kind, study.name, tag, *options.values()
    return context.shared(_results)(key, made_elsewhere if downloads.is_elsewhere else make)


def _results(context: Context) -> Callable[..., bytes]:
    """Return the cache of scores and pages, as bytes by study and version."""
    return results_cache(_MOST_BYTES, len)


def add_pages(app: Flask, context: Context, read: Callable[[str, str], bytes | None]) -> None:
    """Add the results pages: `/results`, the list of studies, and `/results/<study>`.

    Whoever is not signed in gets the console's page in their place, which asks for a token and loads them
    again.

    Args:
        read: reads stimuli, as for `thumbnails.thumbnails`.
    """
    store, data = context.store, context.data

    @app.get(login.PATH)
    def results() -> Response:
        return _sign_in_first(context) or _page("Results", console=_console_link(), studies=store.studies())

    @app.get(f"{login.PATH}/<study>")
    def result(study: str) -> Response:
        from backend.metrics import study_metrics
        from backend.responses.study_data import version

        if (asked := _sign_in_first(context)) is not None:
            return asked
        record, simulated = store.study(study), queries.parse(ScoresQuery).simulated
        look_records.check_shown(record, simulated)
        others = bool(store.finished(study, not simulated)[0])
        if others and not store.finished(study, simulated)[0]:
            return _nothing_yet(study, simulated)
        tag = f"{version(store, record, simulated)}{'-with-others' if others else ''}"
        tag = _tagged(tag, study_metrics.version(data, study))
        reply = unchanged(tag)
        if reply is None:
            top = _console_link(study) + (_other_page(simulated) if others else "")
            options: dict[str, Any] = {"top": top, "simulated": simulated}
            try:
                page = _computed(
                    context, record, "results.html", options, tag,
                    lambda: page_html(store, data, record, context.clock(), read, **options),
                )  # fmt: skip
            except Unavailable as error:
                if error.code != "being_made":
                    raise
                return _soon(study)
            reply = compressed(Response(page, mimetype="text/html"))
            reply.set_etag(tag)
        return reply


def _sign_in_first(context: Context) -> Response | None:
    """Return the console's page unless a researcher is signed in; it says nothing of what was asked for.

    Raises:
        NotAllowed: another token would not help, since who is signed in is not a researcher, for example.
    """
    try:
        require(context, RESEARCHER)
    except NotAllowed as refusal:
        if refusal.code not in login.SIGN_IN_CODES:
            raise
        sent = {**console_routes.page_headers(), "Cache-Control": "no-store"}
        return Response(assets.page("console.html", request.script_root), 403, sent, mimetype="text/html")
    return None


def refused(message: str, status: int) -> Response:
    study = "" if status == 404 else (request.view_args or {}).get("study", "")
    return _page("This page cannot be shown", status, _console_link(study), message=message)


def unchanged(tag: str) -> Response | None:
    """Return the reply (304) for a browser that has this version already, else None."""
    if not request.if_none_match.contains(tag):
        return None
    reply = Response(status=304)
    reply.set_etag(tag)
    return reply


def _tagged(tag: str, metrics: str) -> str:
    """Return the tag of a reply with the version of the metrics that are kept with the study, if any."""
    return f"{tag}-{metrics}" if metrics else tag


def _page(title: str, status: int = 200, console: str = "", **values: Any) -> Response:
    from backend.report.page import plain

    text = plain("notice.html", root=request.script_root, title=title, console=Markup(console), **values)
    return Response(text, status, mimetype="text/html")


def _nothing_yet(study: str, simulated: bool) -> Response:
    """Return the page of a study in which only sessions of the other kind are finished."""
    done, other = ("simulated", "real") if simulated else ("real", "simulated")
    message = f"No {done} session of {study} is finished yet; {other} ones are."
    return _page(f"Results of {study}", 404, _console_link(study), message=message, link=_link(simulated))


def _soon(study: str) -> Response:
    """Return a page that loads itself again until the results have been computed."""
    message = "The results are being computed. This page shows them when they are there."
    reply = _page(f"Results of {study}", 503, _console_link(study), message=message)
    reply.headers.update({"Refresh": f"{_AGAIN_S}", "Retry-After": f"{_AGAIN_S}"})
    return reply


def _link(simulated: bool) -> tuple[str, str]:
    """Return URL and text of the link to the results of the other kind of sessions."""
    if simulated:
        return "?", "Results of real sessions"
    return "?simulated=true", "Results of simulated sessions"


def _other_page(simulated: bool) -> str:
    address, words = _link(simulated)
    return f'<p class="small"><a href="{address}">{words}</a></p>'


def _console_link(study: str = "") -> str:
    """Return a link to the study in the console, or to all studies there, and one to sign out."""
    if study:
        path, words = console_routes.path_of_study(study), "Back to the study in the console"
    else:
        path, words = console_routes.PATH, "All studies in the console"
    root = request.script_root
    leave = f'<a class="leave" href="{root}{console_routes.PATH}/sign-out">Sign out</a>'
    return f'<nav class="small back" aria-label="Console">{leave}<a href="{root}{path}">{words}</a></nav>'
