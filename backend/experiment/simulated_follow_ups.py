"""Follow-ups of simulated evaluators, plausible enough to try out reports with.

Confidence follows signal detection theory: an unbiased observer whose accuracy is p sees evidence that is
Normal with SD 1 around +d'/2 or -d'/2, d' = 2 z(p); its sign gives the answer, and the farther it is from 0,
the surer is the observer (Macmillan & Creelman, 2005, chapter 3). So right answers are surer than wrong
ones, by as much as the observer can tell real from fake. Reasons and marks are random: each study has
a favourite reason, and each picture a place around which its marks are.
"""

from collections.abc import Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from backend.experiment import follow_ups
from backend.experiment.groups.follow_ups import BOX, NONE, REQUIRED, FollowUpSettings
from backend.experiment.protocol import Protocol

if TYPE_CHECKING:
    from random import Random

_LOWEST, _HIGHEST = 0.01, 0.99
_SHARE_OF_REASON = (0.6, 0.25)
"""Chances of the first reason, and of each other one."""
_SHARE_WITH_COMMENT, _SHARE_WITH_MARK = 0.2, 0.8
_SPREAD, _BOX_SIZES = 80, (100, 300)
"""SD of marks around their place, and the range of a box's sides, in thousandths of the picture."""
_CENTRES = (250, 750)
_COMMENTS = ("something looks odd", "too smooth to be true", "I have seen such pictures before")
_NORMAL = NormalDist()


def simulated_follow_ups(
    protocol: Protocol, response: str, is_right: bool, accuracy: float, of_picture: "Random", rng: "Random"
) -> dict[str, Any]:
    """Return the follow-ups to a response as a page would post them; {} if the study asks for none.

    Args:
        accuracy: the observer's probability (0 to 1) of a right answer to this trial.
        of_picture: random generator that is the same for each trial of a picture: its marks are around one
            place.
    """
    asked = protocol.follow_ups
    facts: dict[str, Any] = {}
    if asked.confidence != NONE:
        facts |= _confidence(asked, certainty(is_right, accuracy, rng), rng)
    if follow_ups.asks_why(asked, response):
        facts |= _why(asked, rng)
    if follow_ups.asks_where(asked, response) and (
        asked.mark_needed == REQUIRED or rng.random() < _SHARE_WITH_MARK
    ):
        facts["mark"] = _mark(asked, of_picture, rng)
    return facts


def certainty(is_right: bool, accuracy: float, rng: "Random") -> float:
    """Return how sure an observer is of an answer, 0 (a guess) to 1: 2 Phi(|evidence|) - 1.

    The evidence is drawn from the part of its distribution that gives such an answer: its distance from the
    mean is at least -z(p) for a right answer, and at most -z(p) for a wrong one.
    """
    p = min(max(accuracy, _LOWEST), _HIGHEST)
    share = (1 - p) + p * rng.random() if is_right else (1 - p) * rng.random()
    share = min(max(share, 1e-9), 1 - 1e-9)
    evidence = _NORMAL.inv_cdf(p) + _NORMAL.inv_cdf(share)
    return 2 * _NORMAL.cdf(abs(evidence)) - 1


def _confidence(asked: FollowUpSettings, sure: float, rng: "Random") -> dict[str, Any]:
    low, high = follow_ups.confidence_range(asked.confidence_points)
    level = min(high, low + int(sure * (high - low + 1)))
    is_with = asked.confidence_when == "with"
    return {"confidence": level} | (
        {} if is_with else {"confidence_rt": round(rng.lognormvariate(6.5, 0.4), 1)}
    )


def _why(asked: FollowUpSettings, rng: "Random") -> dict[str, Any]:
    first, other = _SHARE_OF_REASON
    facts: dict[str, Any] = {}
    if asked.reasons:
        numbers = range(1, len(asked.reasons) + 1)
        facts["reasons"] = [each for each in numbers if rng.random() < (first if each == 1 else other)]
    if asked.comment == REQUIRED or (asked.comment != NONE and rng.random() < _SHARE_WITH_COMMENT):
        facts["comment"] = rng.choice(_COMMENTS)
    return facts


def _mark(asked: FollowUpSettings, of_picture: "Random", rng: "Random") -> Sequence[int]:
    centre = [of_picture.uniform(*_CENTRES) for _ in range(2)]
    point = [_within(rng.gauss(each, _SPREAD)) for each in centre]
    if asked.mark != BOX:
        return point
    sides = [round(rng.uniform(*_BOX_SIZES)) for _ in range(2)]
    corner = [
        min(_within(at - side / 2), follow_ups.MARK_UNITS - side)
        for at, side in zip(point, sides, strict=True)
    ]
    return [*corner, *sides]


def _within(value: float) -> int:
    return min(follow_ups.MARK_UNITS, max(0, round(value)))
