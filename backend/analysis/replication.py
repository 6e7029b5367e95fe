"""Whether scores changed between runs of one study: the same models and stimuli, judged by other people.

For each model that two runs or more judged, and each pair of runs, the difference of scores (later less
earlier) has an interval, a test, and one of equivalence (`comparisons/equivalence.py`). People are random,
and so is what a stimulus does otherwise in one run than in another (`comparisons/run_contrasts.py`).
p-values are Holm's over all models and pairs of runs. Of three runs or more, `trend` is the change by a
straight line from the first run to the last, in the order in which they are given.

Strengths of a tournament are relative to its models, so that all runs have to have the same ones, and what
stimuli do alike in both runs does not cancel in them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from backend.analysis.comparisons.chance import CHANCE, MARGIN
from backend.analysis.comparisons.equivalence import equivalence
from backend.analysis.comparisons.run_contrasts import RunScore, contrast
from backend.analysis.distributions.inference import Component, Estimate, holm
from backend.analysis.judgment_scores import scores_of
from backend.analysis.scores import Options, notes_of
from backend.analysis.table.response_table import Answers
from backend.experiment.judgments import method_named
from backend.foundation.errors import InvalidInput

PERCENT = "percent"
CHANGED, EQUIVALENT, CHANGED_LITTLE, UNDECIDED = "changed", "equivalent", "changed_within_margin", "undecided"


@dataclass(frozen=True)
class Run:
    """The responses of one run."""

    name: str
    answers: Answers
    pool: frozenset[str] = frozenset()
    """The names of all its stimuli, also of those that nobody saw; empty if they are not known."""

    @property
    def stimuli(self) -> frozenset[str]:
        """The names of its stimuli: of all if they are known, else of those in its responses."""
        column = self.answers.texts.get("stimulus")
        return self.pool or (frozenset() if column is None else frozenset(map(str, column.names)) - {""})

    def is_of_one_study(self, other: "Run") -> bool:
        """Return whether both are runs of one study by other people, with stimuli and models in common."""
        models = (frozenset(run.answers.model.names) - {""} for run in (self, other))
        return (
            self.answers.method == other.answers.method
            and self.answers.is_simulated == other.answers.is_simulated
            and not self.stimuli.isdisjoint(other.stimuli)
            and not next(models).isdisjoint(next(models))
            and _sessions(self).isdisjoint(_sessions(other))
        )


def replication(runs: Sequence[Run], level: float = 0.95, margin: float | None = None) -> dict[str, Any]:
    """Return the scores of all runs and how they differ, as plain data.

    Args:
        runs: two or more, in their order.
        margin: the difference, in the unit of the scores, from which on scores are not equivalent; default
            5 percentage points; without one, as of ms, nothing is tested for equivalence.

    Returns:
        `method`, `unit`, `simulated`, `level`, `margin`; `runs` (`run`, `evaluators`, `responses`); `scores`
        (`model`, `run`, `score`, `ci`, `evaluators`); `differences` (`model`, `a`, `b`, `difference`: b's
        score less a's, `ci`, `t`, `df`, `p`, `p_holm`, `of`, `shared` and `stimuli`: numbers of stimuli that
        both or either showed, None if they are not named, `share_of_pictures`, `equivalence`, `verdict`);
        `trend` (`model`, `change`, `ci`, `t`, `df`, `p`, `p_holm`); `notes`.

    Raises:
        InvalidInput: runs of other methods or stimuli, without a common model, or one that is the same twice.
    """
    _check(runs)
    unit = method_named(runs[0].answers.method).unit
    margin = MARGIN if margin is None and unit == PERCENT else margin
    if unit == PERCENT and margin is not None and not 0 < margin < CHANCE:
        raise InvalidInput(f"margin must be between 0 and 50 percentage points, not {margin:g}")
    of_runs = [scores_of(run.answers.method).run_scores(run.answers, level) for run in runs]
    rows = [_rows(run, level) for run in runs]
    models = _common_models(runs, rows)
    _check_stimuli(runs, of_runs)
    return {
        "method": runs[0].answers.method,
        "unit": unit,
        "simulated": any(run.answers.is_simulated for run in runs),
        "level": level,
        "margin": margin,
        "runs": [_of_run(run) for run in runs],
        "scores": [
            {"model": model, "run": run.name, **own[model]}
            for model in models
            for run, own in zip(runs, rows, strict=True)
            if model in own
        ],
        "differences": _differences(runs, of_runs, models, level, margin),
        "trend": _trend(of_runs, models, level) if len(runs) > 2 else [],
        "notes": [*_notes(runs, rows, of_runs, models)],
    }


def _of_run(run: Run) -> dict[str, Any]:
    answers = run.answers
    return {"run": run.name, "evaluators": len(answers.evaluator.names), "responses": answers.given}


def _rows(run: Run, level: float) -> dict[str, dict[str, Any]]:
    """Return score, interval and number of evaluators by model, as scores have them."""
    rows = scores_of(run.answers.method).model_rows(run.answers, Options(level=level))
    return {
        row["model"]: {
            "score": row["score"],
            "ci": (row.get("interval") or row)["ci"],
            "evaluators": row["evaluators"],
        }
        for row in rows
    }


def _check(runs: Sequence[Run]) -> None:
    """Check that runs can be compared, apart from their models and stimuli."""
    names = [run.name for run in runs]
    if len(runs) < 2:
        raise InvalidInput(f"two runs or more are compared, and there is only {', '.join(names) or 'none'}")
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InvalidInput(f"{twice[0]} is named twice; a run is compared with other ones")
    for run in runs:
        if not len(run.answers):
            raise InvalidInput(f"{run.name} has no responses to compare")
    methods = {run.answers.method: run.name for run in reversed(runs)}
    if len(methods) > 1:
        told = " and ".join(f"{name} of {method_named(key).title}" for key, name in [*methods.items()][::-1])
        raise InvalidInput(f"runs of one study have one method, and these are {told}")
    if len({run.answers.is_simulated for run in runs}) > 1:
        raise InvalidInput(
            "sessions of some runs are simulated and those of others are not; compare one kind"
        )
    sessions = [_sessions(run) for run in runs]
    for (one, mine), (other, theirs) in combinations(zip(runs, sessions, strict=True), 2):
        if same := mine & theirs:
            raise InvalidInput(
                f"{one.name} and {other.name} have {len(same):,} sessions in common, such as {min(same)}: "
                "they are one run twice, or parts of one; compare runs by different people"
            )


def _sessions(run: Run) -> set[str]:
    column = run.answers.texts.get("session")
    return {str(name) for name in column.names} - {""} if column is not None else set()


def _common_models(runs: Sequence[Run], rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the models of two runs or more, in the order of the first that has them."""
    every = [*dict.fromkeys(model for own in rows for model in own)]
    models = [model for model in every if sum(model in own for own in rows) > 1]
    if not models:
        told = "; ".join(f"{run.name} has {', '.join(own)}" for run, own in zip(runs, rows, strict=True))
        raise InvalidInput(f"no model was judged in two of these runs: {told}")
    is_relative = method_named(runs[0].answers.method).unit not in (PERCENT, "ms")
    if is_relative and len({frozenset(own) for own in rows}) > 1:
        told = "; ".join(f"{run.name}: {', '.join(own)}" for run, own in zip(runs, rows, strict=True))
        raise InvalidInput(
            "strengths are relative to the models of their tournament, so that runs need the same models, "
            f"and these have others: {told}"
        )
    return models


