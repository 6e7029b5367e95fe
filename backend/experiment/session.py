"""Session state machine: pure functions from state and event to the next state.

A session is fixed when it opens (`records.Session`); all that changes is its `Cursor`. The cursor
is a summary of the stored responses: `replay` gets it back from them. Right or wrong is decided
here, from the session's own plan, never from what a browser says.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from backend.experiment import staircase
from backend.experiment.protocol import Protocol
from backend.experiment.records import Interaction, Response, Session, Timing
from backend.experiment.staircase import StaircaseRule
from backend.foundation.errors import Conflict

CLOSED = ("finished", "ended")
"""States of a session that came to its end: played to the last trial, or closed early."""
MISTIMED_FLAGS = frozenset({"mistimed", "hidden", "left_full_screen", "display_changed"})
"""Each says that a flash was not seen as it was planned."""
MISTIMED_BEFORE_ASKING = 5
"""Flashes in a row that were mistimed, after which a person is asked whether to go on or to end."""
_FRAME_RANGE_MS = (1, 100)


@dataclass(frozen=True)
class Cursor:
    """Where a session stands. `version` grows with each change and guards against lost updates."""

    version: int = 0
    lease: int = 1
    """The visit (tab) that may answer; each resume takes it over."""
    blocks_begun: int = 0
    trial_index: int = 0
    """The next trial to be answered, over the whole session."""
    exposure_ms: float | None = None
    right_in_a_row: int = 0
    right: Mapping[str, int] = field(default_factory=dict, hash=False)
    """Right answers that count, by the right answer."""
    voided_answers: int = 0
    """Answers to mistimed flashes: stored and paid, not scored."""
    voided_right: int = 0
    voids: tuple[tuple[int, str], ...] = ()
    """(trial index, spare that took its place), in order."""
    state: str = "active"
    """`active`, `finished` (every trial answered), `ended` (closed early, kindly) or `returned` (the
    place was given back at the panel: neither counted nor paid)."""
    last_at: str = ""
    displays: tuple[dict[str, Any], ...] = ()
    """What the browser told of its display as each block began."""


@dataclass(frozen=True)
class Picture:
    """What stands at a trial: its stimulus, the right answer, the model and the class."""

    stimulus: str
    truth: str
    """The right answer."""
    model: str | None
    class_: str


@dataclass(frozen=True)
class Posted:
    """An answer as it came from a browser, its types checked (`task/requests.py`)."""

    lease: int
    trial_index: int
    stimulus: str
    response: str
    exposure_ms: float | None
    shown_ms: float | None
    frames: int | None
    frame_ms: float | None
    mask_ms: tuple[float, ...] | None
    rt: float | None
    flags: tuple[str, ...]
    timing: Timing | None = None
    interactions: tuple[Interaction, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict, hash=False)


def opening(protocol: Protocol, at: str) -> Cursor:
    """Return the cursor of a session just opened at `at` (UTC, ISO 8601)."""
    return Cursor(exposure_ms=_start_exposure(protocol), last_at=at)


def picture_at(session: Session, cursor: Cursor, trial_index: int) -> Picture:
    """Return the picture of a trial, the last spare where the planned one was voided."""
    for index, spare in reversed(cursor.voids):
        if index == trial_index:
            return picture_of(session, spare)
    block, offset = locate(session, trial_index)
    planned = session.blocks[block]
    return Picture(planned.stimuli[offset], planned.truths[offset], planned.models[offset], planned.class_)


def locate(session: Session, trial_index: int) -> tuple[int, int]:
    """Return (block, offset in the block) of a trial."""
    for block, planned in enumerate(session.blocks):
        if trial_index < len(planned.stimuli):
            return block, trial_index
        trial_index -= len(planned.stimuli)
    raise IndexError(f"no trial {trial_index} past the session's end")


def total_trials(session: Session) -> int:
    """Return the number of trials of the whole session."""
    return sum(len(block.stimuli) for block in session.blocks)


def has_answered(cursor: Cursor) -> bool:
    """Return whether any answer came in a session, be it to a mistimed flash."""
    return cursor.trial_index > 0 or cursor.voided_answers > 0


def holds_place_minutes(protocol: Protocol, cursor: Cursor) -> float:
    """Return for how many minutes after its last sign of life an active session holds its place."""
    if has_answered(cursor):
        return protocol.admission.abandon_after_minutes
    return min(protocol.admission.begin_within_minutes, protocol.admission.abandon_after_minutes)


def give_back(cursor: Cursor, at: str) -> Cursor:
    """Return the cursor of a session whose place was given back; for good."""
    if cursor.state == "returned":
        return cursor
    return dataclasses.replace(cursor, version=cursor.version + 1, state="returned", last_at=at)


def resume(session: Session, protocol: Protocol, cursor: Cursor, at: str) -> Cursor:
    """Return the cursor after another visit took the session over.

    In HYPE-time the picture of the open trial may have been flashed already, so that a spare of
    the same truth and class takes its place at the same exposure. Where no spare is left the
    session ends, kindly: what was answered is kept and paid.

    Raises:
        Conflict: `returned`.
    """
    check_not_returned(cursor)
    taken = dataclasses.replace(cursor, version=cursor.version + 1, lease=cursor.lease + 1)
    if cursor.state != "active" or not protocol.is_timed or not _in_begun_block(session, cursor):
        return taken
    return _voided(session, taken, at)


def replaced_in_a_row(cursor: Cursor) -> int:
    """Return how often the open trial's picture was replaced: none of these flashes was seen as planned."""
    return sum(index == cursor.trial_index for index, _ in cursor.voids)


