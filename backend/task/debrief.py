"""The debrief at the end of a study that has one: the evaluator's own result, others', and the truth.

It shows only stimuli that this session answered, and only values of other evaluators: one number per
person who judged the same condition. Values are those of the scores
(`analysis/table/evaluator_values.py`), computed here for one session without numpy.
"""

from collections.abc import Callable, Sequence
from math import fsum
from typing import cast

from backend.experiment.judgments import judgment_of, method_named
from backend.experiment.not_sure import error_of
from backend.experiment.records import FAKE, REAL, TEST, Response, Session, Study
from backend.experiment.session import CLOSED_EARLY, Cursor, Picture, is_scored, picture_of
from backend.foundation.bounded_cache import Recent
from backend.foundation.errors import Conflict, NotAllowed, NotFound
from backend.stores.store import Store
from backend.studies.withdrawals import withdrawn
from backend.task.reply_types import Debrief, JudgedPicture, Published

_VALUES_KEPT = 4096

Scored = Sequence[tuple[Response, Picture]]
"""The responses of a session that count, with the stimuli they were given to."""


class Debriefing:
    """Debriefs over a store. Values of finished sessions are cached, since these never change."""

    def __init__(self, store: Store):
        self._store = store
        self._values = Recent[tuple[str | None, float]](_VALUES_KEPT)

    def debrief(self, study: Study, session: Session, cursor: Cursor, url: Callable[[str], str]) -> Debrief:
        """Return the debrief of a finished session; values are percent, or ms.

        A demonstration also tells those whose session ended early of the pictures that they judged, without a
        score, which needs all of them.

        Args:
            url: function from a public file name to its URL.

        Raises:
            NotAllowed: `no_debrief`, the study has none.
            Conflict: `not_finished`.
        """
        if not study.protocol.page.debrief:
            raise NotAllowed(f"study {study.name} has no debriefing", code="no_debrief")
        is_whole = cursor.state == "finished"
        if not is_whole and not (study.protocol.is_demonstration and cursor.state in CLOSED_EARLY):
            raise Conflict("the truth is shown once every picture is answered", code="not_finished")
        from backend.experiment.published import published_scores

        scored = self._scored(session, cursor)
        others = self._others(study, session)
        method = study.protocol.method
        return {
            "method": method,
            "unit": method_named(method).unit,
            "score": _value(method, scored) if is_whole else None,
            "fakes_error": percent_wrong(scored, FAKE),
            "reals_error": percent_wrong(scored, REAL),
            "model": ", ".join(session.models) or None,
            "others": {
                "evaluators": len(others),
                "mean": fsum(others) / len(others) if others else None,
                "values": others,
            },
            "published": cast(list[Published], published_scores(method)),
            "pictures": [
                cast(
                    JudgedPicture,
                    {"url": url(response.stimulus), "truth": picture.truth, "response": response.response},
                )
                for response, picture in scored
            ],
        }

    def _others(self, study: Study, session: Session) -> list[float]:
        """Return the values of all others who finished with the session's condition, in ascending order."""
        gone = {entry.key for entry in withdrawn(self._store, study.name)}
        values = []
        for session_id, cursor in self._store.cursors(study.name):
            if cursor.state == "finished" and session_id not in gone | {session.id}:
                try:
                    condition, known = self._value_of(study, session_id, cursor)
                except NotFound:  # erased in the meantime
                    continue
                if condition == session.condition:
                    values.append(known)
        return sorted(values)

    def _value_of(self, study: Study, session_id: str, cursor: Cursor) -> tuple[str | None, float]:
        """Return the condition of a finished session, and its value.

        Raises:
            NotFound: it was erased.
        """
        known = self._values.get(session_id)
        if known is None:
            session = self._store.session(session_id)
            scored = self._scored(session, cursor)
            if not scored:
                raise NotFound(f"there are no responses of session {session_id!r}")
            known = session.condition, _value(study.protocol.method, scored)
            self._values.put(session_id, known)
        return known

    def _scored(self, session: Session, cursor: Cursor) -> Scored:
        return [
            (response, picture_of(session, response.stimulus))
            for response in self._store.responses(session.id)
            if is_scored(session, cursor, response) and picture_of(session, response.stimulus).kind == TEST
        ]


def _value(method: str, scored: Scored) -> float:
    rows = [{**vars(response), "truth": picture.truth} for response, picture in scored]
    return float(judgment_of(method).value(method, rows))


def percent_wrong(scored: Scored, truth: str) -> float | None:
    """Return the mean error in percent on fakes, or on reals; None if there are none."""
    said = [response.response for response, picture in scored if picture.truth == truth]
    return 100 * fsum(error_of(response, truth) for response in said) / len(said) if said else None
