"""Report section on pictures that were not shown as the protocol says."""

from backend.report import formatting
from backend.report.context import FindingsView
from backend.report.elements import Column, Section, Table

_MEANINGS = {
    "resized": "the window changed, so that the picture was fitted again",
    "not_whole": "the picture was not whole on the screen",
    "forced_colors": "the system forces colours (high contrast)",
    "inverted_colors": "the system inverts colours",
    "darkened": "the browser darkens pages",
    "extension": "an extension changes the colours of pages",
    "overlay": "something of an extension lay over the picture",
    "size": "another style sheet changed the size of the picture",
    "background": "the surround was not the gray of the page",
    "filter": "a filter was applied",
    "opacity": "the picture was translucent",
    "blend": "the picture was blended with what was behind it",
    "transform": "the picture was transformed",
    "translated": "the texts of the page were translated by the browser or an extension",
}


def section(view: FindingsView) -> Section | None:
    """Return what differed in how pictures were shown; None if nothing did."""
    rows = view.findings.get("surround")
    if not rows:
        return None
    text = (
        "Some pictures, the gray around them or the texts of the page were not shown as the protocol says, "
        "as far as the page could see. These responses are in the scores."
    )
    columns = (
        Column("what differed", lambda row: _MEANINGS.get(row["altered"]) or row["altered"], is_number=False),
        Column("responses", lambda row: f"{row['responses']:,}"),
        Column("share", lambda row: formatting.share(row["share"], 1)),
    )
    table = Table("surround", "Pictures and their surround", columns, rows)
    return Section("surround", "Pictures and their surround", (text,), tables=(table,))
