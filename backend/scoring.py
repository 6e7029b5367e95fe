"""Scores of models from responses: the numbers of HYPE, with their intervals and tests.

HYPE-infinity: an evaluator's value is the share of their answers that were wrong; a model's score
is the mean over its evaluators, in percent (HYPE 2.2). HYPE-time: an evaluator's value is the mean
over blocks of the modal exposure of each block; a model's score is the mean over evaluators, in ms
(HYPE 2.1). Intervals are the bootstrap's over evaluators (HYPE 3), exact unless iterations are
asked for. Nothing is rounded and nothing is clipped.
"""

import math
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from statistics import median
from typing import Any

from backend import bootstrap
from backend.errors import InvalidInput
from backend.records import FAKE, REAL, TRUTHS
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
    """By block, how often each exposure (ms) was shown."""

    @property
    def responses(self) -> int:
        return self.seen.total()

    def error(self, *truths: str) -> Fraction | None:
        """Return the share (0 to 1) of wrong answers on pictures of these truths; None without any."""
        seen = sum(self.seen[truth] for truth in truths)
        return Fraction(sum(self.wrong[truth] for truth in truths), seen) if seen else None

    def modal_ms(self) -> Fraction:
        """Return the mean over blocks of the block's modal exposure (ms)."""
        modes = [modal_exposure(counts.elements()) for counts in self.exposures.values()]
        return sum(Fraction(str(float(mode))) for mode in modes) / len(modes)


Tallies = dict[str, dict[str, Tally]]
"""By model, then by evaluator."""


def tally(rows: Iterable[Sequence[Any]]) -> Tallies:
    """Count rows of (model, evaluator, truth, response, block, exposure_ms), one pass, nothing kept."""
    answers: Counter = Counter()
    exposures: Counter = Counter()
    for model, evaluator, truth, response, block, exposure_ms in rows:
        answers[model, evaluator, truth, response] += 1
        if exposure_ms is not None:
            exposures[model, evaluator, block, exposure_ms] += 1
    tallies: Tallies = {}
    add(tallies, answers, exposures)
    return tallies


def add(tallies: Tallies, answers: Mapping[tuple, int], exposures: Mapping[tuple, int]) -> None:
    """Add to `tallies` what was counted elsewhere, so that a long file need not pass row by row.

    Args:
        answers: by (model, evaluator, truth, response), how many.
        exposures: by (model, evaluator, block, exposure in ms), how many; empty for HYPE-infinity.
    """
    for (model, evaluator, truth, response), count in answers.items():
        one = tallies.setdefault(model, {}).get(evaluator)
        if one is None:
            one = tallies[model][evaluator] = Tally()
        one.seen[truth] += count
        if response != truth:
            one.wrong[truth] += count
    for (model, evaluator, block, exposure_ms), count in exposures.items():
        blocks = tallies[model][evaluator].exposures
        if block not in blocks:
            blocks[block] = Counter()
        blocks[block][exposure_ms] += count


