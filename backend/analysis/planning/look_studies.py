"""Simulated studies at each look of a plan, and where they stop.

Evaluators' shares are beta-binomial, exposures normal, with the means and the variances of a `Spread`; where
evaluators judge several models, values are normal, and so is what evaluators add to strengths of a
tournament. Pictures that evaluators share move all values of a model, and a study estimates their variance
with the noise of single answers, as in `power.py`. Each look has the interval and the test that scores print,
at the look's level. What is not known of the population (a pilot's variances) is sampled for each study.
"""

import math
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from itertools import combinations, cycle

import numpy as np

from backend.analysis.comparisons.repeated import degrees
from backend.analysis.distributions.inference import (
    Component,
    holm_of_rows,
    reaches,
    share_variances,
    simultaneous,
    t_below,
    t_quantile,
    third_of_share,
    two_sided_p,
    wilson,
)
from backend.analysis.planning.family_errors import family_errors
from backend.analysis.planning.looks import FUTILE_BELOW, LookPlan
from backend.analysis.planning.power import SEMICIRCLE, critical, df_of_pictures
from backend.analysis.planning.spread import Spread
from backend.experiment.model_groups import model_groups
from backend.experiment.planned_looks import ALL_PAIRS, EQUAL_WITHIN, FUTILITY, HALF_WIDTH, NEIGHBOURS, RANKS

STUDIES = 4000
_SEED = 20
_REALS, _FAKES = 0, 1


@dataclass(frozen=True)
class Stopped:
    """Where simulated studies stopped."""

    evaluators: np.ndarray
    """Evaluators of each model: shape (studies, models)."""
    reached: np.ndarray
    """Pairs, or with half-widths and ranks models, that reached the aim: shape (studies, pairs or models)."""
    wrong: np.ndarray
    """Whether something false was shown: a difference between equal models, equality of models that differ by
    the margin or more, a range of ranks without the true one. Shape (studies,)."""
    covers: np.ndarray
    """Whether the interval of a score contains it: shape (studies, models)."""
    difference: np.ndarray
    """Of each pair, the first model's score less the second's: shape (studies, pairs), as are the
    following."""
    pair_covers: np.ndarray
    """Whether the interval of the difference, without regard to looks, contains it."""
    repeated_covers: np.ndarray
    """The same of the interval at the level of the look."""


