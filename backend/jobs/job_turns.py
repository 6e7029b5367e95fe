"""Whose job is done next: submissions and other jobs alternate, and in each kind members take turns.

Otherwise a member who orders fifty jobs would have everybody wait, and many submitters the researchers. Who
has no open job loses its place in the order, and comes first with the next one. Turns are counted, not timed:
clocks may be set.

A submission is as large as its member likes. So other jobs that come while it is checked pass it, for as much
time as it was worked on since.
"""

from collections.abc import Mapping, Sequence

from backend.jobs.queue import Job
from backend.stores.store import Store
from backend.stores.updates import update

TURNS = "job_turns"
"""The book whose one entry, `latest`, numbers the latest turn of each party with an open job."""
_ENTRY = "latest"
SUBMISSION = "join"
"""The kind of job by which submitters have pictures checked, the only one that they can order."""
_OF_PICTURES = frozenset({"delete", "join_model"})
"""Kinds of jobs that need the pictures of a study for themselves."""


def in_turn(store: Store, waiting: Sequence[Job]) -> list[Job]:
    """Return open jobs, given oldest first, in the order in which they are to be done."""
    if len(waiting) < 2:
        return [*waiting]
    latest = _latest(store)
    return sorted(waiting, key=lambda each: tuple(latest.get(party, 0) for party in _parties(each)))


def passing(checked: Job, waiting: Sequence[Job]) -> list[Job]:
    """Return the open jobs that can be done while the pictures of a submission are being checked."""
    return [
        each
        for each in waiting
        if each.kind != SUBMISSION and not (each.kind in _OF_PICTURES and each.study == checked.study)
    ]


def note(store: Store, begun: Job, waiting: Sequence[Job]) -> None:
    """Store that a job was begun, while others waited."""
    if len(waiting) < 2:
        return

    def rule(before: Mapping[str, int] | None) -> Mapping[str, int]:
        before = before or {}
        turn = 1 + max(before.values(), default=0)
        open_parties = {party for each in waiting for party in _parties(each)}
        turns = {party: number for party, number in before.items() if party in open_parties}
        return turns | dict.fromkeys(_parties(begun), turn)

    update(store, TURNS, _ENTRY, rule)


def _latest(store: Store) -> Mapping[str, int]:
    entry = store.entry(TURNS, _ENTRY)
    return entry.data if entry else {}


def _parties(of: Job) -> tuple[str, str]:
    """Return the two that take a turn by a job: its kind, and its member among those of the kind."""
    group = "submissions" if of.kind == SUBMISSION else "others"
    return group, f"{group} {of.member}"
