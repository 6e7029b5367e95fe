"""Automatic metrics of models from a CSV: a column `model`, then one column a metric."""

import csv
import math
from pathlib import Path

from backend.errors import InvalidInput, NotFound


def read_metrics(path: Path) -> dict[str, dict[str, float]]:
    """Return the metrics of a file: by metric, then by model; an empty cell is left out.

    Raises:
        NotFound: there is no such file.
        InvalidInput: no column `model`, a model twice, or a cell that is no number.
    """
    if not path.is_file():
        raise NotFound(f"there is no file {path}")
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file)
        names = [name for name in reader.fieldnames or [] if name and name != "model"]
        if "model" not in (reader.fieldnames or []) or not names:
            raise InvalidInput(f"{path} must have the column 'model' and a column for each metric")
        found: dict[str, dict[str, float]] = {name: {} for name in names}
        seen = set()
        for row in reader:
            where = f"{path} line {reader.line_num}"
            if row["model"] in seen:
                raise InvalidInput(f"{where}: model {row['model']!r} stands there twice")
            seen.add(row["model"])
            for name in names:
                if row[name]:
                    found[name][row["model"]] = _number(row[name], f"{where}: {name}")
    return found


def _number(text: str, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InvalidInput(f"{where} must be a number, not {text!r}")
    return value
