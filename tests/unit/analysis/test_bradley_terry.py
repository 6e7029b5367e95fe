"""Bradley and Terry's model with Davidson's ties, against published estimates and hand-worked cases."""

from math import log

import numpy as np
import pytest

from backend.analysis.models.bradley_terry import Games, components, covariance, fit, probabilities, unbeaten

PUDDINGS = np.array(
    [
        [1, 2, 19, 16, 22], [1, 3, 16, 12, 19], [2, 3, 19, 10, 19], [1, 4, 18, 13, 23], [2, 4, 23, 9, 19],
        [3, 4, 19, 15, 20], [1, 5, 13, 18, 19], [2, 5, 16, 12, 20], [3, 5, 16, 17, 15], [4, 5, 17, 16, 14],
        [1, 6, 18, 12, 21], [2, 6, 22, 12, 20], [3, 6, 13, 10, 18], [4, 6, 14, 18, 19], [5, 6, 11, 12, 21],
    ]
)  # fmt: skip
"""Comparisons of six chocolate puddings (Davidson 1970, table 1): brands, wins of the first, ties, of the
second."""


def puddings():
    return Games(6, PUDDINGS[:, 0] - 1, PUDDINGS[:, 1] - 1), PUDDINGS[:, 2:].astype(float)


def test_davidsons_puddings_have_his_estimates_and_plackettluces_errors():
    games, counts = puddings()

    fitted = fit(games, counts, ties=True)

    worth = np.exp(fitted.strengths) / np.exp(fitted.strengths).sum()
    # Davidson (1970, table 2), to the digits that the R package PlackettLuce 0.4 prints of them
    assert worth == pytest.approx([0.1388, 0.1730, 0.1617, 0.1654, 0.1587, 0.2024], abs=6e-5)
    assert np.exp(fitted.log_ties) == pytest.approx(0.7468, abs=6e-5)
    errors = np.sqrt(np.diag(covariance(games, counts.sum(axis=1), fitted, ties=True)))
    # summary(PlackettLuce(R, npseudo = 0, weights = w), ref = NULL)
    printed = [0.121949, 0.121818, 0.126823, 0.122003, 0.127054, 0.126594, 0.082499]
    assert errors == pytest.approx(printed, abs=2e-6)
    assert not fitted.is_penalised


def test_two_contestants_have_the_log_odds_of_their_wins():
    games = Games(2, np.array([0]), np.array([1]))

    fitted = fit(games, np.array([[30.0, 0, 10]]), ties=False)

    assert fitted.strengths == pytest.approx([log(3) / 2, -log(3) / 2], abs=1e-10)


def test_expected_wins_and_ties_equal_the_observed_ones():
    """The likelihood equations: at the maximum, each contestant's wins plus half its ties are as expected."""
    games, counts = puddings()

    shares = probabilities(games, fit(games, counts, ties=True))

    left_over = counts - counts.sum(axis=1, keepdims=True) * shares
    for brand in range(6):
        mine = left_over[games.left == brand][:, [0, 1]].sum(0) + left_over[games.right == brand][
            :, [2, 1]
        ].sum(0)
        assert mine[0] + mine[1] / 2 == pytest.approx(0, abs=1e-7)
    assert left_over[:, 1].sum() == pytest.approx(0, abs=1e-7)


def test_the_advantage_of_the_left_is_told_from_the_strengths():
    games = Games(2, np.array([0, 1]), np.array([1, 0]))
    counts = np.array([[60.0, 0, 20], [30, 0, 30]]) * 1e6  # d + g = log 3, -d + g = 0

    fitted = fit(games, counts, ties=False, side=True)

    assert fitted.side == pytest.approx(log(3) / 2, abs=1e-6)
    assert fitted.strengths[0] - fitted.strengths[1] == pytest.approx(log(3) / 2, abs=1e-6)


def test_a_contestant_who_won_everything_stays_finite_and_is_said():
    games = Games(3, np.array([0, 0, 1]), np.array([1, 2, 2]))
    counts = np.array([[5.0, 0, 0], [5, 0, 0], [3, 0, 2]])

    fitted = fit(games, counts, ties=False)

    assert fitted.is_penalised
    assert np.isfinite(fitted.strengths).all()
    assert list(np.argsort(-fitted.strengths)) == [0, 1, 2]
    assert unbeaten(games, counts) == [[0], [1, 2]]
    # one tie is enough for a finite maximum
    assert not fit(games, counts + np.array([[0, 1, 0], [0] * 3, [0] * 3]), ties=True).is_penalised


def test_the_penalty_is_half_a_win_and_half_a_loss_against_the_mean():
    """With 3 wins of 3, and the phantom of strength 0: s maximises 3 log P(2s) + log P(s) + log P(-s)."""
    games = Games(2, np.array([0]), np.array([1]))

    difference = np.diff(fit(games, np.array([[3.0, 0, 0]]), ties=False).strengths)[0]

    s = -difference / 2
    slope = 6 / (1 + np.exp(2 * s)) + 1 / (1 + np.exp(s)) - 1 / (1 + np.exp(-s))
    assert slope == pytest.approx(0, abs=1e-8)


def test_groups_without_an_answer_between_them_are_found():
    games = Games(4, np.array([0, 2]), np.array([1, 3]))

    assert components(games, np.ones((2, 3))) == [[0, 1], [2, 3]]


def test_many_sets_at_once_are_fitted_as_each_alone():
    games, counts = puddings()
    rng = np.random.default_rng(1)
    many = np.stack(
        [rng.poisson(counts), counts, np.zeros_like(counts), counts * [1, 0, 1], counts * [0, 1, 0]]
    )

    together = fit(games, many, ties=True)

    for i, one in enumerate(many):
        alone = fit(games, one, ties=True)
        assert together.strengths[i] == pytest.approx(alone.strengths, abs=1e-9)
        assert together.log_ties[i] == pytest.approx(alone.log_ties, abs=1e-9)
    assert list(together.is_penalised) == [False, False, True, False, True]
    assert together.log_ties[3] == -np.inf


def test_extreme_counts_converge():
    games = Games(3, np.array([0, 1, 0]), np.array([1, 2, 2]))

    fitted = fit(games, np.array([[1e6, 0, 1], [1e6, 0, 1], [10, 0, 1]]), ties=False)

    expected = np.log(1e6)
    assert fitted.strengths[0] - fitted.strengths[1] == pytest.approx(expected, abs=1)
    shares = probabilities(games, fitted)
    assert np.isfinite(shares).all()
