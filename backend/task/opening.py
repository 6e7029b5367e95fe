"""Opening a session: checks eligibility, plans the session, and reserves room for it."""

import threading
from collections.abc import Callable, Mapping
from itertools import count
from random import Random
from typing import TypeVar

from msgspec.structs import replace

from backend.experiment import session as sessions
from backend.experiment.panel import PRIVATE_LINK, return_link
from backend.experiment.records import Session, Study
from backend.experiment.session import Cursor
from backend.foundation.errors import Conflict, InvalidInput, OpenhypeError, Unavailable
from backend.payment import screened_out
from backend.recruitment.recruit import panel_config
from backend.stores.updates import TRIES, retried
from backend.studies import lifecycle, pausing, waiting_room
from backend.task import replies, requests
from backend.task.access import SessionAccess
from backend.task.eligibility import stored_parameters
from backend.task.plans import SessionPlans
from backend.task.reply_types import Admitted, Opened, PublicStudy, QualificationFirst, ReturnLink
from backend.task.visitors import Visitors

T = TypeVar("T")
Reply = Opened | QualificationFirst
_TRIES_WHEN_FULL = 12
_FULL = "study_full"
_RESUMED = ("already_started", "already_finished")
"""Refusals of a person whose own session goes on, or shows its end again, on another device."""


class _SettingsChanged(Exception):
    """The study's settings changed while a session was being opened under the previous ones."""


