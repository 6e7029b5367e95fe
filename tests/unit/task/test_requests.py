"""What browsers send is typed or refused; nothing in between."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.errors import InvalidInput
from backend.experiment.records import Interaction
from backend.task import requests

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
FIELDS = [
    "lease", "trial_index", "stimulus", "response", "exposure_ms", "frames", "rt", "mask_ms", "flags",
    "interactions",
]  # fmt: skip


@given(st.dictionaries(st.sampled_from(FIELDS), anything))
def test_any_object_is_an_answer_or_a_clear_refusal(data):
    outcome = outcome_of(requests.parse_answer, data)

    assert "must be" in outcome if isinstance(outcome, str) else outcome.response in ("real", "fake")


@given(st.binary(max_size=200))
def test_any_bytes_are_an_object_or_a_clear_refusal(body):
    outcome = outcome_of(requests.parse_object, body)

    assert "must be a JSON object" in outcome if isinstance(outcome, str) else isinstance(outcome, dict)


def test_panel_parameters_are_texts():
    with pytest.raises(InvalidInput, match=r"panel\.PROLIFIC_PID must be a text, not 5"):
        requests.parse_opening({"consent_version": "1", "panel": {"PROLIFIC_PID": 5}})


def test_what_happened_besides_is_kept_as_it_came_or_refused():
    answer = {"lease": 1, "trial_index": 0, "stimulus": "a.png", "response": "real"}
    blur = {"event": "blur", "time_ms": 12}

    kept = requests.parse_answer(answer | {"interactions": [blur]})

    assert kept.interactions == (Interaction("blur", 12),)
    with pytest.raises(
        InvalidInput, match="must be objects whose event is one of focus, blur, fullscreenenter"
    ):
        requests.parse_answer(answer | {"interactions": [blur | {"event": "wink"}]})
    with pytest.raises(InvalidInput, match=r"interactions\.time_ms must be a number from 0"):
        requests.parse_answer(answer | {"interactions": [{"event": "blur"}]})
    with pytest.raises(InvalidInput, match="interactions must be a list of at most 40 entries"):
        requests.parse_answer(answer | {"interactions": [blur] * 41})


def outcome_of(parse, value):
    """Return what `parse` gives, or the text of its refusal; any other error is a failure."""
    try:
        return parse(value)
    except InvalidInput as error:
        return str(error)


def test_times_are_kept_to_the_microsecond_and_an_exposure_as_it_was_asked_for():
    data = {"lease": 1, "trial_index": 0, "stimulus": "a.png", "response": "real"}
    data |= {"rt": 412.30000019, "frame_ms": 16.666666507, "exposure_ms": 100.00200000000001, "shown_ms": 100}

    posted = requests.parse_answer(data)

    assert (posted.rt, posted.frame_ms, posted.shown_ms) == (412.3, 16.667, 100)
    assert posted.exposure_ms == 100.00200000000001
