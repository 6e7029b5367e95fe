"""Visits of evaluators, from the opening to the completion code.

The door (`handlers.py`) parses; here the store, the clock and the rules of `session.py` meet. Every
change is one conditional write, so that the same request twice, or two at once, change things once.
"""

import dataclasses
import hashlib
import hmac
import json
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from functools import lru_cache
from random import Random, SystemRandom
from typing import Any, TypeVar

from backend.errors import Conflict, InvalidInput, NotAllowed, NotFound, OpenhypeError, Unavailable
from backend.experiment import sampling
from backend.experiment import session as sessions
from backend.experiment.panel import NOTHING_TOLD, OUTCOMES, Told, way_back
from backend.experiment.records import Condition, Session, Study
from backend.experiment.sampling import Pool
from backend.experiment.session import Cursor, Posted
from backend.payment import screened_out
from backend.recent import Recent
from backend.recruitment.recruit import told
from backend.recruitment.sync_thread import Watch
from backend.stores.store import Entry, Room, Stale, Store
from backend.studies import lifecycle, pausing, waiting_room, withdrawals
from backend.task import replies, withdrawal
from backend.task.debrief import Debriefing
from backend.task.eligibility import Admission, kept
from backend.task.picture_names import PictureNames
from backend.task.place_check import PlaceCheck
from backend.timestamps import stamp, utc_now

_CODE_LETTERS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
_SESSIONS_CACHED = 4096
_STUDIES_CACHED = 256
_TRIES = 20
_TRIES_FOR_ROOM = 12
_FULL = "study_full"
_SEED_BITS = 53

Clock = Callable[[], datetime]
T = TypeVar("T")


class _SettingsChanged(Exception):
    """The study's settings were changed while a session was being opened under those before."""


