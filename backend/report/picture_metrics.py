"""Automatic metrics of pictures: as a section of a report, and as CSV."""

import csv
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

from backend.foundation.counted_nouns import counted
from backend.foundation.csv_formulas import escape_formula
from backend.metrics.set_metrics import CLUSTERED, METRICS, SMALLER_IS_CLOSER, values_of
from backend.report import formatting
from backend.report.elements import Column, Section, Table

_SHARE_DIGITS, _MOST_DIGITS = 2, 8
_SHARES = tuple(metric for metric in METRICS if metric not in (*SMALLER_IS_CLOSER, *CLUSTERED))


def as_csv(runs: Sequence[Mapping[str, Any]]) -> str:
    """Return the values over all classes as CSV: model, then one column a metric (`reading.metrics`)."""
    columns: dict[str, dict[str, float]] = {}
    for run in runs:
        for name, values in values_of(run).items():
            columns[name if name not in columns else f"{name} {run['extractor']['short_hash']}"] = values
    models = dict.fromkeys(row["model"] for run in runs for row in run["models"])
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["model", *columns])
    for model in models:
        writer.writerow([escape_formula(model), *(values.get(model, "") for values in columns.values())])
    return file.getvalue()


def section(runs: Sequence[Mapping[str, Any]]) -> Section | None:
    """Return the section of a report with the metrics that are kept with a study; None if there are none."""
    if not runs:
        return None
    level = formatting.level(runs[0]["options"]["level"])
    return Section(
        "picture-metrics",
        "Automatic metrics of the pictures",
        tuple(_paragraph(run) for run in runs),
        tables=tuple(_tables(runs, level)),
        notes=(
            f"Brackets are {level} intervals over pictures. Smaller distances are closer to the reals; "
            "precision is the share of a model's pictures that lie among the reals, recall the share of "
            "reals that lie among the model's pictures, and coverage the share of reals with one of the "
            "model's nearby, 0 to 1; density may exceed 1. F1/8 and F8 are precision and recall of "
            "distributions, means over 10 clusterings; their SD is over these, not over pictures. Values "
            "depend on extractor, size of sample and resize, and can be compared only where these are equal.",
            *dict.fromkeys(f"{formatting.capital(note)}." for run in runs for note in _remarks(run)),
        ),
    )


def _heading(run: Mapping[str, Any]) -> str:
    extractor = run["extractor"]
    seen = f", seen at {extractor['size']}" if extractor["size"] else ""
    pictures = f" of {run['picture_px']}" if run["picture_px"] else ""
    return (
        f"{extractor['name']} ({extractor['short_hash']}), {run['dimensions']:,} features a picture: "
        f"{counted(run['reals'], 'real')}{pictures}{seen}"
    )


def _subset_size(rows: Sequence[Mapping[str, Any]]) -> int:
    """Return the size of the subsets of the kernel distance's SD; 0 if all hold every picture."""
    sizes = [
        row["kid"]["subset_size"]
        for row in rows
        if row["kid"].get("sd") is not None and row["kid"]["subset_size"] < min(row["reals"], row["fakes"])
    ]
    return max(sizes, default=0)


def _remarks(run: Mapping[str, Any]) -> Iterator[str]:
    """Yield why values are missing, what is extrapolated, and the notes of the run."""
    whys = dict.fromkeys(
        f"no {run['names'][metric]}{' by class' if is_class else ''}: {row[metric]['reason']}"
        for rows, is_class in [(run["models"], False), *((each["models"], True) for each in run["classes"])]
        for row in rows
        for metric in METRICS
        if row[metric]["value"] is None and row[metric].get("reason")
    )
    yield from whys
    for row in run["models"]:
        beyond = row["frechet"].get("extrapolated")
        if beyond and beyond["value"] is None:
            yield f"no extrapolation for {row['model']}: {beyond.get('reason', '')}"
        elif beyond:
            yield (
                f"{run['names']['frechet']} of {row['model']} extrapolated to infinitely many pictures: "
                f"{formatting.estimate(beyond['value'], beyond.get('ci'), '', _needed(beyond))}"
            )
    yield from run["notes"]


def _paragraph(run: Mapping[str, Any]) -> str:
    about = run["extractor"]["about"]
    return f"{_heading(run)}.{f' {formatting.capital(about)}.' if about else ''}"


