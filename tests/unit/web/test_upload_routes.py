"""Uploads over HTTP: through the application, and through the server where connections and bodies matter."""

import json
import os
import select
import socket
from contextlib import ExitStack, closing, contextmanager
from urllib.parse import urlsplit

import pytest

from backend.client.file_stream import PART_BYTES, digest_of
from backend.handlers import create_app
from backend.uploads import archives
from backend.uploads.limits import Limits, Quota
from backend.uploads.local_uploads import LocalUploads
from backend.web.proxies import SignInHeader
from backend.web.request_parser import LongBodies
from backend.web.server import in_background

from ..uploads.streams import checksums, parts_of, stream_of
from .members import token as token_of

FILES = {f"reals/cat {number}.png": os.urandom(900_000) for number in range(13)}
CONTENT = stream_of(FILES)
PARTS = parts_of(CONTENT)
BEGUN = {"format": "files", "bytes": len(CONTENT), "parts": checksums(PARTS)}
OCTETS = "application/octet-stream"
PART = f"/api/uploads/{'0' * 32}/parts/0"


class Api:
    """What a member asks for, in this process."""

    def __init__(self, world):
        self._http, self._key = world.http, world.data.keys().researcher

    def post(self, path, body=None):
        headers = {"X-Openhype-Token": self._key}
        return self._http.post(f"/api/uploads{path}", json=body or {}, headers=headers)

    def get(self, path):
        return self._http.get(f"/api/uploads{path}", headers={"X-Openhype-Token": self._key})

    def put(self, path, content, kind=OCTETS):
        headers = {"X-Openhype-Token": self._key, "Content-Type": kind}
        return self._http.put(f"/api/uploads{path}", data=content, headers=headers)


@pytest.fixture
def api(world):
    return Api(world)


def test_an_archive_is_sent_in_parts(api, world, tmp_path):
    begun = api.post("", BEGUN)
    path = f"/{begun.json['upload']}"
    urls = api.post(f"{path}/urls", {"parts": begun.json["missing"]}).json["urls"]
    early = api.post(f"{path}/complete")
    states = [
        api.put(each["url"].removeprefix("/api/uploads"), PARTS[each["part"]]) for each in reversed(urls)
    ]
    done = [api.post(f"{path}/complete") for _ in range(2)]

    assert (begun.status_code, begun.json["state"], begun.json["missing"]) == (201, "receiving", [0, 1, 2])
    assert (begun.json["part_bytes"], begun.json["digest"]) == (PART_BYTES, digest_of(BEGUN["parts"]))
    member = {"X-Openhype-Member": "owner"}
    assert all(each["headers"] == {"Content-Type": OCTETS, **member} for each in urls)
    assert (early.status_code, early.json["error"]["code"]) == (409, "parts_missing")
    assert [each.json["missing"] for each in states] == [[0, 1], [0], []]
    assert [each.json["state"] for each in done] == ["complete"] * 2
    assert api.get(path).json == done[0].json
    again = api.post("", BEGUN)
    assert (again.status_code, again.json["state"]) == (200, "complete")
    with LocalUploads(world.data).archive(begun.json["upload"]) as archive:
        archives.unpack(archive, "files", tmp_path / "into", Limits(free=0))
    found = {f"reals/{each.name}": each.read_bytes() for each in (tmp_path / "into").iterdir()}
    assert found == FILES


def test_a_deleted_upload_is_gone(api):
    path = f"/{api.post('', BEGUN).json['upload']}"

    deleted, gone = api.post(f"{path}/delete"), api.post(f"{path}/delete")

    assert (deleted.status_code, deleted.json) == (200, {"upload": path[1:]})
    assert (gone.status_code, gone.json["error"]["code"]) == (404, "unknown_upload")


def test_an_upload_of_another_member_does_not_exist(api, world):
    others = LocalUploads(world.data).begin("bob", **BEGUN, now=world.clock()).id

    replies = [
        api.get(f"/{others}"),
        api.post(f"/{others}/urls", {"parts": [0]}),
        api.put(f"/{others}/parts/0", PARTS[0]),
        api.post(f"/{others}/complete"),
        api.post(f"/{others}/delete"),
    ]
    unknown = api.get(f"/{'0' * 32}")

    assert {each.status_code for each in replies} == {404}
    assert {each.json["error"]["message"].replace(others, "0" * 32) for each in replies} == {
        unknown.json["error"]["message"]
    }
    assert LocalUploads(world.data).upload(others).missing == (0, 1, 2)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({**BEGUN, "format": "rar"}, "format must be one of files, zip"),
        ({**BEGUN, "bytes": -1}, "bytes must be a whole number from 1"),
        ({**BEGUN, "bytes": 10**400}, "bytes must be a whole number from 1"),
        ({**BEGUN, "bytes": 10**15}, "bytes must be from 1 to 52428800000"),
        ({**BEGUN, "bytes": 1.5}, "bytes must be a whole number from 1"),
        ({**BEGUN, "parts": []}, "3 for"),
        ({**BEGUN, "parts": ["x" * 9] * 3}, "parts[0] must be a text of at most 8 characters"),
        ({**BEGUN, "parts": ["<b>"] * 3}, "parts[0] must be a CRC-32"),
        ({**BEGUN, "parts": ["a"] * 10_001}, "parts must be a list of at most 10000 entries"),
        ({}, "format must be"),
    ],
)
def test_what_begins_no_upload_is_refused(api, body, why):
    reply = api.post("", body)

    assert (reply.status_code, reply.json["error"]["code"]) == (400, "invalid")
    assert why in reply.json["error"]["message"]


