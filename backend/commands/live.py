"""Live progress of studies: refreshed in place on a terminal; in a pipe, one line for each change."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from backend.experiment.money import format_money
from backend.web.progress import as_text

_UP_AND_CLEAR = "\x1b[{}F\x1b[J"


def follow(
    read: Callable[[], Sequence[Mapping[str, Any]]],
    write: Callable[[str], None],
    wait: Callable[[], None],
    columns: int | None = None,
    as_line: Callable[[Sequence[Mapping[str, Any]]], str] | None = None,
) -> None:
    """Show what `read` returns, until interrupted.

    Args:
        columns: width of the terminal; None in a pipe, where a line is written only if it has changed.
        as_line: formats the line for a pipe.
    """
    last, height = None, 0
    as_line = as_line or changes
    try:
        while True:
            data = read()
            if columns is None:
                text = as_line(data)
                if text != last:
                    write(text + "\n")
            else:
                lines = [line[: columns - 1] for line in _screen(data)]
                text = "\n".join(lines) + "\n"
                if text != last:
                    write((_UP_AND_CLEAR.format(height) if height else "") + text)
                    height = len(lines)
            last = text
            wait()
    except KeyboardInterrupt:
        return


def changes(progress: Sequence[Mapping[str, Any]]) -> str:
    """Return a summary of several studies in one line."""
    return "; ".join(_line(data) for data in progress)


def _screen(progress: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = []
    for data in progress:
        lines += [*as_text(data).splitlines(), *(f"  {text}" for text in _scores(data))]
    return [*lines, "Ctrl-C ends this; the studies continue"]


def _line(data: Mapping[str, Any]) -> str:
    counts = {name: sum(row[name] for row in data["models"]) for name in ("active", "finished")}
    wanted = sum(row["wanted"] for row in data["models"])
    goal = "" if data["kind"] == "qualification" else f" of {wanted}"
    parts = [
        f"{data['study']}: {counts['finished']}{goal} finished",
        f"{counts['active']} active",
        f"owed {format_money(data['owed_usd_cents'], data['currency'])}",
        *(["paused"] if data["paused"] else []),
        *([f"{data['simulated']} simulated"] if data["simulated"] else []),
        *_looks(data),
        *_scores(data),
    ]
    return ", ".join(parts)


def _looks(data: Mapping[str, Any]) -> list[str]:
    """Return how far planned looks are, in the one line of a pipe."""
    plan = data.get("looks")
    if not plan:
        return []
    following = [("", plan["next"]), *((f" of {row['model']}", row["next"]) for row in plan["newcomers"])]
    parts = [f"next look{whose} at {count}" for whose, count in following if count is not None]
    if plan["hides_scores"]:
        parts.append("scores hidden until the looks have ended")
    return parts or ["stopped by its looks"]


def _scores(data: Mapping[str, Any]) -> list[str]:
    scores = data.get("scores")
    if not scores:
        return []
    unit, digits = {"percent": ("%", 1), "ms": (" ms", 0)}.get(scores["unit"], ("", 2))
    lines = []
    for row in scores["models"]:
        text = f"{row['model']} {row['score']:.{digits}f}{unit}"
        ci = row["interval"]["ci"] if row["interval"] else None if scores["unit"] else row.get("ci")
        if ci:
            low, high = ci
            text += f" [{low:.{digits}f}, {high:.{digits}f}]"
        lines.append(text)
    return lines
