"""The model of Bradley and Terry (1952) with the ties of Davidson (1970), by maximum likelihood.

Contestant i has a strength θ_i, in log-odds. With d = θ_i - θ_j and a tie parameter ν, the probabilities that
i is preferred, that the two are called equal, and that j is preferred are as exp(d/2) : ν : exp(-d/2). Among
decided answers i is preferred with the odds exp(d), whatever ν is. A parameter of the side (Davidson and
Beaver 1977) adds to d the advantage of the contestant on the left.

The log-likelihood is concave, so that Newton's method with halved steps finds its maximum. It is finite if
and only if the contestants cannot be divided into two parts of which one never won or tied against the
other (Ford 1957). Otherwise each contestant gets half a win and half a loss (and half a tie) against a
contestant of strength 0, as in PlackettLuce (Turner et al. 2020): a refusal would withhold a clear result
where a model simply won everything, and half an answer is the least that makes its strength finite. Whoever
uses a fit says so where it `is_penalised`.

Many sets of counts, such as those of a bootstrap, are fitted at once.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

LEFT_WINS, TIE, RIGHT_WINS = 0, 1, 2
"""Outcomes of a pair, in the order of counts."""
_PSEUDO = 0.5  # half a win and half a loss, as in `is_penalised`
_MOST_STEPS, _MOST_HALVINGS = 100, 30
_LARGEST_STEP = 4.0
_TOLERANCE = 1e-10
_LARGEST_EXPONENT = 700.0  # exp(709.8) is the largest float


@dataclass(frozen=True)
class Games:
    """Which contestants met, as indices; each pair (or each pair in its order) is there once."""

    contestants: int
    left: np.ndarray
    right: np.ndarray

    def __len__(self) -> int:
        return len(self.left)


@dataclass(frozen=True)
class Fit:
    """Fitted parameters of one set of counts, or of many (the first axis)."""

    strengths: np.ndarray
    """θ in log-odds; their mean over all contestants is 0."""
    log_ties: np.ndarray
    """log ν; minus infinity where nobody called a pair equal."""
    side: np.ndarray
    """The advantage of the left, in log-odds; 0 if it was not fitted."""
    is_penalised: np.ndarray
    """Whether the maximum would be infinite, so that half a win and half a loss were added."""

    def one(self, index: int) -> "Fit":
        """Return the fit of one set of counts."""
        return Fit(self.strengths[index], self.log_ties[index], self.side[index], self.is_penalised[index])


def components(games: Games, counts: np.ndarray) -> list[list[int]]:
    """Return the groups of contestants that are connected by answers: one if all can be compared."""
    met = np.zeros((games.contestants, games.contestants), bool)
    played = counts.sum(axis=-1) > 0
    met[games.left[played], games.right[played]] = True
    return _groups(_reached(met | met.T))


def unbeaten(games: Games, counts: np.ndarray) -> list[list[int]]:
    """Return the groups of contestants within which strengths are finite, the strongest first.

    One group means that the maximum of the likelihood is finite. Otherwise no member of a later group ever
    won or tied against one of an earlier group, or the two groups never met.
    """
    reached = _reached(_not_lost(games, counts[None])[0])
    groups = _groups(reached & reached.T)
    return sorted(groups, key=lambda group: -int(reached[group[0]].sum()))


def fit(
    games: Games,
    counts: np.ndarray,
    *,
    ties: bool,
    side: bool = False,
    start: np.ndarray | None = None,
) -> Fit:
    """Return the fit of each set of counts.

    Args:
        counts: how often each pair ended in each outcome, of shape (sets, pairs, 3), or (pairs, 3) for one.
        ties: whether evaluators could call a pair equal.
        side: whether to fit the advantage of the left; then half a win and half a loss are always added, to
            the contestants and to the side, since answers can leave both infinite together.
        start: strengths from which to begin; default 0.
    """
    if counts.ndim == 2:
        return fit(games, counts[None], ties=ties, side=side, start=start).one(0)
    total = counts.sum(axis=1)
    undecided = total[:, LEFT_WINS] + total[:, RIGHT_WINS] == 0
    is_penalised = undecided | side | ~_is_strong(games, counts)
    has_ties = ties & ((total[:, TIE] > 0) | is_penalised)
    sets = len(counts)
    begin = np.zeros(games.contestants) if start is None else start
    fitted = Fit(np.zeros((sets, games.contestants)), np.full(sets, -np.inf), np.zeros(sets), is_penalised)
    for penalised in (False, True):
        for tied in (False, True):
            mine = (is_penalised == penalised) & (has_ties == tied)
            if mine.any():
                whole, some = _with_phantom(games, counts[mine], tied) if penalised else (games, counts[mine])
                values = _maximise(whole, some, tied, side, np.append(begin, 0.0) if penalised else begin)
                strengths = values[0][:, : games.contestants]
                fitted.strengths[mine] = strengths - strengths.mean(axis=1, keepdims=True)
                fitted.log_ties[mine], fitted.side[mine] = values[1], values[2]
    return fitted


def probabilities(games: Games, fitted: Fit) -> np.ndarray:
    """Return the probability of each outcome of each pair: (pairs, 3), or (sets, pairs, 3)."""
    strengths = np.atleast_2d(fitted.strengths)
    d = strengths[:, games.left] - strengths[:, games.right] + np.atleast_1d(fitted.side)[:, None]
    shares = _shares(d, np.atleast_1d(fitted.log_ties)[:, None])
    return shares if np.ndim(fitted.log_ties) else shares[0]


def information(games: Games, answers: np.ndarray, fitted: Fit, ties: bool) -> np.ndarray:
    """Return the expected information of θ (and last of log ν, if it is finite) of one fit.

    Args:
        answers: number of answers to each pair.
    """
    has_ties = ties and bool(np.isfinite(fitted.log_ties))
    if not fitted.is_penalised:
        shares = probabilities(games, fitted)[None]
        result: np.ndarray = _curvature(games, answers[None], shares, has_ties, False)[0]
        return result
    counts = np.zeros((1, len(games), 3))
    counts[0, :, LEFT_WINS] = answers  # only their number counts
    more, with_pseudo = _with_phantom(games, counts, has_ties)
    against = replace(fitted, strengths=np.append(fitted.strengths, 0.0))
    shares = probabilities(more, against)[None]
    matrix = _curvature(more, with_pseudo.sum(axis=-1), shares, has_ties, False)[0]
    return np.delete(np.delete(matrix, games.contestants, axis=0), games.contestants, axis=1)


def covariance(games: Games, answers: np.ndarray, fitted: Fit, ties: bool) -> np.ndarray:
    """Return the inverse of the information: the covariance of θ (and log ν) if all answers were independent.

    It is that of strengths whose mean is 0.
    """
    flat = information(games, answers, fitted, ties)
    own = slice(games.contestants)
    flat[own, own] += 1 / games.contestants
    inverse = np.linalg.inv(flat)
    inverse[own, own] -= 1 / games.contestants
    return inverse


def centred(fitted: Fit, reference: np.ndarray) -> Fit:
    """Return a fit whose strengths have a mean of 0 over the contestants `reference` (a mask)."""
    mean = fitted.strengths[..., reference].mean(axis=-1, keepdims=True)
    return replace(fitted, strengths=fitted.strengths - mean)


def _with_phantom(games: Games, counts: np.ndarray, ties: bool) -> tuple[Games, np.ndarray]:
    """Return games and counts with a contestant more, whom everybody beat and lost to half a time."""
    everybody = np.arange(games.contestants)
    more = Games(
        games.contestants + 1,
        np.append(games.left, everybody),
        np.append(games.right, np.full_like(everybody, games.contestants)),
    )
    added = np.full((len(counts), games.contestants, 3), _PSEUDO)
    added[..., TIE] *= ties
    return more, np.concatenate([counts, added], axis=1)


def _maximise(
    games: Games, counts: np.ndarray, ties: bool, side: bool, start: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return strengths, log ν and side that maximise the likelihood of each set of counts."""
    sets, size = len(counts), games.contestants
    values = np.zeros((sets, size + ties + side))
    values[:, :size] = start
    answers = counts.sum(axis=-1)
    height = _log_likelihood(games, counts, values, ties, side)
    left_to_do = np.arange(sets)
    for _ in range(_MOST_STEPS):
        mine, own = values[left_to_do], counts[left_to_do]
        shares = _shares(*_predictors(games, mine, ties, side))
        slope = _slope(games, own, answers[left_to_do], shares, ties, side, mine[:, -1])
        curvature = _curvature(games, answers[left_to_do], shares, ties, side)
        if side:
            curvature[:, -1, -1] += expit(mine[:, -1]) * expit(-mine[:, -1])
        curvature[:, :size, :size] += answers[left_to_do].sum(axis=1)[:, None, None] / size**2
        step = np.linalg.solve(curvature, slope[..., None])[..., 0]
        largest = np.abs(step).max(axis=1)
        step *= np.minimum(1, _LARGEST_STEP / np.maximum(largest, _TOLERANCE))[:, None]
        mine, height[left_to_do] = _climbed(games, own, mine, step, height[left_to_do], ties, side)
        values[left_to_do] = mine
        left_to_do = left_to_do[largest > _TOLERANCE]
        if not len(left_to_do):
            break
    log_ties = values[:, size] if ties else np.full(sets, -np.inf)
    return values[:, :size], log_ties, values[:, -1] if side else np.zeros(sets)


