"""Scores of models from responses: the numbers of HYPE, with their intervals and tests.

HYPE-infinity: an evaluator's value is the share of their answers that were wrong; a model's score
is the mean over its evaluators, in percent (HYPE 2.2). HYPE-time: an evaluator's value is the mean
over blocks of the modal exposure of each block; a model's score is the mean over evaluators, in ms
(HYPE 2.1). Intervals are the bootstrap's over evaluators (HYPE 3), exact unless iterations are
asked for. Nothing is rounded and nothing is clipped.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from backend import bootstrap
from backend.errors import InvalidInput
from backend.records import FAKE, REAL
from backend.staircase import modal_exposure

UNITS = {"infinity": "percent", "time": "ms"}
_FALLBACK_SEED = 0


@dataclass
class Tally:
    """What one evaluator answered on one model, counted."""

    seen: Counter = field(default_factory=Counter)
    """Responses by truth."""
    wrong: Counter = field(default_factory=Counter)
    exposures: dict[Any, Counter] = field(default_factory=dict)
    """By block, how often each exposure was shown (keys as they came)."""

    @property
    def responses(self) -> int:
        return self.seen.total()

    def error(self, *truths: str) -> Fraction | None:
        """Return the share (0 to 1) of wrong answers on pictures of these truths; None without any."""
        seen = sum(self.seen[truth] for truth in truths)
        return Fraction(sum(self.wrong[truth] for truth in truths), seen) if seen else None

    def modal_ms(self) -> Fraction:
        """Return the mean over blocks of the block's modal exposure (ms)."""
        modes = [
            modal_exposure(_repeated((Fraction(str(ms)), n) for ms, n in counts.items()))
            for counts in self.exposures.values()
        ]
        return sum(modes) / len(modes)


Tallies = dict[str, dict[str, Tally]]
"""By model, then by evaluator."""


def tally(rows: Iterable[Sequence[Any]]) -> Tallies:
    """Count rows of (model, evaluator, truth, response, block, exposure_ms), one pass, nothing kept."""
    tallies: Tallies = {}
    for model, evaluator, truth, response, block, exposure_ms in rows:
        evaluators = tallies.get(model)
        if evaluators is None:
            evaluators = tallies[model] = {}
        one = evaluators.get(evaluator)
        if one is None:
            one = evaluators[evaluator] = Tally()
        one.seen[truth] += 1
        if response != truth:
            one.wrong[truth] += 1
        if exposure_ms is not None:
            counts = one.exposures.get(block)
            if counts is None:
                counts = one.exposures[block] = Counter()
            counts[exposure_ms] += 1
    return tallies


def score(rows: Iterable[Mapping[str, Any]], method: str, **options: Any) -> dict[str, Any]:
    """Return the scores of rows given as mappings with the columns of the responses file.

    Options are those of `score_tallies`.

    Raises:
        InvalidInput: there are no rows, or an option is out of range.
    """
    names = ("model", "evaluator", "truth", "response", "block", "exposure_ms")
    return score_tallies(tally(tuple(row.get(name) for name in names) for row in rows), method, **options)


