"""Connections that send nothing close each other, and nobody else's."""

import http.client
import resource
import socket
import struct
import threading
import time
from contextlib import ExitStack, closing, contextmanager

import pytest
from flask import Flask

from backend.web.connections import connection_limit
from backend.web.server import listen, make_server

LIMIT = 100


@contextmanager
def served():
    app = Flask(__name__)
    begun, release = threading.Event(), threading.Event()

    def slow():
        begun.set()
        return str(release.wait(30))

    app.add_url_rule("/", "page", lambda: "page")
    app.add_url_rule("/slow", "slow", slow)
    app.add_url_rule("/long", "long", lambda: bytes(9_000_000))
    server = make_server(app, listen("127.0.0.1", 0), LIMIT)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield server, begun, release
    finally:
        release.set()
        for channel in list(server.active_channels.values()):
            channel.will_close = True
        server.task_dispatcher.shutdown()  # its threads wake the event loop, for which it must be open
        server.close()
        thread.join(timeout=60)


def connect(server, address, first=b""):
    """Open a connection from an address of loopback."""
    made = socket.create_connection(("127.0.0.1", int(server.effective_port)), source_address=(address, 0))
    made.sendall(first)
    return made


def get(server, path="/"):
    with closing(http.client.HTTPConnection("127.0.0.1", int(server.effective_port), timeout=60)) as http_:
        http_.request("GET", path)
        return http_.getresponse().read()


@pytest.mark.parametrize("first", [b"", b"GET / HTTP/1.1\r\nHost: x\r\n"], ids=["silent", "half a request"])
def test_others_go_on_while_one_address_opens_connections_and_sends_nothing(first):
    with served() as (server, *_), ExitStack() as stack:
        for _ in range(3 * LIMIT):
            stack.enter_context(connect(server, "127.0.0.2", first))

        assert [get(server) for _ in range(5)] == [b"page"] * 5
        assert len(server.active_channels) <= LIMIT


def test_others_go_on_while_many_addresses_open_connections_and_send_nothing():
    with served() as (server, *_), ExitStack() as stack:
        for number in range(3 * LIMIT):
            stack.enter_context(connect(server, f"127.0.0.{number % 50 + 2}"))

        assert [get(server) for _ in range(5)] == [b"page"] * 5
        assert len(server.active_channels) <= LIMIT


