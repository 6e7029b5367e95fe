"""Answers to pairs of contestants (models, and the reals where they take part), as arrays."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from backend.analysis.bradley_terry import LEFT_WINS, RIGHT_WINS, TIE, Games

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


def _shaped(flat: Any) -> np.ndarray:
    return np.asarray(flat, float).reshape(-1, 3)
