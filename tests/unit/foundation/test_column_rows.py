"""Rows in columns are the list of them, and their JSON is the list's."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.foundation.column_rows import ColumnRows, Part
from backend.foundation.json_text import json_parts

SIDES = [{"model": 'a "b"', "generated": True}, {"model": "ü\n", "generated": False}]
NAMES = ["1.png", "ä.png", ""]
COUNTS = [{"number_guesses": 3, "ci": [0.1, 0.30000000000000004]}, {"number_guesses": 0, "ci": None}]


def rows_of(codes):
    """Return rows in columns and the list of them."""
    first, second, third = (np.array([code[place] for code in codes], int) for place in range(3))
    rows = ColumnRows((Part(first, SIDES), Part(second, NAMES, "image_path"), Part(third, COUNTS)))
    return rows, [{**SIDES[a], "image_path": NAMES[b], **COUNTS[c]} for a, b, c in codes]


codes = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 2), st.integers(0, 1)), max_size=12)


@given(codes)
def test_they_are_equal_to_the_list(codes):
    rows, plain = rows_of(codes)

    assert rows == plain
    assert [*rows] == plain
    assert len(rows) == len(plain)
    assert bool(rows) == bool(plain)
    assert [tuple(row) for row in rows] == [tuple(row) for row in plain]
    for some in (slice(None), slice(2), slice(1, 4), slice(None, None, 2), slice(-2, None)):
        assert rows[some] == plain[some]
    for i in range(-len(plain), len(plain)):
        assert rows[i] == plain[i]
    with pytest.raises(IndexError, match="out of bounds"):
        rows[len(plain)]


@given(codes)
def test_their_json_is_the_lists(codes):
    rows, plain = rows_of(codes)
    data = {"a": 1, "findings": {"images": rows, "other": [1, {"b": None}]}, "settings": {"level": 0.95}}

    text = "".join(json_parts(data))

    assert json.loads(text) == {**data, "findings": {"images": plain, "other": [1, {"b": None}]}}


def test_very_many_rows_come_in_parts():
    rows, plain = rows_of([(i % 2, i % 3, i // 7 % 2) for i in range(10_000)])

    parts = [*json_parts(rows)]

    assert len(parts) > 2
    assert json.loads("".join(parts)) == plain


def test_a_number_that_json_does_not_have_is_refused():
    rows = ColumnRows((Part(np.zeros(1, int), [{"x": float("nan")}]),))

    for data in (rows, {"a": float("inf")}, {"a": {"b": float("nan")}}):
        with pytest.raises(ValueError, match="not JSON compliant"):
            "".join(json_parts(data))
