"""What a plan of looks decides from the answers so far: stop, go on, or drop a model, at each look reached.

A look counts the finished evaluators of each model whom no rule excludes, in the order in which they
finished; it uses the first of each model only, so that the same answers give the same decisions whenever they
are asked for. A model that is dropped keeps the evaluators of that look; where evaluators judge several
models, as in tournaments, none is dropped.

A pair is apart, or equal, if its p-value for several pairs is below the look's nominal error: Tukey's over
evaluators and pictures, or Holm's where evaluators judge several models. The ranks of a model are those that
the pairs so far leave open.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from backend.analysis.distributions.inference import holm, simultaneous, t_below, t_quantile
from backend.analysis.judgment_scores import scores_of
from backend.analysis.planning.boundaries import bias_at_stop, p_at_stop
from backend.analysis.planning.family_errors import family_errors, repeated_p
from backend.analysis.planning.look_studies import conditional_power
from backend.analysis.planning.looks import FUTILE_BELOW, LookPlan
from backend.analysis.planning.power import critical
from backend.analysis.planning.simulated_looks import at_stop
from backend.analysis.scores import Options
from backend.analysis.table.designs import BETWEEN, WITHIN, design_of
from backend.analysis.table.response_table import Answers, filter_rows
from backend.experiment.judgments import judgment_of, method_named
from backend.experiment.planned_looks import (
    ALL_PAIRS,
    EQUAL_WITHIN,
    FEWEST,
    FUTILITY,
    HALF_WIDTH,
    NEIGHBOURS,
    RANKS,
)
from backend.experiment.records import REAL
from backend.foundation.errors import InvalidInput

GO_ON, DROP, STOP = "go on", "drop", "stop"
_LEAST_P, _RESAMPLES = 1e-15, 2
_STUDIES = 1000
"""Simulated studies for the bias of several models at the stop."""
_NO_PAIR = {"difference": None, "ci": None, "p": None, "df": None}
Pair = tuple[str, str]


def decisions(
    answers: Answers,
    finished_at: Mapping[str, str],
    plan: LookPlan,
    models: Sequence[str] = (),
    with_bias: bool = True,
    recorded: Sequence[Mapping[str, Any]] = (),
    is_closed: bool = False,
) -> dict[str, Any]:
    """Return the decision of each look that is reached, as plain data.

    Returns:
        `looks`, one a look, with `evaluators` of each model, the names of those who are `new`, `scores`,
        `pairs`, `decision` and `reason`, and `data`, the SHA-256 of the evaluators' values that it used;
        `stopped` (None while it goes on) with what holds under stopping; `waits_for`, by model the
        evaluators that the next look still needs; `saved` evaluators; `errors`, the p for all pairs below
        which each look stops; SHA-256: `digest` of the plan, `data` of the last look.

    Args:
        finished_at: time at which each evaluator finished (UTC, ISO 8601), by name.
        models: the study's, since a look waits for those whom nobody has judged yet; default, those of the
            answers.
        with_bias: whether to simulate the bias at the stop of more than two models.
        recorded: decisions of the first looks, which stand, and whose evaluators come first.
        is_closed: whether nobody else comes: if the last look is not reached, the evaluators so far are the
            last one, with all of the error that is left.

    Raises:
        InvalidInput: fewer than two models where models are compared, or an aim that the answers do not
            allow.
    """
    how = scores_of(answers.method)
    answers = in_order_of_names(how.sampled(answers))
    state = LookState(answers, *places_of(answers, finished_at, models, recorded), plan)
    plan.aim.check(state.models, method_named(answers.method).unit)
    return decided(state, plan, finished_at, recorded, is_closed, with_bias)


def decided(
    state: "LookState",
    plan: LookPlan,
    finished_at: Mapping[str, str],
    recorded: Sequence[Mapping[str, Any]],
    is_closed: bool,
    with_bias: bool,
) -> dict[str, Any]:
    """Return the decisions of all looks that are reached from a state before the first; as `decisions`."""
    answers = state.answers
    planned, digest, errors = {**asdict(plan), "aim": str(plan.aim)}, plan.digest, state.errors.tolist()
    looks: list[dict[str, Any]] = []
    for each in recorded:
        state.resume(each)
        looks.append(dict(each))
    while not state.is_over and (is_closed or not state.missing):
        looks.append(state.close() if state.missing else state.decide())
        looks[-1] |= {"new": state.new_names(looks[:-1]), "data": state.data_digest(finished_at)}
    stopped = looks[-1].get("stopped") if recorded and len(looks) == len(recorded) else None
    if state.is_over and not stopped:
        plan = state.plan
        stopped = _stopped(looks[-1], plan)
        if with_bias and stopped["pairs"] and len(state.models) > 2:
            _add_bias(stopped["pairs"], state.data_used(), plan)
    return {
        "method": answers.method,
        "unit": method_named(answers.method).unit,
        "simulated": answers.is_simulated,
        "plan": planned,
        "digest": digest,
        "errors": errors,
        "data": looks[-1]["data"] if looks else None,
        "looks": looks,
        "stopped": stopped,
        "waits_for": {} if state.is_over else state.missing,
        "saved": state.saved,
    }


def in_order_of_names(answers: Answers) -> Answers:
    """Return answers whose models and evaluators have codes in the order of their names.

    Resamples depend on the order of evaluators, and what is recorded on that of models.
    """
    return replace(answers, model=answers.model.in_order(), evaluator=answers.evaluator.in_order())


def places_of(
    answers: Answers,
    finished_at: Mapping[str, str],
    of_study: Sequence[str],
    recorded: Sequence[Mapping[str, Any]],
) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return the models, and of each judge the model's code and the place among its judges, from 0.

    Judges of recorded looks come first, then others by time.
    Each evaluator of a tournament judges all models, so that codes are 0 there.
    """
    judges, names = answers.judges, answers.evaluator.names
    missing = [name for name in names if str(name) not in finished_at]
    if missing:
        raise InvalidInput(f"nothing says when {missing[0]} finished")
    codes, models = judges.model, [str(name) for name in answers.model.names]
    models += [name for name in of_study if name not in models]
    if judgment_of(answers.method).counts_pairs:
        columns = (answers.texts[side] for side in ("left", "right"))
        used = {str(column.names[code]) for column in columns for code in np.unique(column.codes)}
        codes, models = np.zeros_like(codes), sorted({*used, *of_study} - {REAL})
    looked = {
        (model, name): place
        for place, look in enumerate(recorded)
        for model, some in look["new"].items()
        for name in some
    }
    people = [str(names[code]) for code in judges.evaluator]
    keys = [
        (looked.get((models[code], name), len(recorded)), finished_at[name], name)
        for code, name in zip(codes, people, strict=True)
    ]
    seen: list[dict[tuple[int, str, str], int]] = [{} for _ in models]
    place = np.zeros(len(keys), int)
    for judge in sorted(range(len(keys)), key=keys.__getitem__):
        of_model = seen[codes[judge]]
        place[judge] = of_model.setdefault(keys[judge], len(of_model))
    return models, codes, place


