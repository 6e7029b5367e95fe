"""A plan of looks: after how many evaluators of each model a study is analysed, and when it may stop.

The plan is fixed before the first answer; its hash says that it is still the same.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from backend.analysis.distributions.inference import t_below
from backend.analysis.planning.boundaries import boundaries, one_sided_spent, spent
from backend.experiment.planned_looks import EQUAL_WITHIN, HALF_WIDTH, PlannedLooks

FUTILE_BELOW = 0.1
"""Chance of finding the difference at the last look below which going on is futile."""


class LookPlan(PlannedLooks):
    """A plan of looks with its boundaries."""

    @classmethod
    def of(cls, plan: PlannedLooks) -> Self:
        """Return the plan of a study's settings."""
        return cls(plan.looks, plan.aim, plan.spending, plan.level)

    def ended(self, looks: int, evaluators: int) -> "EndedPlan":
        """Return the plan after so many looks and an unplanned last one, at more evaluators than theirs."""
        reached = (*self.looks[:looks], evaluators)
        return EndedPlan(reached, self.aim, self.spending, self.level, planned=self.looks[-1])

    @property
    def fractions(self) -> np.ndarray:
        """Share (0 to 1) of the evaluators of the last look at each look."""
        return np.array(self.looks) / self.looks[-1]

    @property
    def most(self) -> int:
        """Evaluators of each model that were planned."""
        return self.looks[-1]

    @property
    def spent_at(self) -> np.ndarray:
        """Share (0 to 1) of the planned evaluators at each look, by which the error is spent."""
        return self.fractions

    @cached_property
    def bounds(self) -> np.ndarray:
        """The z beyond which a difference (or, one-sided, equality) is shown at each look."""
        if self.aim.kind == EQUAL_WITHIN:
            errors = one_sided_spent(self.spent_at, 1 - self.level, self.spending)
            return boundaries(self.fractions, errors, sides=1)
        return boundaries(self.fractions, spent(self.spent_at, 1 - self.level, self.spending))

    @property
    def errors(self) -> np.ndarray:
        """The p below which a look stops: two-sided, of equality one-sided.

        Half-widths are those of intervals at `level`, at each look.
        """
        if self.aim.kind == HALF_WIDTH:
            return np.full(len(self.looks), 1 - self.level)
        result: np.ndarray = t_below(-self.bounds, np.inf) * (1 if self.aim.kind == EQUAL_WITHIN else 2)
        return result


@dataclass(frozen=True)
class EndedPlan(LookPlan):
    """A plan whose last look was not planned, since too few evaluators came: it spends what is left.

    That errs as often as the plan, provided that the end has nothing to do with the scores: errors spent
    before stay as they were, and the last boundary follows from them (Lan and DeMets, 1983).
    """

    planned: int = 0
    """Evaluators of each model at the last look of the plan."""

    @property
    def most(self) -> int:
        return self.planned

    @property
    def spent_at(self) -> np.ndarray:
        return np.array([*np.array(self.looks[:-1]) / self.planned, 1.0])
