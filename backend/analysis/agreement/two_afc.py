"""2AFC: how often a metric agrees with people on which of two pictures is closer to a reference.

The formulas are those of Zhang et al. (2018, section 4 and appendix A) and of their published code: with a
share p of votes for `p1`, a metric that finds `p1` closer earns p, one that finds `p0` closer 1 - p, and
equal distances earn 1/2. A human who votes like the others earns p^2 + (1 - p)^2, an oracle that always
takes the majority's side max(p, 1 - p).

From n votes, p^2 + (1 - p)^2 is too high by 2 p (1 - p) / n on average, since a vote always agrees with
itself: of k votes for `p1`, the share of ordered pairs of *different* votes that agree,
[k (k - 1) + (n - k)(n - k - 1)] / [n (n - 1)], is free of bias.
"""

import numpy as np


def credit(d0: np.ndarray, d1: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Return what a metric earns on each item (0 to 1).

    Args:
        d0, d1: shape (items,), distances of `p0` and `p1` from the reference; finite.
        share: shape (items,), share of votes that prefer `p1`; or single votes, 0 or 1.
    """
    return np.where(d0 < d1, 1 - share, np.where(d1 < d0, share, 0.5))


def as_printed(share: np.ndarray) -> np.ndarray:
    """Return p^2 + (1 - p)^2 of each item, the human ceiling as the paper prints it; biased upwards."""
    result: np.ndarray = share**2 + (1 - share) ** 2
    return result


def unbiased(votes_for: np.ndarray, votes: np.ndarray) -> np.ndarray:
    """Return the share of pairs of different votes on each item that agree; NaN for fewer than two votes.

    Args:
        votes_for: shape (items,), k, the votes for `p1`.
        votes: shape (items,), n, all votes.
    """
    against = votes - votes_for
    pairs = (votes * (votes - 1)).astype(float)
    agreeing = votes_for * (votes_for - 1) + against * (against - 1)
    result: np.ndarray = np.divide(agreeing, pairs, out=np.full(len(pairs), np.nan), where=pairs > 0)
    return result


def oracle(share: np.ndarray) -> np.ndarray:
    """Return max(p, 1 - p) of each item, what no metric can exceed on these votes."""
    result: np.ndarray = np.maximum(share, 1 - share)
    return result


def score(d0: np.ndarray, d1: np.ndarray, share: np.ndarray) -> float:
    """Return the 2AFC score of a metric (0 to 1): the mean over items of `credit`."""
    return float(credit(d0, d1, share).mean())