def end(cursor: Cursor, lease: int, at: str) -> Cursor:
    """Return the cursor of a session that its evaluator ends since flashes keep going wrong; it is paid.

    Raises:
        Conflict: as `answer`, and `not_mistimed` where fewer than `MISTIMED_BEFORE_ASKING` pictures in a row
            were replaced.
    """
    if cursor.state == "ended" and lease == cursor.lease:
        return cursor
    _check_open(cursor, lease)
    count = replaced_in_a_row(cursor)
    if count < MISTIMED_BEFORE_ASKING:
        raise Conflict(
            f"a session ends early after {MISTIMED_BEFORE_ASKING} mistimed flashes in a row; "
            f"here are {count}",
            code="not_mistimed",
        )
    return dataclasses.replace(cursor, version=cursor.version + 1, state="ended", last_at=at)


def begin_block(
    session: Session,
    protocol: Protocol,
    cursor: Cursor,
    lease: int,
    block: int,
    display: dict[str, Any],
    at: str,
) -> Cursor:
    """Return the cursor with `block` begun; its pictures may be issued from then on.

    Raises:
        Conflict: `stale_lease`; `out_of_order` where `block` is not the one that comes next;
            `unfit_display` where the study asks for another refresh rate.
    """
    _check_open(cursor, lease)
    current, _ = locate(session, cursor.trial_index)
    if block != current:
        raise Conflict(f"block {current} comes next, not block {block}", code="out_of_order")
    if cursor.blocks_begun > block:
        return cursor
    _check_display(protocol, display)
    begun = dataclasses.replace(
        cursor,
        version=cursor.version + 1,
        blocks_begun=block + 1,
        displays=(*cursor.displays, display),
        last_at=at,
    )
    rule = block_rule(protocol, begun, block)
    return dataclasses.replace(begun, exposure_ms=staircase.start(rule).exposure_ms) if rule else begun


def block_rule(protocol: Protocol, cursor: Cursor, block: int) -> StaircaseRule | None:
    """Return the staircase of a block that was begun: the study's, in refreshes of the display if so set."""
    rule = protocol.timing.staircase
    if rule is None or not protocol.timing.steps_in_frames or block >= len(cursor.displays):
        return rule
    frame_ms = cursor.displays[block].get("frame_ms")
    low, high = _FRAME_RANGE_MS
    if not isinstance(frame_ms, (int, float)) or not low <= frame_ms <= high:
        return rule
    return staircase.on_display(rule, round(frame_ms, 3))


