"""Fetching what somebody else names: not from inside the server's network, and not for ever."""

import socket
import time
from http.client import HTTPException

import pytest

from backend.foundation.own_addresses import own_addresses
from backend.foundation.public_fetch import NotPublic, check_public, fetched

from .certificates import context_of_server
from .slow_servers import drip, server

SOON_S = 20
"""Half of what it takes without a deadline."""


def resolving(*addresses):
    return lambda host, port, **_: [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (a, port)) for a in addresses]


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.8.8.8", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254",
        "100.64.0.1", "224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1%eth0", "fd00:ec2::254", "ff02::1",
        "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "::ffff:0:127.0.0.1", "64:ff9b::7f00:1",
        "64:ff9b:1::7f00:1", "2002:7f00:1::", "2001:0:7f00:1::", "fec0::1", "192.0.0.192", "168.63.129.16",
        "198.18.0.1", "240.0.0.1", *map(str, own_addresses()),
    ],
)  # fmt: skip
def test_no_address_inside_is_asked_whichever_name_leads_there(address):
    for addresses in [(address,), ("93.184.215.14", address)]:
        with pytest.raises(
            ValueError,
            match=r"which is not public; if it is yours, have the operator .* in OPENHYPE_PRIVATE_HOSTS",
        ):
            fetched("https://keys.example/jwks.json", 1, 100, resolving(*addresses))


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost",
        "[::1]",
        "2130706433",
        "0x7f.1",
        "0177.0.0.1",
        "a@127.1",
        "017700000001",
        "localhost.",
        "LOCALHOST",
        "①②⑦.⓪.⓪.①",
        "127。0。0。1",
        "[::ffff:7f00:1]",
        "keys.example@localhost",
    ],
)
def test_no_way_to_write_loopback_leads_there(host):
    with pytest.raises(
        (ValueError, OSError), match=r"not public|Name or service|resolution|unreachable|refused"
    ):
        fetched(f"http://{host}:1/keys", 1, 100)


def test_the_address_that_was_checked_is_the_one_that_is_asked(monkeypatch):
    asked = []
    monkeypatch.setattr(socket, "create_connection", lambda address, *_: asked.append(address) or 1 / 0)

    with pytest.raises(ZeroDivisionError):
        fetched("https://keys.example/jwks.json", 1, 100, resolving("93.184.215.14"))

    assert asked == [("93.184.215.14", 443)]


def test_what_the_operator_trusts_is_fetched(monkeypatch):
    with server(lambda c: c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nkeys")) as url:
        assert fetched(url, 5, 100, is_trusted=True) == b"keys"
        monkeypatch.setenv("OPENHYPE_PRIVATE_HOSTS", "other.example, localhost")
        assert fetched(url, 5, 100) == b"keys"


@pytest.mark.parametrize(
    "text",
    [b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200, b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 200, b""],
    ids=["header", "body", "silence"],
)
def test_one_deadline_holds_for_the_whole(text):
    begun = time.monotonic()

    with (
        server(drip(text) if text else lambda _: time.sleep(40)) as url,
        pytest.raises((OSError, HTTPException)),
    ):
        fetched(url, 0.5, 1000, is_trusted=True)

    assert time.monotonic() - begun < SOON_S


@pytest.mark.parametrize("text", [b"X: " + b"x" * 200, b"\r\n" + b"x" * 200], ids=["header", "body"])
def test_the_deadline_holds_for_an_encrypted_reply(text, tmp_path, monkeypatch):
    tls, certificate = context_of_server(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    begun = time.monotonic()

    with server(drip(b"HTTP/1.1 200 OK\r\n" + text), tls) as url, pytest.raises((OSError, HTTPException)):
        fetched(url, 0.8, 1000, is_trusted=True)

    assert time.monotonic() - begun < SOON_S


def test_an_encrypted_reply_is_fetched(tmp_path, monkeypatch):
    tls, certificate = context_of_server(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))

    with server(lambda c: c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nkeys"), tls) as url:
        assert fetched(url, 5, 100, is_trusted=True) == b"keys"


def test_the_deadline_holds_for_the_beginning_of_encryption():
    begun = time.monotonic()

    with server(drip(b"\x16\x03\x03\x40\x00" + b"x" * 200)) as url, pytest.raises((OSError, HTTPException)):
        fetched(url.replace("http://", "https://"), 0.5, 1000, is_trusted=True)

    assert time.monotonic() - begun < SOON_S


def test_the_deadline_holds_for_the_resolution_of_the_name():
    def resolve(*_, **__):
        time.sleep(40)
        return []

    begun = time.monotonic()
    with pytest.raises(TimeoutError):
        fetched("https://keys.example/jwks.json", 0.3, 100, resolve)

    assert time.monotonic() - begun < SOON_S


def test_a_name_that_does_not_resolve_yet_may_be_stored_and_one_that_leads_inside_may_not():
    def unknown(*_, **__):
        raise socket.gaierror("Name or service not known")

    check_public("https://keys.example/jwks.json", unknown)
    check_public("https://keys.example/jwks.json", resolving("93.184.215.14"))
    with pytest.raises(NotPublic, match=r"192\.168\.0\.7"):
        check_public("https://keys.example/jwks.json", resolving("192.168.0.7"))


@pytest.mark.parametrize(
    "host",
    [
        "192.168.0.1.", "127.0.0.1.", "\uff11\uff12\uff17\uff0e\uff11", "0251.0376.0251.0376",
        "2852039166.", "192%2e168%2e0%2e1", "loc%61lhost", "[fe80::1%25eth0]", "[::1%25lo]", "router",
        "metadata.google.internal.", "printer.local", "localhost..", "256.0.0.1", "ip6-localhost",
        "10.0.0.1:\u0664\u0664\u0663", "faces.localhost.",
    ],
)  # fmt: skip
def test_what_leads_inside_however_it_is_written_or_nowhere_is_refused_before_it_is_stored(host):
    def unknown(*_, **__):
        raise socket.gaierror("Name or service not known")

    with pytest.raises(ValueError, match=r"not public|no name of a host|no IPv4|Port"):
        check_public(f"https://{host}/jwks.json", unknown)


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        (b"HTTP/1.1 302 Found\r\nLocation: /other\r\n\r\n", "status 302"),
        (b"HTTP/1.1 500 No\r\n\r\n", "status 500"),
        (b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 101, "more than 100 bytes"),
    ],
)
def test_a_redirect_and_a_reply_without_end_are_refused(sent, why):
    with server(lambda connection: connection.sendall(sent)) as url, pytest.raises(ValueError, match=why):
        fetched(url, 5, 100, is_trusted=True)
