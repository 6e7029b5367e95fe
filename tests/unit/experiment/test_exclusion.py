"""Whom a declared rule leaves out: by attention checks and response times, never by the scored answers."""

import pytest

from backend.experiment.exclusion import Answered, as_text, is_excluded
from backend.experiment.groups.exclusion import ExclusionSettings


def checks(right, of):
    kinds = ("check", "instructed")
    return [Answered(kinds[i % 2], i < right, 100.0) for i in range(of)]


def scored(*times, was_right=True):
    return [Answered("test", was_right, rt) for rt in times]


@pytest.mark.parametrize(("right", "expected"), [(5, False), (4, False), (3, True), (0, True)])
def test_less_than_the_share_of_checks_is_left_out_and_the_share_itself_is_not(right, expected):
    rule = ExclusionSettings(exclude_checks_below=0.8)

    assert is_excluded(rule, checks(right, 5)) == expected


@pytest.mark.parametrize("percent", range(1, 101))
def test_who_has_just_the_share_right_is_never_left_out(percent):
    rule = ExclusionSettings(exclude_checks_below=percent / 100)

    for of in (of for of in range(1, 201) if percent * of % 100 == 0):
        right = percent * of // 100
        assert not is_excluded(rule, checks(right, of))
        assert is_excluded(rule, checks(right - 1, of))


@pytest.mark.parametrize(("times", "expected"), [([150, 250, 900], False), ([150, 199, 900], True)])
def test_the_median_of_scored_answers_decides_and_checks_and_practice_do_not_enter(times, expected):
    rule = ExclusionSettings(exclude_faster_ms=200)
    practice = [Answered("practice", True, 1.0)] * 9

    assert is_excluded(rule, scored(*times) + practice + checks(9, 9)) == expected


def test_wrong_answers_to_scored_and_practice_trials_leave_nobody_out():
    rule = ExclusionSettings(exclude_checks_below=1, exclude_faster_ms=200)
    practice = [Answered("practice", False, 500.0)] * 4

    assert not is_excluded(rule, scored(500, 600, was_right=False) + practice + checks(2, 2))


def test_what_is_not_known_leaves_nobody_out():
    rule = ExclusionSettings(exclude_checks_below=1, exclude_faster_ms=200)

    assert not is_excluded(rule, scored(None, None))
    assert not is_excluded(ExclusionSettings(), checks(0, 4) + scored(1))


def test_a_rule_is_told_in_words():
    rule = ExclusionSettings(exclude_checks_below=0.8, exclude_faster_ms=200)

    assert as_text(rule) == (
        "less than 80% of the attention checks right or a median response time below 200 ms"
    )
    assert as_text(ExclusionSettings()) == ""
