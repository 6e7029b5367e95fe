"""Addresses, and who gets there."""

import pytest

from backend.foundation.addresses import host_of, origin_of, parse_public, reach_of, study_page
from backend.foundation.errors import InvalidInput


@pytest.mark.parametrize(
    ("base", "expected"),
    [  # RFC 6890 lists which networks are private
        ("http://127.0.0.1:8000", "this_computer"),
        ("http://127.0.0.2:8000/hype", "this_computer"),
        ("http://localhost", "this_computer"),
        ("http://faces.localhost", "this_computer"),
        ("http://[::1]:8000", "this_computer"),
        ("http://192.168.1.20:8000", "network"),
        ("http://10.0.0.3", "network"),
        ("http://[fd00::2]:8000", "network"),
        ("http://lab-computer:8000", "network"),
        ("http://lab-computer.local:8000", "network"),
        ("http://8.8.8.8:8000", "internet"),
        ("https://study.lab.edu", "internet"),
        ("https://127.0.0.1.example", "internet"),
        ("http://localhost.", "this_computer"),
        ("http://127.0.0.1.", "this_computer"),
        ("http://0x7f.1:80", "this_computer"),
        ("http://192.168.1", "network"),
        ("http://lab-computer.local.", "network"),
        ("http://[fe80::1%25eth0]", "network"),
        ("http://8.8.8.8.", "internet"),
        ("https://bücher.example", "internet"),
    ],
)
def test_an_address_says_from_where_it_is_reached(base, expected):
    assert reach_of(base) == expected


@pytest.mark.parametrize(
    ("host", "expected"),
    [  # the tests of the URL standard (web-platform-tests, url/resources/urltestdata.json) have these
        ("192.168.0.1.", "192.168.0.1"),
        ("192.0x00A80001", "192.168.0.1"),
        ("0300.168.0xF0", "192.168.0.240"),
        ("\uff11\uff19\uff12\uff0e168\u30020\uff611", "192.168.0.1"),
        ("\uff27\uff4f.com", "go.com"),
        ("0", "0.0.0.0"),
        ("4294967295", "255.255.255.255"),
        ("ⓛocalhost", "localhost"),
        ("example.com.", "example.com"),
        ("faß.example", "fass.example"),
    ],
)
def test_a_host_is_read_as_browsers_read_it(host, expected):
    assert str(host_of(f"https://{host}:8443/keys")) == expected


@pytest.mark.parametrize(
    "host",
    [
        "192.168.0.1..", "256.1.1.1", "1.2.3.4.5", "4294967296", "0x100000000", "08.1.1.1", "foo.0x4",
        "%31%32%37.0.0.1", "loc%61lhost", "192.168.0.1%2e", "a..b", "-a.example", "", ".", "[::1%]",
        "a" * 64, "a-.example", "a.b.09",
    ],
)  # fmt: skip
def test_what_no_host_can_be_called_is_refused(host):
    with pytest.raises(ValueError, match=r"host|address|Address|IPv"):
        host_of(f"https://{host}/keys")


def test_a_public_address_may_have_a_path_and_loses_its_last_slash():
    base = parse_public("https://lab.edu:8443/hype/")

    assert base == "https://lab.edu:8443/hype"
    assert study_page(base, "faces") == "https://lab.edu:8443/hype/s/faces"
    assert origin_of(base) == "https://lab.edu:8443"


@pytest.mark.parametrize(
    "text",
    ["", "study.lab.edu", "ftp://x", "https://", "https://[", "http://h:99999", "https://a/?b", "http://a@b"],
)
def test_what_is_no_servers_address_is_refused(text):
    with pytest.raises(InvalidInput, match=r"must be like https://study\.lab\.edu"):
        parse_public(text)
