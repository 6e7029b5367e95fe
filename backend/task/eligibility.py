"""Eligibility: each person at most once, in one study of this server, and after its qualification.

People are known only by a keyed hash of the panel's id; visitors of an open link are not known at all.
All studies of a person are in one entry of the book `people`, so that if two studies are opened at once
one of them gets the person: its conditional write decides.
"""

import hashlib
import hmac
import math
import secrets
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from backend.experiment import session as sessions
from backend.experiment.judgments import judgment_of
from backend.experiment.link_values import unfilled
from backend.experiment.panel import PRIVATE_LINK, PanelRecord
from backend.experiment.protocol import Protocol
from backend.experiment.records import Session, Study
from backend.experiment.session import Cursor
from backend.foundation.errors import Conflict, NotAllowed, NotFound, TooMany
from backend.foundation.timestamps import stamp
from backend.stores.store import Store
from backend.stores.updates import retried, update
from backend.studies import lifecycle, unfilled_links
from backend.studies.withdrawals import BOOK, check_not_withdrawn

PEOPLE = "people"
"""The book of participation, by the person's hash: sessions by study, and recent openings by study."""
_OPENINGS, _OPENINGS_WITHIN = 10, timedelta(hours=1)
"""How often one person may reopen a session of a study, having seen nothing of it or retaking it."""


