"""Whether a tournament's answers are as the model of Bradley and Terry says: sides, transitivity, fit."""

from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import chdtrc

from backend.analysis.distributions.inference import Estimate, clustered
from backend.analysis.models.bradley_terry import (
    LEFT_WINS,
    RIGHT_WINS,
    TIE,
    Fit,
    fit,
    probabilities,
)
from backend.analysis.models.paired_answers import PairedAnswers


def side_bias(answers: PairedAnswers, fitted: Fit, level: float) -> dict[str, Any]:
    """Return how much the place counts: share of decided answers for the left, and its log-odds in a fit.

    The interval and the p-value are over evaluators: from the share of each one's decided answers, weighted
    by their number (a ratio estimator), by Student's t; None if all evaluators have the same share.
    """
    people = len(answers.evaluators)
    left = np.bincount(answers.evaluator[answers.outcome == LEFT_WINS], minlength=people)
    right = np.bincount(answers.evaluator[answers.outcome == RIGHT_WINS], minlength=people)
    decided = left + right
    both = fit(
        answers.placed_games,
        np.asarray(answers.placed_by_evaluator.sum(axis=0)).reshape(-1, 3),
        ties=answers.has_ties,
        side=True,
        start=fitted.strengths,
    )
    share = float(left.sum() / decided.sum()) if decided.sum() else None
    row: dict[str, Any] = {"left_share": share, "ci": None, "p": None, "log_odds": float(both.side)}
    if share is None or people < 2:
        return row
    estimate = Estimate(share, clustered((left - share * decided) / decided.sum()))
    ci = estimate.interval_if_any(level)
    return row if ci is None else {**row, "ci": [*np.clip(ci, 0.0, 1.0).tolist()], "p": estimate.p(0.5)}


def goodness_of_fit(answers: PairedAnswers, fitted: Fit) -> dict[str, Any]:
    """Return a test of the model, and each pair's share of wins beside the one that the model expects.

    Ties are half a win of each. Pearson's statistic of these shares is divided by the mean of the pairs'
    design effects, since answers of one evaluator depend on each other (Rao and Scott 1981, first order).
    Neither is below that of independent answers: of evaluators who all agree, it would be near 0.
    """
    games, counts = answers.games, answers.counts
    shares = probabilities(games, fitted)
    number = counts.sum(axis=1)
    observed = counts[:, LEFT_WINS] + counts[:, TIE] / 2
    expected = number * (shares[:, LEFT_WINS] + shares[:, TIE] / 2)
    variance = number * (
        shares[:, LEFT_WINS] + shares[:, TIE] / 4 - (shares[:, LEFT_WINS] + shares[:, TIE] / 2) ** 2
    )
    clustered = _clustered_variance(answers, shares)
    z = (observed - expected) / np.sqrt(np.maximum(clustered, variance))
    effect = max(float((clustered / variance).mean()), 1.0)
    statistic = float(((observed - expected) ** 2 / variance).sum() / effect)
    freedom = len(games) - answers.games.contestants + 1
    return {
        "chi2": statistic,
        "df": freedom,
        "p": float(chdtrc(freedom, statistic)) if freedom > 0 else None,
        "design_effect": effect,
        "pairs": [
            {
                "a": answers.contestants[a],
                "b": answers.contestants[b],
                "answers": int(of_pair),
                "a_wins": int(counts[i, LEFT_WINS]),
                "ties": int(counts[i, TIE]),
                "b_wins": int(counts[i, RIGHT_WINS]),
                "share": float(observed[i] / of_pair),
                "expected": float(expected[i] / of_pair),
                "z": float(z[i]),
            }
            for i, (a, b, of_pair) in enumerate(zip(games.left, games.right, number, strict=True))
        ],
    }


def _clustered_variance(answers: PairedAnswers, shares: np.ndarray) -> np.ndarray:
    """Return the variance of each pair's wins, from the sums of each evaluator's residuals."""
    value = np.array([1.0, 0.5, 0.0])
    expected = shares[:, LEFT_WINS] + shares[:, TIE] / 2
    weights = (value[None, :] - expected[:, None]).ravel()
    pairs = len(shares)
    rows = answers.by_evaluator.tocoo()
    summed = np.zeros(pairs)
    keys, place = np.unique(rows.row.astype(np.int64) * pairs + rows.col // 3, return_inverse=True)
    sums = np.bincount(place, rows.data * weights[rows.col])
    np.add.at(summed, keys % pairs, sums**2)
    return summed


def cycles(answers: PairedAnswers) -> dict[str, Any]:
    """Return how many triples of contestants are circular: A mostly preferred to B, B to C, and C to A.

    Triples with a pair that was never answered, or that stands even, are not counted.
    """
    size = len(answers.contestants)
    ahead = np.zeros((size, size))
    games, counts = answers.games, answers.counts
    lead = counts[:, LEFT_WINS] - counts[:, RIGHT_WINS]
    ahead[games.left, games.right] = np.sign(lead)
    ahead[games.right, games.left] = -np.sign(lead)
    triples, circular = 0, []
    for a, b, c in combinations(range(size), 3):
        signs = (ahead[a, b], ahead[b, c], ahead[c, a])
        if 0 in signs:
            continue
        triples += 1
        if abs(sum(signs)) == 3:
            circular.append([answers.contestants[i] for i in ((a, b, c) if signs[0] > 0 else (a, c, b))])
    return {"triples": triples, "circular": len(circular), "examples": circular[:5]}
