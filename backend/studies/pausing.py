"""What a researcher can tell a running study: to pause, and to go on.

This is kept beside the study, in the book `control`, and read at each opening. A
session under way goes on: whoever has begun can finish, and is paid.
"""

from contextlib import suppress

from backend.stores.store import Stale, Store

_BOOK = "control"


def is_paused(store: Store, study: str) -> bool:
    """Return whether no new session is to be opened."""
    entry = store.entry(_BOOK, study)
    return entry is not None and entry.data["is_paused"]


def forget(store: Store, study: str) -> None:
    """Delete what a study was told, for one of the same name that may come."""
    store.erase_entry(_BOOK, study)


def set_paused(store: Store, study: str, is_to_pause: bool, at: str) -> bool:
    """Pause a study or let it go on; return whether that changed anything.

    Args:
        at: UTC, ISO 8601; kept with the change.
    """
    while True:
        entry = store.entry(_BOOK, study)
        if (entry is not None and entry.data["is_paused"]) == is_to_pause:
            return False
        with suppress(Stale):  # somebody else pressed a button at the same time: look again
            store.write_entry(
                _BOOK, study, entry.version if entry else 0, {"is_paused": is_to_pause, "at": at}
            )
            return True
