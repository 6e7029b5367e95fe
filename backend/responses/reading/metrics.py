"""Automatic metrics of models, read from a CSV: `model`, then one column per metric.

An empty cell means that the metric is not known for the model.
"""

import csv
import io
import math
from pathlib import Path

from backend.experiment.response_columns import number
from backend.foundation.csv_formulas import unescape_formula
from backend.foundation.errors import InvalidInput
from backend.foundation.text_files import read_text

_LONGEST_SHOWN = 40


def read_metrics(path: Path) -> dict[str, dict[str, float]]:
    """Return the values by metric, then by model, in the order of the file.

    Raises:
        NotFound: the file does not exist.
        InvalidInput: it is not such a table; the message states line and column.
    """
    try:
        return _read(path, csv.reader(io.StringIO(read_text(Path(path)), newline="")))
    except csv.Error as error:
        raise InvalidInput(f"{path} must be CSV; {error}") from None


def _read(path: Path, reader) -> dict[str, dict[str, float]]:
    header = [name.strip() for name in next(reader, [])]
    if len(header) < 2 or header[0] != "model" or "" in header:
        actual = ", ".join(header)[:_LONGEST_SHOWN]
        raise InvalidInput(
            f"{path} line 1: the header must be model and then names of metrics, not {actual!r}"
        )
    if len(set(header)) < len(header):
        twice = sorted(name for name in set(header) if header.count(name) > 1)
        raise InvalidInput(f"{path} line 1: each column must be named once; {', '.join(twice)} repeated")
    metrics: dict[str, dict[str, float]] = {name: {} for name in header[1:]}
    seen = set()
    for cells in reader:
        if not cells:
            continue
        where = f"{path} line {reader.line_num}"
        if len(cells) != len(header):
            raise InvalidInput(f"{where}: expected {len(header)} cells, got {len(cells)}")
        model = unescape_formula(cells[0].strip())
        if not model or model in seen:
            raise InvalidInput(f"{where}: model must be a name that occurs once, not {model!r}")
        seen.add(model)
        for name, cell in zip(header[1:], map(str.strip, cells[1:]), strict=True):
            value = number(cell) if cell else math.nan
            if value is None:
                raise InvalidInput(f"{where}: {name} must be a number or empty, not {cell!r}")
            if cell:
                metrics[name][model] = value
    return metrics
