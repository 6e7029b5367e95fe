"""Optimistic updates of stored data, retried when another writer came first."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar, overload

from backend.foundation.errors import Unavailable
from backend.stores.store import Entry, Stale, Store

TRIES = 100
"""Maximum number of tries; each failure means that another writer's change succeeded."""

T = TypeVar("T")
Data = Mapping[str, Any]


def retried(change: Callable[[], T], busy: str) -> T:
    """Return the result of `change`, which is called again while it raises Stale.

    Args:
        change: reads, and makes one conditional write.
        busy: the error message if other writers always come first.

    Raises:
        Unavailable: `busy`, after `TRIES` tries; also whatever else `change` raises.
    """
    for _ in range(TRIES):
        try:
            return change()
        except Stale:
            continue
    raise Unavailable(f"{busy}; try again", code="busy")


@overload
def update(
    store: Store, book: str, key: str, rule: Callable[[Data | None], Data], busy: str = ""
) -> Entry: ...


@overload
def update(
    store: Store, book: str, key: str, rule: Callable[[Data | None], Data | None], busy: str = ""
) -> Entry | None: ...


def update(
    store: Store, book: str, key: str, rule: Callable[[Data | None], Data | None], busy: str = ""
) -> Entry | None:
    """Replace an entry's data by the result of `rule`; return the entry as it is afterwards.

    Args:
        rule: gets the data, or None if there is no entry, and returns the new data; None, or equal data,
            leaves the entry unchanged.
        busy: as in `retried`.
    """

    def change() -> Entry | None:
        entry = store.entry(book, key)
        now = entry.data if entry else None
        after = rule(now)
        if after is None or after == now:
            return entry
        return store.write_entry(book, key, entry.version if entry else 0, after)

    return retried(
        change, busy or f"the entry {key} of {book} is being changed from several programs at once"
    )