class Admission:
    """The rules of admission over a store. Safe to use from many threads."""

    def __init__(self, store: Store, hash_key: bytes, clock: Callable[[], datetime]):
        self._store = store
        self._hash_key = hash_key
        self._clock = clock

    def key(self, study: Study, panel: Mapping[str, str]) -> str | None:
        """Return the keyed hash by which a person is known, or None if the link names nobody.

        Raises:
            NotAllowed: `preview`; `unfilled_link`; `unknown_link` if the study requires a private link and
                this is none.
        """
        record = study.protocol.admission.panel
        if record.is_preview(panel):
            raise NotAllowed("this visit is a preview; accept the task at the panel first", code="preview")
        if missing := unfilled(record, panel):
            unfilled_links.note(self._store, study.name, missing, stamp(self._clock()))
            raise NotAllowed(
                f"the panel put no value for {', '.join(missing)} into the link", code="unfilled_link"
            )
        token = panel.get(PRIVATE_LINK)
        if token:
            key = _keyed(self._hash_key, PRIVATE_LINK, token)
            if not self._is_given_out(study, key):
                raise NotAllowed("no such link was given out for this study", code="unknown_link")
            return key
        if record.private_links:
            raise NotAllowed("this study is open to private links only", code="unknown_link")
        panel_id = panel.get(record.evaluator, "").strip() if record.evaluator else ""
        return _keyed(self._hash_key, record.evaluator, panel_id) if panel_id else None

    def _is_given_out(self, study: Study, link: str) -> bool:
        """Return whether a private link (its hash) is one of the study, or of one that it qualifies for."""
        if self._store.entry(links_of(study.name), link):
            return True
        others = self._store.studies() if study.kind == "qualification" else []
        names = [each.name for each in others if each.protocol.admission.qualification == study.name]
        return any(self._store.entry(links_of(name), link) for name in names)

    def check(self, study: Study, key: str | None) -> None:
        """Refuse a person who cannot take part in any case; nothing is claimed yet.

        Raises:
            NotAllowed: `took_part_before`.
            Conflict: as `previous`.
            TooMany: `opened_too_often`.
        """
        if key is None:
            return
        entry = self._store.entry(PEOPLE, key)
        known = entry.data if entry else {}
        self._check_elsewhere(study, key, known.get("studies", {}))
        self.previous(study, key)
        self._recent(study, known)

    def previous(self, study: Study, key: str | None) -> str | None:
        """Return the person's earlier session in the study if a new one may replace it.

        It may if no block was begun (nothing was seen), if a pass has expired, and if a failed
        qualification may be retaken.

        Raises:
            Conflict: `already_started`, `already_finished`, `returned`, `withdrawn`.
        """
        previous = self._store.claimed(study.name, key) if key else None
        if previous is None or study.protocol.admission.repeat_visits:
            return previous
        check_not_withdrawn(self._store, previous)
        cursor = self._cursor(previous)
        if cursor is None or cursor.blocks_begun == 0 or self._may_retake(study, previous, cursor):
            return previous
        codes = {"active": "already_started", "returned": "returned", sessions.LAPSED: sessions.LAPSED}
        raise _already(codes.get(cursor.state, "already_finished"))

    def unseen(self, study: Study, key: str | None) -> str | None:
        """Return the person's open session of a study if nothing was seen in it, else None."""
        session_id = self._store.claimed(study.name, key) if key else None
        cursor = self._cursor(session_id) if session_id else None
        return session_id if cursor and cursor.state == "active" and cursor.blocks_begun == 0 else None

    def give_up_unseen(self, study: Study, key: str | None) -> bool:
        """Close the person's session if nothing was seen in it; return whether there was one."""
        session_id = self.unseen(study, key)
        return session_id is not None and self._close_unseen(session_id)

    def take(self, study: Study, session: Session, previous: str | None) -> None:
        """Transfer the person's claim to a session that is stored already.

        Where people may take part again, a session that was begun and left is no obstacle. A process that
        dies in here leaves a session without a claim, which expires.

        Raises:
            NotAllowed, Conflict, TooMany: as `check`, if another visit came first.
        """
        key = session.evaluator_key
        if key is None:
            return
        self._note(study, key, session.id)
        is_closed = previous is None or self._close_unseen(previous)
        if not is_closed and not study.protocol.admission.repeat_visits:
            raise _already("already_started")
        if self._store.claim(study.name, key, session.id, instead_of=previous) != session.id:
            raise _already("already_started")

    def has_passed(self, qualification: Study, session: Session | None, key: str | None) -> bool:
        """Return whether a person has a valid pass of the qualification.

        Args:
            session: the qualification's session that the visitor's browser holds.

        Raises:
            NotAllowed: `not_qualified` if the test was failed and cannot be retaken.
            Conflict: `withdrawn`.
        """
        taken = session.id if session else self._store.claimed(qualification.name, key) if key else None
        if taken is None:
            return False
        check_not_withdrawn(self._store, taken)
        try:
            cursor, session = self._store.cursor(taken), self._store.session(taken)
        except NotFound:
            return False
        if cursor.state in ("active", "returned"):
            return False
        if not _result(session, qualification.protocol, cursor)["passed"]:
            if qualification.protocol.admission.retakes:
                return False
            raise NotAllowed("the qualification was taken and not passed", code="not_qualified")
        return self._is_valid(qualification.protocol, cursor)

    def _note(self, study: Study, key: str, session_id: str) -> None:
        def noted(now: Mapping[str, Any] | None) -> Mapping[str, Any]:
            known = now or {}
            taken = known.get("studies", {})
            self._check_elsewhere(study, key, taken)
            if study.kind == "study" and not study.protocol.admission.repeat_visits:
                taken = {**taken, study.name: session_id}
            opened = [*self._recent(study, known), stamp(self._clock())]
            return {"studies": taken, "opened": {**self._opened(known), study.name: opened}}

        update(self._store, PEOPLE, key, noted, "this person is opening many studies at once")

    def _recent(self, study: Study, known: Mapping[str, Any]) -> list[str]:
        """Return when a person recently opened sessions of a study.

        Raises:
            TooMany: `opened_too_often`.
        """
        opened = self._opened(known).get(study.name, [])
        if len(opened) < _OPENINGS:
            return opened
        again_at = datetime.fromisoformat(opened[-_OPENINGS]) + _OPENINGS_WITHIN
        raise TooMany(
            f"this evaluator opened the study {len(opened)} times within the last hour, and {_OPENINGS} are "
            "allowed; come back later",
            code="opened_too_often",
            retry_after_s=max(1, math.ceil((again_at - self._clock()).total_seconds())),
        )

    def _opened(self, known: Mapping[str, Any]) -> dict[str, list[str]]:
        """Return, by study, when a person recently opened sessions; older openings are dropped."""
        since = stamp(self._clock() - _OPENINGS_WITHIN)
        recent = {name: [at for at in times if at > since] for name, times in known.get("opened", {}).items()}
        return {name: times for name, times in recent.items() if times}

    def _check_elsewhere(self, study: Study, key: str, taken: Mapping[str, str]) -> None:
        if study.kind != "study":
            return
        if not study.protocol.admission.exclusive or study.protocol.admission.repeat_visits:
            return
        admitted = {study.name, *(name.strip() for name in study.protocol.admission.also_admit.split(","))}
        for name, session_id in taken.items():
            if name not in admitted and self._took_part(name, key, session_id):
                raise NotAllowed("this person took part in another study here", code="took_part_before")

    def _took_part(self, study_name: str, key: str, session_id: str) -> bool:
        """Return whether stimuli of a study were seen, or may be seen at any moment."""
        if self._store.entry(BOOK, session_id) is not None:
            return True
        try:
            cursor = self._store.cursor(session_id)
            protocol = self._store.study(study_name, even_deleted=True).protocol
        except NotFound:
            if lifecycle.was_deleted(self._store, study_name):
                return True  # evaluators who saw nothing were removed before its deletion
            # It expired with nothing begun, or was refused in favour of another session, which exists.
            return self._store.claimed(study_name, key) != session_id
        silent_since = stamp(self._clock() - timedelta(minutes=protocol.admission.abandon_after_minutes))
        if cursor.blocks_begun or (cursor.state == "active" and cursor.last_at >= silent_since):
            return True
        return not self._close_unseen(session_id)

    def _cursor(self, session_id: str) -> Cursor | None:
        """Return the cursor of a session; None if nothing was begun in it, and it has expired."""
        try:
            return self._store.cursor(session_id)
        except NotFound:
            return None

    def _close_unseen(self, session_id: str) -> bool:
        """Return whether a session is closed; an open one in which nothing was seen is closed here."""

        def closed() -> bool:
            cursor = self._cursor(session_id)
            if cursor is None:
                return True
            if cursor.state == "active" and not cursor.blocks_begun:
                after = sessions.mark_returned(cursor, stamp(self._clock()))
                self._store.move(session_id, cursor.version, after)
                return True
            return cursor.state != "active"

        return retried(closed, "the person's other session is being changed from several programs at once")

    def _may_retake(self, study: Study, session_id: str, cursor: Cursor) -> bool:
        if study.kind != "qualification" or cursor.state in ("active", "returned"):
            return False
        result = _result(self._store.session(session_id), study.protocol, cursor)
        return (
            not self._is_valid(study.protocol, cursor)
            if result["passed"]
            else study.protocol.admission.retakes
        )

    def _is_valid(self, protocol: Protocol, cursor: Cursor) -> bool:
        return cursor.last_at >= stamp(self._clock() - timedelta(days=protocol.admission.valid_days))


