"""Session state machine: pure functions from state and event to the next state.

A session is fixed when it opens (`records.Session`); all that changes is its `Cursor`. The cursor
is a summary of the stored responses: `replay` reconstructs it from them. Whether an answer is right is
decided here, from the session's own plan, never by the browser.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from backend.experiment import staircase
from backend.experiment.not_sure import NOT_SURE
from backend.experiment.protocol import Protocol
from backend.experiment.records import (
    CHECK,
    PRACTICE,
    TEST,
    Interaction,
    PlannedBlock,
    Response,
    Session,
    Timing,
)
from backend.experiment.staircase import StaircaseRule
from backend.foundation.errors import Conflict
from backend.foundation.frozen import dataclass

CLOSED = ("finished", "ended")
"""States of a session that has ended and is paid in full: every trial answered, or closed early."""
BROKEN_OFF = "broken_off"
"""The state of a session closed early without the flashes tried that `state_if_ended` asks for: it is paid by
the share of trials that were answered."""
CLOSED_EARLY = ("ended", BROKEN_OFF)
LAPSED = "lapsed"
"""The state of a session that fell silent, and whose place was then given to another."""
EVALUATOR_FLAGS = frozenset({"hidden", "left_full_screen", "resized", "not_whole"})
"""Flags of a flash that the evaluator, not the browser, kept from being seen as planned."""
MISTIMED_FLAGS = EVALUATOR_FLAGS | {"mistimed", "display_changed"}
"""Flags of a flash that was not seen as planned."""
SHOWN_AGAIN = "shown_again"
"""The flag of an answer to a stimulus that may have been flashed before: it is paid, and not scored."""
MISTIMED_BEFORE_ASKING = 5
"""Number of consecutive mistimed flashes after which the evaluator is asked whether to continue or to end;
also the number that the browser must have failed to show before a session closed early is paid in full, if
there are spares for so many."""
CHECKS = "checks"
"""The key of right answers to attention checks in `Cursor.right`: they are paid, and not scored."""
_REPLACED = (TEST, CHECK)
"""Kinds of trials whose stimuli are replaced after a mistimed flash."""
_FRAME_RANGE_MS = (1, 100)


@dataclass(frozen=True)
class Cursor:
    """Progress of a session. `version` is incremented by each change, to guard against lost updates."""

    version: int = 0
    lease: int = 1
    """Number of the visit (tab) that may answer; each resume increments it."""
    blocks_begun: int = 0
    trial_index: int = 0
    """The next trial to be answered, counted over the complete session."""
    exposure_ms: float | None = None
    right_in_a_row: int = 0
    right: Mapping[str, int] = field(default_factory=dict, hash=False)
    """Number of right answers that are paid, by truth; those to attention checks under `CHECKS`."""
    voided_answers: int = 0
    """Number of answers to mistimed flashes, which are stored and paid but not scored."""
    voided_right: int = 0
    failed_flashes: int = 0
    """Number of answered flashes that were measured as mistimed through no doing of the evaluator."""
    not_sure: int = 0
    """Number of answers `not_sure`, each of which is paid as half a right one."""
    voided_not_sure: int = 0
    voids: tuple[tuple[int, str], ...] = ()
    """(trial index, spare that replaced its stimulus, or '' if none was left), in order."""
    state: str = "active"
    """`active`, `finished` (every trial answered), `ended` (closed early, paid in full), `broken_off` (closed
    early, paid in part), `returned` (the place was given back at the panel) or `lapsed` (it fell silent, and
    the place was given to another); the last two are neither counted nor paid."""
    last_at: str = ""
    displays: tuple[dict[str, Any], ...] = ()
    """What the browser reported about its display at the start of each block."""
    questions: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, hash=False)
    """Answers to the researcher's questions, by when they are asked (`before`, `after`): `at` (UTC),
    `answers` by the questions' names, and `declined` if the evaluator chose not to answer. Never changed."""


