"""Votes on triplets (2AFC) and pairs (JND): who answered what on which item.

A vote is 1 if it prefers `p1` (2AFC) or says `same` (JND), else 0. The share of an item is the mean of its
votes: what the BAPPS data set stores as `judge` and `same` (Zhang et al., 2018).
"""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from backend.experiment.records import TEST
from backend.foundation.errors import InvalidInput
from backend.foundation.names import doubtful_people

TWO_AFC = "2afc"
JND = "jnd"
KINDS = (TWO_AFC, JND)
SETS = ("traditional", "cnn", "superres", "deblur", "color", "frameinterp")
"""The sets of BAPPS in the order in which the paper prints them; others follow by name."""


@dataclass(frozen=True)
class Votes:
    """Votes on items, which are sorted by set and name: the order in which ties of distances stand."""

    kind: str
    """`2afc` or `jnd`."""
    items: tuple[str, ...]
    """Their names, such as `traditional/000123`."""
    sets: tuple[str, ...]
    set_of: np.ndarray
    """Shape (items,): index into `sets`."""
    item: np.ndarray
    """Shape (votes,): index into `items`."""
    vote: np.ndarray
    """Shape (votes,): 0 or 1; where only shares are known, one share (0 to 1) an item."""
    evaluator: np.ndarray | None
    """Shape (votes,): codes from 0; None where only shares are known."""
    votes_per_item: int | None = None
    """Number of votes behind each share, where only shares are known and it was stated."""
    repeated: int = 0
    """Votes left out because their evaluator had judged the item before."""
    is_simulated: bool = False
    notes: tuple[str, ...] = ()
    """Doubts about who voted."""

    @cached_property
    def share(self) -> np.ndarray:
        """Shape (items,): share of votes for `p1`, or for `same`."""
        return np.bincount(self.item, self.vote, len(self.items)) / np.bincount(self.item)

    @cached_property
    def count(self) -> np.ndarray | None:
        """Shape (items,): number of votes; None if it is not known."""
        if self.evaluator is not None:
            return np.bincount(self.item)
        if self.votes_per_item is None:
            return None
        return np.full(len(self.items), self.votes_per_item)

    @property
    def evaluators(self) -> int | None:
        """Number of evaluators; None where only shares are known."""
        return None if self.evaluator is None else int(self.evaluator.max()) + 1

    def of_items(self, chosen: np.ndarray) -> "Votes":
        """Return the votes on some items, given their indices in ascending order."""
        place = np.full(len(self.items), -1)
        place[chosen] = np.arange(len(chosen))
        is_used = place[self.item] >= 0
        of_set, set_of = np.unique(self.set_of[chosen], return_inverse=True)
        evaluator = self.evaluator
        if evaluator is not None:
            _, evaluator = np.unique(evaluator[is_used], return_inverse=True)
        return replace(
            self,
            items=tuple(self.items[i] for i in chosen),
            sets=tuple(self.sets[i] for i in of_set),
            set_of=set_of,
            item=place[self.item[is_used]],
            vote=self.vote[is_used],
            evaluator=evaluator,
            repeated=0,
        )


def votes_of_shares(
    kind: str, shares: Mapping[str, Mapping[str, float]], votes_per_item: int | None = None
) -> Votes:
    """Return the votes of items of which only the share is known.

    Args:
        shares: by set, then by item.
        votes_per_item: number of votes behind each share, if it is the same for all and known.

    Raises:
        InvalidInput: there is no item, or a share is not a multiple of one over `votes_per_item`.
    """
    names, of_set = _sorted((item, name) for name, items in shares.items() for item in items)
    if not names:
        raise InvalidInput("there is no item with a judgment")
    sets = _in_order(of_set)
    share = np.array([shares[name][item] for item, name in zip(names, of_set, strict=True)], float)
    if votes_per_item is not None:
        votes = share * votes_per_item
        off = np.flatnonzero(np.abs(votes - np.round(votes)) > 1e-4)
        if len(off):
            raise InvalidInput(
                f"{names[off[0]]}: a share of {share[off[0]]:g} cannot come from {votes_per_item} votes"
            )
        share = np.round(votes) / votes_per_item
    return Votes(kind, names, sets, _codes(of_set, sets), np.arange(len(names)), share, None, votes_per_item)


