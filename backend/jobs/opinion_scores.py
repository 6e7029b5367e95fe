"""The job `opinions`: metrics against opinion scores that others collected, from a member's upload of files.

One file of the upload has the opinion scores; each other one has the values of a metric, which is called as
the file is.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from backend.foundation.errors import InvalidInput
from backend.foundation.printable import printable
from backend.foundation.timestamps import utc_now
from backend.jobs.queue import Job
from backend.jobs.study_orders import worded
from backend.jobs.work import Work

_MOST_METRICS = 30
"""A result, with a thousand points of each metric, must fit into one entry of a table (400 KB)."""
_DIGITS = 4


def run(work: Work, job: Job) -> dict[str, Any]:
    """Return rank correlations, as `openhype agree` does, and `points` of a chart.

    Beside its data: `file` of the scores, `sentences` and `notes` of the report, and `remarks` on the files.
    """
    from backend import __version__
    from backend.report.opinion_scores import report
    from backend.responses.agreement import opinions_agreement
    from backend.uploads.unpacking import unpack_upload

    root = work.folder / "files"
    with worded(root):
        unpack_upload(work.uploads, job.args["upload"], root)
        scores, metrics = _by_content([path for path in sorted(root.rglob("*")) if path.is_file()])
        made = opinions_agreement(scores, metrics, job.args["level"])
    page = report(made.data, scores.name, f"{utc_now():%Y-%m-%d}", __version__)
    return {
        **made.data,
        "file": scores.name,
        "points": _rounded(made.points),
        "sentences": [*page.sections[0].paragraphs],
        "notes": [*page.sections[0].notes],
        "remarks": [remark.replace(f"{printable(root)}/", "") for remark in made.remarks],
    }


def _by_content(files: Sequence[Path]) -> tuple[Path, dict[str, Path]]:
    """Return the file of opinion scores, and those of metrics by name."""
    from backend.responses.reading.opinion_scores import are_opinion_scores

    scores = [path for path in files if are_opinion_scores(path)]
    if len(scores) != 1:
        named = ", ".join(printable(path.name) for path in scores[:2])
        raise InvalidInput(
            "one file must have the opinion scores: a table whose header names stimulus and score, or lines "
            f"of a score and a name; {f'{len(scores)} have: {named}' if scores else 'none has'} (a metric "
            "has the columns item and d)"
        )
    metrics: dict[str, Path] = {}
    for path in files:
        if path == scores[0]:
            continue
        if path.stem in metrics:
            raise InvalidInput(f"two files are called {printable(path.stem)}; each metric needs its own name")
        metrics[path.stem] = path
    if len(metrics) > _MOST_METRICS:
        raise InvalidInput(
            f"there are {len(metrics)} metrics, and a page shows {_MOST_METRICS}; send fewer files "
            "(`openhype agree` has no limit)"
        )
    return scores[0], metrics


def _rounded(data: Any) -> Any:
    """Return data with numbers of as many digits as a chart shows."""
    if isinstance(data, dict):
        return {name: _rounded(value) for name, value in data.items()}
    return [float(f"{value:.{_DIGITS}g}") for value in data]
