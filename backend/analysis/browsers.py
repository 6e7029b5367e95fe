"""Whether evaluators with different browsers answer differently: what they saw may depend on the engine.

A linear model of evaluators' values, with the model judged and the browser's engine as factors. It assumes
equal variances and independent values, so it is not fitted if evaluators judged several models.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from backend.analysis.distributions.inference import Component, Estimate, f_test
from backend.analysis.table.designs import BETWEEN, design_of
from backend.analysis.table.evaluator_values import Values
from backend.analysis.table.response_table import Answers

_FEW = 2
"""Evaluators of an engine below which it is reported but not compared."""
_P_TOLD = 0.01
"""p-value below which engines are reported to differ; small, as every study is tested: few false alarms."""


def by_browser(answers: Answers, values: Mapping[str, Values], level: float) -> dict[str, Any] | None:
    """Return the differences between the evaluators of different engines, adjusted for the model judged.

    Returns:
        `engines`, the most used first, each with its `browser` ('' if unknown), `evaluators`, `evidence`,
        the shares (0 to 1) of its answers by how shown times were measured (HYPE-time; else {}),
        `difference` from the evaluators of all other compared engines (in the unit of the scores) and its
        `ci`, both None if there is no comparison; and `test` of equal engines (`F`, `df`, `p`), or None.
        None if no answer names a browser.
    """
    known = answers.memo.setdefault("browsers", {})
    if level not in known:
        known[level] = _by_browser(answers, values, level)
    result: dict[str, Any] | None = known[level]
    return result


def _by_browser(answers: Answers, values: Mapping[str, Values], level: float) -> dict[str, Any] | None:
    column = answers.texts.get("browser")
    if column is None or not any(column.names):
        return None
    judges = answers.judges
    engine = column.codes[np.unique(judges.of_response, return_index=True)[1]]
    y = np.empty(len(judges.model))
    for code, model in enumerate(answers.model.names):
        y[judges.model == code] = values[model].numbers
    counts = np.bincount(engine, minlength=len(column.names))
    order = sorted(np.flatnonzero(counts).tolist(), key=lambda code: (-counts[code], str(column.names[code])))
    compared = [code for code in order if column.names[code] and counts[code] >= _FEW]
    can = len(compared) > 1 and design_of(answers).kind == BETWEEN
    known = np.isin(engine, compared)
    engines = []
    for code in order:
        row: dict[str, Any] = {
            "browser": column.names[code],
            "evaluators": int(counts[code]),
            "evidence": _evidence(answers, column.codes == code),
        }
        own = (engine[known] == code)[:, None]
        difference = (
            _difference(y[known], judges.model[known], own, level) if can and code in compared else None
        )
        engines.append({**row, **(difference or {"difference": None, "ci": None})})
    others = engine[known][:, None] == np.array(compared[1:])
    return {"engines": engines, "test": _test(y[known], judges.model[known], others) if can else None}


def _evidence(answers: Answers, is_of_engine: np.ndarray) -> dict[str, float]:
    """Return the share of an engine's answers by evidence, the most frequent first; {} if none is given."""
    column = answers.texts.get("evidence")
    if column is None or not is_of_engine.any():
        return {}
    counts = np.bincount(column.codes[is_of_engine], minlength=len(column.names)) / is_of_engine.sum()
    order = sorted(np.flatnonzero(counts).tolist(), key=lambda code: (-counts[code], str(column.names[code])))
    return {str(column.names[code]): float(counts[code]) for code in order if column.names[code]}


def browser_caveats(found: Mapping[str, Any] | None, unit: str) -> Iterator[str]:
    """Yield a caveat if evaluators of several engines answer differently.

    Args:
        found: the result of `by_browser`.
        unit: unit of the scores, as written after a number.
    """
    if not found or found["test"] is None or found["test"]["p"] >= _P_TOLD:
        return
    test = found["test"]
    told = ", ".join(
        f"{row['browser']} {row['difference']:+.1f}{unit} [{row['ci'][0]:.1f}, {row['ci'][1]:.1f}]"
        for row in found["engines"]
        if row["ci"]
    )
    yield (
        f"evaluators with different browsers answer differently: F({test['df'][0]}, {test['df'][1]}) = "
        f"{test['F']:.2f}, p = {test['p']:.2g}; against all others, {told}. Look at what was shown in them "
        "(openhype export), and compare models within one browser"
    )


def _fit(y: np.ndarray, model: np.ndarray, engines: np.ndarray) -> tuple[np.ndarray, np.ndarray, float, int]:
    """Return coefficients, design matrix (engines last), residual sum of squares, and degrees of freedom."""
    models = model[:, None] == np.unique(model)
    design = np.hstack([models, engines]).astype(float)
    coefficients, _, rank, _ = np.linalg.lstsq(design, y, rcond=None)
    left = float(((y - design @ coefficients) ** 2).sum())
    return coefficients, design, left, len(y) - int(rank) if rank == design.shape[1] else 0


def _difference(y: np.ndarray, model: np.ndarray, own: np.ndarray, level: float) -> dict[str, Any] | None:
    coefficients, design, left, df = _fit(y, model, own)
    if df < 1:
        return None
    variance = left / df * np.linalg.inv(design.T @ design)[-1, -1]
    difference = Estimate(float(coefficients[-1]), Component(variance, df))
    return {"difference": difference.value, "ci": difference.interval(level)}


def _test(y: np.ndarray, model: np.ndarray, others: np.ndarray) -> dict[str, Any] | None:
    _, _, left, df = _fit(y, model, others)
    _, _, before, _ = _fit(y, model, others[:, :0])
    if df < 1 or left <= 0:
        return None
    count = others.shape[1]
    return f_test((before - left) / count / (left / df), count, df)