def _check_stimuli(runs: Sequence[Run], of_runs: Sequence[Mapping[str, RunScore]]) -> None:
    """Check that each run has stimuli of the first, where both name some."""
    names = [run.stimuli for run in runs]
    for run, own in zip(runs[1:], names[1:], strict=True):
        if names[0] and own and names[0].isdisjoint(own):
            raise InvalidInput(
                f"{runs[0].name} and {run.name} have no stimulus in common, so that they are no runs of one "
                "study; judge the models in one study to compare them"
            )


def _differences(
    runs: Sequence[Run],
    of_runs: Sequence[Mapping[str, RunScore]],
    models: Sequence[str],
    level: float,
    margin: float | None,
) -> list[dict[str, Any]]:
    """Return the rows of all models and pairs of runs, with p-values corrected for their number."""
    rows, estimates = [], []
    for model in models:
        for (a, one), (b, other) in combinations(zip(runs, of_runs, strict=True), 2):
            if model not in one or model not in other:
                continue
            pair = one[model], other[model]
            estimate = contrast(pair, (-1.0, 1.0), level)
            estimates.append(estimate)
            rows.append(
                {
                    "model": model,
                    "a": a.name,
                    "b": b.name,
                    "difference": estimate.value,
                    **_tested(estimate, level),
                    **_stimuli(*pair),
                    "of": "evaluators" if estimate.pictures is None else "evaluators and pictures",
                    "share_of_pictures": estimate.share_of_pictures,
                }
            )
    corrected = holm([row["p"] for row in rows])
    sizes = _equivalences(estimates, level, margin)
    return [
        {**row, "p_holm": p, "equivalence": size, "verdict": _verdict(p, size, level)}
        for row, p, size in zip(rows, corrected, sizes, strict=True)
    ]