def score(rows: Iterable[Mapping[str, Any]], method: str, **options: Any) -> dict[str, Any]:
    """Return the scores of rows given as mappings with the columns of the responses file.

    Options are those of `score_tallies`.

    Raises:
        InvalidInput: a bad row, no rows, or an option out of range.
    """
    return score_tallies(tally(_facts(rows, method)), method, **options)


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
        InvalidInput: no responses, an unknown method, or an option out of range.
    """
    _check_options(method, iterations, level, evaluators_drawn)
    if not tallies:
        raise InvalidInput("there are no responses to score")
    used_seed = _FALLBACK_SEED if seed is None else seed
    resampling = _Resampling(iterations, used_seed, level, evaluators_drawn)
    values = {model: _values(evaluators, method) for model, evaluators in tallies.items()}
    models = [_model(model, tallies[model], values[model], method, resampling) for model in tallies]
    models.sort(key=lambda row: (-row["score"], row["model"]))
    everyone = {row["model"]: [float(value) for value in values[row["model"]]] for row in models}
    groups = {model: numbers for model, numbers in everyone.items() if len(numbers) >= 2}
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
        "warnings": _warnings(tallies, groups),
    }
    if len(models) == 2:
        result["ttest"] = _ttest(groups)
    return result


def as_table(scores: Mapping[str, Any]) -> str:
    """Return scores as lines for a terminal."""
    unit = {"percent": "%", "ms": " ms"}[scores["unit"]]
    title = {"infinity": "HYPE-infinity, share of pictures judged wrong", "time": "HYPE-time, threshold"}
    lines = [title[scores["method"]], *_columns(scores, unit)]
    anova = scores["anova"]
    if anova is not None:
        lines.append(f"ANOVA: F({anova['df'][0]}, {anova['df'][1]}) = {anova['F']:.2f}, {_p(anova['p'])}")
    for pair in scores["pairs"]:
        verdict = "apart" if pair["p"] < 1 - scores["settings"]["level"] else "not told apart"
        lines.append(
            f"{pair['a']} - {pair['b']}: {pair['difference']:.1f}{unit} "
            f"[{pair['ci'][0]:.1f}, {pair['ci'][1]:.1f}], Tukey {_p(pair['p'])}: {verdict}"
        )
    settings = scores["settings"]
    if settings["bootstrap"] != "exact":
        lines.append(f"intervals: Monte Carlo, {settings['iterations']} iterations, seed {settings['seed']}")
    return "\n".join([*lines, *(f"warning: {text}" for text in scores["warnings"])])


def _columns(scores: Mapping[str, Any], unit: str) -> Iterator[str]:
    """Yield the head of the table of models and a line for each."""
    level = f"{100 * scores['settings']['level']:g}% interval"
    sides = {"fakes_error": "fakes error", "reals_error": "reals error"} if unit == "%" else {}
    width = max(5, *(len(row["model"]) for row in scores["models"]))
    ends = [*sides.values(), "evaluators", "responses"]
    yield "  ".join([f"{'model':<{width}}", f"{'score':>9}", f"{level:>18}", f"{'SD':>7}", *ends])
    for row in scores["models"]:
        interval = "" if row["ci"] is None else f"{row['ci'][0]:.1f} to {row['ci'][1]:.1f}"
        std = "" if row["std"] is None else f"{row['std']:.2f}"
        cells = [f"{row['model']:<{width}}", f"{row['score']:.1f}{unit}".rjust(9), f"{interval:>18}"]
        errors = ["" if row[side] is None else f"{row[side]:.1f}%" for side in sides]
        cells += [f"{std:>7}", *(f"{text:>11}" for text in errors)]
        yield "  ".join([*cells, f"{row['evaluators']:>10}", f"{row['responses']:>9}"])


def _p(value: float) -> str:
    return "p < 0.0001" if value < 0.0001 else f"p = {value:.2g}"


def _check_options(method: str, iterations: int | None, level: float, drawn: int | None) -> None:
    if method not in UNITS:
        raise InvalidInput(f"method must be 'infinity' or 'time', not {method!r}")
    if not 0 < level < 1:
        raise InvalidInput(f"level must be between 0 and 1, such as 0.95, not {level}")
    for name, value in (("iterations", iterations), ("evaluators_drawn", drawn)):
        if value is not None and value < 1:
            raise InvalidInput(f"{name} must be 1 or more, not {value}")


def _facts(rows: Iterable[Mapping[str, Any]], method: str) -> Iterator[tuple]:
    """Yield what `tally` counts, having checked it; exposures are of no account in HYPE-infinity."""
    for number, row in enumerate(rows, start=1):
        try:
            model, evaluator, truth, response = map(row.get, ("model", "evaluator", "truth", "response"))
        except AttributeError:
            raise InvalidInput(f"row {number} must be a mapping of columns, not {row!r}") from None
        for name, value in (("model", model), ("evaluator", evaluator)):
            if value is None or value == "" or value != value:
                raise InvalidInput(f"row {number}: {name} must be a name, not {value!r}")
        for name, value in (("truth", truth), ("response", response)):
            if value not in TRUTHS:
                raise InvalidInput(f"row {number}: {name} must be 'real' or 'fake', not {value!r}")
        if method != "time":
            yield model, evaluator, truth, response, None, None
        else:
            yield model, evaluator, truth, response, *_shown(number, row)


def _shown(number: int, row: Mapping[str, Any]) -> tuple[Any, float]:
    """Return (block, exposure in ms) of a row of HYPE-time."""
    block, exposure_ms = row.get("block"), row.get("exposure_ms")
    if block is None:
        raise InvalidInput(f"row {number}: block must be a whole number (HYPE-time), not None")
    try:
        exposure = float(exposure_ms)
    except (TypeError, ValueError):
        exposure = math.nan
    if not 0 < exposure < math.inf:
        raise InvalidInput(
            f"row {number}: exposure_ms must be a number above 0 (HYPE-time), not {exposure_ms!r}"
        )
    return block, exposure


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
    """Return the one-way ANOVA over models with two evaluators or more; None where there is none."""
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
    from scipy.integrate import IntegrationWarning
    from scipy.stats import tukey_hsd

    with warnings.catch_warnings():
        # with thousands of evaluators quad() doubts some integrals; another quadrature agrees to 1e-12
        warnings.simplefilter("ignore", IntegrationWarning)
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

    with warnings.catch_warnings():
        # One model whose evaluators all agree is no loss of precision: its variance is 0.
        warnings.filterwarnings("ignore", "Precision loss occurred", RuntimeWarning)
        result = ttest_ind(*groups.values())
    return {"t": float(result.statistic), "df": float(result.df), "p": float(result.pvalue)}


def _comparable(groups: Mapping[str, list[float]]) -> bool:
    """Tell whether there are two models or more, and evaluators of one model who differ."""
    return len(groups) >= 2 and any(len(set(values)) > 1 for values in groups.values())


def _warnings(tallies: Tallies, groups: Mapping[str, list[float]]) -> list[str]:
    """Return sentences on what the numbers do not show.

    Args:
        groups: the models that enter the tests.
    """
    found = []
    models_of = Counter(evaluator for evaluators in tallies.values() for evaluator in evaluators)
    several = sorted(str(evaluator) for evaluator, count in models_of.items() if count > 1)
    if several:
        found.append(
            f"{_evaluators(len(several))} judged more than one model (such as {several[0]}); the tests "
            "take evaluators of different models for different people"
        )
    for model, evaluators in tallies.items():
        if len(tallies) > 1 and model not in groups:
            found.append(f"{model} has one evaluator and is left out of the tests")
        typical = median(one.responses for one in evaluators.values())
        few = sum(one.responses < typical / 2 for one in evaluators.values())
        many = sum(one.responses > typical * 2 for one in evaluators.values())
        if few:
            found.append(
                f"{_evaluators(few)} of {model} gave less than half of the usual {typical:g} responses and "
                "may not have finished; each evaluator weighs the same in the score"
            )
        if many:
            found.append(
                f"{_evaluators(many)} of {model} gave more than twice the usual {typical:g} responses; each "
                "evaluator weighs the same in the score"
            )
    return found


def _evaluators(count: int) -> str:
    return f"{count} evaluator{'s' if count != 1 else ''}"
