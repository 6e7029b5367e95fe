"""The zips as Lambda would run them: unpacked in a place of their own, without anything else installed.

`built` makes the zip of each stage once, and keeps it under `build/packages` for as long as its code stays
the same; `unpacked` unpacks it once beside it, for all instances. `Function` is one running instance, which
is sent events as Lambda sends them: it is frozen between them with all that it started, and neither an event
nor a reply may be longer than Lambda allows.
"""

import atexit
import base64
import fcntl
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import IO, Any
from urllib.parse import parse_qsl, urlsplit

from deploy import package

BUILT = Path(__file__).resolve().parents[1] / "build" / "packages"
RUNTIME = Path(__file__).with_name("lambda_runtime.py")
MOST_BYTES = 6_291_556
"""Longest event, and longest reply, as JSON. Source: "Lambda quotas", and the message of the error."""


def built(stage: str) -> package.Package:
    """Return the zip of a stage, built at the first call on this machine."""
    BUILT.mkdir(parents=True, exist_ok=True)
    with (BUILT / f".{stage}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made = package.build(stage, BUILT)
        for older in set(BUILT.glob(f"{stage}-*.zip")) - {made.path}:
            older.unlink()
            shutil.rmtree(_unpacked_place(older), ignore_errors=True)
        return made


def unpacked(stage: str) -> Path:
    """Return the folder of a stage's unpacked zip, which its instances share: on Lambda it is read-only."""
    archive = built(stage).path
    place = _unpacked_place(archive)
    with (BUILT / f".{stage}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not place.is_dir():
            partial = place.with_suffix(".partial")
            shutil.rmtree(partial, ignore_errors=True)  # left by a process that was killed
            with zipfile.ZipFile(archive) as opened:
                opened.extractall(partial)
            partial.rename(place)
    return place


def _unpacked_place(archive: Path) -> Path:
    return archive.with_suffix(".unpacked")


class _Instance:
    """A process that `lambda_runtime.py` forked; used as `subprocess.Popen` is."""

    def __init__(self, pid: int, stdin: IO[str], stdout: IO[str]):
        self.pid, self.stdin, self.stdout = pid, stdin, stdout
        self._has_ended, self._lock = False, threading.Lock()

    def has_ended(self, within: float = 0) -> bool:
        """Return whether it has ended, or does within so many seconds: nobody holds the end that replies.

        One thread asks at a time: the number of a descriptor that another one closed is soon that of a pipe
        to the next instance.
        """
        with self._lock:
            if not self._has_ended:
                replies = select.poll()
                replies.register(self.stdout, 0)
                self._has_ended = bool(replies.poll(1000 * within))
            return self._has_ended

    def freeze(self) -> None:
        """Stop the process and all that it started, also what is started meanwhile."""
        stopped: set[int] = set()
        while left := {self.pid, *_descendants(self.pid)} - stopped:
            _signal(left, signal.SIGSTOP)
            stopped |= left

    def thaw(self) -> None:
        """Let the process go on, and all that it started."""
        _signal({self.pid, *_descendants(self.pid)}, signal.SIGCONT)

    def wait(self, timeout: float) -> None:
        assert self.has_ended(timeout), f"the function has not ended within {timeout} s"

    def kill(self) -> None:
        if not self.has_ended():
            os.kill(self.pid, signal.SIGKILL)


def _descendants(pid: int) -> Iterator[int]:
    """Yield the processes that a process started, and those that these started."""
    with suppress(OSError):  # it has ended
        for thread in Path(f"/proc/{pid}/task").iterdir():
            for child in map(int, (thread / "children").read_text().split()):
                yield child
                yield from _descendants(child)


def _signal(pids: Iterable[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


class _Runtime:
    """The process that instances of one stage are forked from."""

    def __init__(self, task: Path):
        self._lock = threading.Lock()
        self._socket, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-S", "-I", str(RUNTIME), str(task), str(theirs.fileno())]
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                env={"OPENBLAS_NUM_THREADS": "1"},
            )
        atexit.register(self._end)

    def start(self, handler: str, environment: Mapping[str, str], log: IO[str]) -> _Instance:
        read_events, write_events = os.pipe()
        read_replies, write_replies = os.pipe()
        message = json.dumps({"handler": handler, "environment": environment}).encode()
        with self._lock:
            socket.send_fds(self._socket, [message], [read_events, write_replies, log.fileno()])
            pid = int(self._socket.recv(32))
        for descriptor in (read_events, write_replies):
            os.close(descriptor)
        return _Instance(pid, os.fdopen(write_events, "w"), os.fdopen(read_replies))

    def _end(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._process.wait()


@cache
def _runtime(stage: str | Path) -> _Runtime:
    return _Runtime(stage if isinstance(stage, Path) else unpacked(stage))


class Function:
    """One instance of a Lambda function, started from its zip."""

    def __init__(self, stage: str | Path, environment: Mapping[str, str], handler: str = ""):
        """
        Args:
            stage: or a folder, in place of its unpacked zip.
            handler: what Lambda calls; by default the one of the stage's settings.
        """
        handler = handler or package.settings(str(stage))["lambda_handler"]
        self._folder = tempfile.TemporaryDirectory(prefix="openhype-task-")
        self._log = (Path(self._folder.name) / "log").open("w+")
        self._lock = threading.Lock()
        usual = {"AWS_REGION": "eu-central-1", "INSTANTIATE_LAMBDA_HANDLER_ON_IMPORT": "1"}
        self._process = _runtime(stage).start(handler, {**usual, **environment}, self._log)

    def invoke(self, event: Mapping[str, Any]) -> dict[str, Any]:
        """Return the function's reply to an event; one at a time, as an instance takes them.

        In place of a reply that is too long it returns Lambda's error.
        """
        assert size_of(event) <= MOST_BYTES, "Lambda takes no event of this length"
        with self._lock:
            self._process.thaw()
            self._process.stdin.write(json.dumps(event) + "\n")
            self._process.stdin.flush()
            reply = self._process.stdout.readline()
            self._process.freeze()
        assert reply, f"the function died: {self.log()[-2000:]}"
        if (size := len(reply.rstrip("\n").encode())) > MOST_BYTES:
            message = f"Response payload size ({size}) exceeded maximum allowed payload size ({MOST_BYTES})."
            return {"errorType": "Function.ResponseSizeTooLarge", "errorMessage": message}
        return json.loads(reply)

    def log(self) -> str:
        """Return all that the function logged so far."""
        return Path(self._log.name).read_text()

    def kill(self) -> None:
        """End the instance at once, as Lambda may; wait for it to be gone."""
        self._process.kill()
        self._process.wait(timeout=20)

    def is_dead(self) -> bool:
        return self._process.has_ended()

    def close(self) -> None:
        with self._lock, suppress(BrokenPipeError):
            self._process.thaw()
            self._process.stdin.close()
        self._process.wait(timeout=20)
        self._process.stdout.close()
        self._log.close()
        self._folder.cleanup()


@contextmanager
def invocations(functions: Mapping[str, Function]) -> Iterator[str]:
    """Serve Lambda's call Invoke for functions by name; gives the URL for AWS_ENDPOINT_URL_LAMBDA."""

    started: list[threading.Thread] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            name = self.path.split("/")[3]
            event = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            is_waited_for = self.headers["X-Amz-Invocation-Type"] == "RequestResponse"
            if name not in functions:
                return self._reply(404, b"{}")
            if is_waited_for:
                return self._reply(200, json.dumps(functions[name].invoke(event)).encode())
            started.append(threading.Thread(target=functions[name].invoke, args=(event,)))
            started[-1].start()
            return self._reply(202, b"")

        def _reply(self, status: int, body: bytes) -> None:
            self.send_response_only(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        for thread in started:
            thread.join()


def size_of(event: Mapping[str, Any]) -> int:
    """Return the length of an event (bytes)."""
    return len(json.dumps(event, ensure_ascii=False).encode())


def body_of(reply: Mapping[str, Any]) -> bytes:
    """Return the body of a function's reply, as the client gets it."""
    body = reply.get("body") or ""
    return base64.b64decode(body) if reply.get("isBase64Encoded") else body.encode()


def function_url_event(method: str, target: str, headers: Mapping[str, str], body: bytes) -> dict[str, Any]:
    """Return the event of a request to a Function URL (payload 2.0)."""
    return _payload_2(method, target, headers, body, "abcdefghij.lambda-url.eu-central-1.on.aws")


def http_api_event(method: str, target: str, headers: Mapping[str, str], body: bytes) -> dict[str, Any]:
    """Return the event of a request to an HTTP API of API Gateway (payload 2.0)."""
    event = _payload_2(method, target, headers, body, "abcdefghij.execute-api.eu-central-1.amazonaws.com")
    return {**event, "routeKey": "ANY /{proxy+}", "pathParameters": {"proxy": target.lstrip("/")}}


def rest_api_event(method: str, target: str, headers: Mapping[str, str], body: bytes) -> dict[str, Any]:
    """Return the event of a request to a REST API of API Gateway, deployed as the stage `api`."""
    split = urlsplit(target)
    headers = {
        "Host": "abcdefghij.execute-api.eu-central-1.amazonaws.com",
        "X-Forwarded-For": "203.0.113.7, 130.176.0.1",
        "X-Forwarded-Port": "443",
        "X-Forwarded-Proto": "https",
        **headers,
    }
    query = parse_qsl(split.query)
    return {
        "resource": "/{proxy+}",
        "path": split.path,
        "httpMethod": method,
        "headers": headers,
        "multiValueHeaders": {name: [value] for name, value in headers.items()},
        "queryStringParameters": dict(query) or None,
        "multiValueQueryStringParameters": {name: [value] for name, value in query} or None,
        "pathParameters": {"proxy": split.path.lstrip("/")},
        "stageVariables": None,
        "requestContext": {
            "resourcePath": "/{proxy+}",
            "httpMethod": method,
            "path": f"/api{split.path}",
            "stage": "api",
            "protocol": "HTTP/1.1",
            "domainName": "abcdefghij.execute-api.eu-central-1.amazonaws.com",
            "requestId": "c6af9ac6-7b61-11e6-9a41-93e8deadbeef",
            "identity": {"sourceIp": "203.0.113.7", "userArn": None},
        },
        "body": body.decode() or None,
        "isBase64Encoded": False,
    }


def _payload_2(method, target, headers, body, domain) -> dict[str, Any]:
    split = urlsplit(target)
    context = {
        "accountId": "anonymous",
        "apiId": "abcdefghij",
        "domainName": domain,
        "domainPrefix": "abcdefghij",
        "http": {
            "method": method,
            "path": split.path,
            "protocol": "HTTP/1.1",
            "sourceIp": "203.0.113.7",
            "userAgent": "Mozilla/5.0",
        },
        "requestId": "c6af9ac6-7b61-11e6-9a41-93e8deadbeef",
        "routeKey": "$default",
        "stage": "$default",
        "time": "01/Jan/2026:00:00:00 +0000",
        "timeEpoch": 1767225600000,
    }
    forwarded = {"x-forwarded-for": "203.0.113.7", "x-forwarded-port": "443", "x-forwarded-proto": "https"}
    lower = {name.lower(): value for name, value in headers.items()}
    cookies = lower.pop("cookie", None)
    event = {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": split.path,
        "rawQueryString": split.query,
        "headers": {**forwarded, "host": domain, **lower},
        "queryStringParameters": dict(parse_qsl(split.query)),
        "requestContext": context,
        "isBase64Encoded": False,
    }
    if cookies:  # Lambda takes them out of the headers
        event["cookies"] = cookies.split("; ")
    if body:
        event |= {"body": base64.b64encode(body).decode(), "isBase64Encoded": True}
    return event
