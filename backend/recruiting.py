"""Recruiting evaluators from a panel: planned first, then done."""

from backend.panels.record import NOTHING_TOLD, Told
from backend.records import Study
from backend.stores import Store


def book(study: str) -> str:
    """Return the book in which a study's recruitment is kept, an entry for each panel."""
    return f"recruitment {study}"


def told(store: Store, study: Study) -> Told:
    """Return what the study's panel was told when its study was made there."""
    entry = store.entry(book(study.name), study.protocol.panel.name)
    if entry is None:
        return NOTHING_TOLD
    return Told(entry.data["codes"], entry.data["by_server"])
