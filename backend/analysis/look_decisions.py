"""What a plan of looks decides from the answers so far: stop, go on, or drop a model, at each look reached.

A look counts the finished evaluators of each model whom no rule excludes, in the order in which they
finished; it uses the first of each model only, so that the same answers give the same decisions whenever they
are asked for. A model that is dropped keeps the evaluators of that look.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from backend.analysis.distributions.inference import simultaneous, t_quantile
from backend.analysis.judgment_scores import scores_of
from backend.analysis.planning.boundaries import bias_at_stop, p_at_stop
from backend.analysis.planning.look_studies import conditional_power
from backend.analysis.planning.looks import (
    ALL_PAIRS,
    EQUAL_WITHIN,
    FUTILE_BELOW,
    FUTILITY,
    HALF_WIDTH,
    NEIGHBOURS,
    LookPlan,
)
from backend.analysis.planning.power import critical
from backend.analysis.scores import Options
from backend.analysis.table.designs import BETWEEN, design_of
from backend.analysis.table.response_table import Answers, filter_rows
from backend.experiment.judgments import method_named
from backend.foundation.errors import InvalidInput

GO_ON, DROP, STOP = "go on", "drop", "stop"
_LEAST_P = 1e-15
Pair = tuple[str, str]


def decisions(answers: Answers, finished_at: Mapping[str, str], plan: LookPlan) -> dict[str, Any]:
    """Return the decision of each look that is reached, as plain data.

    Returns:
        `looks`, one a look, with `evaluators` of each model, `scores`, `pairs`, `decision` and `reason`;
        `stopped` (None while it goes on) with what holds under stopping; `waits_for`, by model the
        evaluators that the next look still needs; `saved` evaluators; SHA-256: `digest` of the plan, `data`
        of the evaluators' values that the looks used.

    Args:
        finished_at: time at which each evaluator finished (UTC, ISO 8601), by name.

    Raises:
        InvalidInput: a tournament, fewer than two models where models are compared, or an aim that the
            answers do not allow.
    """
    how = scores_of(answers.method)
    answers = how.sampled(answers)
    _check(answers, plan)
    state = _State(answers, _places(answers, finished_at), plan)
    looks: list[dict[str, Any]] = []
    while state.look < len(plan.looks) and not state.missing and not state.is_over:
        looks.append(state.decide())
    return {
        "method": answers.method,
        "unit": method_named(answers.method).unit,
        "simulated": answers.is_simulated,
        "plan": {**asdict(plan), "aim": str(plan.aim)},
        "digest": plan.digest,
        "data": state.data_digest(finished_at),
        "looks": looks,
        "stopped": _stopped(looks[-1], plan) if state.is_over else None,
        "waits_for": {} if state.is_over else state.missing,
        "saved": state.saved,
    }


def _check(answers: Answers, plan: LookPlan) -> None:
    models, unit = list(answers.model.names), method_named(answers.method).unit
    if unit == "log-odds":
        raise InvalidInput("looks are for scores of models, not for strengths of a tournament")
    if plan.aim.kind != HALF_WIDTH and len(models) < 2:
        raise InvalidInput(f"the aim {plan.aim} compares models; the answers are on one, {models[0]}")
    if plan.aim.pairs not in (ALL_PAIRS, NEIGHBOURS, *models):
        raise InvalidInput(f"there is no model {plan.aim.pairs!r}; there are {', '.join(models)}")
    if plan.aim.kind == EQUAL_WITHIN and (unit != "percent" or "stimulus" not in answers.texts):
        raise InvalidInput("equal-within needs shares of answers (percent) that name their stimuli")
    if plan.aim.kind == EQUAL_WITHIN and not (plan.aim.number or 0.0) < 50:
        raise InvalidInput(f"the margin must be below 50 points, not {plan.aim.number:g}")


def _places(answers: Answers, finished_at: Mapping[str, str]) -> np.ndarray:
    """Return the place of each judge among those of the same model, from 0."""
    judges, names = answers.judges, answers.evaluator.names
    missing = [name for name in names if str(name) not in finished_at]
    if missing:
        raise InvalidInput(f"nothing says when {missing[0]} finished")
    keys = [(finished_at[str(names[code])], str(names[code])) for code in judges.evaluator]
    place, seen = np.zeros(len(keys), int), dict.fromkeys(range(len(answers.model.names)), 0)
    for judge in sorted(range(len(keys)), key=keys.__getitem__):
        model = int(judges.model[judge])
        place[judge], seen[model] = seen[model], seen[model] + 1
    return place


@dataclass
class _State:
    """The looks so far."""

    answers: Answers
    places: np.ndarray
    plan: LookPlan
    look: int = 0
    is_over: bool = False
    used: dict[str, int] = field(default_factory=dict)
    """Evaluators of each model that the last look used."""
    dropped: dict[str, int] = field(default_factory=dict)
    """Evaluators of each model that was dropped."""
    closed: dict[Pair, str] = field(default_factory=dict)
    """Pairs that are decided, and how."""

    @property
    def counts(self) -> dict[str, int]:
        """Finished evaluators of each model."""
        codes = self.answers.judges.model
        return {name: int((codes == code).sum()) for code, name in enumerate(self.answers.model.names)}

    @property
    def missing(self) -> dict[str, int]:
        """Evaluators that the next look still needs, of each model that lacks some."""
        if self.look == len(self.plan.looks):
            return {}
        wanted = self.plan.looks[self.look]
        return {
            model: wanted - count
            for model, count in self.counts.items()
            if model not in self.dropped and count < wanted
        }

    @property
    def saved(self) -> int | None:
        """Evaluators saved against the fixed plan; None while it goes on, or if some judge several models."""
        if not self.is_over or design_of(self.answers).kind != BETWEEN:
            return None
        return self.plan.looks[-1] * len(self.counts) - sum(self.used.values())

    def data_used(self) -> Answers:
        """Return the answers that the last look used."""
        limits = np.array([self.used.get(name, 0) for name in self.answers.model.names])
        judges = self.answers.judges
        is_used = self.places < limits[judges.model]
        return filter_rows(self.answers, is_used[judges.of_response])

    def data_digest(self, finished_at: Mapping[str, str]) -> str | None:
        """Return the SHA-256 of the evaluators' values that the looks used; None before the first."""
        if not self.used:
            return None
        values = scores_of(self.answers.method).values(self.data_used())
        rows = sorted(
            [model, str(name), finished_at[str(name)], f"{value:.9g}"]
            for model, own in values.items()
            for name, value in zip(own.evaluators, own.numbers.tolist(), strict=True)
        )
        return hashlib.sha256(json.dumps(rows).encode()).hexdigest()

    def decide(self) -> dict[str, Any]:
        """Return the decision of the next look, which is reached."""
        plan, n = self.plan, self.plan.looks[self.look]
        self.used = {model: self.dropped.get(model, n) for model in self.counts}
        error, data = float(plan.errors[self.look]), self.data_used()
        usual, repeated = (self._scored(data, level) for level in (plan.level, 1 - error))
        scores = [
            {"model": row["model"], "score": row["score"], "ci": row["interval"] and row["interval"]["ci"]}
            for row in usual["models"]
        ]
        rows = self._pairs(usual, repeated, error) if plan.aim.kind != HALF_WIDTH else []
        self.is_over, dropped = self._judge(scores, rows, design_of(data).kind == BETWEEN)
        self.look += 1
        is_last = self.look == len(plan.looks)
        decision, reason = self._reason(is_last, dropped)
        self.is_over = self.is_over or is_last
        return {
            "look": self.look,
            "evaluators": dict(self.used),
            "error": error,
            "scores": scores,
            "pairs": rows,
            "decision": decision,
            "dropped": dropped if decision == DROP else [],
            "reason": reason,
        }

    def _scored(self, data: Answers, level: float) -> dict[str, Any]:
        options = Options(level=level)
        if self.plan.aim.kind == EQUAL_WITHIN:
            options = replace(options, margin=self.plan.aim.number or 0.0)
        return scores_of(data.method).overall(data, options)

    def _pairs(
        self, usual: Mapping[str, Any], repeated: Mapping[str, Any], error: float
    ) -> list[dict[str, Any]]:
        """Return the test of each pair that the aim is about, and close those that are decided."""
        kind, wider = self.plan.aim.kind, {}
        for row in (repeated["over_pictures"] or repeated)["pairs"]:
            wider[row["a"], row["b"]] = row["ci"]
        order = [row["model"] for row in usual["models"]]
        rows = []
        for row in (usual["over_pictures"] or usual)["pairs"]:
            pair = row["a"], row["b"]
            if not self._counts(pair, order):
                continue
            p = row["equivalence"]["p_holm"] if kind == EQUAL_WITHIN else row["p"]
            if p < error:
                self.closed[pair] = "equal" if kind == EQUAL_WITHIN else "apart"
            elif kind == FUTILITY and pair not in self.closed and self._is_futile(row, usual):
                self.closed[pair] = "given up"
            rows.append(
                {
                    "a": pair[0], "b": pair[1], "difference": row["difference"], "ci": row["ci"],
                    "repeated_ci": wider.get(pair), "p": p, "state": self.closed.get(pair, "open"),
                }
            )  # fmt: skip
        return rows

    def _counts(self, pair: Pair, order: Sequence[str]) -> bool:
        """Return whether the aim is about a pair."""
        wanted = self.plan.aim.pairs
        if wanted == NEIGHBOURS:
            return abs(order.index(pair[0]) - order.index(pair[1])) == 1
        return wanted == ALL_PAIRS or wanted in pair

    def _is_futile(self, row: Mapping[str, Any], usual: Mapping[str, Any]) -> bool:
        models, n = len(self.counts), self.plan.looks[self.look]
        if usual["design"] == BETWEEN:
            df = row.get("df", sum(self.used.values()) - models)
            bars = [critical(level, models, np.array(df)) for level in self._levels]
        else:
            pairs = models * (models - 1) // 2
            bars = [np.array(t_quantile(row["df"], simultaneous(level, pairs))) for level in self._levels]
        variance = ((row["ci"][1] - row["ci"][0]) / 2 / bars[0]) ** 2
        later = variance * n / self.plan.looks[-1]
        size, wanted = np.abs(np.array(row["difference"])), self.plan.aim.number or 0.0
        return bool(conditional_power(size, variance, later, wanted, bars[1]) < FUTILE_BELOW)

    @property
    def _levels(self) -> tuple[float, float]:
        return self.plan.level, 1 - float(self.plan.errors[-1])

    def _judge(
        self, scores: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]], may_drop: bool
    ) -> tuple[bool, list[str]]:
        """Return whether the aim is reached, and the models that are dropped at this look."""
        if self.plan.aim.kind == HALF_WIDTH:
            wanted = self.plan.aim.number or 0.0
            done = {
                row["model"] for row in scores if row["ci"] and (row["ci"][1] - row["ci"][0]) / 2 <= wanted
            }
        else:
            open_models = {row[side] for row in rows if row["state"] == "open" for side in ("a", "b")}
            tested = {row[side] for row in rows for side in ("a", "b")}
            done = tested - open_models if self.plan.aim.kind != EQUAL_WITHIN else set()
            if rows and not open_models:
                return True, []
        if done >= {*self.counts} - {*self.dropped} and done:
            return True, []
        dropped = sorted(done - {*self.dropped}) if may_drop else []
        self.dropped |= {model: self.used[model] for model in dropped}
        return False, dropped

    def _reason(self, is_last: bool, dropped: Sequence[str]) -> tuple[str, str]:
        aim = self.plan.aim
        if self.is_over:
            given_up = sum(state == "given up" for state in self.closed.values())
            if given_up:
                return (
                    STOP,
                    f"every pair is apart, or given up ({given_up}): a difference would hardly be found",
                )
            return STOP, f"the aim {aim} is reached"
        if is_last:
            return STOP, f"it is the last look; the aim {aim} is not reached"
        if dropped:
            return DROP, f"nothing is open about {', '.join(dropped)}"
        return GO_ON, f"the aim {aim} is not reached"


def _stopped(last: Mapping[str, Any], plan: LookPlan) -> dict[str, Any]:
    """Return what holds of two models under stopping; other numbers are None.

    `p` counts studies that stop earlier as farther from no difference; `bias` is that of the estimate at the
    stop if the true difference is the estimate. Both take information to grow with evaluators.
    """
    stop: dict[str, Any] = {"look": last["look"], "reason": last["reason"], "p": None, "bias": None}
    rows = last["pairs"]
    if (
        len(last["evaluators"]) != 2
        or not plan.aim.tests_differences
        or not rows
        or not rows[0]["difference"]
    ):
        return stop
    (row,), at = rows, last["look"] - 1
    z = float(t_quantile(np.inf, 1 - max(row["p"], _LEAST_P)))
    size = abs(row["difference"])
    information = plan.fractions * (z / size) ** 2 / plan.fractions[at] if z else plan.fractions
    return {
        **stop,
        "p": p_at_stop(information[: at + 1], plan.bounds[:at], z),
        "bias": bias_at_stop(information, plan.bounds, size) if z else None,
    }
