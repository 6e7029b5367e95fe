"""A report as a directory: `index.html`, `figures/`, `tables/`, `report.json`."""

import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from backend import extras
from backend.report import drawing, page, writing
from backend.report.parts import Report

_TABLES = {"csv": writing.as_csv, "md": writing.as_markdown, "tex": writing.as_latex, "json": writing.as_json}


def write(report: Report, out: Path, progress: Callable[..., Iterable] | None = None) -> list[Path]:
    """Write a report into `out`, made if missing; return the files, the page last.

    A file appears whole or not at all. What else lies in the directory stays.

    Args:
        progress: wraps a loop, such as a progress bar; given the items, `total` and `label`.
    """
    extras.check("a report", "matplotlib")
    jobs: list[tuple[Path, Callable[[], Any]]] = []
    for table in report.tables:
        for ending, written in _TABLES.items():
            jobs.append((out / "tables" / f"{table.name}.{ending}", lambda w=written, t=table: w(t)))
    for figure in report.figures:
        jobs.append((out / "figures" / f"{figure.name}.svg", lambda f=figure: drawing.svg(f)))
        jobs.append((out / "figures" / f"{figure.name}.png", lambda f=figure: drawing.png(f)))
    jobs.append((out / "report.json", lambda: json.dumps(report.data, indent=1, allow_nan=False) + "\n"))
    jobs.append((out / "index.html", lambda: page.html(report, files=True)))
    for path, make in progress(jobs, total=len(jobs), label="report") if progress else jobs:
        _write(path, make())
    return [path for path, _ in jobs]


def _write(path: Path, content: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    partial.write_bytes(content.encode() if isinstance(content, str) else content)
    os.replace(partial, path)
