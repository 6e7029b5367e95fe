"""The fake panel behind a socket on loopback, or straight in the process; both can be told to fail."""

import json
import socket
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from urllib.parse import parse_qsl, urlsplit

from .api import Request, reply
from .books import Books
from .faults import AFTER, BEFORE, UNREACHED, Faults


class Fake:
    """A fake: its books and webhooks, its address, its faults, and what it was asked."""

    def __init__(self, books, url="http://prolific.test"):
        self.books, self.webhooks, self.url = books, books.hooks, url
        self.faults = Faults(books.lock)

    @property
    def token(self):
        return self.books.token

    @property
    def calls(self):
        return self.faults.calls

    def fail(self, method, path, how, **options):
        """Have calls whose path holds the pattern `path` fail."""
        self.faults.add(method, path, how, **options)

    def environment(self):
        """Return the environment variables that lead a command here."""
        return {"PROLIFIC_TOKEN": self.token, "OPENHYPE_PROLIFIC_URL": f"{self.url}/api/v1/"}

    def panel(self, token=None, **options):
        """Return the product's own client, which asks this fake without a socket."""
        from backend.panels.prolific import ProlificPanel

        options = {"sleep": lambda _: None, "http": lambda: Direct(self), **options}
        return ProlificPanel(token or self.token, f"{self.url}/api/v1/", **options)

    def request(self, method, url, body, authorization):
        parts = urlsplit(url)
        return Request(method, parts.path, dict(parse_qsl(parts.query)), body, authorization, self.url)


class Direct:
    """What the client needs of `requests.Session`, answered in the process: thousands of runs in seconds."""

    def __init__(self, fake):
        self._fake = fake

    def request(self, method, url, json=None, auth=None, timeout=None, allow_redirects=True):
        from requests.exceptions import ConnectionError as Broken
        from urllib3.exceptions import NewConnectionError

        fake, sent = self._fake, SimpleNamespace(headers={})
        auth(sent)
        body = b"" if json is None else _encoded(json)
        asked = fake.request(method, url, body, sent.headers["Authorization"])
        fault = fake.faults.meet(method, asked.path)
        if fault is not None and fault.how == UNREACHED:
            raise Broken(SimpleNamespace(reason=NewConnectionError(None, "no connection")))
        if fault is None:
            return _Reply(*reply(fake.books, asked))
        if fault.is_handled:
            reply(fake.books, asked)
        if fault.how in (BEFORE, AFTER):
            raise Broken("the connection dropped")
        return _Reply(*fault.reply())

    def close(self):
        """Nothing is open."""


class _Reply:
    def __init__(self, status, data, headers):
        self.status_code, self.headers, self._text = status, dict(headers), _encoded(data)

    def json(self):
        return json.loads(self._text)


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
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            asked = fake.request(self.command, self.path, body, self.headers.get("Authorization", ""))
            fault = fake.faults.meet(self.command, asked.path)
            if fault is None:
                return self._send(*reply(fake.books, asked))
            time.sleep(fault.delay_s)
            answer = reply(fake.books, asked) if fault.is_handled else None
            if fault.how in (BEFORE, AFTER, UNREACHED):
                return self._drop()
            return self._send(*(answer if fault.how == 200 else fault.reply()))

        do_GET = do_POST = do_PATCH = do_DELETE = _answer  # noqa: N815

        def _send(self, status, data, headers):
            text = b"" if status == 204 else _encoded(data)
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


def _encoded(data):
    return json.dumps(data).encode()
