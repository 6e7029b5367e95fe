"""The researcher's dashboard: live progress of studies, and a button to pause them.

A page without data, which then polls its own URL with `?as=json` every few seconds; an unchanged body is
not sent again. The login is that of the results pages.
"""

from collections.abc import Callable

from flask import Flask, Response, redirect, request
from werkzeug.wrappers import Response as Redirect

from backend.experiment.records import Study
from backend.foundation.timestamps import stamp
from backend.members.roles import RESEARCHER
from backend.studies import pausing
from backend.web import headers, login, results_routes
from backend.web.authorisation import require
from backend.web.context import Context
from backend.web.dashboard_types import Paused
from backend.web.monitor import Watch, line_of
from backend.web.operations import Operation, Operations
from backend.web.replying import polled
from backend.web.results_cache import ResultsCache

_HEADERS = {
    **headers.RESULTS,
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
}
_MOST_STUDIES = 1000
OPERATIONS: Operations = {
    f"POST {login.DASHBOARD}/{{study}}/{name}": Operation(
        summary, {200: ("How it is now", Paused)}, "403 404", role=RESEARCHER
    )
    for name, summary in (("pause", "Open no new sessions"), ("resume", "Let a paused study go on"))
}
"""What the page's button does: authorised, and written to the audit log, as routes of the API are."""


def add_pages(app: Flask, context: Context, page: Callable[[], Response]) -> None:
    """Add `/dashboard`, the list of studies, and `/dashboard/<study>`; `page` returns the empty page."""
    store, clock = context.store, context.clock
    watches = ResultsCache(_MOST_STUDIES)

    def watch(study: Study) -> Watch:
        version = f"{study.created_at} {study.version}"
        return watches.get(study.name, version, lambda: Watch(store, study))

    def page_or_login(study: str | None = None) -> Response:
        if (asked := results_routes.login_first(context, "Dashboard")) is not None:
            return asked
        if study is not None:
            store.study(study)  # NotFound if there is none
        reply = page()
        reply.headers.update(_HEADERS)
        return reply

    @app.get(login.DASHBOARD)
    def dashboard() -> Response:
        if "as" not in request.args:
            return page_or_login()
        require(context, RESEARCHER)
        now = clock()
        return polled({"studies": [line_of(watch(study).progress(now)) for study in store.studies()]})

    @app.get(f"{login.DASHBOARD}/<study>")
    def dashboard_of(study: str) -> Response:
        if "as" not in request.args:
            return page_or_login(study)
        require(context, RESEARCHER)
        return polled(watch(store.study(study)).with_scores(clock()))

    @app.post(login.DASHBOARD, defaults={"study": ""})
    @app.post(f"{login.DASHBOARD}/<study>")
    def show_key_to_dashboard(study: str) -> Response | Redirect:
        return results_routes.enter(context, "Dashboard")

    @app.post(f"{login.DASHBOARD}/<study>/pause")
    def pause_by_button(study: str) -> Paused:
        pausing.set_paused(store, store.study(study).name, True, stamp(clock()))
        return {"paused": True}

    @app.post(f"{login.DASHBOARD}/<study>/resume")
    def resume_by_button(study: str) -> Paused:
        pausing.set_paused(store, store.study(study).name, False, stamp(clock()))
        return {"paused": False}

    @app.post(f"{login.DASHBOARD}/<study>/leave")
    def leave_dashboard(study: str) -> Redirect:
        login.log_out()
        return redirect(login.DASHBOARD, 303)