def test_the_only_connection_of_an_address_is_not_closed():
    with served() as (server, *_), ExitStack() as stack:
        all_ = [
            stack.enter_context(connect(server, f"127.0.0.{number + 2}"))
            for number in range(LIMIT * 95 // 100)
        ]

        for one in (all_[0], all_[-1]):
            one.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            one.settimeout(60)
            assert one.recv(100).startswith(b"HTTP/1.1 200")


def test_several_are_closed_at_once_so_that_few_connections_of_a_flood_have_all_looked_through():
    with served() as (server, *_), ExitStack() as stack:
        for _ in range(LIMIT // 8 + 1):
            stack.enter_context(connect(server, "127.0.0.2"))

        assert eventually(lambda: server.accepted == LIMIT // 8 + 1)
        assert eventually(lambda: server.held["127.0.0.2"] == LIMIT // 8 + 1 - LIMIT // 20)


def test_a_turn_of_the_event_loop_accepts_many_waiting_connections_but_not_all_of_a_flood():
    listening = listen("127.0.0.1", 0)
    server = make_server(Flask(__name__), listening, 2 * LIMIT)
    with closing(server), ExitStack() as stack:
        for number in range(LIMIT):
            stack.enter_context(connect(server, f"127.0.0.{number + 2}"))

        server.handle_accept()

        accepted = list(server.active_channels.values())
        for channel in accepted:
            channel.handle_close()
        server.task_dispatcher.shutdown()
        assert len(accepted) == 64


def test_a_reply_that_is_being_sent_is_not_cut_off():
    with served() as (server, *_), ExitStack() as stack:
        slow = stack.enter_context(connect(server, "127.0.0.2", b"GET /long HTTP/1.1\r\nHost: x\r\n\r\n"))
        slow.settimeout(60)
        received = len(slow.recv(1000))
        for _ in range(LIMIT):
            stack.enter_context(connect(server, "127.0.0.2"))
        assert eventually(lambda: server.accepted == LIMIT + 1)

        while received < 9_000_000 and (part := slow.recv(1 << 20)):
            received += len(part)
        assert received >= 9_000_000


def test_a_request_under_way_is_not_cut_off():
    with served() as (server, begun, release), ExitStack() as stack:
        slow = stack.enter_context(connect(server, "127.0.0.2", b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n"))
        assert begun.wait(60)
        for _ in range(3 * LIMIT):
            stack.enter_context(connect(server, "127.0.0.2"))
        release.set()

        slow.settimeout(60)
        assert slow.recv(100).startswith(b"HTTP/1.1 200")


def test_a_connection_that_another_address_keeps_open_stays():
    with served() as (server, *_), ExitStack() as stack:
        other = stack.enter_context(connect(server, "127.0.0.3"))
        for _ in range(3 * LIMIT):
            stack.enter_context(connect(server, "127.0.0.2"))

        other.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        other.settimeout(60)
        assert other.recv(100).startswith(b"HTTP/1.1 200")


def test_senders_that_read_no_replies_hold_no_threads():
    page = b"GET /long HTTP/1.1\r\nHost: x\r\n\r\n"
    with served() as (server, *_), ExitStack() as stack:
        for number in range(2 * len(server.task_dispatcher.threads)):
            stack.enter_context(connect(server, f"127.0.0.{number + 2}", page * 4))

        assert [get(server) for _ in range(5)] == [b"page"] * 5


def test_requests_that_do_not_wait_for_a_reply_end_the_connection_after_the_first():
    page = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
    with served() as (server, *_), ExitStack() as stack:
        eager = stack.enter_context(connect(server, "127.0.0.2", page * 3))
        patient = stack.enter_context(connect(server, "127.0.0.3", page + b"\r\n"))
        eager.settimeout(60)

        replies = b"".join(iter(lambda: eager.recv(65536), b""))
        assert (replies.count(b"HTTP/1.1 200"), replies.count(b"Connection: close")) == (1, 1)
        for _ in range(2):
            assert b"close" not in patient.recv(65536)
            patient.sendall(page)


def test_what_the_server_itself_refuses_has_the_headers_of_all_replies():
    with served() as (server, *_), connect(server, "127.0.0.2") as made:
        server.headers_of_all = {"X-Of-All": "yes"}
        made.settimeout(60)
        made.sendall(b"nonsense\r\n\r\n")

        reply = made.recv(65536)
        assert reply.startswith(b"HTTP/1.1 400") or reply.startswith(b"HTTP/1.0 400")
        assert b"X-Of-All: yes" in reply


RESET = struct.pack("ii", 1, 0)
"""SO_LINGER by which closing a socket resets its connection."""


def test_connections_that_are_reset_are_counted_like_others():
    with served() as (server, *_), ExitStack() as stack:
        for first in (b"", b"GET / HTTP/1.1\r\nHost: x\r\n", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"):
            with connect(server, "127.0.0.2", first) as made:
                assert eventually(lambda: len(server.active_channels) == 1)
                made.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            assert eventually(lambda: not server.held), dict(server.held)
        stack.enter_context(connect(server, "127.0.0.2"))

        assert eventually(lambda: server.held == {"127.0.0.2": 1}), dict(server.held)


def eventually(is_so, seconds=60):
    until = time.monotonic() + seconds
    while not is_so() and time.monotonic() < until:
        time.sleep(0.005)
    return is_so()


def test_the_limit_fits_the_files_that_the_system_allows():
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (512, before[1]))

        limit = connection_limit(4096)

        allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        assert allowed > limit
        assert limit == min(4096, allowed - 256)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
