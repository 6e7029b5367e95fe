"""What is found of submissions for the member who calls, and what is said of them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

from backend.competitions import submissions
from backend.competitions.progress import Progress, ProgressReader
from backend.competitions.states import (
    AWAITING,
    COLLECTING,
    FAILED_JOBS,
    SCORED,
    JobState,
    SubmissionState,
    result_of,
    state_of,
)
from backend.competitions.submission_limit import numbers_of
from backend.competitions.submissions import Submission
from backend.competitions.terms import CompetitionRecord, competition_of
from backend.experiment.records import Study
from backend.foundation.errors import Conflict, InvalidInput, NotFound
from backend.jobs import queue
from backend.members.roles import RESEARCHER, Member
from backend.uploads import uploads
from backend.web.authorisation import caller
from backend.web.competition_types import SubmissionFacts
from backend.web.context import Context

JOIN = "join"


class SubmissionFinder:
    """Finds submissions for the member who calls, and says how they stand."""

    def __init__(self, context: Context):
        self._context, self._store = context, context.store
        self._progress = {
            simulated: ProgressReader(context.store, context.clock, simulated) for simulated in (False, True)
        }

    def open_to(self, member: Member, name: str) -> tuple[Study, CompetitionRecord]:
        """Return a leaderboard study that a member may submit to.

        Raises:
            NotFound: there is none; to a submitter in the same words if it is not open to it.
        """
        if member.may(RESEARCHER):
            study = self._store.study(name)
            return study, competition_of(self._store, study)
        try:
            study = self._store.study(name)
            record = competition_of(self._store, study)
        except NotFound:
            raise _closed_study(name) from None
        if not record.admits(member.name):
            raise _closed_study(name)
        return study, record

    def submission(self, submission_id: str) -> tuple[Study, CompetitionRecord, Submission]:
        """Return a submission that the caller may see; raises NotFound if it is another's."""
        member = caller()
        whose = None if member.may(RESEARCHER) else member.name
        study, one = submissions.submission(self._store, submission_id, whose)
        return study, competition_of(self._store, study), one

    def check_upload(self, one: Submission, upload_id: str) -> None:
        """Check that an upload holds the pictures that were submitted.

        Raises:
            NotFound: there is none of the caller.
            Conflict: `parts_missing`, or nothing can be uploaded here.
            InvalidInput: `other_pictures`.
        """
        received = self._context.uploads
        if received is None:
            raise Conflict("this server receives no uploads", code="no_uploads")
        upload = received.upload(upload_id)
        if upload.member not in (one.member, caller().name):
            raise uploads.unknown(upload_id)
        if upload.state != uploads.COMPLETE:
            raise Conflict(
                f"{len(upload.missing)} parts of the upload are missing; send them and complete it first",
                code="parts_missing",
            )
        if upload.digest != one.digest:
            raise InvalidInput(
                f"the upload has the digest {upload.digest}, and the pictures that were submitted have "
                f"{one.digest}",
                code="other_pictures",
            )

    def job_of(self, study: Study, one: Submission) -> JobState | None:
        """Return the state of the job that checks a submission; it is enqueued if it is not yet."""
        if not one.is_to_be_checked:
            return None
        job = queue.enqueue(
            self._store,
            JOIN,
            study.name,
            one.member,
            {"submission": one.id},
            self._context.clock(),
            key=submissions.job_key(one),
        )
        return JobState(job.state, job.updated_at, queue.reason_for(job, caller().may(RESEARCHER)))

    def has_failed(self, one: Submission) -> bool:
        """Return whether the check of a submission ended without a result, so that it costs no try."""
        job = queue.find(self._store, JOIN, submissions.job_key(one)) if one.is_to_be_checked else None
        return job is not None and job.state in FAILED_JOBS

    def look(self, study: Study, record: CompetitionRecord, simulated: bool = False) -> "Look":
        """Return how the submissions to a study stand now."""
        return Look(self, self._context, study, record, simulated, self._progress[simulated].of(study))


@dataclass(frozen=True)
class Look:
    """How the submissions to a study stand; what they have in common is read once for all of them."""

    finder: SubmissionFinder
    context: Context
    study: Study
    record: CompetitionRecord
    simulated: bool
    progress: Progress

    def tries(self, member: str) -> list[Submission]:
        """Return the submissions of a member that may count among its tries, the earliest first."""
        own = submissions.of_member(self.context.store, self.study, member)
        return [one for one in own if not self.finder.has_failed(one)]

    def state(self, one: Submission) -> SubmissionState:
        return state_of(self.study, one, self.progress, self.finder.job_of(self.study, one), self._judged)

    def view(self, one: Submission) -> SubmissionFacts:
        """Return what is said of a submission to its member."""
        state, row = self.state(one), None
        if state.state == SCORED:
            row = self._scores.get(one.called)
            if row is None:
                why = "all its evaluators have finished, and its score is being computed"
                state = SubmissionState(COLLECTING, why, state.at)
        facts = {
            "submission": one.id,
            "study": self.study.name,
            "model": one.model,
            "member": one.member,
            "digest": one.digest,
            "state": state.state,
            "reason": state.reason,
            "created_at": one.created_at,
            "state_at": state.at,
            "try": self._numbers(one.member).get(one.id),
            "notes": [*one.notes],
            "result": result_of(self.study, one, state.state, self.progress, row),
            "needs_pictures": state.state == AWAITING,
        }
        return cast(SubmissionFacts, facts)

    @cached_property
    def _judged(self) -> Collection[str]:
        return () if self.simulated else self.context.competitions.judged(self.study)

    @cached_property
    def _scores(self) -> Mapping[str, Any]:
        return self.context.competitions.table(self.study, self.record, self.simulated).scores

    def _numbers(self, member: str) -> Mapping[str, int]:
        if member not in self._numbered:
            self._numbered[member] = numbers_of(self.tries(member))
        return self._numbered[member]

    @cached_property
    def _numbered(self) -> dict[str, Mapping[str, int]]:
        return {}


def _closed_study(name: str) -> NotFound:
    return NotFound(f"there is no study {name!r} that you can submit to", code="unknown_study")
