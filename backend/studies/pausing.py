"""Pausing and resuming a study.

The state is stored beside the study, in the book `control`, and read when a session is opened. Pausing
does not affect open sessions: an evaluator who has begun can finish, and is paid.
"""

from collections.abc import Mapping
from typing import Any

from backend.stores.store import Store
from backend.stores.updates import update

BOOK = "control"
"""The book of pause states, by study."""


def is_paused(store: Store, study: str) -> bool:
    """Return whether no new session may be opened."""
    entry = store.entry(BOOK, study)
    return entry is not None and entry.data["is_paused"]


def forget(store: Store, study: str) -> None:
    """Delete a study's pause state, so that a later study of the same name does not inherit it."""
    store.erase_entry(BOOK, study)


def copy(source: Store, target: Store, study: str) -> None:
    """Give the target the source's pause state, unless its own was changed later."""
    entry = source.entry(BOOK, study)
    if entry is not None:
        update(
            target,
            BOOK,
            study,
            lambda now: entry.data if now is None or now["at"] < entry.data["at"] else None,
        )


def set_paused(store: Store, study: str, is_to_pause: bool, at: str) -> bool:
    """Pause or resume a study; return whether that changed anything.

    Args:
        at: UTC, ISO 8601; stored with the change.
    """
    has_changed = False

    def rule(now: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        nonlocal has_changed
        has_changed = (now is not None and now["is_paused"]) != is_to_pause
        return {"is_paused": is_to_pause, "at": at} if has_changed else None

    update(store, BOOK, study, rule)
    return has_changed
