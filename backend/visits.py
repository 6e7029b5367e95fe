"""Visits of evaluators, from the opening to the completion code.

The door (`handlers.py`) parses; here the store, the clock and the rules of `session.py` meet. Every
change is one conditional write, so that the same request twice, or two at once, change things once.
"""

import dataclasses
import hashlib
import hmac
import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from random import Random, SystemRandom
from typing import Any

from backend import control, replies, sampling, waiting, withdrawal
from backend import session as sessions
from backend.errors import Conflict, InvalidInput, NotAllowed, NotFound, OpenhypeError
from backend.protocol import Protocol
from backend.recent import Recent
from backend.records import Session, Study
from backend.sampling import Pool
from backend.session import Cursor, Posted
from backend.stores import Stale, Store

_CODE_LETTERS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
_SESSIONS_CACHED = 4096
_TRIES = 20

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """Return the time now, in UTC."""
    return datetime.now(UTC)


def stamp(at: datetime) -> str:
    """Return a time as it is stored: UTC, ISO 8601, milliseconds; later times sort later."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Visits:
    """What evaluators can do, over a store. Safe to use from many threads.

    Args:
        dice: where secrets, ids and plans of sessions come from; the system's own where not given.
    """

    def __init__(self, store: Store, hash_key: bytes, clock: Clock = utc_now, dice: Random | None = None):
        self._store = store
        self._hash_key = hash_key
        self._clock = clock
        self._dice = dice or SystemRandom()
        self._assigning = threading.Lock()
        # A study and a session never change once stored, so that what was read once can be kept.
        self._pool = lru_cache(maxsize=16)(self._read_pool)
        self.study = lru_cache(maxsize=256)(store.study)
        self._session = lru_cache(maxsize=_SESSIONS_CACHED)(store.session)
        # A cursor changes, perhaps by another process. An old one does no harm: its write is refused.
        self._cursors = Recent[Cursor](_SESSIONS_CACHED)

    def public_study(self, name: str) -> dict[str, Any]:
        """Return what a visitor may know of a study."""
        study = self.study(name)
        told = replies.public_study(study, self._qualification_of(study))
        return {**told, "paused": control.is_paused(self._store, name)}

    def open(self, study_name: str, opening: Mapping[str, Any]) -> dict[str, Any]:
        """Open a session, or say which qualification comes first (`stage`).

        Raises:
            Conflict: `study_paused`, `study_full`, `already_started`, `already_finished`, `withdrawn`.
            NotAllowed: `not_qualified`.
        """
        study = self.study(study_name)
        if control.is_paused(self._store, study_name):
            raise Conflict(f"study {study_name} takes no new evaluators for now", code="study_paused")
        if opening["consent_version"] != study.protocol.consent_version:
            raise InvalidInput(
                f"consent_version must be {study.protocol.consent_version!r}, the version now in force"
            )
        panel = self._kept(study, opening["panel"])
        key = self._evaluator_key(study, panel)
        qualification = self._qualification_of(study)
        if qualification and not self._has_passed(qualification, key, opening["qualification_token"]):
            return {"stage": "qualification", "qualification": replies.public_study(qualification, None)}
        previous = self._previous_visit(study, key)
        secret = self._dice.randbytes(32).hex()
        with self._assigning:
            session = self._planned(study, panel, key, opening, secret)
            self._take_place(study, session, previous)
            cursor = sessions.opening(study.protocol, session.opened_at)
            self._store.add_session(session, cursor)
        self._cursors.put(session.id, cursor)
        return {
            "stage": "session",
            "token": f"{session.id}.{secret}",
            "state": self._state(study, session, cursor),
        }

    def wait(
        self, study_name: str, panel: Mapping[str, str], qualification_token: str | None
    ) -> dict[str, Any]:
        """Begin to wait, paid, until the study is let go on.

        Raises:
            Conflict: `no_retainer`; as `open` where the person has taken part already.
            NotAllowed: `not_qualified`; only who passed the study's qualification can wait.
        """
        study = self.study(study_name)
        kept = self._kept(study, panel)
        key = self._evaluator_key(study, kept)
        self._previous_visit(study, key)
        qualification = self._qualification_of(study)
        if qualification is None or not self._has_passed(qualification, key, qualification_token):
            raise NotAllowed("only who passed the test of this study can wait for it", code="not_qualified")
        passed = self._session_of_token(qualification, qualification_token)
        passed = passed or self._store.claimed(qualification.name, key)
        return waiting.begin(self._store, study, passed, kept, self._clock().timestamp())

    def sign(
        self, study_name: str, wait_id: str, token: str, is_visible: bool, is_here: bool
    ) -> dict[str, Any]:
        """Take a sign of life of somebody who waits; `waiting.sign`."""
        study, at = self.study(study_name), self._clock().timestamp()
        return waiting.sign(self._store, study, wait_id, token, is_visible, is_here, at)

    def resume(self, session_id: str, token: str) -> dict[str, Any]:
        """Take the session over for another visit, and return where it stands."""
        session, study = self._authorized(session_id, token)
        self._check_not_withdrawn(session_id)
        cursor = self._change(
            session_id,
            lambda now: sessions.resume(session, study.protocol, now, self._now()),
        )
        return {"state": self._state(study, session, cursor)}

    def withdrawal(self, session_id: str, secret: str) -> dict[str, Any]:
        """Return what an evaluator would delete by withdrawing, or that it is done.

        Raises:
            NotAllowed: `wrong_link`.
            NotFound: there never was such a session.
        """
        self._check_link(session_id, secret)
        entry = self._store.entry(withdrawal.BOOK, session_id)
        if entry is not None:
            return replies.withdrawn(self.study(entry.data["study"]), entry.data)
        session = self._session(session_id)
        return replies.withdrawal(self.study(session.study), self._store.cursor(session_id))

    def withdraw(self, session_id: str, secret: str) -> dict[str, Any]:
        """Delete a session with its answers; asked again, say that it is done. Raises as `withdrawal`."""
        self._check_link(session_id, secret)
        entry = self._store.entry(withdrawal.BOOK, session_id)
        study = self.study(entry.data["study"] if entry else self._store.session(session_id).study)
        entry = withdrawal.withdraw(self._store, study, session_id, self._now())
        return replies.withdrawn(study, entry.data)

    def begin_block(
        self,
        session_id: str,
        token: str,
        lease: int,
        block: int,
        display: dict[str, Any],
        url: Callable[[str, str], str],
    ) -> dict[str, Any]:
        """Begin the current block and return its pictures; begun already, return what is left of it."""
        session, study = self._authorized(session_id, token)
        cursor = self._change(
            session_id,
            lambda now: sessions.begin_block(
                session, study.protocol, now, lease, block, display, self._now()
            ),
        )
        masks = _masks_of_block(study, session, block)
        return replies.block(study, session, cursor, lambda name: url(study.name, name), masks)

    def answer(
        self, session_id: str, token: str, posted: Posted, url: Callable[[str, str], str]
    ) -> dict[str, Any]:
        """Store an answer once, and return the reply that confirms it.

        Raises:
            Conflict: `answer_conflict` where another answer to this trial is stored; else as
                `session.answer`.
        """
        session, study = self._authorized(session_id, token)
        known = self._cursors.get(session_id)
        if known is not None and posted.trial_index >= known.trial_index:
            try:
                return self._stored(study, session, known, posted, url)
            except OpenhypeError:
                pass  # what is known here may be old: read where the session stands, and look again
        for _ in range(_TRIES):
            cursor = self._cursor(session_id)
            repeated = self._repeated(study, session, cursor, posted, url)
            if repeated is not None:
                return repeated
            try:
                return self._stored(study, session, cursor, posted, url)
            except Stale:
                continue
        raise Conflict("the session is being changed from several places at once; try again", code="busy")

    def _stored(
        self,
        study: Study,
        session: Session,
        cursor: Cursor,
        posted: Posted,
        url: Callable[[str, str], str],
    ) -> dict[str, Any]:
        response, after = sessions.answer(session, study.protocol, cursor, posted, self._now())
        self._store.append(session.id, cursor.version, after, response)
        self._cursors.put(session.id, after)
        return replies.answer(study, session, after, response, lambda name: url(study.name, name))

    def _repeated(
        self,
        study: Study,
        session: Session,
        cursor: Cursor,
        posted: Posted,
        url: Callable[[str, str], str],
    ) -> dict[str, Any] | None:
        """Return the reply that an answer had when it was stored; None if none is stored for its picture."""
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
            past = dataclasses.replace(past, state=cursor.state)  # closed with this very answer
        return replies.answer(study, session, past, stored[place], lambda name: url(study.name, name))

    def _change(self, session_id: str, rule: Callable[[Cursor], Cursor]) -> Cursor:
        known = self._cursors.get(session_id)
        if known is not None:
            try:
                if (after := rule(known)) is not known:
                    return self._moved(session_id, known, after)
            except OpenhypeError:
                pass  # what is known here may be old: read where the session stands, and look again
        for _ in range(_TRIES):
            cursor = self._cursor(session_id)
            after = rule(cursor)
            if after is cursor:
                return cursor
            try:
                return self._moved(session_id, cursor, after)
            except Stale:
                continue
        raise Conflict("the session is being changed from several places at once; try again", code="busy")

    def _moved(self, session_id: str, cursor: Cursor, after: Cursor) -> Cursor:
        self._store.move(session_id, cursor.version, after)
        self._cursors.put(session_id, after)
        return after

    def _authorized(self, session_id: str, token: str) -> tuple[Session, Study]:
        named, _, secret = token.partition(".")
        if not secret or named != session_id:
            raise NotAllowed("the token does not open this session", code="wrong_token")
        try:
            session = self._session(session_id)
        except NotFound:
            self._check_not_withdrawn(session_id)
            raise
        if not hmac.compare_digest(_hash(secret), session.secret_hash):
            raise NotAllowed("the token does not open this session", code="wrong_token")
        return session, self.study(session.study)

    def _cursor(self, session_id: str) -> Cursor:
        """Return where a session stands now; one that is known here may have been withdrawn elsewhere."""
        try:
            return self._store.cursor(session_id)
        except NotFound:
            self._check_not_withdrawn(session_id)
            raise

    def _check_not_withdrawn(self, session_id: str) -> None:
        if self._store.entry(withdrawal.BOOK, session_id) is not None:
            raise Conflict("this session was withdrawn, and its answers are deleted", code="withdrawn")

    def _check_link(self, session_id: str, secret: str) -> None:
        wanted = withdrawal.secret_of(self._hash_key, session_id)
        if not hmac.compare_digest(secret.encode(), wanted.encode()):
            raise NotAllowed("this link withdraws no session; it must be whole", code="wrong_link")

    def _state(self, study: Study, session: Session, cursor: Cursor) -> dict[str, Any]:
        link = f"/w/{session.id}#{withdrawal.secret_of(self._hash_key, session.id)}"
        return replies.state(study, session, cursor, link)

    def _planned(
        self, study: Study, panel: dict[str, str], key: str | None, opening: Mapping[str, Any], secret: str
    ) -> Session:
        seed = self._dice.getrandbits(53)
        rng = Random(seed)
        at = self._now()
        model = self._model(study, rng)
        blocks, spares = sampling.draw_session(study, self._pool(study.name), model, rng)
        return Session(
            id=self._dice.randbytes(12).hex(),
            study=study.name,
            model=model,
            evaluator=f"e{self._dice.randbytes(6).hex()}",
            evaluator_key=key,
            secret_hash=_hash(secret),
            completion_code="".join(self._dice.choices(_CODE_LETTERS, k=10)),
            seed=seed,
            opened_at=at,
            blocks=blocks,
            spares=spares,
            panel=panel,
            device=dict(opening["device"]),
            consent_version=opening["consent_version"],
        )

    def _model(self, study: Study, rng: Random) -> str | None:
        if study.kind == "qualification":
            return None
        since = self._clock() - timedelta(minutes=study.protocol.abandon_after_minutes)
        taken = self._store.taken(study.name, stamp(since))
        return sampling.choose_model(taken, study.models, study.protocol.evaluators, rng)

    def _take_place(self, study: Study, session: Session, previous: str | None) -> None:
        if session.evaluator_key is None:
            return
        holder = self._store.claim(study.name, session.evaluator_key, session.id, instead_of=previous)
        if holder != session.id:
            raise _already("already_started")

    def _previous_visit(self, study: Study, key: str | None) -> str | None:
        """Return the evaluator's earlier session if it may be replaced by a new one.

        It may where no block was begun (nothing was seen), or where a pass has run out.
        """
        previous = self._store.claimed(study.name, key) if key else None
        if previous is None:
            return None
        if not study.protocol.repeat_visits:
            self._check_not_withdrawn(previous)
        try:
            cursor = self._store.cursor(previous)
        except NotFound:  # the process died between the claim and the session
            return previous
        expired = study.kind == "qualification" and not self._is_valid(study.protocol, cursor)
        if cursor.blocks_begun == 0 or (cursor.state != "active" and expired) or study.protocol.repeat_visits:
            return previous
        raise _already("already_started" if cursor.state == "active" else "already_finished")

    def _has_passed(self, qualification: Study, key: str | None, token: str | None) -> bool:
        session_id = self._session_of_token(qualification, token)
        if session_id is None and key is not None:
            session_id = self._store.claimed(qualification.name, key)
        if session_id is None:
            return False
        try:
            cursor = self._cursor(session_id)
        except NotFound:  # the process died between the claim and the session
            return False
        if cursor.state == "active" or not self._is_valid(qualification.protocol, cursor):
            return False
        result = sessions.qualification_result(self._session(session_id), qualification.protocol, cursor)
        if not result["passed"]:
            raise NotAllowed("the qualification was taken and not passed", code="not_qualified")
        return True

    def _session_of_token(self, qualification: Study, token: str | None) -> str | None:
        if token is None:
            return None
        session, study = self._authorized(token.partition(".")[0], token)
        return session.id if study.name == qualification.name else None

    def _is_valid(self, protocol: Protocol, cursor: Cursor) -> bool:
        since = self._clock() - timedelta(days=protocol.valid_days)
        return cursor.last_at >= stamp(since)

    def _qualification_of(self, study: Study) -> Study | None:
        return self.study(study.protocol.qualification) if study.protocol.qualification else None

    def _kept(self, study: Study, panel: Mapping[str, str]) -> dict[str, str]:
        names = replies.panel_parameters(study.protocol)
        return {name: panel[name] for name in names if panel.get(name)}

    def _evaluator_key(self, study: Study, panel: Mapping[str, str]) -> str | None:
        """Return a keyed hash of the panel's id, or None where the link names nobody."""
        panel_id = panel.get(study.protocol.evaluator_parameter)
        if not panel_id:
            return None
        text = f"{study.protocol.evaluator_parameter}\n{panel_id}".encode()
        return hmac.new(self._hash_key, text, hashlib.sha256).hexdigest()

    def _read_pool(self, study_name: str) -> Pool:
        return sampling.pool_of(list(self._store.stimuli(study_name)))

    def _now(self) -> str:
        return stamp(self._clock())


def _masks_of_block(study: Study, session: Session, block: int) -> list[list[int]]:
    """Return for each trial of a block the places of its masks, drawn with truth unseen."""
    count = study.protocol.mask_count
    if study.protocol.method != "time" or not study.masks:
        return []
    rng = Random(f"masks {session.seed} {block}")
    places = list(range(len(study.masks)))
    draw = rng.sample if len(places) >= count else rng.choices
    return [list(draw(places, k=count)) for _ in session.blocks[block].stimuli]


def _already(code: str) -> Conflict:
    done = "was finished" if code == "already_finished" else "is open in another browser; go on there"
    return Conflict(f"this evaluator's session {done}; nobody takes part twice", code=code)


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