def _tested(estimate: Estimate, level: float) -> dict[str, Any]:
    """Return `t`, `df`, `p` and `ci`; None if nothing varies, which does not say how sure it is."""
    if not estimate.total.variance > 0:
        return dict.fromkeys(("t", "df", "p", "ci"))
    found = estimate.t_test(level)
    return {**found, "df": None if np.isinf(found["df"]) else found["df"]}


def _stimuli(one: RunScore, other: RunScore) -> dict[str, Any]:
    if not (one.sides and other.sides):
        return {"shared": None, "stimuli": None}
    return {"shared": len(one.shown & other.shown), "stimuli": len(one.shown | other.shown)}


def _equivalences(
    estimates: Sequence[Estimate], level: float, margin: float | None
) -> list[dict[str, Any] | None]:
    """Return the test of equivalence of each difference; None if it does not vary."""
    varying = [one for one in estimates if one.total.variance > 0]
    total = [one.total for one in varying]
    columns = (np.array([getattr(one, name) for one in total], float) for name in ("variance", "df", "third"))
    apart = Estimate(np.array([one.value for one in varying]), Component(*columns))
    tests = iter(equivalence(apart, level, margin) if varying else [])
    return [next(tests) if one.total.variance > 0 else None for one in estimates]


def _verdict(p: float | None, size: Mapping[str, Any] | None, level: float) -> str:
    is_apart = p is not None and p < 1 - level
    is_within = size is not None and size["p_holm"] is not None and size["p_holm"] < 1 - level
    if is_within:
        return CHANGED_LITTLE if is_apart else EQUIVALENT
    return CHANGED if is_apart else UNDECIDED


def _trend(
    of_runs: Sequence[Mapping[str, RunScore]], models: Sequence[str], level: float
) -> list[dict[str, Any]]:
    """Return the change by a straight line from the first run to the last, of models with three or more."""
    rows = []
    for model in models:
        places = [place for place, own in enumerate(of_runs) if model in own]
        if len(places) < 3:
            continue
        apart = np.array(places) - np.mean(places)
        weights = apart / (apart @ apart) * (places[-1] - places[0])
        estimate = contrast([of_runs[place][model] for place in places], weights.tolist(), level)
        rows.append(
            {"model": model, "runs": len(places), "change": estimate.value, **_tested(estimate, level)}
        )
    corrected = holm([row["p"] for row in rows])
    return [{**row, "p_holm": p} for row, p in zip(rows, corrected, strict=True)]


def _notes(
    runs: Sequence[Run],
    rows: Sequence[Mapping[str, Any]],
    of_runs: Sequence[Mapping[str, RunScore]],
    models: Sequence[str],
) -> list[str]:
    """Return what is missing in some runs, and what is not taken into account."""
    notes = []
    every = dict.fromkeys(model for own in rows for model in own)
    for run, own, scored in zip(runs, rows, of_runs, strict=True):
        if missing := [model for model in every if model not in own]:
            notes.append(f"{run.name} has no responses on {', '.join(missing)}")
        if few := [model for model in models if model in own and model not in scored]:
            notes.append(
                f"{run.name}: {', '.join(few)} cannot be tested, which takes two evaluators and finite scores"
            )
        notes += [f"{run.name}: {note}" for note in notes_of(run.answers)]
    return notes