class Visits:
    """What evaluators can do, over a store. Safe to use from many threads.

    Args:
        dice: where secrets, ids and plans of sessions come from; the system's own where not given.
        watch: who hears of what happens at the panel; None where nobody is recruited through its API.
    """

    def __init__(
        self,
        store: Store,
        hash_key: bytes,
        clock: Clock = utc_now,
        dice: Random | None = None,
        watch: Watch | None = None,
    ):
        self._store = store
        self._hash_key = hash_key
        self._clock = clock
        self._dice = dice or SystemRandom()
        self._watch = watch
        self._admission = Admission(store, hash_key, clock)
        self._debriefing = Debriefing(store)
        self._names = PictureNames(hash_key)
        self._places = PlaceCheck(store, hash_key, clock, watch.panel if watch else None)
        self._assigning = threading.Lock()
        # A session never changes once stored, nor do the settings under which it was opened.
        self._pool = lru_cache(maxsize=16)(self._read_pool)
        self._settings = Recent[Study](_STUDIES_CACHED)
        self._session = lru_cache(maxsize=_SESSIONS_CACHED)(store.session)
        # A cursor changes, perhaps by another process. An old one does no harm: its write is refused.
        self._cursors = Recent[Cursor](_SESSIONS_CACHED)

    def study(self, name: str) -> Study:
        """Return a study as it stands now: until it is begun its settings may change."""
        return self._store.study(name)

    def public_study(self, name: str) -> dict[str, Any]:
        """Return what a visitor may know of a study."""
        study = self.study(name)
        told = self._public(study, self._qualification_of(study))
        return {**told, "paused": pausing.is_paused(self._store, name)}

    def admit(
        self, study_name: str, panel: Mapping[str, str], signature: str | None = None
    ) -> dict[str, Any]:
        """Say that a person may take part, before consent is asked for; nothing is recorded.

        No place is held: one that is free now may be taken when the session is opened. The `pass` stands for
        the panel's signature from then on, which may run out meanwhile.

        Raises:
            NotAllowed: `took_part_before`, `unknown_link`, and as `PlaceCheck.check`.
            Conflict: `already_started`, `already_finished`, `returned`, `study_paused`, `study_full`.
            Unavailable: the panel cannot be asked, or its keys not be fetched.
        """
        study = self.study(study_name)
        if study.protocol.panel.is_preview(panel):
            return {"admitted": False, "pass": None}
        key, proof = self._vouched(study, panel, signature)
        self._admission.check(study, key)
        self._check_not_paused(study)
        try:
            self._with_room(study, panel, lambda: self._turn(study, Random(), simulated=False))
        except Conflict as error:
            if error.code != _FULL or self._admission.unseen(study, key) is None:
                raise
        return {"admitted": True, "pass": proof or None}

    def leave(
        self,
        study_name: str,
        outcome: str,
        panel: Mapping[str, str],
        qualification_token: str | None,
        signature: str | None = None,
    ) -> dict[str, Any]:
        """Return the way back to the panel for a person who takes no part: `redirect_url`, or null.

        The code for `screened_out`, which may be worth money, goes only to who took the test.
        """
        if outcome not in OUTCOMES or outcome == "done":
            reasons = ", ".join(name for name in OUTCOMES if name != "done")
            raise InvalidInput(f"outcome must be one of {reasons}, not {outcome!r}")
        study = self.study(study_name)
        record = study.protocol.panel
        if outcome == "screened_out":
            self._check_screened_out(study, panel, qualification_token, signature)
            if screened_out.is_paid_by_panel(self._store, study):
                submission = screened_out.note(self._store, study, panel, self._now())
                if self._watch and submission:
                    self._watch.screened_out(study, submission)
                return {"redirect_url": record.back or None}
        back = way_back(record, kept(record, panel), outcome, told(self._store, study))
        return {"redirect_url": back["redirect_url"]}

    def open(self, study_name: str, opening: Mapping[str, Any]) -> dict[str, Any]:
        """Open a session, or say which qualification comes first (`stage`).

        Args:
            opening: as `requests.parse_opening` gives it; who asks for a simulated session has shown the
                researcher's key.

        Raises:
            InvalidInput: `consent_changed`.
            Conflict: `study_paused`, `study_full`, `already_started`, `already_finished`, `returned`,
                `withdrawn`.
            NotAllowed: `not_qualified`, `took_part_before`, `unknown_link`, `preview`, and as
                `PlaceCheck.check`.
            Unavailable: the panel cannot be asked, or its keys not be fetched.
        """
        enter = self._open_simulated if opening.get("simulated") else self._open_real
        for _ in range(_TRIES):
            try:
                return enter(self.study(study_name), opening)
            except _SettingsChanged:
                continue
        raise Conflict(f"the settings of study {study_name} change all the time; try again", code="busy")

    def _open_simulated(self, study: Study, opening: Mapping[str, Any]) -> dict[str, Any]:
        """Open a session in which nobody takes part: no pause, panel, person or place is looked at."""
        qualification = self._qualification_of(study)
        token = opening["qualification_token"]
        if qualification and not self._has_passed(qualification, None, token, simulated=True):
            return self._comes_first(qualification)
        return self._opened(study, None, opening)

    def _open_real(self, study: Study, opening: Mapping[str, Any]) -> dict[str, Any]:
        self._check_not_paused(study)
        if opening["consent_version"] != study.protocol.consent_version:
            raise InvalidInput(
                f"consent_version must be {study.protocol.consent_version!r}, the version now in force",
                code="consent_changed",
            )
        proof, token = opening.get("signature"), opening["qualification_token"]
        key, _ = self._vouched(study, opening["panel"], proof, token)
        self._admission.check(study, key)
        qualification = self._qualification_of(study)
        is_rehearsal = self._places.is_rehearsal(study, opening["panel"])
        if qualification and not self._has_passed(qualification, key, token, simulated=is_rehearsal):
            return self._comes_first(qualification)
        opening = {**opening, "simulated": is_rehearsal}
        return self._with_own_place(
            study,
            key,
            lambda: self._with_room(study, opening["panel"], lambda: self._opened(study, key, opening)),
        )

    def _check_not_paused(self, study: Study) -> None:
        if pausing.is_paused(self._store, study.name):
            raise Conflict(f"study {study.name} takes no new evaluators for now", code="study_paused")

    def _with_own_place(self, study: Study, key: str | None, take: Callable[[], T]) -> T:
        """Return what `take` gives; where the study is full, once the person's unseen session is given up.

        Whoever never got the reply to an opening, or reloads the page before the first picture, comes again
        while the place is held: by that very person.
        """
        try:
            return take()
        except Conflict as error:
            if error.code != _FULL or not self._admission.give_up_unseen(study, key):
                raise
        return take()

    def _with_room(self, study: Study, panel: Mapping[str, str], take: Callable[[], T]) -> T:
        """Return what `take` gives; where the study seems full, once the places at the panel were read."""
        for _ in range(_TRIES_FOR_ROOM):
            try:
                return take()
            except Conflict as error:
                if error.code != _FULL or not self._makes_room(study, panel):
                    raise
        return take()

    def _makes_room(self, study: Study, panel: Mapping[str, str]) -> bool:
        """Return whether places were read for a visitor who holds one, so that it is worth another try.

        The room that was found may be gone again, to another such visitor: it is tried a few times.
        """
        holds_place = bool(panel.get(study.protocol.panel.submission))
        return holds_place and self._watch is not None and self._watch.make_room(study)

    def _opened(self, study: Study, key: str | None, opening: Mapping[str, Any]) -> dict[str, Any]:
        secret = self._dice.randbytes(32).hex()
        with self._assigning:
            previous = self._admission.previous(study, key)
            session, cursor = self._added(study, key, opening, secret)
            try:
                self._admission.take(study, session, previous)
                # Its deletion may have begun meanwhile, and that of its sessions too.
                _check_settings(self.study(study.name), session)
            except (OpenhypeError, _SettingsChanged):
                self._store.erase_session(session.id)  # nobody was told of it
                raise
        self._cursors.put(session.id, cursor)
        self._settings.put(_settings_of(session), study)
        return {
            "stage": "session",
            "token": f"{session.id}.{secret}",
            "state": self._state(study, session, cursor),
        }

    def _added(
        self, study: Study, key: str | None, opening: Mapping[str, Any], secret: str
    ) -> tuple[Session, Cursor]:
        """Plan a session and store it, for another model where a server beside this one took the last place.

        Raises:
            Conflict: `study_full`.
            Unavailable: others are let in all the time.
        """
        for _ in range(_TRIES):
            room = self._room(study, bool(opening.get("simulated")))
            session = self._planned(study, key, opening, secret)
            cursor = sessions.opening(study.protocol, session.opened_at)
            if not session.is_simulated:
                begun = lifecycle.begin(self._store, study, session.opened_at)
                _check_settings(begun, session)
            try:
                self._store.add_session(session, cursor, room)
            except Stale:
                continue
            return session, cursor
        raise Unavailable("many are let in at once; try again", code="busy")

    def wait(
        self,
        study_name: str,
        panel: Mapping[str, str],
        qualification_token: str | None,
        signature: str | None = None,
    ) -> dict[str, Any]:
        """Begin to wait, paid, until the study is let go on.

        Raises:
            Conflict: `no_retainer`; as `open` where the person has taken part already.
            NotAllowed: `not_qualified`; only who passed the study's qualification can wait; as
                `PlaceCheck.check` where the panel signs the link to the waiting room as well.
        """
        study = self.study(study_name)
        key = self._admission.key(study, panel)
        if study.protocol.panel.signature:
            key, _ = self._vouched(study, panel, signature, qualification_token)
        self._admission.check(study, key)
        qualification = self._qualification_of(study)
        if qualification is None or not self._has_passed(qualification, key, qualification_token):
            raise NotAllowed("only who passed the test of this study can wait for it", code="not_qualified")
        session = self._session_of_token(qualification, qualification_token)
        passed = session.id if session else self._store.claimed(qualification.name, key)
        if study.protocol.retainer_usd_cents:
            begun = lifecycle.begin(self._store, study, self._now())
            if begun.settings_id != study.settings_id:
                return self.wait(study_name, panel, qualification_token, signature)
        panel = kept(study.protocol.panel, panel)
        return waiting_room.begin(self._store, study, passed, panel, self._clock().timestamp())

    def sign(
        self, study_name: str, wait_id: str, token: str, is_visible: bool, is_here: bool
    ) -> dict[str, Any]:
        """Take a sign of life of somebody who waits; `waiting_room.sign`."""
        study, at = self.study(study_name), self._clock().timestamp()
        return waiting_room.sign(self._store, study, wait_id, token, is_visible, is_here, at)

    def resume(self, session_id: str, token: str) -> dict[str, Any]:
        """Take the session over for another visit, and return where it stands."""
        session, study = self._authorized(session_id, token)
        withdrawals.check_not_withdrawn(self._store, session_id)
        cursor = self._change(
            study,
            session,
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
        entry = self._store.entry(withdrawals.BOOK, session_id)
        if entry is not None:
            return self._withdrawn(entry)
        session = self._session(session_id)
        _check_somebodys(session)
        return replies.withdrawal(self._study_of(session), self._store.cursor(session_id))

    def withdraw(self, session_id: str, secret: str) -> dict[str, Any]:
        """Delete a session with its answers; asked again, say that it is done. Raises as `withdrawal`."""
        self._check_link(session_id, secret)
        entry = self._store.entry(withdrawals.BOOK, session_id)
        if entry is None:
            session = self._store.session(session_id)
            _check_somebodys(session)
            entry = withdrawal.withdraw(self._store, self._study_of(session), session_id, self._now())
        else:
            entry = withdrawal.finish_one(self._store, entry)
        return self._withdrawn(entry)

    def _withdrawn(self, entry: Entry) -> dict[str, Any]:
        """Return what is told of a session that was withdrawn, also once its study was deleted."""
        name = entry.data["study"]
        with suppress(NotFound):
            protocol = self._store.study(name).protocol
            return replies.withdrawn(protocol.title, protocol.contact, entry.data)
        return replies.withdrawn(name, "", entry.data)

    def debrief(self, session_id: str, token: str, url: Callable[[Session, str], str]) -> dict[str, Any]:
        """Return the own result beside others', and the truth, of a finished session.

        Raises:
            NotAllowed: `no_debrief`, the study tells nothing at its end.
            Conflict: `not_finished`; `withdrawn`.
        """
        session, study = self._authorized(session_id, token)
        cursor = self._cursor(session_id)
        return self._debriefing.debrief(study, session, cursor, lambda name: url(session, name))

    def begin_block(
        self,
        session_id: str,
        token: str,
        lease: int,
        block: int,
        display: dict[str, Any],
        url: Callable[[Session, str], str],
    ) -> dict[str, Any]:
        """Begin the current block and return its pictures; begun already, return what is left of it."""
        session, study = self._authorized(session_id, token)
        cursor = self._change(
            study,
            session,
            lambda now: sessions.begin_block(
                session, study.protocol, now, lease, block, display, self._now()
            ),
        )
        masks = _masks_of_block(study, session, block)
        return replies.block(study, session, cursor, lambda name: url(session, name), masks)

    def end(self, session_id: str, token: str, lease: int) -> dict[str, Any]:
        """End a session whose flashes keep going wrong, as its evaluator asks; again, it changes nothing.

        Raises:
            Conflict: as `session.end`.
        """
        session, study = self._authorized(session_id, token)
        cursor = self._change(study, session, lambda now: sessions.end(now, lease, self._now()))
        return replies.end(study, session, cursor, self._told(study, session, cursor))

    def answer(
        self, session_id: str, token: str, posted: Posted, url: Callable[[Session, str], str]
    ) -> dict[str, Any]:
        """Store an answer once, and return the reply that confirms it.

        Raises:
            Conflict: `answer_conflict` where another answer to this trial is stored; else as
                `session.answer`.
        """
        session, study = self._authorized(session_id, token)
        posted = self._by_stored_name(session, posted)
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
        raise Unavailable("the session is being changed from several places at once; try again", code="busy")

    def _by_stored_name(self, session: Session, posted: Posted) -> Posted:
        """Return an answer with the stored name of its picture, which browsers know by another one."""
        name = self._names.opened(session.id, posted.stimulus)
        is_theirs = name is not None and sessions.has_picture(session, name)
        return dataclasses.replace(posted, stimulus=name) if is_theirs else posted

    def _stored(
        self,
        study: Study,
        session: Session,
        cursor: Cursor,
        posted: Posted,
        url: Callable[[Session, str], str],
    ) -> dict[str, Any]:
        response, after = sessions.answer(session, study.protocol, cursor, posted, self._now())
        self._store.append(session.id, cursor.version, after, response)
        self._cursors.put(session.id, after)
        self._tell(study, session, after)
        told = self._told(study, session, after)
        return replies.answer(study, session, after, response, lambda name: url(session, name), told)

    def _repeated(
        self,
        study: Study,
        session: Session,
        cursor: Cursor,
        posted: Posted,
        url: Callable[[Session, str], str],
    ) -> dict[str, Any] | None:
        """Return the reply that an answer had when it was stored; None if none is stored for its picture."""
        sessions.check_kept(cursor)
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
        told = self._told(study, session, past)
        return replies.answer(study, session, past, stored[place], lambda name: url(session, name), told)

    def _tell(self, study: Study, session: Session, after: Cursor) -> None:
        if self._watch and _is_of_panel(session) and after.state in ("finished", "ended"):
            self._watch.closed(study, session)

    def _change(self, study: Study, session: Session, rule: Callable[[Cursor], Cursor]) -> Cursor:
        known = self._cursors.get(session.id)
        if known is not None:
            try:
                if (after := rule(known)) is not known:
                    return self._moved(study, session, known, after)
            except OpenhypeError:
                pass  # what is known here may be old: read where the session stands, and look again
        for _ in range(_TRIES):
            cursor = self._cursor(session.id)
            after = rule(cursor)
            if after is cursor:
                return cursor
            try:
                return self._moved(study, session, cursor, after)
            except Stale:
                continue
        raise Unavailable("the session is being changed from several places at once; try again", code="busy")

    def _moved(self, study: Study, session: Session, cursor: Cursor, after: Cursor) -> Cursor:
        self._store.move(session.id, cursor.version, after)
        self._cursors.put(session.id, after)
        self._tell(study, session, after)
        return after

    def _authorized(self, session_id: str, token: str) -> tuple[Session, Study]:
        named, _, secret = token.partition(".")
        if not secret or named != session_id:
            raise NotAllowed("the token does not open this session", code="wrong_token")
        try:
            session = self._session(session_id)
        except NotFound:
            withdrawals.check_not_withdrawn(self._store, session_id)
            raise
        if not hmac.compare_digest(_hash(secret), session.secret_hash):
            raise NotAllowed("the token does not open this session", code="wrong_token")
        return session, self._study_of(session)

    def _cursor(self, session_id: str) -> Cursor:
        """Return where a session stands now; one that is known here may have been withdrawn elsewhere."""
        try:
            return self._store.cursor(session_id)
        except NotFound:
            withdrawals.check_not_withdrawn(self._store, session_id)
            raise

    def _check_link(self, session_id: str, secret: str) -> None:
        wanted = withdrawal.secret_of(self._hash_key, session_id)
        if not hmac.compare_digest(secret.encode(), wanted.encode()):
            raise NotAllowed("this link withdraws no session; it must be whole", code="wrong_link")

    def _state(self, study: Study, session: Session, cursor: Cursor) -> dict[str, Any]:
        link = f"/w/{session.id}#{withdrawal.secret_of(self._hash_key, session.id)}"
        return replies.state(study, session, cursor, link, self._told(study, session, cursor))

    def _told(self, study: Study, session: Session, cursor: Cursor) -> Told:
        """Return what the panel was told, where the session's end has use for it."""
        is_panels = cursor.state != "active" and _is_of_panel(session)
        return told(self._store, study) if is_panels else NOTHING_TOLD

    def _comes_first(self, qualification: Study) -> dict[str, Any]:
        return {"stage": "qualification", "qualification": self._public(qualification, None)}

    def _public(self, study: Study, qualification: Study | None) -> dict[str, Any]:
        signature = self._places.signature(study)
        return replies.public_study(study, qualification, signature.parameter if signature else None)

    def _vouched(
        self,
        study: Study,
        panel: Mapping[str, str],
        proof: str | None,
        qualification_token: str | None = None,
    ) -> tuple[str | None, str]:
        """Return the hash by which a person is known, once the panel has vouched for who it is, and a pass.

        A signature may run out while the test is taken. Where the test asked for the same one, its
        session stands for it.
        """
        key = self._admission.key(study, panel)
        if self._has_signed_test(study, key, qualification_token):
            return key, ""
        return key, self._places.check(study, panel, proof)

    def _has_signed_test(self, study: Study, key: str | None, token: str | None) -> bool:
        qualification, signature = self._qualification_of(study), study.protocol.panel.signature
        if key is None or qualification is None or signature is None:
            return False
        session = self._session_of_token(qualification, token)
        is_same = qualification.protocol.panel.signature == signature
        return session is not None and session.evaluator_key == key and is_same

    def _check_screened_out(
        self, study: Study, panel: Mapping[str, str], token: str | None, signature: str | None
    ) -> None:
        qualification = self._qualification_of(study)
        try:
            if qualification:
                self._has_passed(qualification, self._vouched(study, panel, signature, token)[0], token)
        except NotAllowed as error:
            if error.code == "not_qualified":
                return
            raise
        raise NotAllowed("only who took the qualification and did not pass is screened out")

    def _planned(self, study: Study, key: str | None, opening: Mapping[str, Any], secret: str) -> Session:
        is_simulated = bool(opening.get("simulated"))
        seed = opening.get("seed") if is_simulated else None
        seed = self._dice.getrandbits(_SEED_BITS) if seed is None else seed
        rng = Random(seed)
        at = self._now()
        condition, turn = self._turn(study, rng, is_simulated)
        reals = sampling.real_counts(study, self._coin(study, condition, turn), is_second=turn % 2 == 1)
        pool = self._pool(study.name, study.created_at)
        blocks, spares = sampling.draw_session(study, pool, condition, rng, reals)
        return Session(
            id=self._dice.randbytes(12).hex(),
            study=study.name,
            model=condition.model if condition else None,
            class_=condition.class_ if condition else "",
            evaluator=f"e{self._dice.randbytes(6).hex()}",
            evaluator_key=key,
            secret_hash=_hash(secret),
            completion_code="".join(self._dice.choices(_CODE_LETTERS, k=10)),
            seed=seed,
            opened_at=at,
            blocks=blocks,
            spares=spares,
            panel={} if is_simulated and key is None else kept(study.protocol.panel, opening["panel"]),
            device=dict(opening["device"]),
            consent_version="" if is_simulated else opening["consent_version"],
            is_simulated=is_simulated,
            settings_id=study.settings_id,
        )

    def _turn(self, study: Study, rng: Random, simulated: bool) -> tuple[Condition | None, int]:
        """Return the condition of the next session, and how many have judged it or do; a test has none."""
        if study.kind == "qualification":
            return None, 0
        room = self._wanted(study)
        taken = self._store.taken(study.name, room.active_since, simulated, room.unanswered_since)
        wanted = None if simulated else room.wanted
        condition = sampling.choose_condition(taken, study.conditions, wanted, rng)
        return condition, taken.get(condition.name, 0)

    def _room(self, study: Study, simulated: bool) -> Room | None:
        """Return how many sessions of each condition a study has room for; None for any number."""
        if simulated or study.kind == "qualification":
            return None
        return self._wanted(study)

    def _wanted(self, study: Study) -> Room:
        """Return how many sessions of each condition a study wants, and which hold their places by now."""
        now, protocol = self._clock(), study.protocol
        active_since, unanswered_since = (
            stamp(now - timedelta(minutes=minutes))
            for minutes in (protocol.abandon_after_minutes, protocol.begin_within_minutes)
        )
        return Room(protocol.evaluators, active_since, unanswered_since)

    def _coin(self, study: Study, condition: Condition | None, turn: int) -> Random:
        """Return the dice that two evaluators of a condition share, who come one after the other."""
        if condition is None:
            return self._dice
        said = json.dumps([study.name, study.created_at, condition.name, turn // 2])
        return Random(hmac.digest(self._hash_key, said.encode(), "sha256"))

    def _has_passed(
        self, qualification: Study, key: str | None, token: str | None, simulated: bool = False
    ) -> bool:
        session = self._session_of_token(qualification, token, simulated)
        return self._admission.has_passed(qualification, session, key)

    def _session_of_token(
        self, qualification: Study, token: str | None, simulated: bool = False
    ) -> Session | None:
        """Return the session of a qualification that a visitor holds; None too if it is not of their kind."""
        if token is None:
            return None
        session, study = self._authorized(token.partition(".")[0], token)
        is_theirs = study.name == qualification.name and session.is_simulated == simulated
        return session if is_theirs else None

    def _qualification_of(self, study: Study) -> Study | None:
        return self.study(study.protocol.qualification) if study.protocol.qualification else None

    def _read_pool(self, study_name: str, created_at: str) -> Pool:
        """Return a study's pool; one deleted before anybody began it may give its name to another.

        Raises:
            NotFound: the study was deleted meanwhile, and its pool read in pieces.
        """
        stimuli = list(self._store.stimuli(study_name))
        self.study(study_name)
        return sampling.pool_of(stimuli)

    def _study_of(self, session: Session) -> Study:
        """Return a session's study, with the settings under which it was opened."""
        study = self._settings.get(_settings_of(session))
        if study is None:
            study = self._store.study(session.study, even_deleted=True)
            if study.settings_id != session.settings_id:
                raise NotFound(
                    f"the settings of study {session.study} were changed, which ended this simulated session",
                    code="unknown_session",
                )
            self._settings.put(_settings_of(session), study)
        return study

    def _now(self) -> str:
        return stamp(self._clock())


def _check_somebodys(session: Session) -> None:
    if session.is_simulated:
        raise Conflict(
            "nobody can withdraw from a simulated session; `openhype clear` removes it", code="simulated"
        )


def _settings_of(session: Session) -> str:
    return f"{session.study} {session.settings_id}"


def _check_settings(now: Study, session: Session) -> None:
    if now.settings_id != session.settings_id:
        raise _SettingsChanged


def _is_of_panel(session: Session) -> bool:
    """Return whether the panel hears of a session: of a simulated one if a test participant rehearses."""
    return not session.is_simulated or bool(session.panel)


def _masks_of_block(study: Study, session: Session, block: int) -> list[list[int]]:
    """Return for each trial of a block the places of its masks, drawn with truth unseen."""
    count = study.protocol.mask_count
    if study.protocol.method != "time" or not study.masks:
        return []
    rng = Random(f"masks {session.seed} {block}")
    places = list(range(len(study.masks)))
    draw = rng.sample if len(places) >= count else rng.choices
    return [list(draw(places, k=count)) for _ in session.blocks[block].stimuli]


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