@dataclass(frozen=True)
class Picture:
    """What a trial shows: its stimulus, with the right answer, the model and the class."""

    stimulus: str
    truth: str
    """The right answer; '' if no answer is right or wrong."""
    model: str | None
    class_: str
    kind: str = TEST
    """The kind of its trial, one of `records.TRIAL_KINDS`."""


@dataclass(frozen=True)
class Posted:
    """An answer as posted by a browser, its types checked (`task/requests.py`)."""

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


def opening(protocol: Protocol, at: str, session: Session | None = None) -> Cursor:
    """Return the cursor of a session just opened at `at` (UTC, ISO 8601).

    Args:
        session: needed if its exposures are fixed.
    """
    fixed = None if session is None else fixed_exposure(session, 0)
    rule = protocol.timing.staircase
    return Cursor(exposure_ms=staircase.start(rule).exposure_ms if rule else fixed, last_at=at)


def stimulus_at(session: Session, cursor: Cursor, trial_index: int) -> Picture:
    """Return the stimulus of a trial: the planned one, or the latest spare that replaced it."""
    for index, spare in reversed(cursor.voids):
        if index == trial_index and spare:
            return picture_of(session, spare)
    block, offset = locate(session, trial_index)
    return _planned(session.blocks[block], offset)


def _planned(block: PlannedBlock, offset: int) -> Picture:
    kind = block.kind(offset)
    class_ = block.class_ if kind == TEST else ""
    return Picture(block.stimuli[offset], block.truths[offset], block.models[offset], class_, kind)


def locate(session: Session, trial_index: int) -> tuple[int, int]:
    """Return (block, index within the block) of a trial."""
    for block, planned in enumerate(session.blocks):
        if trial_index < len(planned.stimuli):
            return block, trial_index
        trial_index -= len(planned.stimuli)
    raise IndexError(f"no trial {trial_index} past the session's end")


def total_trials(session: Session) -> int:
    return sum(len(block.stimuli) for block in session.blocks)


def practice_trials(session: Session) -> int:
    """Return the number of practice trials, with which a session begins."""
    return len(session.blocks[0].stimuli) if session.blocks and session.blocks[0].is_practice else 0


def has_right_answers(session: Session) -> bool:
    """Return whether every trial of a session has a right answer, so that right answers can be counted."""
    return all(truth for block in session.blocks for truth in block.truths)


def fixed_exposure(session: Session, trial_index: int) -> float | None:
    """Return the exposure (ms) that was planned for a trial; None without time limit, and past the end."""
    if trial_index >= total_trials(session):
        return None
    block, offset = locate(session, trial_index)
    exposures = session.blocks[block].exposures_ms
    return exposures[offset] if exposures else None


def has_answered(cursor: Cursor) -> bool:
    """Return whether a session has any answer, including answers to mistimed flashes."""
    return cursor.trial_index > 0 or cursor.voided_answers > 0


def holds_place_minutes(protocol: Protocol, cursor: Cursor) -> float:
    """Return for how many minutes after its last activity an active session holds its place."""
    if has_answered(cursor):
        return protocol.admission.abandon_after_minutes
    return min(protocol.admission.begin_within_minutes, protocol.admission.abandon_after_minutes)


def mark_returned(cursor: Cursor, at: str) -> Cursor:
    """Return the cursor of a session whose place was given back; this is final."""
    if cursor.state == "returned":
        return cursor
    return dataclasses.replace(cursor, version=cursor.version + 1, state="returned", last_at=at)


def lapse(cursor: Cursor) -> Cursor:
    """Return the cursor of a silent session whose place was given to another; this is final."""
    return dataclasses.replace(cursor, version=cursor.version + 1, state=LAPSED)


def resume(session: Session, protocol: Protocol, cursor: Cursor, at: str) -> Cursor:
    """Return the cursor after another visit has taken over the session.

    If the open trial has a time limit, its stimulus may have been flashed already, so that, if the trial is
    scored, or an attention check by a picture, a spare of its kind replaces it at the same exposure. If no
    spare is left, it is shown again, and its answer, which may be to a second sight, is paid and not scored.

    Raises:
        Conflict: `returned`.
    """
    check_not_returned(cursor)
    taken = dataclasses.replace(cursor, version=cursor.version + 1, lease=cursor.lease + 1)
    if cursor.state != "active" or cursor.exposure_ms is None or not _in_begun_block(session, cursor):
        return taken
    if stimulus_at(session, cursor, cursor.trial_index).kind not in _REPLACED:
        return taken  # shown again
    if is_shown_again(cursor, cursor.trial_index):
        return taken
    void = (cursor.trial_index, _next_spare(session, cursor) or "")
    return dataclasses.replace(taken, voids=(*cursor.voids, void))


