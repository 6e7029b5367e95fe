"""Recorded decisions of a study's planned looks, and what follows from them for who is admitted.

A decision is one entry of a book, written on condition that there is none: it is made once, however many
servers decide at once, and never changes. The study's record follows from the decisions, so that a process
that is killed in between leaves nothing that the next one does not do.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from backend.experiment.records import Study
from backend.foundation.errors import Conflict
from backend.stores.store import Store
from backend.stores.updates import retried

Decision = Mapping[str, Any]


def book_of(study: str) -> str:
    """Return the name of the book of a study's decisions, one entry for each look."""
    return f"looks {study}"


def decisions_of(store: Store, study: Study) -> list[Decision]:
    """Return the decisions of a study's looks, in their order."""
    return [entry.data for entry in store.entries(book_of(study.name))]


def record(store: Store, study: Study, decision: Decision) -> None:
    """Record the decision of a look.

    Raises:
        Stale: another process has decided this look.
    """
    store.write_entry(book_of(study.name), f"{decision['look']:02}", 0, decision)


def follow(store: Store, study: Study) -> Study:
    """Return the study with what follows from its decisions: how many sessions are wanted, of whose."""

    def change() -> Study:
        now = store.study(study.name)
        found = decisions_of(store, now)
        if now.looks_done >= len(found):
            return now
        ended = _ended(now, found)
        after = replace(
            now,
            version=now.version + 1,
            looks_done=len(found),
            ended=tuple(ended),
            ended_at=tuple(ended.values()),
        )
        store.change_study(after)
        return after

    return retried(change, f"study {study.name} is being changed from several programs at once")


def _ended(study: Study, found: Sequence[Decision]) -> dict[str, int]:
    """Return the evaluators of each model for which a look ended the sessions, in the order of the looks."""
    ended: dict[str, int] = {}
    for each in found:
        models = study.models if each["decision"] == "stop" else each["dropped"]
        ended |= {model: each["evaluators"].get(model, 0) for model in models if model not in ended}
    return ended


def copy(source: Store, target: Store, study: Study) -> None:
    """Copy the decisions to another store, where those that are there must be the same.

    Raises:
        Conflict: the target has another decision.
    """
    there = {entry.key: entry.data for entry in target.entries(book_of(study.name))}
    for entry in source.entries(book_of(study.name)):
        if entry.key not in there:
            target.write_entry(book_of(study.name), entry.key, 0, entry.data)
        elif there[entry.key] != entry.data:
            raise Conflict(f"look {entry.key} of study {study.name} was decided otherwise at the target")
    follow(target, study)


def check_shown(study: Study, simulated: bool) -> None:
    """Raise Conflict if scores of these sessions are hidden until a look ends the study."""
    if study.hides_scores and not simulated:
        raise Conflict(
            f"the scores of study {study.name} are hidden until a planned look ends it (its setting "
            "looks_hide_scores); what its decided looks found is in the console"
        )


def erase(store: Store, study: Study) -> None:
    """Erase the decisions of a study that is being deleted."""
    for entry in list(store.entries(book_of(study.name))):
        store.erase_entry(book_of(study.name), entry.key)
