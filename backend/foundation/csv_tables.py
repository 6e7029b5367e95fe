"""Tables in CSV as people have them: every command, route and page reads them here.

A file of which only a part could be read is refused with its line: a quote that stays open, a row shorter or
longer than the header, a zero byte, a byte that is not UTF-8. What programs add without changing a row is
accepted: byte order marks, `sep=;` before the header, `;` or tabs between cells (Excel), blanks around the
names of columns, rows of separators alone, columns of row names (R, pandas).
"""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path
from typing import NoReturn, TextIO

from backend.foundation.errors import InvalidInput
from backend.foundation.printable import printable
from backend.foundation.text_files import MOST_BYTES, not_utf8, open_text, read_text

BOM = "\ufeff"
"""Byte order mark; at the beginning of a file it tells Excel that the text is UTF-8."""
_SEPARATORS = ",;\t"
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?[\r\n]*', re.IGNORECASE)
_ROW_NAMES = re.compile(r"(Unnamed: [0-9]+)?")
"""The header of row names: empty (R, pandas), or what pandas calls an empty one."""
_BLOCK = 2**16
_OPEN_QUOTE = "unexpected end of data"


class CsvTable:
    """A CSV that is read once, from a file or text: its header, and its rows, each as wide as the header.

    Raises:
        InvalidInput: a row cannot be read as one; the message states the line at which it begins.
    """

    def __init__(self, path: Path, file: TextIO) -> None:
        self.path = path
        lines = chain.from_iterable(_blocks(path, file))
        first = next(lines, "").lstrip(BOM)
        self._lines_before = 0
        if stated := _SEPARATOR_LINE.fullmatch(first):
            first, self._lines_before = next(lines, ""), 1
        self.separator = stated[1] if stated else next((one for one in _SEPARATORS if one in first), ",")
        self._reader = csv.reader(chain([first], lines), delimiter=self.separator, strict=True)
        self.header = [name.strip() for name in next(self._refusing(iter(self._reader)), [])]
        """Names of the columns, without blanks around."""

    @property
    def line(self) -> int:
        """The last line that was read, from 1."""
        return self._lines_before + self._reader.line_num

    def require(self, needed: Sequence[str], known: Sequence[str] = ()) -> None:
        """Raise InvalidInput if the header lacks a needed column, or names one of these or `known` twice."""
        where = f"{printable(self.path)} line {max(self.line, 1)}: the header must name"
        if missing := [column for column in needed if column not in self.header]:
            hint = "; cells are separated by commas, semicolons or tabs" if len(self.header) == 1 else ""
            raise InvalidInput(f"{where} the columns {', '.join(needed)}; {', '.join(missing)} missing{hint}")
        wanted = dict.fromkeys((*needed, *known))
        if twice := [column for column in wanted if self.header.count(column) > 1]:
            raise InvalidInput(f"{where} a column once; {', '.join(twice)} repeated")

    def numbered(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the line at which each row begins, from 1, and its cells."""
        begins = self.line + 1
        for cells in self._refusing(iter(self._reader)):
            if any(map(str.strip, cells)):
                self._check(begins, cells)
                yield begins, cells
            begins = self.line + 1

    def batches(self, size: int) -> Iterator[list[list[str]]]:
        """Yield the cells of at most `size` rows at a time: as `numbered`, but three times as fast."""
        before = self.line
        while rows := self._read(size):
            is_wide = {*map(len, rows)} == {len(self.header)}
            is_regular = is_wide and all(map(str.strip, map(itemgetter(0), rows)))
            if not is_regular or self.line - before != len(rows):
                rows = [cells for cells in rows if any(map(str.strip, cells))]
                if any(len(cells) != len(self.header) or self._swallowed(cells) for cells in rows):
                    self._refuse_again()
            before = self.line
            if rows:
                yield rows

    def _read(self, size: int) -> list[list[str]]:
        try:
            return list(islice(self._reader, size))
        except csv.Error:
            self._refuse_again()

    def _refuse_again(self) -> NoReturn:
        """Raise the error for the first bad row, whose line only the slower way of reading knows."""
        with open_text(self.path) as file:
            for _ in CsvTable(self.path, file).numbered():
                pass
        raise InvalidInput(f"{printable(self.path)} must be CSV, each row with {len(self.header)} cells")

    def _refusing(self, rows: Iterator[list[str]]) -> Iterator[list[str]]:
        """Yield rows; convert the reader's errors to InvalidInput with the line at which the row begins."""
        begins = self.line + 1
        try:
            for cells in rows:
                yield cells
                begins = self.line + 1
        except csv.Error as error:
            is_open = str(error) == _OPEN_QUOTE
            why = "a quote in this row is not closed before the file ends" if is_open else error
            raise InvalidInput(f"{printable(self.path)} line {begins}: must be CSV; {why}") from None

    def _check(self, begins: int, cells: list[str]) -> None:
        where = f"{printable(self.path)} line {begins}"
        if len(cells) != len(self.header):
            raise InvalidInput(f"{where}: expected {len(self.header)} cells, got {len(cells)}")
        if self._swallowed(cells):
            raise InvalidInput(
                f"{where}: must be CSV; a quote in this row closes in another row, which would be lost"
            )

    def _swallowed(self, cells: list[str]) -> bool:
        """Return whether a cell of several lines has a row in it: as wide, with a cell equal to its own.

        Two rows with one quote each are valid CSV, a row whose cell ends in the other row.
        """
        for cell in cells:
            for line in re.split(r"[\r\n]+", cell)[1:] if "\n" in cell or "\r" in cell else ():
                parts = line.split(self.separator)
                is_row = len(parts) == len(cells) and len(cells) > 1
                if is_row and any(part and part == own for part, own in zip(parts, cells, strict=True)):
                    return True
        return False


def read_rows(
    path: Path, needed: Sequence[str], most_bytes: int = MOST_BYTES
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the line at which each row of a CSV begins, from 1, and its cells by column.

    Raises:
        NotFound: there is no such file.
        InvalidInput: it is no such table; the message states the line.
    """
    table = CsvTable(path, io.StringIO(read_text(path, most_bytes), newline=""))
    table.require(needed)
    for line, cells in table.numbered():
        yield line, dict(zip(table.header, cells, strict=True))


def are_row_names(column: str) -> bool:
    """Return whether a column is called as R and pandas call row names."""
    return _ROW_NAMES.fullmatch(column) is not None


def _blocks(path: Path, file: TextIO) -> Iterator[list[str]]:
    """Yield the lines of a file, about 64 kB at a time.

    Raises:
        InvalidInput: a line has a zero byte, as what a disk or a transfer lost has, or is not UTF-8.
    """
    number = 0
    try:
        while lines := file.readlines(_BLOCK):
            if "\0" in "".join(lines):
                number += next(i for i, line in enumerate(lines, start=1) if "\0" in line)
                raise InvalidInput(f"{printable(path)} line {number}: must be text, without zero bytes")
            number += len(lines)
            yield lines
    except UnicodeDecodeError:
        raise not_utf8(path) from None
