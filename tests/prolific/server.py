"""The fake panel behind a socket on loopback, which can be told to fail."""

import json
import re
import secrets
import socket
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

from .api import Request, reply
from .books import Books
from .webhooks import Outbox

BEFORE, AFTER = "before", "after"


@dataclass
class Fault:
    """What goes wrong with calls that fit, after `skip` of them went well, `times` times."""

    method: str
    path: str
    how: str | int
    """`before` or `after`: the connection drops before or after the call is handled; or a status."""
    skip: int = 0
    times: int = 1
    delay_s: float = 0.0
    headers: tuple = ()
    handles: bool = False
    """Whether the call is handled although the reply is the status given."""


class Fake:
    """A running fake: its books and outbox, its address, its faults, and what it was asked."""

    def __init__(self, books):
        self.books = books
        self.webhooks = Outbox(books, secrets.token_hex(16))
        self.faults, self.calls = [], []
        self.url = ""

    @property
    def token(self):
        return self.books.token

    def fail(self, method, path, how, **options):
        """Have calls whose path holds the pattern `path` fail."""
        with self.books.lock:
            self.faults.append(Fault(method, path, how, **options))

    def environment(self):
        """Return the environment variables that lead a command here."""
        return {"PROLIFIC_TOKEN": self.token, "OPENHYPE_PROLIFIC_URL": f"{self.url}/api/v1/"}

    def fault_for(self, method, path):
        with self.books.lock:
            self.calls.append(f"{method} {path}")
            for fault in self.faults:
                if fault.method == method and re.search(fault.path, path) and fault.times > 0:
                    if fault.skip > 0:
                        fault.skip -= 1
                        return None
                    fault.times -= 1
                    return fault
        return None


@contextmanager
def running(books=None, **options):
    """Yield a `Fake` that listens on loopback until the block ends."""
    fake = Fake(books or Books(**options))
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(fake))
    server.daemon_threads = True
    fake.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(fake):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 30
        disable_nagle_algorithm = True

        def log_message(self, *_):
            pass

        def _answer(self):
            parts = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            fault = fake.fault_for(self.command, parts.path)
            if fault is not None:
                time.sleep(fault.delay_s)
                if fault.how == BEFORE:
                    return self._drop()
            request = Request(
                self.command, parts.path, dict(parse_qsl(parts.query)), body,
                self.headers.get("Authorization", ""), fake.url,
            )  # fmt: skip
            if fault is None or fault.how == AFTER or fault.handles:
                status, data = reply(fake.books, request)
            if fault is not None and fault.how == AFTER:
                return self._drop()
            if fault is not None:
                status, data = fault.how, {"error": {"status": fault.how, "title": "Out of order"}}
            self._send(status, data, fault.headers if fault else ())

        do_GET = do_POST = do_PATCH = _answer  # noqa: N815

        def _send(self, status, data, headers):
            text = json.dumps(data).encode()
            self.send_response(status)
            for name, value in (("Content-Type", "application/json"), *headers):
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def _drop(self):
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)

    return Handler
