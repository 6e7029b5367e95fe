"""Previews: a study as its evaluators see it, which leaves nothing behind.

A preview is a store and a data directory of its own, in a folder that is removed at its end: the records and
pools of the study and its qualification are copied, the pictures are links to the study's. The application
that answers evaluators serves it below `/preview/SECRET/`; so nothing that is played there can reach the
study's store, and whoever has the link learns as much as an evaluator. People come from no panel in it: the
way back to one has codes that are worth money.

Previews are in the memory of one process, and end with it.
"""

import dataclasses
import json
import secrets
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

from backend.experiment.panel import LINK
from backend.experiment.records import Study
from backend.foundation.bounded_cache import Recent
from backend.stores.datadir import DataDir, Keys
from backend.stores.sqlite import SqliteStore
from backend.stores.store import Store
from backend.web.proxies import Application

LASTS = timedelta(hours=1)
PATH = "/preview"
_MOST = 16
_ENDED = "This preview has ended. Open a new one from the console, or with openhype preview."


class Preview:
    """The store, pictures and application of one preview, removed once nobody has it any more.

    Args:
        make_app: makes the application of a store, a data directory and keys.
        ends_at: when it ends.
    """

    def __init__(self, make_app: Callable[[Store, DataDir, Keys], Application], ends_at: datetime):
        folder = Path(tempfile.mkdtemp(prefix="openhype-preview-"))
        self.data, self.store = DataDir(folder), SqliteStore(folder / "openhype.db")
        weakref.finalize(self, _remove, folder, self.store)
        self.ends_at = ends_at
        self.app = make_app(self.store, self.data, Keys(secrets.token_urlsafe(24), secrets.token_bytes(32)))

    def add(self, store: Store, data: DataDir, study: Study) -> None:
        """Copy a study, and the qualification that it requires.

        Raises:
            NotFound: there is no such qualification.
        """
        if name := study.protocol.admission.qualification:
            self.add(store, data, store.study(name))
        pictures = self.data.images(study.name)
        pictures.parent.mkdir(exist_ok=True)
        pictures.symlink_to(data.images(study.name))
        self.store.add_study(without_panel(study), store.stimuli(study.name))


class Previews:
    """The previews of one process. Safe to use from many threads.

    Args:
        make_app: as in `Preview`.
        clock: the time (UTC).
    """

    def __init__(
        self, make_app: Callable[[Store, DataDir, Keys], Application], clock: Callable[[], datetime]
    ):
        self._make_app, self._clock = make_app, clock
        self._open = Recent[Preview](_MOST)

    def open(self, name: str, fill: Callable[[Preview], Any], lasts: timedelta | None = LASTS) -> str:
        """Return the path of a new preview.

        Args:
            name: the study's.
            fill: adds the study to the preview.
            lasts: None for as long as this process runs.
        """
        preview = Preview(
            self._make_app, self._clock() + lasts if lasts else datetime.max.replace(tzinfo=UTC)
        )
        fill(preview)
        secret = secrets.token_urlsafe(24)
        self._open.put(secret, preview)
        return f"{PATH}/{secret}/s/{quote(name)}"

    def alone(self, environ: dict[str, Any], start_response: Callable) -> Iterable[bytes]:
        """Answer a request below `/preview/` (a WSGI application)."""
        secret, _, rest = environ["PATH_INFO"].removeprefix(f"{PATH}/").partition("/")
        preview = self._current(secret)
        if preview is None:
            return _ended(rest, start_response)
        root = f"{environ['SCRIPT_NAME']}{PATH}/{secret}"
        return preview.app(environ | {"SCRIPT_NAME": root, "PATH_INFO": f"/{rest}"}, start_response)

    def beside(self, app: Application) -> Application:
        """Return a WSGI application that answers below `/preview/`, and leaves the rest to `app`."""

        def answer(environ: dict[str, Any], start_response: Callable) -> Iterable[bytes]:
            is_preview = environ["PATH_INFO"].startswith(f"{PATH}/")
            return (self.alone if is_preview else app)(environ, start_response)

        return answer

    def _current(self, secret: str) -> Preview | None:
        preview = self._open.get(secret)
        if preview is not None and preview.ends_at <= self._clock():
            self._open.drop(secret)
            return None
        return preview


def _ended(rest: str, start_response: Callable) -> list[bytes]:
    """Answer that there is no such preview: in JSON to a page that asks the API, else as a page.

    It may not be the page of a study: that would find the study itself by its name in the path.
    """
    error = {"code": "unknown_study", "message": "this preview has ended", "id": secrets.token_hex(4)}
    is_api = rest.startswith("api/")
    body = json.dumps({"error": error}) if is_api else f"<!doctype html><title>Preview</title><p>{_ENDED}"
    kind = "application/json" if is_api else "text/html; charset=utf-8"
    start_response("404 NOT FOUND", [("Content-Type", kind), ("Cache-Control", "no-store")])
    return [body.encode()]


def without_panel(study: Study) -> Study:
    """Return a study to which people come by a plain link."""
    return dataclasses.replace(study, protocol=study.protocol.changed(panel=LINK))


def _remove(folder: Path, store: SqliteStore) -> None:
    store.close()
    shutil.rmtree(folder, ignore_errors=True)