def _tables(runs: Sequence[Mapping[str, Any]], level: str) -> Iterator[Table]:
    """Yield the tables over all classes, and if there are classes those by class, folded."""
    rows = [_row(run, row) for run in runs for row in run["models"]]
    yield from _pair_of_tables(runs, rows, "", level)
    of_classes = [
        {"class": each["class"], **_row(run, row)}
        for run in runs
        for each in run["classes"]
        for row in each["models"]
    ]
    if of_classes:
        yield from _pair_of_tables(runs, of_classes, "by class", level)


def _pair_of_tables(
    runs: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]], which: str, level: str
) -> Iterator[Table]:
    """Yield a table of distances and one of shares, so that each fits on a page."""
    for metrics, name, title in (
        (SMALLER_IS_CLOSER, "distances", "Distances of models' pictures from the reals"),
        (_SHARES, "overlap", "Overlap of models' pictures with the reals"),
        (CLUSTERED, "clusters", "Overlap by clusters of pictures: F1/8 for precision, F8 for recall"),
    ):
        caption = " ".join(filter(None, [title, which]))
        caption += f", with {level} intervals" if metrics is not CLUSTERED else ", with SDs over clusterings"
        yield Table(
            "-".join(filter(None, ["picture", name, which.replace(" ", "-")])),
            caption,
            _columns(runs, rows, metrics, bool(which)),
            [_without(row, METRICS, metrics) for row in rows],
            shown=200,
            is_folded=bool(which),
        )


def _without(row: Mapping[str, Any], known: Sequence[str], metrics: Sequence[str]) -> dict[str, Any]:
    others = tuple(metric for metric in known if metric not in metrics)
    return {key: value for key, value in row.items() if not key.startswith(others)}


def _row(run: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a model's row with full precision, for files."""
    cells: dict[str, Any] = {
        "model": row["model"],
        "extractor": run["extractor"]["name"],
        "extractor_hash": run["extractor"]["hash"],
        "resize": run["extractor"]["size"],
        "reals": row["reals"],
        "fakes": row["fakes"],
    }
    for metric in METRICS:
        cells[metric] = row[metric]["value"]
        if metric in CLUSTERED:
            cells[f"{metric}_sd"] = row[metric]["sd"]
        else:
            cells[f"{metric}_ci"] = row[metric].get("ci")
    size = _subset_size([row]) or None
    return {**cells, "kid_sd": row["kid"]["sd"] if size else None, "kid_sd_subsets_of": size}


def _columns(
    runs: Sequence[Mapping[str, Any]],
    rows: Sequence[Mapping[str, Any]],
    metrics: Sequence[str],
    has_classes: bool,
) -> tuple[Column, ...]:
    texts = ["class"] * has_classes + ["model"] + ["extractor"] * (len(runs) > 1)
    columns = []
    for metric in metrics:
        name = " / ".join(dict.fromkeys(run["names"][metric] for run in runs))
        if metric in CLUSTERED:
            columns.append(Column(name, partial(_number, metric, 3)))
            columns.append(Column(f"SD of {name}", partial(_number, f"{metric}_sd", 3)))
            continue
        cells = [{"value": row[metric], "ci": row[f"{metric}_ci"]} for row in rows]
        digits = _SHARE_DIGITS if metric in _SHARES else max(map(_needed, cells), default=0)
        columns.append(Column(name, partial(_cell, metric, digits)))
    if metrics is SMALLER_IS_CLOSER and any(row["kid_sd"] is not None for row in rows):
        size = max(row["kid_sd_subsets_of"] or 0 for row in rows)
        columns.append(Column(f"its SD, subsets of {size:,}", _sd))
    return (
        *(Column(name, itemgetter(name), is_number=False) for name in texts),
        Column("reals", lambda row: f"{row['reals']:,}"),
        Column("fakes", lambda row: f"{row['fakes']:,}"),
        *columns,
    )


def _number(key: str, digits: int, row: Mapping[str, Any]) -> str:
    return formatting.amount(row[key], "", digits)


def _sd(row: Mapping[str, Any]) -> str:
    return formatting.amount(row["kid_sd"], "", _needed({"value": row["kid_sd"]}))


def _cell(metric: str, digits: int, row: Mapping[str, Any]) -> str:
    return formatting.estimate(row[metric], row[f"{metric}_ci"], "", digits)


def _needed(row: Mapping[str, Any]) -> int:
    """Return the decimals for three significant digits of a value, or two of its interval."""
    value, ci = row["value"], row.get("ci")
    if value is None:
        return 0
    step = max(abs(value) / 100, (ci[1] - ci[0]) / 30 if ci else 0)
    return 0 if step >= 1 or step <= 0 else min(math.ceil(-math.log10(step)), _MOST_DIGITS)
