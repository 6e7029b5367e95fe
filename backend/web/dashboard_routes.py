"""The researcher's dashboard: live progress of studies, and a button to pause them.

A page without data, which then polls its own URL with `?as=json` every few seconds; an unchanged body is
not sent again. The login is that of the results pages.
"""

import hashlib
import json
from collections.abc import Callable

from flask import Flask, Response, redirect, request

from backend.experiment.records import Study
from backend.foundation.errors import NotAllowed
from backend.foundation.timestamps import stamp
from backend.stores.datadir import Keys
from backend.stores.store import Store
from backend.studies import pausing
from backend.task.service import Clock
from backend.web import headers, login, results_routes
from backend.web.dashboard_types import Paused, StudyLine, StudyList, StudyProgress, WatchedStudy
from backend.web.monitor import Watch
from backend.web.results_cache import ResultsCache

_HEADERS = {
    **headers.RESULTS,
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
}
_MOST_STUDIES = 64


def add_pages(app: Flask, store: Store, keys: Keys, clock: Clock, page: Callable[[], Response]) -> None:
    """Add `/dashboard`, the list of studies, and `/dashboard/<study>`; `page` returns the empty page."""
    watches = ResultsCache(_MOST_STUDIES)

    def watch(study: Study) -> Watch:
        version = f"{study.created_at} {study.version}"
        return watches.get(study.name, version, lambda: Watch(store, study))

    def page_or_login() -> Response:
        if not login.is_logged_in(request, keys, clock()):
            return results_routes.login_page("Dashboard")
        reply = page()
        reply.headers.update(_HEADERS)
        return reply

    @app.get(login.DASHBOARD)
    def dashboard() -> Response:
        if "as" not in request.args:
            return page_or_login()
        _check_logged_in(keys, clock)
        now = clock()
        return _data({"studies": [_line(watch(study).progress(now)) for study in store.studies()]})

    @app.get(f"{login.DASHBOARD}/<study>")
    def dashboard_of(study: str) -> Response:
        found = store.study(study)
        if "as" not in request.args:
            return page_or_login()
        _check_logged_in(keys, clock)
        return _data(watch(found).with_scores(clock()))

    @app.post(login.DASHBOARD, defaults={"study": ""})
    @app.post(f"{login.DASHBOARD}/<study>")
    def show_key_to_dashboard(study: str) -> Response:
        return results_routes.enter(keys, clock(), "Dashboard")

    @app.post(f"{login.DASHBOARD}/<study>/pause", defaults={"is_to_pause": True})
    @app.post(f"{login.DASHBOARD}/<study>/resume", defaults={"is_to_pause": False})
    def pause(study: str, is_to_pause: bool) -> Paused:
        _check_logged_in(keys, clock)
        pausing.set_paused(store, store.study(study).name, is_to_pause, stamp(clock()))
        return {"paused": is_to_pause}

    @app.post(f"{login.DASHBOARD}/<study>/leave")
    def leave_dashboard(study: str) -> Response:
        reply = redirect(login.DASHBOARD, 303)
        login.log_out(reply)
        return reply


def _check_logged_in(keys: Keys, clock: Clock) -> None:
    if not login.is_logged_in(request, keys, clock()):
        raise NotAllowed("the visit is over; show the key again", code="no_key")


def _line(progress: StudyProgress) -> StudyLine:
    return {name: progress[name] for name in StudyLine.__annotations__}


def _data(data: StudyList | WatchedStudy) -> Response:
    body = json.dumps(data, allow_nan=False).encode()
    tag = hashlib.sha256(body).hexdigest()[:24]
    reply = results_routes.unchanged(tag)
    if reply is None:
        reply = Response(body, mimetype="application/json")
        reply.set_etag(tag)
    return reply
