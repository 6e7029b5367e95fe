"""WSGI application for servers and for Lambda, configured by environment variables.

`deploy.api:app` is the complete application, for a WSGI server. The Lambda functions are parts of it:
`sessions` serves sessions, responses and the page of each study, and needs only Flask, msgspec and boto3;
`scores` serves scores, results pages, the console and the routes of members, and also needs
numpy, scipy, pillow and matplotlib.
"""

import json
import logging
import os
import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from backend.foundation.errors import InvalidInput
from backend.foundation.file_permissions import tighten
from backend.foundation.request_deadline import with_deadline
from backend.handlers import EVERYTHING, create_app
from backend.stores.datadir import DataDir, Keys, parse_keys
from backend.stores.opening import open_store, sqlite_path
from backend.stores.store import Store
from backend.web.origins import parse_origin
from backend.web.proxies import SIGN_IN_VARIABLE, asks_for_proxy, sign_in_header
from backend.web.session_rate_limit import PER_HOUR, PER_MINUTE, Openings
from deploy import secure_parameters
from deploy.secure_parameters import CurrentKeys

if TYPE_CHECKING:
    from backend.recruitment.sync_thread import Watch
    from deploy.s3_upload import Place

log = logging.getLogger("openhype")

_FROM_SSM = "ssm:"


def from_environment(environment: Mapping[str, str], serves: frozenset[str] = EVERYTHING):
    """Return the application that the environment variables configure, with the groups of routes `serves`.

    Raises:
        InvalidInput: OPENHYPE_STORE is not set; neither OPENHYPE_DATA nor OPENHYPE_KEYS is set (files need
            OPENHYPE_DATA); or another OPENHYPE_ variable has an invalid value.
    """
    needed = ["OPENHYPE_STORE"]
    if "files" in serves or not environment.get("OPENHYPE_KEYS"):
        needed.append("OPENHYPE_DATA")
    for name in needed:
        if not environment.get(name):
            raise InvalidInput(f"{name} is not set; see deploy/README.md")
    is_behind = asks_for_proxy(environment)
    data = DataDir(Path(environment.get("OPENHYPE_DATA", ".")))
    keys = _keys(environment, data)
    if "files" in serves:
        for note in tighten(data.root, sqlite_path(environment["OPENHYPE_STORE"], data.root)):
            log.warning(note)
    store = open_store(environment["OPENHYPE_STORE"], data.root)
    create = partial(
        create_app,
        store,
        data,
        keys,
        allowed=frozenset(map(parse_origin, environment.get("OPENHYPE_ORIGINS", "").split())),
        behind_proxy=is_behind,
        serves=serves,
        base_url=environment.get("OPENHYPE_URL") or None,
    )
    if "files" in serves:
        from backend.uploads.limits import quota
        from backend.uploads.local_uploads import LocalUploads

        app = create(
            openings=_openings(environment),
            uploads=LocalUploads(data, quota(environment)),
            proxy=sign_in_header(environment.get(SIGN_IN_VARIABLE), is_behind, data, environment),
        )
    else:
        # CloudFront requests functions by their own host names: public host and client are unknown.
        watch, has_results = _watch(environment, store), "results" in serves
        app = create(
            knows_host=False,
            watch=watch,
            read=_pictures(environment) if has_results else None,
            uploads=bucket_uploads(environment, store, data) if has_results else None,
            publish=publisher(environment) if has_results else None,
            make_downloads=_downloads(environment) if has_results else None,
        )
        if function := environment.get("OPENHYPE_WORK_FUNCTION"):
            from deploy.work_calls import invoke, with_waking

            app.wsgi_app = with_waking(app.wsgi_app, partial(invoke, function))  # type: ignore[method-assign]
    if seconds := _request_seconds(environment):
        # Flask's documented way to wrap an application.
        app.wsgi_app = with_deadline(app.wsgi_app, seconds)  # type: ignore[method-assign]
    return app


def store_and_watch() -> tuple[Store, "Watch"]:
    """Return the store, and the watch over the panel, of a function that has the panel's token.

    Raises:
        InvalidInput: OPENHYPE_STORE or OPENHYPE_PANEL is not set.
    """
    if not os.environ.get("OPENHYPE_PANEL"):
        raise InvalidInput("OPENHYPE_PANEL is not set; see deploy/README.md")
    store = open_store(os.environ["OPENHYPE_STORE"], Path())
    return store, _watch(os.environ, store)


