"""Every module that connects to another machine is known, with what bounds its calls."""

import ast
import gzip
import http.client
import socket
import time
from contextlib import closing
from pathlib import Path

import pytest

from backend.administration.simulated_sessions import Client
from backend.client.connection import Connection
from backend.client.retries import Retries
from backend.foundation.errors import InvalidInput, OpenhypeError
from backend.foundation.public_fetch import fetched
from backend.panels.prolific import ProlificPanel
from deploy import smoke

from .foundation.slow_servers import server

ROOT = Path(__file__).resolve().parents[2]

ONE_DEADLINE = {
    "backend/administration/simulated_sessions.py": "deadlines.Deadline",
    "backend/client/connection.py": "deadlines.Deadline",
    "backend/foundation/exchange_deadline.py": "itself",
    "backend/foundation/public_fetch.py": "deadlines.Deadline",
    "backend/panels/bounded_http.py": "deadlines.Deadline",
    "backend/panels/prolific_http.py": "bounded_http.BoundedSession",
    "deploy/smoke.py": "deadlines.Deadline",
}
"""What reads from servers that others run."""
OWN = {
    "backend/commands/deployment.py": "AWS, by botocore's timeouts and tries",
    "backend/foundation/own_addresses.py": "sends nothing: the addresses of this machine",
    "backend/jobs/locks.py": "sends nothing: the name of this machine",
    "backend/panels/signed_links.py": "names of errors; keys come by `public_fetch`",
    "backend/stores/dynamodb/client.py": "AWS, by botocore's timeouts and tries",
    "deploy/bucket_downloads.py": "names of errors",
    "deploy/bucket_pictures.py": "AWS, by botocore's timeouts and tries",
    "deploy/bucket_uploads.py": "AWS, by botocore's timeouts and tries",
    "deploy/deployment.py": "AWS, from the owner's machine",
    "deploy/edge_copies.py": "AWS, by botocore's timeouts and tries",
    "deploy/panel_calls.py": "AWS, by botocore's timeouts and tries",
    "deploy/s3_upload.py": "AWS, from the owner's machine",
    "deploy/secure_parameters.py": "AWS, by botocore's timeouts and tries",
    "deploy/stacks.py": "names of errors",
    "deploy/work_calls.py": "AWS, by botocore's timeouts and tries",
    "backend/stores/served_address.py": "whether this machine's own server listens",
    "backend/web/server.py": "listens",
}
"""What reaches only this installation's own machines, or AWS."""
_CONNECTING = {"requests", "urllib.request", "http.client", "socket", "urllib3", "boto3", "botocore"}


