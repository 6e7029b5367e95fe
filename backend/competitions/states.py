"""The state of a submission, derived from what is stored of it, of its job, and of its evaluators."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from backend.competitions.progress import NONE, Progress, is_judged, scored_at, wanted
from backend.competitions.submissions import Submission
from backend.experiment.judgments import method_named
from backend.experiment.records import Study

AWAITING: Final = "awaiting_pictures"
QUEUED: Final = "queued"
CHECKING: Final = "checking"
REFUSED: Final = "refused"
COLLECTING: Final = "collecting"
SCORED: Final = "scored"
WITHDRAWN: Final = "withdrawn"
State = Literal["awaiting_pictures", "queued", "checking", "refused", "collecting", "scored", "withdrawn"]
FAILED_JOBS = ("failed", "cancelled")


@dataclass(frozen=True)
class JobState:
    """What is known of the job that checks the pictures of a submission."""

    state: str
    """`queued`, `running`, `done`, `failed` or `cancelled`."""
    updated_at: str
    reason: str | None = None


@dataclass(frozen=True)
class SubmissionState:
    """The state of a submission, why, and since when (UTC, ISO 8601)."""

    state: State
    reason: str | None
    at: str


def state_of(
    study: Study,
    one: Submission,
    progress: Progress,
    job: JobState | None,
    judged: Collection[str] = (),
) -> SubmissionState:
    """Return the state of a submission.

    Args:
        job: that of its latest check; None if there is none.
        judged: the models whose scores were shown once.
    """
    if one.withdrawn_at:
        return SubmissionState(WITHDRAWN, None, one.withdrawn_at)
    if one.refused_at:
        return SubmissionState(REFUSED, one.reason, one.refused_at)
    if one.joined_at:
        of_model, enough = progress.get(one.called, NONE), wanted(study, one.called)
        if is_judged(study, one.called, progress, judged):
            return SubmissionState(SCORED, None, scored_at(study, one.called, of_model) or of_model.last_at)
        reason = f"{of_model.evaluators} of {enough} evaluators have finished"
        if study.protocol.looks.looks:
            reason += "; a planned look then ends the evaluation, or goes on"
        return SubmissionState(COLLECTING, reason, one.joined_at or one.pictures_at)
    if not one.upload:
        return SubmissionState(AWAITING, "its pictures have not been sent", one.created_at)
    if job is not None and job.state in FAILED_JOBS:
        why = job.reason or "it was cancelled"
        return SubmissionState(
            AWAITING, f"the check was not finished ({why}); send the pictures again", job.updated_at
        )
    if one.checking_at:
        return SubmissionState(CHECKING, "its pictures are being checked", one.checking_at)
    return SubmissionState(QUEUED, "its pictures wait to be checked", one.pictures_at)


def result_of(
    study: Study, one: Submission, state: State, progress: Progress, row: Mapping[str, Any] | None
) -> dict[str, Any] | None:
    """Return the result of a submission; without a score until all its evaluators have finished.

    Whoever saw the score grow could withdraw a model that does badly, and only the lucky ones would stay.

    Args:
        row: the model's score and its interval, `ci`.
    """
    if state not in (COLLECTING, SCORED):
        return None
    is_scored = state == SCORED and row is not None
    return {
        "score": row["score"] if is_scored and row else None,
        "ci": row["ci"] if is_scored and row else None,
        "unit": method_named(study.protocol.method).unit,
        "evaluators": progress.get(one.called, NONE).evaluators,
        "wanted": wanted(study, one.called),
    }
