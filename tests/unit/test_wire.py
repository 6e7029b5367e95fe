"""What browsers send is typed or refused; nothing in between."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend import wire
from backend.errors import InvalidInput

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
FIELDS = ["lease", "trial_index", "stimulus", "response", "exposure_ms", "frames", "rt", "mask_ms", "flags"]


@given(st.dictionaries(st.sampled_from(FIELDS), anything))
def test_any_object_is_an_answer_or_a_clear_refusal(data):
    outcome = outcome_of(wire.parse_answer, data)

    assert "must be" in outcome if isinstance(outcome, str) else outcome.response in ("real", "fake")


@given(st.binary(max_size=200))
def test_any_bytes_are_an_object_or_a_clear_refusal(body):
    outcome = outcome_of(wire.parse_object, body)

    assert "must be a JSON object" in outcome if isinstance(outcome, str) else isinstance(outcome, dict)


def test_panel_parameters_are_texts():
    with pytest.raises(InvalidInput, match=r"panel\.PROLIFIC_PID must be a text, not 5"):
        wire.parse_opening({"consent_version": "1", "panel": {"PROLIFIC_PID": 5}})


def outcome_of(parse, value):
    """Return what `parse` gives, or the text of its refusal; any other error is a failure."""
    try:
        return parse(value)
    except InvalidInput as error:
        return str(error)


def test_times_are_kept_to_the_microsecond_and_an_exposure_as_it_was_asked_for():
    data = {"lease": 1, "trial_index": 0, "stimulus": "a.png", "response": "real"}
    data |= {"rt": 412.30000019, "frame_ms": 16.666666507, "exposure_ms": 100.00200000000001, "shown_ms": 100}

    posted = wire.parse_answer(data)

    assert (posted.rt, posted.frame_ms, posted.shown_ms) == (412.3, 16.667, 100)
    assert posted.exposure_ms == 100.00200000000001
