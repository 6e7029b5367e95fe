"""What notebooks call: scores of a file or of rows, and the bootstrap of a mean."""

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from backend import scoring
from backend.analysis import bootstrap as bootstraps
from backend.errors import InvalidInput
from backend.responses import score_file


def score(
    responses: str | PathLike | Iterable[Mapping[str, Any]], method: str | None = None, **options: Any
) -> dict[str, Any]:
    """Return the scores of a responses file, or of rows given as mappings.

    Args:
        responses: a path (CSV or JSON lines), or rows with `model, evaluator, truth, response` and,
            for HYPE-time, `block` and `exposure_ms`.
        method: of rows: 'infinity' or 'time'; default, what their `method` says, else 'time' where
            they have exposures. A file tells its own.
        **options: `iterations`, `seed`, `level`, `evaluators_drawn`; see `scoring.Options`.

    Returns:
        Plain data: `models` best first with `score`, `std`, `ci` (percent or ms), `anova`, `pairs`.

    Raises:
        OpenhypeError: a bad row, or nothing to score.
    """
    if isinstance(responses, (str, PathLike)):
        return score_file(Path(responses), **options)
    rows = responses.to_dict("records") if hasattr(responses, "to_dict") else list(responses)
    return scoring.score(rows, method or _method(rows), **options)


def bootstrap(values: Sequence[float], drawn: int | None = None, level: float = 0.95) -> bootstraps.Interval:
    """Return SD and percentile interval of the mean of values drawn with replacement.

    Exact where the values share a lattice; else Monte Carlo with 10,000 iterations and seed 0.

    Args:
        values: one number an evaluator, any unit; at least one.
        drawn: how many a resample draws; default, as many as there are.
    """
    import numpy as np

    values = list(values)
    count = len(values) if drawn is None else drawn
    found = bootstraps.exact(values, count, level)
    if found is not None:
        return found
    rng = np.random.default_rng(0)
    return bootstraps.monte_carlo(values, count, level, bootstraps.ITERATIONS, rng)


def _method(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the method of rows that say one, or else what their exposures tell."""
    stated = {row.get("method") for row in rows}
    if len(stated) > 1:
        raise InvalidInput("method must be the same in every row; score the methods apart")
    if stated and None not in stated:
        return stated.pop()
    exposures = [row.get("exposure_ms") for row in rows]
    return "time" if any(ms is not None and ms == ms for ms in exposures) else "infinity"
