"""What may be posted with a response, by the study's settings; and the settings themselves."""

import pytest

from backend.experiment import follow_ups, protocol
from backend.experiment.judgments import real_or_fake
from backend.experiment.settings import from_json, with_settings
from backend.foundation.errors import InvalidInput

REASONS = "Hands|Text in the picture|Light and shadow"


def made(base=real_or_fake.INFINITY, **settings):
    return with_settings(base, settings)


def test_nothing_is_asked_by_default():
    for base in (real_or_fake.INFINITY, real_or_fake.TIME, real_or_fake.QUALIFICATION):
        assert not base.follow_ups.is_asking
        assert follow_ups.columns_of(base) == set()


@pytest.mark.parametrize(("confidence", "points"), [("none", 0), ("2", 2), (5, 5), ("7", 7), ("slider", 101)])
def test_confidence_has_as_many_values_as_its_scale(confidence, points):
    assert made(confidence=confidence).follow_ups.confidence_points == points


@pytest.mark.parametrize(
    "reasons",
    ["Hands | Text in the picture|Light and shadow ", REASONS.split("|"), tuple(REASONS.split("|"))],
)
def test_reasons_are_a_list_or_a_text_that_separates_them(reasons):
    study = made(reasons=reasons)

    assert study.follow_ups.reasons == ("Hands", "Text in the picture", "Light and shadow")
    assert from_json(protocol.to_json(study)) == study


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"confidence": "1"}, "confidence must be one of none, 2, 3, 4, 5, 6, 7, slider, not '1'"),
        ({"confidence": "8"}, "confidence must be one of"),
        ({"confidence": "5.0"}, "confidence must be one of"),
        ({"confidence": True}, "confidence must be one of"),
        ({"confidence": "٥"}, "confidence must be one of"),
        ({"confidence": "5\udcff"}, "confidence must be text that can be written as UTF-8"),
        ({"confidence": "5", "confidence_when": "before"}, "confidence_when must be one of after, with"),
        ({"confidence": "slider", "confidence_when": "with"}, "goes with 2 to 7 points of confidence"),
        ({"confidence_when": "with"}, "not with confidence=none"),
        ({"reasons": "|".join("abcdefghijklm")}, "reasons must be at most 12, not 13"),
        ({"reasons": "Hands||Text"}, "reasons must be of 1 to 80 printable characters each, .*not ''"),
        ({"reasons": ["x" * 81]}, "reasons must be of 1 to 80 printable"),
        ({"reasons": ["Hands\n"]}, r"printable characters each, without |, not 'Hands\\n'"),
        ({"reasons": ["a\x1b[31m"]}, "reasons must be of 1 to 80 printable"),
        ({"reasons": ["a\udcff"]}, "reasons must be text that can be written as UTF-8"),
        ({"reasons": ["a|b"]}, "reasons must be of 1 to 80 printable"),
        ({"reasons": "Hands|Text|Hands"}, "'Hands' is there twice"),
        ({"reasons": 5}, "reasons must be texts, separated by | or in a list, not 5"),
        ({"reasons": [1, 2]}, "reasons must be texts"),
        ({"reasons": {"a": "b"}}, "reasons must be texts"),
        ({"reasons_for": "none"}, "reasons_for must be one of fake, real, all"),
        ({"comment": "yes"}, "comment must be one of none, optional, required"),
        ({"mark": "circle"}, "mark must be one of none, click, box"),
        ({"mark_needed": "true"}, "mark_needed must be one of optional, required"),
        ({"confidence": "9" * 5000}, "confidence must be one of .*…"),
    ],
)
def test_a_setting_that_cannot_be_is_named(settings, message):
    with pytest.raises(InvalidInput, match=message):
        made(**settings)


@pytest.mark.parametrize("mark", ["click", "box"])
def test_a_flashed_picture_cannot_be_marked(mark):
    with pytest.raises(InvalidInput, match="a second look after the flash; leave mark=none"):
        made(real_or_fake.TIME, mark=mark)


def test_flashes_can_be_followed_by_everything_else():
    study = made(real_or_fake.TIME, confidence="slider", reasons=REASONS, comment="optional")

    assert follow_ups.columns_of(study) == set(follow_ups.COLUMNS) - {"mark"}