def connecting(path: Path) -> bool:
    """Return whether a module imports what can connect to another machine."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names = [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or "", *(f"{node.module}.{each.name}" for each in node.names)]
        else:
            continue
        if any(name in _CONNECTING or name.partition(".")[0] in _CONNECTING for name in names):
            return True
    return False


def test_modules_that_connect_to_other_machines_are_known():
    modules = [path for package in ("backend", "deploy") for path in (ROOT / package).rglob("*.py")]

    assert {str(path.relative_to(ROOT)) for path in modules if connecting(path)} == {*ONE_DEADLINE, *OWN}


@pytest.mark.parametrize("module", [name for name, by in ONE_DEADLINE.items() if by != "itself"])
def test_what_reads_from_servers_of_others_has_one_deadline(module):
    text = (ROOT / module).read_text("utf-8")

    assert ONE_DEADLINE[module].rpartition(".")[2] in text


@pytest.mark.parametrize("module", [name for name, why in OWN.items() if why.endswith("timeouts and tries")])
def test_each_client_of_aws_in_a_function_has_timeouts_and_tries(module):
    texts = {
        "Config": {"connect_timeout", "read_timeout", "retries"},
        "client": {"config"},
        "aws_client": {"config"},
    }
    calls = [
        node for node in ast.walk(ast.parse((ROOT / module).read_text("utf-8"))) if isinstance(node, ast.Call)
    ]
    named = [(getattr(call.func, "attr", getattr(call.func, "id", "")), call.keywords) for call in calls]
    checked = [(name, {each.arg for each in given}) for name, given in named if name in texts]

    assert {name for name, _ in checked} >= ({"Config"} if module.startswith("deploy/") else set())
    assert [(name, given) for name, given in checked if not given >= texts[name]] == []


WITHIN_S = 0.6
LASTS_S = 40
"""Without a deadline."""


def by_fetch(url):
    fetched(url, WITHIN_S, 1 << 20, is_trusted=True)


def by_client(url):
    Connection(url, "t", Retries(patience_s=0), whole_s=WITHIN_S).get("/api/me")


def by_panel(url):
    panel = ProlificPanel(
        "token",
        f"{url}/api/v1/",
        sleep=lambda _: None,
        timeout_s=(1, 5),
        whole_s=WITHIN_S,
        most_bytes=1 << 20,
    )
    panel.http.json(panel.http.call("GET", "studies/", "list studies", tries=1), "list studies")


def by_evaluator(url):
    with closing(Client(url, seconds_to_retry=0, whole_s=WITHIN_S)) as client:
        client.get("/api/studies/faces")


def by_smoke(url):
    smoke.Site(url, WITHIN_S).ask("GET", "/")


CALLS = (by_fetch, by_client, by_panel, by_evaluator, by_smoke)
ENDS = (OpenhypeError, OSError, http.client.HTTPException, ValueError)
OK = b"HTTP/1.1 200 OK\r\n"


def then(first, repeated=b"", pause_s=0.02):
    def speak(connection):
        connection.sendall(first)
        for _ in range(int(LASTS_S / pause_s)):
            connection.sendall(repeated)
            time.sleep(pause_s)

    return speak


ENDLESS = {
    "silence": then(b""),
    "a slow status": then(b"", b"H"),
    "headers without end": then(OK, b"X-More: " + b"x" * 60_000 + b"\r\n"),
    "a slow header": then(OK + b"X: ", b"x"),
    "a header of megabytes": then(OK + b"X: ", b"x" * 100_000),
    "interim replies without end": then(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "a body without length": then(b"HTTP/1.0 200 OK\r\n\r\n{", b" "),
    "a fast body without end": then(OK + b"\r\n", b" " * 1_000_000),
    "less than promised": then(OK + b"Content-Length: 1000000\r\n\r\n{}"),
    "chunks without end": then(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
    "a slow length of a chunk": then(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"0"),
    "trailers without end": then(OK + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"X: y\r\n"),
    "a slow refusal": then(b"HTTP/1.1 403 No\r\n\r\n", b"x"),
    "a slow redirect": then(b"HTTP/1.1 302 Found\r\nLocation: /\r\n\r\n", b"x"),
}


@pytest.mark.parametrize("speak", ENDLESS.values(), ids=ENDLESS)
@pytest.mark.parametrize("call", CALLS)
def test_no_reply_holds_a_call_beyond_its_deadline(call, speak):
    with server(speak) as url:
        began = time.monotonic()
        with pytest.raises(ENDS, match=r"\S"):
            call(url.partition("/keys")[0])

    assert time.monotonic() - began < LASTS_S / 2


BROKEN = {
    "a chunk of a negative length": OK + b"Transfer-Encoding: chunked\r\n\r\n-5\r\nx\r\n0\r\n\r\n",
    "a chunk shorter than it says": OK + b"Transfer-Encoding: chunked\r\n\r\nfffffff\r\n{}",
    "no end after chunks": OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n",
    "cut short": OK + b"Content-Length: 100\r\n\r\n{}",
    "no HTTP": b"220 mail.example ESMTP\r\n",
    "nothing": b"",
    "an interim reply": b"HTTP/1.1 103 Early Hints\r\n\r\n",
    "a deep reply": OK + b"Content-Length: 100000\r\n\r\n" + b"[" * 100_000,
    "a redirect to itself": b"HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n",
    "a redirect to a file": b"HTTP/1.1 302 Found\r\nLocation: file:///etc/hosts\r\nContent-Length: 0\r\n\r\n",
    "a redirect inside": b"HTTP/1.1 307 Go\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n",
    "a refusal of another shape": b'HTTP/1.1 400 No\r\nContent-Length: 11\r\n\r\n{"error":1}',
    "a deep refusal": b"HTTP/1.1 400 No\r\nContent-Length: 100000\r\n\r\n" + b"[" * 100_000,
}


@pytest.mark.parametrize("sent", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("call", [by_client, by_panel, by_evaluator])
def test_a_broken_reply_ends_a_call_with_a_sentence(call, sent):
    with server(lambda connection: connection.sendall(sent)) as url:
        began = time.monotonic()
        with pytest.raises(ENDS, match=r"\S"):
            call(url.partition("/keys")[0])

    assert time.monotonic() - began < LASTS_S / 2


@pytest.mark.parametrize("call", CALLS)
def test_a_small_reply_that_is_compressed_does_not_become_a_large_one(call):
    packed = gzip.compress(b"[" * (8 << 20))
    head = f"Content-Encoding: gzip\r\nContent-Length: {len(packed)}\r\n\r\n"
    with server(lambda connection: connection.sendall(OK + head.encode() + packed)) as url:
        if call in (by_fetch, by_smoke):  # they take it as it is
            call(url.partition("/keys")[0])
            return
        with pytest.raises(ENDS, match=r"more than|does not answer as openhype|not JSON|broke"):
            call(url.partition("/keys")[0])


@pytest.mark.parametrize("call", CALLS)
def test_the_deadline_holds_for_the_resolution_of_a_name(call, monkeypatch):
    real = socket.getaddrinfo

    def slow(host, *rest, **named):
        if host == "slow.example":
            time.sleep(LASTS_S)
        return real("127.0.0.1", *rest, **named)

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    began = time.monotonic()
    with pytest.raises(ENDS, match=r"\S"):
        call("http://slow.example:9")

    assert time.monotonic() - began < LASTS_S / 2


@pytest.mark.parametrize("call", CALLS)
def test_the_deadline_holds_for_all_addresses_of_a_name_together(call, monkeypatch):
    tried = []

    def connect(address, timeout, *_):
        tried.append(address[0])
        time.sleep(timeout)
        raise TimeoutError("timed out")

    monkeypatch.setattr(socket, "create_connection", connect)
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda *_, **__: [(2, 1, 6, "", (f"127.0.0.{i}", 9)) for i in range(1, 50)]
    )
    began = time.monotonic()
    with pytest.raises(ENDS, match=r"\S"):
        call("http://many.example:9")

    assert tried
    assert time.monotonic() - began < LASTS_S / 2


def test_the_smoke_test_of_a_server_of_another_kind_ends_with_a_sentence(capsys):
    with server(lambda connection: connection.sendall(b"220 mail.example ESMTP\r\n")) as url:
        assert smoke.main([url.partition("/keys")[0], "faces"]) == 1

    assert "does not answer as openhype does" in capsys.readouterr().out


@pytest.mark.parametrize(
    "target", ["http://169.254.169.254/latest/api/token", "http://127.0.0.1/", "ftp://a/b"]
)
def test_no_part_of_an_upload_leaves_a_server_that_encrypts_without_encryption(target):
    with pytest.raises(InvalidInput, match="without encryption"):
        Connection("https://study.example", "t").put(target, b"", {})
