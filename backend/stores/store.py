"""The interface of a store of studies, sessions and responses.

It is free of SQL and of transactions over many items: each writing call is one conditional write, so
that a key-value store can implement it as well as a database. Once a writing call has returned, its data
survive a power cut.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from typing import Protocol as Interface

from backend.experiment.records import Response, Session, Stimulus, Study
from backend.experiment.sampling import Pool
from backend.experiment.session import Cursor
from backend.foundation.errors import Conflict, NotFound
from backend.foundation.frozen import dataclass

RESTORES = "restores"
"""The book of the times (UTC, ISO 8601) at which a store was restored; or, with a study's name after it, at
which the ledger of that study was, or was taken over from another store."""


class Stale(Conflict):
    """The cursor has moved on since it was read; read it again."""

    code = "stale"


@dataclass(frozen=True)
class Entry:
    """An entry of a book: small JSON data guarded by a version that each change increments."""

    key: str
    version: int
    data: Mapping[str, Any]


@dataclass(frozen=True)
class Capacity:
    """How many sessions of each condition a study wants, and which count, as in `Store.taken`."""

    wanted: int
    active_since: str
    unanswered_since: str = ""
    replaced: int = 0
    """Number of sessions of the condition that count, and leave their place to another all the same."""

    @property
    def limit(self) -> int:
        """How many sessions of the condition may count."""
        return self.wanted + self.replaced


class Store(Interface):
    """A store of studies. Methods raise `NotFound` for what does not exist.

    Simulated sessions are separate: a call that reads the sessions of a study returns real ones only, or
    with `simulated` simulated ones only.
    """

    url: str | None
    """The URL at which another process opens this store; None if none can."""

    def add_study(self, study: Study, stimuli: Iterable[Stimulus]) -> None:
        """Store a study with its pool, visible only once complete; Conflict if the name is taken."""

    def study(self, name: str, even_deleted: bool = False) -> Study:
        """Return the current record of a study; a strongly consistent read.

        Args:
            even_deleted: also return a study whose deletion has begun, instead of raising NotFound.
        """

    def studies(self, even_deleted: bool = False) -> list[Study]:
        """Return all studies in the order of their names."""

    def change_study(self, study: Study) -> None:
        """Replace a study's record by its next version; Stale unless the version before is the stored one."""

    def add_stimuli(self, study: Study, stimuli: Iterable[Stimulus]) -> None:
        """Add stimuli to a study's pool, and replace its record as `change_study` does: both or neither.

        Sessions that were planned before are unchanged. Stale as in `change_study`.
        """

    def remove_study(self, name: str) -> None:
        """Delete a study's record and pool; its sessions must be erased before, its claims and books stay."""

    def stimuli(self, study: str) -> Iterator[Stimulus]:
        """Yield the pool of a study in the order of the public names."""

    def pool(self, study: str) -> Pool:
        """Return the pool of a study to draw from, each side in the order of the public names.

        It takes at most some 20 bytes of memory per stimulus. Its names may be read when they are drawn;
        NotFound then means that the study was deleted.
        """

    def claim(self, study: str, evaluator_key: str, session_id: str, instead_of: str | None = None) -> str:
        """Claim the study for an evaluator, who can have one session; return the session holding the claim.

        With `instead_of` the claim is transferred if, and only if, that session holds it.
        """

    def claimed(self, study: str, evaluator_key: str) -> str | None:
        """Return the session that holds an evaluator's claim, or None."""

    def add_session(self, session: Session, cursor: Cursor, capacity: Capacity | None = None) -> None:
        """Store a session; Stale, and nothing stored, if the limit of its condition is reached.

        No condition exceeds its limit, however many processes add sessions at once.
        """

    def session(self, session_id: str) -> Session: ...

    def cursor(self, session_id: str) -> Cursor:
        """Return the current cursor of a session; a strongly consistent read."""

    def sessions(self, study: str, simulated: bool = False) -> Iterator[tuple[Session, Cursor]]:
        """Yield a study's sessions in the order of their ids, without those that are erased meanwhile.

        For a closed session, version and lease may be those at its closing.
        """

    def answered(
        self, study: str, simulated: bool = False
    ) -> Iterator[tuple[Session, Cursor, list[Response]]]:
        """Yield a study's sessions as `sessions` does, with their responses as `responses` returns them."""

    def cursors(self, study: str) -> Iterator[tuple[str, Cursor]]:
        """Yield the id and cursor of each session, in the order of the ids.

        A cheaper read than `sessions`, for polling.
        """

    def taken(
        self, study: str, active_since: str, simulated: bool = False, unanswered_since: str = ""
    ) -> dict[str, int]:
        """Count by condition the sessions that are finished, or open and active since `active_since`.

        Sessions without a response must also be active since `unanswered_since`.
        """

    def finished(self, study: str, simulated: bool = False) -> tuple[int, str]:
        """Return how many sessions are finished, and when the latest was ('' for none); a cheap read."""

    def move(self, session_id: str, expected_version: int, cursor: Cursor) -> None:
        """Replace the cursor by its next version; Stale unless the stored one has `expected_version`."""

    def hold_again(self, session: Session, expected_version: int, cursor: Cursor, capacity: Capacity) -> bool:
        """Replace the cursor of a silent session as `move` does, so that it counts again.

        Returns False, and nothing is stored, if its condition has reached its limit without it.
        """

    def append(self, session_id: str, expected_version: int, cursor: Cursor, response: Response) -> None:
        """Store a response and the cursor after it, atomically; Stale as in `move`."""

    def responses(self, session_id: str) -> list[Response]:
        """Return the responses of a session in the order of their trials and attempts."""

    def restore(self, session: Session, cursor: Cursor, responses: Sequence[Response]) -> None:
        """Store a session as it is in another store, replacing what is stored here.

        Stale if the version stored here is later.
        """

    def erase_session(self, session_id: str) -> None:
        """Delete a session with its cursor and responses, permanently; a no-op if there is none.

        The evaluator's claim stays, so that the same person is not admitted again.
        """

    def redact_session(self, session_id: str, panel: Mapping[str, str], device: Mapping[str, Any]) -> None:
        """Replace a session's `panel` and `device` permanently; everything else stays.

        A no-op if there is no such session.
        """

    def entry(self, book: str, key: str) -> Entry | None:
        """Return an entry of a book, or None; a strongly consistent read.

        Books hold what evaluators are owed, what was sent to a panel, and what is known of its places.
        """

    def entries(self, book: str) -> Iterator[Entry]:
        """Yield the entries of a book in the order of their keys."""

    def latest_entries(self, book: str, limit: int, before: str | None = None) -> list[Entry]:
        """Return at most `limit` entries of a book in descending order of their keys.

        Its cost does not depend on how many entries the book has.

        Args:
            before: return only entries whose key sorts before it; None for the last ones of the book.
        """

    def erase_entry(self, book: str, key: str) -> None:
        """Delete an entry permanently; a no-op if there is none."""

    def write_entry(self, book: str, key: str, expected_version: int, data: Mapping[str, Any]) -> Entry:
        """Store an entry and return it; Stale unless the stored version is `expected_version` (0 if new)."""

    def close(self) -> None: ...


def check_capacity(session: Session, taken: int, capacity: Capacity) -> None:
    """Raise Stale if `taken` sessions reach the limit of the session's condition."""
    if taken >= capacity.limit:
        raise Stale(f"{session.condition} of study {session.study} has its {capacity.wanted} sessions by now")


def stored_entry(store: Store, book: str, key: str) -> Entry:
    """Return an entry of a book that was written before.

    Raises:
        NotFound: it was erased in the meantime.
    """
    entry = store.entry(book, key)
    if entry is None:
        raise NotFound(f"the entry {key!r} of {book} was erased in the meantime")
    return entry


def study_if_any(store: Store, name: str, even_deleted: bool = False) -> Study | None:
    """Return a study as `Store.study` does; None if there is none."""
    try:
        return store.study(name, even_deleted)
    except NotFound:
        return None


def visible_study(study: Study, even_deleted: bool) -> Study:
    """Return a study that was read from a store.

    Raises:
        NotFound: its deletion has begun.
    """
    if study.deleted_at and not even_deleted:
        raise no_study(study.name)
    return study


def no_study(name: str) -> NotFound:
    return NotFound(f"there is no study {name!r}", code="unknown_study")
