"""Progress of a model over its training, from models that are its checkpoints, named `name@4000`."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from backend.analysis.distributions.ranks import spearman

_NAME = re.compile(r"(?P<name>.+)@(?P<at>[0-9]+(?:\.[0-9]+)?)(?P<unit>k|M)?")
_UNITS = {None: 1, "k": 1_000, "M": 1_000_000}


def checkpoint(model: str) -> tuple[str, float] | None:
    """Return (name, step) of `name@4000`, `name@4k` or `name@1.2M`; None for any other name."""
    found = _NAME.fullmatch(model)
    return (found["name"], float(found["at"]) * _UNITS[found["unit"]]) if found else None


def progress(models: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return, for each model with two checkpoints or more, its scores in the order of training.

    Args:
        models: rows of the scores, with `model`, `score`, `ci`, `interval`.
    """
    lines: dict[str, list[tuple[float, Mapping[str, Any]]]] = {}
    for row in models:
        if snapshot := checkpoint(str(row["model"])):
            lines.setdefault(snapshot[0], []).append((snapshot[1], row))
    return [
        {
            "model": name,
            "points": [
                {"at": at, **{key: row.get(key) for key in ("score", "ci", "interval", "evaluators")}}
                for at, row in points
            ],
            "trend": spearman([at for at, _ in points], [row["score"] for _, row in points]),
        }
        for name, points in ((name, sorted(some, key=lambda one: one[0])) for name, some in lines.items())
        if len(points) >= 2
    ]