@dataclass
class LookState:
    """The looks so far."""

    answers: Answers
    models: list[str]
    codes: np.ndarray
    """The model of each judge."""
    places: np.ndarray
    plan: LookPlan
    look: int = 0
    is_over: bool = False
    used: dict[str, int] = field(default_factory=dict)
    """Evaluators of each model that the last look used."""
    dropped: dict[str, int] = field(default_factory=dict)
    """Evaluators of each model that was dropped."""
    closed: dict[Pair, str] = field(default_factory=dict)
    """Pairs that are decided, by their names in order, and how."""
    ahead: set[Pair] = field(default_factory=set)
    """Pairs that are apart, the better one first."""
    scored: tuple[int, int] = (0, 0)
    """Models, and pairs, of which the look's scores have simultaneous intervals."""
    repeated: dict[Pair, float] = field(default_factory=dict)
    """Repeated p-values so far, by the names in order."""

    @property
    def is_tournament(self) -> bool:
        return judgment_of(self.answers.method).counts_pairs

    @cached_property
    def design(self) -> str:
        """Who judges which models (`designs.py`)."""
        return WITHIN if self.is_tournament else design_of(self.answers).kind

    @property
    def is_tukey(self) -> bool:
        """Whether p-values of pairs are Tukey's; else they are Holm's."""
        return self.design == BETWEEN

    @cached_property
    def errors(self) -> np.ndarray:
        """The p for all pairs below which each look stops."""
        return family_errors(self.plan, len(self.models), self.is_tukey, self.pairs)

    @property
    def pairs(self) -> int:
        """Number of pairs that are tested together."""
        return len(self.models) * (len(self.models) - 1) // 2

    @property
    def counts(self) -> dict[str, int]:
        """Finished evaluators of each model."""
        found = [int(self.places[self.codes == code].max(initial=-1)) + 1 for code in range(len(self.models))]
        return dict(zip(self.models, found[:1] * len(found) if self.is_tournament else found, strict=True))

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
        if not self.is_over or self.design not in (BETWEEN, WITHIN):
            return None
        saved = [self.plan.most - self.used.get(model, 0) for model in self.models]
        return sum(saved) if self.design == BETWEEN else saved[0]

    def data_used(self) -> Answers:
        """Return the answers that the last look used."""
        limits = np.array([self.used.get(name, 0) for name in self.models])
        is_used = self.places < limits[self.codes]
        return filter_rows(self.answers, is_used[self.answers.judges.of_response])

    def new_names(self, before: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
        """Return the evaluators of each model whom this look used, and none of those before, sorted."""
        judges, names = self.answers.judges, self.answers.evaluator.names
        found = {}
        for code, model in enumerate(self.models[:1] if self.is_tournament else self.models):
            is_used = (self.codes == code) & (self.places < self.used.get(model, 0))
            known = {name for look in before for name in look["new"].get(model, ())}
            found[model] = sorted({str(names[each]) for each in judges.evaluator[is_used]} - known)
        return found

    def resume(self, recorded: Mapping[str, Any]) -> None:
        """Take over a decision that was recorded."""
        self.look, self.used = recorded["look"], dict(recorded["evaluators"])
        self.dropped |= {model: self.used[model] for model in recorded["dropped"]}
        for row in recorded["pairs"]:
            if row["repeated_p"] is not None:
                self.repeated[_key(row)] = row["repeated_p"]
            if row["state"] != "open":
                self.closed[_key(row)] = row["state"]
            if row["p"] is not None and row["p"] < recorded["error"]:
                self.ahead.add((row["a"], row["b"]) if row["difference"] > 0 else (row["b"], row["a"]))
        self.is_over = recorded["decision"] == STOP

    def close(self) -> dict[str, Any]:
        """Return the decision of a last look that was not planned, at the evaluators so far.

        Models may have different numbers of them; their harmonic mean stands for the information.
        """
        planned = self.plan.looks[self.look]
        used = {model: self.dropped.get(model, count) for model, count in self.counts.items()}
        coming = [count for model, count in used.items() if model not in self.dropped]
        before = self.plan.looks[self.look - 1] if self.look else FEWEST - 1
        mean = int(len(coming) / sum(1 / max(count, 0.5) for count in coming))
        reason = f"closed before {planned} evaluators of each model"
        if mean <= before or min(coming) < FEWEST:
            self.look, self.is_over = self.look + 1, True
            few = "no more evaluators than at the last look" if self.look > 1 else f"fewer than {FEWEST}"
            return {
                "look": self.look, "evaluators": dict(self.used), "error": None, "scores": [], "pairs": [],
                "decision": STOP, "dropped": [], "is_closed": True,
                "reason": f"{reason}, with {few}: nothing is tested",
            }  # fmt: skip
        self.plan = self.plan.ended(self.look, mean)
        self.__dict__.pop("errors", None)  # those of the plan before
        made = self.decide(used)
        return {**made, "reason": f"{reason}; {made['reason']}"}

    def data_digest(self, finished_at: Mapping[str, str]) -> str | None:
        """Return the SHA-256 of the evaluators' values that the looks used; None before the first.

        Of a tournament, it is that of its answers.
        """
        if not self.used:
            return None
        data = self.data_used()
        if self.is_tournament:
            columns = (data.evaluator, *(data.texts[name] for name in ("left", "right", "response")))
            cells = zip(*([str(c.names[code]) for code in c.codes] for c in columns), strict=True)
            rows = sorted([*row, finished_at[row[0]]] for row in cells)
        else:
            rows = sorted(
                [model, str(name), finished_at[str(name)], f"{value:.9g}"]
                for model, own in scores_of(self.answers.method).values(data).items()
                for name, value in zip(own.evaluators, own.numbers.tolist(), strict=True)
            )
        return hashlib.sha256(json.dumps(rows).encode()).hexdigest()

    def decide(self, used: Mapping[str, int] | None = None) -> dict[str, Any]:
        """Return the decision of the next look, which is reached, or is at the `used` evaluators."""
        plan, n = self.plan, self.plan.looks[self.look]
        self.used = dict(used or {model: self.dropped.get(model, n) for model in self.models})
        error, data = float(self.errors[self.look]), self.data_used()
        found = self._scored(data)
        scores = [
            {"model": row["model"], "score": row["score"], "ci": self._ci(row)}
            for row in found["models"]
            if self.is_shown(row["model"])
        ]
        rows = self._pairs(found, error) if plan.aim.kind != HALF_WIDTH else []
        if plan.aim.kind == RANKS:
            scores = [{**row, "ranks": self._ranks(row["model"])} for row in scores]
        self.is_over, dropped = self._judge(scores, rows)
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
            "is_closed": used is not None,
            "reason": reason,
        }

    def is_shown(self, model: str) -> bool:
        """Return whether a look's decision has the score of a model."""
        return model != REAL or not self.is_tournament

    def _ci(self, row: Mapping[str, Any]) -> list[float] | None:
        """Return the interval of a score over evaluators and pictures; None if it has none."""
        found: list[float] | None = (
            row["ci"] if self.is_tournament else row["interval"] and row["interval"]["ci"]
        )
        return found

    def _scored(self, data: Answers) -> dict[str, Any]:
        """Return scores, whose p-values of pairs are for all of them together, and so are their intervals."""
        how, level = scores_of(data.method), self.plan.level
        if not self.is_tournament:  # no decision rests on the papers' bootstrap, which takes half of the time
            return how.overall(data, Options(level=level, iterations=_RESAMPLES))
        found = how.overall(data, Options(level=level))
        pairs = [row for row in found["pairs"] if REAL not in (row["a"], row["b"])]  # each alone
        p = holm([row["p"] for row in pairs])
        return {**found, "pairs": [{**row, "p": one} for row, one in zip(pairs, p, strict=True)]}

    def _alone(self, level: float) -> float:
        """Return the level of each pair's own interval, where all are simultaneous at `level`."""
        return simultaneous(level, max(self.pairs, 1))

    def _pairs(self, scores: Mapping[str, Any], error: float) -> list[dict[str, Any]]:
        """Return the test of each pair that the aim is about, and close those that are decided."""
        aim, order = self.plan.aim, [row["model"] for row in scores["models"] if row["model"] in self.models]
        tested = {_key(row): row for row in (scores["over_pictures"] or scores)["pairs"]}
        self.scored = len({model for pair in tested for model in pair}), len(tested)
        # pairs of models none of whose evaluators differ have no test
        rows = [
            self.as_tested(tested.get(_key({"a": a, "b": b}), {"a": a, "b": b, **_NO_PAIR}))
            for a, b in combinations(order, 2)
            if self.is_tested((a, b))
        ]
        ps = self.p_values(rows)
        found = []
        for row, p in zip(rows, ps, strict=True):
            pair = _key(row)
            if not self._counts((row["a"], row["b"]), order):
                continue
            if p is not None:
                models = len(self.models)
                own = repeated_p(self.plan, models, self.is_tukey, p, self.look + 1, self.pairs)
                self.repeated[pair] = min(self.repeated.get(pair, 1.0), own)
            if p is not None and p < error:
                self.closed[pair] = "equal" if aim.kind == EQUAL_WITHIN else "apart"
                is_first = row["difference"] > 0
                self.ahead.add((row["a"], row["b"]) if is_first else (row["b"], row["a"]))
            elif aim.kind == FUTILITY and p is not None and pair not in self.closed and self._is_futile(row):
                self.closed[pair] = "given up"
            found.append(
                {
                    "a": row["a"], "b": row["b"], "difference": row["difference"], "ci": row["ci"],
                    "repeated_ci": self._repeated_ci(row, error), "p": p,
                    "repeated_p": self.repeated.get(pair), "state": self.closed.get(pair, "open"),
                }
            )  # fmt: skip
        return found

    def is_tested(self, pair: Pair) -> bool:
        """Return whether a pair is among those that are tested together."""
        return True

    def as_tested(self, row: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a pair of the scores as it is tested."""
        return row

    def p_values(self, rows: Sequence[Mapping[str, Any]]) -> list[float | None]:
        """Return the p-values of pairs for all that are tested together."""
        if self.plan.aim.kind == EQUAL_WITHIN:
            return holm([self._p_of_equality(row) for row in rows])
        return [row["p"] for row in rows]

    def _counts(self, pair: Pair, order: Sequence[str]) -> bool:
        """Return whether the aim is about a pair."""
        wanted = self.plan.aim.pairs
        if wanted == NEIGHBOURS:
            return abs(order.index(pair[0]) - order.index(pair[1])) == 1
        return wanted == ALL_PAIRS or wanted in pair

    def _ranks(self, model: str) -> list[int]:
        """Return the best and the worst rank (from 1) that the pairs that are apart leave to a model."""
        better, worse = ({pair for pair in self.ahead if pair[side] == model} for side in (1, 0))
        return [1 + len(better), len(self.models) - len(worse)]

    def spread(self, row: Mapping[str, Any]) -> tuple[float, float]:
        """Return the variance of a pair's difference, and its degrees of freedom."""
        df = row.get("df") or sum(self.used.values()) - len(self.models)  # Tukey's
        level, (models, pairs) = self.plan.level, self.scored
        if self.design == BETWEEN:
            bar = float(critical(level, models, np.array(df)))
        else:
            bar = float(t_quantile(df, level if self.is_tournament else simultaneous(level, pairs)))
        return ((row["ci"][1] - row["ci"][0]) / 2 / bar) ** 2, df

    def bar(self, level: float, df: float) -> float:
        """Return the critical value of t of a pair among all."""
        if self.is_tukey:
            return float(critical(level, len(self.models), np.array(df)))
        return float(t_quantile(df, self._alone(level)))

    def _repeated_ci(self, row: Mapping[str, Any], error: float) -> list[float] | None:
        """Return the interval of a difference at the level of the look, for all pairs together."""
        if row["ci"] is None:
            return None
        variance, df = self.spread(row)
        half = self.bar(1 - error, df) * float(np.sqrt(variance))
        return [row["difference"] - half, row["difference"] + half]

    def _p_of_equality(self, row: Mapping[str, Any]) -> float | None:
        """Return the p-value of two one-sided tests that a pair differs by the margin or more."""
        if row["ci"] is None:
            return None
        variance, df = self.spread(row)
        beyond = (abs(row["difference"]) - (self.plan.aim.number or 0.0)) / np.sqrt(variance)
        return float(t_below(beyond, df))

    def _is_futile(self, row: Mapping[str, Any]) -> bool:
        if row["ci"] is None:
            return False
        variance, df = self.spread(row)
        later = variance * self.plan.fractions[self.look]
        bar = np.array(self.bar(1 - float(self.errors[-1]), df))
        size, wanted = np.abs(np.array(row["difference"])), self.plan.aim.number or 0.0
        return bool(conditional_power(size, np.array(variance), np.array(later), wanted, bar) < FUTILE_BELOW)

    def _judge(
        self, scores: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]]
    ) -> tuple[bool, list[str]]:
        """Return whether the aim is reached, and the models that are dropped at this look."""
        aim = self.plan.aim
        wanted = aim.number or 0.0
        if aim.kind == HALF_WIDTH:
            narrow = ((row["model"], row["ci"]) for row in scores)
            widest = self.plan.widest(self.look)
            done = {model for model, ci in narrow if ci and (ci[1] - ci[0]) / 2 <= widest}
        elif aim.kind == RANKS:
            done = {row["model"] for row in scores if row["ranks"][1] - row["ranks"][0] < wanted}
        else:
            open_models = {row[side] for row in rows if row["state"] == "open" for side in ("a", "b")}
            tested = {row[side] for row in rows for side in ("a", "b")}
            done = tested - open_models if aim.kind != EQUAL_WITHIN else set()
            if not open_models:
                return True, []
        if done >= {*self.models} - {*self.dropped} and done:
            return True, []
        dropped = sorted(done - {*self.dropped}) if self.is_tukey else []
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


