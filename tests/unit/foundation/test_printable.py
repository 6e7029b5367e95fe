"""Names of files, printed: nothing in them breaks a line, a store or a terminal."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.foundation.printable import printable


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (b"a b.png", "a b.png"),
        (b"a\nb\t.png", r"a\nb\t.png"),
        (b"caf\xe9.png", r"caf\xe9.png"),
        ("naïve 😀.png".encode(), "naïve 😀.png"),
        (b"\x1b[31mred", r"\x1b[31mred"),
        ("\u202egnp.a".encode(), r"\u202egnp.a"),
    ],
)
def test_a_name_is_printed(name, expected):
    assert printable(os.fsdecode(name)) == expected


@given(st.binary(min_size=1).filter(lambda name: 0 not in name))
def test_any_name_gives_one_line_of_utf_8(name):
    shown = printable(os.fsdecode(name))

    assert shown.encode("utf-8")
    assert len(shown.splitlines()) == 1
