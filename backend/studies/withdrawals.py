"""Which sessions count: all that were not withdrawn (`task/withdrawal.py` withdraws them)."""

from collections.abc import Callable, Iterable, Iterator

from backend.experiment.records import Response, Session, Study
from backend.experiment.session import Cursor
from backend.foundation.errors import Conflict
from backend.stores.store import Entry, Store

BOOK = "withdrawn"
"""The book of withdrawn sessions, by their ids: what is owed for each, and no responses."""


def check_not_withdrawn(store: Store, session_id: str) -> None:
    """Raise Conflict (`withdrawn`) if a session was withdrawn."""
    if store.entry(BOOK, session_id) is not None:
        raise Conflict("this session was withdrawn, and its answers are deleted", code="withdrawn")


def withdrawn(store: Store, study: str) -> Iterator[Entry]:
    """Yield the remaining entries of a study's withdrawn sessions, keyed by their ids."""
    return (entry for entry in store.entries(BOOK) if entry.data["study"] == study)


def sessions_of(
    store: Store, study: Study, simulated: bool = False, gone: Iterable[Entry] | None = None
) -> Iterator[tuple[Session, Cursor]]:
    """Yield a study's real sessions except withdrawn ones, whether these are erased yet or not.

    Args:
        simulated: yield its simulated sessions instead.
        gone: the result of `withdrawn`, for a caller that counts those too: no session is then in both.
    """
    counts = _which_count(store, study, simulated, gone)
    return (session for session in store.sessions(study.name, simulated) if counts(session[0]))


def answered_of(
    store: Store, study: Study, simulated: bool = False
) -> Iterator[tuple[Session, Cursor, list[Response]]]:
    """Yield the sessions of `sessions_of` that have responses, with these."""
    counts = _which_count(store, study, simulated)
    return (answered for answered in store.answered(study.name, simulated) if counts(answered[0]))


def _which_count(
    store: Store, study: Study, simulated: bool, gone: Iterable[Entry] | None = None
) -> Callable[[Session], bool]:
    """Return a predicate that is true for stored sessions that count."""
    if simulated:
        # Sessions of earlier settings may remain if `openhype set` was killed before clearing them.
        return lambda session: session.settings_id == study.settings_id
    ids = {entry.key for entry in (withdrawn(store, study.name) if gone is None else gone)}
    return lambda session: session.id not in ids
