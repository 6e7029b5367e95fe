"""A plan of looks as a study states it: at how many evaluators of each model it is analysed, and its aim.

What follows from it, in numbers, is in `backend/analysis/planning/looks.py`.
"""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from backend.foundation.errors import InvalidInput, brief
from backend.foundation.frozen import dataclass

APART, HALF_WIDTH, EQUAL_WITHIN, FUTILITY, RANKS = "apart", "half-width", "equal-within", "futility", "ranks"
AIMS = (APART, HALF_WIDTH, EQUAL_WITHIN, FUTILITY, RANKS)
ALL_PAIRS, NEIGHBOURS = "all", "neighbours"
OBRIEN_FLEMING = "obrien-fleming"
SPENDINGS = (OBRIEN_FLEMING, "obrien-fleming-whole", "pocock")
"""Functions by which the error is spent over the looks (`boundaries.SPENDING`)."""
FEWEST, MOST_LOOKS = 5, 50
"""Fewest evaluators at a look, and most looks."""
FEWER = 3
"""Evaluators less, with which an interval is to reach its half-width before the last look."""
MOST_MARGIN = 50
"""Points of a score in percent that a margin of equality must be below."""


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

    def check(self, models: Sequence[str], unit: str) -> None:
        """Raise InvalidInput if the aim cannot be one of these models, whose scores have this unit."""
        if self.kind != HALF_WIDTH and len(models) < 2:
            raise InvalidInput(
                f"the aim {self} compares models, and there is one, {models[0]}; take half-width=5, perhaps"
            )
        _check_pairs(self.pairs, models)
        if self.kind == EQUAL_WITHIN and unit == "percent" and not (self.number or 0.0) < MOST_MARGIN:
            raise InvalidInput(f"the margin must be below {MOST_MARGIN} points, not {self.number:g}")


@dataclass(frozen=True)
class PlannedLooks:
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
        if self.spending not in SPENDINGS:
            raise InvalidInput(f"spending must be one of {', '.join(SPENDINGS)}, not {self.spending!r}")
        if not 0 < self.level < 1:
            raise InvalidInput(f"level must be between 0 and 1, such as 0.95, not {self.level:g}")

    def widest(self, look: int) -> float:
        """Return the half-width (in the score's unit) up to which a look, from 0, ends a model's sessions.

        A look that ends them because the interval is narrow finds a spread that is too small on average, by
        a share in inverse proportion to the evaluators (Starr, 1966): before the last look, the interval is
        to be as narrow with `FEWER` evaluators less. Without that, intervals of differences cover in 93.2%,
        with it in 93.7% (simulated, four models, half-width 4).
        """
        fewer = FEWER / self.looks[look] if look + 1 < len(self.looks) else 0.0
        return (self.aim.number or 0.0) / math.sqrt(1 + fewer)

    @property
    def digest(self) -> str:
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()


def _check_pairs(pairs: str, models: Sequence[str]) -> None:
    if pairs not in (ALL_PAIRS, NEIGHBOURS, *models):
        raise InvalidInput(
            f"apart= must name {ALL_PAIRS}, {NEIGHBOURS} or a model ({', '.join(models)}), not {pairs!r}"
        )


def looks_of(value: Any) -> tuple[int, ...]:
    """Return the looks that `15,20,25,30`, or a list, has.

    Raises:
        InvalidInput: a part is no whole number.
    """
    given = value if isinstance(value, (list, tuple)) else str(value).split(",")
    parts = [str(part).strip() for part in given]
    if not all(part.isascii() and part.isdigit() and len(part) < 8 for part in parts):
        raise InvalidInput(f"looks are numbers of evaluators such as 15,20,25,30, not {brief(value)}")
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
        if models:
            _check_pairs(rest or ALL_PAIRS, models)
        return LookAim(pairs=rest or ALL_PAIRS)
    rest = rest or ("1" if kind == RANKS else "")
    try:
        value = float(rest) if rest.isascii() and "_" not in rest else math.nan
    except ValueError:
        value = math.nan
    if kind == RANKS and (not value >= 1 or value % 1):
        raise InvalidInput(f"the aim ranks needs a whole number from 1, such as ranks=2, not {rest!r}")
    if not 0 < value < math.inf:
        raise InvalidInput(f"the aim {kind} needs a number above 0, such as {kind}=5, not {rest!r}")
    return LookAim(kind, value)
