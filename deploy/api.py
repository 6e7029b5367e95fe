"""WSGI application for servers and for Lambda, configured by environment variables.

`deploy.api:app` is the complete application, for a WSGI server. The Lambda functions are parts of it:
`sessions` serves sessions, responses and the page of each study, and needs only Flask, msgspec and boto3;
`scores` serves scores, results pages and the dashboard, and also needs numpy, scipy, pillow and matplotlib.
"""

import json
import logging
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from backend.foundation.deadline import with_deadline
from backend.foundation.errors import InvalidInput
from backend.foundation.permissions import tighten
from backend.handlers import EVERYTHING, create_app
from backend.recruitment.sync_thread import Watch
from backend.stores.datadir import DataDir, Keys, parse_keys
from backend.stores.opening import open_store, sqlite_path
from backend.stores.store import Store
from backend.web.origins import parse_origin
from backend.web.proxies import asks_for_proxy
from backend.web.session_limits import PER_HOUR, PER_MINUTE, Openings

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
    options = {
        "allowed": frozenset(map(parse_origin, environment.get("OPENHYPE_ORIGINS", "").split())),
        "behind_proxy": is_behind,
        "serves": serves,
    }
    if "files" in serves:
        app = create_app(store, data, keys, openings=_openings(environment), **options)
    else:
        # CloudFront requests functions by their own host names: public host and client are unknown.
        watch = _watch(environment, store)
        read = _pictures(environment) if "results" in serves else None
        app = create_app(store, data, keys, knows_host=False, watch=watch, read=read, **options)
    if seconds := _request_seconds(environment):
        app.wsgi_app = with_deadline(app.wsgi_app, seconds)
    return app


def store_and_watch() -> tuple[Store, Watch]:
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
    found = [environment.get(name) or str(default) for name, default in names.items()]
    for name, text in zip(names, found, strict=True):
        if not (text.isascii() and text.isdecimal()):
            raise InvalidInput(f"{name} must be a whole number from 0, not {text!r}")
    return Openings(*map(int, found))


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
    return parse_keys(_parameter("OPENHYPE_KEYS", source), f"the parameter {source.removeprefix(_FROM_SSM)}")


def _parameter(variable: str, source: str) -> str:
    """Return the value of the secure parameter that a variable names as `ssm:NAME`."""
    if not source.startswith(_FROM_SSM):
        kind = variable.removeprefix("OPENHYPE_").lower()
        raise InvalidInput(f"{variable} must be of the form ssm:/openhype/NAME/{kind}, not {source!r}")
    import boto3

    found = boto3.client("ssm").get_parameter(Name=source.removeprefix(_FROM_SSM), WithDecryption=True)
    return found["Parameter"]["Value"]


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


def _of_evaluators(environment: Mapping[str, str]) -> frozenset[str]:
    """Return what a function with the package of evaluators' routes serves: with the token, events alone."""
    return frozenset({"panel" if environment.get("OPENHYPE_PANEL") else "sessions"})


APPS: Mapping[str, Callable[[], Callable]] = {
    "app": lambda: from_environment(os.environ),
    "sessions": lambda: WholePaths(from_environment(os.environ, _of_evaluators(os.environ))),
    "scores": lambda: WholePaths(from_environment(os.environ, frozenset({"scores", "results"}))),
}


def __getattr__(name: str):
    """Create an application when a server first imports it, not when this module is imported."""
    if name not in APPS:
        raise AttributeError(name)
    return globals().setdefault(name, APPS[name]())
