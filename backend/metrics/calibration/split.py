"""Division of triplets into a train, a validation and a held-out share, by reference picture.

Triplets of one reference resemble one another, so all of them are in one share. Sets of triplets (such as
`traditional` and `cnn`) are divided alike, as far as references permit: references are dealt, in an order
that only the seed and their pictures determine, each to the share that lacks most of its triplets.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from backend.foundation.counted_nouns import counted
from backend.foundation.errors import InvalidInput

TRAIN, VALIDATION, HELD_OUT = "train", "validation", "held-out"
FEWEST_TRIPLETS = 100
"""Below it, a held-out fifth has fewer than 20 triplets and an interval of more than 40 points."""
FEWEST_OF_A_SHARE = 10


@dataclass(frozen=True)
class Shares:
    """How large the validation and held-out shares are to be, from 0 to 1; the rest is for the fit."""

    validation: float = 0.2
    held_out: float = 0.2

    def __post_init__(self) -> None:
        if not (0 < self.validation < 1 and 0 < self.held_out < 1 and self.train > 0):
            raise InvalidInput(
                "the validation and held-out shares must be above 0 and together below 1, not "
                f"{self.validation:g} and {self.held_out:g}"
            )

    @property
    def train(self) -> float:
        return 1 - self.validation - self.held_out

    def items(self) -> Iterator[tuple[str, float]]:
        yield TRAIN, self.train
        yield VALIDATION, self.validation
        yield HELD_OUT, self.held_out


@dataclass(frozen=True)
class Split:
    """Indices of triplets in each share, ascending."""

    train: np.ndarray
    validation: np.ndarray
    held_out: np.ndarray

    def items(self) -> Iterator[tuple[str, np.ndarray]]:
        yield TRAIN, self.train
        yield VALIDATION, self.validation
        yield HELD_OUT, self.held_out


def check_count(triplets: int) -> None:
    """Raise InvalidInput if triplets are too few for a calibration."""
    if triplets < FEWEST_TRIPLETS:
        raise InvalidInput(
            f"a calibration needs votes on {FEWEST_TRIPLETS} triplets or more, not {triplets}: about a "
            "thousand weights are fitted, and a part of the triplets is held out to test them"
        )


def split(references: Sequence[str], sets: Sequence[str], shares: Shares, seed: int) -> Split:
    """Return a division of triplets in which no reference is in two shares.

    Args:
        references: for each triplet, what identifies its reference picture.
        sets: for each triplet, the name of its set.

    Raises:
        InvalidInput: there are too few triplets, or too few of a share since references are few.
    """
    check_count(len(references))
    triplets: dict[str, list[int]] = defaultdict(list)
    for i, reference in enumerate(references):
        triplets[reference].append(i)
    wanted = dict(shares.items())
    dealt: dict[str, list[int]] = {name: [] for name in wanted}
    have: dict[str, Counter[str]] = {name: Counter() for name in wanted}
    seen: Counter[str] = Counter()
    for reference in sorted(triplets, key=lambda each: _order(seed, each)):
        own = Counter(sets[i] for i in triplets[reference])
        seen += own
        lacks = {
            name: sum(own[each] * (share * seen[each] - have[name][each]) for each in own)
            for name, share in wanted.items()
        }
        share = max(lacks, key=lambda name: lacks[name])
        dealt[share] += triplets[reference]
        have[share] += own
    small = min(dealt, key=lambda name: len(dealt[name]))
    if len(dealt[small]) < FEWEST_OF_A_SHARE:
        raise InvalidInput(
            f"the {small} share has {len(dealt[small])} triplets and needs {FEWEST_OF_A_SHARE} or more: "
            f"the {len(references):,} triplets have {counted(len(triplets), 'different reference')}, and all "
            "triplets of one reference are in one share"
        )
    return Split(*(np.array(sorted(dealt[name])) for name in wanted))


def _order(seed: int, reference: str) -> bytes:
    return hashlib.sha256(f"{seed} {reference}".encode("utf-8", "surrogatepass")).digest()
