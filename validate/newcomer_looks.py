"""Validation of the looks of models that join: how often one that equals those before is found to differ.

A study of a few models stops by its plan; then models join, one after another, each with looks of its own,
against all before it. `planned` simulates their values as plans do (`look_studies.py`): 10,000 studies, with
a plan of looks and with the fixed one. Where all models are equal, every difference that is found is false;
where the newcomers differ, the people are counted that their looks save. `scored` does the same of few
studies with answers that are scored and decided as any study's (`newcomer_looks.py`).
`python -m validate.newcomer_looks [planned|scored]` prints the tables of docs/planning.md.
"""

import math
import sys
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from backend.analysis.distributions.inference import holm_of_rows, two_sided_p
from backend.analysis.look_decisions import decisions
from backend.analysis.newcomer_looks import newcomer_decisions
from backend.analysis.planning.family_errors import family_errors
from backend.analysis.planning.look_studies import Studies
from backend.analysis.planning.looks import LookPlan
from backend.analysis.planning.spread import Spread
from backend.analysis.table.response_table import Answers, filter_rows
from validate import scored_looks
from validate.looks import LOOKS, spread_of

STUDIES, SCORED = 10_000, 300


@dataclass(frozen=True)
class Kind:
    """A kind of standing study: HYPE-infinity, evaluators with an SD of 9 points."""

    first: int
    """Models that it is made with."""
    joined: int
    pictures: float = 1e9
    """A side."""
    step: float = 0.0
    """Points by which each newcomer is above the model before it."""
    apart: float = 0.0
    """Points by which the first model is above the other first ones."""

    @property
    def name(self) -> str:
        few = f", {self.pictures:g} pictures a side" if self.pictures < 1e6 else ""
        above = f", each {self.step:g} points above the one before" if self.step else ""
        first = f", the first {self.apart:g} points above" if self.apart else ""
        return f"{self.first} models{first}, then {self.joined}{above}{few}"


KINDS = (
    Kind(2, 1),
    Kind(2, 5),
    Kind(2, 5, 60),
    Kind(2, 5, apart=10),
    Kind(5, 5),
    Kind(11, 1),
    Kind(2, 1, step=10),
    Kind(2, 3, step=10),
)


