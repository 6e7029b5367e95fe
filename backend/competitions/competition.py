"""What anyone may know of a competition: its terms, its protocol's hash, and its table after the embargo.

The table is made from all responses, which takes half a minute for a million of them. It is kept in the
store, and made again when something changed, but never more often than costs a twentieth of the time: a page
that anyone may ask for cannot slow evaluators' answers down. That of a large study is made by the worker, and
visitors read the one before meanwhile.
"""

import base64
import hashlib
import json
import logging
import threading
import time
import zlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from backend.competitions import progress, ranking, submissions
from backend.competitions.progress import is_judged
from backend.competitions.protocol_hash import COVERS, hash_of
from backend.competitions.terms import CompetitionRecord, all_competitions, competition_of
from backend.experiment.judgments import method_named
from backend.experiment.records import Study
from backend.foundation.errors import NotFound
from backend.foundation.timestamps import stamp
from backend.report.plan_tables import WRITTEN_UNITS
from backend.report.planned_looks import aim_in_words
from backend.responses.study_data import version
from backend.stores.store import Store
from backend.stores.updates import update
from backend.studies.competition_books import TABLES

log = logging.getLogger("openhype")
_LEAST_S = 30.0
"""A table is not made more often than this, nor than `_SHARE` times as long as it took."""
_SHARE = 20
_MOST_AT_ONCE = 40_000
"""Responses of which a table is made while the visitor waits: about a second."""
_LONGEST_KEPT = 390_000
"""Characters of a table that is kept in the store, of some 3,000 models; an entry of DynamoDB has 400 KB."""


@dataclass(frozen=True)
class Table:
    """A table and when it was made."""

    rows: list[dict[str, Any]]
    scores: Mapping[str, Mapping[str, Any]]
    """Score and interval (`ci`) of each model that has been judged, also of those that are not published."""
    version: str
    made_at: str
    took_s: float