def _watch(environment: Mapping[str, str], store: Store) -> Any:
    """Return what is notified of what concerns the panel: with its token, or by another function; or None."""
    if function := environment.get("OPENHYPE_PANEL_FUNCTION"):
        from deploy.panel_calls import PanelCalls

        return PanelCalls(function)
    if source := environment.get("OPENHYPE_PANEL"):
        from backend.panels.prolific import open_prolific
        from backend.recruitment.sync_thread import Watch

        try:
            facts = json.loads(_parameter("OPENHYPE_PANEL", source))
            token, secret = facts["token"], facts["webhook_secret"]
        except (ValueError, KeyError, TypeError):
            raise InvalidInput(
                f"the parameter {source} must be JSON with token and webhook_secret; "
                "store it again with `openhype deploy --panel prolific`"
            ) from None
        panel = open_prolific({**environment, "PROLIFIC_TOKEN": token})
        return Watch(store, panel, secret, has_thread=False)
    return None


def _pictures(environment: Mapping[str, str]) -> Callable[[str, str], bytes | None] | None:
    """Return what reads stimuli from the bucket OPENHYPE_IMAGES; None if that is not set.

    Raises:
        InvalidInput: it is not of the form s3://BUCKET/PREFIX.
    """
    if not environment.get("OPENHYPE_IMAGES"):
        return None
    from deploy.bucket_pictures import BucketPictures
    from deploy.s3_upload import parse_place

    return BucketPictures(parse_place(environment["OPENHYPE_IMAGES"])).read


def bucket_uploads(environment: Mapping[str, str], store: Store, data: DataDir) -> Any:
    """Return what receives uploads in the bucket OPENHYPE_UPLOADS; None if that is not set.

    Raises:
        InvalidInput: it is not of the form s3://BUCKET/PREFIX, or a limit is not a number.
    """
    if not environment.get("OPENHYPE_UPLOADS"):
        return None
    from backend.uploads.limits import quota
    from deploy.bucket_uploads import BucketUploads
    from deploy.s3_upload import parse_place

    place = parse_place(environment["OPENHYPE_UPLOADS"])
    return BucketUploads(store, place, data.root / "scratch", quota(environment))


def publisher(environment: Mapping[str, str]) -> Callable[[str, Path], Any] | None:
    """Return what uploads a study's stimuli to the bucket OPENHYPE_IMAGES; None if that is not set."""
    if not (place := environment.get("OPENHYPE_IMAGES")):
        return None
    from deploy import s3_upload

    return s3_upload.publisher(place)


def place_of_downloads(environment: Mapping[str, str]) -> "Place | None":
    """Return the folder of the bucket OPENHYPE_DOWNLOADS, where files to download are; None if it is not set.

    Raises:
        InvalidInput: it is not of the form s3://BUCKET/PREFIX.
    """
    from deploy.s3_upload import parse_place

    return parse_place(url) if (url := environment.get("OPENHYPE_DOWNLOADS")) else None


def _downloads(environment: Mapping[str, str]) -> Callable[..., Any]:
    """Return what makes the downloads of a function.

    Without a folder of a bucket and a function that makes the files, they are not offered.
    """
    place, function = place_of_downloads(environment), environment.get("OPENHYPE_WORK_FUNCTION")

    def make(*surroundings: Any) -> Any:
        from deploy.bucket_downloads import BucketDownloads, NoDownloads  # not at the start of an instance

        if place is None or not function:
            return NoDownloads(*surroundings)
        return BucketDownloads(*surroundings, place=place)

    return make


def _request_seconds(environment: Mapping[str, str]) -> int:
    """Return the time limit of a request (s); 0 for no limit.

    Raises:
        InvalidInput: the value is not an integer >= 0.
    """
    text = environment.get("OPENHYPE_REQUEST_SECONDS") or "0"
    if not (text.isascii() and text.isdecimal()):
        raise InvalidInput(f"OPENHYPE_REQUEST_SECONDS must be a whole number from 0, not {text!r}")
    return int(text)


