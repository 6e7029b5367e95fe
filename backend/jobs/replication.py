"""Jobs on the same study again: `rerun` makes it, and `replicate` tests its runs against each other."""

from datetime import datetime
from math import comb
from typing import Any

from backend.foundation.errors import InvalidInput
from backend.foundation.timestamps import utc_now
from backend.jobs.create_study import made_before
from backend.jobs.queue import Job
from backend.jobs.study_work import study_named, study_of
from backend.jobs.work import Work

_MOST_ROWS = 600
"""Differences that a result lists: it must fit into one entry of a table (400 KB)."""


def rerun(work: Work, job: Job) -> dict[str, Any]:
    """Make the study `job.study` like the one that the job names, or find it made by an earlier run."""
    from backend.administration.rerun import rerun as run

    made = made_before(work.store, job)
    if made is None:
        study = study_named(work.store, job.args["of"])
        at = datetime.fromisoformat(job.created_at)
        made = run(work.store, work.data, study, job.study or "", at, work.progress, work.publish)
    return {"study": made.name, "models": [*made.models], "of": job.args["of"]["study"]}


def replicate(work: Work, job: Job) -> dict[str, Any]:
    """Return how the scores of a study and of other runs of it differ, as `openhype replicate` does.

    Beside the data of `replication.replication`: `warnings`, in what else they differ, and `sentences`.
    """
    from backend import __version__
    from backend.analysis.replication import replication
    from backend.report.replication import report
    from backend.responses.runs import differing_settings, run_of

    args = job.args
    studies = [study_of(work, job), *(study_named(work.store, one) for one in args["others"])]
    rows = comb(len(studies), 2) * max(len(study.models) for study in studies)
    if rows > _MOST_ROWS:
        raise InvalidInput(
            f"{len(studies)} runs have up to {rows:,} differences, and a page shows {_MOST_ROWS}; compare "
            "fewer runs (`openhype replicate` has no limit)"
        )
    runs = [
        run_of(work.store, study, args["simulated"]) for study in work.progress(studies, len(studies), "runs")
    ]
    data = replication(runs, args["level"], args["margin"])
    page = report(data, f"{utc_now():%Y-%m-%d}", __version__)
    warnings = differing_settings(studies)
    return {**data, "warnings": warnings, "sentences": [*page.sections[0].paragraphs]}
