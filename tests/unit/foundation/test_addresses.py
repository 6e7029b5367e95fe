"""Addresses, and who gets there."""

import pytest

from backend.foundation.addresses import origin_of, parse_public, reach_of, study_page
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
    ],
)
def test_an_address_says_from_where_it_is_reached(base, expected):
    assert reach_of(base) == expected


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