class Competitions:
    """The competitions of a store. Safe to use from many threads.

    Args:
        have_made: has the table of a large study made by the worker, given the study and the version.
    """

    def __init__(
        self,
        store: Store,
        clock: Callable[[], datetime],
        have_made: Callable[[Study, str], Any] | None = None,
    ):
        self._store, self._clock, self._have_made = store, clock, have_made
        self._tables: dict[tuple[str, bool], Table] = {}
        self._locks: dict[tuple[str, bool], threading.Lock] = {}
        self._lock = threading.Lock()  # or else two requests make two locks for one table

    def published(self) -> list[tuple[Study, CompetitionRecord]]:
        """Return the competitions that anyone may see."""
        return [(study, record) for study, record in all_competitions(self._store) if record.terms.published]

    def find(self, name: str) -> tuple[Study, CompetitionRecord]:
        """Return a competition that anyone may see.

        Raises:
            NotFound: there is no such study, or it is not published: in the same words.
        """
        try:
            study = self._store.study(name)
            record = competition_of(self._store, study)
        except NotFound:
            raise _unknown(name) from None
        if not record.terms.published:
            raise _unknown(name)
        return study, record

    def of(self, study: Study, record: CompetitionRecord) -> dict[str, Any]:
        """Return what is published of a competition as plain data."""
        is_hidden = record.is_under_embargo(self._clock())
        made = None if is_hidden else self.table(study, record)
        terms = record.terms
        return {
            "study": study.name,
            "title": terms.title,
            "about": terms.about,
            "method": study.protocol.method,
            "method_title": method_named(study.protocol.method).title,
            "score": method_named(study.protocol.method).score,
            "unit": ranking.unit_of(study),
            "level": ranking.LEVEL,
            "since": record.since,
            "opens_at": terms.opens_at,
            "closes_at": terms.closes_at,
            "embargo_until": terms.embargo_until,
            "is_under_embargo": is_hidden,
            "limit": vars(terms.limit) if terms.limit else None,
            "counts": terms.counts,
            "is_open_to_all": terms.submitters == "all",
            "changes": [dict(change) for change in record.changes],
            "evaluators_wanted": _most(study),
            "looks": _looks(study),
            "currency": study.protocol.pay.currency,
            "protocol": {"sha256": hash_of(record.protocol), "covers": [*COVERS]},
            "models": made.rows if made else [],
            "made_at": (made.made_at or None) if made else None,
        }

    def table(self, study: Study, record: CompetitionRecord, simulated: bool = False) -> Table:
        """Return a competition's table, made again if something changed and it is time."""
        key = (study.name, simulated)
        with self._lock:
            lock = self._locks.setdefault(key, threading.Lock())
        known = self._tables.get(key)
        if known is None:
            lock.acquire()
        elif not lock.acquire(blocking=False):  # while one request makes it again, others get the one before
            return known
        try:
            known = self._tables.get(key) or (None if simulated else self._stored_table(study))
            if known is None or self._is_due(known, study, record, simulated):
                known = self._renewed(known, study, record, simulated)
            self._tables[key] = known
            return known
        finally:
            lock.release()

    def judged(self, study: Study) -> Collection[str]:
        """Return the models whose scores were shown once, whoever withdrew since."""
        table = self._stored_table(study)
        return table.scores.keys() if table else ()

    def make(self, study: Study, record: CompetitionRecord) -> Table:
        """Make a competition's table and keep it in the store."""
        return self._make(study, record, False)

    def _renewed(
        self, known: Table | None, study: Study, record: CompetitionRecord, simulated: bool
    ) -> Table:
        """Return a table made again; of a large study the latest one, which is being made again."""
        responses = self._store.finished(study.name, simulated)[0] * study.protocol.stimuli.trials
        if self._have_made is None or simulated or responses <= _MOST_AT_ONCE:
            return self._make(study, record, simulated)
        known = self._stored_table(study) or known or Table([], {}, "", "", 0)
        if self._is_due(known, study, record, simulated):
            self._have_made(study, self._version(study, record, simulated))
        return known

    def _is_due(self, known: Table, study: Study, record: CompetitionRecord, simulated: bool) -> bool:
        if not known.made_at:
            return True
        age = self._clock() - datetime.fromisoformat(known.made_at)
        least = timedelta(seconds=max(_LEAST_S, _SHARE * known.took_s))
        if timedelta() <= age < least:  # a clock that was put back delays nothing
            return known.version.partition(" ")[0] != study.created_at
        return known.version != self._version(study, record, simulated)

    def _version(self, study: Study, record: CompetitionRecord, simulated: bool) -> str:
        """Return a text that changes whenever the table may have changed; it begins with whose it is."""
        entries = self._store.entries(submissions.submissions_of(study.name))
        facts = [
            version(self._store, study, simulated),
            record.terms.counts,
            *(f"{entry.key} {entry.version}" for entry in entries),
        ]
        return f"{study.created_at} {hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:24]}"

    def _make(self, study: Study, record: CompetitionRecord, simulated: bool) -> Table:
        begun, at = time.monotonic(), stamp(self._clock())
        made_of = self._version(study, record, simulated)
        reached = progress.read(self._store, study, simulated)  # first: nobody counts whose answers do not
        scored = ranking.scored_rows(self._store, study, simulated)
        before = () if simulated else self.judged(study)
        judged = [
            model for model in study.models if model in scored and is_judged(study, model, reached, before)
        ]
        rows = ranking.table_rows(
            study, record.terms, submissions.of_study(self._store, study), reached, scored, judged
        )
        scores = {
            model: {"score": scored[model]["score"], "ci": ranking.interval_of(scored[model])}
            for model in judged
        }
        made = Table(rows, scores, made_of, at, time.monotonic() - begun)
        if not simulated:
            self._keep(study, made)
        return made

    def _stored_table(self, study: Study) -> Table | None:
        entry = self._store.entry(TABLES, study.name)
        if entry is None or entry.data["version"].partition(" ")[0] != study.created_at:
            return None
        rows, scores = json.loads(zlib.decompress(base64.b64decode(entry.data["rows"])))
        rows = [{"look": None, **row} for row in rows]  # kept before there were planned looks
        return Table(rows, scores, entry.data["version"], entry.data["made_at"], entry.data["took_s"])

    def _keep(self, study: Study, made: Table) -> None:
        packed = base64.b64encode(zlib.compress(json.dumps([made.rows, made.scores]).encode(), 9)).decode()
        if len(packed) > _LONGEST_KEPT:
            log.error("the table of %s is too long to be kept: %d models", study.name, len(made.scores))
            return
        data: Mapping[str, Any] = {
            "version": made.version,
            "made_at": made.made_at,
            "took_s": round(made.took_s, 3),
            "rows": packed,
        }
        update(self._store, TABLES, study.name, lambda _: data)


def _most(study: Study) -> int:
    """Return how many evaluators are wanted of a model that joins, at most."""
    return study.protocol.admission.evaluators if study.is_mixed else study.at_last_look.evaluators_a_group


def _looks(study: Study) -> dict[str, Any] | None:
    """Return the plan of looks that every model is judged by; None without one."""
    plan = study.protocol.looks.plan
    if plan is None:
        return None
    unit = WRITTEN_UNITS[method_named(study.protocol.method).unit or "log-odds"]
    ends = aim_in_words(plan, unit, is_of_newcomer=True)
    return {"looks": [*plan.looks], "aim": str(plan.aim), "ends_when": ends, "digest": plan.digest}


def _unknown(name: str) -> NotFound:
    return NotFound(f"there is no competition {name!r}", code="unknown_competition")
