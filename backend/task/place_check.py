"""Checks that a visitor holds the place at the panel named by the link, once; then a pass shows it.

Anybody can type ids into a link. A panel vouches for them in two ways: it signs its links, or, if it has
an API and this server has a token, it is asked for the submission's person *and* study. A signature of
Prolific is valid for two minutes, and asking takes time. So the result found on arrival is given to the
visitor as a pass of our own, valid for a day, long enough for the consent and a test.
"""

import hashlib
import hmac
import json
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any

from backend.experiment.panel import PROLIFIC, PROLIFIC_SIGNATURE, PROLIFIC_STUDY, Signature
from backend.experiment.records import Study
from backend.foundation.errors import Conflict, NotAllowed, TooMany, Unavailable
from backend.foundation.frozen import dataclass
from backend.foundation.timestamps import stamp
from backend.panels.api import NotThere, Panel, PanelRefused, PanelUnreached, PanelUnsure, Submission
from backend.panels.signed_links import Signatures
from backend.recruitment import panel_health, recruit
from backend.stores.store import Store

_GOOD_FOR_S = 24 * 3600
_MARK = "pass"
_PAUSES_S = (0.3, 0.7, 1.5)
_ASKING_AT_ONCE, _PATIENT_AT_ONCE = 8, 4
"""How many of the server's threads may wait for the panel about newcomers; the rest serve responses."""
_TURN_S = 2.0
_OVER = {
    "returned": ("returned", "was given back at the panel"),
    "timed_out": ("returned", "ran out of time at the panel"),
    "awaiting_review": ("already_finished", "is done at the panel"),
    "approved": ("already_finished", "is done at the panel"),
    "partially_approved": ("already_finished", "is done at the panel"),
    "rejected": ("already_finished", "is done at the panel"),
    "screened_out": ("already_finished", "is done at the panel"),
}
"""States of a place that admit nobody, with error code and reason."""


@dataclass(frozen=True)
class Requirement:
    """What a visitor to a study must prove."""

    signature: Signature | None
    studies: tuple[str, ...]
    """The panel's studies that evaluators may come from; () if there was no recruitment."""
    asks: bool
    """Whether to ask the panel for the submission."""

    @property
    def name(self) -> str:
        """An identifier of the requirement: a pass is valid for the same requirement only."""
        return f"{self.signature.keys if self.signature else ''} {'asked' if self.asks else ''}"