def score_tallies(
    tallies: Tallies,
    method: str,
    *,
    iterations: int | None = None,
    seed: int | None = None,
    level: float = 0.95,
    evaluators_drawn: int | None = None,
) -> dict[str, Any]:
    """Return the scores of the contract as plain data.

    Args:
        iterations: of a Monte Carlo bootstrap; default, the exact one.
        seed: of the Monte Carlo bootstrap; 0 where none is given.
        level: of the intervals, between 0 and 1.
        evaluators_drawn: how many evaluators a resample draws; default, as many as the model has.

    Raises:
        InvalidInput: no responses, or an unknown method.
    """
    if method not in UNITS:
        raise InvalidInput(f"method must be 'infinity' or 'time', not {method!r}")
    if not tallies:
        raise InvalidInput("there are no responses to score")
    used_seed = _FALLBACK_SEED if seed is None else seed
    resampling = _Resampling(iterations, used_seed, level, evaluators_drawn)
    values = {model: _values(evaluators, method) for model, evaluators in tallies.items()}
    models = [_model(model, tallies[model], values[model], method, resampling) for model in tallies]
    models.sort(key=lambda row: (-row["score"], row["model"]))
    groups = {row["model"]: [float(value) for value in values[row["model"]]] for row in models}
    sizes = {row["evaluators"] for row in models}
    ways = resampling.ways or {"exact"}
    is_random = "monte-carlo" in ways
    result = {
        "method": method,
        "unit": UNITS[method],
        "models": models,
        "anova": _anova(groups),
        "pairs": _pairs(groups, level),
        "settings": {
            "bootstrap": "monte-carlo" if is_random else "exact",
            "iterations": (iterations or bootstrap.ITERATIONS) if is_random else None,
            "seed": used_seed if is_random else None,
            "level": level,
            "evaluators_drawn": evaluators_drawn or (sizes.pop() if len(sizes) == 1 else None),
        },
        "warnings": _warnings(tallies),
    }
    if len(groups) == 2:
        result["ttest"] = _ttest(groups)
    return result


def as_table(scores: Mapping[str, Any]) -> str:
    """Return scores as lines for a terminal."""
    unit = {"percent": "%", "ms": " ms"}[scores["unit"]]
    level = f"{100 * scores['settings']['level']:g}% interval"
    title = {"infinity": "HYPE-infinity, share of pictures judged wrong", "time": "HYPE-time, threshold"}
    width = max(5, *(len(row["model"]) for row in scores["models"]))
    head = f"{'model':<{width}}  {'score':>9}  {level:>18}  {'SD':>7}"
    head += f"  {'fakes':>7}  {'reals':>7}" if scores["unit"] == "percent" else ""
    lines = [title[scores["method"]], head + "  evaluators  responses"]
    for row in scores["models"]:
        interval = "" if row["ci"] is None else f"{row['ci'][0]:.1f} to {row['ci'][1]:.1f}"
        std = "" if row["std"] is None else f"{row['std']:.2f}"
        line = f"{row['model']:<{width}}  {row['score']:>7.1f}{unit:<2.3}  {interval:>18}  {std:>7}"
        if scores["unit"] == "percent":
            line += "".join(f"  {_share(row[name]):>7}" for name in ("fakes_error", "reals_error"))
        lines.append(f"{line}  {row['evaluators']:>10}  {row['responses']:>9}")
    anova = scores["anova"]
    if anova is not None:
        lines.append(f"ANOVA: F({anova['df'][0]}, {anova['df'][1]}) = {anova['F']:.2f}, p = {anova['p']:.3g}")
    for pair in scores["pairs"]:
        verdict = "apart" if pair["p"] < 1 - scores["settings"]["level"] else "not told apart"
        lines.append(
            f"{pair['a']} - {pair['b']}: {pair['difference']:.1f}{unit} "
            f"[{pair['ci'][0]:.1f}, {pair['ci'][1]:.1f}], Tukey p = {pair['p']:.3g}: {verdict}"
        )
    return "\n".join([*lines, *(f"warning: {text}" for text in scores["warnings"])])


class _Resampling:
    """The bootstrap as asked for; remembers which ways it had to go."""

    def __init__(self, iterations: int | None, seed: int, level: float, drawn: int | None):
        self.iterations, self.seed, self.level, self.drawn = iterations, seed, level, drawn
        self.ways: set[str] = set()

    def interval(self, values: Sequence[Fraction]) -> bootstrap.Interval | None:
        """Return the interval of the mean, or None where one evaluator tells of no variation."""
        if len(values) < 2:
            return None
        drawn = self.drawn or len(values)
        found = None if self.iterations else bootstrap.exact(values, drawn, self.level)
        if found is None:
            import numpy as np

            rng = np.random.default_rng(self.seed)
            times = self.iterations or bootstrap.ITERATIONS
            found = bootstrap.monte_carlo(values, drawn, self.level, times, rng)
        self.ways.add(found.way)
        return found


