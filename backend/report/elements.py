"""What a report is made of: sections of sentences, tables, and figures that have their table."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Row = Mapping[str, Any]
LONG = 2000
"""Rows, above which a table is written as CSV alone, compressed: nobody prints it."""


@dataclass(frozen=True)
class Column:
    """A column as people read it: its head, and the text of a row's cell."""

    head: str
    text: Callable[[Row], str]
    is_number: bool = True


@dataclass(frozen=True)
class Table:
    """Rows with full precision, and the columns in which people read them."""

    name: str
    """Of its files, such as `pairs`."""
    caption: str
    columns: tuple[Column, ...]
    rows: Sequence[Row]
    """Plain data; in CSV an interval `ci` becomes `ci_low` and `ci_high`."""
    shown: int | None = None
    """How many rows the page shows, where there are many; files have them all."""

    @property
    def cells(self) -> list[list[str]]:
        """The texts of all rows."""
        return self._texts(self.rows)

    @property
    def shown_cells(self) -> list[list[str]]:
        """The texts of the rows that the page shows."""
        return self._texts(self.rows[: self.shown])

    @property
    def endings(self) -> tuple[str, ...]:
        """Of its files."""
        return ("csv.gz",) if len(self.rows) > LONG else ("csv", "md", "tex", "json")

    def _texts(self, rows: Sequence[Row]) -> list[list[str]]:
        return [[column.text(row) for column in self.columns] for row in rows]


@dataclass(frozen=True)
class Drawn:
    """A figure with the table of what it shows."""

    name: str
    title: str
    caption: str
    says: str
    """What someone who cannot see it should know, in a sentence."""
    draw: Callable[[float], "Figure"]
    """Makes it so many inches wide."""
    table: Table
    stamp: str = ""
    """What is to be read on the figure itself, wherever it is taken."""


@dataclass(frozen=True)
class Thumbnail:
    """A picture of the study, small, with what people made of it."""

    url: str
    """A `data:` URI."""
    words: str
    alt: str


@dataclass(frozen=True)
class Gallery:
    """A row of pictures under a heading."""

    title: str
    pictures: tuple[Thumbnail, ...]


@dataclass(frozen=True)
class Section:
    """One part of the page."""

    id: str
    title: str
    says: tuple[str, ...]
    """Paragraphs."""
    readings: tuple[tuple[str, str], ...] = ()
    """What is said of each model, or metric: its name, and the words."""
    more: tuple[str, ...] = ()
    """Paragraphs after the readings."""
    lead: Table | None = None
    """Stands before all else in the section."""
    tables: tuple[Table, ...] = ()
    figures: tuple[Drawn, ...] = ()
    galleries: tuple[Gallery, ...] = ()
    notes: tuple[str, ...] = ()
    """Smaller print: how the numbers were made."""


@dataclass(frozen=True)
class Report:
    """A page."""

    title: str
    summary: str
    facts: tuple[tuple[str, str], ...]
    """Short facts under the title: method, evaluators, when."""
    warnings: tuple[str, ...]
    sections: tuple[Section, ...]
    data: Mapping[str, Any] = field(default_factory=dict)
    """The findings that it was drawn from, with full precision."""
    banner: str = ""
    """What nobody may overlook, on top of the page."""

    @property
    def figures(self) -> list[Drawn]:
        return [figure for section in self.sections for figure in section.figures]

    @property
    def tables(self) -> list[Table]:
        """All tables, those of figures too; each name once."""
        own = [table for section in self.sections for table in (section.lead, *section.tables) if table]
        found = {table.name: table for table in [*own, *(figure.table for figure in self.figures)]}
        return [*found.values()]
