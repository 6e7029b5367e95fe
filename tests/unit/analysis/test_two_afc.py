"""2AFC scores and human ceilings, worked by hand."""

from itertools import permutations

import numpy as np
import pytest

from backend.analysis.agreement import two_afc


def test_a_metric_earns_the_share_of_votes_for_the_one_it_finds_closer():
    # p0 closer: 1 - 0.8; p1 closer: 0.8; equal: 1/2, whatever the votes; unanimous: 1 and 0
    d0, d1 = np.array([1.0, 3, 2, 0, 5]), np.array([2.0, 1, 2, 1, 4])
    share = np.array([0.8, 0.8, 0.8, 0.0, 0.0])

    assert two_afc.credit(d0, d1, share) == pytest.approx([0.2, 0.8, 0.5, 1, 0])
    assert two_afc.score(d0, d1, share) == pytest.approx(2.5 / 5)


def test_the_paper_s_example_four_of_five_votes():
    # "if there are 4 preferences for x0 and 1 for x1, an algorithm which predicts the more popular choice x0
    # would receive 80% credit"; p = 0.2: 0.04 + 0.64 (Zhang et al., 2018, section 4)
    share = np.array([0.2])

    assert two_afc.score(np.array([0.1]), np.array([0.9]), share) == pytest.approx(0.8)
    assert two_afc.as_printed(share) == pytest.approx([0.68])
    assert two_afc.oracle(share) == pytest.approx([0.8])


def test_fractional_shares_of_any_number_of_votes_are_taken_as_they_are():
    # thirds, in the middle, and both ends
    share = np.array([1 / 3, 2 / 3, 0.5])

    assert two_afc.as_printed(share) == pytest.approx([5 / 9, 5 / 9, 1 / 2])
    assert two_afc.oracle(share) == pytest.approx([2 / 3, 2 / 3, 1 / 2])


@pytest.mark.parametrize(("votes_for", "votes"), [(1, 5), (2, 5), (0, 3), (1, 2), (3, 4)])
def test_the_unbiased_ceiling_counts_pairs_of_different_votes(votes_for, votes):
    cast = [1] * votes_for + [0] * (votes - votes_for)
    pairs = list(permutations(cast, 2))

    found = two_afc.unbiased(np.array([votes_for]), np.array([votes]))

    assert found == pytest.approx([sum(a == b for a, b in pairs) / len(pairs)])


def test_the_unbiased_ceiling_of_votes_with_a_known_share_is_right_on_average():
    # of every outcome of 5 votes with p = 0.3: E = p^2 + (1 - p)^2 = 0.58; as printed 0.58 + 2 * 0.21 / 5
    from scipy.stats import binom

    k = np.arange(6)
    chance = binom.pmf(k, 5, 0.3)

    assert chance @ two_afc.unbiased(k, np.full(6, 5)) == pytest.approx(0.58)
    assert chance @ two_afc.as_printed(k / 5) == pytest.approx(0.58 + 2 * 0.3 * 0.7 / 5)


def test_one_vote_says_nothing_of_agreement():
    assert np.isnan(two_afc.unbiased(np.array([1, 0]), np.array([1, 0]))).all()
