"""A DynamoDB that fails as the real one does, in front of one that works.

Every 20th call is throttled; every 50th write is done and answered with a 500; every 70th is done and
its reply lost with the connection; every 33rd call is done and its reply cut off with the connection.
"""

import http.client
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

THROTTLED = "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException"
BROKEN = "com.amazonaws.dynamodb.v20120810#InternalServerError"


class FaultyServer(ThreadingHTTPServer):
    """Forwards calls to `endpoint`, and fails on a plan. Counts calls and faults."""

    daemon_threads = True

    def __init__(self, endpoint):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.behind = urlsplit(endpoint)
        self.calls, self.writes = 0, 0
        self.faults = {"throttled": 0, "broken": 0, "lost": 0, "cut": 0}
        self.lock = threading.Lock()
        self._thread = threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @property
    def endpoint(self):
        return f"http://127.0.0.1:{self.server_port}"

    def fault(self, is_write):
        """Count a call, and say how it is to fail, if at all."""
        with self.lock:
            self.calls += 1
            self.writes += is_write
            found = None
            if self.calls % 20 == 0:
                found = "throttled"
            elif is_write and self.writes % 50 == 0:
                found = "broken"
            elif is_write and self.writes % 70 == 0:
                found = "lost"
            elif self.calls % 33 == 0:
                found = "cut"
            if found:
                self.faults[found] += 1
            return found

    def stop(self):
        self.shutdown()
        self.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    connection_behind = None

    def do_POST(self):
        length = int(self.headers["Content-Length"])
        body = self.rfile.read(length)
        if len(body) < length:  # its sender was killed; dynalite would end
            self.close_connection = True
            return
        operation = self.headers["X-Amz-Target"].rpartition(".")[2]
        fault = self.server.fault(operation in ("PutItem", "UpdateItem"))
        if fault == "throttled":
            self.reply(400, json.dumps({"__type": THROTTLED, "message": "slow down"}).encode())
            return
        try:
            status, reply = self.forward(body)
        except (OSError, http.client.HTTPException):
            self.drop_behind()
            status, fault = 0, "lost"
        if fault == "lost":
            self.close_connection = True
        elif fault == "broken" and status == 200:
            self.reply(500, json.dumps({"__type": BROKEN, "message": "so sorry"}).encode())
        elif fault == "cut":
            self.close_connection = True
            self.reply(status, reply, reply[: len(reply) // 2])
        else:
            self.reply(status, reply)

    def forward(self, body):
        if self.connection_behind is None:
            behind = self.server.behind
            self.connection_behind = http.client.HTTPConnection(behind.hostname, behind.port, timeout=10)
        headers = {name: self.headers[name] for name in self.headers if name.lower() != "connection"}
        self.connection_behind.request("POST", self.path, body, headers)
        reply = self.connection_behind.getresponse()
        return reply.status, reply.read()

    def reply(self, status, body, sent=None):
        self.send_response(status)
        self.send_header("Content-Type", "application/x-amz-json-1.0")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body if sent is None else sent)

    def drop_behind(self):
        if self.connection_behind is not None:
            self.connection_behind.close()
            self.connection_behind = None

    def finish(self):
        self.drop_behind()
        super().finish()

    def log_message(self, *args):
        pass
