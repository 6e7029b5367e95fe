"""A plan of looks: after how many evaluators of each model a study is analysed, and when it may stop.

The plan is fixed before the first answer; its hash says that it is still the same.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property

import numpy as np

from backend.analysis.distributions.inference import t_below
from backend.analysis.planning.boundaries import (
    OBRIEN_FLEMING,
    SPENDING,
    boundaries,
    one_sided_spent,
    spent,
)
from backend.experiment.response_columns import number
from backend.foundation.errors import InvalidInput

APART, HALF_WIDTH, EQUAL_WITHIN, FUTILITY, RANKS = "apart", "half-width", "equal-within", "futility", "ranks"
AIMS = (APART, HALF_WIDTH, EQUAL_WITHIN, FUTILITY, RANKS)
ALL_PAIRS, NEIGHBOURS = "all", "neighbours"
FEWEST, MOST_LOOKS = 5, 50
"""Fewest evaluators at a look, and most looks."""
FUTILE_BELOW = 0.1
"""Chance of finding the difference at the last look below which going on is futile."""


@dataclass(frozen=True)
class LookAim:
    """What a study is to show before it stops."""

    kind: str = APART
    number: float | None = None
    """Half-width, margin or difference, in the score's unit, or places; None if models are to be apart."""
    pairs: str = ALL_PAIRS
    """Pairs that are to be apart: `all`, `neighbours` in the order of the scores, or those of one model."""

    def __str__(self) -> str:
        if self.number is not None:
            return f"{self.kind}={self.number:g}"
        return self.kind if self.pairs == ALL_PAIRS else f"{self.kind}={self.pairs}"

    @property
    def tests_differences(self) -> bool:
        """Whether it stops at differences between models."""
        return self.kind in (APART, FUTILITY, RANKS)

    @property
    def is_of_models(self) -> bool:
        """Whether each model reaches it by itself, rather than each pair."""
        return self.kind in (HALF_WIDTH, RANKS)


@dataclass(frozen=True)
class LookPlan:
    """After how many evaluators of each model a study is looked at, and when it stops."""

    looks: tuple[int, ...]
    """Rising; the last one ends the study. A single one is a fixed plan."""
    aim: LookAim = LookAim()
    spending: str = OBRIEN_FLEMING
    level: float = 0.95
    """Confidence level of all looks together."""

    def __post_init__(self) -> None:
        if not 1 <= len(self.looks) <= MOST_LOOKS:
            raise InvalidInput(f"a plan has 1 to {MOST_LOOKS} looks, not {len(self.looks)}")
        if self.looks[0] < FEWEST:
            raise InvalidInput(f"the first look must be at {FEWEST} evaluators or more, not {self.looks[0]}")
        for before, after in zip(self.looks, self.looks[1:], strict=False):
            if after <= before:
                raise InvalidInput(f"looks must rise, such as 15,20,25,30; {after} follows {before}")
        if self.spending not in SPENDING:
            raise InvalidInput(f"spending must be one of {', '.join(SPENDING)}, not {self.spending!r}")
        if not 0 < self.level < 1:
            raise InvalidInput(f"level must be between 0 and 1, such as 0.95, not {self.level:g}")

    @property
    def fractions(self) -> np.ndarray:
        """Share (0 to 1) of the planned evaluators at each look."""
        return np.array(self.looks) / self.looks[-1]

    @cached_property
    def bounds(self) -> np.ndarray:
        """The z beyond which a difference (or, one-sided, equality) is shown at each look."""
        if self.aim.kind == EQUAL_WITHIN:
            errors = one_sided_spent(self.fractions, 1 - self.level, self.spending)
            return boundaries(self.fractions, errors, sides=1)
        return boundaries(self.fractions, spent(self.fractions, 1 - self.level, self.spending))

    @property
    def errors(self) -> np.ndarray:
        """The p below which a look stops: two-sided, of equality one-sided.

        Half-widths are those of intervals at `level`, at each look.
        """
        if self.aim.kind == HALF_WIDTH:
            return np.full(len(self.looks), 1 - self.level)
        result: np.ndarray = t_below(-self.bounds, np.inf) * (1 if self.aim.kind == EQUAL_WITHIN else 2)
        return result

    @property
    def digest(self) -> str:
        """SHA-256 of the plan."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()


def looks_of(text: str) -> tuple[int, ...]:
    """Return the looks that `15,20,25,30` lists.

    Raises:
        InvalidInput: a part is no whole number.
    """
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and len(part) < 8 for part in parts):
        raise InvalidInput(f"looks are numbers of evaluators such as 15,20,25,30, not {text!r}")
    return tuple(map(int, parts))


def aim_of(text: str, models: Sequence[str] = ()) -> LookAim:
    """Return the aim that a text such as `apart`, `apart=neighbours`, `half-width=5` or `ranks=2` states.

    Args:
        models: those that `apart=MODEL` may name; () if they are not known yet.

    Raises:
        InvalidInput: an unknown aim, a number missing or out of range, or an unknown model.
    """
    kind, _, rest = (part.strip() for part in text.partition("="))
    if kind not in AIMS:
        raise InvalidInput(f"the aim must be {', '.join(AIMS[:-1])} or {AIMS[-1]}, not {kind!r}")
    if kind == APART:
        if rest and models and rest not in (ALL_PAIRS, NEIGHBOURS, *models):
            raise InvalidInput(
                f"apart= must name {ALL_PAIRS}, {NEIGHBOURS} or a model ({', '.join(models)}), not {rest!r}"
            )
        return LookAim(pairs=rest or ALL_PAIRS)
    value = number(rest) if rest or kind != RANKS else 1.0
    if kind == RANKS and (value is None or value < 1 or value != int(value)):
        raise InvalidInput(f"the aim ranks needs a whole number from 1, such as ranks=2, not {rest!r}")
    if value is None or not value > 0:
        raise InvalidInput(f"the aim {kind} needs a number above 0, such as {kind}=5, not {rest!r}")
    return LookAim(kind, value)
