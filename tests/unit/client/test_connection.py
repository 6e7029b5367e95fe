"""Requests of the client: what is sent again, what is not, and where the token goes."""

from datetime import UTC, datetime
from time import monotonic

import pytest

from backend.client.connection import Connection, Lost
from backend.client.errors import LimitReached, ServerFault
from backend.client.retries import Retries, stated_wait_s
from backend.foundation.errors import (
    Conflict,
    InvalidInput,
    NotAllowed,
    NotFound,
    TooMany,
    Unavailable,
)
from tests.ports import free_port

from ..foundation.slow_servers import drip, server
from .scripted_server import Answer, refusal, scripted

TOKEN = "oh_1_sEcReT"


class Time:
    """A clock that moves by what is slept."""

    def __init__(self):
        self.now, self.slept = 0.0, []

    def retries(self, patience_s=100.0):
        return Retries(patience_s, clock=lambda: self.now, sleep=self.sleep, draw=lambda: 1.0)

    def sleep(self, seconds):
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def time():
    return Time()


def to(url, time, **options):
    return Connection(url, TOKEN, time.retries(**options), timeout_s=5)


@pytest.mark.parametrize(
    "failure",
    [
        refusal(429, "too_many"),
        refusal(503, "unavailable"),
        Answer(502, b"<html>"),
        Answer(body={"a": 1}, cut=True),
    ],
    ids=["429", "503", "502", "cut"],
)
def test_what_may_be_repeated_is_sent_again(time, failure):
    with scripted(failure, failure, Answer(body={"a": 1})) as server:
        found = to(server.url, time).post("/api/x", {"b": 2}, repeatable=True)

    assert found == {"a": 1}
    assert [body for *_, body in server.seen] == [b'{"b": 2}'] * 3
    assert time.slept == pytest.approx([0.55, 1.05])  # 0.5 and 1 s, drawn in full, and a tenth of the first


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        (refusal(429, "too_many"), TooMany),
        (refusal(503, "unavailable"), Unavailable),
        (Answer(body={"a": 1}, cut=True), Unavailable),
    ],
)
def test_what_may_not_be_repeated_is_sent_once(time, failure, expected):
    with scripted(failure) as server, pytest.raises(expected):
        to(server.url, time).post("/api/x", {}, repeatable=False)

    assert len(server.seen) == 1
    assert time.slept == []


def test_the_wait_that_the_server_asks_for_is_kept(time):
    with scripted(refusal(503, "unavailable", Retry_After="7"), Answer()) as server:
        to(server.url, time).get("/api/x")

    assert time.slept == pytest.approx([7.55])


def test_patience_ends_with_the_servers_own_reason(time):
    failures = [refusal(503, "database_busy", "the database is busy")] * 20
    with scripted(*failures) as server, pytest.raises(Unavailable, match="the database is busy"):
        to(server.url, time, patience_s=30).get("/api/x")

    assert time.now <= 30
    assert len(server.seen) > 3


def test_whoever_waits_is_told_once_for_what(time, caplog):
    with scripted(*[refusal(503, "unavailable", "away for a moment")] * 2, Answer()) as server:
        to(server.url, time).get("/api/x")

    (told,) = caplog.records
    assert (told.name, told.levelname) == ("openhype", "WARNING")
    assert told.getMessage() == "away for a moment; trying again for up to 100 s"


def test_a_server_without_encryption_is_not_waited_for_to_have_it(time):
    with scripted(Answer(400)) as server, pytest.raises(InvalidInput, match=r"127\.0\.0\.1.* http://"):
        to(server.url.replace("http:", "https:"), time).get("/api/x")

    assert time.slept == []


def test_a_server_that_is_not_there_is_named(time):
    port = free_port()
    with pytest.raises(Unavailable, match=rf"127\.0\.0\.1:{port} cannot be reached"):
        to(f"http://127.0.0.1:{port}", time, patience_s=3).get("/api/x")

    assert time.slept != []


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (refusal(403, "revoked_token"), NotAllowed),
        (refusal(404, "unknown_study"), NotFound),
        (refusal(409, "model_taken"), Conflict),
        (refusal(409, "limit_reached"), LimitReached),
        (refusal(429, "limit_reached"), LimitReached),
        (refusal(400, "invalid"), InvalidInput),
        (refusal(413, "too_large"), InvalidInput),
        (refusal(500, "fault"), ServerFault),
    ],
)
def test_each_refusal_has_its_error_with_the_servers_code_and_words(time, answer, expected):
    with scripted(answer) as server, pytest.raises(expected, match="no") as raised:
        to(server.url, time).get("/api/x")

    assert type(raised.value) is expected
    assert raised.value.code == answer.body["error"]["code"]
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[]",
        b'{"error": 3}',
        b'{"error": {"message": null}}',
        b"\xff",
        b'{"error": "' + b"x" * 99,
    ],
)
def test_a_refusal_of_something_else_is_told_by_its_status(time, body):
    with scripted(Answer(404, body)) as server, pytest.raises(NotFound, match="answered 404 Not Found"):
        to(server.url, time).get("/api/x")


