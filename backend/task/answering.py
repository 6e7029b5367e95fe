"""Running a session: beginning blocks, storing each response once, resuming, the debrief."""

import dataclasses
from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import Any

from backend.experiment import follow_ups, session_questions
from backend.experiment import session as sessions
from backend.experiment.fixed_exposures import shortest_ms
from backend.experiment.judgment import pictures_of
from backend.experiment.judgments import either, judgment_of
from backend.experiment.records import Session, Study
from backend.experiment.session import Cursor, Posted
from backend.foundation.errors import Conflict, InvalidInput, OpenhypeError
from backend.stores.updates import retried
from backend.studies import tournament_counts, withdrawals
from backend.task import replies, requests
from backend.task.access import BUSY, SessionAccess
from backend.task.debrief import Debriefing
from backend.task.picture_names import PictureNames
from backend.task.reply_types import Block, Confirmation, Debrief, Resumed, SessionProgress


class Answering:
    """What evaluators can do in a session."""

    def __init__(self, access: SessionAccess):
        self._access, self._store = access, access.store
        self._debriefing = Debriefing(access.store)
        self._names = PictureNames(access.hash_key)

    def resume(self, session_id: str, token: str) -> Resumed:
        """Resume a session for a new visit, which takes the lease, and return its state."""
        session, study = self._access.authorized(session_id, token)
        withdrawals.check_not_withdrawn(self._store, session_id)
        cursor = self._access.change(
            study,
            session,
            lambda now: sessions.resume(session, study.protocol, now, self._access.now()),
        )
        return {"state": self._access.state(study, session, cursor)}

    def begin_block(
        self,
        session_id: str,
        token: str,
        lease: int,
        block: int,
        display: dict[str, Any],
        url: Callable[[Session, str], str],
    ) -> Block:
        """Begin the current block and return its stimuli; if already begun, return the remaining ones."""
        session, study = self._access.authorized(session_id, token)

        def begun(now: Cursor) -> Cursor:
            session_questions.check_answered(study, now)
            return sessions.begin_block(
                session, study.protocol, now, lease, block, display, self._access.now()
            )

        cursor = self._access.change(study, session, begun)
        masks = _masks_of_block(study, session, block)
        return replies.block(study, session, cursor, _urls(session, url), masks)

    def answer_questions(
        self, session_id: str, token: str, posted: requests.QuestionAnswers
    ) -> SessionProgress:
        """Store the answers to the researcher's questions once; the first ones stored count.

        Raises:
            Conflict, InvalidInput: as `session_questions.answer_questions`.
        """
        session, study = self._access.authorized(session_id, token)
        cursor = self._access.change(
            study,
            session,
            lambda now: session_questions.answer_questions(
                study, now, posted.lease, posted.when, posted.answers, posted.declined, self._access.now()
            ),
        )
        config = self._access.panel_config(study, session, cursor)
        return replies.progress(study, session, cursor, config)

    def end(self, session_id: str, token: str, lease: int) -> SessionProgress:
        """End a session at its evaluator's request, as `session.end` permits; idempotent.

        Raises:
            Conflict: as `session.end`.
        """
        session, study = self._access.authorized(session_id, token)
        cursor = self._access.change(
            study,
            session,
            lambda now: sessions.end(now, lease, self._access.now(), study.protocol.is_demonstration),
        )
        return replies.progress(study, session, cursor, self._access.panel_config(study, session, cursor))

    def answer(
        self, session_id: str, token: str, posted: Posted, url: Callable[[Session, str], str]
    ) -> Confirmation:
        """Store a response once, and return the reply that confirms it.

        Raises:
            Conflict: `answer_conflict` if another answer to this trial is stored; else as
                `session.answer`.
        """
        session, study = self._access.authorized(session_id, token)
        _check_answer(study, posted)
        posted = self._by_stored_name(session, posted)
        known = self._access.known_cursor(session_id)
        if known is not None and posted.trial_index >= known.trial_index:
            try:
                return self._stored(study, session, known, posted, url)
            except OpenhypeError:
                pass  # the cached cursor may be stale: read it and try again

        def stored() -> Confirmation:
            cursor = self._access.cursor(session_id)
            repeated = self._repeated(study, session, cursor, posted, url)
            return self._stored(study, session, cursor, posted, url) if repeated is None else repeated

        return retried(stored, BUSY)

    def _by_stored_name(self, session: Session, posted: Posted) -> Posted:
        """Return an answer with the stored names of its stimuli in place of those sent to the browser."""
        names = [self._names.opened(session.id, name) or "" for name in pictures_of(posted.stimulus)]
        stimulus = " ".join(names)
        is_theirs = sessions.has_stimulus(session, stimulus)
        return dataclasses.replace(posted, stimulus=stimulus) if is_theirs else posted

    def _stored(
        self,
        study: Study,
        session: Session,
        cursor: Cursor,
        posted: Posted,
        url: Callable[[Session, str], str],
    ) -> Confirmation:
        response, after = sessions.answer(session, study.protocol, cursor, posted, self._access.now())
        self._access.hold_place(study, session, cursor)
        self._access.note_early_end(study, session, after)
        self._store.append(session.id, cursor.version, after, response)
        self._access.remember(session, after)
        self._count(study, session, after)
        self._access.notify_panel(study, session, after)
        config = self._access.panel_config(study, session, after)
        return replies.answer(study, session, after, response, _urls(session, url), config)

    def _count(self, study: Study, session: Session, after: Cursor) -> None:
        """Add a session that has just finished to the counts of its tournament.

        The answers are stored already: a failure here must not look like one of theirs.
        """
        if after.state != "finished" or not tournament_counts.is_counted(study):
            return
        with suppress(OpenhypeError):
            tournament_counts.add(self._store, study, session, self._store.responses(session.id))

    def _repeated(
        self,
        study: Study,
        session: Session,
        cursor: Cursor,
        posted: Posted,
        url: Callable[[Session, str], str],
    ) -> Confirmation | None:
        """Return the reply that a response had when it was stored; None if its stimulus has none."""
        sessions.check_not_returned(cursor)
        is_open = posted.trial_index >= cursor.trial_index
        if is_open and not sessions.is_voided(session, cursor, posted):
            return None
        stored = self._store.responses(session.id)
        place = next(
            (
                i
                for i, response in enumerate(stored)
                if (response.trial_index, response.stimulus) == (posted.trial_index, posted.stimulus)
            ),
            None,
        )
        if place is None and is_open:
            return None
        if place is None or stored[place].response != posted.response:
            raise Conflict(
                f"trial {posted.trial_index} was answered already, with another answer; the first one counts",
                code="answer_conflict",
            )
        past = sessions.replay(session, study.protocol, cursor, stored[: place + 1])
        if place + 1 == len(stored):
            past = dataclasses.replace(past, state=cursor.state)  # closed by this very response
        config = self._access.panel_config(study, session, past)
        return replies.answer(study, session, past, stored[place], _urls(session, url), config)

    def debrief(self, session_id: str, token: str, url: Callable[[Session, str], str]) -> Debrief:
        """Return the evaluator's own result beside others', and the truth, for a finished session.

        Raises:
            NotAllowed, Conflict: as `Debriefing.debrief`; `withdrawn`.
        """
        session, study = self._access.authorized(session_id, token)
        cursor = self._access.cursor(session_id)
        return self._debriefing.debrief(study, session, cursor, _urls(session, url))


