"""The rule for exclusion: who is left out of a study's primary scores, as declared with its settings.

Nobody is left out for right or wrong answers on the models that are measured: for a model that fools people,
a careful evaluator looks like one who guesses. The rule sees attention checks and response times only. It
concerns scores alone: everybody is paid, and counts among the finished sessions that a study wants.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from backend.experiment.groups.exclusion import ExclusionSettings
from backend.experiment.records import CHECK, INSTRUCTED, TEST

CHECK_KINDS = (CHECK, INSTRUCTED)
"""Kinds of trials that are attention checks."""


@dataclass(frozen=True)
class Answered:
    """What the rule knows of an answer."""

    kind: str
    """One of `records.TRIAL_KINDS`."""
    was_right: bool
    rt: float | None
    """Response time in ms."""


def is_excluded(rule: ExclusionSettings, answers: Sequence[Answered]) -> bool:
    """Return whether a rule leaves out the evaluator who gave these answers.

    A part of the rule that finds nothing to judge, such as no response time, leaves nobody out.
    """
    checks = [answer.was_right for answer in answers if answer.kind in CHECK_KINDS]
    if checks and sum(checks) / len(checks) < rule.exclude_checks_below:  # 0.14 * 50 is above 7
        return True
    times = [answer.rt for answer in answers if answer.kind == TEST and answer.rt is not None]
    return bool(times) and median(times) < rule.exclude_faster_ms


def as_text(rule: ExclusionSettings) -> str:
    """Return a rule as a text that says who is left out; "" for no rule."""
    parts = []
    if rule.exclude_checks_below:
        parts.append(f"less than {100 * rule.exclude_checks_below:g}% of the attention checks right")
    if rule.exclude_faster_ms:
        parts.append(f"a median response time below {rule.exclude_faster_ms:g} ms")
    return " or ".join(parts)
