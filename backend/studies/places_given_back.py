"""Why sessions lost their places: returned, timed out, or rejected at the panel though they were finished.

A finished session whose place a person rejected at the panel stays finished; the place is free for another.
So is that of an evaluator whom the rule for exclusion leaves out of a planned look.
"""

from collections import Counter
from collections.abc import Mapping
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


def note_rejections(store: Store, study: Study, conditions: Mapping[str, str]) -> None:
    """Record which finished sessions have rejected places, in place of those recorded before.

    Args:
        conditions: the conditions of these sessions, by their ids.
    """
    known = {entry.key for entry in store.entries(rejections_book(study.name))}
    for session in conditions.keys() - known:
        with suppress(Stale):
            data = {"condition": conditions[session]}
            store.write_entry(rejections_book(study.name), session, 0, data)
    for session in known - conditions.keys():
        store.erase_entry(rejections_book(study.name), session)


def note_excluded(store: Store, study: Study, conditions: Mapping[str, str], most: int) -> None:
    """Record which finished sessions do not count at planned looks, at most so many in all.

    Args:
        conditions: as in `note_rejections`.
    """
    known = {entry.key for entry in store.entries(excluded_book(study.name))}
    for session in sorted(conditions.keys() - known)[: max(most - len(known), 0)]:
        with suppress(Stale):
            store.write_entry(excluded_book(study.name), session, 0, {"condition": conditions[session]})


def rejected(store: Store, study: Study) -> Counter[str]:
    """Return, by condition, the number of finished sessions that count, and leave their place to another."""
    books = []
    if study.protocol.admission.panel.submission:
        books.append(rejections_book(study.name))
    if study.protocol.looks.looks and study.protocol.exclusion.is_declared:
        books.append(excluded_book(study.name))
    conditions = {entry.key: entry.data["condition"] for book in books for entry in store.entries(book)}
    return Counter(conditions.values())


def excluded_book(study: str) -> str:
    """Return the name of the book of a study's finished sessions that do not count at planned looks."""
    return f"excluded {study}"


def rejections_book(study: str) -> str:
    """Return the name of the book of a study's finished sessions with rejected places."""
    return f"rejected {study}"


def book(study: str) -> str:
    """Return the name of the book of a study's lost places, by session."""
    return f"given back {study}"


BOOKS = (book, rejections_book, excluded_book)
"""The books of lost places, each by the name of its study."""
