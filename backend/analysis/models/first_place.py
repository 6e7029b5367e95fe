"""How many answers, and how many evaluators, the first place among the models of a tournament depends on.

Found greedily: the answers whose removal brings the leader and a rival closest together, by their influence
on the difference of strengths (Huang et al. 2025, arXiv:2508.11847, after Broderick et al. 2020), are removed
in steps with the influence computed anew, until a fit of the rest has another leader. The number is that of
a set that was found and checked by fitting, so that the smallest possible one is at most as large.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from backend.analysis.models.bradley_terry import (
    LEFT_WINS,
    RIGHT_WINS,
    TIE,
    Fit,
    Games,
    covariance,
    fit,
    probabilities,
)
from backend.analysis.models.paired_answers import PairedAnswers
from backend.experiment.records import REAL

_RIVALS = 3
_EQUAL = 1e-9  # rounding differs by less
_MOST_STEPS = 60

_Effect = Callable[[Fit, np.ndarray, np.ndarray], np.ndarray]
_Reduced = Callable[[np.ndarray, np.ndarray, int], tuple[np.ndarray, int]]
_CountsOf = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Change:
    """A set of answers (or evaluators) without which another contestant is first."""

    count: int
    leader: str
    """Who is first then."""


def without_answers(answers: PairedAnswers, fitted: Fit, turned: bool = False) -> Change | None:
    """Return how few answers, if removed, change the first place; None if none were found that do.

    Args:
        turned: whether they are turned into their opposites instead of removed.
    """
    games, counts = answers.games, answers.counts

    def reduced(gains: np.ndarray, counts: np.ndarray, budget: int) -> tuple[np.ndarray, int]:
        order = np.argsort(-gains, axis=None)
        order = order[gains.ravel()[order] > 0]
        after, taken = counts.copy(), 0
        for cell in order:
            pair, outcome = divmod(int(cell), 3)
            number = min(int(counts[pair, outcome]), budget - taken)
            after[pair, outcome] -= number
            if turned:
                after[pair, RIGHT_WINS - outcome] += number
            taken += number
            if taken == budget:
                break
        return after, taken

    def effect(here: Fit, counts: np.ndarray, contrast: np.ndarray) -> np.ndarray:
        slopes = _slopes(games, here, counts, answers.has_ties, contrast)
        if not turned:
            return slopes
        opposite = slopes[:, ::-1].copy()
        gains: np.ndarray = slopes - opposite
        gains[:, TIE] = 0
        return gains

    return _fewest(answers, fitted, counts, effect, reduced, lambda state: state)


def without_evaluators(answers: PairedAnswers, fitted: Fit) -> Change | None:
    """Return how few evaluators, if removed, change the first place; None if none were found that do."""
    games, table = answers.games, answers.by_evaluator

    def counts_of(present: np.ndarray) -> np.ndarray:
        return np.asarray(table.T @ present).reshape(-1, 3)

    def effect(here: Fit, present: np.ndarray, contrast: np.ndarray) -> np.ndarray:
        slopes = _slopes(games, here, counts_of(present), answers.has_ties, contrast)
        return np.where(present > 0, table @ slopes.ravel(), -np.inf)

    def reduced(gains: np.ndarray, present: np.ndarray, budget: int) -> tuple[np.ndarray, int]:
        chosen = [person for person in np.argsort(-gains)[:budget] if gains[person] > 0]
        after = present.copy()
        after[chosen] = 0
        return after, len(chosen)

    return _fewest(answers, fitted, np.ones(len(answers.evaluators)), effect, reduced, counts_of)


def _fewest(
    answers: PairedAnswers,
    fitted: Fit,
    state: np.ndarray,
    effect: _Effect,
    reduced: _Reduced,
    counts_of: _CountsOf,
) -> Change | None:
    """Return the smallest change found over the strongest rivals of the leader."""
    order = [int(i) for i in np.argsort(-fitted.strengths) if answers.contestants[i] != REAL]
    leader = order[0]
    chosen = []
    for rival in order[1 : 1 + _RIVALS]:
        contrast = np.zeros(len(fitted.strengths))
        contrast[leader], contrast[rival] = 1, -1
        change = _toward(answers, fitted, state, contrast, leader, effect, reduced, counts_of)
        if change is not None:
            chosen.append(change)
    return min(chosen, key=lambda change: change.count, default=None)


def _toward(
    answers: PairedAnswers,
    fitted: Fit,
    state: np.ndarray,
    contrast: np.ndarray,
    leader: int,
    effect: _Effect,
    reduced: _Reduced,
    counts_of: _CountsOf,
) -> Change | None:
    """Return the smallest number of removals found that let one rival, or another one, pass the leader."""

    is_model = np.array([name != REAL for name in answers.contestants])

    def fit_of(some: np.ndarray) -> Fit:
        return fit(answers.games, counts_of(some), ties=answers.has_ties, start=fitted.strengths)

    def passed(here: Fit) -> int | None:
        best = int(np.argmax(np.where(is_model, here.strengths, -np.inf)))
        return best if here.strengths[best] > here.strengths[leader] + _EQUAL else None

    here, removed = fitted, 0
    for _ in range(_MOST_STEPS):
        gains = effect(here, state, contrast)
        gap = float(contrast @ here.strengths)
        needed = _predicted(gains, state, gap)
        budget = max(needed if needed <= 2 else needed * 2 // 3, 1)
        after, taken = reduced(gains, state, budget)
        if not taken:
            return None
        then = fit_of(after)
        by = passed(then)
        if by is not None:
            few, many = 0, taken
            while many - few > 1:
                middle = (few + many) // 2
                ahead = passed(fit_of(reduced(gains, state, middle)[0]))
                few, many, by = (few, middle, ahead) if ahead is not None else (middle, many, by)
            return Change(removed + many, answers.contestants[by])
        state, here, removed = after, then, removed + taken
    return None


def _predicted(gains: np.ndarray, state: np.ndarray, gap: float) -> int:
    """Return how many removals close the gap if each keeps its influence."""
    flat = gains.ravel()
    there = np.ones(len(flat)) if state.ndim == 1 else state.ravel()
    order = np.argsort(-flat)
    order = order[(flat[order] > 0) & (there[order] > 0)]
    if not len(order):
        return 1
    reach = np.cumsum(flat[order] * there[order])
    last = int(np.searchsorted(reach, gap))
    before = there[order[:last]].sum()
    if last == len(order):
        return int(before)
    rest = gap - (reach[last - 1] if last else 0.0)
    return int(before + np.ceil(rest / flat[order[last]])) or 1


def _slopes(games: Games, here: Fit, counts: np.ndarray, ties: bool, contrast: np.ndarray) -> np.ndarray:
    """Return by how much one answer more of each pair and outcome moves the contrast of strengths."""
    shares = probabilities(games, here)
    inverse = covariance(games, counts.sum(axis=1), here, ties)
    size = games.contestants
    pull = contrast @ inverse[:size]
    along = pull[games.left] - pull[games.right]
    of_tie = pull[size] if len(pull) > size else 0.0
    expected_d = (shares[:, LEFT_WINS] - shares[:, RIGHT_WINS]) / 2
    slopes = np.empty((len(games), 3))
    for outcome, d, tie in ((LEFT_WINS, 0.5, 0), (TIE, 0.0, 1), (RIGHT_WINS, -0.5, 0)):
        slopes[:, outcome] = along * (d - expected_d) + of_tie * (tie - shares[:, TIE])
    return slopes
