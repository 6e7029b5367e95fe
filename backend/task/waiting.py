"""Paid waiting for a study to start: `studies/waiting_room.py` for one visitor."""

from collections.abc import Mapping
from typing import cast

from backend.foundation.errors import NotAllowed
from backend.studies import lifecycle, waiting_room
from backend.task.access import SessionAccess
from backend.task.eligibility import stored_parameters
from backend.task.reply_types import BegunWait, Wait
from backend.task.visitors import Visitors


class Waiting:
    """What people can do who passed the qualification of a study that has not started."""

    def __init__(self, access: SessionAccess, visitors: Visitors):
        self._access, self._visitors, self._store = access, visitors, access.store

    def wait(
        self,
        study_name: str,
        panel: Mapping[str, str],
        qualification_token: str | None,
        signature: str | None = None,
    ) -> BegunWait:
        """Start a paid wait until the study is resumed.

        Raises:
            Conflict: `no_retainer`; as `open` if the person has taken part already.
            NotAllowed: `not_qualified` if the person has not passed the study's qualification; as
                `PlaceCheck.check` if the panel also signs the link to the waiting room.
        """
        study = self._access.study(study_name)
        key = self._visitors.admission.key(study, panel)
        if study.protocol.admission.panel.signature:
            key, _ = self._visitors.vouched(study, panel, signature, qualification_token)
        self._visitors.admission.check(study, key)
        qualification = self._visitors.qualification_of(study)
        passed = None
        if qualification and self._visitors.has_passed(qualification, key, qualification_token):
            session = self._visitors.session_of_token(qualification, qualification_token)
            named = self._store.claimed(qualification.name, key) if key is not None else None
            passed = session.id if session else named
        if passed is None:
            raise NotAllowed(
                "only people who passed the test of this study can wait for it", code="not_qualified"
            )
        if study.protocol.pay.retainer_usd_cents:
            begun = lifecycle.begin(self._store, study, self._access.now())
            if begun.settings_id != study.settings_id:
                return self.wait(study_name, panel, qualification_token, signature)
        panel = stored_parameters(study.protocol.admission.panel, panel)
        begun_wait = waiting_room.begin(self._store, study, passed, panel, self._access.clock().timestamp())
        return cast(BegunWait, begun_wait)

    def sign(self, study_name: str, wait_id: str, token: str, is_visible: bool, is_here: bool) -> Wait:
        """Process the heartbeat of a person who waits; see `waiting_room.sign`."""
        study, at = self._access.study(study_name), self._access.clock().timestamp()
        return cast(Wait, waiting_room.sign(self._store, study, wait_id, token, is_visible, is_here, at))
