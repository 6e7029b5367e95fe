"""Distances of a metric by item, read from a CSV: `item, d0, d1` for triplets (2AFC), `item, d` for pairs.

Items are named as in the votes (`traditional/000123`), or by the part after the set where that belongs to
one set only; a picture's file extension is ignored. Other columns are ignored too.
"""

import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np

from backend.analysis.agreement.votes import JND, TWO_AFC
from backend.experiment.response_columns import number
from backend.foundation.counted_nouns import MOST_NAMED, some_of
from backend.foundation.csv_formulas import unescape_formula
from backend.foundation.csv_tables import CsvTable
from backend.foundation.errors import InvalidInput, brief
from backend.foundation.names import composed
from backend.foundation.printable import printable
from backend.foundation.text_files import read_text
from backend.responses.reading.rewritten_cells import restored_number
from backend.stimuli.images import ENDINGS

_MOST_BYTES = 2**28
_COLUMNS = {TWO_AFC: ("d0", "d1"), JND: ("d",)}
_EXTENSIONS = ENDINGS | {".npy"}


@dataclass(frozen=True)
class Distances:
    """The distances of one metric."""

    values: np.ndarray
    """Shape (items, 2) for d0 and d1, or (items,)."""
    extra: tuple[str, ...]
    """Names in the file that are no item with votes."""


def kind_of_distances(path: Path) -> str:
    """Return whether a file has distances for triplets (`2afc`) or for pairs (`jnd`), by its header.

    Raises:
        NotFound: the file does not exist.
        InvalidInput: it has neither, or both.
    """
    header = {*_table(Path(path)).header}
    kinds = [kind for kind, names in _COLUMNS.items() if {*names} <= header]
    if len(kinds) != 1:
        raise InvalidInput(
            f"{printable(path)} line 1: the header must name item, and d0 and d1 (2AFC) or d (JND)"
        )
    return kinds[0]


def read_distances(
    path: Path, kind: str, items: Sequence[str], judged: str = "items with votes"
) -> Distances:
    """Return the distances of the items.

    Args:
        judged: what the items are, for messages.

    Raises:
        NotFound: the file does not exist.
        InvalidInput: it is not such a table, a distance is not a finite number, an item is named twice or
            not at all; the message states the line, or the items.
    """
    path = Path(path)
    names = _COLUMNS.get(kind, _COLUMNS[JND])
    known = _Items(items)
    values = np.full((len(items), len(names)), np.nan)
    line_of: dict[str, int] = {}
    extra = []
    for line, item, cells in _rows(path, ("item", *names)):
        where = f"{printable(path)} line {line}"
        place = known.named(item, where)
        key = items[place] if place is not None else item
        if key in line_of:
            raise InvalidInput(f"{where}: {key} must occur once, and is on line {line_of[key]} too")
        line_of[key] = line
        numbers = [_finite(where, name, cell) for name, cell in zip(names, cells, strict=True)]
        if place is None:
            extra.append(item)
        else:
            values[place] = numbers
    _check_complete(path, items, values, extra, judged)
    return Distances(values if kind == TWO_AFC else values[:, 0], tuple(extra))


def listed(names: Sequence[str], most: int = MOST_NAMED) -> str:
    """Return the first names, and how many more there are."""
    return some_of([*map(printable, names)], most)


def without_extension(name: str) -> str:
    """Return a name without the ending of a picture's file, if it has one."""
    ending = PurePosixPath(name).suffix
    return name[: -len(ending)] if ending.lower() in _EXTENSIONS else name


class _Items:
    """Items by all names that a file may use for them."""

    def __init__(self, items: Sequence[str]) -> None:
        self._items = items
        self._exact = {composed(item): i for i, item in enumerate(items)}
        self._by_stem: dict[str, list[int]] = {}
        for item, i in self._exact.items():
            self._by_stem.setdefault(item.partition("/")[2] or item, []).append(i)

    def named(self, name: str, where: str) -> int | None:
        """Return the index of the item called `name`, None if there is none."""
        name = composed(name)
        bare = without_extension(name)
        for each in (name, bare):
            if each in self._exact:
                return self._exact[each]
        for each in (name, bare):
            names = self._by_stem.get(each, [])
            if len(names) > 1:
                raise InvalidInput(
                    f"{where}: {brief(name)} may be {listed([self._items[i] for i in names])}; name the set "
                    "too"
                )
            if names:
                return names[0]
        return None


def _rows(path: Path, wanted: Sequence[str]) -> Iterator[tuple[int, str, list[str]]]:
    """Yield line number, item and cells of the wanted columns of each row."""
    table = _table(path)
    table.require(wanted)
    places = [table.header.index(name) for name in wanted]
    for line, cells in table.numbered():
        item, *others = (cells[place].strip() for place in places)
        if not item:
            raise InvalidInput(f"{printable(path)} line {line}: item must be a name, not {item!r}")
        yield (
            line,
            unescape_formula(item),
            [restored_number(cell, table.separator) or cell for cell in others],
        )


def _table(path: Path) -> CsvTable:
    table = CsvTable(path, io.StringIO(read_text(path, _MOST_BYTES), newline=""))
    table.header = [name.lower() for name in table.header]
    return table


def _finite(where: str, name: str, cell: str) -> float:
    value = number(cell)
    if value is None:
        raise InvalidInput(f"{where}: {name} must be a finite number, not {brief(cell)}")
    return value


def _check_complete(
    path: Path, items: Sequence[str], values: np.ndarray, extra: Iterable[str], judged: str
) -> None:
    missing = [items[int(i)] for i in np.flatnonzero(np.isnan(values).any(axis=1))]
    if missing:
        others = [*extra]
        hint = f"; it names {listed(others)}, which are none of these" if others else ""
        raise InvalidInput(
            f"{printable(path)} has no distance for {len(missing):,} of {len(items):,} {judged}: "
            f"{listed(missing)}{hint}"
        )
