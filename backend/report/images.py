"""Report section on stimuli: which ones fooled evaluators most, and which least."""

from collections.abc import Sequence

from backend.foundation.counted_nouns import counted
from backend.report import formatting
from backend.report.context import FindingsView, SourceInfo
from backend.report.elements import Column, Gallery, Row, Section, Table, Thumbnail

FEWEST_GUESSES = 3
"""Minimum number of responses to a fake for it to be ranked."""
_EACH = 8
_MODELS = 6


def section(view: FindingsView, info: SourceInfo) -> Section | None:
    """Return the section of fakes ranked by how often they passed for real; None if stimuli are not named."""
    rows = view.findings.get("images") or []
    if not rows:
        return None
    galleries: list[Gallery] = []
    ranked: list[Row] = []
    guesses, fakes = _counted(rows)
    has_difficulty = bool(view.findings["crossed_model"])  # which is shown with the same pictures
    for model in view.names:
        most, least = extremes(fakes.get(model, ()), model)
        ranked += [{"rank": f"most {i}", **row} for i, row in enumerate(most, 1)]
        ranked += [{"rank": f"least {i}", **row} for i, row in enumerate(least, 1)]
        if len(galleries) < 2 * _MODELS and not has_difficulty:
            galleries += _galleries(info, model, most, least)
    paragraphs = [
        f"{counted(len(rows), 'picture')} were judged {guesses / len(rows):.1f} times on "
        "average. "
        f"Fakes judged {FEWEST_GUESSES} times or more are ranked by the end of their {view.level} "
        "interval nearest to the others, so that a picture does not lead by the luck of a few answers."
    ]
    notes = [
        "Of many pictures judged by few people, the extremes are partly luck; new people would judge them "
        "less extremely."
    ]
    if not view.is_percent:
        notes.append("In HYPE-time pictures are shown for different times, which these shares mix.")
    if not ranked:
        paragraphs = [
            f"{counted(len(rows), 'picture')} were judged, none of the fakes {FEWEST_GUESSES} "
            "times or more; so none is ranked."
        ]
    tables = (_ranked(view, ranked),) if ranked else ()
    return Section(
        "pictures", "Pictures", tuple(paragraphs), tables=(*tables, _all(view, rows)),
        galleries=tuple(galleries), notes=tuple(notes),
    )  # fmt: skip


def shown_names(view: FindingsView) -> list[str]:
    """Return the names of the stimuli that the page shows as thumbnails."""
    if view.findings["crossed_model"]:
        return []
    _, fakes = _counted(view.findings.get("images") or [])
    sides = (side for model in view.names[:_MODELS] for side in extremes(fakes.get(model, ()), model))
    return [row["image_path"] for side in sides for row in side]


def _counted(rows: Sequence[Row]) -> tuple[int, dict[str, list[Row]]]:
    """Return the number of responses, and the fakes that are ranked, by model."""
    guesses = 0
    fakes: dict[str, list[Row]] = {}
    for row in rows:
        guesses += row["number_guesses"]
        if row["generated"] and row["number_guesses"] >= FEWEST_GUESSES:
            fakes.setdefault(row["model"], []).append(row)
    return guesses, fakes


def extremes(rows: Sequence[Row], model: str) -> tuple[list[Row], list[Row]]:
    """Return a model's most fooling and least fooling fakes; no fake is in both lists.

    A fake that fooled nobody is never in the first list, and one that fooled everybody never in the second.
    """
    fakes = [
        row
        for row in rows
        if row["model"] == model and row["generated"] and row["number_guesses"] >= FEWEST_GUESSES
    ]
    each = min(_EACH, len(fakes) // 2)
    fooling = [row for row in fakes if row["error"] > 0]
    most = sorted(fooling, key=lambda row: (-row["ci"][0], -row["error"], row["image_path"]))[:each]
    taken = {row["image_path"] for row in most}
    rest = [row for row in fakes if row["image_path"] not in taken and row["error"] < 1]
    least = sorted(rest, key=lambda row: (row["ci"][1], row["error"], row["image_path"]))[:each]
    return most, least


def _galleries(info: SourceInfo, model: str, most: Sequence[Row], least: Sequence[Row]) -> list[Gallery]:
    made = []
    for what, rows in (("fooled people most", most), ("fooled people least", least)):
        pictures = tuple(
            Thumbnail(
                info.thumbnails[row["image_path"]],
                f"{_times(row)}",
                f"picture by {model}, taken for real {_times(row)} times",
            )
            for row in rows
            if row["image_path"] in info.thumbnails
        )
        if pictures:
            made.append(Gallery(f"{model}: {what}", pictures, are_strips=info.are_clips))
    return made


def _times(row: Row) -> str:
    return f"{row['number_guesses'] - row['number_guesses_generated']} of {row['number_guesses']}"


def _ranked(view: FindingsView, rows: list[Row]) -> Table:
    columns = (
        Column("model", lambda row: row["model"], is_number=False),
        Column("fooled", lambda row: row["rank"], is_number=False),
        Column("picture", lambda row: row["image_path"], is_number=False),
        Column("taken for real", _times),
        Column(
            f"share, {view.level} interval (%)",
            lambda row: (
                f"{formatting.amount(100 * row['error'], '', 0)} {formatting.share_brackets(row['ci'])}"
            ),
        ),
    )
    return Table("fooling", "Fakes that fooled people most and least", columns, rows, shown=200)


def _all(view: FindingsView, rows: Sequence[Row]) -> Table:
    columns = (
        Column("model", lambda row: row["model"], is_number=False),
        Column("is", lambda row: "fake" if row["generated"] else "real", is_number=False),
        Column("picture", lambda row: row["image_path"], is_number=False),
        Column("guesses", lambda row: str(row["number_guesses"])),
        Column("called fake", lambda row: str(row["number_guesses_generated"])),
        Column("soft label", lambda row: formatting.coefficient(row["soft_label"])),
    )
    return Table("images", "All pictures", columns, rows, shown=60)
