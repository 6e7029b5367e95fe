"""Staircases of many simulated evaluators, computed in parallel as arrays."""

from collections.abc import Callable

import numpy as np

from backend.experiment.staircase import COMPARED_DIGITS, StaircaseRule

_MOST_LEVELS = 4000


def modal_exposures(
    rule: StaircaseRule, accuracy: Callable[[np.ndarray], np.ndarray], uniform: np.ndarray
) -> np.ndarray:
    """Return the modal exposure (ms) of each evaluator's block; arguments as for `blocks`."""
    return blocks(rule, accuracy, uniform)[0]


def blocks(
    rule: StaircaseRule, accuracy: Callable[[np.ndarray], np.ndarray], uniform: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return each evaluator's modal (ms; ties go to the shortest) and longest exposure in a block.

    Args:
        accuracy: returns the probability of a right answer at exposures of shape (exposures, 1) for each
            evaluator, as an array that broadcasts to (exposures, evaluators).
        uniform: (trials, evaluators) random numbers from 0 to 1; an answer is right if its number is below
            the accuracy.
    """
    levels, up, down = ladder(rule)
    people = np.arange(uniform.shape[1])
    chances = np.broadcast_to(accuracy(levels[:, None]), (len(levels), len(people)))
    counts = np.zeros(chances.shape, np.int32)
    level = np.full(len(people), int(np.searchsorted(levels, rule.start_ms - 0.5e-6)))
    in_a_row = np.zeros(len(people), int)
    for numbers in uniform:
        counts[level, people] += 1
        was_right = numbers < chances[level, people]
        in_a_row = np.where(was_right, in_a_row + 1, 0)
        falls = in_a_row >= rule.right_to_descend
        in_a_row[falls] = 0
        level = np.where(falls, down[level], np.where(was_right, level, up[level]))
    longest = len(levels) - 1 - (counts[::-1] > 0).argmax(axis=0)
    return levels[counts.argmax(axis=0)], levels[longest]


def ladder(rule: StaircaseRule) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the exposures (ms) that a rule can reach, and for each the indices of the next one up and down.

    Steps without a common unit of moderate size reach too many exposures; these are rounded to whole ms.
    """
    reached = _reached(rule, COMPARED_DIGITS) or _reached(rule, 0) or {}
    levels = np.array(sorted(reached))
    ends = np.array([reached[ms] for ms in levels.tolist()])
    return levels, np.searchsorted(levels, ends[:, 0]), np.searchsorted(levels, ends[:, 1])


def _reached(rule: StaircaseRule, digits: int) -> dict[float, tuple[float, float]] | None:
    """Return the next exposures up and down of each that a rule reaches; None if these are too many.

    Exposures are compared to `digits` decimals. Of those that are equal the first one found is moved on.
    """
    reached: dict[float, tuple[float, float]] = {}
    new = {round(float(rule.start_ms), digits): float(rule.start_ms)}
    while new:
        moved: dict[float, float] = {}
        for compared, ms in new.items():
            start = ms if digits else compared
            ends = min(start + rule.up_ms, rule.max_ms), max(start - rule.down_ms, rule.min_ms)
            reached[compared] = round(ends[0], digits), round(ends[1], digits)
            moved |= dict(zip(reached[compared], ends, strict=True))
        new = {compared: ms for compared, ms in moved.items() if compared not in reached}
        if len(reached) > _MOST_LEVELS and digits:
            return None
    return reached


def step(
    rule: StaircaseRule, exposure_ms: np.ndarray, in_a_row: np.ndarray, was_right: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return `staircase.step` for many staircases: their next exposures (ms) and right answers in a row."""
    in_a_row = np.where(was_right, in_a_row + 1, 0)
    falls = in_a_row >= rule.right_to_descend
    change = np.where(falls, -rule.down_ms, np.where(was_right, 0, rule.up_ms))
    return np.clip(exposure_ms + change, rule.min_ms, rule.max_ms), np.where(falls, 0, in_a_row)
