"""Scores and results pages as they are sent, computed where they are asked for or by the worker."""

import json
from collections.abc import Callable
from datetime import datetime

from backend.experiment.records import Study
from backend.stores.datadir import DataDir
from backend.stores.store import Store


def scores_json(
    store: Store, data: DataDir, study: Study, now: datetime, full: bool, simulated: bool
) -> bytes:
    """Return the scores of a study as JSON, with all findings of a report if they are to be full."""
    from backend.metrics import study_metrics
    from backend.report.findings import FindingsOptions
    from backend.report.study_findings import study_findings
    from backend.responses.study_data import study_scores

    if full:
        options = FindingsOptions(study_metrics.stored_metrics(data, study))
        scores = study_findings(store, study, now, options, simulated=simulated)
    else:
        scores = study_scores(store, study, simulated=simulated)
    return json.dumps(scores, allow_nan=False).encode() + b"\n"


def page_html(
    store: Store,
    data: DataDir,
    study: Study,
    now: datetime,
    read: Callable[[str, str], bytes | None],
    top: str,
    simulated: bool,
) -> bytes:
    """Return a study's page of results.

    Args:
        read: reads stimuli, as for `thumbnails.thumbnails`.
        top: HTML that stands above its title.
    """
    from backend.report.build import study_page

    return study_page(store, read, study, now, top, data, simulated).encode()
