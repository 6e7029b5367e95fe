"""A report as a directory: `index.html`, `figures/`, `tables/`, `report.json`."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from backend.foundation import optional_packages
from backend.foundation.atomic_files import write_whole
from backend.foundation.json_text import json_parts
from backend.report import drawing, page, table_files
from backend.report.elements import LONG, Report
from backend.stimuli.parallel import in_forks

_TABLES = {
    "csv": table_files.as_csv,
    "md": table_files.as_markdown,
    "tex": table_files.as_latex,
    "json": table_files.as_json,
    "csv.gz": table_files.as_compressed_csv,
}


def write(report: Report, out: Path, progress: Callable[..., Iterable] | None = None) -> list[Path]:
    """Write a report to the directory `out`, created if missing; return the files, the page last.

    Each file is written atomically. Other files in the directory are left unchanged.

    Args:
        progress: wraps an iterable, such as a progress bar; called with the items, `total` and `label`.

    Raises:
        NotInstalled: the package matplotlib is missing.
    """
    optional_packages.check("a report", "matplotlib")
    jobs: list[tuple[Path, Callable[[], Any]]] = []
    for table in report.tables:
        for ending in table.endings:
            jobs.append((out / "tables" / f"{table.name}.{ending}", partial(_TABLES[ending], table)))
    drawn: dict[str, drawing.Drawing] = {}
    drawings = in_forks(drawing.drawing, report.figures)

    def made(name: str) -> drawing.Drawing:
        while name not in drawn:
            found = next(drawings)
            drawn[found.name] = found
        return drawn[name]

    def svg(name: str) -> Any:
        return made(name).svg

    def png(name: str) -> Any:
        return made(name).png

    for figure in report.figures:
        path = out / "figures" / figure.name
        jobs.append((path.with_suffix(".svg"), partial(svg, figure.name)))
        jobs.append((path.with_suffix(".png"), partial(png, figure.name)))
    jobs.append((out / "report.json", lambda: "".join(json_parts(_data(report))) + "\n"))
    jobs.append((out / "index.html", lambda: page.html(report, files=True, drawn=drawn)))
    for path, make in progress(jobs, total=len(jobs), label="report") if progress else jobs:
        content = make()
        write_whole({path: content.encode() if isinstance(content, str) else content})
    return [path for path, _ in jobs]


def _data(report: Report) -> Mapping[str, Any]:
    """Return the data of a report; more than `LONG` rows of images are only in the tables of images."""
    findings, files = report.data.get("findings"), {}
    if not findings:
        return report.data
    if len(findings.get("images") or ()) > LONG:
        findings = {name: value for name, value in findings.items() if name != "images"}
        files["images"] = "tables/images.csv.gz"
    crossed = findings.get("crossed_model")
    if crossed and len(crossed["by_picture"]) > LONG:
        crossed = {name: value for name, value in crossed.items() if name != "by_picture"}
        findings = {**findings, "crossed_model": crossed}
        files["by_picture"] = "tables/difficulty.csv.gz"
    return {**report.data, "findings": findings, "files": files} if files else report.data
