"""Constant stimuli: a set of fixed exposures, and which trials of a session have which of them.

In the method of constant stimuli (Gescheider, 1997, chapter 3) the exposures are chosen beforehand and shown
in random order, each equally often. They may include one without time limit, at which the stimulus stays
until it is answered. Within evaluators, each sees all exposures; between evaluators, each sees one.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from backend.foundation.errors import InvalidInput, brief

if TYPE_CHECKING:
    from random import Random

    from backend.experiment.records import PlannedBlock

UNLIMITED = "unlimited"
"""Name of the exposure without time limit, which is None as a value."""
SHORTEST_MS, LONGEST_MS = 4, 60_000
"""4 ms are a refresh of a display of 240 Hz."""
MOST = 20
"""Largest number of exposures of a study."""
REFRESH_MARGIN = 1.05
"""Ratio of a refresh to an exposure up to which they are equal: 16 ms are a refresh of 16.7 ms."""
_DIGITS = 3
Exposures = tuple[float | None, ...]
"""Exposures in ms, in ascending order; None, the one without time limit, is last."""


def parse_exposures(value: Any) -> Exposures:
    """Return exposures given as `50,100,unlimited`, or as a list of such parts; rounded to 0.001 ms.

    Raises:
        InvalidInput: a part is neither a number of ms from 4 to 60000 nor `unlimited`, an exposure occurs
            twice, or there are none or more than 20.
    """
    parts = list(value) if isinstance(value, (list, tuple)) else str(value).split(",")
    if parts == [""] or not parts:
        raise InvalidInput("exposures_ms must name an exposure, as 50,100,unlimited, and is empty")
    if len(parts) > MOST:
        raise InvalidInput(f"exposures_ms must name 1 to {MOST} exposures, not {len(parts)}")
    found = [_exposure(part) for part in parts]
    again = [label(ms) for ms, count in Counter(found).items() if count > 1]
    if again:
        raise InvalidInput(f"exposures_ms must name each exposure once, and has {again[0]} twice or more")
    return tuple(sorted(found, key=lambda ms: (ms is None, ms or 0)))


def _exposure(part: Any) -> float | None:
    text = str(part).strip() if isinstance(part, str) else part
    if text is None or text == UNLIMITED:
        return None
    try:
        ms = float(text) if not isinstance(text, bool) else float("nan")
    except (TypeError, ValueError, OverflowError):
        ms = float("nan")
    if not SHORTEST_MS <= ms <= LONGEST_MS:
        raise InvalidInput(
            f"exposures_ms must be numbers of ms from {SHORTEST_MS} to {LONGEST_MS}, or {UNLIMITED!r}, "
            f"separated by commas, not {brief(part)}"
        )
    return round(ms, _DIGITS)


def label(exposure_ms: float | None) -> str:
    """Return an exposure as text that `parse_exposures` accepts: `50`, `16.7`, `unlimited`."""
    return UNLIMITED if exposure_ms is None else f"{exposure_ms:.{_DIGITS}f}".rstrip("0").rstrip(".")


def written(exposures: Exposures) -> str:
    """Return exposures as text that `parse_exposures` accepts."""
    return ",".join(map(label, exposures))


def shortest_ms(exposures: Iterable[float | None]) -> float | None:
    """Return the shortest exposure with a time limit; None if there is none."""
    return min((ms for ms in exposures if ms is not None), default=None)


def with_exposures(
    blocks: Sequence["PlannedBlock"], exposures: Exposures, by_truth: bool, rng: "Random"
) -> tuple["PlannedBlock", ...]:
    """Return blocks with an exposure for each trial, in random order.

    The trials of a block, each kind of them apart (`records.TRIAL_KINDS`), are dealt the exposures equally
    often, as far as their number allows; which exposures are dealt once more is balanced over the blocks, and
    else random.

    Args:
        by_truth: deal apart to the reals and to the fakes of each model, so that each of these has every
            exposure equally often. Otherwise exposures are dealt without regard to the truth, so that they
            reveal nothing about it even to an evaluator who counts.
    """
    extra: Counter[Any] = Counter()
    return tuple(
        replace(block, exposures_ms=_dealt(block, exposures, by_truth, extra, rng)) for block in blocks
    )


def _dealt(
    block: "PlannedBlock", exposures: Exposures, by_truth: bool, extra: Counter[Any], rng: "Random"
) -> Exposures:
    groups: dict[Any, list[int]] = {}
    for place, side in enumerate(zip(block.truths, block.models, strict=True)):
        groups.setdefault((block.kind(place), side if by_truth else None), []).append(place)
    dealt: list[float | None] = [None] * len(block.stimuli)
    for side, places in groups.items():
        times, rest = divmod(len(places), len(exposures))
        hand = [*exposures] * times + _least_often(exposures, rest, side, extra, rng)
        rng.shuffle(hand)
        for place, exposure in zip(places, hand, strict=True):
            dealt[place] = exposure
    return tuple(dealt)


def _least_often(
    exposures: Exposures, count: int, side: Any, extra: Counter[Any], rng: "Random"
) -> list[float | None]:
    """Return the `count` exposures that a side, and then the session, was dealt once more least often."""
    order = [*exposures]
    rng.shuffle(order)
    kind, _ = side
    order.sort(key=lambda ms: (extra[side, ms], extra[kind, ms]))
    extra.update(key for ms in order[:count] for key in ((side, ms), (kind, ms)))
    return order[:count]