@pytest.mark.parametrize("body", [b"<html>hello", b"", b"null", b"[]", b'"ok"', b"[" * 100_000])
def test_an_answer_of_something_else_says_that_the_address_may_be_wrong(time, body):
    with (
        scripted(Answer(body=body)) as server,
        pytest.raises(InvalidInput, match="is the address right"),
    ):
        to(server.url, time).get("/api/x")


def test_a_redirect_to_what_is_no_address_is_refused_as_well(time):
    with (
        scripted(Answer(302, headers={"Location": "http://[x/"})) as server,
        pytest.raises(InvalidInput, match="redirects to another address"),
    ):
        to(server.url, time).get("/api/x")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_redirect_is_followed_so_that_no_token_goes_elsewhere(time, status):
    with scripted() as other:
        moved = Answer(status, headers={"Location": f"{other.url}/api/x?signature=s3cret"})
        with (
            scripted(moved) as server,
            pytest.raises(InvalidInput, match=r"redirects to http://127\.0\.0\.1") as raised,
        ):
            to(server.url, time).get("/api/x")

    assert other.seen == []
    assert "s3cret" not in str(raised.value)


def test_the_token_goes_in_a_header_to_the_server_and_to_no_other(time):
    with scripted(Answer()) as other, scripted(Answer(), Answer()) as server:
        connection = to(server.url, time)
        connection.get("/api/x")
        connection.put("/api/uploads/u/parts/0", b"123", {})
        connection.put(f"{other.url}/bucket/part?X-Amz-Signature=abc", b"123", {"X-Amz-Checksum": "c"})

    assert [headers["X-Openhype-Token"] for _, _, headers, _ in server.seen] == [TOKEN] * 2
    assert all(TOKEN not in path for _, path, _, _ in server.seen)
    ((_, _, headers, body),) = other.seen
    assert TOKEN not in str(headers)
    assert headers["X-Amz-Checksum"] == "c"
    assert body == b"123"


def test_a_part_goes_to_the_server_below_the_path_of_its_address(time):
    with scripted(Answer(), Answer()) as server:
        connection = to(f"{server.url}/openhype/", time)
        connection.get("/api/x")
        connection.put("/api/uploads/u/parts/0", b"123", {})

    assert [path for _, path, _, _ in server.seen] == ["/openhype/api/x", "/openhype/api/uploads/u/parts/0"]
    assert all(headers["X-Openhype-Token"] == TOKEN for _, _, headers, _ in server.seen)


def test_the_token_is_in_no_text(time):
    with scripted(refusal(403, "wrong_token")) as server:
        connection = to(server.url, time)
        with pytest.raises(NotAllowed) as raised:
            connection.get("/api/x")

    assert TOKEN not in f"{connection!r}{raised.value!r}{raised.value.__context__!r}"


@pytest.mark.parametrize("token", ["", " ", "a b", "a\r\nX: y", "ä", "\x00", None, 3])
def test_a_token_that_is_none_is_refused_without_being_shown(token):
    with pytest.raises(InvalidInput, match="token") as raised:
        Connection("http://127.0.0.1", token)

    assert not isinstance(token, str) or not token.strip() or token not in str(raised.value)


@pytest.mark.parametrize(
    "url",
    [
        *("", "study.example.org", "ftp://x", "http://", "http://[x", "http://x:0", "http://x/?a", None, 3),
        *("http://x/a b", "http://x/ä", "http://a..b", f"http://{'a' * 64}.org"),
    ],
)
def test_an_address_that_is_none_is_refused(url):
    with pytest.raises(InvalidInput, match="a server's address must be like https"):
        Connection(url, TOKEN)


def test_a_password_in_the_address_is_refused_without_being_shown():
    with pytest.raises(InvalidInput, match="without a user's name") as raised:
        Connection("https://ada:pw123@x", TOKEN)

    assert "pw123" not in str(raised.value)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("7", 7.0),
        (" 0 ", 0.0),
        ("Tue, 24 Nov 2026 18:00:30 GMT", 30.0),
        ("Tue, 24 Nov 2026 17:00:00 GMT", 0.0),
        ("soon", None),
        ("-1", None),
        ("", None),
        (None, None),
        ("9" * 400, 999999999.0),
        ("Mon, 01 Jan 99999999999 00:00:00 GMT", None),
    ],
)
def test_retry_after_is_read_as_seconds_or_as_a_date(header, expected):
    assert stated_wait_s(header, datetime(2026, 11, 24, 18, tzinfo=UTC)) == expected


@pytest.mark.parametrize("text", [b"X: " + b"x" * 200, b"\r\n{" + b" " * 200], ids=["header", "body"])
def test_a_server_that_sends_a_byte_at_a_time_ends_at_the_deadline_of_the_request(text):
    begun = monotonic()

    with server(drip(b"HTTP/1.1 200 OK\r\n" + text)) as url:
        connection = Connection(url.partition("/keys")[0], "t", Retries(patience_s=0), whole_s=0.5)
        with pytest.raises(Lost, match="cannot be reached"):
            connection.get("/api/me")

    assert monotonic() - begun < 20  # of 40
