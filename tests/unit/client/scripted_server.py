"""An HTTP server that answers as a test says, and records what it was sent."""

import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Answer:
    """A reply; `cut` closes the connection in the middle of it instead."""

    status: int = 200
    body: object = field(default_factory=dict)
    headers: dict = field(default_factory=dict)
    cut: bool = False


def refusal(status, code, message="no", **headers):
    return Answer(
        status,
        {"error": {"code": code, "message": message, "id": "e1"}},
        {name.replace("_", "-"): value for name, value in headers.items()},
    )


class Scripted(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def _answer(self):
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length)
        self.server.seen.append((self.command, self.path, dict(self.headers), body))
        answer = self.server.answers.pop(0)
        content = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if answer.cut else content)
        self.close_connection = True

    do_GET = do_POST = do_PUT = _answer  # noqa: N815

    def log_message(self, *args):
        pass


@contextmanager
def scripted(*answers):
    """Give a server that answers in this order; it has `url`, and in `seen` what it was asked."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Scripted)
    server.answers, server.seen = list(answers), []
    server.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
