"""The part of pictures in the variance of strengths: evaluators who see the same picture err on it alike.

To first order, an answer moves the strengths by the inverse of the information times its score, which is that
of its two contestants. The products of different evaluators' influences through one picture, summed over
pictures, are the covariance that shared pictures add (`inference.py` has the same for a share). Two
evaluators who saw the same two pictures are counted once, not for each of the two (Aronow, Samii and
Assenova, 2015).
The scores of a contestant's answers sum to 0, so that those of its m pictures vary by m - 1 of m: they are
scaled by m / (m - 1).
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix

from backend.analysis.distributions.inference import df_of_parts
from backend.analysis.models.bradley_terry import LEFT_WINS, RIGHT_WINS, TIE, Fit, covariance, probabilities
from backend.analysis.models.paired_answers import PairedAnswers


@dataclass(frozen=True)
class PictureVariance:
    """What pictures add to the covariance of strengths."""

    root: np.ndarray
    """Shape (contestants, contestants): the covariance is root @ root.T."""
    df: float

    @property
    def total(self) -> float:
        """The sum of the variances of all strengths."""
        return float((self.root**2).sum())


@dataclass(frozen=True)
class Influences:
    """To first order, how answers move strengths with mean 0 over the reference contestants."""

    by_score: np.ndarray
    """Shape (contestants, contestants + 1): strengths per unit of the scores."""
    scores: csr_matrix
    """Of each answer, shape (answers, contestants + 1)."""

    def of_evaluators(self, answers: PairedAnswers) -> np.ndarray:
        """Return those of each evaluator's answers together, shape (evaluators, contestants)."""
        people, count = len(answers.evaluators), len(answers)
        summed = _summed(answers.evaluator, np.arange(count), np.ones(count), people, self.scores)
        result: np.ndarray = summed @ self.by_score.T
        return result


def influences(answers: PairedAnswers, fitted: Fit, reference: np.ndarray) -> Influences:
    """Return the influences of answers; `reference` is a mask."""
    size = len(answers.contestants)
    spread = covariance(answers.games, answers.counts.sum(axis=1), fitted, answers.has_ties)
    by_score = np.zeros((size, size + 1))
    by_score[:, : spread.shape[1]] = spread[:size]
    return Influences(by_score - by_score[reference].mean(axis=0), _scores(answers, fitted))


def picture_variance(answers: PairedAnswers, fitted: Fit, reference: np.ndarray) -> PictureVariance | None:
    """Return the pictures' part for strengths with mean 0 over `reference` (a mask).

    None if answers name no pictures, or if pictures add nothing.
    """
    covariance = picture_covariance(answers, fitted, reference)
    if covariance is None:
        return None
    covariances, df = covariance
    values, vectors = np.linalg.eigh(covariances)
    kept = values > 1e-12 * max(float(np.abs(values).max()), 1e-300)
    return PictureVariance(vectors[:, kept] * np.sqrt(values[kept]), df) if kept.any() else None


def picture_covariance(
    answers: PairedAnswers, fitted: Fit, reference: np.ndarray
) -> tuple[np.ndarray, float] | None:
    """Return the covariance that pictures add to strengths, and its degrees of freedom.

    Noise makes some of its eigenvalues negative. None if answers name no pictures.
    """
    if answers.pictures is None:
        return None
    influence, size = influences(answers, fitted, reference), len(answers.contestants)
    scores, centred = influence.scores, influence.by_score
    sums, own, codes = _by_picture(answers, scores)
    both, both_own = _by_pair(answers, scores)
    raw = (sums.T @ sums - own.T @ own).toarray() - (both.T @ both - both_own.T @ both_own).toarray()
    metric = centred.T @ centred
    parts = _squares(sums, metric) - np.bincount(codes, _squares(own, metric), sums.shape[0])
    df = max(1.0, df_of_parts(parts) * 2 / size)  # a difference rests on the pictures of two contestants
    return centred @ raw @ centred.T, df


def _scores(answers: PairedAnswers, fitted: Fit) -> csr_matrix:
    """Return the score of each answer in the strengths, and last in log ν: (answers, contestants + 1)."""
    count, size = len(answers), len(answers.contestants)
    shares = probabilities(answers.placed_games, fitted)
    games = answers.placed_games
    keys = games.left * size + games.right
    place = np.searchsorted(keys, answers.left * size + answers.right)
    expected = shares[place]
    happened = np.zeros((count, 3))
    happened[np.arange(count), answers.outcome] = 1
    over = happened - expected
    of_d, of_tie = (over[:, LEFT_WINS] - over[:, RIGHT_WINS]) / 2, over[:, TIE] * bool(answers.has_ties)
    rows = np.tile(np.arange(count), 3)
    columns = np.concatenate([answers.left, answers.right, np.full(count, size)])
    return csr_matrix((np.concatenate([of_d, -of_d, of_tie]), (rows, columns)), shape=(count, size + 1))


def _by_picture(answers: PairedAnswers, scores: csr_matrix) -> tuple[csr_matrix, csr_matrix, np.ndarray]:
    """Return summed scores by picture, and by picture and evaluator with the picture of each of these."""
    assert answers.pictures is not None
    shown, contestant = answers.pictures.T.ravel(), np.concatenate([answers.left, answers.right])
    answer = np.tile(np.arange(len(answers)), 2)
    is_named = shown >= 0
    shown, contestant, answer = shown[is_named], contestant[is_named], answer[is_named]
    _, first, picture = np.unique(shown, return_index=True, return_inverse=True)
    of_contestant = np.bincount(contestant[first], minlength=len(answers.contestants))
    more = of_contestant / np.maximum(of_contestant - 1, 1)
    weight = np.sqrt(more[contestant])
    people = len(answers.evaluators)
    cells, cell = np.unique(
        picture.astype(np.int64) * people + answers.evaluator[answer], return_inverse=True
    )
    return (
        _summed(picture, answer, weight, len(first), scores),
        _summed(cell, answer, weight, len(cells), scores),
        cells // people,
    )


def _by_pair(answers: PairedAnswers, scores: csr_matrix) -> tuple[csr_matrix, csr_matrix]:
    """Return summed scores by pair of pictures, and by pair and evaluator."""
    assert answers.pictures is not None
    answer = np.flatnonzero((answers.pictures >= 0).all(axis=1))
    pairs, pair = np.unique(np.sort(answers.pictures[answer], axis=1), axis=0, return_inverse=True)
    pair, people = pair.ravel(), len(answers.evaluators)
    cells, cell = np.unique(pair.astype(np.int64) * people + answers.evaluator[answer], return_inverse=True)
    weight = np.ones(len(answer))
    return (
        _summed(pair, answer, weight, len(pairs), scores),
        _summed(cell, answer, weight, len(cells), scores),
    )


def _summed(
    code: np.ndarray, answer: np.ndarray, weight: np.ndarray, count: int, scores: csr_matrix
) -> csr_matrix:
    incidence = csr_matrix((weight, (code, answer)), shape=(count, scores.shape[0]))
    return csr_matrix(incidence @ scores)


def _squares(rows: csr_matrix, metric: np.ndarray) -> np.ndarray:
    """Return x' M x of each row x."""
    result: np.ndarray = np.asarray(rows.multiply(rows @ metric).sum(axis=1)).ravel()
    return result
