"""A plan of looks: after how many evaluators of each model a study is analysed, and when it may stop.

The plan is fixed before the first answer; its hash says that it is still the same.
"""

from dataclasses import dataclass, replace
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

    def ended(self, looks: int, evaluators: int) -> "ActualPlan":
        """Return the plan after so many looks and an unplanned last one, at more evaluators than theirs."""
        reached = (*self.looks[:looks], evaluators)
        return ActualPlan(reached, self.aim, self.spending, self.level, planned=self.looks[-1])

    def against(self, evaluators: int) -> "ActualPlan":
        """Return the plan for a model that is compared with others, of at most so many evaluators each."""
        return ActualPlan(self.looks, self.aim, self.spending, self.level, others=evaluators)

    @property
    def fractions(self) -> np.ndarray:
        """Share (0 to 1) of the last look's information at each look: that of its evaluators."""
        return np.array(self.looks) / self.looks[-1]

    @property
    def most(self) -> int:
        """Evaluators of each model that were planned."""
        return self.looks[-1]

    @property
    def spent_at(self) -> np.ndarray:
        """Share (0 to 1) of the planned evaluators at each look, by which the error is spent."""
        return np.array(self.looks) / self.looks[-1]

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
class ActualPlan(LookPlan):
    """A plan as it was followed: to a last look that was not planned, or by a model that joined, or both.

    If too few evaluators come, the last look spends what is left. That errs as often as the plan, provided
    that the end has nothing to do with the scores: errors spent before stay as they were, and the last
    boundary follows from them (Lan and DeMets, 1983).

    The models that one that joined is compared with get no more evaluators: with m of theirs, information is
    in proportion to 1 / (1 / n + 1 / m), so that looks are more alike than n / N says.
    """

    planned: int = 0
    """Evaluators of each model at the last look of the plan; 0 if that was reached."""
    others: int = 0
    """Evaluators of each of the models that one is compared with; 0 if all get evaluators."""

    def ended(self, looks: int, evaluators: int) -> "ActualPlan":
        return replace(super().ended(looks, evaluators), others=self.others)

    @property
    def most(self) -> int:
        return self.planned or super().most

    @property
    def fractions(self) -> np.ndarray:
        if not self.others:
            return super().fractions
        information = 1 / (1 / np.array(self.looks) + 1 / self.others)
        return np.asarray(information / information[-1])

    @property
    def spent_at(self) -> np.ndarray:
        if not self.planned:
            return super().spent_at
        return np.array([*np.array(self.looks[:-1]) / self.planned, 1.0])