def is_shown_again(cursor: Cursor, trial_index: int) -> bool:
    """Return whether a trial showed its stimulus again after a reload, as no spare was left."""
    return (trial_index, "") in cursor.voids


def replaced_in_a_row(cursor: Cursor) -> int:
    """Return how often the open trial's stimulus was replaced: none of these flashes was seen as planned."""
    return sum(index == cursor.trial_index for index, _ in cursor.voids)


def state_if_ended(cursor: Cursor) -> str:
    """Return the state of a session that is closed early now: `ended` needs flashes that were tried.

    These are five, or all that there were spares for if these were fewer.
    """
    needed = min(MISTIMED_BEFORE_ASKING, len(cursor.voids) + 1)
    return "ended" if cursor.failed_flashes >= needed else BROKEN_OFF


def end(cursor: Cursor, lease: int, at: str, is_demonstration: bool = False) -> Cursor:
    """Return the cursor of a session that its evaluator ends because of mistimed flashes.

    A demonstration may be ended at any time: its page offers that where the display cannot show flashes.

    Raises:
        Conflict: `returned`; `stale_lease`; `closed`; `not_mistimed` if fewer than `MISTIMED_BEFORE_ASKING`
            stimuli in a row were replaced.
    """
    if cursor.state in CLOSED_EARLY and lease == cursor.lease:
        return cursor
    _check_open(cursor, lease)
    count = replaced_in_a_row(cursor)
    if count < MISTIMED_BEFORE_ASKING and not is_demonstration:
        raise Conflict(
            f"a session ends early after {MISTIMED_BEFORE_ASKING} mistimed flashes in a row; "
            f"here are {count}",
            code="not_mistimed",
        )
    state = state_if_ended(cursor)
    return dataclasses.replace(cursor, version=cursor.version + 1, state=state, last_at=at)


