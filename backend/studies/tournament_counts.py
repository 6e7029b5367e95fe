"""How a tournament's pairs were answered so far: one entry in the store, from which sessions are planned.

Each finished session adds its own answers, by one conditional write, so that no visitor's request ever reads
the answers of others: opening a session reads this entry, whatever the number of answers. The counts only
steer which pairs are shown. Should a process die between a session's last answer and this write, that session
steers nothing, and is scored all the same; `openhype update-sampling NAME` counts all answers again.
Withdrawn sessions stay counted until then.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from backend.experiment.judgments import judgment_of
from backend.experiment.pair_design import Pair, Strengths, Tally, standing
from backend.experiment.records import Response, Session, Study
from backend.experiment.session import picture_of
from backend.foundation.frozen import dataclass
from backend.stores.store import Store
from backend.stores.updates import update
from backend.studies.picture_needs import key_of

BOOK = "tournament_counts"
"""The book of counts, by study; those of simulated sessions apart."""
Counts = dict[tuple[str, str], list[int]]
"""Answers for the first, ties, answers for the second, by the names of two contestants in order."""


@dataclass(frozen=True)
class PairCounts:
    """The counts of a study."""

    sessions: int
    """Number of finished sessions that they are of."""
    pairs: Mapping[tuple[str, str], Sequence[int]]


def is_counted(study: Study) -> bool:
    """Return whether a study's sessions are planned from the answers so far."""
    return judgment_of(study.protocol.method).counts_pairs


def read(store: Store, study: Study, simulated: bool) -> PairCounts:
    """Return the counts of a study; none if nothing was counted yet."""
    entry = store.entry(BOOK, key_of(study, simulated))
    if entry is None or entry.data["created_at"] != study.created_at:
        return PairCounts(0, {})
    return PairCounts(entry.data["sessions"], {(a, b): counts for a, b, *counts in entry.data["pairs"]})


def add(store: Store, study: Study, session: Session, responses: Iterable[Response]) -> None:
    """Add the answers of a session that has just finished."""
    own = counted(study, session, responses)

    def rule(now: Mapping[str, Any] | None) -> Mapping[str, Any]:
        is_of_study = now and now["created_at"] == study.created_at
        before: Mapping[str, Any] = now if now and is_of_study else {"sessions": 0, "pairs": []}
        pairs: Counts = {(a, b): counts for a, b, *counts in before["pairs"]}
        for pair, counts in own.items():
            pairs[pair] = [x + y for x, y in zip(pairs.get(pair, (0, 0, 0)), counts, strict=True)]
        return _data(study, before["sessions"] + 1, pairs)

    update(store, BOOK, key_of(study, session.is_simulated), rule)


def write(store: Store, study: Study, simulated: bool, counts: PairCounts) -> None:
    """Store counts in place of those before."""
    data = _data(study, counts.sessions, counts.pairs)
    update(store, BOOK, key_of(study, simulated), lambda _: data)


def counted(study: Study, session: Session, responses: Iterable[Response]) -> Counts:
    judgment, counts = judgment_of(study.protocol.method), Counts()
    for response in responses:
        model = picture_of(session, response.stimulus).model or ""
        pair, outcome = judgment.outcome(model, response.response)
        counts.setdefault(pair, [0, 0, 0])[outcome] += 1
    return counts


def strengths_of(study: Study, counts: PairCounts) -> Strengths:
    """Return what the counts say of the contestants of a study, in the order of `Judgment.contestants`."""
    contestants = judgment_of(study.protocol.method).contestants(study)
    place = {name: i for i, name in enumerate(contestants)}
    tallies: dict[Pair, Tally] = {}
    for (a, b), (first, ties, second) in counts.pairs.items():
        i, j = place.get(a), place.get(b)
        if i is None or j is None:
            continue
        tallies[(i, j) if i < j else (j, i)] = (
            Tally(first, ties, second) if i < j else Tally(second, ties, first)
        )
    return standing(len(contestants), tallies)


def _data(study: Study, sessions: int, pairs: Mapping[tuple[str, str], Sequence[int]]) -> Mapping[str, Any]:
    return {
        "created_at": study.created_at,
        "sessions": sessions,
        "pairs": [[a, b, *counts] for (a, b), counts in sorted(pairs.items())],
    }
