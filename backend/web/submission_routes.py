"""Routes of submissions to leaderboard studies.

A submitter learns of its own submissions alone: what is another's, or not open to it, is answered as if it
did not exist.
"""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from importlib.util import find_spec
from operator import itemgetter
from typing import Any, cast

from msgspec import Struct

from backend.administration import intake_facts
from backend.competitions import submissions
from backend.competitions.states import CHECKING, COLLECTING, SCORED
from backend.competitions.submission_limit import tries_of
from backend.competitions.submissions import Submission
from backend.competitions.terms import CompetitionRecord, Terms, all_competitions
from backend.experiment.records import Study
from backend.foundation.errors import Conflict
from backend.jobs import queue
from backend.members.roles import RESEARCHER, SUBMITTER
from backend.stores.store import Store
from backend.studies.closing import close_model
from backend.web.authorisation import caller
from backend.web.competition_types import (
    OpenStudy,
    OwnSubmissions,
    PicturesGiven,
    SubmissionFacts,
    SubmissionGiven,
    SubmissionList,
)
from backend.web.context import Context
from backend.web.routing import Routes
from backend.web.submission_finder import SubmissionFinder

route = Routes(SUBMITTER)


class SubmissionQuery(Struct, frozen=True):
    """Whose answers count."""

    simulated: bool = False
    """Have simulated evaluators counted in place of real ones, for a rehearsal."""


@route(
    "POST /api/studies/{study}/submissions",
    "409 503",
    status=201,
    also={200: ("It was submitted before", SubmissionFacts)},
)
def submit_model(context: Context, study: str, given: SubmissionGiven) -> tuple[SubmissionFacts, int]:
    """Submit a model; the same model with the same pictures again is the same submission.

    Returns:
        It is submitted.
    """
    member, finder = caller(), context.shared(SubmissionFinder)
    record_of_study, record = finder.open_to(member, study)
    one, is_new = submissions.submit(
        context.store,
        context.keys.hashing,
        record_of_study,
        record,
        member.name,
        given.model,
        given.digest,
        context.clock(),
        member.may(RESEARCHER),
        finder.has_failed,
    )
    return finder.look(record_of_study, record).view(one), 201 if is_new else 200


@route("GET /api/studies/{study}/submissions")
def list_submissions(context: Context, study: str) -> SubmissionList:
    """The caller's submissions and what is left of its limit; for a researcher everybody's.

    Returns:
        The submissions.
    """
    member, finder, store = caller(), context.shared(SubmissionFinder), context.store
    record_of_study, record = finder.open_to(member, study)
    look, terms = finder.look(record_of_study, record), record.terms
    if member.may(RESEARCHER):
        listed, limit = submissions.of_study(store, record_of_study), None
    else:
        listed = [*submissions.of_member(store, record_of_study, member.name)]
        limit = _limit(record, look.tries(member.name), context.clock())
    shown = {
        "submissions": [look.view(one) for one in listed],
        **_open_times(terms),
        "limit": limit,
        "clips": _recipe(store, record_of_study),
    }
    return cast(SubmissionList, shown)


@route("GET /api/submissions")
def list_own_submissions(context: Context) -> OwnSubmissions:
    """The caller's own submissions to all studies, and the studies that take models of the caller in.

    Returns:
        Submissions, the latest first; studies in the order of their names.
    """
    member, now, finder = caller(), context.clock(), context.shared(SubmissionFinder)
    studies: list[OpenStudy] = []
    own: list[tuple[str, SubmissionFacts]] = []
    for study, record in all_competitions(context.store):
        mine = submissions.of_member(context.store, study, member.name)
        look = finder.look(study, record)
        own += [(one.created_at, look.view(one)) for one in mine]
        if record.admits(member.name):
            studies.append(_open_study(study, record, look.tries(member.name), now))
    latest = sorted(own, key=itemgetter(0), reverse=True)
    return {"studies": studies, "submissions": [view for _, view in latest]}


@route("GET /api/submissions/{submission}")
def show_submission(context: Context, submission: str, query: SubmissionQuery) -> SubmissionFacts:
    """A submission of the caller: its state, the reason, and its result.

    Returns:
        The submission.
    """
    finder = context.shared(SubmissionFinder)
    study, record, one = finder.submission(submission)
    return finder.look(study, record, query.simulated).view(one)


@route("POST /api/submissions/{submission}/pictures", "409 429 503")
def give_submitted_pictures(context: Context, submission: str, given: PicturesGiven) -> SubmissionFacts:
    """Have the pictures of a submission checked, which then joins the study; again, it changes nothing.

    Returns:
        The submission.
    """
    store, finder = context.store, context.shared(SubmissionFinder)
    record_of_study, record, one = finder.submission(submission)
    finder.check_upload(one, given.upload)
    if (finder.has_failed(one) or not one.upload) and not caller().may(RESEARCHER):
        queue.check_room(store, one.member)
    one = submissions.give_pictures(
        store, record_of_study, record, one, given.upload, context.clock(), finder.has_failed
    )
    return finder.look(record_of_study, record).view(one)


@route("POST /api/submissions/{submission}/withdraw", "409 503")
def withdraw_submission(context: Context, submission: str) -> SubmissionFacts:
    """Withdraw a submission that is not scored yet; again, it changes nothing.

    Returns:
        The submission.
    """
    store, finder = context.store, context.shared(SubmissionFinder)
    record_of_study, record, one = finder.submission(submission)
    state = finder.look(record_of_study, record).state(one).state
    if state == SCORED:
        raise Conflict(
            f"{one.model} has been judged by all its evaluators, and what was judged stays",
            code="already_scored",
        )
    if state in (COLLECTING, CHECKING) and record_of_study.is_mixed:
        raise Conflict(
            f"{one.model} is judged beside other models in each session, and can no longer be taken out",
            code="already_judged",
        )
    one = submissions.withdraw(store, record_of_study, one, context.clock())
    if one.withdrawn_at and one.joined_at:  # also if it joined just now
        record_of_study = close_model(store, record_of_study, one.called)
    return finder.look(record_of_study, record).view(one)


def _recipe(store: Store, study: Study) -> dict[str, Any] | None:
    """Return how clips of a study are made; None for pictures."""
    if study.clip is None:
        return None
    return {
        **asdict(study.clip),
        "fps": [*study.clip.fps],
        "skip_seconds": study.protocol.clips.clip_skip_seconds,
        "preprocess": [*intake_facts.read(store, study).preprocess],
        "reads_videos": find_spec("av") is not None,
    }


def _open_study(
    study: Study, record: CompetitionRecord, own: Sequence[Submission], now: datetime
) -> OpenStudy:
    """Return what a member is told of a leaderboard study that admits it; `own` are its submissions."""
    terms = record.terms
    about = {"study": study.name, "title": terms.title, "about": terms.about}
    return cast(OpenStudy, {**about, **_open_times(terms), "limit": _limit(record, own, now)})


def _open_times(terms: Terms) -> dict[str, Any]:
    named = ("opens_at", "closes_at", "embargo_until", "counts")
    return {name: getattr(terms, name) for name in named}


def _limit(record: CompetitionRecord, own: Sequence[Submission], now: datetime) -> dict[str, Any] | None:
    limit = record.terms.limit
    return {**vars(limit), **vars(tries_of(own, limit, now))} if limit else None