def begin_block(
    session: Session,
    protocol: Protocol,
    cursor: Cursor,
    lease: int,
    block: int,
    display: dict[str, Any],
    at: str,
) -> Cursor:
    """Return the cursor with `block` begun; from then on its stimuli may be served.

    Raises:
        Conflict: `returned`; `stale_lease`; `closed`; `out_of_order` if `block` is not the next one;
            `unfit_display` if the study requires another refresh rate.
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
    first = staircase.start(rule).exposure_ms if rule else fixed_exposure(session, cursor.trial_index)
    return dataclasses.replace(begun, exposure_ms=first)


def block_rule(protocol: Protocol, cursor: Cursor, block: int) -> StaircaseRule | None:
    """Return the staircase rule of a begun block: the study's, in refreshes of the display if so set."""
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

    An answer to a mistimed flash does not change the staircase: the trial stays open at its exposure, with
    a spare stimulus of the same kind, truth and class; if none is left, the session is closed early
    (`state_if_ended`). So it is with attention checks by pictures, which would otherwise be told from scored
    trials. The flashes of practice and of instructions, which evaluators know anyway, are not repeated. Nor
    are stimuli shown again after a reload (`resume`): their answers are not scored in any case.

    Raises:
        Conflict: `returned`; `stale_lease`; `closed`; `out_of_order` if another trial is next or its block
            was not begun; `wrong_stimulus` if the stimulus or the exposure is not that of the trial.
    """
    _check_open(cursor, posted.lease)
    if posted.trial_index != cursor.trial_index or not _in_begun_block(session, cursor):
        raise Conflict(
            f"the answer to trial {cursor.trial_index} comes next, after its block was begun, "
            f"not one to trial {posted.trial_index}",
            code="out_of_order",
        )
    picture = stimulus_at(session, cursor, cursor.trial_index)
    if posted.stimulus != picture.stimulus or posted.exposure_ms != cursor.exposure_ms:
        raise Conflict(
            # without names: browsers must not learn the stored ones
            f"trial {cursor.trial_index} shows another picture, or this one for {cursor.exposure_ms} ms, not "
            f"for {posted.exposure_ms} ms",
            code="wrong_stimulus",
        )
    block, _ = locate(session, cursor.trial_index)
    facts = {name: value for name, value in vars(posted).items() if name != "lease"}
    is_second_sight = is_shown_again(cursor, cursor.trial_index)
    if is_second_sight:
        facts["flags"] = (*posted.flags, SHOWN_AGAIN)
    response = Response(**facts, block=block, at=at, attempt=replaced_in_a_row(cursor))
    if is_mistimed(protocol, posted) and picture.kind in _REPLACED and not is_second_sight:
        answered = _after_mistimed(protocol, cursor, picture, response)
        return response, _voided(session, answered, at)
    return response, _after(session, protocol, cursor, picture, response)


def is_mistimed(protocol: Protocol, posted: Posted | Response) -> bool:
    """Return whether a stimulus or its masks were not shown as planned, as measured by the page.

    Of two pictures, one after the other, both and the gap between them are judged. Deviations in the
    countdown are ignored, and so is the timing of a stimulus without time limit.
    """
    if posted.exposure_ms is None:
        return False
    judged = slice(-protocol.judged_phases, None)
    timing = posted.timing
    missed = timing is not None and timing.planned_frames[judged] != timing.achieved_frames[judged]
    return missed or not MISTIMED_FLAGS.isdisjoint(posted.flags)


def is_voided(session: Session, cursor: Cursor, posted: Posted) -> bool:
    """Return whether an answer is to a stimulus of the open trial that was voided after a mistimed flash."""
    if posted.trial_index != cursor.trial_index or cursor.voided_answers == 0:
        return False
    is_over = cursor.state != "active"
    return is_over or posted.stimulus != stimulus_at(session, cursor, posted.trial_index).stimulus


def is_scored(session: Session, cursor: Cursor, response: Response) -> bool:
    """Return whether a stored response counts: it is to the first sight of a stimulus flashed as planned."""
    return _is_final(session, cursor, response) and not is_shown_again(cursor, response.trial_index)


def _is_final(session: Session, cursor: Cursor, response: Response) -> bool:
    """Return whether a stored response completed its trial: its stimulus was not replaced."""
    if response.trial_index >= cursor.trial_index:
        return False
    return response.stimulus == stimulus_at(session, cursor, response.trial_index).stimulus


def replay(session: Session, protocol: Protocol, cursor: Cursor, responses: Sequence[Response]) -> Cursor:
    """Return the cursor as it was after `responses`, the first ones of the session."""
    past = dataclasses.replace(
        opening(protocol, session.opened_at, session),
        voids=cursor.voids,
        displays=cursor.displays,
        questions=cursor.questions,
    )
    for response in responses:
        picture = picture_of(session, response.stimulus)
        past = dataclasses.replace(past, exposure_ms=response.exposure_ms)
        if _is_final(session, cursor, response):
            past = _after(session, protocol, past, picture, response)
        else:
            past = _after_mistimed(protocol, past, picture, response)
    return past


def picture_of(session: Session, stimulus: str) -> Picture:
    """Return a stimulus of this session with its right answer, model and class.

    Raises:
        KeyError: the session has no such stimulus.
    """
    for block in (*session.blocks, *session.spares):
        if stimulus in block.stimuli:
            return _planned(block, block.stimuli.index(stimulus))
    raise KeyError(stimulus)


def has_stimulus(session: Session, stimulus: str) -> bool:
    """Return whether a stimulus is among those planned for a session or its spares."""
    return any(stimulus in block.stimuli for block in (*session.blocks, *session.spares))


def earned_usd_cents(protocol: Protocol, cursor: Cursor) -> int:
    """Return what the session has earned so far: the base, and the bonus for each right answer.

    The bonus of `not_sure` is half that of a right answer, what guessing earns on average; the sum is rounded
    up to whole cents. Attention checks are paid as scored trials, so that pay does not reveal them; practice
    earns no bonus.
    Right answers to mistimed flashes are added at the end. Shown earlier, they would reveal the truth of
    the spare, which is that of the stimulus it replaces.
    """
    return protocol.pay.base_usd_cents + _bonus_usd_cents(protocol, cursor, cursor.state != "active")


def owed_usd_cents(protocol: Protocol, trials: int, cursor: Cursor) -> int:
    """Return what is owed for a session with so many trials; 0 unless it is closed."""
    if cursor.state not in (*CLOSED, BROKEN_OFF):
        return 0
    return sum(_earned_part_usd_cents(protocol, trials, cursor))


def earned_part_usd_cents(protocol: Protocol, session: Session, cursor: Cursor) -> tuple[int, int]:
    """Return base and bonus of a session that was broken off; the base by the share of trials answered.

    Both are rounded up. Mistimed flashes count as answered, and right answers to them as right. A closed
    session has earned both in full.
    """
    return _earned_part_usd_cents(protocol, total_trials(session), cursor)


def _earned_part_usd_cents(protocol: Protocol, trials: int, cursor: Cursor) -> tuple[int, int]:
    answered = trials if cursor.state in CLOSED else min(cursor.trial_index + cursor.voided_answers, trials)
    base = -(-protocol.pay.base_usd_cents * answered // trials)
    return base, _bonus_usd_cents(protocol, cursor, is_closed=True)


def right_answers(cursor: Cursor, is_closed: bool) -> int:
    """Return the number of right answers; for a closed session, including those to mistimed flashes."""
    return sum(cursor.right.values()) + (cursor.voided_right if is_closed else 0)


def not_sure_answers(cursor: Cursor, is_closed: bool) -> int:
    """Return the number of answers `not_sure`, counted as `right_answers` are."""
    return cursor.not_sure + (cursor.voided_not_sure if is_closed else 0)


def _bonus_usd_cents(protocol: Protocol, cursor: Cursor, is_closed: bool) -> int:
    halves = 2 * right_answers(cursor, is_closed) + not_sure_answers(cursor, is_closed)
    return -(-protocol.pay.bonus_usd_cents * halves // 2)


def _after_mistimed(protocol: Protocol, cursor: Cursor, picture: Picture, response: Response) -> Cursor:
    return dataclasses.replace(
        cursor,
        version=cursor.version + 1,
        voided_answers=cursor.voided_answers + 1,
        voided_right=cursor.voided_right + (response.response == picture.truth),
        failed_flashes=cursor.failed_flashes
        + (is_mistimed(protocol, response) and EVALUATOR_FLAGS.isdisjoint(response.flags)),
        voided_not_sure=cursor.voided_not_sure + (response.response == NOT_SURE),
        last_at=response.at,
    )


def _voided(session: Session, cursor: Cursor, at: str) -> Cursor:
    """Return the cursor with the open trial's stimulus replaced by a spare, or closed if no spare is left."""
    spare = _next_spare(session, cursor)
    if spare is None:
        return dataclasses.replace(cursor, state=state_if_ended(cursor), last_at=at)
    return dataclasses.replace(cursor, voids=(*cursor.voids, (cursor.trial_index, spare)))


