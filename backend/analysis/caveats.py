"""Caveats: sentences on what the scores do not show."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from backend.analysis.comparisons.means import Groups
from backend.analysis.table.designs import design_of
from backend.analysis.table.response_table import Answers
from backend.analysis.time_scores import AT_A_BOUND
from backend.experiment.judgments import judgment_of
from backend.foundation.counted_nouns import some_of

ANOTHER_DISPLAY = 1.1
"""Ratio of two refresh intervals above which they are those of different displays."""
_ALMOST_ALL = 0.95
_DECIMALS = 9


def caveats(
    answers: Answers, groups: Groups, beside: Mapping[str, Mapping[str, Any]] | None = None
) -> list[str]:
    """Return what readers of the scores should know about the responses.

    Args:
        groups: the models that enter the tests.
        beside: the result of `score_intervals.score_details`.
    """
    notes = [*_people(answers), *_unlike_others(answers, groups), *_equal_values(groups)]
    if not answers.has_shares:
        notes += [*_bounds(beside or {}), *_displays(answers)]
    return notes


def _bounds(beside: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield caveats on models whose blocks reach the shortest or the longest exposure."""
    for model, one in beside.items():
        blocks, threshold = one["blocks"], one["threshold"]
        if blocks["at_floor"] >= AT_A_BOUND:
            yield (
                f"{100 * blocks['at_floor']:.0f}% of the blocks of {model} are at the shortest exposure, "
                f"{threshold['floor_ms']:g} ms: shorter exposures may have sufficed"
            )
        if max(blocks["at_ceiling"], blocks["reached_ceiling"]) >= AT_A_BOUND:
            limit = blocks["guessing_ms"]
            at_most = "" if limit is None else f"; someone who guesses scores about {limit:.0f} ms"
            yield (
                f"{100 * blocks['reached_ceiling']:.0f}% of the blocks of {model} reached the longest "
                f"exposure, {threshold['ceiling_ms']:g} ms, and the score is too low for that{at_most}: read "
                "the fitted threshold"
            )


def _displays(answers: Answers) -> Iterator[str]:
    """Yield caveats on displays of several refresh rates."""
    frame_ms = answers.numbers.get("frame_ms")
    if frame_ms is None:
        return
    is_known = frame_ms > 0
    asked = answers.asked_ms[is_known]
    frame_ms = frame_ms[is_known]
    if not len(frame_ms):
        return
    shortest, longest = float(frame_ms.min()), float(frame_ms.max())
    refreshes = asked / frame_ms
    in_refreshes = float((np.abs(refreshes - np.round(refreshes)) < 0.02).mean()) >= _ALMOST_ALL
    if in_refreshes and longest > ANOTHER_DISPLAY * shortest:
        yield (
            f"exposures moved in whole refreshes of displays from {1000 / longest:.0f} to "
            f"{1000 / shortest:.0f} Hz, on which the same people have different scores (about 10%): compare "
            "scores of one refresh rate, or read the fitted threshold; with exposure_steps=ms they move in ms"
        )
    if not in_refreshes and (asked < longest / 1.5).any():
        yield (
            f"exposures under {longest:.1f} ms were asked for, which is one refresh of the slowest display: "
            "shorter ones were shown as one refresh; score with --exposures shown"
        )


def _people(answers: Answers) -> Iterator[str]:
    models_of = np.bincount(answers.judges.evaluator, minlength=len(answers.evaluator.names))
    several = sorted(str(answers.evaluator.names[code]) for code in np.flatnonzero(models_of > 1).tolist())
    if several and not judgment_of(answers.method).has_items:  # of items, everybody judges several sets
        design = design_of(answers)
        who = _evaluators(design.several) + (f" of {design.people}" if design.several < design.people else "")
        yield (
            f"{who} judged more than one model (such as {several[0]}); models are compared within evaluators "
            "(paired), with p-values by Holm and intervals by Bonferroni"
        )


def _unlike_others(answers: Answers, groups: Groups) -> Iterator[str]:
    judges, models = answers.judges, answers.model.names
    if len(models) > 1 and (alone := sorted({*map(str, models)} - {*map(str, groups)})):
        have, are = ("has", "is") if len(alone) == 1 else ("have", "are")
        yield f"{some_of(alone)} {have} one evaluator and {are} left out of the tests"
    for code, model in enumerate(models):
        seen = judges.seen[judges.model == code]
        typical = float(np.median(seen))
        few, many = int((seen < typical / 2).sum()), int((seen > typical * 2).sum())
        if few:
            yield (
                f"{_evaluators(few)} of {model} gave less than half of the usual {typical:g} responses and "
                "may not have finished; each evaluator weighs the same in the score"
            )
        if many:
            yield (
                f"{_evaluators(many)} of {model} gave more than twice the usual {typical:g} responses; each "
                "evaluator weighs the same in the score"
            )


def _equal_values(groups: Groups) -> Iterator[str]:
    """Yield a caveat on models whose evaluators show no variance."""
    equal = [model for model, numbers in groups.items() if len({*np.round(numbers, _DECIMALS).tolist()}) == 1]
    if equal:
        yield (
            f"all evaluators of {some_of(equal)} have the same value, so that the percentile interval has no "
            "width and the SD is 0: neither says how sure the score is, and no test rests on them"
        )


def _evaluators(count: int) -> str:
    return f"{count} evaluator{'s' if count != 1 else ''}"