def votes_of(rows: Iterable[Mapping[str, Any]], kind: str, is_simulated: bool = False) -> Votes:
    """Return the votes of rows, as `VoteCounter` does.

    Raises:
        InvalidInput: as in `VoteCounter`.
    """
    counter = VoteCounter(kind)
    for row in rows:
        counter.add(row)
    return counter.votes(is_simulated)


class VoteCounter:
    """Collects the votes of rows with the columns of the responses file, in 17 bytes each.

    Left out are rows that are not scored (`trial_kind` other than `test`) and evaluators whom the study's
    rule excludes. If an evaluator judged an item twice, the first vote counts.
    """

    def __init__(self, kind: str) -> None:
        self.rows = 0
        """Rows that were added, scored or not."""
        self._kind = kind
        self._items: dict[str, int] = {}
        self._sets: list[str] = []
        self._people: dict[str, int] = {}
        self._item, self._person, self._vote = array("q"), array("q"), array("b")

    def add(self, row: Mapping[str, Any]) -> None:
        """Add a row.

        Raises:
            InvalidInput: its item is missing, or belongs to two sets.
        """
        self.rows += 1
        if (row.get("trial_kind") or TEST) != TEST or row.get("excluded"):
            return
        item = row.get("item") or ""
        name = row.get("model") or item.rpartition("/")[0]
        if not item or not name:
            raise InvalidInput(f"each response must name its item, such as traditional/000123, not {item!r}")
        code = self._items.setdefault(item, len(self._items))
        self._sets += [name] * (code == len(self._sets))
        if self._sets[code] != name:
            raise InvalidInput(
                f"item {item} is in two sets, {self._sets[code]} and {name}; an item has one set"
            )
        self._item.append(code)
        self._person.append(self._people.setdefault(str(row["evaluator"]), len(self._people)))
        self._vote.append(int(vote_of(row, self._kind)))

    def votes(self, is_simulated: bool = False) -> Votes:
        """Return the votes of the rows that were added.

        Raises:
            InvalidInput: there is none.
        """
        if not self._item:
            raise InvalidInput("there is no vote on any item yet")
        item, person = np.frombuffer(self._item, np.int64), np.frombuffer(self._person, np.int64)
        _, first = np.unique(item * len(self._people) + person, return_index=True)
        first.sort()
        names, of_set = _sorted(zip(self._items, self._sets, strict=True))
        sets = _in_order(of_set)
        return Votes(
            self._kind,
            names,
            sets,
            _codes(of_set, sets),
            _places(self._items, names)[item[first]],
            np.frombuffer(self._vote, np.int8)[first].astype(float),
            _places(self._people, sorted(self._people))[person[first]],
            repeated=len(item) - len(first),
            is_simulated=is_simulated,
            notes=(*doubtful_people([*self._people]),),
        )


def _places(codes: Mapping[str, int], names: Sequence[str]) -> np.ndarray:
    """Return the index in `names` of each name, by its code."""
    place = np.empty(len(names), np.int64)
    place[[codes[name] for name in names]] = np.arange(len(names))
    return place


def vote_of(row: Mapping[str, Any], kind: str) -> float:
    """Return 1.0 if a row prefers `p1`, or says `same`, else 0.0."""
    answer = row["response"]
    return float(answer == "same" if kind == JND else row[answer] == "p1")


def order_of_set(name: str) -> tuple[int, str]:
    """Return the key by which sets are sorted: those of the paper in its order, then others by name."""
    return (SETS.index(name) if name in SETS else len(SETS)), name


def _sorted(items: Iterable[tuple[str, str]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return names of items and of their sets, sorted by set and then by name."""
    pairs = sorted(items, key=lambda pair: (order_of_set(pair[1]), pair[0]))
    return tuple(item for item, _ in pairs), tuple(name for _, name in pairs)


def _in_order(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _codes(names: Iterable[str], distinct: tuple[str, ...]) -> np.ndarray:
    place = {name: i for i, name in enumerate(distinct)}
    return np.array([place[name] for name in names])
