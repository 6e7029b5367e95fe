"""Report section on the difficulty of pictures, as the crossed model estimates it, with the pictures."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from backend.analysis.models.crossed_model import UNDECIDED_WIDTH
from backend.foundation.counted_nouns import counted
from backend.report import formatting
from backend.report.context import FindingsView, SourceInfo
from backend.report.elements import Column, Gallery, Row, Section, Table, Thumbnail

_EACH = 12
"""Pictures shown from each end of a side: the most and the least difficult."""
_SIDES = 6
"""Sides of which pictures are shown: reals, and the first models."""
NEEDS_MORE = "needs more"


def section(view: FindingsView, info: SourceInfo) -> Section | None:
    """Return the section on pictures by difficulty; None if the crossed model was not fitted."""
    crossed = view.findings["crossed_model"]
    rows = crossed and crossed["by_picture"]
    if not rows:
        return None
    needing = sum(row["needs_evaluators"] for row in rows)
    paragraphs = (
        "How likely an average evaluator is to call a picture fake: a fake is difficult where this is "
        "unlikely, a real picture where it is likely. The crossed model estimates it from who judged the "
        "picture and how, and moves a picture of few answers towards the others of its side, so that none "
        "leads by the luck of a few answers. Under a picture stand this probability, its "
        f"{view.level} interval, and the number of answers.",
        f"{counted(needing, 'picture')} of {len(rows):,} {'needs' if needing == 1 else 'need'} more "
        f"evaluators: the {view.level} interval includes 50%, so that it is open what most people would "
        f"say, and is wider than {100 * UNDECIDED_WIDTH:.0f} points, so that more answers would tell.",
    )
    galleries = tuple(_galleries(view, info, rows))
    notes = ("The table as a file has every picture.",) if len(rows) > 2 * _EACH else ()
    return Section(
        "difficulty",
        "Difficulty of pictures",
        paragraphs,
        lead=_sides(rows),
        tables=(_table(view, rows),),
        galleries=galleries,
        notes=notes,
    )


def shown_names(view: FindingsView) -> list[str]:
    """Return the names of the stimuli that the section shows as thumbnails."""
    crossed = view.findings["crossed_model"]
    rows = crossed["by_picture"] if crossed else []
    return [row["image_path"] for _, side, _ in _shown(view, rows) for row in side]


def _grouped(rows: Sequence[Row]) -> Iterator[tuple[str, list[Row]]]:
    """Yield each side, the most difficult picture first."""
    for (_, model), side in groupby(rows, lambda row: (row["generated"], row["model"])):
        yield model, [*side]


def _shown(view: FindingsView, rows: Sequence[Row]) -> Iterator[tuple[str, list[Row], int]]:
    """Yield each side that is shown, with the rows of its pictures and the number of all; reals first."""
    sides = dict(_grouped(rows))
    for model in [name for name in ("", *view.names) if name in sides][:_SIDES]:
        side = sides[model]
        yield model, side if len(side) <= 2 * _EACH else [*side[:_EACH], *side[-_EACH:]], len(side)


def _galleries(view: FindingsView, info: SourceInfo, rows: Sequence[Row]) -> Iterator[Gallery]:
    for model, side, count in _shown(view, rows):
        pictures = tuple(
            _thumbnail(row, info.thumbnails[row["image_path"]])
            for row in side
            if row["image_path"] in info.thumbnails
        )
        what = f"Fakes of {model}" if model else "Real pictures"
        some = (
            "" if count == len(side) else f", the {_EACH} most and the {_EACH} least difficult of {count:,}"
        )
        if pictures:
            yield Gallery(f"{what}{some}", pictures, is_wide=True, are_strips=info.are_clips)


def _thumbnail(row: Row, url: str) -> Thumbnail:
    share = f"{100 * row['called_fake']:.0f}% {formatting.share_brackets(row['called_fake_ci'])}"
    judged = counted(row["number_guesses"], "answer")
    what = f"fake by {row['model']}" if row["generated"] else "real picture"
    return Thumbnail(
        url,
        f"{share}\n{judged}",
        f"{what}, called fake by {row['number_guesses_generated']} of {row['number_guesses']}",
        NEEDS_MORE if row["needs_evaluators"] else "",
    )


def _sides(rows: Sequence[Row]) -> Table:
    """Return how many pictures of each side need more evaluators."""
    counts = [
        {
            "model": model,
            "generated": bool(model),
            "pictures": len(side),
            "answers": sum(row["number_guesses"] for row in side) / len(side),
            "need_evaluators": sum(row["needs_evaluators"] for row in side),
        }
        for model, side in _grouped(rows)
    ]
    columns = (
        Column("pictures", _side_name, is_number=False),
        Column("judged", lambda row: f"{row['pictures']:,}"),
        Column("answers to each", lambda row: formatting.amount(row["answers"])),
        Column("need more evaluators", lambda row: f"{row['need_evaluators']:,}"),
    )
    return Table("difficulty-sides", "Pictures that need more evaluators", columns, counts)


def _side_name(row: Row) -> str:
    return f"fakes of {row['model']}" if row["generated"] else "reals"


def _table(view: FindingsView, rows: Sequence[Row]) -> Table:
    columns = (
        Column("pictures", _side_name, is_number=False),
        Column("picture", lambda row: row["image_path"], is_number=False),
        Column("answers", lambda row: str(row["number_guesses"])),
        Column("called fake", lambda row: str(row["number_guesses_generated"])),
        Column(
            f"by an average evaluator, {view.level} interval (%)",
            lambda row: (
                f"{formatting.amount(100 * row['called_fake'], '', 0)} "
                f"{formatting.share_brackets(row['called_fake_ci'])}"
            ),
        ),
        Column("more evaluators", lambda row: "needed" if row["needs_evaluators"] else "", is_number=False),
    )
    return Table(
        "difficulty", "Pictures by difficulty, the most difficult of each side first", columns, rows, shown=60
    )
