"""Confirmations of what costs money: told first, then done once, and only as it was told.

A confirmation is a hash over what would be done, its amount and currency, and the facts that it was computed
from, among them the study and the confirmation that was accepted before. So it is valid only while nothing of
that has changed, and is accepted once: the acceptance is one conditional write, in the book `confirmations`.
Sent again, as after a lost reply, it gives what was accepted, while the settings are the same; what was
carried out is noted, so that it is not done over what was decided since.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from backend.experiment.records import Study
from backend.foundation.errors import Conflict
from backend.stores.store import Entry, Stale, Store
from backend.stores.updates import update

BOOK = "confirmations"


@dataclass(frozen=True)
class Offer:
    """What a confirmation stands for."""

    facts: Mapping[str, Any]
    """What would be done, its amount, and what it was computed from; plain data."""
    order: Mapping[str, Any]
    """What is to be done once it is accepted; plain data, which is stored."""


def confirmation(store: Store, study: Study, action: str, offer: Offer) -> str:
    """Return the confirmation of an offer.

    Args:
        action: what kind of change it is, such as `pay`.
    """
    return _hash(study, action, offer, _entry(store, study, action))


def accept(
    store: Store, study: Study, action: str, given: str, current: Callable[[], Offer]
) -> Mapping[str, Any]:
    """Accept a confirmation, and return the order that it stands for; again, that order once more.

    Args:
        current: computes the offer as it is now.

    Raises:
        Conflict: `changed`: something is not as it was when the confirmation was given out.
    """
    entry = _entry(store, study, action)
    if (accepted := _accepted(entry, study, given)) is not None:
        return _order(accepted)
    offer = current()
    if _hash(study, action, offer, entry) != given:
        raise _changed(study)
    data = {
        "created_at": study.created_at,
        "settings_id": study.settings_id,
        "confirmation": given,
        "order": offer.order,
        "is_carried_out": False,
    }
    try:
        store.write_entry(BOOK, _key(study, action), entry.version if entry else 0, data)
    except Stale:
        accepted = _accepted(_entry(store, study, action), study, given)
        if accepted is None:
            raise _changed(study) from None
        return _order(accepted)
    return offer.order


def is_carried_out(store: Store, study: Study, action: str, given: str) -> bool:
    """Return whether a confirmation is the last one that was accepted, and its order was carried out."""
    accepted = _accepted(_entry(store, study, action), study, given)
    return accepted is not None and bool(accepted["is_carried_out"])


def note_carried_out(store: Store, study: Study, action: str, given: str) -> None:
    """Store that the order of a confirmation was carried out, if none was accepted since."""

    def rule(now: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        return {**now, "is_carried_out": True} if now and now["confirmation"] == given else None

    update(store, BOOK, _key(study, action), rule)


def forget(store: Store, study: Study) -> None:
    for entry in list(store.entries(BOOK)):
        if entry.key.rpartition("/")[0] == study.name:
            store.erase_entry(BOOK, entry.key)


def _entry(store: Store, study: Study, action: str) -> Entry | None:
    return store.entry(BOOK, _key(study, action))


def _key(study: Study, action: str) -> str:
    return f"{study.name}/{action}"


def _accepted(entry: Entry | None, study: Study, given: str) -> Mapping[str, Any] | None:
    """Return what is stored of the confirmation `given`, or None if it is not the one accepted last."""
    if entry is None:
        return None
    is_given = (
        entry.data["created_at"] == study.created_at
        and entry.data["settings_id"] == study.settings_id
        and entry.data["confirmation"] == given
    )
    return entry.data if is_given else None


def _order(accepted: Mapping[str, Any]) -> Mapping[str, Any]:
    order: Mapping[str, Any] = accepted["order"]
    return order


def _hash(study: Study, action: str, offer: Offer, before: Entry | None) -> str:
    facts = {
        "study": study.name,
        "created_at": study.created_at,
        "settings_id": study.settings_id,
        "action": action,
        "before": before.data["confirmation"] if before else "",
        "facts": offer.facts,
        "order": offer.order,
    }
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def _changed(study: Study) -> Conflict:
    return Conflict(
        f"something of study {study.name} has changed since this confirmation was given out, or it was for "
        "another request; look at the amounts again, and confirm those",
        code="changed",
    )
