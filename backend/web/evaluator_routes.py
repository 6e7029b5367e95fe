"""Routes of evaluators' browsers: admission, sessions, answers, waits, withdrawal."""

from collections.abc import Callable

from flask import request

from backend.experiment.records import Session
from backend.foundation.frozen import dataclass
from backend.task import requests
from backend.task.reply_types import (
    Admitted,
    BegunWait,
    Block,
    Confirmation,
    Debrief,
    Opened,
    PublicStudy,
    QualificationFirst,
    Resumed,
    ReturnLink,
    SessionProgress,
    Wait,
    Withdrawal,
)
from backend.task.service import TaskService
from backend.web.authorisation import token
from backend.web.routing import Routes
from backend.web.session_limits import Openings

PictureUrl = Callable[[Session, str], str]
_OF_SESSION = ("session",)
_OF_WITHDRAWAL = ("withdrawal",)


@dataclass(frozen=True)
class Evaluators:
    """What the routes of evaluators work with."""

    task: TaskService
    openings: Openings
    picture_url: PictureUrl
    """From a stimulus or mask of a session to the path at which it is served."""
    require_researcher: Callable[[], None]
    remove_downloads: Callable[[str], None]
    """Removes the files that were made of a study's answers."""


route = Routes()


@route("GET /api/studies/{study}", "What a visitor may know of a study", "The study", "404")
def public_study(at: Evaluators, study: str) -> PublicStudy:
    return at.task.opening.public_study(study)


@route(
    "POST /api/studies/{study}/admission",
    "Learn before consent whether a person may take part; nothing is recorded",
    "The person may; false for a preview, which only looks",
    "400 403 404 409 415 429 503",
)
def admit(at: Evaluators, study: str, visit: requests.Admission) -> Admitted:
    at.openings.check(request.remote_addr)
    return at.task.opening.admit(study, visit.panel, visit.signature)


@route(
    "POST /api/studies/{study}/sessions",
    "Open a session after consent, or learn which qualification comes first",
    "A session was opened",
    "400 403 404 409 415 429 503",
    status=201,
    gives=Opened,
    also={200: ("A qualification comes first", QualificationFirst)},
    who=("member",),
    is_open_to_all=True,
)
def open_session(
    at: Evaluators, study: str, opening: requests.Opening
) -> tuple[Opened | QualificationFirst, int]:
    if opening.simulated:
        at.require_researcher()
        reply = at.task.opening.open(study, opening)
    else:
        with at.openings.one(request.remote_addr) as forget:
            reply = at.task.opening.open(study, opening)
            if reply["stage"] != "session":
                forget()
    return reply, 201 if reply["stage"] == "session" else 200


@route(
    "POST /api/studies/{study}/exit",
    "The link back to the panel for a person who does not take part",
    "Where to, or null",
    "400 403 404 409 415 429",
)
def give_up(at: Evaluators, study: str, left: requests.Exit) -> ReturnLink:
    return at.task.opening.leave(study, left.outcome, left.panel, left.qualification_token, left.signature)


@route(
    "POST /api/studies/{study}/waits",
    "Begin a paid wait until a paused study is resumed",
    "Waiting",
    "400 403 404 409 415 429 503",
    status=201,
)
def wait(at: Evaluators, study: str, begun: requests.WaitBegin) -> BegunWait:
    return at.task.waiting.wait(study, begun.panel, begun.qualification_token, begun.signature)


@route(
    "POST /api/studies/{study}/waits/{wait}/signs",
    "A heartbeat of a person who waits",
    "What is owed by now, and whether the study has started",
    "400 403 404 415 503",
    who=("wait",),
)
def sign(at: Evaluators, study: str, wait: str, told: requests.Sign) -> Wait:
    return at.task.waiting.sign(study, wait, token(), told.is_visible, told.is_here)


@route(
    "POST /api/sessions/{session}/resume",
    "Take a session over, after a reload or in another tab",
    "Its state",
    "400 403 404 409 415 503",
    who=_OF_SESSION,
)
def resume(at: Evaluators, session: str) -> Resumed:
    return at.task.answering.resume(session, token())


@route(
    "POST /api/sessions/{session}/blocks",
    "Begin the current block, or what is left of it",
    "Its pictures",
    "400 403 404 409 415 503",
    who=_OF_SESSION,
)
def begin_block(at: Evaluators, session: str, begun: requests.BlockBegin) -> Block:
    return at.task.answering.begin_block(
        session, token(), begun.lease, begun.block, begun.display, at.picture_url
    )


@route(
    "POST /api/sessions/{session}/answers",
    "Store an answer once; the same answer again gets the same reply",
    "It is stored",
    "400 403 404 409 413 415 503",
    who=_OF_SESSION,
)
def answer(at: Evaluators, session: str, given: requests.Answer) -> Confirmation:  # type: ignore[valid-type]
    return at.task.answering.answer(session, token(), requests.posted(given), at.picture_url)


@route(
    "POST /api/sessions/{session}/questions",
    "Store the answers to the researcher's questions before or after the task; the first ones count",
    "They are stored",
    "400 403 404 409 413 415 503",
    who=_OF_SESSION,
)
def answer_questions(at: Evaluators, session: str, given: requests.QuestionAnswers) -> SessionProgress:
    return at.task.answering.answer_questions(session, token(), given)


@route(
    "POST /api/sessions/{session}/end",
    "End a session whose flashes keep failing, on request of its evaluator; idempotent",
    "It is closed, and paid for what was done",
    "400 403 404 409 415 503",
    who=_OF_SESSION,
)
def end(at: Evaluators, session: str, asked: requests.End) -> SessionProgress:
    return at.task.answering.end(session, token(), asked.lease)


@route(
    "GET /api/sessions/{session}/debrief",
    "The own result beside others', and what each picture was, in a study with `debrief`",
    "The result",
    "403 404 409",
    who=_OF_SESSION,
)
def debrief(at: Evaluators, session: str) -> Debrief:
    return at.task.answering.debrief(session, token(), at.picture_url)


@route(
    "GET /api/sessions/{session}/withdrawal",
    "What an evaluator would delete by withdrawing",
    "What is there, or that it is deleted",
    "403 404 409",
    who=_OF_WITHDRAWAL,
)
def withdrawal(at: Evaluators, session: str) -> Withdrawal:
    return at.task.withdrawing.withdrawal(session, token())


@route(
    "POST /api/sessions/{session}/withdrawal",
    "Withdraw: delete the session with its answers for good; again, it changes nothing",
    "It is deleted",
    "403 404 409 415 503",
    who=_OF_WITHDRAWAL,
    is_bare=True,
)
def withdraw(at: Evaluators, session: str) -> Withdrawal:
    done = at.task.withdrawing.withdraw(session, token())
    at.remove_downloads(done["study"])
    return done
