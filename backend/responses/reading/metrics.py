"""Automatic metrics of models, read from a CSV: `model`, then one column per metric.

An empty cell, or NA, means that the metric is not known for the model.
"""

import io
import math
from pathlib import Path

from backend.experiment.response_columns import number
from backend.foundation.csv_formulas import unescape_formula
from backend.foundation.csv_tables import CsvTable, are_row_names
from backend.foundation.errors import InvalidInput
from backend.foundation.names import clean
from backend.foundation.text_files import read_text
from backend.responses.reading.rewritten_cells import restored_number

_LONGEST_SHOWN = 40


def read_metrics(path: Path) -> dict[str, dict[str, float]]:
    """Return the values by metric, then by model, in the order of the file.

    Raises:
        NotFound: the file does not exist.
        InvalidInput: it is not such a table; the message states line and column.
    """
    path = Path(path)
    table = CsvTable(path, io.StringIO(read_text(path), newline=""))
    first = next((i for i, name in enumerate(table.header) if not are_row_names(name)), 0)
    header = table.header[first:]
    if len(header) < 2 or header[0] != "model" or "" in header:
        actual = ", ".join(header)[:_LONGEST_SHOWN]
        raise InvalidInput(
            f"{path} line 1: the header must be model and then names of metrics, not {actual!r}"
        )
    table.require(header)
    metrics: dict[str, dict[str, float]] = {name: {} for name in header[1:]}
    seen = set()
    for line, cells in table.numbered():
        where = f"{path} line {line}"
        model, *values = map(str.strip, cells[first:])
        model = clean(unescape_formula(model))
        if not model or model in seen:
            raise InvalidInput(f"{where}: model must be a name that occurs once, not {model!r}")
        seen.add(model)
        for name, cell in zip(header[1:], values, strict=True):
            cell = restored_number(cell, table.separator)
            value = number(cell) if cell else math.nan
            if value is None:
                raise InvalidInput(f"{where}: {name} must be a number or empty, not {cell!r}")
            if cell:
                metrics[name][model] = value
    return metrics
