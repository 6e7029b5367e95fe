"""Findings of a stored study: those of its responses, and those that only its sessions show."""

from datetime import datetime
from typing import Any

from backend.experiment.browsers import MistimedFlashes, engine_of
from backend.experiment.records import Study
from backend.report.findings import FindingsOptions, findings
from backend.responses import question_answers
from backend.responses.attrition import attrition
from backend.responses.study_data import study_answers
from backend.stores.store import Store
from backend.studies.withdrawals import sessions_of


def study_findings(
    store: Store,
    study: Study,
    now: datetime,
    findings_options: FindingsOptions | None = None,
    exposures: str = "nominal",
    simulated: bool = False,
    **options: Any,
) -> dict[str, Any]:
    """Return the findings of a study, as `findings.findings` does, with `attrition` and `mistimed` added.

    Raises:
        InvalidInput: as in `study_data.study_answers` and `findings.findings`.
    """
    answers = study_answers(store, study, simulated)
    result = findings(answers, findings_options, exposures=exposures, **options)
    left = attrition(store, study, now, result["settings"]["level"], simulated)
    flashes = _mistimed(store, study, simulated) if study.protocol.has_flashes else None
    more = {"attrition": left, "mistimed": flashes}
    if study.questions:
        more["questions"] = question_answers.summaries(store, study, simulated)
    return {**result, "findings": {**result["findings"], **more}}


def _mistimed(store: Store, study: Study, simulated: bool) -> list[dict[str, Any]]:
    """Return the numbers of mistimed flashes by browser engine (`MistimedFlashes.rows`)."""
    flashes = MistimedFlashes()
    for session, cursor in sessions_of(store, study, simulated):
        flashes.add(engine_of(session.device), cursor)
    return flashes.rows()
