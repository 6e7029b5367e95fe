"""A store in memory, for tests that need a hundred thousand writes; it passes the stores' contract."""

import copy
import json
import threading
from dataclasses import replace

from backend.experiment.sampling import pool_of
from backend.experiment.session import has_answered
from backend.foundation.errors import Conflict, NotFound
from backend.stores.store import Entry, Stale, check_capacity, visible_study


class MemoryStore:
    """`Store` in dictionaries. Safe to use from many threads."""

    url = None

    def __init__(self):
        self._lock = threading.RLock()
        self._studies, self._stimuli, self._claims = {}, {}, {}
        self._sessions, self._cursors, self._responses = {}, {}, {}
        self._books = {}

    def backup(self):
        """Return a store that holds what this one holds now."""
        made = MemoryStore()
        with self._lock:
            facts = {name: copy.deepcopy(value) for name, value in vars(self).items() if name != "_lock"}
        vars(made).update(facts)
        return made

    def add_study(self, study, stimuli):
        pool = sorted(stimuli, key=lambda stimulus: stimulus.name)
        with self._lock:
            if study.name in self._studies:
                raise Conflict(f"a study {study.name} exists already; choose another name")
            self._studies[study.name], self._stimuli[study.name] = study, pool

    def study(self, name, even_deleted=False):
        return visible_study(_found(self._studies, name, "study"), even_deleted)

    def studies(self, even_deleted=False):
        found = [self._studies[name] for name in sorted(self._studies)]
        return [study for study in found if even_deleted or not study.deleted_at]

    def change_study(self, study):
        with self._lock:
            if study.name not in self._studies or self._studies[study.name].version != study.version - 1:
                raise Stale(f"study {study.name} is no longer at version {study.version - 1}")
            self._studies[study.name] = study

    def add_stimuli(self, study, stimuli):
        with self._lock:
            self.change_study(study)
            pool = [*self._stimuli[study.name], *stimuli]
            self._stimuli[study.name] = sorted(pool, key=lambda stimulus: stimulus.name)

    def remove_study(self, name):
        with self._lock:
            self._studies.pop(name, None)
            self._stimuli.pop(name, None)

    def stimuli(self, study):
        yield from self._stimuli.get(study, [])

    def pool(self, study):
        self.study(study, even_deleted=True)
        return pool_of(self._stimuli[study])

    def claim(self, study, evaluator_key, session_id, instead_of=None):
        with self._lock:
            holder = self._claims.setdefault((study, evaluator_key), session_id)
            if holder == instead_of:
                self._claims[study, evaluator_key] = session_id
            return self._claims[study, evaluator_key]

    def claimed(self, study, evaluator_key):
        return self._claims.get((study, evaluator_key))

    def add_session(self, session, cursor, capacity=None):
        with self._lock:
            if capacity is not None:
                counts = self.taken(
                    session.study, capacity.active_since, session.is_simulated, capacity.unanswered_since
                )
                check_capacity(session, counts.get(session.condition, 0), capacity)
            self._sessions[session.id], self._cursors[session.id] = session, cursor

    def session(self, session_id):
        return _found(self._sessions, session_id, "session")

    def cursor(self, session_id):
        return _found(self._cursors, session_id, "session")

    def sessions(self, study, simulated=False):
        with self._lock:
            found = sorted(
                id
                for id, session in self._sessions.items()
                if (session.study, session.is_simulated) == (study, simulated)
            )
            pairs = [(self._sessions[id], self._cursors[id]) for id in found]
        yield from pairs

    def answered(self, study, simulated=False):
        for session, cursor in self.sessions(study, simulated):
            responses = self.responses(session.id)
            if responses or session.id in self._sessions:
                yield session, cursor, responses

    def cursors(self, study):
        return ((session.id, cursor) for session, cursor in self.sessions(study))

    def finished(self, study, simulated=False):
        found = self.sessions(study, simulated)
        ends = [cursor.last_at for _, cursor in found if cursor.state == "finished"]
        return len(ends), max(ends, default="")

    def taken(self, study, active_since, simulated=False, unanswered_since=""):
        counts = {}
        for session, cursor in self.sessions(study, simulated):
            since = active_since if has_answered(cursor) else max(active_since, unanswered_since)
            counted = cursor.state == "finished" or (cursor.state == "active" and cursor.last_at >= since)
            if counted and session.condition is not None:
                counts[session.condition] = counts.get(session.condition, 0) + 1
        return counts

    def move(self, session_id, expected_version, cursor):
        with self._lock:
            now = self._cursors.get(session_id)
            if now is None or now.version != expected_version:
                raise Stale(f"session {session_id} is no longer at version {expected_version}")
            self._cursors[session_id] = cursor

    def hold_again(self, session, expected_version, cursor, capacity):
        with self._lock:
            since = capacity.active_since, session.is_simulated, capacity.unanswered_since
            if self.taken(session.study, *since).get(session.condition, 0) >= capacity.limit:
                return False
            self.move(session.id, expected_version, cursor)
            return True

    def append(self, session_id, expected_version, cursor, response):
        with self._lock:
            self.move(session_id, expected_version, cursor)
            self._responses.setdefault(session_id, []).append(response)

    def responses(self, session_id):
        found = self._responses.get(session_id, [])
        return sorted(found, key=lambda response: (response.trial_index, response.attempt))

    def restore(self, session, cursor, responses):
        with self._lock:
            now = self._cursors.get(session.id)
            if now is not None and now.version > cursor.version:
                raise Stale(f"session {session.id} was continued in the meantime")
            self.add_session(session, cursor)
            kept = {(r.trial_index, r.attempt): r for r in (*self.responses(session.id), *responses)}
            self._responses[session.id] = list(kept.values())

    def redact_session(self, session_id, panel, device):
        with self._lock:
            if session := self._sessions.get(session_id):
                self._sessions[session_id] = replace(session, panel=dict(panel), device=dict(device))

    def erase_session(self, session_id):
        with self._lock:
            for kept in (self._sessions, self._cursors, self._responses):
                kept.pop(session_id, None)

    def entry(self, book, key):
        with self._lock:
            found = self._books.get(book, {}).get(key)
        return Entry(key, found[0], json.loads(found[1])) if found else None

    def entries(self, book):
        with self._lock:
            found = sorted(self._books.get(book, {}).items())
        return iter([Entry(key, version, json.loads(text)) for key, (version, text) in found])

    def latest_entries(self, book, limit, before=None):
        found = [entry for entry in self.entries(book) if before is None or entry.key < before]
        return found[::-1][:limit]

    def erase_entry(self, book, key):
        with self._lock:
            self._books.get(book, {}).pop(key, None)

    def write_entry(self, book, key, expected_version, data):
        text = json.dumps(data, separators=(",", ":"), allow_nan=False)
        with self._lock:
            entries = self._books.setdefault(book, {})
            if entries.get(key, (0,))[0] != expected_version:
                raise Stale(f"entry {key} of {book} is no longer at version {expected_version}")
            entries[key] = (expected_version + 1, text)
        return Entry(key, expected_version + 1, json.loads(text))

    def close(self):
        """Nothing is open."""


def _found(kept, key, what):
    if key not in kept:
        raise NotFound(f"there is no {what} {key!r}", code=f"unknown_{what}")
    return kept[key]
