"""Cells that a spreadsheet would take for formulas."""

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from backend.foundation.csv_formulas import TRIGGERS, escape_formula, unescape_formula

texts = st.builds(str.__add__, st.text("'=+-@\t\r\n\0＝ 0159.e", max_size=4), st.text(max_size=4))


@pytest.mark.parametrize(
    "text",
    [
        "=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1+1", "\r=1+1", "\n=1+1", "\0=1+1", "＝1+1", "－2+3",
        '=cmd|" /C calc"!A0', "-2+3+cmd|' /C calc'!A0", "-", "+1-2", "-1 2 =3", "-１",
    ],
)  # fmt: skip
def test_a_text_that_begins_as_a_formula_does_gets_a_quote(text):
    assert escape_formula(text) == f"'{text}"


@pytest.mark.parametrize(
    "text", ["", "gan", "e1=2", "'gan'", " =1", "a-b", "-5", "+0.5", "-1e-05", "-1 -2.5 3"]
)
def test_other_texts_and_numbers_stay_as_they_are(text):
    assert escape_formula(text) == text


@given(st.integers() | st.floats() | st.none() | st.booleans())
def test_what_is_no_text_is_not_touched(value):
    assert escape_formula(value) is value


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_the_text_of_a_number_stays_a_number(number):
    assert math.isclose(float(escape_formula(repr(number))), number, rel_tol=0)


@given(texts)
@example("'=")
@example("'-5")
@example("''")
def test_every_text_comes_back(text):
    assert unescape_formula(escape_formula(text)) == text


@given(texts, texts)
def test_two_texts_never_become_one(one, other):
    assert one == other or escape_formula(one) != escape_formula(other)


@given(texts)
def test_what_is_written_begins_no_formula_unless_it_is_numbers(text):
    written = escape_formula(text)

    assert written[:1] not in tuple(TRIGGERS) or [float(part) for part in written.split(" ")]
