"""HTTP handlers: routes that parse, call and reply. `web/openapi.py` describes them.

One origin serves the page (`/s/<study>`, `/assets/`), the stimuli (`/i/`) and the API (`/api/`). Every
error of our own is mapped to its status here, and nowhere else. Every refusal or failure is logged with
the id that its reply carries.
"""

import logging
import re
import secrets
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from flask import Flask, Response, abort, request, send_file
from flask.json.provider import DefaultJSONProvider
from werkzeug.exceptions import HTTPException

from backend.experiment.records import Session, Study
from backend.foundation.errors import (
    FULL,
    Conflict,
    InvalidInput,
    Key,
    NotAllowed,
    NotFound,
    NotInstalled,
    NotJson,
    OpenhypeError,
    StoreFailed,
    TooMany,
    Unavailable,
    reason,
)
from backend.foundation.printable import escaped
from backend.foundation.timestamps import utc_now
from backend.members.roles import RESEARCHER
from backend.members.sign_in_links import SignInLinks
from backend.members.tokens import without_secrets
from backend.panels.api import PanelRefused, PanelUnreached, PanelUnsure
from backend.stores.datadir import DataDir, Keys
from backend.stores.store import Store
from backend.task import requests
from backend.task.access import Clock
from backend.task.picture_names import PictureNames, is_stored_name
from backend.task.service import TaskService
from backend.web import (
    assets,
    authorisation,
    console_routes,
    evaluator_routes,
    headers,
    login,
    origins,
    panel_routes,
    results_routes,
)
from backend.web.application import Application
from backend.web.compression import compressed
from backend.web.context import Context
from backend.web.evaluator_routes import Evaluators, PictureUrl
from backend.web.proxies import PROXY, SignInHeader, always_encrypted, behind_one_proxy, below
from backend.web.routing import JSON
from backend.web.session_rate_limit import Openings

if TYPE_CHECKING:
    from backend.recruitment.sync_thread import Watch
    from backend.uploads.uploads import Uploads
    from backend.web.downloads import Downloads

log = logging.getLogger("openhype")

_STATUS = {
    InvalidInput: 400,
    NotAllowed: 403,
    NotFound: 404,
    Conflict: 409,
    NotJson: 415,
    TooMany: 429,
    NotInstalled: 501,
    StoreFailed: 503,
    Unavailable: 503,
    PanelRefused: 409,
    PanelUnreached: 503,
    PanelUnsure: 503,
}
_ASSET = re.compile(r"([a-z]{1,20}/)?[a-z0-9][a-z0-9._-]{0,60}\.(js|css|html|svg)")
_LONGEST_NAME = 128
"""Limit on names in a path (study, session, file); a file system allows 255 bytes, a DynamoDB key 2,048."""
_RETRY_AFTER_S = "5"
"""Retry-After of temporary failures."""
_LONGEST_LOGGED = 300
_COMPRESSED = (JSON, "text/html")
"""Types of the replies that are compressed; files of the page are compressed once, others are pictures."""
EVERYTHING = frozenset({"sessions", "scores", "results", "files"})
"""The groups of routes: of evaluators and a study's progress; of scores in the API; of results pages,
console and members; of the files of page and stimuli."""
_OF_EVALUATORS = frozenset({"sessions", "files"})


