"""A report as text for a terminal: the sentences and numbers of its page, without drawings and pictures."""

import textwrap
from collections.abc import Iterable, Iterator

from backend.report.elements import Report, Section, Table

_GAP = "  "


def as_text(report: Report, width: int | None = None) -> str:
    """Return a whole report; sentences are wrapped at `width` columns, if it is given."""
    facts = "\n".join(f"{name}: {text}" for name, text in report.facts)
    head = (report.banner, report.title, report.summary, facts)
    return "\n\n".join([*_texts(head, width), *_sections(report, width), *_warnings(report, width)])


def as_sections(report: Report, width: int | None = None) -> str:
    """Return the sections of a report alone."""
    return "\n\n".join([*_texts([report.banner], width), *_sections(report, width)])


def as_brief_text(report: Report, width: int | None = None) -> str:
    """Return what the sections of a report have marked as `brief`."""
    parts = (part for section in report.sections for part in section.brief)
    head = "\n".join(_texts((report.banner, report.title), width))
    return "\n\n".join([head, *_texts(parts, width), *_warnings(report, width)])


def _aligned(table: Table) -> str:
    """Return the rows of a table that the page shows, in columns under their headers."""
    lines = [[column.head for column in table.columns], *table.shown_cells]
    texts = [[_printable(cell) for cell in cells] for cells in lines]
    widths = [max(map(len, cells)) for cells in zip(*texts, strict=True)]
    sides = [str.rjust if column.is_number else str.ljust for column in table.columns]
    return "\n".join(
        _GAP.join(side(cell, width) for side, cell, width in zip(sides, cells, widths, strict=True)).rstrip()
        for cells in texts
    )


def _sections(report: Report, width: int | None) -> Iterator[str]:
    numbers = {figure.name: i for i, figure in enumerate(report.figures, 1)}
    for section in report.sections:
        title = f"{section.title}\n{'=' * len(section.title)}"
        yield "\n\n".join([title, *_texts(_parts(section, numbers), width)])


def _parts(section: Section, numbers: dict[str, int]) -> Iterator[str | Table]:
    """Yield the parts of a section in the order of the page; `numbers` are those of the figures, by name."""
    if section.lead:
        yield section.lead
    for figure in section.figures:
        yield f"Figure {numbers[figure.name]}. {figure.caption}"
        if not section.lead or figure.table.name != section.lead.name:
            yield figure.table
    yield from section.paragraphs
    yield "\n".join(f"{name}: {text}" for name, text in section.model_notes)
    yield from section.more_paragraphs
    yield from section.tables
    yield from section.notes


def _texts(parts: Iterable[str | Table], width: int | None) -> Iterator[str]:
    for part in parts:
        if isinstance(part, Table):
            yield _table(part, width)
        elif part:
            yield "\n".join(_wrapped(line, width) for line in part.split("\n"))


def _table(table: Table, width: int | None) -> str:
    lines = [_wrapped(table.title, width)]
    if table.shown != 0:
        lines.append(_aligned(table))
    if table.shown and len(table.rows) > table.shown:
        lines.append(f"{table.shown:,} of {len(table.rows):,} rows.")
    return "\n".join(lines)


def _warnings(report: Report, width: int | None) -> list[str]:
    """Return what to bear in mind, as one text; nothing if there is nothing."""
    lines = [_wrapped(f"- {text}", width) for text in report.warnings]
    return ["\n".join(["To bear in mind", *lines])] if lines else []


def _wrapped(text: str, width: int | None) -> str:
    text = _printable(text)
    if width is None:
        return text
    return textwrap.fill(text, width, break_long_words=False, break_on_hyphens=False)


def _printable(text: str) -> str:
    """Return a text in one line, without characters that would control the terminal."""
    return "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in " ".join(text.split())
    )
