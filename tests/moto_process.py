"""A moto server whose state can be copied: `python -m tests.moto_process PORT`.

`POST /moto-api/copy` forks the server and replies with the address of the copy: a process that goes on from
all that the server holds at this moment, whatever becomes of either later. So what takes seconds to set up
is set up once, and each test changes a copy of its own. Server and copies end with their common input, and so
with the process that started the first of them, however that ends.

A copy is a fork of the thread that replies. Whoever asks for one leaves the server alone meanwhile, so that
no other thread holds a lock that nobody would release in the copy.
"""

import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterable
from typing import Any

COPY, END = "/moto-api/copy", "/moto-api/end"


class Copied:
    """moto's application, which also copies itself and ends."""

    def __init__(self) -> None:
        from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app

        self._moto = DomainDispatcherApplication(create_backend_app)
        self._moto.debug = True  # as moto.server has it

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if environ["PATH_INFO"] not in (COPY, END):
            return self._moto(environ, start_response)
        if environ["PATH_INFO"] == END:
            os._exit(0)
        reply = json.dumps({"port": self._copy()}).encode()
        start_response("200 OK", [("Content-Length", str(len(reply)))])
        return [reply]

    def _copy(self) -> int:
        """Start a copy; return its port, which takes connections at once."""
        listening = socket.create_server(("127.0.0.1", 0), backlog=128)
        if os.fork() == 0:
            try:
                self.serve(listening)
            finally:
                os._exit(1)
        port: int = listening.getsockname()[1]
        listening.close()
        return port

    def serve(self, listening: socket.socket) -> None:
        """Reply to requests until the input ends."""
        from moto.moto_server.werkzeug_app import MotoRequestHandler
        from werkzeug.serving import make_server

        threading.Thread(target=_end_with_the_input, daemon=True).start()
        make_server(
            "127.0.0.1", 0, self, threaded=True, request_handler=MotoRequestHandler, fd=listening.fileno()
        ).serve_forever()


def _end_with_the_input() -> None:
    os.read(0, 1)
    os._exit(0)


if __name__ == "__main__":
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for copies
    Copied().serve(socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=128))
