"""Answers to pairs of contestants (models, and the reals where they take part), as arrays."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from backend.analysis.models.bradley_terry import LEFT_WINS, RIGHT_WINS, TIE, Games
from backend.analysis.table.response_table import Answers, Coded, Coder
from backend.experiment.judgment import pictures_of
from backend.foundation.errors import InvalidInput

OUTCOMES = {"left": LEFT_WINS, "tie": TIE, "right": RIGHT_WINS}
"""Codes of the answers."""


@dataclass(frozen=True)
class PairedAnswers:
    """One element an answer: who stood where, what was answered, by whom."""

    contestants: tuple[str, ...]
    evaluators: tuple[str, ...]
    left: np.ndarray
    right: np.ndarray
    outcome: np.ndarray
    evaluator: np.ndarray
    pictures: np.ndarray | None = None
    """Codes of the left and of the right picture, of shape (answers, 2); -1 where it is not named."""

    def __len__(self) -> int:
        return len(self.left)

    @cached_property
    def games(self) -> Games:
        """The pairs that were answered, the contestant that comes first in `contestants` on the left."""
        return self._pairs(self._low, self._high)

    @cached_property
    def by_evaluator(self) -> csr_matrix:
        """Number of answers by evaluator, and by pair of `games` and outcome (`3 * pair + outcome`)."""
        turned = self.left > self.right
        outcome = np.where(turned, RIGHT_WINS - self.outcome, self.outcome)
        return self._counted(self._low, self._high, outcome)

    @cached_property
    def counts(self) -> np.ndarray:
        """Number of answers to each pair of `games`, by outcome: (pairs, 3)."""
        return _shaped(self.by_evaluator.sum(axis=0))

    @cached_property
    def placed_games(self) -> Games:
        """The pairs as they stood: left and right, so that most pairs are there twice."""
        return self._pairs(self.left, self.right)

    @cached_property
    def placed_by_evaluator(self) -> csr_matrix:
        """As `by_evaluator`, for `placed_games`."""
        return self._counted(self.left, self.right, self.outcome)

    @property
    def has_ties(self) -> bool:
        """Whether any pair was called equal."""
        return bool((self.outcome == TIE).any())

    def only(self, rows: np.ndarray) -> "PairedAnswers":
        """Return the answers of a mask, with the same contestants and evaluators."""
        return PairedAnswers(
            self.contestants,
            self.evaluators,
            self.left[rows],
            self.right[rows],
            self.outcome[rows],
            self.evaluator[rows],
            None if self.pictures is None else self.pictures[rows],
        )

    @cached_property
    def _low(self) -> np.ndarray:
        result: np.ndarray = np.minimum(self.left, self.right)
        return result

    @cached_property
    def _high(self) -> np.ndarray:
        result: np.ndarray = np.maximum(self.left, self.right)
        return result

    def _pairs(self, first: np.ndarray, second: np.ndarray) -> Games:
        size = len(self.contestants)
        keys = np.unique(first * size + second)
        return Games(size, keys // size, keys % size)

    def _counted(self, first: np.ndarray, second: np.ndarray, outcome: np.ndarray) -> csr_matrix:
        size = len(self.contestants)
        keys, pair = np.unique(first * size + second, return_inverse=True)
        cells = 3 * pair + outcome
        shape = (len(self.evaluators), 3 * len(keys))
        return csr_matrix((np.ones(len(self)), (self.evaluator, cells)), shape=shape)


def paired_of(answers: Answers) -> PairedAnswers:
    """Return the responses as answers to pairs of contestants.

    Raises:
        InvalidInput: the responses do not say who stood where, or a contestant stood beside itself.
    """
    missing = [name for name in ("left", "right", "response") if name not in answers.texts]
    if missing:
        raise InvalidInput(
            f"responses of a tournament need the columns left, right and response; {missing[0]} is missing"
        )
    left, right = (answers.texts[name] for name in ("left", "right"))
    contestants = sorted({*_used(left), *_used(right)})
    if "" in contestants or None in contestants:
        raise InvalidInput("left and right must name a contestant in every response of a tournament")
    place = {name: i for i, name in enumerate(contestants)}
    lefts, rights = (_recoded(column, place) for column in (left, right))
    if (lefts == rights).any():
        whom = contestants[int(lefts[(lefts == rights).argmax()])]
        raise InvalidInput(f"left and right must be two contestants, not both {whom}")
    used = np.unique(answers.evaluator.codes, return_inverse=True)
    return PairedAnswers(
        tuple(contestants),
        tuple(str(answers.evaluator.names[code]) for code in used[0]),
        lefts,
        rights,
        _recoded(answers.texts["response"], OUTCOMES),
        used[1],
        _pictures(answers.texts.get("stimulus")),
    )


def _pictures(column: Coded | None) -> np.ndarray | None:
    """Return codes of the left and of the right picture of each response, -1 where it does not name two."""
    if column is None:
        return None
    codes = Coder()
    pairs = [pictures_of(str(name or "")) for name in column.names]
    codes.add([name for pair in pairs if len(pair) == 2 for name in pair])
    named = iter(codes.coded().codes.reshape(-1, 2).tolist())
    of_name = np.array([next(named) if len(pair) == 2 else (-1, -1) for pair in pairs], np.int64)
    result: np.ndarray = of_name.reshape(-1, 2)[column.codes]
    return result


def _used(column: Coded) -> list[str]:
    return [column.names[code] for code in np.unique(column.codes)]


def _recoded(column: Coded, codes: Mapping[str, int]) -> np.ndarray:
    """Return a column's texts as codes.

    Raises:
        InvalidInput: a text has none.
    """
    unknown = [name for name in _used(column) if name not in codes]
    if unknown:
        raise InvalidInput(f"response must be {', '.join(codes)}, not {unknown[0]!r}")
    result: np.ndarray = np.array([codes.get(name, -1) for name in column.names])[column.codes]
    return result


def _shaped(flat: Any) -> np.ndarray:
    return np.asarray(flat, float).reshape(-1, 3)