class Studies:
    """Simulated studies at each look: arrays of shape (looks, studies, models), in the score's unit."""

    def __init__(self, spreads: Sequence[Spread], plan: LookPlan, size: int = STUDIES):
        self.spreads, self.plan, self.size, self.first = spreads, plan, size, spreads[-1]
        self.scores = np.array([spread.score for spread in spreads])
        self.counts = np.array(plan.looks, float)
        self.i, self.j = np.array([*combinations(range(len(spreads)), 2)]).T
        self.at_once = min(self.first.models, len(spreads))
        self.is_tournament = self.first.scale == "log-odds"
        self.errors = family_errors(plan, len(spreads), is_tukey=self.at_once == 1)
        rng = np.random.default_rng(_SEED)
        first = self.first
        self._wider = first.df / rng.chisquare(first.df, size)
        self._pictures = rng.chisquare(first.of_picture_df, size) / first.of_picture_df
        reals = rng.standard_normal(size)
        if self.at_once > 1:
            self.looks = self._of_shared(reals, rng)
            return
        each = [self._model(spread, reals, rng) for spread in spreads]
        self.looks = np.array([np.stack(columns, axis=-1) for columns in zip(*each, strict=True)])

    def _model(self, spread: Spread, reals: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
        """Return what studies find for a model at each look: arrays of shape (looks, studies)."""
        sides, middle = self._middle(spread, reals, rng)
        values = self._values(spread, middle, np.add(*sides), rng)
        at = np.array(self.plan.looks) - 1
        sums = [np.cumsum(values**power, axis=1)[:, at].T for power in (1, 2, 3)]
        return (*self._of_people(sums), *self._of_pictures(spread, sides, rng))

    def _middle(
        self, spread: Spread, reals: np.ndarray, rng: np.random.Generator
    ) -> tuple[list[np.ndarray], np.ndarray]:
        """Return the variances that both sides' pictures add to a score, and the score with pictures."""
        shares = zip(spread.weights, spread.pictures, strict=True)
        sides = [spread.of_picture * weight / size * self._pictures for weight, size in shares]
        fakes = np.sqrt(sides[_FAKES]) * rng.standard_normal(self.size)
        return sides, spread.score + np.sqrt(sides[_REALS]) * reals + fakes

    def _of_people(self, sums: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return means, their variances and their third cumulants from the sums of values, squares, cubes."""
        n = self.counts[:, None]
        means, squares, cubes = (each / n for each in sums)
        variance = np.maximum(squares - means**2, 0.0) * n / (n - 1)
        third = (cubes - 3 * means * squares + 2 * means**3) * n / (n - 1)
        return means, variance / n, third / n**2

    def _of_pictures(
        self, spread: Spread, sides: Sequence[np.ndarray], rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return what studies find that pictures add: reals of one model, fakes, all together; and its df."""
        n, shown = self.counts[:, None], spread.shown(spread.images)
        found, noises, seen = [], [], []
        for side, true in enumerate(sides):
            size = spread.pictures[side]
            count = np.minimum(size, np.maximum(2.0, n * shown[side]))
            noise = spread.of_side(side, spread.images) * np.sqrt(2 / size / n / (n - 1))
            if self.is_tournament:  # the pictures of opponents add to it
                noise = noise * math.sqrt(spread.models / (spread.models - 1))
            last = float(count[-1, 0]) - 1
            chance = rng.chisquare(last, self.size) / last
            found.append(true * chance + noise * rng.standard_normal(self.size))
            noises.append(noise)
            seen.append(count)
        if self.is_tournament:  # as in `power.py`: of all strengths' covariance the positive part counts
            reach = noises[_FAKES] * math.sqrt(2 * max(spread.models - 2, 0))
            eigenvalues = found[_FAKES][..., None] + reach[..., None] * SEMICIRCLE
            fakes = np.maximum(eigenvalues, 0.0).mean(axis=-1)
            df = np.maximum(2 * df_of_pictures(fakes, seen[_FAKES], noises[_FAKES]), 1.0)
            return np.zeros_like(fakes), fakes, fakes, df
        both = np.maximum(found[_REALS] + found[_FAKES], 0.0)
        df = df_of_pictures(both, seen[_REALS] + seen[_FAKES], np.hypot(*noises))
        noise = noises[_REALS] / math.sqrt(2) * rng.standard_normal(self.size)
        common = np.maximum(sides[_REALS] + noise, 0.0)
        real = np.maximum(found[_REALS] - common, 0.0)
        return real, np.maximum(found[_FAKES], 0.0), both, df

    def _of_shared(self, reals: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return what studies find whose evaluators judge several models, as `looks` has it.

        `between` is what evaluators add to the variance of each difference, `between_df` its df.
        """
        middles = [self._middle(spread, reals, rng) for spread in self.spreads]
        place = self._places()
        people, models = place.shape
        values = np.empty((self.size, people, models))
        common = rng.standard_normal((self.size, people))
        for m, (spread, (sides, middle)) in enumerate(zip(self.spreads, middles, strict=True)):
            between = np.maximum(spread.observed * self._wider - spread.sampled, 0.0)
            shared = (spread.alike or 0.0) * between + spread.of_side(_REALS, spread.images) - sides[_REALS]
            alone = (1 - (spread.alike or 0.0)) * between + spread.of_side(_FAKES, spread.images)
            if self.is_tournament:
                shared, alone = np.zeros(self.size), between + spread.sampling(spread.images)
            sds = np.sqrt(np.maximum([shared, alone - sides[_FAKES]], 0.0))[:, :, None]
            own = rng.standard_normal((self.size, people))
            values[:, :, m] = middle[:, None] + sds[0] * common + sds[1] * own
        if self.is_tournament:
            values -= values.mean(axis=2, keepdims=True)
        sums: list[list[np.ndarray]] = [[], [], []]
        between_models, dfs = [], []
        for n in self.plan.looks:
            used = place < n
            for power, total in enumerate(sums, 1):
                total.append((np.where(used, values, 0.0) ** power).sum(axis=1))
            means = sums[0][-1] / n
            apart = np.where(used, values - means[:, None], 0.0) / math.sqrt(n * (n - 1))
            covariance = np.swapaxes(apart, 1, 2) @ apart
            own = np.diagonal(covariance, axis1=1, axis2=2)
            i, j = self.i, self.j
            between_models.append(own[:, i] + own[:, j] - 2 * covariance[:, i, j])
            counts = used.astype(float).T @ used
            dfs.append(degrees(covariance.mean(axis=0), counts, i, j))
        self.between, self.between_df = np.array(between_models), np.array(dfs)
        each = [
            (*self._of_people([np.array(total)[:, :, m] for total in sums]),
             *self._of_pictures(spread, sides, rng))
            for m, (spread, (sides, _)) in enumerate(zip(self.spreads, middles, strict=True))
        ]  # fmt: skip
        return np.array([np.stack(columns, axis=-1) for columns in zip(*each, strict=True)])

    def _places(self) -> np.ndarray:
        """Return which one of a model's evaluators each is, from 0: shape (evaluators, models).

        It is the number of looks' evaluators or more for one who did not judge the model.
        """
        last, models = self.plan.looks[-1], len(self.spreads)
        names = tuple(map(str, range(models)))
        rows: list[np.ndarray] = []
        seen = np.zeros(models, int)
        for group in cycle(model_groups(names, self.at_once, last)):
            if seen.min() >= last:
                return np.array(rows)
            row, mine = np.full(models, last), np.array([int(name) for name in group])
            row[mine] = seen[mine]
            seen[mine] += 1
            rows.append(row)
        raise AssertionError("there is no group of models")

    def finds(self, reached: np.ndarray) -> np.ndarray:
        """Return which studies find the first model's difference, or its rank: shape (studies,)."""
        if self.plan.aim.pairs == NEIGHBOURS:
            return np.asarray(reached[:, self.i == 0].any(axis=1))
        return reached[:, 0]

    def moved(self, difference: float) -> "Studies":
        """Return the same studies with the first score `difference` above the second."""
        moved = copy(self)
        moved.looks, moved.scores = self.looks.copy(), self.scores.copy()
        shift = self.scores[1] + difference - self.scores[0]
        moved.looks[0, :, :, 0] += shift
        moved.scores[0] += shift
        return moved

    def _values(
        self, spread: Spread, middle: np.ndarray, pictures: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        """Return values of evaluators, shape (studies, evaluators), whose means are `middle`."""
        size, unit = (self.size, self.plan.looks[-1]), spread.unit
        between = np.maximum(spread.observed * self._wider - spread.sampled, 0.0)
        variance = np.maximum(between + spread.sampling(spread.images) - pictures, 0.0) / unit**2
        if not spread.is_share:
            values: np.ndarray = middle[:, None] + np.sqrt(variance)[:, None] * rng.standard_normal(size)
            return values
        k, share = round(spread.images), np.clip(middle / unit, 0.002, 0.998)
        whole = share * (1 - share)
        own = np.clip((variance - whole / k) / (1 - 1 / k), 1e-6 * whole, 0.95 * whole)
        shape = (whole / own - 1)[:, None]
        rates = rng.beta(share[:, None] * shape, (1 - share)[:, None] * shape, size)
        return unit / k * rng.binomial(k, rates).astype(float)

    def stopped(self) -> Stopped:
        """Return where the studies stop."""
        return self._outcome(*self._stops())

    def reached(self) -> np.ndarray:
        """Return `Stopped.reached`."""
        return self._stops()[2]

    def _stops(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the look of each model, that of the end, what reached the aim, and pairs apart (ranks)."""
        aim, last = self.plan.aim, len(self.counts) - 1
        models = len(self.spreads)
        may_drop = self.at_once == 1 and models > 2 and aim.kind != EQUAL_WITHIN
        frozen = np.full((self.size, models), last)
        pairs = np.zeros((self.size, len(self.i)), bool)
        closed, apart = pairs.copy(), pairs.copy()
        done = np.zeros((self.size, models), bool)
        end, is_open = np.full(self.size, last), np.ones(self.size, bool)
        for look in range(last + 1):
            at = np.minimum(frozen, look)
            if aim.is_of_models:
                if aim.kind == RANKS:
                    apart |= self._reached(at, look) & is_open[:, None]
                    best, worst = self._ranks(apart, at)
                    reaches_it = worst - best < (aim.number or 1)
                else:
                    reaches_it = self._is_narrow(at)
                done |= reaches_it & is_open[:, None]
                over = is_open & done.all(axis=1)
                leaves = done & (self.at_once == 1)
            else:
                counts = self._counts_of(at)
                new = self._reached(at, look) & is_open[:, None] & counts
                pairs |= new
                closed |= new
                if aim.kind == FUTILITY:
                    closed |= self._is_futile(at, look) & is_open[:, None] & ~pairs
                over = is_open & (closed | ~counts).all(axis=1)
                leaves = self._is_done(closed, counts) & may_drop
            frozen = np.where((leaves | over[:, None]) & is_open[:, None], np.minimum(frozen, look), frozen)
            end[over] = look
            is_open &= ~over
        return frozen, end, done if aim.is_of_models else pairs, apart

    def _ranks(self, apart: np.ndarray, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the best and the worst rank that the pairs that are `apart` allow: (studies, models)."""
        means, models = self._at(at)[0], len(self.spreads)
        is_ahead = means[:, self.i] > means[:, self.j]
        best, worst = np.ones((self.size, models), int), np.full((self.size, models), models)
        for pair, (a, b) in enumerate(zip(self.i, self.j, strict=True)):
            first, second = apart[:, pair] & is_ahead[:, pair], apart[:, pair] & ~is_ahead[:, pair]
            worst[:, a] -= first
            best[:, b] += first
            worst[:, b] -= second
            best[:, a] += second
        return best, worst

    def _counts_of(self, at: np.ndarray) -> np.ndarray:
        """Return which pairs the aim is about: shape (studies, pairs)."""
        pairs, size = self.plan.aim.pairs, (self.size, len(self.i))
        if pairs == ALL_PAIRS:
            return np.ones(size, bool)
        if pairs != NEIGHBOURS:  # those of the first model, whatever its name
            return np.broadcast_to(self.i == 0, size)
        rank = self._at(at)[0].argsort(axis=1).argsort(axis=1)
        are_next: np.ndarray = np.abs(rank[:, self.i] - rank[:, self.j]) == 1
        return are_next

    def _is_done(self, closed: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Return whether all of a model's own pairs are closed: (studies, models)."""
        rest = ~closed & counts
        models = range(len(self.spreads))
        return np.stack([~rest[:, (self.i == m) | (self.j == m)].any(axis=1) for m in models], axis=1)

    def _at(self, at: np.ndarray) -> np.ndarray:
        """Return what is found of each model at its own look: shape (quantities, studies, models)."""
        return np.take_along_axis(self.looks, at[None, None], axis=1)[:, 0]

    def differences(self, at: np.ndarray, planned: bool = False) -> tuple[np.ndarray, Component]:
        """Return the differences of pairs and their components; or those that the last look will have.

        Args:
            planned: whether evaluators' variances are those of the planned number.
        """
        means, people, _, reals, fakes, _, df = self._at(at)
        n, i, j = self.counts[at], self.i, self.j
        difference = means[:, i] - means[:, j]
        pictures = Component(reals, df) + Component(fakes, df)
        if self.at_once == 1:
            if planned:
                people, n = people * n / self.counts[-1], np.full_like(n, self.counts[-1])
            return difference, self._of_pairs(Component(people, n - 1) + pictures)
        look = at[:, 0]  # of all models
        between, of_people, n = self.between[look, np.arange(self.size)], self.between_df[look], n[:, :1]
        if planned:
            between, people = between * n / self.counts[-1], people * n / self.counts[-1]
            of_people, n = self.between_df[-1], np.full_like(n, self.counts[-1])
        both = Component(between, of_people) + self._of_pairs(pictures)
        if self.is_tournament:  # has one df, that of all strengths together
            total, added = (each.sum(axis=1, keepdims=True) for each in (people, pictures.variance))
            of_pictures = Component((1 - self.first.centred) * added, pictures.df.mean(axis=1, keepdims=True))
            both = Component(both.variance, (Component(total, n - 1) + of_pictures).df)
        return difference, both

    def _of_pairs(self, each: Component) -> Component:
        """Return the components of the differences of pairs from those of scores: shape (studies, pairs)."""
        i, j = (Component(each.variance[:, models], each.df[:, models]) for models in (self.i, self.j))
        return i + j

    def _is_narrow(self, at: np.ndarray) -> np.ndarray:
        low, high = self._interval(at)
        widest = np.array([self.plan.widest(look) for look in range(len(self.counts))])
        result: np.ndarray = (high - low) / 2 <= widest[at]
        return result

    def _reached(self, at: np.ndarray, look: int) -> np.ndarray:
        """Return which pairs are shown to differ, or to be equal: shape (studies, pairs)."""
        aim, error = self.plan.aim, float(self.errors[look])
        apart, both = self.differences(at)
        root = np.sqrt(np.maximum(both.variance, 1e-12))
        if aim.kind == EQUAL_WITHIN:
            return holm_of_rows(t_below((np.abs(apart) - (aim.number or 0.0)) / root, both.df)) < error
        if self.at_once > 1:
            return holm_of_rows(two_sided_p(apart / root, both.df)) < error
        is_apart: np.ndarray = np.abs(apart) > critical(1 - error, len(self.spreads), both.df) * root
        return is_apart

    def _is_futile(self, at: np.ndarray, look: int) -> np.ndarray:
        """Return which pairs would hardly be found to differ if they did (Lan, Simon and Halperin, 1982)."""
        apart, now = self.differences(at)
        later, error = self.differences(at, planned=True)[1], float(self.errors[-1])
        bar = (
            t_quantile(later.df, simultaneous(1 - error, len(self.i)))
            if self.at_once > 1
            else critical(1 - error, len(self.spreads), later.df)
        )
        variances = np.maximum(now.variance, 1e-12), np.maximum(later.variance, 1e-12)
        return conditional_power(np.abs(apart), *variances, self.plan.aim.number or 0.0, bar) < FUTILE_BELOW

    def _interval(self, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends of the intervals of scores, as `power.width` has them."""
        means, people, third, _, _, pictures, df = self._at(at)
        n, unit, level, first = self.counts[at], self.first.unit, self.plan.level, self.first
        if not first.is_share:
            lost = 1 - first.centred if self.is_tournament else 1.0
            parts = ((people, n - 1), (lost * pictures, df))
            halves = (t_quantile(of, level) * np.sqrt(variance) for variance, of in parts)
            half = first.stretch * np.hypot(*halves)
            return means - half, means + half
        responses = n * round(first.images)
        share = np.clip(means / unit, 0.5 / responses, 1 - 0.5 / responses)
        variances, dfs = share_variances(share, people / unit**2, n - 1, responses, pictures / unit**2, df)
        thirds = np.stack(
            [third_of_share(share, people / unit**2, third / unit**3, responses), np.zeros_like(third)]
        )
        below, above = reaches(t_quantile(dfs, level), variances, thirds)
        low = wilson(share, variances, below, responses)[0].min(axis=0)
        return unit * low, unit * wilson(share, variances, above, responses)[1].max(axis=0)

    def _outcome(
        self, frozen: np.ndarray, end: np.ndarray, reached: np.ndarray, ahead: np.ndarray
    ) -> Stopped:
        scores = self.scores - (self.scores.mean() if self.is_tournament else 0.0)
        low, high = self._interval(frozen)
        apart, both = self.differences(frozen)
        true = scores[self.i] - scores[self.j]
        error = np.abs(apart - true) / np.sqrt(np.maximum(both.variance, 1e-12))
        at = np.minimum(np.maximum(frozen[:, self.i], frozen[:, self.j]), end[:, None])
        repeated = np.empty_like(error)
        for look, nominal in enumerate(self.errors):
            here = at == look
            repeated[here] = t_quantile(np.broadcast_to(both.df, error.shape)[here], 1 - nominal)
        return Stopped(
            self.counts[frozen],
            reached,
            self._wrong(frozen, reached, ahead),
            (low <= scores) & (scores <= high),
            apart,
            error <= t_quantile(both.df, self.plan.level),
            error <= repeated,
        )

    def _wrong(self, frozen: np.ndarray, reached: np.ndarray, ahead: np.ndarray) -> np.ndarray:
        """Return in which studies something false is shown."""
        true, aim = self.scores[self.i] - self.scores[self.j], self.plan.aim
        if aim.kind == HALF_WIDTH:
            return np.zeros(self.size, bool)
        if aim.kind == RANKS:  # a model is said to be ahead of one as good, or of a better one
            false = ahead & (np.sign(self.differences(frozen)[0]) != np.sign(true))
        elif aim.kind == EQUAL_WITHIN:
            false = reached & (np.abs(true) >= (aim.number or 0.0) * (1 - 1e-9))
        else:
            false = reached & (np.abs(true) < 1e-9)
        return np.asarray(false.any(axis=1))


def conditional_power(
    size: np.ndarray, now: np.ndarray, later: np.ndarray, difference: float, bar: np.ndarray
) -> np.ndarray:
    """Return the probability that a difference will be found at the last look, if it is `difference`.

    Args:
        size: its estimate now, without sign.
        now, later: variances of the estimates now and at the last look.
        bar: critical value at the last look.
    """
    information, final = 1 / now, 1 / later
    rest = np.maximum(final - information, 1e-12 * final)
    drift = size * information + difference * rest - bar * np.sqrt(final)
    result: np.ndarray = t_below(drift / np.sqrt(rest), np.inf)
    return result
