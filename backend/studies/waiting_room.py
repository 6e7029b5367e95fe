"""The waiting room of a paused study: who waits, what they are owed, and when they are called.

A wait is an entry of the book `retainer STUDY`. A minute is taken from the study's budget (book
`retainers`) before it is owed, so that a process that dies in between may waste a minute of the budget
but never overdraws it. Evaluators are called when the study is resumed.
"""

import hashlib
import hmac
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from backend.experiment.protocol import Protocol
from backend.experiment.records import Study
from backend.foundation.errors import Conflict, NotAllowed, NotFound
from backend.stores.store import Stale, Store
from backend.stores.updates import update
from backend.studies.pausing import early_ends_exceeded, is_paused
from backend.studies.retainer import (
    BEAT_SECONDS,
    Wait,
    asks,
    beat,
    is_waiting,
    minutes_due,
    minutes_in_budget,
)

_BUDGETS = "retainers"


def book_of(study: str) -> str:
    return f"retainer {study}"


def waits(store: Store, study: str) -> Iterator[tuple[str, Wait]]:
    """Yield the id and the record of every wait for a study, past ones included."""
    return ((entry.key, Wait(**entry.data)) for entry in store.entries(book_of(study)))


def waiting_now(store: Store, study: str, at: float) -> int:
    """Return how many people are waiting at `at`, in seconds of the epoch."""
    return sum(is_waiting(wait, at) for _, wait in waits(store, study))


def begin(
    store: Store, study: Study, qualified_by: str, panel: Mapping[str, str], at: float
) -> dict[str, Any]:
    """Start a wait, or continue it in another tab: its minutes remain, and the previous tab is disconnected.

    Args:
        qualified_by: the session of the qualification, which identifies the person's single wait.

    Raises:
        Conflict: `no_retainer` if the study does not pay for waiting.
    """
    if not pays_for_waiting(store, study):
        raise Conflict(f"study {study.name} pays nobody for waiting", code="no_retainer")
    is_open, is_over = _state(store, study)
    in_vain = is_open or is_over
    wait_id = hashlib.sha256(qualified_by.encode()).hexdigest()[:24]
    secret = secrets.token_urlsafe(32)

    def begun(now: Mapping[str, Any] | None) -> Mapping[str, Any]:
        if now is None:
            pseudonym = f"w{secrets.token_hex(6)}"
            new = Wait(pseudonym, qualified_by, dict(panel), _hash(secret), at, at, was_in_vain=in_vain)
            return vars(new)
        fresh = {"secret_hash": _hash(secret), "seen_at": at, "confirmed_at": at, "was_visible": True}
        return {**now, **fresh, "was_in_vain": in_vain}

    wait = Wait(**update(store, book_of(study.name), wait_id, begun).data)
    return {"token": f"{wait_id}.{secret}", **_reply(store, study, wait, at, is_open, is_over)}


def sign(
    store: Store, study: Study, wait_id: str, token: str, is_visible: bool, is_here: bool, at: float
) -> dict[str, Any]:
    """Process a heartbeat; return what is owed so far and whether the study has started.

    Raises:
        NotAllowed: `wrong_token`, also if the wait was continued in another tab.
    """
    named, _, secret = token.partition(".")
    is_open, is_over = _state(store, study)
    while True:
        entry = store.entry(book_of(study.name), wait_id)
        if entry is None:
            raise NotFound("there is no wait of this id", code="unknown_wait")
        wait = Wait(**entry.data)
        if named != wait_id or not hmac.compare_digest(_hash(secret), wait.secret_hash):
            raise NotAllowed("the token does not open this wait", code="wrong_token")
        after = beat(wait, at, is_visible, is_here, is_open or is_over)
        granted = _granted(store, study, minutes_due(after, study.protocol))
        after = replace(after, minutes=after.minutes + granted)
        try:
            store.write_entry(book_of(study.name), wait_id, entry.version, vars(after))
            return _reply(store, study, after, at, is_open, is_over)
        except Stale:  # two heartbeats at once
            _give_back(store, study, granted)


def owed_usd_cents(store: Store, study: Study) -> int:
    return sum(wait.minutes for _, wait in waits(store, study.name)) * study.protocol.pay.retainer_usd_cents


def pays_for_waiting(store: Store, study: Study) -> bool:
    """Return whether a study pays people who wait: not one that has paused itself, and may never go on."""
    return study.protocol.pay.retainer_usd_cents > 0 and not early_ends_exceeded(store, study)


def _state(store: Store, study: Study) -> tuple[bool, bool]:
    """Return whether a study is open, and whether there is nothing to wait for: nobody is paid in either.

    There is nothing to wait for if the study is complete, or has paused itself.
    """
    is_open = not is_paused(store, study.name)
    is_complete = study.is_complete(store.finished(study.name)[0])
    return is_open, is_complete or not (is_open or pays_for_waiting(store, study))


def _reply(store: Store, study: Study, wait: Wait, at: float, is_open: bool, is_over: bool) -> dict[str, Any]:
    protocol = study.protocol
    is_used_up = wait.minutes >= protocol.pay.retainer_minutes or _left(store, study.name, protocol) == 0
    return {
        "is_admitted": is_open and not is_over,
        "minutes": wait.minutes,
        "earned_usd_cents": wait.minutes * protocol.pay.retainer_usd_cents,
        "asks": asks(wait, at),
        "is_over": is_used_up or is_over,
        "beat_seconds": BEAT_SECONDS,
    }


def copy(source: Store, target: Store, study: str) -> None:
    """Give the target the source's waits, of each that with more minutes, and their use of the budget."""
    for entry in source.entries(book_of(study)):
        update(target, book_of(study), entry.key, _if_longer(entry.data))
    waited = sum(wait.minutes for _, wait in waits(target, study))
    used = max(waited, *(_used(store, study) for store in (source, target)))
    if used > _used(target, study):
        update(target, _BUDGETS, study, lambda _: {"minutes": used})


def _if_longer(data: Mapping[str, Any]) -> Callable[[Mapping[str, Any] | None], Mapping[str, Any] | None]:
    return lambda now: data if now is None or now["minutes"] < data["minutes"] else None


def _used(store: Store, study: str) -> int:
    """Return how many minutes of waiting were taken from a study's budget."""
    entry = store.entry(_BUDGETS, study)
    return entry.data["minutes"] if entry else 0


def _left(store: Store, study: str, protocol: Protocol) -> int:
    return max(minutes_in_budget(protocol) - _used(store, study), 0)


def _granted(store: Store, study: Study, minutes: int) -> int:
    """Take up to `minutes` from the budget and return how many were granted."""
    granted = 0

    def taken(now: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        nonlocal granted
        before = now["minutes"] if now else 0
        granted = max(min(minutes, minutes_in_budget(study.protocol) - before), 0)
        return {"minutes": before + granted} if granted else None

    if minutes:
        update(store, _BUDGETS, study.name, taken)
    return granted


def _give_back(store: Store, study: Study, minutes: int) -> None:
    if minutes:
        update(store, _BUDGETS, study.name, lambda now: now and {"minutes": now["minutes"] - minutes})


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
