"""Scores as lines for a terminal."""

from collections.abc import Iterator, Mapping
from typing import Any

from backend.report.wording import verdict

SIMULATED = "SIMULATED sessions: nobody looked at the pictures"


def as_table(scores: Mapping[str, Any]) -> str:
    """Return scores as lines for a terminal."""
    unit = {"percent": "%", "ms": " ms"}[scores["unit"]]
    title = {"infinity": "HYPE-infinity, share of pictures judged wrong", "time": "HYPE-time, threshold"}
    lines = [SIMULATED] if scores["simulated"] else []
    lines += [title[scores["method"]], *_columns(scores, unit)]
    anova = scores["anova"]
    if anova is not None:
        lines.append(f"ANOVA: F({anova['df'][0]}, {anova['df'][1]}) = {anova['F']:.2f}, {p_text(anova['p'])}")
    for pair in scores["pairs"]:
        differs = pair["p"] < 1 - scores["settings"]["level"]
        lines.append(
            f"{pair['a']} - {pair['b']}: {pair['difference']:.1f}{unit} "
            f"[{pair['ci'][0]:.1f}, {pair['ci'][1]:.1f}], Tukey {p_text(pair['p'])}: {verdict(differs)}"
        )
    settings = scores["settings"]
    if settings["bootstrap"] != "exact":
        lines.append(f"intervals: Monte Carlo, {settings['iterations']} iterations, seed {settings['seed']}")
    lines += [f"warning: {text}" for text in scores["warnings"]]
    return "\n".join([*lines, *(f"note: {text}" for text in scores["notes"])])


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


def p_text(value: float) -> str:
    """Return a p-value as papers print it."""
    if value > 0.99:
        return "p > 0.99"
    return "p < 0.0001" if value < 0.0001 else f"p = {value:.2g}"