def _result(session: Session, protocol: Protocol, cursor: Cursor) -> dict[str, Any]:
    return judgment_of(protocol.method).qualification_result(session, protocol, cursor)


def issue_links(store: Store, hash_key: bytes, study: str, count: int) -> list[str]:
    """Return the tokens of `count` new private links; the store holds only their hashes."""
    tokens = [secrets.token_urlsafe(16) for _ in range(count)]
    for token in tokens:
        store.write_entry(links_of(study), _keyed(hash_key, PRIVATE_LINK, token), 0, {})
    return tokens


def stored_parameters(record: PanelRecord, panel: Mapping[str, str]) -> dict[str, str]:
    """Return the link parameters that are stored with the session."""
    missing = unfilled(record, panel)
    return {name: panel[name] for name in record.parameters if panel.get(name) and name not in missing}


def links_of(study: str) -> str:
    """Return the book of a study's private links, by their hashes."""
    return f"links {study}"


def _keyed(hash_key: bytes, parameter: str, value: str) -> str:
    return hmac.new(hash_key, f"{parameter}\n{value}".encode(), hashlib.sha256).hexdigest()


def _already(code: str) -> Conflict:
    done = {
        "already_finished": "was finished",
        "already_started": "is open in another browser; go on there",
        "returned": "was given back at the panel",
        sessions.LAPSED: "was silent, and another got its participant slot",
    }
    return Conflict(f"this evaluator's session {done[code]}; nobody takes part twice", code=code)
