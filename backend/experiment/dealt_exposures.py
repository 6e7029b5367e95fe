"""Which trials of a session have which of a study's fixed exposures."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from backend.experiment.fixed_exposures import Exposures
from backend.experiment.records import PlannedBlock

if TYPE_CHECKING:
    from random import Random


def with_exposures(
    blocks: Sequence[PlannedBlock], exposures: Exposures, by_truth: bool, rng: "Random"
) -> tuple[PlannedBlock, ...]:
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
    block: PlannedBlock, exposures: Exposures, by_truth: bool, extra: Counter[Any], rng: "Random"
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
