"""Report section on marks: where evaluators say that pictures give themselves away."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from backend.analysis.marks import FEWEST_MARKS, WHERE, heat_map, of_rows
from backend.foundation.counted_nouns import counted
from backend.report import figures, formatting
from backend.report.context import FindingsView, SourceInfo
from backend.report.elements import Column, Figure, Gallery, Section, Table, Thumbnail, cell_of
from backend.report.heat_maps import drawn

_MODELS = 6
"""Maximum number of models whose pictures are shown."""
_PANELS = 9
"""Maximum number of maps in the figure, that of the reals included."""
_REALS = "real pictures"


def section(view: FindingsView, info: SourceInfo) -> Section | None:
    """Return the section of heat maps and marks; None if there are no marks."""
    data = view.findings.get("marks")
    if not data:
        return None
    groups = [{**group, "name": _name(group)} for group in data["groups"]]
    notes = [f"{formatting.capital(note)}." for note in data["notes"]]
    if not groups:
        return Section("marks", "Marks", ("No picture that was called fake has a mark.",), notes=tuple(notes))
    pictures = [
        {"of": group["name"], "model": group["model"], **row} for group in groups for row in group["pictures"]
    ]
    return Section(
        "marks",
        "Marks",
        (_meaning(data["rows"]), _telling(groups)),
        model_notes=tuple((group["name"], _group_note(group)) for group in _first(groups, _PANELS - 1)),
        tables=(*([_pictures(pictures)] if pictures else []), _all(data["rows"])),
        figures=(_figure(groups, data["rows"]),),
        galleries=tuple(_galleries(view, info, groups, data["rows"])),
        notes=(*_notes(view), *notes),
    )


def shown_names(view: FindingsView) -> list[str]:
    """Return the names of the stimuli on which the page shows marks."""
    groups = _first((view.findings.get("marks") or {}).get("groups") or [], _MODELS)
    return [*dict.fromkeys(row["picture"] for group in groups for row in group["pictures"])]


def _first(groups: list[Any], models: int) -> list[Any]:
    """Return the groups of the first models, and that of the reals, which the page shows."""
    return [
        *[group for group in groups if group["model"] is not None][:models],
        *[group for group in groups if group["model"] is None],
    ]


def _name(group: Mapping[str, Any]) -> str:
    return _REALS if group["model"] is None else group["model"]


def _meaning(rows: list[Mapping[str, Any]]) -> str:
    boxes = sum(row["width"] is not None or row["height"] is not None for row in rows)
    kinds = "box" if boxes == len(rows) else "point" if not boxes else "point or box"
    return (
        f"On pictures that they called fake, evaluators marked what gave it away by a {kinds}: "
        f"{counted(len(rows), 'mark')} in all. The map of a model joins the marks on all of its fakes; marks "
        "on real pictures show what is suspected wrongly."
    )


def _telling(groups: list[dict[str, Any]]) -> str:
    shown = [row for group in groups for row in group["pictures"]]
    if not shown:
        return f"No picture has {FEWEST_MARKS} marks or more; so none is shown by itself."
    beyond = sum(row["is_beyond_chance"] for row in shown)
    return (
        f"The most telling pictures, with {FEWEST_MARKS} marks or more, are shown by themselves: first those "
        "whose marks agree beyond chance, that is more than marks of different pictures do "
        f"({beyond} of {len(shown)}), then by the number of marks."
    )


def _group_note(group: Mapping[str, Any]) -> str:
    return (
        f"{counted(group['marks'], 'mark')} by {counted(group['evaluators'], 'evaluator')}, in "
        f"{counted(group['called_fake'], 'answer')} “fake”; {_most(group['where'])}."
    )


def _most(where: Mapping[str, float]) -> str:
    first = max(where, key=lambda name: where[name])
    return f"most in the {first} ({formatting.share(where[first])}; evenly spread, 11%)"


def _galleries(
    view: FindingsView, info: SourceInfo, groups: list[dict[str, Any]], rows: list[dict[str, Any]]
) -> list[Gallery]:
    made = []
    for group in _first(groups, _MODELS):
        own = [row for row in rows if row["model"] == group["model"]]
        pictures = []
        for row in group["pictures"]:
            some = of_rows(one for one in own if one["picture"] == row["picture"])
            of = "real picture" if group["model"] is None else f"fake by {group['model']}"
            pictures.append(
                Thumbnail(
                    drawn(some, info.marked.get(row["picture"]), bool(view.data["simulated"])),
                    _caption(row),
                    f"Heat map of {counted(row['marks'], 'mark')} on a {of}: most in the {row['where']} "
                    f"({formatting.share(row['share_there'])})",
                )
            )
        if pictures:
            title = "Real pictures that were called fake" if group["model"] is None else group["name"]
            made.append(Gallery(f"{title}: marks", tuple(pictures), is_large=True))
    return made


def _caption(row: Mapping[str, Any]) -> str:
    beyond = "" if row["is_beyond_chance"] else ", not beyond chance"
    agreement = "" if row["agreement"] is None else f"; agreement {_agreement(row)}{beyond}"
    return (
        f"{row['called_fake']} of {row['guesses']} called it fake; {counted(row['marks'], 'mark')}, "
        f"{formatting.share(row['share_there'])} {row['where']}{agreement}"
    )


def _agreement(row: Mapping[str, Any]) -> str:
    return formatting.coefficient(row["agreement"])


def _figure(groups: list[dict[str, Any]], rows: list[dict[str, Any]]) -> Figure:
    flat = [{"of": group["name"], "marks": group["marks"], **group["where"]} for group in groups]
    columns = (
        Column("marks on", lambda row: row["of"], is_number=False),
        Column("marks", lambda row: f"{row['marks']:,}"),
        *(Column(name, cell_of(name, formatting.share)) for name in WHERE),
    )
    table = Table("marks_where", "Shares of the marks in the ninths of the picture", columns, flat)
    panels = _first(groups, _PANELS - 1)
    maps = {
        group["name"]: heat_map(of_rows(row for row in rows if row["model"] == group["model"]))
        for group in panels
    }

    return Figure(
        "marks",
        "Where pictures were marked",
        "Where pictures were marked, all of a model together: the brighter, the more marks (each panel up to "
        "its own highest density). Lines divide the picture into thirds.",
        " ".join(f"{group['name']}: {_most(group['where'])}." for group in panels),
        lambda width_in: figures.marks.maps(maps, width_in),
        table,
    )


def _pictures(rows: list[dict[str, Any]]) -> Table:
    columns = (
        Column("of", lambda row: row["of"], is_number=False),
        Column("picture", lambda row: row["picture"], is_number=False),
        Column("marks", lambda row: str(row["marks"])),
        Column("called fake", lambda row: f"{row['called_fake']} of {row['guesses']}"),
        Column("most marks", lambda row: f"{row['where']} {formatting.share(row['share_there'])}"),
        Column("agreement", _agreement),
        Column("p", lambda row: formatting.bare_p(row["p"])),
    )
    return Table("marked_pictures", "The most telling pictures", columns, rows, shown=60)


def _all(rows: list[dict[str, Any]]) -> Table:
    columns = (
        Column("model", lambda row: row["model"] or formatting.NONE, is_number=False),
        Column("is", lambda row: row["truth"], is_number=False),
        Column("picture", lambda row: row["picture"] or formatting.NONE, is_number=False),
        Column("evaluator", lambda row: row["evaluator"], is_number=False),
        *(
            Column(f"{name} (‰)", cell_of(name, partial(formatting.amount, digits=0)))
            for name in ("x", "y", "width", "height")
        ),
    )
    return Table("marks", "All marks", columns, rows, shown=20, is_folded=True)


def _notes(view: FindingsView) -> list[str]:
    return [
        "Agreement is 1 if all marks of a picture are at the same position, and 0 if they agree no more than "
        "marks of different pictures do. Beyond chance: fewer than "
        f"{formatting.share(view.alpha)} of as many marks sampled from all pictures agree as well; of many "
        "pictures without anything to mark, as many would be so by luck."
    ]
