"""What pandas, R, Excel and LibreOffice make of a cell when they read a responses file and write it again."""

import re
from collections.abc import Sequence

from backend.experiment.response_columns import COLUMNS, Kind
from backend.foundation.csv_formulas import unescape_formula

MISSING = frozenset(("NA", "<NA>", "N/A", "NULL", "null", "None"))
"""What programs write for an empty cell; a text of which is a name, unless the whole column has no other."""
NAN = "NaN"
"""What MATLAB writes for an empty number, and in each cell of an empty column; a metric's is refused."""
FAULTS = frozenset(("#NAME?", "#VALUE!", "#REF!", "#DIV/0!", "#NUM!", "#NULL!", "#N/A"))
"""What spreadsheets make of a cell that they took for a formula, as `=gan` or `-v2`."""
_INFINITY = frozenset(("inf", "infinity"))
"""What becomes of HYPE-infinity's name, in lower case: pandas and R read it as a number."""
_FLOAT = re.compile(r"([0-9]+)\.0*")
_DECIMAL_COMMA = re.compile(r"-?[0-9]+,[0-9]+([eE][+-]?[0-9]+)?")
_UNUSUAL = {
    Kind.WHOLE: re.compile(r"[^0-9\n]"),
    Kind.NUMBER: re.compile(r"[^-0-9.e\n]"),
    Kind.LIST: re.compile(r"[^-0-9.e\n ]"),
}
"""By the kind of a column: what occurs in no cell that openhype wrote, found in all cells at once."""


def restored(name: str, cells: Sequence[str], separator: str = ",") -> Sequence[str]:
    """Return the cells of a known column as openhype writes them; a cell that it cannot have is unchanged.

    Numbers may have got a decimal comma where cells are not separated by commas, and whole numbers a
    decimal point (pandas, where cells of the column are empty).
    """
    kind = COLUMNS[name].kind
    if kind is Kind.TEXT:
        return _unescaped(cells)
    if kind in _UNUSUAL and not _UNUSUAL[kind].search("\n".join(cells)):
        return cells
    new = {cell: _restored(name, kind, cell.strip(), separator) for cell in set(cells)}
    return [*map(new.__getitem__, cells)]


def restored_number(cell: str, separator: str) -> str:
    """Return the cell of a number: empty if it is missing, and without the comma of decimals.

    Args:
        separator: between cells; beside commas, one in a number may as well be that of thousands.
    """
    if cell in MISSING:
        return ""
    return cell.replace(",", ".") if separator != "," and _DECIMAL_COMMA.fullmatch(cell) else cell


def _restored(name: str, kind: Kind, cell: str, separator: str) -> str:
    if name == "method" and cell.lower() in _INFINITY:
        return "infinity"
    cell = "" if cell == NAN else restored_number(cell, separator)
    whole = _FLOAT.fullmatch(cell) if kind in (Kind.WHOLE, Kind.WHOLES) else None
    return whole[1] if whole else cell


def _unescaped(cells: Sequence[str]) -> Sequence[str]:
    """Return cells without the quotes that an export puts before texts like formulas (`escape_formula`)."""
    if "\n'" in "\n" + "\n".join(cells):  # fast check: rare, slow
        return [unescape_formula(cell) for cell in cells]
    return cells
