"""What a store of studies, sessions and answers can do.

The interface is free of SQL and of transactions over many items: each writing call is one
conditional write, so that a key-value store can keep it as well as a database. What a writing call
has returned from survives a power cut.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from typing import Protocol as Interface

from backend.experiment.records import Response, Session, Stimulus, Study
from backend.experiment.session import Cursor
from backend.foundation.errors import Conflict, NotFound

RESTORES = "restores"
"""The book of the times (UTC, ISO 8601) at which a store was restored, or took a ledger over from a copy."""


class Stale(Conflict):
    """The cursor has moved on since it was read; read it again."""

    code = "stale"


@dataclass(frozen=True)
class Entry:
    """An entry of a book: small plain data that changes, guarded by a version that grows with each change."""

    key: str
    version: int
    data: Mapping[str, Any]


@dataclass(frozen=True)
class Room:
    """How many sessions of each model a study wants, and which count: as `Store.taken` counts them."""

    wanted: int
    active_since: str
    unanswered_since: str = ""


class Store(Interface):
    """Where studies live. `NotFound` is raised for what is not there.

    Simulated sessions are kept apart: a call that reads the sessions of a study sees real ones only,
    and with `simulated` simulated ones only.
    """

    def add_study(self, study: Study, stimuli: Iterable[Stimulus]) -> None:
        """Store a study with its pool, visible only once it is whole; Conflict if the name is taken."""

    def study(self, name: str, even_deleted: bool = False) -> Study:
        """Return a study as it stands now; a strong read.

        Args:
            even_deleted: also one whose deletion has begun, which else is not there.
        """

    def studies(self, even_deleted: bool = False) -> list[Study]:
        """Return all studies in the order of their names."""

    def change_study(self, study: Study) -> None:
        """Replace a study's record by one of the next version; Stale unless the one before stands there."""

    def remove_study(self, name: str) -> None:
        """Delete a study's record and pool; its sessions are erased before, its claims and books stay."""

    def stimuli(self, study: str) -> Iterator[Stimulus]:
        """Yield the pool of a study in the order of the public names."""

    def claim(self, study: str, evaluator_key: str, session_id: str, instead_of: str | None = None) -> str:
        """Take an evaluator's one place in a study; return the session that holds it now.

        With `instead_of` the place changes hands if, and only if, that session holds it.
        """

    def claimed(self, study: str, evaluator_key: str) -> str | None:
        """Return the session that holds an evaluator's place, or None."""

    def add_session(self, session: Session, cursor: Cursor, room: Room | None = None) -> None:
        """Store a session; Stale, and nothing stored, if there is no room for it.

        However many processes add sessions at once, no condition has more than its room.
        """

    def session(self, session_id: str) -> Session: ...

    def cursor(self, session_id: str) -> Cursor:
        """Return where a session stands now; a strong read."""

    def sessions(self, study: str, simulated: bool = False) -> Iterator[tuple[Session, Cursor]]:
        """Yield a study's sessions in the order of their ids.

        Of a closed session, version and lease may be those with which it closed.
        """

    def answered(
        self, study: str, simulated: bool = False
    ) -> Iterator[tuple[Session, Cursor, list[Response]]]:
        """Yield a study's sessions as `sessions` does, with their responses as `responses` gives them."""

    def cursors(self, study: str) -> Iterator[tuple[str, Cursor]]:
        """Yield the id of each session and where it stands, in the order of the ids.

        A cheaper read than `sessions`, for those who look again and again.
        """

    def taken(
        self, study: str, active_since: str, simulated: bool = False, unanswered_since: str = ""
    ) -> dict[str, int]:
        """Count by condition the sessions that are finished, or active and alive since `active_since`.

        Of those in which nothing was answered, only such as are alive since `unanswered_since`, too.
        """

    def finished(self, study: str, simulated: bool = False) -> tuple[int, str]:
        """Return how many sessions are finished, and when the newest was ('' with none); a cheap read."""

    def move(self, session_id: str, expected_version: int, cursor: Cursor) -> None:
        """Replace the cursor by the one of the next version; Stale unless it stands at `expected_version`."""

    def append(self, session_id: str, expected_version: int, cursor: Cursor, response: Response) -> None:
        """Store a response and the cursor after it, together or not at all; Stale as in `move`."""

    def responses(self, session_id: str) -> list[Response]:
        """Return the responses of a session in the order of their trials and attempts."""

    def restore(self, session: Session, cursor: Cursor, responses: Sequence[Response]) -> None:
        """Store a session as it stands in another store, in the place of what is known of it here.

        Stale if it stands at a later version here.
        """

    def erase_session(self, session_id: str) -> None:
        """Delete a session with its cursor and responses, for good; nothing happens if there is none.

        The evaluator's claim stays, so that the place is not given to the same person again.
        """

    def redact_session(self, session_id: str, panel: Mapping[str, str], device: Mapping[str, Any]) -> None:
        """Put `panel` and `device` in the place of a session's own, for good; all else of it stays.

        Nothing happens if there is no such session.
        """

    def entry(self, book: str, key: str) -> Entry | None:
        """Return an entry of a book, or None; a strong read.

        Books hold what people are owed, what a panel was told, and what is known of its places.
        """

    def entries(self, book: str) -> Iterator[Entry]:
        """Yield the entries of a book in the order of their keys."""

    def erase_entry(self, book: str, key: str) -> None:
        """Delete an entry for good; nothing happens if there is none."""

    def write_entry(self, book: str, key: str, expected_version: int, data: Mapping[str, Any]) -> Entry:
        """Store an entry and return it; Stale unless it stands at `expected_version`, 0 where it is new."""

    def close(self) -> None: ...


def check_room(session: Session, taken: int, room: Room) -> None:
    """Raise Stale where `taken` sessions of a session's condition leave no room for it."""
    if taken >= room.wanted:
        raise Stale(f"{session.condition} of study {session.study} has its {room.wanted} sessions by now")


def found_study(study: Study, even_deleted: bool) -> Study:
    """Return a study that was read from a store.

    Raises:
        NotFound: its deletion has begun.
    """
    if study.deleted_at and not even_deleted:
        raise no_study(study.name)
    return study


def no_study(name: str) -> NotFound:
    return NotFound(f"there is no study {name!r}", code="unknown_study")
