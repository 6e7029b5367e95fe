"""Changes of what is stored, made again where another writer came first."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from backend.foundation.errors import Unavailable
from backend.stores.store import Entry, Stale, Store

TRIES = 100
"""How often a change is tried; each failure means that another writer's change was made."""

T = TypeVar("T")
Data = Mapping[str, Any]


def retried(change: Callable[[], T], busy: str) -> T:
    """Return what `change` gives, called anew as long as what it had read changed before it wrote.

    Args:
        change: reads, and writes once, conditionally.
        busy: what is wrong where others always come first, for the message.

    Raises:
        Unavailable: `busy`, after `TRIES` tries; whatever else `change` raises.
    """
    for _ in range(TRIES):
        try:
            return change()
        except Stale:
            continue
    raise Unavailable(f"{busy}; try again", code="busy")


def update(
    store: Store, book: str, key: str, rule: Callable[[Data | None], Data | None], busy: str = ""
) -> Entry | None:
    """Replace an entry's data by what a rule makes of them; return the entry as it stands then.

    Args:
        rule: gets the data, None where there is no entry, and returns the new data; None, or the same,
            leaves the entry as it is.
        busy: as `retried`.
    """

    def change() -> Entry | None:
        entry = store.entry(book, key)
        now = entry.data if entry else None
        after = rule(now)
        if after is None or after == now:
            return entry
        return store.write_entry(book, key, entry.version if entry else 0, after)

    return retried(change, busy or f"the entry {key} of {book} is being changed from several places at once")
