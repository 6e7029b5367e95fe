"""Why sessions lost their places at the panel: returned, or timed out."""

from contextlib import suppress

from backend.experiment.records import Session, Study
from backend.stores.store import Stale, Store


def note_given_back(store: Store, study: Study, session: Session, why: str) -> None:
    """Record why a place is lost, before its session is closed for that; only the first reason is stored."""
    with suppress(Stale):
        store.write_entry(book(study.name), session.id, 0, {"why": why})


def given_back(store: Store, study: Study) -> dict[str, str]:
    """Return, by session that was closed for it, why its place was lost: `returned` or `timed_out`."""
    return {entry.key: entry.data["why"] for entry in store.entries(book(study.name))}


def book(study: str) -> str:
    """Return the name of the book of a study's lost places, by session."""
    return f"given back {study}"