def outcome(kind: Kind, looks: Sequence[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return of each newcomer of simulated studies what its looks show: shape (studies, newcomers).

    Returns:
        Whether a false difference was found, whether it is apart from all before, and its evaluators.
    """
    plan, models = LookPlan(tuple(looks)), kind.first + kind.joined
    studies = Studies(_spreads(kind), plan, STUDIES)
    at = np.full((STUDIES, models), len(looks) - 1)
    first = _with_models(studies, np.arange(kind.first))
    at[:, : kind.first] = np.searchsorted(looks, first.stopped().evaluators)
    found = []
    for place in range(kind.first, models):
        pairs = copy(studies)
        pairs.i, pairs.j = np.full(place, place), np.arange(place)
        errors = _errors(plan, studies.counts[at[:, :place]].max(axis=1), place)
        closed, is_open = np.zeros((STUDIES, place), bool), np.ones(STUDIES, bool)
        for look in range(len(looks)):
            at[is_open, place] = look
            difference, both = pairs.differences(at)
            p = holm_of_rows(two_sided_p(difference / np.sqrt(both.variance), both.df))
            closed |= (p < errors[:, look, None]) & is_open[:, None]
            is_open &= ~closed.all(axis=1)
        are_equal = np.abs(studies.scores[place] - studies.scores[:place]) < 1e-9
        found.append(((closed & are_equal).any(axis=1), closed.all(axis=1), studies.counts[at[:, place]]))
    false, apart, evaluators = (np.array(each).T for each in zip(*found, strict=True))
    return false, apart, evaluators


def _spreads(kind: Kind) -> list[Spread]:
    spread = spread_of(kind.pictures)
    above = [kind.apart, *[0.0] * (kind.first - 1), *(kind.step * (i + 1) for i in range(kind.joined))]
    return [replace(spread, score=spread.score - each) for each in above]


def _with_models(studies: Studies, chosen: np.ndarray) -> Studies:
    """Return the same studies of some of their models, by the plan of these."""
    some = copy(studies)
    some.spreads = [studies.spreads[code] for code in chosen]
    some.looks, some.scores = studies.looks[..., chosen], studies.scores[chosen]
    some.i, some.j = np.triu_indices(len(chosen), 1)
    some.errors = family_errors(studies.plan, len(chosen), is_tukey=True)
    return some


def _errors(plan: LookPlan, others: np.ndarray, pairs: int) -> np.ndarray:
    """Return the nominal errors of each study, whose other models have so many evaluators at most."""
    errors = np.empty((len(others), len(plan.looks)))
    for count in np.unique(others):
        errors[others == count] = family_errors(plan.against(int(count)), pairs + 1, False, pairs)
    return errors


def planned() -> Iterator[str]:
    """Yield a line for each kind, as plans simulate them."""
    for kind in KINDS:
        (false, apart, people), (fixed, of_fixed, _) = (outcome(kind, each) for each in (LOOKS, LOOKS[-1:]))
        more = false.mean(axis=1) - fixed.mean(axis=1)
        error = f"{false.mean():.1%} ({fixed.mean():.1%})"
        found = f"{apart.mean():.1%} ({of_fixed.mean():.1%})"
        yield (
            f"| {kind.name} | {'' if kind.step else _bold(error, more.mean() > 0.005)} "
            f"| {_bold(found, of_fixed.mean() - apart.mean() > 0.02) if kind.step else ''} "
            f"| {1 - people.mean() / LOOKS[-1]:.0%} |"
        )


def _bold(text: str, is_bold: bool) -> str:
    return f"**{text}**" if is_bold else text


def scored_outcome(
    first: int, looks: Sequence[int], answers: Answers, finished: dict[str, str]
) -> list[bool]:
    """Return of each newcomer whether a difference was found."""
    plan, names = LookPlan(tuple(looks)), sorted(map(str, answers.model.names))
    made = decisions(_of(answers, names[:first]), finished, plan, names[:first], False)
    used = {model: _used(model, made["looks"]) for model in names[:first]}
    rows = []
    for model in names[first:]:
        own = newcomer_decisions(answers, finished, plan, model, used)["looks"]
        rows.append(any(row["state"] == "apart" for look in own for row in look["pairs"]))
        used[model] = _used(model, own)
    return rows


def _of(answers: Answers, models: Sequence[str]) -> Answers:
    is_kept = np.isin(np.array(answers.model.names), models)
    return filter_rows(answers, is_kept[answers.model.codes])


def _used(model: str, looks: Sequence[dict[str, Any]]) -> list[str]:
    return [name for look in looks for name in look["new"].get(model, ())]


def scored(pool: int = 60, first: int = 2, joined: int = 1) -> Iterator[str]:
    """Yield the line of studies of equal models whose answers are scored."""
    found = []
    for seed in range(SCORED):
        rng = np.random.default_rng([seed, 49])
        answers, _ = scored_looks.infinity(first + joined, 1, pool, 0.0, rng)
        finished = {str(name): f"{rng.random():.12f}" for name in answers.evaluator.names}
        run = partial(scored_outcome, first, answers=answers, finished=finished)
        found.append([run(looks=looks) for looks in (scored_looks.LOOKS, scored_looks.LOOKS[-1:])])
    by_looks, fixed = np.array(found, float).mean(axis=2).T
    se = (by_looks - fixed).std() / math.sqrt(SCORED)
    yield (
        f"| {first} models, then {joined}, {pool} pictures a side, scored ({SCORED}) | {by_looks.mean():.1%} "
        f"({fixed.mean():.1%}), more {100 * (by_looks - fixed).mean():+.1f} (SE {100 * se:.1f}) | | |"
    )


def main() -> None:
    tables = {"planned": planned, "scored": scored}
    for name in sys.argv[1:] or tables:
        for line in tables[name]():
            print(line, flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