def _values(evaluators: Mapping[str, Tally], method: str) -> list[Fraction]:
    """Return the evaluators' values: percent wrong, or ms."""
    if method == "time":
        return [one.modal_ms() for one in evaluators.values()]
    return [100 * one.error(REAL, FAKE) for one in evaluators.values()]


def _model(
    model: str, evaluators: Mapping[str, Tally], values: list[Fraction], method: str, resampling: _Resampling
) -> dict[str, Any]:
    interval = resampling.interval(values)
    row: dict[str, Any] = {"model": model, "score": float(sum(values) / len(values))}
    if method == "infinity":
        row["fakes_error"] = _mean_error(evaluators, FAKE)
        row["reals_error"] = _mean_error(evaluators, REAL)
    row["std"] = interval.std if interval else None
    row["ci"] = [interval.low, interval.high] if interval else None
    row["evaluators"] = len(evaluators)
    row["responses"] = sum(one.responses for one in evaluators.values())
    return row


def _mean_error(evaluators: Mapping[str, Tally], truth: str) -> float | None:
    """Return the mean over evaluators of their error on one side, in percent."""
    errors = [error for one in evaluators.values() if (error := one.error(truth)) is not None]
    return float(100 * sum(errors) / len(errors)) if errors else None


def _anova(groups: Mapping[str, list[float]]) -> dict[str, Any] | None:
    """Return the one-way ANOVA over models; None where it does not exist."""
    if not _comparable(groups):
        return None
    from scipy.stats import f_oneway

    result = f_oneway(*groups.values())
    total = sum(map(len, groups.values()))
    df = [len(groups) - 1, total - len(groups)]
    return {"F": float(result.statistic), "df": df, "p": float(result.pvalue)}


def _pairs(groups: Mapping[str, list[float]], level: float) -> list[dict[str, Any]]:
    """Return Tukey's comparisons (Tukey-Kramer for unequal groups) of every pair, best model first."""
    if not _comparable(groups):
        return []
    from scipy.stats import tukey_hsd

    result = tukey_hsd(*groups.values())
    interval = result.confidence_interval(level)
    names = list(groups)
    return [
        {
            "a": names[i],
            "b": names[j],
            "difference": float(result.statistic[i, j]),
            "ci": [float(interval.low[i, j]), float(interval.high[i, j])],
            "p": float(result.pvalue[i, j]),
        }
        for i in range(len(names))
        for j in range(i + 1, len(names))
    ]


def _ttest(groups: Mapping[str, list[float]]) -> dict[str, Any] | None:
    """Return Student's unpaired t-test of two models; None where it does not exist."""
    if not _comparable(groups):
        return None
    from scipy.stats import ttest_ind

    result = ttest_ind(*groups.values())
    return {"t": float(result.statistic), "df": float(result.df), "p": float(result.pvalue)}


def _comparable(groups: Mapping[str, list[float]]) -> bool:
    """Tell whether there are two models or more, each with two evaluators, who do not all agree."""
    enough = len(groups) >= 2 and all(len(values) >= 2 for values in groups.values())
    return enough and any(len(set(values)) > 1 for values in groups.values())


def _warnings(tallies: Tallies) -> list[str]:
    warnings = []
    models_of = Counter(evaluator for evaluators in tallies.values() for evaluator in evaluators)
    several = sorted(evaluator for evaluator, count in models_of.items() if count > 1)
    if several:
        warnings.append(
            f"{len(several)} evaluators judged more than one model ({several[0]} is one); the tests "
            "take evaluators of different models for different people"
        )
    for model, evaluators in tallies.items():
        counts = sorted(one.responses for one in evaluators.values())
        few = sum(count < counts[-1] / 2 for count in counts)
        if few:
            warnings.append(
                f"{few} evaluators of {model} gave less than half as many responses as others; each "
                "evaluator weighs the same in the score"
            )
    return warnings


def _repeated(counts: Iterable[tuple[Fraction, int]]) -> Iterable[Fraction]:
    for value, count in counts:
        for _ in range(count):
            yield value


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}%"
