"""Pausing and resuming a study.

The state is stored beside the study, in the book `control`, and read when a session is opened. Pausing
does not affect open sessions: an evaluator who has begun can finish, and is paid.

A study pauses itself when more sessions were closed early than `early_ends` allows: each is owed payment
and leaves its place to another, who is paid as well. Whoever resumes the study allows as many again.
"""

from collections.abc import Mapping
from math import ceil
from typing import Any

from backend.experiment.records import Study
from backend.stores.store import Store
from backend.stores.updates import update

BOOK = "control"
"""The book of pause states, by study: also `early_ends`, the sessions that were closed early, and `allowed`,
how many of them there were when the study was last resumed."""
_NEVER_PAUSED: Mapping[str, Any] = {"is_paused": False, "at": "", "early_ends": [], "allowed": 0}


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
        known = now or _NEVER_PAUSED
        has_changed = known["is_paused"] != is_to_pause
        allowed = known["allowed"] if is_to_pause else len(known["early_ends"])
        changes = {"is_paused": is_to_pause, "at": at, "allowed": allowed}
        return {**known, **changes} if has_changed else None

    update(store, BOOK, study, rule)
    return has_changed


def early_ends_allowed(study: Study) -> int:
    """Return how many sessions may be closed early, and be owed payment, before the study pauses itself."""
    return max(ceil(study.protocol.admission.early_ends * study.evaluators_wanted), 1)


def note_early_end(store: Store, study: Study, session_id: str, at: str) -> None:
    """Count a session that is owed payment and leaves its place to another; one too many pauses the study.

    Called before the session is closed, so that nobody is admitted in the place of one too many. So never
    more people are let in than sessions are wanted, and `early_ends_allowed` besides.

    Args:
        at: UTC, ISO 8601.
    """
    if study.kind != "study" or study.protocol.is_demonstration:
        return  # nothing is owed

    def rule(now: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        known = now or _NEVER_PAUSED
        if session_id in known["early_ends"]:
            return None
        ends = [*known["early_ends"], session_id]
        is_too_many = len(ends) - known["allowed"] > early_ends_allowed(study)
        return {**known, "is_paused": known["is_paused"] or is_too_many, "at": at, "early_ends": ends}

    update(store, BOOK, study.name, rule)


def early_ends_exceeded(store: Store, study: Study) -> str | None:
    """Return in words that a study has paused itself, as too many sessions were closed early; else None."""
    entry = store.entry(BOOK, study.name)
    if study.kind != "study" or entry is None or not entry.data["is_paused"]:
        return None
    count = len(entry.data["early_ends"]) - entry.data["allowed"]
    allowed = early_ends_allowed(study)
    if count <= allowed:
        return None
    return (
        f"study {study.name} has paused itself, and takes in nobody new: {count} sessions were closed early "
        f"or withdrawn, which are paid and do not count as finished, and `early_ends` allows {allowed}; "
        f"`openhype resume {study.name}` allows {allowed} more"
    )