def test_requests_of_another_form_are_refused(api):
    path = f"/{api.post('', BEGUN).json['upload']}"

    assert api.put(f"{path}/parts/0", PARTS[1]).json["error"]["code"] == "wrong_part"
    assert api.put(f"{path}/parts/2", b"").json["error"]["code"] == "wrong_part"
    assert api.put(f"{path}/parts/0", PARTS[0], "application/json").status_code == 415
    assert api.put(f"{path}/parts/0", PARTS[0] + b"xx").status_code == 413
    assert [
        api.put(f"{path}/parts/{name}", b"x").status_code for name in ("3", "-1", "٣", "1e0", "9" * 9)
    ] == [404] * 5
    assert api.post(f"{path}/urls", {"parts": [*range(33)]}).status_code == 400
    assert api.post("", {**BEGUN, "x": "y" * 131_072}).status_code == 413


def test_a_full_disk_is_reported_as_temporary(world):
    uploads = LocalUploads(world.data, Quota(free=10**18))
    world.http = create_app(world.store, world.data, world.data.keys(), uploads=uploads).test_client()

    reply = Api(world).post("", BEGUN)

    assert (reply.status_code, reply.json["error"]["code"]) == (503, "disk_full")


def test_a_server_without_uploads_says_so(world):
    app = create_app(
        world.store, world.data, world.data.keys(), serves=frozenset({"results"}), knows_host=False
    )
    world.http = app.test_client()

    reply = Api(world).post("", BEGUN)

    assert (reply.status_code, reply.json["error"]["code"]) == (404, "no_uploads")


@pytest.fixture
def served(world):
    with in_background(world.app) as url:
        yield url


def connection(served):
    place = urlsplit(served)
    return closing(socket.create_connection((place.hostname, place.port), timeout=60))


def head(world, method, path, length, token=None):
    fields = [
        f"{method} {path} HTTP/1.1",
        "Host: openhype",
        f"X-Openhype-Token: {token or world.data.keys().researcher}",
        f"Content-Type: {OCTETS if method == 'PUT' else 'application/json'}",
        f"Content-Length: {length}",
        "Connection: close",
    ]
    return ("\r\n".join(fields) + "\r\n\r\n").encode()


def reply_of(connected):
    received = b""
    while chunk := connected.recv(65536):
        received += chunk
    top, _, body = received.partition(b"\r\n\r\n")
    return int(top.split()[1]), body


def asked(served, world, method, path, content=b"", token=None):
    with connection(served) as connected:
        connected.sendall(head(world, method, path, len(content), token) + content)
        status, body = reply_of(connected)
        return status, json.loads(body)


def test_a_body_over_the_limit_is_refused_before_it_is_sent(served, world):
    one = f"/api/uploads/{'0' * 32}"
    asked = [
        ("PUT", f"{one}/parts/0", PART_BYTES + 200_000),
        ("PUT", f"{one}/parts/0", 10**12),
        ("PUT", f"{one}/parts/x", 300_000),
        ("PUT", "/api/uploads", 300_000),
        ("POST", f"{one}/parts/0", 300_000),
        ("POST", "/api/uploads", 300_000),
        ("POST", f"{one}/urls", 300_000),
        ("POST", "/api/studies/faces/sessions", 300_000),
    ]

    for method, path, length in asked:
        with connection(served) as connected:
            connected.sendall(head(world, method, path, length))
            assert (path, reply_of(connected)[0]) == (path, 413)


def test_a_sender_that_asks_first_is_not_told_to_send_what_is_refused(served, world, monkeypatch):
    """curl asks so before bodies of more than 1 MB."""
    asking = b"Expect: 100-continue\r\n\r\n"

    def first_reply(length, sent=b""):
        with connection(served) as connected:
            connected.sendall(head(world, "PUT", PART, length)[:-2] + asking)
            first = connected.recv(65536).split(b"\r\n")[0].decode()
            if sent:
                connected.sendall(sent)
                return first, reply_of(connected)[0]
            return first

    assert first_reply(PART_BYTES, PARTS[0]) == ("HTTP/1.1 100 Continue", 404)
    assert first_reply(10**9) == "HTTP/1.1 413 Request Entity Too Large"
    monkeypatch.setattr("backend.web.request_parser._AT_ONCE", 0)
    assert first_reply(PART_BYTES) == "HTTP/1.1 503 Service Unavailable"


def test_a_body_without_a_stated_length_is_refused_at_the_limit(served, world):
    with connection(served) as connected:
        chunked = head(world, "POST", "/api/studies/faces/sessions", 0).replace(
            b"Content-Length: 0", b"Transfer-Encoding: chunked"
        )
        connected.sendall(chunked + b"40000\r\n" + bytes(0x40000) + b"\r\n")
        status, _ = reply_of(connected)

    assert status == 413


