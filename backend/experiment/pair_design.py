"""Which pairs of contestants a session of a tournament shows, and on which side each one stands.

Every contestant appears equally often in a session, within one. Among the pairs that this leaves open, those
come first that connect groups of contestants without any answer between them: with equal appearances that
makes a cyclic design, each contestant against the next, which spans all. Then comes the pair whose answer is
expected to lower the variances of all differences, in sum, most: |Σa - Σb|² w / (1 + vw), where Σ is the
covariance of the strengths given all answers so far and the pairs already chosen, v the variance of the
pair's own difference by it, and w = pq the information of an answer (an A-optimal design, built one answer at
a time). So pairs that are uncertain and close are preferred to pairs of which one is sure to win.

The information is that of the closest difference within two standard errors of the estimated one: only
pairs that are surely uneven are put off. With the estimates as they are, contestants who were lucky would
meet each other only, and maximum likelihood would drive the two ends apart (validate/tournaments.py compares
the rules).

Strengths and variances are those of the answers so far with a weak prior (half a win and half a loss against
the mean, as where maximum likelihood has no finite maximum). No numpy: a session is planned where there is
none.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import exp, log, sqrt
from operator import mul
from typing import TYPE_CHECKING

from backend.foundation.frozen import dataclass

if TYPE_CHECKING:
    from random import Random

Pair = tuple[int, int]
"""Two contestants, the smaller index first."""
_PRIOR = 0.5
_ROUNDS, _ENOUGH = 60, 1e-4
_SMALL = 1e-12
_ERRORS = 2
"""Standard errors by which two contestants may be closer than estimated."""


@dataclass(frozen=True)
class Tally:
    """Answers so far to one pair."""

    first: float = 0
    """Answers for the contestant that comes first."""
    ties: float = 0
    second: float = 0

    @property
    def answers(self) -> float:
        """All answers to the pair."""
        return self.first + self.ties + self.second


@dataclass(frozen=True)
class Strengths:
    """What is known of the contestants when a session is planned."""

    size: int
    answers: Mapping[Pair, float]
    """Number of answers by pair."""
    strengths: Sequence[float]
    """In log-odds."""
    covariance: Sequence[Sequence[float]]
    """Of the strengths."""


def standing(size: int, tallies: Mapping[Pair, Tally]) -> Strengths:
    """Return strengths and their covariance, ties counted as half a win of each."""
    met: list[list[tuple[int, float]]] = [[] for _ in range(size)]
    wins = [_PRIOR] * size
    for (a, b), tally in tallies.items():
        if tally.answers:
            met[a].append((b, tally.answers))
            met[b].append((a, tally.answers))
            wins[a] += tally.first + tally.ties / 2
            wins[b] += tally.second + tally.ties / 2
    worth = _worths(met, wins)
    rows = [[0.0] * size for _ in range(size)]
    for a, others in enumerate(met):
        own = worth[a] / (1 + worth[a])
        rows[a][a] += 2 * _PRIOR * own * (1 - own)
        for b, answers in others:
            share = worth[a] / (worth[a] + worth[b])
            of_pair = answers * share * (1 - share)
            rows[a][a] += of_pair
            rows[a][b] -= of_pair
    return Strengths(
        size,
        {pair: tally.answers for pair, tally in tallies.items()},
        [log(one) for one in worth],
        inverse(rows),
    )


def _worths(met: Sequence[Sequence[tuple[int, float]]], wins: Sequence[float]) -> list[float]:
    """Return exp(strength) by the iteration of Zermelo (Hunter 2004), against a prior opponent of worth 1."""
    worth = [1.0] * len(met)
    for _ in range(_ROUNDS):
        largest = 1.0
        for a, others in enumerate(met):
            mine = worth[a]
            expected = 2 * _PRIOR / (mine + 1) + sum(n / (mine + worth[b]) for b, n in others)
            after = wins[a] / expected
            largest = max(largest, after / mine, mine / after)
            worth[a] = after
        if largest < 1 + _ENOUGH:
            break
    return worth


def inverse(rows: Sequence[Sequence[float]]) -> list[list[float]]:
    """Return the inverse of a symmetric positive definite matrix, by Gauss and Jordan."""
    size = len(rows)
    left = [[*row, *(float(i == j) for j in range(size))] for i, row in enumerate(rows)]
    for i in range(size):
        pivot = left[i][i]
        row = left[i] = [value / pivot for value in left[i]]
        for j in range(size):
            factor = left[j][i]
            if j != i and factor:
                left[j] = [value - factor * own for value, own in zip(left[j], row, strict=True)]
    return [row[size:] for row in left]


def session_pairs(
    now: Strengths, trials: int, rng: "Random", appearances: Sequence[float] | None = None
) -> list[Pair]:
    """Return the pairs of one session, in the order in which they were chosen.

    Args:
        appearances: how often each contestant appeared in answers before; who appeared least gets one more
            where the trials do not come out even.
    """
    return _Choice(now, rng, appearances or [0] * now.size).pairs(trials)


class _Choice:
    """Chooses the pairs of a session one after the other."""

    def __init__(self, now: Strengths, rng: "Random", appearances: Sequence[float]):
        self.now, self.rng = now, rng
        self.before = [(count, rng.random()) for count in appearances]
        self.covariance = [[*row] for row in now.covariance]
        self.squared = [[sum(map(mul, row, column)) for column in self.covariance] for row in self.covariance]
        self.seen = [0] * now.size
        self.group = [*range(now.size)]
        for (a, b), answers in now.answers.items():
            if answers:
                self._join(a, b)
        pairs = [(a, b) for a in range(now.size) for b in range(a + 1, now.size)]
        self.luck = {pair: rng.random() for pair in pairs}
        self.information = {pair: self._information(*pair) for pair in pairs}

    def pairs(self, trials: int) -> list[Pair]:
        chosen = []
        for left in range(trials, 0, -1):
            pair = max(self._open(left), key=self._gain)
            chosen.append(pair)
            for one in pair:
                self.seen[one] += 1
            self._join(*pair)
            self._learn(pair)
        return chosen

    def _open(self, left: int) -> list[Pair]:
        """Return the pairs that keep appearances equal: of those who appeared least in this session.

        In the last, incomplete round these are the ones who appeared least before.
        """
        fewest = min(self.seen)
        due = [one for one, seen in enumerate(self.seen) if seen == fewest]
        if len(due) == 1:
            return [(min(due[0], one), max(due[0], one)) for one in range(self.now.size) if one != due[0]]
        if 2 * left < len(due):
            due = sorted(sorted(due, key=lambda one: self.before[one])[: 2 * left])
        return [(a, b) for place, a in enumerate(due) for b in due[place + 1 :]]

    def _gain(self, pair: Pair) -> tuple[bool, float, float]:
        a, b = pair
        information = self.information[pair]
        lowered = information / (1 + information * _of_difference(self.covariance, a, b))
        gain = lowered * _of_difference(self.squared, a, b)
        return self.group[a] != self.group[b], gain, self.luck[pair]

    def _information(self, a: int, b: int) -> float:
        """Return pq at the smallest difference that the answers so far leave possible."""
        error = sqrt(max(_of_difference(self.now.covariance, a, b), 0.0))
        least = max(abs(self.now.strengths[a] - self.now.strengths[b]) - _ERRORS * error, 0.0)
        share = 1 / (1 + exp(min(least, 700.0)))
        return max(share * (1 - share), _SMALL)

    def _join(self, a: int, b: int) -> None:
        one, other = self.group[a], self.group[b]
        if one != other:
            self.group = [one if group == other else group for group in self.group]

    def _learn(self, pair: Pair) -> None:
        """Change the covariance Σ, and its square, as one more answer to a pair will.

        Σ becomes Σ - s u u', with u = Σa - Σb (Sherman and Morrison 1950), so that Σ² becomes
        Σ² - s (Σu u' + u (Σu)') + s² (u'u) u u'.
        """
        a, b = pair
        information = self.information[pair]
        scale = information / (1 + information * _of_difference(self.covariance, a, b))
        along = [one - other for one, other in zip(self.covariance[a], self.covariance[b], strict=True)]
        beyond = [one - other for one, other in zip(self.squared[a], self.squared[b], strict=True)]
        twice = scale * sum(one * one for one in along)
        for i, (weight, further) in enumerate(zip(along, beyond, strict=True)):
            x, y, z = scale * weight, scale * further, scale * weight * twice
            self.covariance[i] = [
                value - x * own for value, own in zip(self.covariance[i], along, strict=True)
            ]
            self.squared[i] = [
                value - x * far - y * own + z * own
                for value, own, far in zip(self.squared[i], along, beyond, strict=True)
            ]


def _of_difference(rows: Sequence[Sequence[float]], a: int, b: int) -> float:
    """Return (e_a - e_b)' M (e_a - e_b) of a symmetric matrix M."""
    return rows[a][a] + rows[b][b] - 2 * rows[a][b]


def sided(pairs: Sequence[Pair], rng: "Random") -> list[Pair]:
    """Return the pairs as (left, right): each contestant as often left as right, within one.

    The pairs are the edges of a graph, which are directed along walks that use each edge once (Hierholzer);
    contestants with an odd number of pairs get one more to an imaginary one. Each walk is turned around by
    the toss of a coin, so that a pair's sides are even whatever the contestants.
    """
    edges = [*pairs]
    degree = Counter(one for pair in pairs for one in pair)
    edges += [(one, -1) for one, count in sorted(degree.items()) if count % 2]
    at: dict[int, list[int]] = {}
    for number, (a, b) in enumerate(edges):
        at.setdefault(a, []).append(number)
        at.setdefault(b, []).append(number)
    for numbers in at.values():
        rng.shuffle(numbers)
    used, directed = [False] * len(edges), [*edges]
    for start in at:
        place, is_turned, walked = start, rng.random() < 0.5, True
        while walked:
            walked = False
            while at[place]:
                number = at[place].pop()
                if used[number]:
                    continue
                a, b = edges[number]
                other = b if place == a else a
                directed[number] = (other, place) if is_turned else (place, other)
                used[number], place, walked = True, other, True
                break
    return directed[: len(pairs)]