def _after(
    session: Session, protocol: Protocol, cursor: Cursor, picture: Picture, response: Response
) -> Cursor:
    if is_shown_again(cursor, cursor.trial_index) and picture.kind != PRACTICE:
        picture = dataclasses.replace(picture, kind=CHECK)  # paid, and neither scored nor in the staircase
    was_correct = response.response == picture.truth
    next_index = cursor.trial_index + 1
    stair = _next_of_staircase(session, protocol, cursor, picture.kind, was_correct)
    return dataclasses.replace(
        cursor,
        version=cursor.version + 1,
        trial_index=next_index,
        exposure_ms=stair.exposure_ms if stair else fixed_exposure(session, next_index),
        right_in_a_row=stair.right_in_a_row if stair else 0,
        right=_counted(cursor.right, picture) if was_correct else cursor.right,
        not_sure=cursor.not_sure + (response.response == NOT_SURE and picture.kind != PRACTICE),
        state="finished" if next_index == total_trials(session) else cursor.state,
        last_at=response.at,
    )


def _counted(right: Mapping[str, int], picture: Picture) -> Mapping[str, int]:
    """Return the counts of paid right answers after one more, which is not counted if it was practice."""
    if picture.kind == PRACTICE:
        return right
    key = picture.truth if picture.kind == TEST else CHECKS
    return {**right, key: right.get(key, 0) + 1}


