"""Routes that require the researcher's key: the API by a header, the results page by a cookie.

Scores and pages are computed on request, and recomputed only when a session was finished since.
"""

import gzip
import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

from flask import Flask, Response, redirect, request

from backend.foundation.errors import InvalidInput
from backend.stores.datadir import DataDir, Keys
from backend.stores.store import Store
from backend.task.service import Clock
from backend.web import assets, login
from backend.web.results_cache import ResultsCache


def add_status(app: Flask, store: Store, check_key: Callable[[], None]) -> None:
    """Add a study's progress to the API."""

    @app.get("/api/studies/<study>/status")
    def status(study: str) -> dict:
        from backend.web.progress import progress

        check_key()
        return progress(store, store.study(study))


def add_scores(app: Flask, store: Store, data: DataDir, check_key: Callable[[], None], clock: Clock) -> None:
    """Add scores to the API; the full ones have the metrics that are kept with the study in `data`."""
    cache = ResultsCache()

    @app.get("/api/studies/<study>/scores")
    def scores(study: str) -> Response:
        from backend.metrics import stored
        from backend.report.findings import FindingsOptions
        from backend.report.study_findings import study_findings
        from backend.responses.study_data import study_scores, version

        check_key()
        is_full, simulated = _asks("full"), _asks("simulated")
        found = store.study(study)
        tag = _tagged(version(store, found, simulated), stored.version(data, study) if is_full else "")
        reply = unchanged(tag)
        if reply is None:

            def make() -> dict:
                if is_full:
                    options = FindingsOptions(stored.stored_metrics(data, found))
                    return study_findings(store, found, clock(), options, simulated=simulated)
                return study_scores(store, found, simulated=simulated)

            body = cache.get((study, is_full, simulated), tag, lambda: _json(make()))
            reply = _compressed(Response(body, mimetype="application/json"))
            reply.set_etag(tag)
        reply.headers["Cache-Control"] = "private, no-cache"
        return reply


def add_pages(
    app: Flask,
    store: Store,
    data: DataDir,
    read: Callable[[str, str], bytes | None],
    keys: Keys,
    clock: Clock,
) -> None:
    """Add the results pages: `/results`, the list of studies, and `/results/<study>`.

    Args:
        data: has the metrics that are kept with studies.
        read: reads stimuli, as for `thumbnails.thumbnails`.
    """
    cache = ResultsCache()

    @app.get(login.PATH)
    def results() -> Response:
        if not login.is_logged_in(request, keys, clock()):
            return login_page("Results")
        return _page("Results", studies=store.studies())

    @app.get(f"{login.PATH}/<study>")
    def result(study: str) -> Response:
        from backend.metrics import stored
        from backend.report.build import study_page
        from backend.responses.study_data import version

        now = clock()
        if not login.is_logged_in(request, keys, now):
            return login_page("Results")
        found, simulated = store.study(study), _asks("simulated")
        others = bool(store.finished(study, not simulated)[0])
        if others and not store.finished(study, simulated)[0]:
            return _nothing_yet(study, simulated)
        tag = f"{version(store, found, simulated)}{'-with-others' if others else ''}"
        tag = _tagged(tag, stored.version(data, study))
        reply = unchanged(tag)
        if reply is None:
            top = _leave(study) + (_other_page(simulated) if others else "")
            page = cache.get(
                (study, simulated),
                tag,
                lambda: study_page(store, read, found, now, top, data, simulated).encode(),
            )
            reply = _compressed(Response(page, mimetype="text/html"))
            reply.set_etag(tag)
        return reply

    @app.post(login.PATH, defaults={"study": ""})
    @app.post(f"{login.PATH}/<study>")
    def show_key(study: str) -> Response:
        return enter(keys, clock(), "Results")

    @app.post(f"{login.PATH}/<study>/leave")
    def leave(study: str) -> Response:
        reply = redirect(f"{login.PATH}/{study}", 303)
        login.log_out(reply)
        return reply


def enter(keys: Keys, now: datetime, title: str) -> Response:
    """Log in a browser that sent the key with the form of `login_page`, or show the form again."""
    if not login.is_key(keys, request.form.get("key", "").strip()):
        return login_page(title, is_wrong=True)
    reply = redirect(request.path, 303)
    login.log_in(reply, request, keys, now)
    return reply


def login_page(title: str, is_wrong: bool = False) -> Response:
    """Return the login page."""
    return _page(title, is_wrong=is_wrong, asks=True, status=403)


def refused(message: str, status: int) -> Response:
    """Return an error as a page."""
    return _page("This page cannot be shown", message=message, status=status)


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


def _asks(name: str) -> bool:
    """Return whether a query parameter is true.

    Raises:
        InvalidInput: it is neither true nor false.
    """
    value = request.args.get(name, "false")
    if value not in ("true", "false"):
        raise InvalidInput(f"{name} must be true or false, not {value!r}")
    return value == "true"


def _json(data: Any) -> bytes:
    return json.dumps(data, allow_nan=False).encode() + b"\n"


def _page(title: str, status: int = 200, **values: Any) -> Response:
    from backend.report.page import plain

    text = plain("login.html", title=title, script=_script(), **values)
    return Response(text, status, mimetype="text/html")


def _script() -> str:
    """Return the URL of the script that sends a page's forms with the digest that CloudFront needs."""
    return f"/assets/{assets.version()}/forms.js"


def _compressed(reply: Response) -> Response:
    """Compress a long reply if the browser accepts it: a function's reply is limited to 6 MB."""
    reply.headers["Vary"] = "Accept-Encoding"
    if request.accept_encodings["gzip"] > 0:
        reply.set_data(gzip.compress(reply.get_data(), compresslevel=6, mtime=0))
        reply.headers["Content-Encoding"] = "gzip"
    return reply


def _nothing_yet(study: str, simulated: bool) -> Response:
    """Return the page of a study in which only sessions of the other kind are finished."""
    done, other = ("simulated", "real") if simulated else ("real", "simulated")
    message = f"No {done} session of {study} is finished yet; {other} ones are."
    return _page(f"Results of {study}", message=message, link=_link(simulated), status=404)


def _link(simulated: bool) -> tuple[str, str]:
    """Return URL and text of the link to the results of the other kind of sessions."""
    if simulated:
        return "?", "Results of real sessions"
    return "?simulated=true", "Results of simulated sessions"


def _other_page(simulated: bool) -> str:
    address, words = _link(simulated)
    return f'<p class="small"><a href="{address}">{words}</a></p>'


def _leave(study: str) -> str:
    action = f"{login.PATH}/{study}/leave"
    form = f'<form class="leave" method="post" action="{action}"><button>Sign out</button></form>'
    return f'{form}<script type="module" src="{_script()}"></script>'