def answer(
    session: Session, protocol: Protocol, cursor: Cursor, posted: Posted, at: str
) -> tuple[Response, Cursor]:
    """Return the response to store and the cursor after it.

    The answer to a mistimed flash does not move the staircase: the trial stays open at its exposure
    with a spare picture of the same truth and class, and where none is left the session ends, kindly.

    Raises:
        Conflict: `stale_lease`; `out_of_order` where another trial comes next or its block was not
            begun; `wrong_stimulus` where the picture or the exposure is not what the trial shows.
    """
    _check_open(cursor, posted.lease)
    if posted.trial_index != cursor.trial_index or not _in_begun_block(session, cursor):
        raise Conflict(
            f"the answer to trial {cursor.trial_index} comes next, after its block was begun, "
            f"not one to trial {posted.trial_index}",
            code="out_of_order",
        )
    picture = picture_at(session, cursor, cursor.trial_index)
    if posted.stimulus != picture.stimulus or posted.exposure_ms != cursor.exposure_ms:
        raise Conflict(
            # without names: those that are stored must not be known to browsers
            f"trial {cursor.trial_index} shows another picture, or this one for {cursor.exposure_ms} ms, not "
            f"for {posted.exposure_ms} ms",
            code="wrong_stimulus",
        )
    block, _ = locate(session, cursor.trial_index)
    facts = {f.name: getattr(posted, f.name) for f in dataclasses.fields(Posted) if f.name != "lease"}
    response = Response(**facts, block=block, at=at, attempt=replaced_in_a_row(cursor))
    if is_mistimed(protocol, posted):
        answered = _after_mistimed(cursor, picture, response)
        return response, _voided(session, answered, at)
    return response, _after(session, protocol, cursor, picture, response)


def is_mistimed(protocol: Protocol, posted: Posted | Response) -> bool:
    """Return whether a picture or its masks were not shown as planned, by what the page measured.

    A number of the countdown that was a refresh off is of no account.
    """
    if not protocol.is_timed:
        return False
    judged = slice(-1 - protocol.timing.mask_count, None)
    timing = posted.timing
    missed = timing is not None and timing.planned_frames[judged] != timing.achieved_frames[judged]
    return missed or not MISTIMED_FLAGS.isdisjoint(posted.flags)


def is_voided(session: Session, cursor: Cursor, posted: Posted) -> bool:
    """Return whether an answer is to a picture that stood at the open trial, and another stands there now."""
    if posted.trial_index != cursor.trial_index or cursor.voided_answers == 0:
        return False
    is_over = cursor.state != "active"
    return is_over or posted.stimulus != picture_at(session, cursor, posted.trial_index).stimulus


def is_scored(session: Session, cursor: Cursor, response: Response) -> bool:
    """Return whether a stored response counts: its stimulus was not replaced after a mistimed flash."""
    if response.trial_index >= cursor.trial_index:
        return False
    return response.stimulus == picture_at(session, cursor, response.trial_index).stimulus


def replay(session: Session, protocol: Protocol, cursor: Cursor, responses: Sequence[Response]) -> Cursor:
    """Return the cursor as it stood after the last of `responses`, the session's first ones."""
    past = dataclasses.replace(
        opening(protocol, session.opened_at), voids=cursor.voids, displays=cursor.displays
    )
    for response in responses:
        picture = picture_of(session, response.stimulus)
        past = dataclasses.replace(past, exposure_ms=response.exposure_ms)
        if is_scored(session, cursor, response):
            past = _after(session, protocol, past, picture, response)
        else:
            past = _after_mistimed(past, picture, response)
    return past


def picture_of(session: Session, stimulus: str) -> Picture:
    """Return what a picture of this session is.

    Raises:
        KeyError: the session has no such picture.
    """
    for block in (*session.blocks, *session.spares):
        if stimulus in block.stimuli:
            i = block.stimuli.index(stimulus)
            return Picture(stimulus, block.truths[i], block.models[i], block.class_)
    raise KeyError(stimulus)


def has_stimulus(session: Session, stimulus: str) -> bool:
    """Return whether a stimulus is among those planned for a session, or kept to replace them."""
    return any(stimulus in block.stimuli for block in (*session.blocks, *session.spares))


def earned_usd_cents(protocol: Protocol, cursor: Cursor) -> int:
    """Return what the session has earned so far: the base, and the bonus for each right answer.

    Right answers to mistimed flashes are paid at the end. Told before, they would give away the
    truth of the spare, which is that of the picture it stands for.
    """
    right = right_answers(cursor, is_closed=cursor.state != "active")
    return protocol.pay.base_usd_cents + protocol.pay.bonus_usd_cents * right


