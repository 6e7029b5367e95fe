"""Who a visitor is, whether the panel vouches for them, and which qualification they passed."""

from collections.abc import Mapping

from backend.experiment.records import Session, Study
from backend.foundation.errors import Conflict, NotAllowed, NotFound
from backend.studies import pausing
from backend.task.access import SessionAccess, handover_secret
from backend.task.eligibility import Admission
from backend.task.place_check import PlaceCheck


class Visitors:
    """People who do not have a session yet."""

    def __init__(self, access: SessionAccess):
        panel = access.watch.panel if access.watch else None
        self._access, self._store = access, access.store
        self.admission = Admission(access.store, access.hash_key, access.clock)
        self.places = PlaceCheck(access.store, access.hash_key, access.clock, panel)

    def check_not_paused(self, study: Study) -> None:
        if pausing.is_paused(self._store, study.name):
            raise Conflict(f"study {study.name} takes no new evaluators for now", code="study_paused")

    def vouched(
        self,
        study: Study,
        panel: Mapping[str, str],
        proof: str | None,
        qualification_token: str | None = None,
    ) -> tuple[str | None, str]:
        """Return the hash by which a person is known, verified by the panel, and a pass.

        The panel's signature may expire during the qualification. If the qualification required the same
        signature, its session replaces it.
        """
        key = self.admission.key(study, panel)
        if self._has_signed_test(study, key, qualification_token):
            return key, ""
        return key, self.places.check(study, panel, proof)

    def own_session(self, study: Study, key: str | None, panel: Mapping[str, str]) -> str | None:
        """Return a token of the session that was begun from the same place; None if there is none.

        Only for a person and a place that are vouched for: anybody can type ids into a link.
        """
        session_id = self._store.claimed(study.name, key) if key else None
        place = study.protocol.admission.panel.submission
        try:
            session = self._access.session(session_id) if session_id else None
        except NotFound:
            return None
        if session is None or session.panel.get(place, "") != panel.get(place, ""):
            return None
        return f"{session.id}.{handover_secret(self._access.hash_key, session.id)}"

    def begun_test(self, qualification: Study, key: str | None, panel: Mapping[str, str]) -> str | None:
        """Return a token of the person's test that is not finished, as `own_session`."""
        token = self.own_session(qualification, key, panel)
        return token if token and self._access.cursor(token.partition(".")[0]).state == "active" else None

    def _has_signed_test(self, study: Study, key: str | None, token: str | None) -> bool:
        qualification, signature = self.qualification_of(study), study.protocol.admission.panel.signature
        if key is None or qualification is None or signature is None:
            return False
        session = self.session_of_token(qualification, token)
        is_same = qualification.protocol.admission.panel.signature == signature
        return session is not None and session.evaluator_key == key and is_same

    def check_screened_out(
        self, study: Study, panel: Mapping[str, str], token: str | None, signature: str | None
    ) -> None:
        qualification = self.qualification_of(study)
        try:
            if qualification:
                self.has_passed(qualification, self.vouched(study, panel, signature, token)[0], token)
        except NotAllowed as error:
            if error.code == "not_qualified":
                return
            raise
        raise NotAllowed("only people who took the qualification and did not pass are screened out")

    def has_passed(
        self, qualification: Study, key: str | None, token: str | None, simulated: bool = False
    ) -> bool:
        session = self.session_of_token(qualification, token, simulated)
        return self.admission.has_passed(qualification, session, key)

    def session_of_token(
        self, qualification: Study, token: str | None, simulated: bool = False
    ) -> Session | None:
        """Return the qualification session whose token a visitor holds; None if of another kind."""
        if token is None:
            return None
        session, study = self._access.authorized(token.partition(".")[0], token)
        is_theirs = study.name == qualification.name and session.is_simulated == simulated
        return session if is_theirs else None

    def qualification_of(self, study: Study) -> Study | None:
        return (
            self._access.study(study.protocol.admission.qualification)
            if study.protocol.admission.qualification
            else None
        )
