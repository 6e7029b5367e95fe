"""The HTTP door: routes that parse, call and reply. `openapi.json` describes them.

One origin serves the page (`/s/<study>`, `/assets/`), the pictures (`/i/`) and the API (`/api/`).
Every error of our own becomes its status here, and nowhere else; anything else is logged with an id.
"""

import hmac
import logging
import re
import secrets
from importlib.resources import files
from pathlib import Path

from flask import Flask, Response, abort, request, send_file
from werkzeug.exceptions import HTTPException

from backend import wire
from backend.datadir import DataDir, Keys
from backend.errors import Conflict, InvalidInput, NotAllowed, NotFound, OpenhypeError, StoreFailed
from backend.panels.record import PanelRecord
from backend.stores import Store
from backend.visits import Clock, Visits, utc_now
from backend.watching import Watch

FRONTEND = Path(__file__).resolve().parent.parent / "frontend"
log = logging.getLogger("openhype")

_STATUS = {InvalidInput: 400, NotAllowed: 403, NotFound: 404, Conflict: 409, StoreFailed: 503}
_ASSET = re.compile(r"[a-z0-9][a-z0-9._-]*\.(js|css|html|svg)")
_PICTURE = re.compile(r"[0-9a-f]{32}\.(png|jpg)")
_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".jpg": "image/jpeg",
}
_POLICY = "default-src 'self'; img-src 'self' blob: data:; object-src 'none'; base-uri 'none'; "
_PAGE_HEADERS = {
    "Content-Security-Policy": _POLICY + "form-action 'self'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_API_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


def create_app(
    store: Store, data: DataDir, keys: Keys, clock: Clock = utc_now, watch: Watch | None = None
) -> Flask:
    """Return the WSGI application over a store and a data directory.

    Args:
        watch: who hears of what happens at the panel; None where nobody is recruited through its API.
    """
    app = Flask(__name__, static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = wire.MAX_BODY_BYTES
    app.json.sort_keys = False
    app.url_map.merge_slashes = False
    visits = Visits(store, keys.hashing, clock, watch)
    _add_evaluator_routes(app, visits)
    _add_researcher_routes(app, store, keys)
    _add_panel_routes(app, watch)
    _add_pages(app, visits)
    _add_files(app, data)
    app.register_error_handler(OpenhypeError, _refused)
    app.register_error_handler(HTTPException, _http_error)
    app.register_error_handler(Exception, _fault)
    app.after_request(_with_headers)
    return app


def picture_url(study: str, name: str) -> str:
    """Return the path at which a picture or mask is served."""
    return f"/i/{study}/{name}"


def _add_evaluator_routes(app: Flask, visits: Visits) -> None:
    @app.get("/api/studies/<study>")
    def study(study: str) -> dict:
        return visits.public_study(study)

    @app.post("/api/studies/<study>/sessions")
    def open_session(study: str) -> tuple[dict, int]:
        reply = visits.open(study, wire.parse_opening(_body()))
        return reply, 201 if reply["stage"] == "session" else 200

    @app.post("/api/studies/<study>/admission")
    def admit(study: str) -> dict:
        return visits.admit(study, wire.parse_panel(_body()))

    @app.post("/api/studies/<study>/exit")
    def leave(study: str) -> dict:
        return visits.leave(study, *wire.parse_leaving(_body()))

    @app.post("/api/sessions/<session>/resume")
    def resume(session: str) -> dict:
        _body()
        return visits.resume(session, _token())

    @app.post("/api/sessions/<session>/blocks")
    def begin_block(session: str) -> dict:
        lease, block, display = wire.parse_block(_body())
        return visits.begin_block(session, _token(), lease, block, display, picture_url)

    @app.post("/api/sessions/<session>/answers")
    def answer(session: str) -> dict:
        return visits.answer(session, _token(), wire.parse_answer(_body()), picture_url)


def _add_researcher_routes(app: Flask, store: Store, keys: Keys) -> None:
    @app.get("/api/studies/<study>/status")
    def status(study: str) -> dict:
        from backend.progress import progress

        _check_key(keys)
        return progress(store, store.study(study))

    @app.get("/api/studies/<study>/scores")
    def scores(study: str) -> dict:
        from backend.results import study_scores

        _check_key(keys)
        return study_scores(store, store.study(study))

    @app.get("/api/openapi.json")
    def openapi() -> Response:
        return Response(files("backend").joinpath("openapi.json").read_bytes(), mimetype="application/json")


def _add_panel_routes(app: Flask, watch: Watch | None) -> None:
    @app.post("/api/panels/prolific/events")
    def event() -> dict:
        if watch is None:
            raise NotAllowed("no events are expected here; see docs/prolific.md", code="no_webhooks")
        watch.heard(request.headers, request.get_data(cache=False))
        return {}


def _add_pages(app: Flask, visits: Visits) -> None:
    @app.get("/")
    def root() -> Response:
        return _asset("root.html")

    @app.get("/timing.html")
    def timing() -> Response:
        return _asset("timing.html")

    @app.get("/s/<study>")
    def page(study: str) -> Response:
        reply = _asset("index.html")
        try:
            panel = visits.study(study).protocol.panel
        except NotFound:  # the page says so, in plain words
            return reply
        reply.headers.update(_headers_for(panel))
        return reply


def _add_files(app: Flask, data: DataDir) -> None:
    @app.get("/assets/<name>")
    def asset(name: str) -> Response:
        return _asset(name)

    @app.get("/i/<study>/<name>")
    def picture(study: str, name: str) -> Response:
        if study.startswith(".") or not _PICTURE.fullmatch(name):
            abort(404)
        reply = _file(data.images(study) / name)
        reply.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        return reply


def _headers_for(panel: PanelRecord) -> dict[str, str]:
    """Return the headers by which a study's page may stand in its panel's frame and post to it."""
    frames = " ".join(panel.frame_origins) or "'none'"
    forms = " ".join(("'self'", *panel.form_origins))
    policy = f"{_POLICY}form-action {forms}; frame-ancestors {frames}"
    # A framing page that is isolated itself would refuse a page that others may not load.
    resource = {"Cross-Origin-Resource-Policy": "cross-origin"} if panel.frame_origins else {}
    return {"Content-Security-Policy": policy, **resource}


def _asset(name: str) -> Response:
    if not _ASSET.fullmatch(name):
        abort(404)
    reply = _file(FRONTEND / name)
    reply.headers["Cache-Control"] = "no-cache"
    return reply


def _file(path: Path) -> Response:
    """Send a file with headers that tell nothing of it but its type and length."""
    if not path.is_file():
        abort(404)
    reply = send_file(
        path, mimetype=_TYPES[path.suffix], conditional=False, etag=False, last_modified=None, max_age=None
    )
    reply.headers.remove("Last-Modified")
    reply.headers.remove("Content-Disposition")
    reply.headers["Content-Type"] = _TYPES[path.suffix]
    return reply


def _body() -> dict:
    return wire.parse_object(request.get_data(cache=False))


def _token() -> str:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme != "Bearer" or not token:
        raise NotAllowed("the header 'Authorization: Bearer <token>' is missing", code="no_token")
    return token.strip()


def _check_key(keys: Keys) -> None:
    if not hmac.compare_digest(_token().encode(), keys.researcher.encode()):
        raise NotAllowed("this is not the researcher's key; `openhype serve` prints where it lies")


def _refused(error: OpenhypeError) -> tuple[dict, int]:
    status = next(code for kind, code in _STATUS.items() if isinstance(error, kind))
    if status >= 500:
        log.error("%s %s: %s", request.method, request.path, error)
    return _error(error.code, str(error)), status


def _http_error(error: HTTPException) -> tuple[dict, int]:
    return _error(error.name.lower().replace(" ", "_"), error.description or error.name), error.code or 500


def _fault(error: Exception) -> tuple[dict, int]:
    reply = _error("fault", "something went wrong here; what was answered so far is safe")
    log.error("fault %s in %s %s", reply["error"]["id"], request.method, request.path, exc_info=error)
    return reply, 500


def _error(code: str, message: str) -> dict:
    return {"error": {"code": code, "message": message, "id": secrets.token_hex(4)}}


def _with_headers(reply: Response) -> Response:
    for name, value in (_API_HEADERS if request.path.startswith("/api/") else _PAGE_HEADERS).items():
        reply.headers.setdefault(name, value)
    return reply
