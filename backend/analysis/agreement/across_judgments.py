"""Correlation over metrics of their 2AFC and JND scores: is a metric that is good at one good at the other?

Zhang et al. (2018, section 4.2) print rho = .928. Random are the metrics, as if they were a random sample of
such metrics: intervals are those of Fisher for Pearson's r, and of `rank_intervals.py`. People and items are
not: where they are few, the noise of scores holds the correlation down.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from backend.analysis.agreement.votes import JND, TWO_AFC
from backend.analysis.distributions.rank_intervals import fisher_interval, over_models
from backend.analysis.distributions.ranks import kendall, spearman

FEWEST = 4
"""Metrics from which on correlations have intervals."""


def across_judgments(found: Mapping[str, Mapping[str, Any]], level: float = 0.95) -> dict[str, Any]:
    """Return the scores of metrics by both judgments and their correlations, as plain data.

    Args:
        found: by `2afc` and `jnd`, the results of `item_agreement.agreement` on the same metrics.

    Returns:
        `level`; `metrics` (`metric`, and by judgment `two_afc`, `two_afc_ci`, `jnd`, `jnd_ci`; percent);
        `correlations` (`coefficient`: pearson, spearman, kendall; `value` and `ci`, None if not defined).
    """
    rows = []
    last = {kind: data["columns"][-1]["column"] for kind, data in found.items()}
    cells = {
        kind: {row["metric"]: row for row in data["metrics"] if row["column"] == last[kind]}
        for kind, data in found.items()
    }
    for name, one in cells[TWO_AFC].items():
        other = cells[JND][name]
        rows.append(
            {
                "metric": name,
                "two_afc": one["score"],
                "two_afc_ci": one["ci"],
                "jnd": other["score"],
                "jnd_ci": other["ci"],
            }
        )
    both = [row for row in rows if row["jnd"] is not None]
    return {"level": level, "metrics": rows, "correlations": _correlations(both, level)}


def _correlations(rows: list[dict[str, Any]], level: float) -> list[dict[str, Any]]:
    x, y = (np.array([row[name] for row in rows], float) for name in ("two_afc", "jnd"))
    rho, tau = spearman(x, y), kendall(x, y)
    values = {"pearson": None, "spearman": rho and rho["rho"], "kendall": tau and tau["tau"]}
    cis: dict[str, Any] = dict.fromkeys(values)
    if rho and tau:
        values["pearson"] = r = float(np.clip(np.corrcoef(x, y)[0, 1], -1, 1))
        if len(rows) >= FEWEST:
            ranks = over_models(rho["rho"], tau["tau"], len(rows), level)
            cis |= {"spearman": ranks and ranks["rho"], "kendall": ranks and ranks["tau"]}
            if abs(r) < 1:
                cis["pearson"] = fisher_interval(r, 1 / (len(rows) - 3), level)
    return [{"coefficient": name, "value": value, "ci": cis[name]} for name, value in values.items()]