def _key(row: Mapping[str, Any]) -> Pair:
    """Return the models of a pair in the order of their names, since that of scores changes."""
    first, second = sorted((row["a"], row["b"]))
    return first, second


def _stopped(last: Mapping[str, Any], plan: LookPlan) -> dict[str, Any]:
    """Return what holds under stopping: of two models `p` and `bias`, of every pair `repeated_p` and `bias`.

    `p` counts studies that stop earlier as farther from no difference; `bias` is that of the estimate at the
    stop if the true difference is the estimate. Both take information to grow with evaluators, and are None
    of more models, whose repeated p-values hold instead.
    """
    stop: dict[str, Any] = {"look": last["look"], "reason": last["reason"], "p": None, "bias": None}
    rows = last["pairs"]
    stop["pairs"] = [
        {name: row[name] for name in ("a", "b", "difference", "repeated_p")} | {"bias": None, "covers": None}
        for row in rows
    ]
    is_tested = len(last["evaluators"]) == 2 and plan.aim.tests_differences and rows
    if not is_tested or not rows[0]["difference"] or rows[0]["p"] is None:
        return stop
    (row,), at = rows, last["look"] - 1
    z = float(t_quantile(np.inf, 1 - max(row["p"], _LEAST_P)))
    size = abs(row["difference"])
    information = plan.fractions * (z / size) ** 2 / plan.fractions[at] if z else plan.fractions
    stop["bias"] = stop["pairs"][0]["bias"] = (
        float(bias_at_stop(information, plan.bounds, size)) if z else None
    )
    return {**stop, "p": p_at_stop(information[: at + 1], plan.bounds[:at], z)}


def _add_bias(pairs: Sequence[dict[str, Any]], data: Answers, plan: LookPlan) -> None:
    """Add to each pair its bias, and how often its usual interval covers, in studies like this one.

    They are simulated with the scores and variances that were found, as far as a plan can be made of them.
    """
    try:
        spreads = scores_of(data.method).spreads(data)
    except InvalidInput:  # an evaluator with one answer
        return
    spreads = [spread for spread in spreads if spread.part == 1 and spread.varies]
    aim = plan.aim if plan.aim.pairs in (ALL_PAIRS, NEIGHBOURS) else replace(plan.aim, pairs="")
    first = [spread for spread in spreads if spread.model == plan.aim.pairs]
    spreads = first + [spread for spread in spreads if spread not in first]
    names = [spread.model for spread in spreads]
    if not {row[side] for row in pairs for side in ("a", "b")} <= {*names}:
        return
    found = at_stop(spreads, replace(plan, aim=aim), _STUDIES)
    for k, pair in enumerate(combinations(names, 2)):
        for row in pairs:
            if {row["a"], row["b"]} == {*pair}:
                row |= {name: found[name][k] for name in ("bias", "covers")}
