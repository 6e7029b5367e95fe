"""Escaping of CSV cells that a spreadsheet would interpret as formulas, so that it reads them as text.

A name that begins with `=` is a formula to Excel, LibreOffice and Google Sheets, whoever wrote it. The rule
is OWASP's (https://owasp.org/www-community/attacks/CSV_Injection, and ASVS 5.0, requirement 1.2.10): a text
that begins with one of `TRIGGERS` gets a single quote in front. Numbers stay numbers. A text that begins
with single quotes before such a character gets one more, so that every text can be recovered.
"""

import re
from typing import Any

TRIGGERS = "=+-@\t\r\n\0＝＋－＠"
"""Characters that begin a formula or are dropped before one; the last four are full-width forms."""
_FIRST = frozenset(f"'{TRIGGERS}")
_FORMULA = re.compile(rf"'*[{re.escape(TRIGGERS)}]")
_ESCAPED = re.compile(rf"'+[{re.escape(TRIGGERS)}]")
_NUMBER = r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?"
_NUMBERS = re.compile(rf"{_NUMBER}( {_NUMBER})*")


def escape_formula(value: Any) -> Any:
    """Return a cell's value, with a single quote in front if a spreadsheet would read it as a formula.

    Numbers, and texts of numbers separated by spaces, are returned unchanged.
    """
    if not isinstance(value, str) or value[:1] not in _FIRST:
        return value
    if not _FORMULA.match(value) or _NUMBERS.fullmatch(value):
        return value
    return f"'{value}"


def unescape_formula(text: str) -> str:
    """Return the text that was passed to `escape_formula`."""
    return text[1:] if (text.startswith("'") and _ESCAPED.match(text) is not None) else text
