"""What browsers send is typed or refused; nothing in between."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.experiment.records import Interaction
from backend.foundation.conversion import converted
from backend.foundation.errors import InvalidInput
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
OPENING = ["consent_version", "panel", "device", "qualification_token", "signature", "simulated", "seed"]


@given(st.dictionaries(st.sampled_from(FIELDS), anything))
def test_any_object_is_an_answer_or_a_clear_refusal(data):
    outcome = outcome_of(answer_of, data)

    assert "must be" in outcome if isinstance(outcome, str) else outcome.response in ("real", "fake")


@given(st.binary(max_size=200))
def test_any_bytes_are_an_object_or_a_clear_refusal(body):
    outcome = outcome_of(requests.parse_object, body)

    assert "must be a JSON object" in outcome if isinstance(outcome, str) else isinstance(outcome, dict)


@given(st.dictionaries(st.sampled_from(OPENING), anything))
def test_any_object_opens_a_session_or_is_a_clear_refusal(data):
    data = {"consent_version": "1", **data}
    outcome = outcome_of(lambda value: converted(value, requests.Opening), data)

    clear = ("must be", "must have", "a seed goes with")
    assert any(words in outcome for words in clear) if isinstance(outcome, str) else outcome.panel is not None


@pytest.mark.parametrize(
    "response", ["x` - at `$.lease`", " - at `$.nowhere[3]`", "`key` in `$.flags[...]`", "$"]
)
def test_a_value_that_looks_like_a_place_misleads_nobody(response):
    answer = {"lease": 1, "trial_index": 0, "stimulus": "a.png", "response": response}

    with pytest.raises(InvalidInput, match=r"^response must be 'real', 'fake'.*, not "):
        answer_of(answer)


def test_panel_parameters_are_texts():
    with pytest.raises(
        InvalidInput, match=r"panel\.PROLIFIC_PID must be a text of at most 300 characters, not 5"
    ):
        converted({"consent_version": "1", "panel": {"PROLIFIC_PID": 5}}, requests.Opening)


def test_what_happened_besides_is_kept_as_it_came_or_refused():
    answer = {"lease": 1, "trial_index": 0, "stimulus": "a.png", "response": "real"}
    blur = {"event": "blur", "time_ms": 12}

    kept = answer_of(answer | {"interactions": [blur]})

    assert kept.interactions == (Interaction("blur", 12),)
    with pytest.raises(
        InvalidInput, match=r"interactions\[0\]\.event must be one of .*focus.*, not \"wink\""
    ):
        answer_of(answer | {"interactions": [blur | {"event": "wink"}]})
    with pytest.raises(InvalidInput, match=r"interactions\[0\]\.time_ms must be a number from 0"):
        answer_of(answer | {"interactions": [{"event": "blur"}]})
    with pytest.raises(InvalidInput, match="interactions must be a list of at most 40 entries"):
        answer_of(answer | {"interactions": [blur] * 41})


def answer_of(data):
    return requests.posted(converted(data, requests.Answer))


def outcome_of(parse, value):
    """Return what `parse` gives, or the text of its refusal; any other error is a failure."""
    try:
        return parse(value)
    except InvalidInput as error:
        return str(error)


def test_times_are_kept_to_the_microsecond_and_an_exposure_as_it_was_asked_for():
    data = {"lease": 1, "trial_index": 0, "stimulus": "a.png", "response": "real"}
    data |= {"rt": 412.30000019, "frame_ms": 16.666666507, "exposure_ms": 100.00200000000001, "shown_ms": 100}

    posted = answer_of(data)

    assert (posted.rt, posted.frame_ms, posted.shown_ms) == (412.3, 16.667, 100)
    assert posted.exposure_ms == 100.00200000000001


class Anything(msgspec.Struct):
    """A request of which only its one field is declared."""

    settings: dict[str, Any]


@pytest.mark.parametrize("number", ["1e999", "-1e999", "1" + "0" * 400, "1.8e308"])
def test_a_number_beyond_all_floats_is_refused_wherever_it_stands(number):
    """Otherwise it would be infinite, which is below no bound, and fail where it is stored as JSON."""
    for body in ('{"settings": {"a": %s}}', '{"settings": {"a": {"b": [1, %s]}}}'):
        with pytest.raises(InvalidInput, match=r"settings\.a\S* must be from -1\.7e\+308 to"):
            requests.parse((body % number).encode(), Anything)
    assert requests.parse(b'{"settings": {"a": 1.7e308, "b": -5e-324}}', Anything).settings["a"] == 1.7e308
