"""The adaptive staircase of exposures: when they decrease, when they increase, where they converge.

`hype-2019` is the interpretation of the papers' "3-up/1-down" under which simulated evaluators give the
published scores: three right answers in a row lower the exposure by 30 ms, each wrong one raises
it by 10 ms. `weighted-75` converges to the 75 % the papers name (weighted up-down, Kaernbach 1991).
`frontend/staircase.js` implements the same rule; `tests/unit/staircase_vectors.json` tests both.

Steps need not be whole milliseconds (a refresh of a display of 60 Hz is 16.67), and sums of the same steps in
another order differ as floats. So an exposure is rounded after each step (`_LATTICE`), and exposures are
compared by `comparable`.
"""

import math
from collections import Counter
from collections.abc import Iterable

from backend.foundation.errors import InvalidInput, Keys
from backend.foundation.frozen import dataclass

COMPARED_DIGITS = 6
"""Decimals of a millisecond by which exposures are equal."""
_LATTICE = 1e9
"""Steps of a millisecond that an exposure is rounded to: no error of floats is left of steps with at most
nine decimals, and the errors of others stay far below what is compared."""


@dataclass(frozen=True)
class StaircaseRule:
    """How the exposure of the next trial follows from the answers so far; all times in ms."""

    right_to_descend: int = 3
    down_ms: float = 30
    up_ms: float = 10
    start_ms: float = 500
    min_ms: float = 100
    max_ms: float = 1000
    grid_ms: float = 0
    """Exposures are whole multiples of this, the refresh interval of a display; 0 allows any exposure."""

    def __post_init__(self) -> None:
        if self.right_to_descend < 1:
            raise InvalidInput(
                f"right_to_descend must be 1 or more, not {self.right_to_descend}", keys=("right_to_descend",)
            )
        if not (self.down_ms > 0 and self.up_ms > 0):
            raise InvalidInput(
                f"staircase steps must be above 0 ms, not {self.down_ms} and {self.up_ms}",
                keys=("down_ms",),
                also=[("up_ms",)],
            )
        if not 0 < self.min_ms <= self.start_ms <= self.max_ms:
            raise InvalidInput(
                "staircase bounds must satisfy 0 < min <= start <= max, "
                f"not min {self.min_ms}, start {self.start_ms}, max {self.max_ms} ms",
                keys=self._bounds_at_fault[0],
                also=self._bounds_at_fault[1:],
            )
        if self.grid_ms < 0:
            raise InvalidInput(f"grid_ms must be 0 or above, not {self.grid_ms}", keys=("grid_ms",))

    @property
    def _bounds_at_fault(self) -> list[Keys]:
        """Keys of the bounds that are out of order, the likeliest first."""
        if not self.min_ms > 0:
            return [("min_ms",), ("start_ms",), ("max_ms",)]
        if self.start_ms < self.min_ms:
            return [("start_ms",), ("min_ms",), ("max_ms",)]
        return [("start_ms",), ("max_ms",), ("min_ms",)]


@dataclass(frozen=True)
class StaircaseState:
    """State of a block's staircase: the next exposure and the number of right answers in a row."""

    exposure_ms: float
    right_in_a_row: int = 0


NAMED_RULES = {
    "hype-2019": StaircaseRule(),
    "weighted-75": StaircaseRule(right_to_descend=1, down_ms=10, up_ms=30),
}


def start(rule: StaircaseRule) -> StaircaseState:
    """Return the state before the first trial of a block."""
    return StaircaseState(exposure_ms=rule.start_ms)


def step(rule: StaircaseRule, state: StaircaseState, was_correct: bool) -> StaircaseState:
    """Return the state after one more answer.

    A step down resets the count of right answers, and so does a wrong answer.
    """
    if not was_correct:
        return StaircaseState(_bounded(rule, state.exposure_ms + rule.up_ms), 0)
    in_a_row = state.right_in_a_row + 1
    if in_a_row < rule.right_to_descend:
        return StaircaseState(state.exposure_ms, in_a_row)
    return StaircaseState(_bounded(rule, state.exposure_ms - rule.down_ms), 0)


def equilibrium_accuracy(rule: StaircaseRule) -> float:
    """Return the share of right answers (0 to 1) at which `rule` stops drifting.

    With `n` right answers in a row to go down, a cycle ends in a step down with probability
    p**n and in a step up otherwise, so the drift vanishes where
    p**n * down_ms == (1 - p**n) * up_ms (Levitt, 1971, for equal steps).
    """
    return float((rule.up_ms / (rule.up_ms + rule.down_ms)) ** (1 / rule.right_to_descend))


def on_display(rule: StaircaseRule, frame_ms: float) -> StaircaseRule:
    """Return `rule` in whole refreshes of a display, so that each step changes what is shown.

    The smaller step becomes the nearest number of refreshes, at least one; the larger one keeps its
    ratio to it, so that the rule converges to the same accuracy on every display.
    """

    def whole(ms: float) -> float:
        return max(1, round(ms / frame_ms)) * frame_ms

    small = max(1, round(min(rule.down_ms, rule.up_ms) / frame_ms))
    large = round(small * max(rule.down_ms, rule.up_ms) / min(rule.down_ms, rule.up_ms))
    down, up = (large, small) if rule.down_ms > rule.up_ms else (small, large)
    return StaircaseRule(
        right_to_descend=rule.right_to_descend,
        down_ms=down * frame_ms,
        up_ms=up * frame_ms,
        start_ms=whole(rule.start_ms),
        min_ms=whole(rule.min_ms),
        max_ms=whole(rule.max_ms),
        grid_ms=frame_ms,
    )


def comparable(exposure_ms: float) -> float:
    """Return an exposure (ms) as the same float, however it was reached."""
    return round(exposure_ms, COMPARED_DIGITS)


def modal_exposure(exposures_ms: Iterable[float]) -> float:
    """Return the modal exposure (ms) of a block, the one shown most often; ties go to the shortest.

    The threshold is "the shortest exposure time at which they can maintain effective
    performance" (HYPE workshop paper, 2.1), hence the shortest.

    Raises:
        InvalidInput: there are no exposures.
    """
    counts = Counter(map(comparable, exposures_ms))
    if not counts:
        raise InvalidInput("a block without trials has no modal exposure")
    most = max(counts.values())
    return min(exposure for exposure, count in counts.items() if count == most)


def _bounded(rule: StaircaseRule, exposure_ms: float) -> float:
    bounded = min(max(exposure_ms, rule.min_ms), rule.max_ms)
    if rule.grid_ms:
        return round(bounded / rule.grid_ms) * rule.grid_ms
    return math.floor(bounded * _LATTICE + 0.5) / _LATTICE  # as JavaScript rounds