def _openings(environment: Mapping[str, str]) -> Openings:
    """Return the limits on new sessions per client address that the environment variables set.

    Raises:
        InvalidInput: a limit is not an integer >= 0.
    """
    names = {"OPENHYPE_SESSIONS_PER_MINUTE": PER_MINUTE, "OPENHYPE_SESSIONS_PER_HOUR": PER_HOUR}
    values = {name: environment.get(name) or str(default) for name, default in names.items()}
    for name, text in values.items():
        if not (text.isascii() and text.isdecimal()):
            raise InvalidInput(f"{name} must be a whole number from 0, not {text!r}")
    per_minute, per_hour = map(int, values.values())
    return Openings(per_minute, per_hour)


def _keys(environment: Mapping[str, str], data: DataDir) -> Keys:
    """Return the keys of the data directory, or of the secure parameter NAME if OPENHYPE_KEYS=ssm:NAME.

    Anyone permitted to view a function's configuration can read its environment variables; a secure
    parameter has a permission of its own.

    Raises:
        InvalidInput: OPENHYPE_KEYS has another form, or the keys are invalid.
    """
    source = environment.get("OPENHYPE_KEYS")
    if not source:
        return data.keys()
    where = f"the parameter {source.removeprefix(_FROM_SSM)}"
    return CurrentKeys(lambda: parse_keys(keys_text(environment), where))


def keys_text(environment: Mapping[str, str]) -> str:
    """Return the content of the secure parameter that OPENHYPE_KEYS names."""
    return _parameter("OPENHYPE_KEYS", environment.get("OPENHYPE_KEYS", ""))


def _parameter(variable: str, source: str) -> str:
    """Return the value of the secure parameter that a variable names as `ssm:NAME`."""
    if not source.startswith(_FROM_SSM):
        kind = variable.removeprefix("OPENHYPE_").lower()
        raise InvalidInput(f"{variable} must be of the form ssm:/openhype/NAME/{kind}, not {source!r}")
    return secure_parameters.read(source.removeprefix(_FROM_SSM))


class WholePaths:
    """WSGI middleware that restores the prefix that Zappa strips from a path.

    Zappa strips the stage's name if a path seems to begin with it; but the name of the stage `api` is also
    the first part of every API path.
    """

    def __init__(self, app: Callable):
        self._app = app

    def __call__(self, environ: dict[str, Any], start_response: Callable) -> Iterable[bytes]:
        stage, path = environ.get("SCRIPT_NAME", ""), environ["PATH_INFO"]
        if not path.startswith("/api/"):
            path = stage + path
        return self._app({**environ, "SCRIPT_NAME": "", "PATH_INFO": path}, start_response)


_LIST_OF_SESSIONS = re.compile(r"(/api/studies/[^/]+/sessions)(/all)?")


class SessionLists:
    """WSGI middleware for the list of a study's sessions, which members read where evaluators open them.

    CloudFront chooses a function by the path alone. The function of evaluators sends who reads the list to
    a path of the other one, which reads it as the list.
    """

    def __init__(self, app: Callable, has_list: bool):
        self._app, self._has_list = app, has_list

    def __call__(self, environ: dict[str, Any], start_response: Callable) -> Iterable[bytes]:
        match = _LIST_OF_SESSIONS.fullmatch(environ["PATH_INFO"])
        if match is None or environ["REQUEST_METHOD"] != "GET":
            return self._app(environ, start_response)
        if self._has_list:
            return self._app({**environ, "PATH_INFO": match[1]}, start_response)
        query = environ.get("QUERY_STRING", "")
        where = quote(match[1].encode("latin-1")) + "/all" + (f"?{query}" if query else "")
        start_response("307 Temporary Redirect", [("Location", where), ("Cache-Control", "no-store")])
        return [b""]


def _of_evaluators(environment: Mapping[str, str]) -> frozenset[str]:
    """Return what a function with the package of evaluators' routes serves: with the token, events alone."""
    return frozenset({"panel" if environment.get("OPENHYPE_PANEL") else "sessions"})


APPS: Mapping[str, Callable[[], Callable]] = {
    "app": lambda: from_environment(os.environ),
    "sessions": lambda: WholePaths(
        SessionLists(from_environment(os.environ, _of_evaluators(os.environ)), has_list=False)
    ),
    "scores": lambda: WholePaths(
        SessionLists(from_environment(os.environ, frozenset({"scores", "results"})), has_list=True)
    ),
}


def __getattr__(name: str):
    """Create an application when a server first imports it, not when this module is imported."""
    if name not in APPS:
        raise AttributeError(name)
    return globals().setdefault(name, APPS[name]())
