"""Tables as files: CSV and JSON with full precision, Markdown and LaTeX with formatted cells."""

import csv
import gzip
import io
import json
import re
from collections.abc import Mapping
from itertools import chain
from typing import Any

from backend.foundation.column_rows import ColumnRows
from backend.foundation.csv_formulas import escape_formula
from backend.report.elements import Table

_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{",
    "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}", "−": "$-$", "–": "--", "—": "---",
    "…": r"\ldots{}", "′": r"$'$", "≥": r"$\geq$", "≤": r"$\leq$", "×": r"$\times$", "ρ": r"$\rho$",
    "τ": r"$\tau$", "η": r"$\eta$", "ω": r"$\omega$", "²": r"$^2$", "“": "``", "”": "''", "’": "'",
    "↓": r"$\downarrow$", "↑": r"$\uparrow$",
}  # fmt: skip


def as_csv(table: Table) -> str:
    """Return a table's rows with full precision; an interval becomes two columns.

    Texts that a spreadsheet would read as formulas get a quote in front.
    """
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    if isinstance(table.rows, ColumnRows):
        _write_columns(writer, table.rows)
        return file.getvalue()
    rows = [_flat(row) for row in table.rows]
    nested = {key for row in table.rows for key, value in row.items() if isinstance(value, Mapping)}
    heads = [*dict.fromkeys(key for row in rows for key in row if key not in nested)]
    writer.writerow(heads)
    for row in rows:
        writer.writerow(["" if row.get(key) is None else escape_formula(row[key]) for key in heads])
    return file.getvalue()


def _write_columns(writer: Any, rows: ColumnRows) -> None:
    """Write rows that all have the same keys; a value shared by many rows is flattened once."""
    flat = [[_flat({part.key: value} if part.key else value) for value in part.values] for part in rows.parts]
    writer.writerow([key for dicts in flat for key in dicts[0]])
    cells = [
        [["" if cell is None else escape_formula(cell) for cell in one.values()] for one in dicts]
        for dicts in flat
    ]
    columns = (
        map(values.__getitem__, part.codes.tolist()) for values, part in zip(cells, rows.parts, strict=True)
    )
    writer.writerows(chain.from_iterable(row) for row in zip(*columns, strict=True))


def as_compressed_csv(table: Table) -> bytes:
    """Return the CSV of a table compressed by gzip, deterministically."""
    return gzip.compress(as_csv(table).encode(), mtime=0)


def as_json(table: Table) -> str:
    """Return a table's rows as JSON with full precision."""
    rows = [dict(row) for row in table.rows]
    data = {"table": table.name, "caption": table.title, "rows": rows}
    return json.dumps(data, allow_nan=False, ensure_ascii=False) + "\n"


def as_markdown(table: Table) -> str:
    """Return a table in Markdown, with markup in cells escaped."""
    heads = [_markdown(column.head) for column in table.columns]
    rules = ["---:" if column.is_number else "---" for column in table.columns]
    lines = [heads, rules, *([_markdown(cell) for cell in cells] for cells in table.cells)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def as_latex(table: Table) -> str:
    """Return a LaTeX `table` with `booktabs` rules, to be included in a paper by `\\input`.

    It needs `\\usepackage{booktabs}` and the T1 font encoding.
    """
    columns = "".join("r" if column.is_number else "l" for column in table.columns)
    lines = [_latex_row([column.head for column in table.columns]), r"\midrule"]
    lines += [_latex_row(cells) for cells in table.cells]
    return "\n".join(
        [
            r"% needs \usepackage{booktabs} and \usepackage[T1]{fontenc}",
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{latex(table.title)}}}",
            rf"\label{{tab:{table.name}}}",
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def latex(text: str) -> str:
    """Return text with LaTeX's special characters escaped."""
    return "".join(_LATEX.get(letter, letter) for letter in " ".join(text.split()))


def _latex_row(cells: list[str]) -> str:
    # A row that begins with a bracket or asterisk would be read as an argument of the preceding row break.
    texts = [f"{{{latex(cell)}}}" if cell.startswith(("[", "*")) else latex(cell) for cell in cells]
    return " & ".join(texts) + r" \\"


def _markdown(text: str) -> str:
    text = re.sub(r"([\\`*_\[\]|~])", r"\\\1", " ".join(text.split()))
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with an interval `ci` as `ci_low` and `ci_high`, and other lists joined by spaces.

    What a cell has by name gets columns of its own, such as `threshold_ms`.
    """
    flat: dict[str, Any] = {}
    for key, value in row.items():
        if key.endswith(("ci", "_80")):
            low, high = value or (None, None)
            flat |= {f"{key}_low": low, f"{key}_high": high}
        elif isinstance(value, Mapping):
            flat |= {f"{key}_{name}": cell for name, cell in _flat(value).items()}
        else:
            flat[key] = " ".join(map(str, value)) if isinstance(value, (list, tuple)) else value
    return flat