class Opening:
    """What visitors can do before they have a session."""

    def __init__(self, access: SessionAccess, visitors: Visitors, rng: Random):
        self._access, self._visitors, self._rng = access, visitors, rng
        self._store, self._watch = access.store, access.watch
        self._plans = SessionPlans(access, rng)
        # Openings at once would be planned for the same turn, and all but one planned again.
        self._assigning = threading.Lock()

    def public_study(self, name: str) -> PublicStudy:
        """Return what a visitor may know of a study."""
        study = self._access.study(name)
        public = self._public(study, self._visitors.qualification_of(study))
        retainer = public["retainer"] if waiting_room.pays_for_waiting(self._store, study) else None
        return {**public, "retainer": retainer, "paused": pausing.is_paused(self._store, name)}

    def admit(self, study_name: str, panel: Mapping[str, str], signature: str | None = None) -> Admitted:
        """Check that a person may take part, before asking for consent; nothing is recorded.

        Whoever is vouched for, and began elsewhere, gets the `token` of that session. Nothing is reserved:
        the study may be full by the time the session is opened. The returned `pass` then replaces the
        panel's signature, which may expire meanwhile.

        Raises:
            NotAllowed: `took_part_before`, `unknown_link`, `unfilled_link`, and as `PlaceCheck.check`.
            Conflict: `already_started`, `already_finished`, `returned`, `study_paused`, `study_full`.
            Unavailable: the panel cannot be asked, or its keys cannot be fetched.
        """
        study = self._access.study(study_name)
        if study.protocol.admission.panel.is_preview(panel):
            return {"admitted": False, "pass": None}
        try:
            key, proof = self._visitors.vouched(study, panel, signature)
        except Conflict as error:  # the panel vouches for the place, and says that it is closed
            return self._handed_over(study, self._visitors.admission.key(study, panel), panel, error, None)
        try:
            self._visitors.admission.check(study, key)
        except Conflict as error:
            if not proof and not panel.get(PRIVATE_LINK):
                raise
            return self._handed_over(study, key, panel, error, proof or None)
        self._visitors.check_not_paused(study)
        try:
            self._retrying_when_full(study, panel, lambda: self._plans.turn(study, Random(), simulated=False))
        except Conflict as error:
            if error.code != _FULL or self._visitors.admission.unseen(study, key) is None:
                raise
        return {"admitted": True, "pass": proof or None}

    def _handed_over(
        self, study: Study, key: str | None, panel: Mapping[str, str], error: Conflict, proof: str | None
    ) -> Admitted:
        """Return the token of the session for which a vouched person is refused, or raise the refusal."""
        token = self._visitors.own_session(study, key, panel) if error.code in _RESUMED else None
        if token is None:
            raise error
        return {"admitted": True, "pass": proof, "token": token}

    def leave(
        self,
        study_name: str,
        outcome: str,
        panel: Mapping[str, str],
        qualification_token: str | None,
        signature: str | None = None,
    ) -> ReturnLink:
        """Return the link back to the panel for a person who does not take part: `redirect_url`, or null.

        The code for `screened_out`, which may be worth money, goes only to people who took the test.
        """
        study = self._access.study(study_name)
        record = study.protocol.admission.panel
        if outcome == "screened_out":
            self._visitors.check_screened_out(study, panel, qualification_token, signature)
            if screened_out.is_paid_by_panel(self._store, study):
                submission = screened_out.note(self._store, study, panel, self._access.now())
                if self._watch and submission:
                    self._watch.screened_out(study, submission)
                return {"redirect_url": record.back or None}
        back = return_link(
            record, stored_parameters(record, panel), outcome, panel_config(self._store, study)
        )
        return {"redirect_url": back["redirect_url"]}

    def open(self, study_name: str, opening: requests.Opening) -> Reply:
        """Open a session, or return the qualification that must be taken first (`stage`).

        Args:
            opening: the request; one for a simulated session must be authorized by the caller.

        Raises:
            InvalidInput: `consent_changed`.
            Conflict: `study_paused`, `study_full`, `already_started`, `already_finished`, `returned`,
                `withdrawn`.
            NotAllowed: `not_qualified`, `took_part_before`, `unknown_link`, `preview`, and as
                `PlaceCheck.check`.
            Unavailable: the panel cannot be asked, or its keys cannot be fetched.
        """
        enter = self._open_simulated if opening.simulated else self._open_real
        for _ in range(TRIES):
            try:
                return enter(self._access.study(study_name), opening)
            except _SettingsChanged:
                continue
        raise Unavailable(f"the settings of study {study_name} change all the time; try again", code="busy")

    def _open_simulated(self, study: Study, opening: requests.Opening) -> Reply:
        """Open a session without an evaluator: pause, panel, person and place are not checked."""
        qualification = self._visitors.qualification_of(study)
        token = opening.qualification_token
        if qualification and not self._visitors.has_passed(qualification, None, token, simulated=True):
            return self._comes_first(qualification)
        return self._opened(study, None, opening)

    def _open_real(self, study: Study, opening: requests.Opening) -> Reply:
        self._visitors.check_not_paused(study)
        version = study.protocol.consent.consent_version
        if opening.consent_version != version:
            raise InvalidInput(
                f"consent_version must be {version!r}, the version now in force",
                code="consent_changed",
            )
        proof, token = opening.signature, opening.qualification_token
        key, checked = self._visitors.vouched(study, opening.panel, proof, token)
        self._visitors.admission.check(study, key)
        qualification = self._visitors.qualification_of(study)
        is_rehearsal = self._visitors.places.is_rehearsal(study, opening.panel)
        if qualification and not self._visitors.has_passed(qualification, key, token, simulated=is_rehearsal):
            is_vouched = bool(checked or opening.panel.get(PRIVATE_LINK))
            begun = self._visitors.begun_test(qualification, key, opening.panel) if is_vouched else None
            return self._comes_first(qualification, begun)
        opening = replace(opening, simulated=is_rehearsal)
        return self._with_own_place(
            study,
            key,
            lambda: self._retrying_when_full(study, opening.panel, lambda: self._opened(study, key, opening)),
        )

    def _with_own_place(self, study: Study, key: str | None, take: Callable[[], T]) -> T:
        """Return the result of `take`; if the study is full, close the person's unseen session and try again.

        A person who never got the reply to an opening, or who reloads the page before the first
        stimulus, returns while their own earlier session still counts.
        """
        try:
            return take()
        except Conflict as error:
            if error.code != _FULL or not self._visitors.admission.give_up_unseen(study, key):
                raise
        return take()

    def _retrying_when_full(self, study: Study, panel: Mapping[str, str], take: Callable[[], T]) -> T:
        """Return the result of `take`; if the study seems full, read the panel's places and retry."""
        for _ in range(_TRIES_WHEN_FULL):
            try:
                return take()
            except Conflict as error:
                if error.code != _FULL or not self._has_read_places(study, panel):
                    raise
        return take()

    def _has_read_places(self, study: Study, panel: Mapping[str, str]) -> bool:
        """Return whether places were read for a visitor who holds one, so that another try is worthwhile.

        A place found this way may be taken by another such visitor, so that a few tries are made.
        """
        holds_place = bool(panel.get(study.protocol.admission.panel.submission))
        return holds_place and self._watch is not None and self._watch.read_places(study)

    def _opened(self, study: Study, key: str | None, opening: requests.Opening) -> Reply:
        secret = self._rng.randbytes(32).hex()
        with self._assigning:
            previous = self._visitors.admission.previous(study, key)
            session, cursor = self._added(study, key, opening, secret)
            try:
                self._visitors.admission.take(study, session, previous)
                # The deletion of the study, and of its sessions, may have begun in the meantime.
                _check_settings(self._access.study(study.name), session)
                if not session.is_simulated:
                    self._visitors.check_not_paused(study)  # it may have paused itself since
            except (OpenhypeError, _SettingsChanged):
                self._store.erase_session(session.id)  # no client knows of it
                raise
        self._access.remember(session, cursor, study)
        return {
            "stage": "session",
            "token": f"{session.id}.{secret}",
            "state": self._access.state(study, session, cursor),
        }

    def _added(
        self, study: Study, key: str | None, opening: requests.Opening, secret: str
    ) -> tuple[Session, Cursor]:
        """Plan and store a session; replan for another condition if another server filled the first one.

        Raises:
            Conflict: `study_full`.
            Unavailable: other sessions always came first.
        """

        tries = count()

        def add() -> tuple[Session, Cursor]:
            session = self._plans.planned(study, key, opening, secret)
            capacity = self._plans.capacity(study, session, counts_replaced=next(tries) > 0)
            cursor = sessions.opening(study.protocol, session.opened_at, session)
            if not session.is_simulated:
                begun = lifecycle.begin(self._store, study, session.opened_at)
                _check_settings(begun, session)
            self._store.add_session(session, cursor, capacity)
            return session, cursor

        return retried(add, "many are let in at once")

    def _comes_first(self, qualification: Study, begun: str | None = None) -> QualificationFirst:
        first: QualificationFirst = {
            "stage": "qualification",
            "qualification": self._public(qualification, None),
        }
        return {**first, "token": begun} if begun else first

    def _public(self, study: Study, qualification: Study | None) -> PublicStudy:
        signature = self._visitors.places.signature(study)
        return replies.public_study(study, qualification, signature.parameter if signature else None)


def _check_settings(now: Study, session: Session) -> None:
    if now.settings_id != session.settings_id:
        raise _SettingsChanged
