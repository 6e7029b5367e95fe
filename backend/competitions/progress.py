"""How far the models of a study are: finished sessions of each, and when the latest one finished."""

import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from backend.experiment.records import Study
from backend.experiment.session import earned_usd_cents
from backend.stores.store import Store
from backend.studies.withdrawals import sessions_of

_READ_AGAIN_AFTER_S = 5.0
"""Whoever asks again within this time gets what was read before: sessions are read to count them."""


@dataclass(frozen=True)
class ModelProgress:
    """The finished sessions that show a model. Times are UTC, ISO 8601; '' if there is none."""

    evaluators: int = 0
    first_at: str = ""
    """When the first of them was opened."""
    last_at: str = ""
    """When the last of them finished."""
    usd_cents: float = 0.0
    """What their evaluators earned, in equal parts for each model of a session; without a panel's fees."""
    closed_at: tuple[str, ...] = ()
    """When each of them finished, the earliest first."""


Progress = Mapping[str, ModelProgress]
NONE = ModelProgress()


def wanted(study: Study, model: str) -> int:
    """Return how many finished sessions are wanted of a model: with planned looks, until its next one."""
    if model in study.ended:
        return study.ended_at[study.ended.index(model)]
    if study.is_mixed:
        return study.protocol.admission.evaluators
    return study.wanted.get(model, study.evaluators_a_group)


def scored_at(study: Study, model: str, progress: ModelProgress) -> str:
    """Return when a model had as many evaluators as are wanted; '' if it has not, or has looks to come."""
    if study.protocol.looks.looks and model not in study.ended:
        return ""
    enough = max(wanted(study, model), 1)
    return progress.closed_at[enough - 1] if progress.evaluators >= enough else ""


def is_judged(study: Study, model: str, progress: Progress, before: Collection[str]) -> bool:
    """Return whether a model has been judged by all wanted evaluators: those until a look ended its sessions.

    It stays so if one of them withdraws later: its score was shown, and its submitter may not take it out any
    more, or decide with the score in hand whether another evaluator is found.

    Args:
        before: the models that were judged at an earlier time.
    """
    of_model = progress.get(model, NONE)
    return bool(scored_at(study, model, of_model)) or (model in before and of_model.evaluators > 0)


def read(store: Store, study: Study, simulated: bool = False) -> Progress:
    """Return how far each model is."""
    submissions: dict[str, list[tuple[str, str, float]]] = {model: [] for model in study.models}
    for session, cursor in sessions_of(store, study, simulated):
        if cursor.state != "finished":
            continue
        earned = earned_usd_cents(study.protocol, cursor) / max(len(session.models), 1)
        for model in session.models:
            submissions[model].append((session.opened_at, cursor.last_at, earned))
    return {
        model: ModelProgress(
            len(rows),
            min((opened for opened, _, _ in rows), default=""),
            max((last for _, last, _ in rows), default=""),
            sum(earned for _, _, earned in rows),
            tuple(sorted(last for _, last, _ in rows)),
        )
        for model, rows in submissions.items()
    }


class ProgressReader:
    """Reads how far models are, for many who ask at once. Safe to use from many threads."""

    def __init__(self, store: Store, clock: Callable[[], datetime], simulated: bool = False):
        self._store, self._clock, self._simulated = store, clock, simulated
        self._known: dict[str, tuple[datetime, tuple, Progress]] = {}
        self._lock = threading.Lock()  # who asks while it is read waits for it, and does not read it too

    def of(self, study: Study) -> Progress:
        """Return how far each model of a study is, a few seconds late at most."""
        now = self._clock()
        with self._lock:
            known = self._known.get(study.name)
            age_s = (now - known[0]).total_seconds() if known else -1
            if known and 0 <= age_s < _READ_AGAIN_AFTER_S and known[1][0] == study:
                return known[2]
            tag = (study, self._store.finished(study.name, self._simulated))
            progress = known[2] if known and known[1] == tag else read(self._store, study, self._simulated)
            self._known[study.name] = (now, tag, progress)
            return progress