ALL_ASKED = made(confidence="5", reasons=REASONS, comment="required", mark="box", mark_needed="required")
COMPLETE = {"confidence": 4, "reasons": [1, 3], "comment": "six fingers", "mark": [10, 20, 300, 400]}


@pytest.mark.parametrize(
    ("study", "response", "facts"),
    [
        (made(), "fake", {}),
        (ALL_ASKED, "fake", COMPLETE),
        (ALL_ASKED, "real", {"confidence": 1}),
        (ALL_ASKED, "real", {"confidence": 5, "confidence_rt": 900.5}),
        (made(confidence="slider"), "real", {"confidence": 0}),
        (made(confidence="slider"), "real", {"confidence": 100}),
        (made(reasons=REASONS, comment="optional", mark="click"), "fake", {}),
        (made(reasons=REASONS), "fake", {"reasons": []}),
        (made(reasons=REASONS, reasons_for="all"), "real", {"reasons": [3]}),
        (made(mark="click"), "fake", {"mark": [0, 1000]}),
        (made(mark="box"), "fake", {"mark": [0, 0, 1000, 1000]}),
    ],
)
def test_what_a_study_asks_for_is_accepted(study, response, facts):
    follow_ups.check(study, response, facts)


@pytest.mark.parametrize(
    ("study", "response", "facts", "message"),
    [
        (made(), "fake", {"confidence": 3}, "confidence must be absent; this study asks for no confidence"),
        (made(), "fake", {"confidence_rt": 3}, "confidence_rt must be absent"),
        (made(), "fake", {"reasons": [1]}, "reasons must be absent"),
        (made(), "fake", {"comment": "x"}, "comment must be absent"),
        (made(), "fake", {"mark": [1, 2]}, "mark must be absent"),
        (ALL_ASKED, "real", {**COMPLETE}, "reasons must be absent; .* after 'real'"),
        (ALL_ASKED, "real", {"confidence": 3, "mark": [1, 2, 3, 4]}, "mark must be absent; .* after 'real'"),
        (ALL_ASKED, "fake", {**COMPLETE, "confidence": None}, "confidence is missing"),
        (ALL_ASKED, "fake", {**COMPLETE, "confidence": 0}, "a whole number from 1 to 5 in this study, not 0"),
        (ALL_ASKED, "fake", {**COMPLETE, "confidence": 6}, "from 1 to 5"),
        (ALL_ASKED, "fake", {**COMPLETE, "confidence": 2.5}, "a whole number from 1 to 5"),
        (made(confidence="slider"), "fake", {"confidence": 101}, "from 0 to 100"),
        (ALL_ASKED, "fake", {**COMPLETE, "reasons": [4]}, r"different numbers from 1 to 3, .*not \[4\]"),
        (ALL_ASKED, "fake", {**COMPLETE, "reasons": [0]}, "different numbers from 1 to 3"),
        (ALL_ASKED, "fake", {**COMPLETE, "reasons": [2, 2]}, "different numbers"),
        (ALL_ASKED, "fake", {**COMPLETE, "comment": " "}, "comment is missing"),
        (ALL_ASKED, "fake", {k: COMPLETE[k] for k in COMPLETE if k != "comment"}, "comment is missing"),
        (ALL_ASKED, "fake", {k: COMPLETE[k] for k in COMPLETE if k != "mark"}, "mark is missing"),
        (ALL_ASKED, "fake", {**COMPLETE, "mark": [1, 2]}, "mark must be x, y, width and height in thous"),
        (ALL_ASKED, "fake", {**COMPLETE, "mark": [700, 0, 301, 10]}, "within it, not "),
        (ALL_ASKED, "fake", {**COMPLETE, "mark": [0, 700, 10, 301]}, "within it"),
        (made(mark="click"), "fake", {"mark": [1, 2, 3, 4]}, "mark must be x and y in thousandths"),
        (made(mark="click"), "fake", {"mark": [1001, 2]}, "within it"),
        (made(mark="click"), "fake", {"mark": []}, r"within it, not \[\]"),
    ],
)
def test_what_a_study_does_not_ask_for_is_refused(study, response, facts, message):
    with pytest.raises(InvalidInput, match=message):
        follow_ups.check(study, response, facts)
