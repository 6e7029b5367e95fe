"""What a researcher can tell a running study: to pause, and to go on.

This is kept beside the study, in the book `control`, and read at each opening. A
session under way goes on: whoever has begun can finish, and is paid.
"""

from collections.abc import Mapping
from typing import Any

from backend.stores.store import Store
from backend.stores.updates import update

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
    has_changed = False

    def rule(now: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        nonlocal has_changed
        has_changed = (now is not None and now["is_paused"]) != is_to_pause
        return {"is_paused": is_to_pause, "at": at} if has_changed else None

    update(store, _BOOK, study, rule)
    return has_changed
