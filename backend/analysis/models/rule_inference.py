"""Inference of the staircase rule from the answers, since files from other sources do not state it.

The most frequent step after a wrong answer is the rule's step up, the most frequent decrease its step down,
and the most frequent number of right answers before a decrease the number it requires. A bound is known if
staircases reached it; else it is that of the papers. A rule is accepted if it predicts nearly all exposures.
"""

from collections.abc import Iterator
from contextlib import suppress
from itertools import product

import numpy as np

from backend.analysis.models.simulated_staircase import step
from backend.analysis.table.response_table import Answers
from backend.experiment.staircase import NAMED_RULES, StaircaseRule
from backend.foundation.errors import InvalidInput

MIN_PREDICTED = 0.98
"""Share of exposures that a rule must predict."""
_CLOSE_MS = 0.01


def infer_rule(answers: Answers) -> StaircaseRule | None:
    """Return the staircase rule of HYPE-time's answers; None if no single rule explains the exposures."""
    ms, right = _blocks(answers)
    if ms.shape[1] < 2:
        return None
    # if no staircase reached a bound, candidates predict equally well, and the first has the papers' bound
    predicted = [(_predicted(rule, ms, right), rule) for rule in _candidates(ms, right)]
    best, rule = max(predicted, key=lambda one: one[0], default=(0.0, None))
    return rule if best >= MIN_PREDICTED else None


def in_blocks(answers: Answers) -> tuple[np.ndarray, np.ndarray]:
    """Return (order, starts): indices of answers by judge, block and trial; the start of each block."""
    trial = answers.numbers.get("trial_index")
    if trial is None:
        trial = np.arange(len(answers))
    blocks = answers.blocks
    visit = answers.judges.of_response.astype(np.int64) * (int(blocks.max()) + 1) + blocks
    order = np.lexsort((trial, visit))
    starts = np.flatnonzero(np.r_[True, visit[order][1:] != visit[order][:-1]])
    return order, starts


def _blocks(answers: Answers) -> tuple[np.ndarray, np.ndarray]:
    """Return requested exposures (ms; NaN after a block's end) and right answers, (blocks, trials)."""
    order, starts = in_blocks(answers)
    asked = answers.asked_ms
    lengths = np.diff(np.r_[starts, len(order)])
    block = np.repeat(np.arange(len(starts)), lengths)
    trial = np.arange(len(order)) - np.repeat(starts, lengths)
    ms = np.full((len(starts), int(lengths.max())), np.nan)
    right = np.zeros(ms.shape, bool)
    ms[block, trial] = asked[order]
    right[block, trial] = answers.error[order] == 0
    return ms, right


def _candidates(ms: np.ndarray, right: np.ndarray) -> Iterator[StaircaseRule]:
    """Yield the rule that steps and counts suggest, with the papers' bounds and with those observed."""
    change, answered = np.round(np.diff(ms, axis=1), 6), right[:, :-1]
    is_up, is_down = ~answered & (change > 0), answered & (change < 0)
    if not (is_up.any() and is_down.any()):
        return
    # the count of right answers is reset by a wrong answer and by a decrease
    trials = np.arange(change.shape[1])
    last = np.maximum.accumulate(np.where(~answered | is_down, trials, -1), axis=1)
    before = np.concatenate([np.full((len(ms), 1), -1), last[:, :-1]], axis=1)
    low, high, usual = float(np.nanmin(ms)), float(np.nanmax(ms)), NAMED_RULES["hype-2019"]
    # a step that ended at a bound may have been cut short by it
    up = _commonest(change[_whole(is_up, ms[:, 1:] < high)])
    down = _commonest(-change[_whole(is_down, ms[:, 1:] > low)])
    for min_ms, max_ms in product((min(low, usual.min_ms), low), (max(high, usual.max_ms), high)):
        with suppress(InvalidInput):  # such as a start below the observed minimum
            yield StaircaseRule(
                right_to_descend=int(_commonest((trials - before)[is_down])),
                down_ms=down,
                up_ms=up,
                start_ms=_commonest(ms[:, 0]),
                min_ms=min_ms,
                max_ms=max_ms,
            )


def _whole(is_step: np.ndarray, is_within: np.ndarray) -> np.ndarray:
    """Return the steps that ended within the bounds, or all steps if none did."""
    return is_step & is_within if (is_step & is_within).any() else is_step


def _predicted(rule: StaircaseRule, ms: np.ndarray, right: np.ndarray) -> float:
    in_a_row, held, asked = np.zeros(len(ms), int), 0, 0
    for trial in range(ms.shape[1] - 1):
        following, in_a_row = step(rule, ms[:, trial], in_a_row, right[:, trial])
        is_there = ~np.isnan(ms[:, trial + 1])
        held += int((np.abs(following - ms[:, trial + 1])[is_there] < _CLOSE_MS).sum())
        asked += int(is_there.sum())
    return held / asked if asked else 0.0


def _commonest(values: np.ndarray) -> float:
    found, counts = np.unique(values[~np.isnan(values)], return_counts=True)
    return float(found[counts.argmax()])