def _next_of_staircase(
    session: Session, protocol: Protocol, cursor: Cursor, kind: str, was_correct: bool
) -> staircase.StaircaseState | None:
    """Return the staircase after a trial; practice stays at its start, and checks do not move it."""
    block, offset = locate(session, cursor.trial_index)
    rule = block_rule(protocol, cursor, block)
    of_study = protocol.timing.staircase
    if rule is None or of_study is None or cursor.exposure_ms is None:
        return None
    if offset + 1 == len(session.blocks[block].stimuli):
        return staircase.start(of_study)
    now = staircase.StaircaseState(cursor.exposure_ms, cursor.right_in_a_row)
    return staircase.step(rule, now, was_correct) if kind == TEST else now


def _check_display(protocol: Protocol, display: dict[str, Any]) -> None:
    """Raise Conflict if the study does not admit the display's refresh rate; an unknown rate is accepted."""
    rate = display.get("refresh_hz")
    if not protocol.has_flashes or not isinstance(rate, (int, float)):
        return
    low, high = protocol.slowest_refresh_hz, protocol.timing.max_refresh_hz
    if not low <= rate <= high:
        raise Conflict(
            f"the study needs a display of {low:g} to {high:g} Hz, and this one has {rate:.4g}",
            code="unfit_display",
        )


def check_not_returned(cursor: Cursor) -> None:
    """Raise Conflict (`returned`, `lapsed`) if the session's place was given back, or to another."""
    if cursor.state == LAPSED:
        raise Conflict("the session was silent, and another evaluator got its participant slot", code=LAPSED)
    if cursor.state == "returned":
        raise Conflict("the submission of this session was returned at the panel", code="returned")


def check_lease(cursor: Cursor, lease: int) -> None:
    """Raise Conflict (`stale_lease`) if another visit has taken the session over."""
    if lease != cursor.lease:
        raise Conflict("the session goes on in another tab or browser", code="stale_lease")


def _check_open(cursor: Cursor, lease: int) -> None:
    check_not_returned(cursor)
    check_lease(cursor, lease)
    if cursor.state != "active":
        raise Conflict("the session is closed; no further answer is expected", code="closed")


def _in_begun_block(session: Session, cursor: Cursor) -> bool:
    if cursor.state != "active":
        return False
    block, _ = locate(session, cursor.trial_index)
    return cursor.blocks_begun > block


def _models_of(block: PlannedBlock) -> set[str]:
    """Return the models of a block's scored fakes."""
    return {
        model for offset, model in enumerate(block.models) if model is not None and block.kind(offset) == TEST
    }


def _next_spare(session: Session, cursor: Cursor) -> str | None:
    """Return an unused spare of the same kind, truth, model and class as the open trial's, or None.

    If the blocks of a session show fakes of different models, each has spares of its own, reals too.
    """
    picture = stimulus_at(session, cursor, cursor.trial_index)
    models = _models_of(session.blocks[locate(session, cursor.trial_index)[0]])
    used = {spare for _, spare in cursor.voids}
    wanted = (picture.kind, picture.truth, picture.model)
    for block in session.spares:
        own = _models_of(block)
        if block.class_ != picture.class_ or (own and models and own.isdisjoint(models)):
            continue
        for offset, name in enumerate(block.stimuli):
            spare = (block.kind(offset), block.truths[offset], block.models[offset])
            if spare == wanted and name not in used:
                return name
    return None
