"""Why the places of sessions are gone at the panel: returned there, or timed out."""

from contextlib import suppress

from backend.experiment.records import Session, Study
from backend.stores.store import Stale, Store


def note_given_back(store: Store, study: Study, session: Session, why: str) -> None:
    """Write down why a place is gone, before its session is closed for it; what was written first stands."""
    with suppress(Stale):
        store.write_entry(_book(study), session.id, 0, {"why": why})


def given_back(store: Store, study: Study) -> dict[str, str]:
    """Return by session why its place is gone, `returned` or `timed_out`, of those closed for it.

    Sessions closed by older versions are in it no more than those whose place is held.
    """
    return {entry.key: entry.data["why"] for entry in store.entries(_book(study))}


def _book(study: Study) -> str:
    return f"given back {study.name}"