def test_an_upload_whose_connection_is_cut_ten_times_is_complete_and_identical(served, world, tmp_path):
    _, begun = asked(served, world, "POST", "/api/uploads", json.dumps(BEGUN).encode())
    path = f"/api/uploads/{begun['upload']}"
    for number in range(10):
        content = PARTS[number % 2]
        with connection(served) as connected:
            connected.sendall(head(world, "PUT", f"{path}/parts/{number % 2}", len(content)))
            connected.sendall(content[: len(content) * number // 10])
        status, state = asked(served, world, "GET", path)
        assert (status, state["missing"]) == (200, [0, 1, 2])

    states = [
        asked(served, world, "PUT", f"{path}/parts/{number}", PARTS[number])[1]["missing"]
        for number in (0, 1, 2)
    ]
    status, done = asked(served, world, "POST", f"{path}/complete", b"{}")

    assert states == [[1, 2], [2], []]
    assert (status, done["state"]) == (200, "complete")
    with LocalUploads(world.data).archive(begun["upload"]) as archive:
        archives.unpack(archive, "files", tmp_path / "into", Limits(free=0))
    assert {f"reals/{each.name}": each.read_bytes() for each in (tmp_path / "into").iterdir()} == FILES
    assert [each for each in (world.data.root / "uploads").rglob("*") if "partial" in each.name] == []


@contextmanager
def begun_parts(served, world, count, token=None):
    """Have the server receive so many parts, all of which are slow."""
    with ExitStack() as stack:
        for _ in range(count):
            each = stack.enter_context(connection(served))
            each.sendall(head(world, "PUT", PART, PART_BYTES, token) + b"x")
        asked(served, world, "GET", "/api/uploads/none")  # those before were read by then
        yield
    asked(served, world, "GET", "/api/uploads/none")


def is_busy(served, world, token=None):
    """Return whether a part is refused by its headers alone; one that is received is sent to its end."""
    with connection(served) as connected:
        connected.settimeout(60)
        connected.sendall(head(world, "PUT", PART, PART_BYTES, token))
        try:
            if not select.select([connected], [], [], 0.5)[0]:
                connected.sendall(bytes(PART_BYTES))
            reply = b"".join(iter(lambda: connected.recv(65536), b""))
        except ConnectionError:  # it was refused while its body was sent
            return True
        return reply.startswith(b"HTTP/1.1 503") and b"Retry-After: 5" in reply


def test_only_so_many_long_bodies_are_received_at_once(served, world, monkeypatch):
    monkeypatch.setattr("backend.web.request_parser._AT_ONCE", 2)

    with begun_parts(served, world, 2):
        busy = is_busy(served, world)
    after = asked(served, world, "PUT", PART, PARTS[0])[0]

    assert (busy, after) == (True, 404)


def test_one_members_slow_parts_leave_places_to_others(served, world, monkeypatch):
    monkeypatch.setattr("backend.web.request_parser._OF_ONE", 2)
    ada, again, bob = (token_of(world, name, "submitter") for name in ("ada", "ada", "bob"))
    for each in (ada, again, bob):
        asked(served, world, "GET", "/api/me", token=each)

    with begun_parts(served, world, 2, ada):
        busy = [is_busy(served, world, each) for each in (ada, again, bob)]

    assert busy == [True, True, False]


def test_strangers_share_a_few_places_for_long_bodies(served, world, monkeypatch):
    monkeypatch.setattr("backend.web.request_parser._OF_UNKNOWN", 2)
    ada = token_of(world, "ada", "submitter")
    asked(served, world, "GET", "/api/me", token=ada)
    asked(served, world, "GET", "/api/me", token="oh_wrong")

    with begun_parts(served, world, 2, "made up"):
        busy = [is_busy(served, world, each) for each in ("oh_wrong", "made up too", ada)]

    assert busy == [True, True, False]


def test_a_sign_in_is_known_by_its_cookie_and_a_proxys_member_by_its_headers():
    known = LongBodies(SignInHeader("X-Forwarded-User", "secret"))

    def shown(**fields):
        found = known._credential({name.upper(): value for name, value in fields.items()}, "")
        assert found == known._credential(
            {f"HTTP_{name.upper()}": value for name, value in fields.items()}, "HTTP_"
        )
        return found

    assert (
        shown(cookie="a=b; openhype_login=x")
        == shown(cookie="openhype_login=x; c=d")
        == shown(authorization="x")
    )
    assert shown(cookie="not_openhype_login=x") == shown()
    assert shown(x_forwarded_user="ada", cookie="openhype_login=x") == shown(x_forwarded_user="ada")
    assert shown(x_openhype_token="x", x_forwarded_user="ada") == shown(x_openhype_token="x")
    different = [
        shown(),
        shown(x_forwarded_user="ada"),
        shown(x_forwarded_user="ada", x_openhype_proxy_secret="s"),
    ]
    assert len(set(different)) == 3
    assert shown(cookie="openhype_login=x", x_openhype_proxy_secret="secret") == shown(authorization="x")