def _climbed(
    games: Games,
    counts: np.ndarray,
    values: np.ndarray,
    step: np.ndarray,
    height: np.ndarray,
    ties: bool,
    side: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """Return values and their likelihoods after a step, halved where it would lead downwards."""
    scale = np.ones(len(values))
    slack = 1e-9 * (1 + np.abs(height))
    for _ in range(_MOST_HALVINGS):
        after = values + scale[:, None] * step
        reached = _log_likelihood(games, counts, after, ties, side)
        is_lower = reached < height - slack
        if not is_lower.any():
            break
        scale[is_lower] /= 2
    return after, reached


def _predictors(
    games: Games, values: np.ndarray, ties: bool, side: bool
) -> tuple[np.ndarray, np.ndarray | float]:
    d = values[:, games.left] - values[:, games.right]
    if side:
        d = d + values[:, -1:]
    return d, values[:, games.contestants, None] if ties else -np.inf


def _shares(d: np.ndarray, log_ties: np.ndarray | float) -> np.ndarray:
    """Return the probabilities of the outcomes, along the last axis."""
    won, lost = np.exp(np.minimum(d, 0)), np.exp(np.minimum(-d, 0))
    tied = np.exp(np.minimum(log_ties - np.abs(d) / 2, _LARGEST_EXPONENT))
    total = won + lost + tied
    return np.stack([won / total, np.broadcast_to(tied / total, d.shape), lost / total], axis=-1)


def _log_likelihood(
    games: Games, counts: np.ndarray, values: np.ndarray, ties: bool, side: bool
) -> np.ndarray:
    d, log_ties = _predictors(games, values, ties, side)
    total = np.logaddexp(d / 2, -d / 2)
    log_likelihood = (counts[..., LEFT_WINS] - counts[..., RIGHT_WINS]) * d / 2
    if ties:
        total = np.logaddexp(total, log_ties)
        log_likelihood = log_likelihood + counts[..., TIE] * log_ties
    height = (log_likelihood - counts.sum(axis=-1) * total).sum(axis=1)
    result: np.ndarray = height - np.logaddexp(values[:, -1] / 2, -values[:, -1] / 2) if side else height
    return result


def _slope(
    games: Games,
    counts: np.ndarray,
    answers: np.ndarray,
    shares: np.ndarray,
    ties: bool,
    side: bool,
    of_side: np.ndarray,
) -> np.ndarray:
    size = games.contestants
    left_over = counts - answers[..., None] * shares
    of_d = (left_over[..., LEFT_WINS] - left_over[..., RIGHT_WINS]) / 2
    slope = np.zeros((len(counts), size + ties + side))
    slope[:, :size] = of_d @ _incidence(games)
    if ties:
        slope[:, size] = left_over[..., TIE].sum(axis=1)
    if side:
        slope[:, -1] = of_d.sum(axis=1) + _PSEUDO - expit(of_side)
    return slope


def _curvature(games: Games, answers: np.ndarray, shares: np.ndarray, ties: bool, side: bool) -> np.ndarray:
    """Return the negative second derivatives of the log-likelihood of each set of counts."""
    size = games.contestants
    of_d, mixed, of_tie = _moments(shares, answers)
    matrices = np.zeros((len(answers), size + ties + side, size + ties + side))
    matrices[:, games.left, games.right] -= of_d
    matrices[:, games.right, games.left] -= of_d
    own = np.arange(size)
    matrices[:, own, own] = -matrices[:, :size, :size].sum(axis=2)
    incidence = _incidence(games)
    if ties:
        matrices[:, size, :size] = matrices[:, :size, size] = mixed @ incidence
        matrices[:, size, size] = of_tie.sum(axis=1)
    if side:
        matrices[:, -1, :size] = matrices[:, :size, -1] = of_d @ incidence
        matrices[:, -1, -1] = of_d.sum(axis=1)
    if ties and side:
        matrices[:, -1, size] = matrices[:, size, -1] = mixed.sum(axis=1)
    return matrices


def _moments(shares: np.ndarray, answers: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the information of each pair: of d, of d with log ν, and of log ν."""
    won, tied, lost = (shares[..., outcome] for outcome in (LEFT_WINS, TIE, RIGHT_WINS))
    return (
        answers * ((won + lost) - (won - lost) ** 2) / 4,
        -answers * tied * (won - lost) / 2,
        answers * tied * (1 - tied),
    )


def _incidence(games: Games) -> np.ndarray:
    found = np.zeros((len(games), games.contestants))
    pairs = np.arange(len(games))
    found[pairs, games.left] = 1
    found[pairs, games.right] = -1
    return found


def _not_lost(games: Games, counts: np.ndarray) -> np.ndarray:
    """Return which contestants ever won or tied against which others: (sets, contestants, contestants)."""
    found = np.zeros((len(counts), games.contestants, games.contestants), bool)
    found[:, games.left, games.right] = counts[..., LEFT_WINS] + counts[..., TIE] > 0
    found[:, games.right, games.left] |= counts[..., RIGHT_WINS] + counts[..., TIE] > 0
    return found


def _is_strong(games: Games, counts: np.ndarray) -> np.ndarray:
    """Return of each set of counts whether its maximum is finite."""
    is_reached = _reached(_not_lost(games, counts))
    return np.asarray(is_reached.all(axis=(-2, -1)))


def _reached(steps: np.ndarray) -> np.ndarray:
    """Return which contestants can be reached from which others, in any number of steps."""
    size = steps.shape[-1]
    reached = (steps | np.eye(size, dtype=bool)).astype(np.float32)
    for _ in range(max(size - 1, 1).bit_length()):
        reached = np.minimum(reached @ reached, 1)
    return reached > 0


def _groups(reached: np.ndarray) -> list[list[int]]:
    found: dict[bytes, list[int]] = {}
    for contestant, row in enumerate(reached):
        found.setdefault(row.tobytes(), []).append(contestant)
    return [*found.values()]
