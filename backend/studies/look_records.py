"""Recorded decisions of a study's planned looks, and what follows from them for who is admitted.

A decision is one entry of a book, written on condition that there is none: it is made once, however many
servers decide at once, and never changes. The study's record follows from the decisions, so that a process
that is killed in between leaves nothing that the next one does not do. A model that joins has looks, and a
book, of its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from backend.experiment.records import Study
from backend.foundation.errors import Conflict
from backend.stores.store import Store
from backend.stores.updates import retried

Decision = Mapping[str, Any]


def book_of(study: Study, newcomer: str = "") -> str:
    """Return the name of the book of a study's decisions, one entry for each look.

    Args:
        newcomer: a model that joined, for the decisions of its own looks.
    """
    return f"looks {study.name}/{study.newcomers.index(newcomer)}" if newcomer else f"looks {study.name}"


def decisions_of(store: Store, study: Study, newcomer: str = "") -> list[Decision]:
    """Return the decisions of a study's looks, or of those of a model that joined, in their order."""
    return [entry.data for entry in store.entries(book_of(study, newcomer))]


def record(store: Store, study: Study, decision: Decision) -> None:
    """Record the decision of a look.

    Raises:
        Stale: another process has decided this look.
    """
    book = book_of(study, decision.get("newcomer", ""))
    store.write_entry(book, f"{decision['look']:02}", 0, decision)


def follow(store: Store, study: Study) -> Study:
    """Return the study with what follows from its decisions: how many sessions are wanted, of whose."""

    def change() -> Study:
        now = store.study(study.name)
        decisions, own = decisions_of(store, now), now.looks_of_newcomers
        ended = dict(zip(now.ended, now.ended_at, strict=True)) | _ended(now.first_models, decisions)
        for model in own.keys() - ended.keys():
            of_model = decisions_of(store, now, model)
            own[model] = len(of_model)
            ended |= _ended([model], of_model)
        if now.looks_done >= len(decisions) and own == now.looks_of_newcomers:
            return now
        after = replace(
            now,
            version=now.version + 1,
            looks_done=len(decisions),
            newcomer_looks=tuple(own.values()),
            ended=tuple(ended),
            ended_at=tuple(ended.values()),
        )
        store.change_study(after)
        return after

    return retried(change, f"study {study.name} is being changed from several programs at once")


def _ended(models: Sequence[str], decisions: Sequence[Decision]) -> dict[str, int]:
    """Return the evaluators of each model for which a look ended the sessions, in the order of the looks.

    Args:
        models: those of which all have ended at the stop.
    """
    ended: dict[str, int] = {}
    for each in decisions:
        some = models if each["decision"] == "stop" else each["dropped"]
        ended |= {model: each["evaluators"].get(model, 0) for model in some if model not in ended}
    return ended


def copy(source: Store, target: Store, study: Study) -> None:
    """Copy the decisions to another store, where those that are there must be the same.

    Raises:
        Conflict: the target has another decision.
    """
    for book in _books(study):
        there = {entry.key: entry.data for entry in target.entries(book)}
        for entry in source.entries(book):
            if entry.key not in there:
                target.write_entry(book, entry.key, 0, entry.data)
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
    for book in _books(study):
        for entry in list(store.entries(book)):
            store.erase_entry(book, entry.key)


def _books(study: Study) -> list[str]:
    return [book_of(study, model) for model in ("", *study.newcomers)]