class PlaceCheck:
    """Checks visitors' places over a store. Safe to use from many threads."""

    def __init__(
        self,
        store: Store,
        hash_key: bytes,
        clock: Callable[[], datetime],
        panel: Panel | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ):
        """
        Args:
            panel: that is asked; None where this server has no token for one.
        """
        self._store, self._hash_key, self._clock, self._panel = store, hash_key, clock, panel
        self._own_keys = getattr(panel, "keys_url", PROLIFIC_SIGNATURE.keys)
        self._signatures, self._sleep = Signatures(clock, own=self._own_keys), sleep
        self._asking = threading.BoundedSemaphore(_ASKING_AT_ONCE)
        self._patience = threading.BoundedSemaphore(_PATIENT_AT_ONCE)

    def signature(self, study: Study) -> Signature | None:
        """Return the signature that a study's links must carry, or None if they need none."""
        is_prolific = study.protocol.admission.panel.name == PROLIFIC.name
        return self._signature(study, recruit.begun(self._store, study) if is_prolific else None)

    def _signature(self, study: Study, recruitment: Mapping[str, Any] | None) -> Signature | None:
        """Return the signature of the panel record, or of the study's own recruitment."""
        if study.protocol.admission.panel.signature:
            return study.protocol.admission.panel.signature
        if recruitment is None or not recruitment["is_signed"]:
            return None
        return PROLIFIC_SIGNATURE.for_link(self._own_keys, recruitment["url"])

    def check(self, study: Study, link: Mapping[str, str], proof: str | None) -> str:
        """Return a pass for the place that a link names; '' if the study requires none.

        If a study pays and its panel identifies people, nobody is admitted without an id.

        Args:
            proof: the panel's signature, or a pass.

        Raises:
            NotAllowed: `unsigned`; `no_place` if the link names none; `unknown_place`, possibly for a
                moment after it was taken; `wrong_place` if it belongs to another person or study.
            Conflict: `returned`, `already_finished` if the place is closed.
            TooMany, Unavailable: the panel cannot be asked for now.
        """
        needed = self._requirement(study)
        _check_named(study, needed, link)
        if not needed.signature and not needed.asks:
            return ""
        _check_study(needed, link)
        if proof and self._is_pass(needed, link, proof):
            return proof
        if needed.signature:
            self._signatures.check(needed.signature, link, proof)
        if needed.asks:
            self._ask(study, needed, link)
        return self._pass(needed, link)

    def is_rehearsal(self, study: Study, link: Mapping[str, str]) -> bool:
        """Return whether a visitor is a test participant of a rehearsal."""
        named = link.get(PROLIFIC_STUDY)
        if named is None:
            return False
        rehearsals = (state.get("rehearsal") or {} for state in self._recruitments(study).values())
        return named in {one.get("panel_study") for one in rehearsals}

    def _requirement(self, study: Study) -> Requirement:
        recruitments = self._recruitments(study)
        studies = tuple(one for state in recruitments.values() for one in recruit.panel_studies(state))
        is_asked = self._panel is not None and study.protocol.admission.panel.name == self._panel.name
        return Requirement(
            self._signature(study, recruitments.get(study.name)), studies, is_asked and bool(studies)
        )

    def _recruitments(self, study: Study) -> dict[str, Mapping[str, Any]]:
        """Return, by study, the recruitments that lead to a study, directly or as a qualification."""
        if study.protocol.admission.panel.name != PROLIFIC.name:
            return {}
        through = [study]
        if study.kind == "qualification":
            through += [
                one for one in self._store.studies() if one.protocol.admission.qualification == study.name
            ]
        states = ((one.name, recruit.begun(self._store, one)) for one in through)
        return {name: state for name, state in states if state is not None}

    def _ask(self, study: Study, needed: Requirement, link: Mapping[str, str]) -> None:
        record = study.protocol.admission.panel
        if not self._asking.acquire(timeout=_TURN_S):
            raise TooMany("many people come at once; try again in a moment")
        try:
            place = self._place_at_panel(link[record.submission])
        except NotThere:
            raise NotAllowed(
                "the panel does not know this submission; it may do so in a moment", code="unknown_place"
            ) from None
        except (PanelRefused, PanelUnsure, PanelUnreached) as error:
            panel_health.failed(self._store, study.name, error, stamp(self._clock()))
            raise Unavailable(
                "the panel cannot be asked for this submission now; try again in a moment"
            ) from None
        finally:
            self._asking.release()
        _check_place(place, link, link[record.evaluator], needed.studies)

    def _place_at_panel(self, submission: str) -> Submission:
        """Return a place, retrying because the panel may not know it just after it was taken.

        The number of concurrent waits is limited, so that visitors with invented ids cannot hold all
        threads.
        """
        assert self._panel is not None  # without a panel nothing is asked (`_requirement`)
        try:
            return self._panel.submission(submission, is_urgent=True)
        except NotThere:
            if not self._patience.acquire(blocking=False):
                raise
        try:
            for pause_s in _PAUSES_S:
                self._sleep(pause_s)
                with suppress(NotThere):
                    return self._panel.submission(submission, is_urgent=True)
        finally:
            self._patience.release()
        raise NotThere("the panel does not know this submission")

    def _pass(self, needed: Requirement, link: Mapping[str, str]) -> str:
        until = int(self._clock().timestamp()) + _GOOD_FOR_S
        return f"{_MARK}.{until}.{self._mac(needed, link, until)}"

    def _is_pass(self, needed: Requirement, link: Mapping[str, str], proof: str) -> bool:
        mark, _, rest = proof.partition(".")
        until, _, mac = rest.partition(".")
        if mark != _MARK or not until.isascii() or not until.isdecimal() or len(until) > len(str(10**12)):
            return False
        is_ours = hmac.compare_digest(mac.encode(), self._mac(needed, link, int(until)).encode())
        return is_ours and self._clock().timestamp() < int(until)

    def _mac(self, needed: Requirement, link: Mapping[str, str], until: int) -> str:
        said: Any = [_MARK, needed.name, sorted(link.items()), until]
        return hmac.new(self._hash_key, json.dumps(said).encode(), hashlib.sha256).hexdigest()


def _check_named(study: Study, needed: Requirement, link: Mapping[str, str]) -> None:
    """Raise if the link lacks the person's id, or the place, and the study requires it."""
    record = study.protocol.admission.panel
    names = [record.evaluator, record.submission] if needed.asks else []
    if study.protocol.pay.is_paid and record.evaluator and not needed.signature:
        names.append(record.evaluator)
    if not all(link.get(name) for name in names):
        raise NotAllowed("this study is for people who have a submission at the panel", code="no_place")


def _check_study(needed: Requirement, link: Mapping[str, str]) -> None:
    named = link.get(PROLIFIC_STUDY)
    if needed.studies and named is not None and named not in needed.studies:
        raise _wrong_place()


def _check_place(
    place: Submission, link: Mapping[str, str], participant: str, studies: tuple[str, ...]
) -> None:
    is_named = link.get(PROLIFIC_STUDY, "") in ("", *place.studies)
    if place.participant != participant or not is_named or not set(place.studies) & set(studies):
        raise _wrong_place()
    if place.status in _OVER:
        code, how = _OVER[place.status]
        raise Conflict(f"this submission {how}", code=code)


def _wrong_place() -> NotAllowed:
    return NotAllowed(
        "this submission at the panel is another person's, or of another study", code="wrong_place"
    )