def create_app(
    store: Store,
    data: DataDir,
    keys: Keys,
    clock: Clock = utc_now,
    rng: Random | None = None,
    serves: frozenset[str] = EVERYTHING,
    watch: "Watch | None" = None,
    front: str = "root.html",
    allowed: Collection[str] = (),
    knows_host: bool = True,
    openings: Openings | None = None,
    behind_proxy: bool = False,
    base_path: str = "",
    read: Callable[[str, str], bytes | None] | None = None,
    uploads: "Uploads | None" = None,
    base_url: str | None = None,
    other_urls: Callable[[], Sequence[str]] = tuple,
    publish: Callable[[str, Path], Any] | None = None,
    make_downloads: "Callable[[Store, DataDir, Clock], Downloads] | None" = None,
    proxy: SignInHeader | None = None,
    sign_in_links: SignInLinks | None = None,
) -> Flask:
    """Return the WSGI application over a store and a data directory.

    Args:
        rng: as in `TaskService.over`.
        serves: the groups of routes to serve, besides those of `EVERYTHING` also `panel`, a panel's events
            alone; a function without numpy cannot serve scores.
        watch: notified of what concerns the panel; None if nobody is recruited through its API.
        front: the page at `/`.
        allowed: other hosts at which the pages are reached, as returned by `origins.parse_origin`.
        knows_host: whether requests name the host of the pages; behind CloudFront they name the
            function's.
        openings: limits the sessions that an address opens; None if requests do not show the address.
        behind_proxy: whether there is one proxy in front, whose X-Forwarded headers are trusted.
        base_path: the path below which browsers reach the pages, as returned by `proxies.parse_base_path`.
        read: reads a stimulus by study and name for the results pages; by default from the data directory.
        uploads: what receives uploads; by default the data directory, if this server serves files.
        base_url, other_urls, publish, make_downloads, proxy: as in `Context`.
        sign_in_links: those of the server that this application is run by.
    """
    app = Application(__name__, static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = requests.MAX_BODY_BYTES
    app.json = json = DefaultJSONProvider(app)
    json.sort_keys = False
    app.url_map.merge_slashes = False
    app.extensions[PROXY] = proxy
    if uploads is None and "files" in serves:
        from backend.uploads.local_uploads import LocalUploads

        uploads = LocalUploads(data)
    previews = None
    if {"results", "files"} <= serves:
        from backend.web.previews import Previews

        previews = Previews(
            partial(evaluators_app, clock=clock, allowed=allowed, knows_host=knows_host), clock
        )
    context = Context(
        store,
        data,
        keys,
        clock,
        uploads=uploads,
        base_url=base_url,
        other_urls=other_urls,
        publish=publish,
        make_downloads=make_downloads,
        proxy=proxy,
        previews=previews,
        sign_in_links=sign_in_links or SignInLinks(),
    )
    authorise = authorisation.Authorisation(app, context)
    task = TaskService.over(store, keys.hashing, clock, rng, watch, partial(_have_looked, store, clock))
    names = PictureNames(keys.hashing)
    authorise.add(panel_routes.described, _document)
    if "sessions" in serves:
        urls = _urls(names if "files" in serves else None)
        evaluators = Evaluators(
            task,
            openings or Openings(0, 0),
            urls,
            lambda: authorise.require(RESEARCHER),
            data.remove_downloads,
        )
        authorise.add(evaluator_routes.route, evaluators)
        authorise.add(results_routes.status, context)
        _add_study_page(app, task)
    if serves & {"sessions", "panel"}:
        authorise.add(panel_routes.route, watch)
    if "scores" in serves:
        authorise.add(results_routes.scores, context)
    if "files" in serves:
        _add_pages(app, front)
        _add_files(app, data, names)
    if "results" in serves:
        from backend.web import competition_routes
        from backend.web.route_modules import OF_MEMBERS

        results_routes.add_pages(app, context, read or data.picture)
        competition_routes.add_pages(app, context)
        for routes in OF_MEMBERS:
            authorise.add(routes, context)
        console_routes.add_pages(app, lambda: _asset("console.html"), uploads.origins if uploads else ())
    app.before_request(_check_path)
    app.before_request(lambda: _check_sender(authorise, allowed, knows_host))
    app.before_request(authorise.check)
    app.register_error_handler(OpenhypeError, partial(_refused, data))
    app.register_error_handler(HTTPException, _http_error)
    app.register_error_handler(OSError, partial(_disk_failed, data))
    app.register_error_handler(Exception, _fault)
    app.after_request(authorise.record)
    app.after_request(_with_headers)
    if previews:
        app.wsgi_app = previews.beside(app.wsgi_app)  # type: ignore[assignment, method-assign]
    if (base_url or "").startswith("https://"):
        app.wsgi_app = always_encrypted(app.wsgi_app)  # type: ignore[assignment, method-assign]
        app.extensions[headers.OF_ALL] = headers.HTTPS_ONLY
    # Flask's documented way to wrap an application.
    app.wsgi_app = below(app.wsgi_app, base_path)  # type: ignore[assignment, method-assign]
    if behind_proxy:
        app.wsgi_app = behind_one_proxy(app.wsgi_app)  # type: ignore[assignment, method-assign]
    return app


def _have_looked(store: Store, clock: Clock, study: Study) -> None:
    from backend.jobs.look import have_decided

    have_decided(store, study, clock())


def evaluators_app(store: Store, data: DataDir, keys: Keys, **options: Any) -> Flask:
    """Return the WSGI application that answers evaluators alone; the options are those of `create_app`."""
    return create_app(store, data, keys, serves=_OF_EVALUATORS, **options)


def _urls(names: PictureNames | None) -> PictureUrl:
    """Return a function from a stimulus or mask of a session to the path at which it is served.

    Args:
        names: the per-session names of this server; None if stimuli are served by their stored names.
    """

    def url(session: Session, name: str) -> str:
        if names is None or session.is_simulated:  # simulated evaluators know stimuli by their stored names
            return f"{request.script_root}/i/{session.study}/{name}"
        return f"{request.script_root}/i/{session.study}/{session.id}/{names.sealed(session.id, name)}"

    return url


def _document() -> bytes:
    from backend.web.openapi import document

    return document()


def _add_study_page(app: Flask, task: TaskService) -> None:
    """Add the page of a study, whose headers depend on the study's panel."""

    @app.get("/s/<study>", strict_slashes=False)
    def page(study: str) -> Response:
        reply = _asset("index.html")
        try:
            panel = task.access.study(study).protocol.admission.panel
        except NotFound:  # the page reports that in plain words
            return reply
        reply.headers.update(headers.page_of_panel(panel.frame_origins, panel.form_origins))
        return reply


def _add_pages(app: Flask, front: str) -> None:
    @app.get("/")
    def root() -> Response:
        return _asset(front)

    @app.get("/timing.html")
    def timing() -> Response:
        return _asset("timing.html")

    @app.get("/wait/<study>", strict_slashes=False)
    def waiting_room(study: str) -> Response:
        return _asset("wait.html")

    @app.get("/w/<session>", strict_slashes=False)
    def withdrawing(session: str) -> Response:
        return _asset("withdraw.html")


def _add_files(app: Flask, data: DataDir, names: PictureNames) -> None:
    @app.get("/assets/<version>/<path:name>")
    def asset(version: str, name: str) -> Response:
        reply = _asset(name)
        if version == assets.version():  # for an outdated version the current file is sent, uncached
            reply.headers["Cache-Control"] = headers.IMMUTABLE
        return reply

    @app.get("/i/<study>/<name>")
    def picture(study: str, name: str) -> Response:
        if study.startswith(".") or not is_stored_name(name):
            abort(404)
        reply = _file(data.images(study) / name)
        reply.headers["Cache-Control"] = headers.IMMUTABLE
        return reply

    @app.get("/i/<study>/<session>/<name>")
    def picture_of_session(study: str, session: str, name: str) -> Response:
        stored = names.opened(session, name)
        if study.startswith(".") or stored is None:
            abort(404)
        try:
            body = (data.images(study) / stored).read_bytes()
        except OSError:
            abort(404)
        reply = Response(names.salted(session, stored, body), content_type=headers.content_type(stored))
        reply.headers["Cache-Control"] = headers.IMMUTABLE
        return reply


def _asset(name: str) -> Response:
    """Send a file of the page, compressed if the browser accepts that, or 304 if it is unchanged."""
    path = assets.FRONTEND / name
    if not _ASSET.fullmatch(name) or not path.is_file():
        abort(404)
    is_page = path.suffix == ".html"
    is_small = not is_page and request.accept_encodings["gzip"] > 0
    if is_page:
        body = assets.page(name, request.script_root)
    else:
        body = assets.compressed(path) if is_small else assets.served(path)
    reply = Response(body, content_type=headers.content_type(name))
    reply.headers["Cache-Control"] = headers.REVALIDATE
    reply.vary.add("Accept-Encoding")
    if path.suffix == ".js":
        reply.headers.update(headers.MODULE)
    if is_small:
        reply.headers["Content-Encoding"] = "gzip"
    reply.add_etag()
    reply.make_conditional(request)
    return reply


def _file(path: Path) -> Response:
    """Send a file with headers that reveal nothing about it but its type and length."""
    if not path.is_file():
        abort(404)
    kind = headers.content_type(path.name)
    reply = send_file(path, mimetype=kind, conditional=False, etag=False, last_modified=None, max_age=None)
    reply.headers.remove("Last-Modified")
    reply.headers.remove("Content-Disposition")
    reply.headers["Content-Type"] = kind
    return reply


def _check_path() -> None:
    """Abort with 404 for impossible names: too long to be stored, or with control characters."""
    for name in (request.view_args or {}).values():
        if isinstance(name, str) and (len(name) > _LONGEST_NAME or not name.isprintable()):
            abort(404)


def _check_sender(authorise: authorisation.Authorisation, allowed: Collection[str], knows_host: bool) -> None:
    """Refuse a changing request that comes from another site's page or, of the API, has no declared type.

    Raises:
        NotAllowed: `other_site`.
        NotJson: the body is not declared as what the route takes, which is JSON for most.
    """
    route = authorise.route()
    is_known = request.url_rule is not None and not (route and route.is_of_servers)
    if request.method not in origins.CHANGING or not is_known:
        return
    origin, site = request.headers.get("Origin"), request.headers.get("Sec-Fetch-Site")
    host = request.host if knows_host and origin is not None else None  # parsed where it matters only
    if not origins.is_ours(origin, site, host, allowed):
        raise NotAllowed(
            f"this was sent by a page of another site ({_one_line(origin or 'without an Origin')}), and only "
            "the pages of this server may; where they are reached by another name as well, have the server "
            "started with --origin https://NAME",
            code="other_site",
        )
    if route and route.is_bare and not request.content_type:
        return
    media = route.media if route else JSON
    if request.mimetype != media:
        what = "JSON" if media == JSON else "bytes"
        raise NotJson(
            f"the body must be {what}, sent with the header 'Content-Type: {media}', not "
            f"{_one_line(request.content_type or '') or 'without a Content-Type'}"
        )


def _refused(
    data: DataDir, error: OpenhypeError
) -> tuple[dict, int] | tuple[dict, int, dict[str, str]] | Response:
    status = next(code for kind, code in _STATUS.items() if isinstance(error, kind))
    message = data.named_within(str(error))
    reply = _error(error.code, message, error.keys)
    _log_refusal(reply, status)
    if _is_results_page():
        return results_routes.refused(message, status)
    if isinstance(error, TooMany):
        return reply, status, {"Retry-After": str(error.retry_after_s)}
    return (reply, status, {"Retry-After": _RETRY_AFTER_S}) if status == 503 else (reply, status)


def _http_error(error: HTTPException) -> tuple[dict, int] | Response:
    reply = _error(error.name.lower().replace(" ", "_"), error.description or error.name)
    _log_refusal(reply, error.code or 500)
    if error.code in (404, 405) and _is_of_person():
        page = assets.page("index.html", request.script_root)  # it says so in the person's language
        return Response(page, error.code, content_type=headers.content_type("index.html"))
    return reply, error.code or 500


def _is_of_person() -> bool:
    """Return whether a person opened an address in a browser, and no page's script or tag asked for it."""
    if request.path.startswith("/s/"):  # the cache before functions sends no Accept
        return True
    is_page = "text/html" in request.headers.get("Accept", "")
    return is_page and not request.path.startswith(("/api/", "/assets/", "/i/"))


def _disk_failed(data: DataDir, error: OSError) -> Any:
    """Say that a disk is full, which its operator can mend, unlike other faults."""
    if error.errno not in FULL:
        return _fault(error)
    log.error("%s: %s", _requested(), error)
    return _refused(data, StoreFailed(f"{reason(error)} on the server; try again later", code="disk_full"))


def _fault(error: Exception) -> tuple[dict, int]:
    reply = _error("fault", "something went wrong here; what was answered so far is safe")
    log.error("fault %s: %s", reply["error"]["id"], _requested(), exc_info=error)
    return reply, 500


def _error(code: str, message: str, keys: tuple[Key, ...] = ()) -> dict:
    about = {"keys": [*keys]} if keys else {}
    return {"error": {"code": code, "message": message, "id": secrets.token_hex(4), **about}}


def _log_refusal(reply: dict, status: int) -> None:
    error = reply["error"]
    level = logging.ERROR if status >= 500 else logging.WARNING
    if error["code"] == "being_made":  # nothing failed, and it is asked for every few seconds
        level = logging.INFO
    message = _one_line(error["message"])
    log.log(level, "refused %s: %s %d %s: %s", error["id"], _requested(), status, error["code"], message)


def _requested() -> str:
    return f"{request.method} {_one_line(request.path)}"


def _one_line(text: str) -> str:
    """Return text from a visitor in a form safe for a log: short, without control characters and tokens."""
    text = without_secrets(text)
    return escaped(text if len(text) <= _LONGEST_LOGGED else f"{text[:_LONGEST_LOGGED]}...")


def _with_headers(reply: Response) -> Response:
    sent = headers.PAGE
    if request.path.startswith("/api/"):
        sent = headers.API
    elif _is_results_page():
        sent = headers.RESULTS
    for name, value in sent.items():
        reply.headers.setdefault(name, value)
    is_text = reply.mimetype in _COMPRESSED and reply.is_sequence
    return compressed(reply) if is_text and not reply.content_encoding else reply


def _is_results_page() -> bool:
    return request.path == login.PATH or request.path.startswith(f"{login.PATH}/")