def earned_part_usd_cents(protocol: Protocol, session: Session, cursor: Cursor) -> tuple[int, int]:
    """Return base and bonus of a session that broke off: by the share of trials answered, rounded up.

    Mistimed flashes count as answered, and right answers to them as right. Of a closed session it is the
    whole.
    """
    trials = total_trials(session)
    answered = trials if cursor.state in CLOSED else min(cursor.trial_index + cursor.voided_answers, trials)
    right = right_answers(cursor, is_closed=True)
    return -(-protocol.pay.base_usd_cents * answered // trials), protocol.pay.bonus_usd_cents * right


def right_answers(cursor: Cursor, is_closed: bool) -> int:
    """Return how many answers were right; of a closed session, those to mistimed flashes as well."""
    return sum(cursor.right.values()) + (cursor.voided_right if is_closed else 0)


def _after_mistimed(cursor: Cursor, picture: Picture, response: Response) -> Cursor:
    return dataclasses.replace(
        cursor,
        version=cursor.version + 1,
        voided_answers=cursor.voided_answers + 1,
        voided_right=cursor.voided_right + (response.response == picture.truth),
        last_at=response.at,
    )


def _voided(session: Session, cursor: Cursor, at: str) -> Cursor:
    """Return the cursor with a spare in the place of the open trial's picture, or ended for lack of one."""
    spare = _next_spare(session, cursor)
    if spare is None:
        return dataclasses.replace(cursor, state="ended", last_at=at)
    return dataclasses.replace(cursor, voids=(*cursor.voids, (cursor.trial_index, spare)))


def _after(
    session: Session, protocol: Protocol, cursor: Cursor, picture: Picture, response: Response
) -> Cursor:
    was_correct = response.response == picture.truth
    next_index = cursor.trial_index + 1
    stair = _next_exposure(session, protocol, cursor, was_correct)
    return dataclasses.replace(
        cursor,
        version=cursor.version + 1,
        trial_index=next_index,
        exposure_ms=stair.exposure_ms if stair else None,
        right_in_a_row=stair.right_in_a_row if stair else 0,
        right=_counted(cursor.right, picture.truth) if was_correct else cursor.right,
        state="finished" if next_index == total_trials(session) else cursor.state,
        last_at=response.at,
    )


def _counted(right: Mapping[str, int], truth: str) -> dict[str, int]:
    return {**right, truth: right.get(truth, 0) + 1}


def _next_exposure(
    session: Session, protocol: Protocol, cursor: Cursor, was_correct: bool
) -> staircase.StaircaseState | None:
    block, offset = locate(session, cursor.trial_index)
    rule = block_rule(protocol, cursor, block)
    if rule is None:
        return None
    if offset + 1 == len(session.blocks[block].stimuli):
        return staircase.start(protocol.timing.staircase)
    now = staircase.StaircaseState(cursor.exposure_ms, cursor.right_in_a_row)
    return staircase.step(rule, now, was_correct)


def _start_exposure(protocol: Protocol) -> float | None:
    return (
        None if protocol.timing.staircase is None else staircase.start(protocol.timing.staircase).exposure_ms
    )


def _check_display(protocol: Protocol, display: dict[str, Any]) -> None:
    """Refuse a display whose refresh rate the study does not admit; one that tells none is let pass."""
    rate = display.get("refresh_hz")
    if not protocol.is_timed or not isinstance(rate, (int, float)):
        return
    low, high = protocol.timing.min_refresh_hz, protocol.timing.max_refresh_hz
    if not low <= rate <= high:
        raise Conflict(
            f"the study needs a display of {low:g} to {high:g} Hz, and this one has {rate:.4g}",
            code="unfit_display",
        )


def check_not_returned(cursor: Cursor) -> None:
    """Raise Conflict (`returned`) where the session's place was given back."""
    if cursor.state == "returned":
        raise Conflict("the place of this session was given back at the panel", code="returned")


def _check_open(cursor: Cursor, lease: int) -> None:
    check_not_returned(cursor)
    if lease != cursor.lease:
        raise Conflict("the session goes on in another tab or browser", code="stale_lease")
    if cursor.state != "active":
        raise Conflict("the session is closed; no further answer is expected", code="closed")


def _in_begun_block(session: Session, cursor: Cursor) -> bool:
    if cursor.state != "active":
        return False
    block, _ = locate(session, cursor.trial_index)
    return cursor.blocks_begun > block


def _next_spare(session: Session, cursor: Cursor) -> str | None:
    """Return a spare of the same truth and class as the open trial's picture, unused so far."""
    picture = picture_at(session, cursor, cursor.trial_index)
    used = {spare for _, spare in cursor.voids}
    for block in session.spares:
        for name, truth in zip(block.stimuli, block.truths, strict=True):
            if block.class_ == picture.class_ and truth == picture.truth and name not in used:
                return name
    return None