def _urls(session: Session, url: Callable[[Session, str], str]) -> Callable[[str], str]:
    """Return a function from a stimulus to the URLs of its images, separated by spaces."""
    return lambda stimulus: " ".join(url(session, name) for name in pictures_of(stimulus))


def _check_answer(study: Study, posted: Posted) -> None:
    """Raise InvalidInput if answer or follow-ups are not among those that the study asks for."""
    answers = judgment_of(study.protocol.method).answers_of(study.protocol)
    if posted.response not in answers:
        raise InvalidInput(f"response must be {either(answers)}, not {posted.response!r}")
    follow_ups.check(study.protocol, posted.response, posted.facts)


def _masks_of_block(study: Study, session: Session, block: int) -> list[list[int]]:
    """Return, for each trial of a block, the indices of its masks, drawn without regard to the truth."""
    count = study.protocol.timing.mask_count
    exposures = session.blocks[block].exposures_ms
    is_shown_until_answered = exposures and shortest_ms(exposures) is None
    if not study.protocol.has_flashes or not study.masks or not count or is_shown_until_answered:
        return []
    rng = Random(f"masks {session.seed} {block}")
    places = list(range(len(study.masks)))
    draw = rng.sample if len(places) >= count else rng.choices
    return [list(draw(places, k=count)) for _ in session.blocks[block].stimuli]
