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
    State,
    Wait,
    Withdrawal,
)
from backend.task.service import TaskService
from backend.web.authorisation import token
from backend.web.proxies import address_of
from backend.web.routing import Routes
from backend.web.session_rate_limit import Openings

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


@route("GET /api/studies/{study}")
def public_study(at: Evaluators, study: str) -> PublicStudy:
    """What a visitor may know of a study.

    Returns:
        The study.
    """
    return at.task.opening.public_study(study)


@route("POST /api/studies/{study}/admission", "403 409 429 503")
def admit(at: Evaluators, study: str, visit: requests.Admission) -> Admitted:
    """Learn before consent whether a person may take part; nothing is recorded.

    Returns:
        The person may; false for a preview, which only looks.
    """
    at.openings.check(request.remote_addr)
    return at.task.opening.admit(study, visit.panel, visit.signature)


@route(
    "POST /api/studies/{study}/sessions",
    "403 409 429 503",
    status=201,
    gives=Opened,
    also={200: ("A qualification comes first", QualificationFirst)},
    who=("member",),
    is_open_to_all=True,
)
def open_session(
    at: Evaluators, study: str, opening: requests.Opening
) -> tuple[Opened | QualificationFirst, int]:
    """Open a session after consent, or learn which qualification comes first.

    Returns:
        A session was opened.
    """
    if opening.simulated:
        at.require_researcher()
        reply = at.task.opening.open(study, opening)
    else:
        with at.openings.one(request.remote_addr) as forget:
            reply = at.task.opening.open(study, opening)
            if reply["stage"] != "session":
                forget()
    if reply["stage"] != "session":
        return reply, 200
    return {**reply, "state": _reached(reply["state"])}, 201


@route("POST /api/studies/{study}/exit", "403 409 429")
def give_up(at: Evaluators, study: str, left: requests.Exit) -> ReturnLink:
    """The link back to the panel for a person who does not take part.

    Returns:
        Where to, or null.
    """
    return at.task.opening.leave(study, left.outcome, left.panel, left.qualification_token, left.signature)


@route("POST /api/studies/{study}/waits", "403 409 429 503", status=201)
def wait(at: Evaluators, study: str, begun: requests.WaitBegin) -> BegunWait:
    """Begin a paid wait until a paused study is resumed.

    Returns:
        Waiting.
    """
    return at.task.waiting.wait(study, begun.panel, begun.qualification_token, begun.signature)


@route("POST /api/studies/{study}/waits/{wait}/signs", "403 503", who=("wait",))
def sign(at: Evaluators, study: str, wait: str, request: requests.Sign) -> Wait:
    """A heartbeat of a person who waits.

    Returns:
        What is owed by now, and whether the study has started.
    """
    return at.task.waiting.sign(study, wait, token(), request.is_visible, request.is_here)


@route("POST /api/sessions/{session}/resume", "403 409 503", who=_OF_SESSION)
def resume(at: Evaluators, session: str) -> Resumed:
    """Take a session over, after a reload or in another tab.

    Returns:
        Its state.
    """
    return {"state": _reached(at.task.answering.resume(session, token())["state"])}


@route("POST /api/sessions/{session}/blocks", "403 409 503", who=_OF_SESSION)
def begin_block(at: Evaluators, session: str, begun: requests.BlockBegin) -> Block:
    """Begin the current block, or what is left of it.

    Returns:
        Its pictures.
    """
    return at.task.answering.begin_block(
        session, token(), begun.lease, begun.block, begun.display, at.picture_url
    )


@route("POST /api/sessions/{session}/answers", "403 409 413 503", who=_OF_SESSION)
def answer(at: Evaluators, session: str, given: requests.Answer) -> Confirmation:  # type: ignore[valid-type]
    """Store an answer once; the same answer again gets the same reply.

    Returns:
        It is stored.
    """
    return at.task.answering.answer(session, token(), requests.posted(given), at.picture_url)


@route("POST /api/sessions/{session}/questions", "403 409 413 503", who=_OF_SESSION)
def answer_questions(at: Evaluators, session: str, given: requests.QuestionAnswers) -> SessionProgress:
    """Store the answers to the researcher's questions before or after the task; the first ones count.

    Returns:
        They are stored.
    """
    return at.task.answering.answer_questions(session, token(), given)


@route("POST /api/sessions/{session}/end", "403 409 503", who=_OF_SESSION)
def end(at: Evaluators, session: str, asked: requests.End) -> SessionProgress:
    """End a session whose flashes keep failing, or a demonstration, on request of its evaluator; idempotent.

    Returns:
        It is closed, and paid for what was done.
    """
    return at.task.answering.end(session, token(), asked.lease)


@route("GET /api/sessions/{session}/debrief", "403 409", who=_OF_SESSION)
def debrief(at: Evaluators, session: str) -> Debrief:
    """The own result beside others', and what each picture was, in a study with `debrief`.

    Returns:
        The result.
    """
    return at.task.answering.debrief(session, token(), at.picture_url)


@route("GET /api/sessions/{session}/withdrawal", "403 409", who=_OF_WITHDRAWAL)
def withdrawal(at: Evaluators, session: str) -> Withdrawal:
    """What an evaluator would delete by withdrawing.

    Returns:
        What is there, or that it is deleted.
    """
    return at.task.withdrawing.withdrawal(session, token())


@route("POST /api/sessions/{session}/withdrawal", "403 409 415 503", who=_OF_WITHDRAWAL, is_bare=True)
def withdraw(at: Evaluators, session: str) -> Withdrawal:
    """Withdraw: delete the session with its answers for good; again, it changes nothing.

    Returns:
        It is deleted.
    """
    done = at.task.withdrawing.withdraw(session, token())
    at.remove_downloads(done["study"])
    return done


def _reached(state: State) -> State:
    """Return a session's state with the address of its withdrawal as browsers reach it."""
    return {**state, "withdrawal_url": address_of(state["withdrawal_url"])}
