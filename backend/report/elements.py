"""Elements of a report: sections with sentences, tables, and figures, each with its own table."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure

Row = Mapping[str, Any]
ALONE = "over evaluators alone"
LONG = 2000
"""Maximum number of rows of a table for printing; a longer one is written as compressed CSV only."""


@dataclass(frozen=True)
class Column:
    """A column as displayed: its header, and a function that formats a row's cell."""

    head: str
    text: Callable[[Row], str]
    is_number: bool = True


def cell_of(key: str, shown: Callable[[Any], str] = str) -> Callable[[Row], str]:
    """Return the function of a column that shows the value of `key`, formatted by `shown`."""
    return lambda row: shown(row[key])


@dataclass(frozen=True)
class Table:
    """Rows with full precision, and the columns in which they are displayed."""

    name: str
    """Base name of its files, such as `pairs`."""
    caption: str
    columns: tuple[Column, ...]
    rows: Sequence[Row]
    """Plain data; in CSV, an interval `ci` becomes `ci_low` and `ci_high`."""
    shown: int | None = None
    """Maximum number of rows that the page shows, None for all; files have all rows."""
    is_folded: bool = False
    """Whether the page shows it only on request, as it does tables of many rows."""
    alone: str = ""
    """Columns whose intervals and p have no part of the pictures; `all`, or empty for none."""

    @property
    def title(self) -> str:
        """The caption, and what in the table is over evaluators alone."""
        which = f": {self.alone}" if self.alone != "all" else ""
        return f"{self.caption}; {ALONE}{which}" if self.alone else self.caption

    @property
    def cells(self) -> list[list[str]]:
        return self._texts(self.rows)

    @property
    def shown_cells(self) -> list[list[str]]:
        """The texts of the rows that the page shows."""
        return self._texts(self.rows[: self.shown])

    @property
    def endings(self) -> tuple[str, ...]:
        """File name suffixes of the formats in which the table is written."""
        return ("csv.gz",) if len(self.rows) > LONG else ("csv", "md", "tex", "json")

    def _texts(self, rows: Sequence[Row]) -> list[list[str]]:
        return [[column.text(row) for column in self.columns] for row in rows]


@dataclass(frozen=True)
class Figure:
    """A figure with the table of the data that it shows."""

    name: str
    title: str
    caption: str
    alt_text: str
    """A sentence that describes the figure to people who cannot see it."""
    draw: Callable[[float], "MatplotlibFigure"]
    """Function that draws the figure at a width in inches."""
    table: Table
    stamp: str = ""
    """Text on the figure itself, which remains if the figure is copied elsewhere."""


@dataclass(frozen=True)
class Thumbnail:
    """A small version of a stimulus, with a text on the responses to it."""

    url: str
    """A `data:` URI."""
    words: str
    alt: str
    mark: str = ""
    """A text that stands out."""


@dataclass(frozen=True)
class Gallery:
    """A row of thumbnails under a heading."""

    title: str
    pictures: tuple[Thumbnail, ...]
    is_large: bool = False
    """Whether its pictures are shown at twice the size, for their details."""
    is_wide: bool = False
    """Whether the texts need more room than a few digits."""
    are_strips: bool = False
    """Whether its pictures are film strips of clips."""


@dataclass(frozen=True)
class Section:
    """A section of the page."""

    id: str
    title: str
    paragraphs: tuple[str, ...]
    model_notes: tuple[tuple[str, str], ...] = ()
    """Name of each model or metric, and the sentence on it."""
    more_paragraphs: tuple[str, ...] = ()
    """Paragraphs after the model notes."""
    lead: Table | None = None
    """Table placed first in the section."""
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    galleries: tuple[Gallery, ...] = ()
    notes: tuple[str, ...] = ()
    """Notes in small print on how the numbers were computed."""
    brief: tuple[str | Table, ...] = ()
    """Those of its sentences and tables that `openhype score` prints without `--full`."""


@dataclass(frozen=True)
class Report:
    """A complete report."""

    title: str
    summary: str
    facts: tuple[tuple[str, str], ...]
    """Short facts under the title, as name and text: method, evaluators, dates."""
    warnings: tuple[str, ...]
    sections: tuple[Section, ...]
    data: Mapping[str, Any] = field(default_factory=dict)
    """The findings that the report is made from, with full precision."""
    banner: str = ""
    """A prominent notice at the top of the page."""

    @property
    def figures(self) -> list[Figure]:
        return [figure for section in self.sections for figure in section.figures]

    @property
    def tables(self) -> list[Table]:
        """All tables, including those of figures; each name once."""
        own = [table for section in self.sections for table in (section.lead, *section.tables) if table]
        by_name = {table.name: table for table in [*own, *(figure.table for figure in self.figures)]}
        return [*by_name.values()]
