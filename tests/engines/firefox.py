"""Firefox, over WebDriver BiDi, which it speaks itself (https://w3c.github.io/webdriver-bidi/)."""

import base64
import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

from websocket import WebSocket, WebSocketException, create_connection

from tests.ports import free_port

from . import program
from .page import NotEvaluated, Page
from .processes import STARTED_WITHIN_S, NotStarted, display, running

_REPLY_WITHIN_S = 60
_SETTINGS = {
    "browser.shell.checkDefaultBrowser": False,
    "browser.aboutwelcome.enabled": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "app.normandy.enabled": False,
    "app.update.enabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "browser.safebrowsing.malware.enabled": False,
    "browser.safebrowsing.phishing.enabled": False,
    "extensions.getAddons.cache.enabled": False,
    "full-screen-api.warning.timeout": 0,
}
"""A browser without questions of its own, which asks nothing of the internet."""
_KEYS = {"Enter": "\ue007", "Space": " "}


class Refused(Exception):
    """The browser answered a command with an error."""


class Firefox:
    """A running Firefox; each set of pages has storage of its own."""

    def __init__(self, socket: WebSocket):
        self._socket, self._commands = socket, 0
        self._handlers: dict[str, list[Callable[[dict], None]]] = defaultdict(list)
        self.call("session.new", capabilities={})

    def call(self, method: str, **parameters) -> dict[str, Any]:
        """Return the result of a command; what the browser reports meanwhile goes to the pages.

        Raises:
            Refused: the browser could not do it.
        """
        self._commands += 1
        self._socket.send(json.dumps({"id": self._commands, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.recv())
            if message["type"] == "event":
                self._report(message)
            elif message["id"] == self._commands:
                if message["type"] == "error":
                    raise Refused(f"{method}: {message['error']}: {message['message']}")
                return message["result"]

    @contextmanager
    def fresh(self) -> Iterator[Callable[[], "FirefoxPage"]]:
        """Give what opens pages that share storage with each other, and with nothing before."""
        user = self.call("browser.createUserContext")["userContext"]
        try:
            yield lambda: self._open(user)
        finally:
            self._handlers.clear()
            self.call("browser.removeUserContext", userContext=user)

    def listen(self, context: str, handler: Callable[[dict], None]) -> None:
        """Give to `handler` what is reported of one page."""
        self._handlers[context].append(handler)

    def _open(self, user: str) -> "FirefoxPage":
        context = self.call("browsingContext.create", type="tab", userContext=user)["context"]
        events = ["log.entryAdded", "network.beforeRequestSent"]
        self.call("session.subscribe", events=events, contexts=[context])
        return FirefoxPage(self, context)

    def _report(self, message: dict) -> None:
        facts = message["params"]
        context = facts.get("context") or facts.get("source", {}).get("context")
        for handler in self._handlers[context]:
            handler(message)


class FirefoxPage(Page):
    """A tab."""

    def __init__(self, browser: Firefox, context: str):
        super().__init__()
        self._browser, self._context = browser, context
        self._listeners: dict[str, list[Callable[[Any], None]]] = defaultdict(list)
        browser.listen(context, self._report)

    def on(self, event: str, handler: Callable[[Any], None]) -> None:
        self._listeners[event].append(handler)

    def goto(self, url: str) -> None:
        self._call("browsingContext.navigate", url=url, wait="complete")

    def reload(self) -> None:
        self._call("browsingContext.reload", wait="complete")

    def evaluate(self, expression: str) -> Any:
        target = {"context": self._context}
        try:
            reply = self._browser.call(
                "script.evaluate",
                expression=f"JSON.stringify({expression})",
                awaitPromise=False,
                target=target,
            )
        except Refused as error:
            raise NotEvaluated(str(error)) from error
        if reply["type"] == "exception":
            raise NotEvaluated(f"{expression}: {reply['exceptionDetails']['text']}")
        value = reply["result"].get("value")
        return None if value is None else json.loads(value)

    def screenshot(self, path: Path | None = None) -> bytes:
        picture = base64.b64decode(self._call("browsingContext.captureScreenshot")["data"])
        if path:
            path.write_bytes(picture)
        return picture

    def _press(self, key: str) -> None:
        value = _KEYS.get(key, key)
        strokes = [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}]
        self._act({"type": "key", "id": "keys", "actions": strokes})

    def _click_at(self, x: int, y: int) -> None:
        moves = [
            {"type": "pointerMove", "x": x, "y": y},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        self._act({"type": "pointer", "id": "pointer", "actions": moves})

    def _act(self, source: dict) -> None:
        self._call("input.performActions", actions=[source])

    def _call(self, method: str, **parameters) -> dict[str, Any]:
        return self._browser.call(method, context=self._context, **parameters)

    def _report(self, message: dict) -> None:
        facts = message["params"]
        if message["method"] == "network.beforeRequestSent":
            event, told = "request", SimpleNamespace(url=facts["request"]["url"])
        elif facts["type"] == "javascript":
            event, told = "pageerror", facts["text"]
        else:
            event, told = "console", SimpleNamespace(type=facts["level"], text=facts["text"])
        for listener in self._listeners[event]:
            listener(told)


@contextmanager
def firefox(width_px: int, height_px: int, settings: dict[str, Any] | None = None) -> Iterator[Firefox]:
    """Run Firefox on a display that nobody sees, in a profile of its own that goes with it.

    `settings` are preferences by name, beside those of every test.

    Not headless: there it has no pointer, and the task refuses flashes to devices without one.
    """
    port = free_port()
    with (
        TemporaryDirectory(prefix="firefox-", ignore_cleanup_errors=True) as profile,
        display(width_px, height_px) as screen,
    ):
        preferences = {**_SETTINGS, **(settings or {})}
        lines = [f'user_pref("{name}", {json.dumps(value)});\n' for name, value in preferences.items()]
        Path(profile, "user.js").write_text("".join(lines))
        command = [program("Firefox", "firefox-esr"), "--no-remote", "--profile", profile]
        size = ["--width", str(width_px), "--height", str(height_px)]
        # Containers often forbid what its sandbox needs; the pages are our own.
        environment = {"DISPLAY": screen, "HOME": profile, "MOZ_DISABLE_CONTENT_SANDBOX": "1"}
        listening = f"--remote-debugging-port={port}"
        with running([*command, *size, listening, "about:blank"], **environment) as process:
            socket = _connected(port, process)
            try:
                yield Firefox(socket)
            finally:
                socket.close(timeout=1)


def _connected(port: int, process) -> WebSocket:
    until = time.monotonic() + STARTED_WITHIN_S
    while True:
        with suppress(OSError, WebSocketException):
            url = f"ws://127.0.0.1:{port}/session"
            return create_connection(url, suppress_origin=True, timeout=_REPLY_WITHIN_S)
        if process.poll() is not None or time.monotonic() > until:
            raise NotStarted(f"Firefox does not listen on port {port}; it ended: {process.poll()}")
        time.sleep(0.1)
