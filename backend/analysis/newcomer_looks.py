"""What the looks of a model decide that joined a study: it gets evaluators until its rank is known.

It is compared with the models whose looks had ended by its first one. These keep the evaluators of their
looks, and the pairs of the newcomer are a family of their own, with Holm's p-values: each model that joins
errs as often as the plan says, however many there are. Their evaluators are as random as its own, so that its
looks are more alike than its numbers of evaluators say (`planning/looks.py`).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from backend.analysis.distributions.inference import holm, two_sided_p
from backend.analysis.judgment_scores import scores_of
from backend.analysis.look_decisions import LookState, Pair, decided, in_order_of_names, places_of
from backend.analysis.planning.looks import LookPlan
from backend.analysis.table.response_table import Answers, filter_rows
from backend.experiment.judgments import method_named
from backend.experiment.planned_looks import ALL_PAIRS, EQUAL_WITHIN, NEIGHBOURS


def newcomer_decisions(
    answers: Answers,
    finished_at: Mapping[str, str],
    plan: LookPlan,
    newcomer: str,
    others: Mapping[str, Collection[str]],
    recorded: Sequence[Mapping[str, Any]] = (),
    is_closed: bool = False,
) -> dict[str, Any]:
    """Return the decisions of the looks of a model that joined a study, as `look_decisions.decisions` does.

    `pairs` are those of the newcomer, and so are `scores`, `new` and `saved`. The bias is not simulated.

    Args:
        others: the models that it is compared with, and the evaluators whom their looks used.
        recorded: decisions of its own first looks.
    """
    answers = scores_of(answers.method).sampled(answers)
    answers = in_order_of_names(filter_rows(answers, _are_used(answers, newcomer, others)))
    places = places_of(answers, finished_at, [*others, newcomer], recorded)
    state = NewcomerState(answers, *places, plan, newcomer=newcomer)
    state.dropped = {model: count for model, count in state.counts.items() if model != newcomer}
    at_first = recorded[0]["evaluators"] if recorded else state.dropped
    state.plan = plan.against(max(count for model, count in at_first.items() if model != newcomer))
    plan.aim.check(state.models, method_named(answers.method).unit)
    return decided(state, plan, finished_at, recorded, is_closed, with_bias=False)


def _are_used(answers: Answers, newcomer: str, others: Mapping[str, Collection[str]]) -> np.ndarray:
    """Return which answers are of the newcomer, or of the evaluators of the others' looks."""
    model, evaluator = answers.model, answers.evaluator
    names = np.array([str(name) for name in evaluator.names])
    are_used = np.zeros(len(answers), bool)
    for code, name in enumerate(model.names):
        people = np.ones(len(names), bool) if name == newcomer else np.isin(names, [*others.get(name, ())])
        are_used |= (model.codes == code) & people[evaluator.codes]
    return are_used


@dataclass
class NewcomerState(LookState):
    """The looks so far of a model that joined, against others that get no more evaluators (`dropped`)."""

    newcomer: str = ""

    @property
    def is_tukey(self) -> bool:
        return False

    @property
    def pairs(self) -> int:
        return sum(self.is_tested((model, self.newcomer)) for model in self.models)

    @property
    def saved(self) -> int | None:
        return self.plan.most - self.used.get(self.newcomer, 0) if self.is_over else None

    def new_names(self, before: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
        return {self.newcomer: super().new_names(before)[self.newcomer]}

    def is_shown(self, model: str) -> bool:
        return model == self.newcomer

    def is_tested(self, pair: Pair) -> bool:
        wanted = self.plan.aim.pairs
        is_own = self.newcomer in pair and pair[0] != pair[1]
        return is_own and (wanted in (ALL_PAIRS, NEIGHBOURS, self.newcomer) or wanted in pair)

    def as_tested(self, row: Mapping[str, Any]) -> Mapping[str, Any]:
        if row["ci"] is None:
            return row
        variance, df = super().spread(row)
        half, t = self.bar(self.plan.level, df) * np.sqrt(variance), row["difference"] / np.sqrt(variance)
        ci = [float(row["difference"] - half), float(row["difference"] + half)]
        return {**row, "variance": variance, "df": df, "ci": ci, "p": float(two_sided_p(t, df))}

    def p_values(self, rows: Sequence[Mapping[str, Any]]) -> list[float | None]:
        found = super().p_values(rows)
        return found if self.plan.aim.kind == EQUAL_WITHIN else holm(found)

    def spread(self, row: Mapping[str, Any]) -> tuple[float, float]:
        return row["variance"], row["df"]
