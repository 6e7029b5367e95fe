"""Tables as files: CSV and JSON with full precision, Markdown and LaTeX as people read them."""

import csv
import io
import json
import re
from collections.abc import Mapping
from typing import Any

from backend.formulas import escape_formula
from backend.report.parts import Table

_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{",
    "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}", "−": "$-$", "–": "--", "—": "---",
    "…": r"\ldots{}", "′": r"$'$", "≥": r"$\geq$", "≤": r"$\leq$", "×": r"$\times$", "ρ": r"$\rho$",
    "η": r"$\eta$", "ω": r"$\omega$", "²": r"$^2$", "“": "``", "”": "''", "’": "'",
}  # fmt: skip


def as_csv(table: Table) -> str:
    """Return a table's rows with full precision; an interval becomes two columns.

    Names that a spreadsheet would take for formulas get a quote in front.
    """
    rows = [_flat(row) for row in table.rows]
    heads = [*dict.fromkeys(key for row in rows for key in row)]
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(heads)
    for row in rows:
        writer.writerow(["" if row.get(key) is None else escape_formula(row[key]) for key in heads])
    return file.getvalue()


def as_json(table: Table) -> str:
    """Return a table's rows as JSON with full precision."""
    rows = [dict(row) for row in table.rows]
    return json.dumps({"table": table.name, "caption": table.caption, "rows": rows}, indent=2,
                      allow_nan=False, ensure_ascii=False) + "\n"  # fmt: skip


def as_markdown(table: Table) -> str:
    """Return a table for a README; nothing in a cell is taken for markup."""
    heads = [_markdown(column.head) for column in table.columns]
    rules = ["---:" if column.is_number else "---" for column in table.columns]
    lines = [heads, rules, *([_markdown(cell) for cell in cells] for cells in table.cells)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def as_latex(table: Table) -> str:
    """Return a `table` with `booktabs` rules, to be put into a paper with `\\input`.

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
            rf"\caption{{{latex(table.caption)}}}",
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
    """Return text with everything that LaTeX would take for markup escaped."""
    return "".join(_LATEX.get(letter, letter) for letter in " ".join(text.split()))


def _latex_row(cells: list[str]) -> str:
    # a row that begins with a bracket would be taken for an argument of the row break before it
    texts = [f"{{{latex(cell)}}}" if cell.startswith(("[", "*")) else latex(cell) for cell in cells]
    return " & ".join(texts) + r" \\"


def _markdown(text: str) -> str:
    text = re.sub(r"([\\`*_\[\]|~])", r"\\\1", " ".join(text.split()))
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with `ci_low` and `ci_high` for an interval `ci`; other lists joined by spaces."""
    flat: dict[str, Any] = {}
    for key, value in row.items():
        if key.endswith(("ci", "_80")):
            low, high = value or (None, None)
            flat |= {f"{key}_low": low, f"{key}_high": high}
        else:
            flat[key] = " ".join(map(str, value)) if isinstance(value, (list, tuple)) else value
    return flat
