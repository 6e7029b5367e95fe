"""From what is random to the variance of an estimate, and from that to its interval, p-values and verdicts.

What may be other than it was (evaluators, pictures, items) adds a `Component` to the variance of an estimate.
Components of independent factors are added, their degrees of freedom are Satterthwaite's (1946). That of
evaluators is the variance of the sums of their influences (Cochran, 1977, chapter 6). Evaluators who see
the same stimuli err on the same ones, so that their mean is less precise than their spread suggests (Clark,
1973): a stimulus j adds the products of two evaluators' residuals on it,

    sum_{i != i'} w_ij r_ij w_i'j r_i'j - w_ij w_i'j d,  over n (n - 1),

where w_ij is the weight of the answer in evaluator i's value (1 over the number of answers of i, unless sides
are balanced), r_ij is the answer's error (0 to 1) less the mean error on its side, real or fake, and d is the
mean product of two evaluators' residuals on two *different* stimuli of that side. Subtracting d centres the
products: residuals about a mean of the same answers have a negative covariance even if nothing is shared, so
that the component would be too small by 1 / stimuli. If all evaluators saw different stimuli, it is about 0.

Intervals and tests are Student's. Those of shares are Wilson's (1927), with Student's quantile instead of the
normal one and with the effective sample size: that of a simple random sample with the variance that
evaluators and stimuli show (Korn and Graubard, 1998; Dean and Pagano, 2015). They are asymmetric near 0 and
100%, and remain within them. Evaluators cannot vary less than answers do by chance, so where they seem to,
the variance of independent answers enters too (`least_variance`). `make validate` tests the coverage.

A few evaluators who err far more often than the others make the mean of others like them too low more often
than too high, and its variance too small with it. So on the side of the longer tail an end is farther out, by

    g (1 + 2 q^2) / 4  standard errors,

where q is Student's quantile and g the skewness of the estimate; p-values are of the same interval. The other
end stays. Johnson (1978) has g / 6 for the true skewness, of which few values show part: 20 exponential ones
1.3 of 2, on average. Third cumulants of independent factors are added as variances are. Where errors are
rare, many samples have none of the few who make most of them, and hardly any skewness. So evaluators' shares
are taken to be no less skewed than those of people whose log-odds have a long tail (`third_of_share`).

Every interval and p-value of `analysis` that rests on a variance is formed here, so that it says what is
random in it; `tests/unit/analysis/test_inference.py` lists the modules that call distributions themselves.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import numpy as np
from scipy.special import expit, fdtrc, logit, ndtr, ndtri, stdtr, stdtrit

from backend.analysis.distributions import studentized_range

NEGLIGIBLE = 0.1
"""Share of the variance below which stimuli may be ignored: a test at 5% that uses only 90% of the variance
has a true error rate of 6.3%, P(|z| > 1.96 sqrt(0.9))."""
_ROUNDING = 1e-18
"""Variance of an area up to which it is rounding error."""
_ALL_ALIKE = 1e-12
"""Variance of an answer, p (1 - p), or difference of values, up to which it is rounding error."""

LEAST_PART = 0.5
"""See `least_variance`."""
_SAME = 1e-9
"""Standard error, as a share of the estimate, up to which it is rounding error."""


@dataclass(frozen=True)
class Component:
    """What a random factor, such as evaluators, adds to the variance of an estimate; numbers, or arrays."""

    variance: Any
    df: Any
    """Degrees of freedom; infinite if the variance is known."""
    third: Any = 0.0
    """Third cumulant: the skewness times the variance to the power of 1.5; 0 if it is not known."""

    def __add__(self, other: "Component") -> "Component":
        """Return the component of both factors together; the first one's df if nothing varies."""
        variance = self.variance + other.variance
        with np.errstate(divide="ignore", invalid="ignore"):
            squares = self.variance**2 / self.df + other.variance**2 / other.df
            df = np.where(squares > 0, np.divide(variance**2, squares), self.df)
        return Component(variance, _plain(df), self.third + other.third)

    @property
    def lean(self) -> Any:
        """A part of the skewness, above 0 if the longer tail is the upper one."""
        return _plain(_lean(self.variance, self.third))

    def times(self, scale: float) -> "Component":
        """Return the component of the estimate times a number."""
        return replace(self, variance=scale**2 * self.variance, third=scale**3 * self.third)

    def reaches(self, level: float) -> tuple[Any, Any]:
        """Return how many standard errors an interval reaches below and above the estimate."""
        return reaches(t_quantile(self.df, level), self.variance, self.third)

    def at_least(self, answers: "Component", level: float) -> "Component":
        """Return this component, that of evaluators, or what is left of that of answers if it is wider."""
        least = replace(answers, variance=least_variance(self.variance, answers.variance))
        widths = (t_quantile(each.df, level) * math.sqrt(each.variance) for each in (self, least))
        return self if next(widths) >= next(widths) else least

    def straight(self, t: Any) -> Any:
        """Return Student's statistic at which an interval ends `t` standard errors from the estimate.

        It is the inverse of `reaches`; 0 if every interval reaches farther.
        """
        distance = np.abs(t)
        lean = np.where(np.sign(t) * self.lean < 0, np.abs(self.lean), 0.0)
        excess = np.maximum(distance - lean, 0.0)
        return _plain(np.sign(t) * 2 * excess / (1 + np.sqrt(1 + 8 * lean * excess)))

    def of_pairs(self, i: np.ndarray, j: np.ndarray) -> "Component":
        """Return the components of the differences of pairs, each of two that vary independently."""
        third = np.broadcast_to(self.third, np.shape(self.variance))
        first, second = (Component(self.variance[of], self.df[of]) for of in (i, j))
        return replace(first + second, third=third[i] - third[j])


@dataclass(frozen=True)
class Estimate:
    """A number, such as a score or a difference, and what is random in it; or an array of them."""

    value: Any
    people: Component
    """That of evaluators; or of all that is random together."""
    pictures: Component | None = None
    """What stimuli add that evaluators share; None if it is not known which they saw."""

    @property
    def total(self) -> Component:
        return self.people if self.pictures is None else self.people + self.pictures

    @property
    def share_of_pictures(self) -> float | None:
        """The stimuli's share of the variance, 0 to 1; None if it is not known, or nothing varies."""
        variance = self.total.variance
        return self.pictures.variance / variance if self.pictures is not None and variance else None

    def interval(self, level: float) -> list[Any]:
        """Return the ends of the interval; of an array, a list of them."""
        total = self.total
        below, above = (reach * np.sqrt(total.variance) for reach in total.reaches(level))
        ends: list[Any] = np.array([self.value - below, self.value + above]).T.tolist()
        return ends

    def interval_if_any(self, level: float) -> list[float] | None:
        """Return the interval of a number; None if nothing varies, which does not say how sure it is."""
        does_vary = math.sqrt(self.total.variance) > _SAME * abs(self.value)
        return self.interval(level) if does_vary else None

    def log_odds_interval(self, level: float) -> list[float] | None:
        """Return the interval of a share that is symmetric in log odds; None if it cannot be estimated."""
        total = self.total
        if not total.variance > _ROUNDING or not 0 < self.value < 1:
            return None
        error = math.sqrt(total.variance) / (self.value * (1 - self.value))
        below, above = total.reaches(level)
        middle = float(logit(self.value))
        return [float(expit(middle - below * error)), float(expit(middle + above * error))]

    def t(self, null: float = 0.0) -> Any:
        """Return the statistic of Student's test; NaN if nothing varies."""
        variance = self.total.variance
        with np.errstate(divide="ignore", invalid="ignore"):
            return _plain(np.where(variance > 0, (self.value - null) / np.sqrt(variance), np.nan))

    def p(self, null: float = 0.0) -> Any:
        """Return the two-sided p-value of the hypothesis that the true value is `null`."""
        return two_sided_p(self.total.straight(self.t(null)), self.total.df)

    def p_above(self, null: float) -> Any:
        """Return the p-value of the hypothesis that the true value is not above `null`."""
        return t_below(-self.total.straight(self.t(null)), self.total.df)

    def p_below(self, null: float) -> Any:
        """Return the p-value of the hypothesis that the true value is not below `null`."""
        return t_below(self.total.straight(self.t(null)), self.total.df)

    def p_within(self, margin: float, centre: float = 0.0) -> Any:
        """Return the p-value of the hypothesis that the true value is `margin` or more from `centre`.

        By two one-sided tests (Schuirmann, 1987): the interval with twice the error is within the margin
        where both reject.
        """
        return _plain(np.maximum(self.p_above(centre - margin), self.p_below(centre + margin)))

    def t_test(self, level: float) -> dict[str, Any]:
        """Return `t`, `df`, `p` and `ci` of a difference."""
        return {"t": self.t(), "df": self.total.df, "p": self.p(), "ci": self.interval(level)}


@dataclass(frozen=True)
class Share(Estimate):
    """A share of answers (0 to 1), whose evaluators cannot vary less than independent answers do.

    So their variance and the `least_variance` are used, and of intervals the wider one, of p-values the
    larger one. The skewness of independent answers is that of Wilson's interval itself; that of evaluators is
    `third_of_share`.
    """

    answers: float = field(kw_only=True)
    """Their number, or the effective one."""

    def widest(self, level: float) -> Component:
        """Return the component of the wider interval."""
        found = self._candidates
        at = int(np.argmax(t_quantile(found.df, level) * np.sqrt(found.variance)))
        return Component(float(found.variance[at]), float(found.df[at]), float(found.third[at]))

    def interval(self, level: float) -> list[float]:
        """Return Wilson's interval."""
        return wilson_interval(self.value, self._candidates, self.answers, level)

    def t(self, null: float = 0.0) -> float:
        return self.test(null).t

    def p_above(self, null: float) -> float:
        return self.test(null).p_above

    def p_below(self, null: float) -> float:
        return self.test(null).p_below

    def test(self, null: float) -> "ShareTest":
        """Return the tests of the share against `null` (above 0 and below 1), as the interval is formed.

        Wilson's interval at some level ends where the test of its end has the corresponding p.
        """
        p, candidates = self.value, self._candidates
        size = effective_size(p, candidates.variance, self.answers)
        t = (p - null) * np.sqrt(size / (null * (1 - null)))
        straight = candidates.straight(t)
        above, below = t_below(-straight, candidates.df), t_below(straight, candidates.df)
        at = int(np.argmax(np.minimum(above, below)))
        return ShareTest(float(t[at]), float(candidates.df[at]), float(above.max()), float(below.max()))

    @property
    def _candidates(self) -> Component:
        pictures = self.pictures or Component(0.0, 1.0)
        people = self.people
        variances, dfs = share_variances(
            self.value, people.variance, people.df, self.answers, pictures.variance, pictures.df
        )
        third = third_of_share(self.value, people.variance, people.third, self.answers)
        return Component(variances, dfs, np.array([third, 0.0]) + pictures.third)


@dataclass(frozen=True)
class ShareTest:
    """Two one-sided tests of a share against a value."""

    t: float
    df: float
    """Infinite for the normal distribution."""
    p_above: float
    """Of the hypothesis that the share is not above the value."""
    p_below: float


def mean_of(values: np.ndarray, strata: np.ndarray | None = None) -> Estimate:
    """Return the mean over evaluators, of whom there are two or more; `strata` as of `clustered`."""
    count, mean = len(values), math.fsum(values) / len(values)
    if are_equal(values):
        return Estimate(mean, Component(0.0, count - 1))
    if strata is not None:
        return Estimate(mean, clustered((values - mean) / count, strata=strata))
    squares, cubes = (math.fsum((values - mean) ** power) / (count - 1) for power in (2, 3))
    return Estimate(mean, Component(squares / count, count - 1, cubes / count**2))


def are_equal(values: np.ndarray) -> bool:
    """Return whether values, one or more, are equal but for rounding."""
    return bool(np.ptp(values) <= _ALL_ALIKE * max(1.0, float(np.abs(values).max())))


def clustered(sums: np.ndarray, units: int | None = None, strata: np.ndarray | None = None) -> Component:
    """Return the component of units, such as evaluators, from the sums of their influences.

    Args:
        units: how many contribute, two or more; default, the number of sums.
        strata: code of the stratum of each unit, such as the model that an evaluator judged: those are fixed,
            and what differs between them is no part of the variance. It is if a stratum has a single unit.
    """
    if strata is not None and np.unique(strata, return_counts=True)[1].min() > 1:
        groups = [sums[strata == stratum] for stratum in np.unique(strata)]
        return reduce(Component.__add__, (clustered(group - group.mean()) for group in groups))
    count = len(sums) if units is None else units
    squares, cubes = (float((sums**power).sum()) * count / (count - 1) for power in (2, 3))
    return Component(squares, count - 1.0, cubes)


@dataclass(frozen=True)
class Seen:
    """Answers of one side (real or fake) of one model; arrays of shape (answers,)."""

    person: np.ndarray
    """From 0 to `people` - 1."""
    evaluator: np.ndarray
    """The same person's index among all evaluators."""
    image: np.ndarray
    """A code; -1 if the answer names no stimulus."""
    residual: np.ndarray
    """Weighted: w_ij r_ij."""
    weight: np.ndarray
    people: int


def shared_pictures(sides: Sequence[Seen]) -> Component:
    """Return the component that shared stimuli add to a mean over evaluators.

    Args:
        sides: answers whose weighted residuals sum to how far each evaluator is from the mean.
    """
    parts, people = np.concatenate([parts_of_images(seen) for seen in sides]), sides[0].people
    return Component(max(0.0, float(parts.sum())) / (people * (people - 1)), df_of_parts(parts))


def parts_of_images(seen: Seen) -> np.ndarray:
    """Return the part of each stimulus in the summed covariance of two evaluators: shape (stimuli,)."""
    (same, every), (pairs, all_pairs) = (products(seen, values) for values in (seen.residual, seen.weight))
    elsewhere = all_pairs - pairs.sum()
    if elsewhere <= 1e-9 * all_pairs:  # one stimulus: there is no other to compare with
        return same
    result: np.ndarray = same - pairs * (every - same.sum()) / elsewhere
    return result


def parts_between(one: tuple[Seen, np.ndarray], other: tuple[Seen, np.ndarray], images: int) -> np.ndarray:
    """Return the part of each stimulus in the summed covariance of evaluators of two groups.

    Args:
        one, other: answers of different people, and the index of each of their codes among all stimuli.
        images: number of all stimuli.
    """

    def sums(group: tuple[Seen, np.ndarray], name: str) -> tuple[np.ndarray, float]:
        seen, index = group
        values, is_named = getattr(seen, name), seen.image >= 0
        return np.bincount(index[seen.image[is_named]], values[is_named], images), float(values.sum())

    def products(name: str) -> tuple[np.ndarray, float]:
        (first, all_first), (second, all_second) = (sums(group, name) for group in (one, other))
        return first * second, all_first * all_second

    (same, every), (pairs, all_pairs) = products("residual"), products("weight")
    elsewhere = all_pairs - pairs.sum()
    if elsewhere <= 1e-9 * all_pairs:
        return same
    result: np.ndarray = same - pairs * (every - same.sum()) / elsewhere
    return result


def products(seen: Seen, values: np.ndarray) -> tuple[np.ndarray, float]:
    """Return sums of products of different evaluators' values: on each stimulus, and on all."""
    # an evaluator's answers to one stimulus, or to no named stimulus, form one cell
    cells, cell = np.unique(
        (seen.image + 1).astype(np.int64) * seen.people + seen.person, return_inverse=True
    )
    image, person = cells // seen.people - 1, cells % seen.people
    is_named = image >= 0
    images, place = np.unique(image[is_named], return_inverse=True)
    sums = np.bincount(cell, values, len(cells))
    named = sums[is_named]
    together = np.bincount(place, named, len(images)) ** 2
    whole = np.bincount(person, sums, seen.people)
    every = float(whole.sum() ** 2 - (whole**2).sum())
    return together - np.bincount(place, named**2, len(images)), every


def df_of_parts(parts: np.ndarray) -> float:
    """Return the degrees of freedom of a sum of stimuli's parts: twice its square over its variance.

    They are Satterthwaite's (1946), with the empirical variance of the parts: a few stimuli that fool
    everyone make the sum far less precise than as many stimuli of normal difficulty. At most stimuli - 1.
    """
    count, total = len(parts), float(parts.sum())
    most = max(count - 1.0, 1.0)
    spread = float(((parts - parts.mean()) ** 2).sum()) * count / (count - 1) if count > 1 else 0.0
    return min(most, max(1.0, 2 * total**2 / spread)) if spread and total > 0 else most


def share_variances(
    share: Any, people: Any, df: Any, responses: float, of_images: Any, images_df: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Return variances of shares and their degrees of freedom, each of shape (2, ...).

    First as evaluators show it, then as single answers have it, which evaluators cannot fall below; stimuli
    are part of both. Arguments are numbers, or arrays of one shape.
    """
    # evaluators who do not differ at all give no information on the variance: then their number counts
    least = least_variance(people, share * (1 - share) / responses)
    variances = np.stack(np.broadcast_arrays(people, least))
    dfs = np.stack(np.broadcast_arrays(df, np.where(people, np.inf, df)))
    both = Component(variances, dfs) + Component(of_images, images_df)
    return both.variance, both.df


def least_variance(people: Any, answers: Any) -> Any:
    """Return the variance below which that of evaluators is not taken; numbers, or arrays.

    Evaluators cannot vary less than independent answers do. But if the wider of both intervals is used, that
    of five who do not differ covers 98%, since Student's covers 95% by itself: few who are alike by chance
    make up for few who are not. So it is `LEAST_PART` of the variance of answers, and the more of it the less
    evaluators vary: all if they do not at all.

    Args:
        people: variance over evaluators.
        answers: that of independent answers.
    """
    return _plain(np.maximum(LEAST_PART * answers, answers - 2 * people))


def unseen_skewness(count: float) -> float:
    """Return the part of the skewness of a mean of exponential values that samples of `count` do not show.

    Of a skewness of 2, 5 to 60 values show the part n / (n + 11), on average (simulated).
    """
    return 2 * 11 / (count + 11) / math.sqrt(count)


def third_of_share(share: Any, variance: Any, third: Any, answers: Any) -> Any:
    """Return the third cumulant of a share over evaluators, beyond that of Wilson's interval; or arrays.

    Of what evaluators show, and 3 v b (1 - 2 p) / (p (1 - p)), the one farther from 0 is taken; b is the part
    of the variance v that is not that of independent answers. If evaluators' log-odds were normal it would be
    b (v + b) (1 - 2 p) / (p (1 - p)), to the first order: that of their own shares, and the covariance of
    these with the variance of answers. With 2 in place of 3, intervals of 20 people whose log-odds have an
    exponential tail cover 89% instead of 91% (docs/statistics.md).

    Args:
        third: as evaluators show it.
        answers: their number, or the effective one.
    """
    between = beyond_answers(share, variance, answers)
    expected = 3 * variance * between * tail_of(share)
    return _plain(np.where(np.abs(third) > np.abs(expected), third, expected))


def beyond_answers(share: Any, variance: Any, answers: Any) -> Any:
    """Return the part of a share's variance that is not that of independent answers; numbers, or arrays."""
    return _plain(np.maximum(variance - share * (1 - share) / answers, 0.0))


def tail_of(share: Any) -> Any:
    """Return (1 - 2 p) / (p (1 - p)) of a share p, by which its variance makes it skewed; 0 at 0 and 1."""
    whole = np.asarray(share * (1 - share), float)
    return _plain(np.divide(1 - 2 * share, whole, out=np.zeros_like(whole), where=whole > 0))


def as_of_share(component: Component, share: float, answers: float) -> Component:
    """Return a component over evaluators with the third cumulant of a share, that of Wilson's interval too.

    A binomial share with variance v has v^2 (1 - 2 p) / (p (1 - p)): Wilson's interval is longer on the side
    of 50% by as much, to the first order; differences of shares, which have no such interval, need it.
    """
    if not 0 < share < 1:
        return component
    own = third_of_share(share, component.variance, component.third, answers)
    return replace(component, third=own + component.variance**2 * tail_of(share))


def with_stimuli(share: float, people: Component, answers: float, stimuli: Component) -> Component:
    """Return the component of stimuli with the third cumulant that they add to that of a share.

    Few stimuli make most of rare errors, as few evaluators do. A share p of which evaluators have the
    variance v, b of it beyond that of independent answers, and stimuli have s, is taken to have the cumulant
    of `as_of_share` with stimuli in each variance, ((v + s)^2 + 3 (v + s) (b + s)) (1 - 2 p) / (p (1 - p)).

    Args:
        people: that of evaluators.
        answers: the variance of the share if all answers were independent.
    """
    between, s = max(0.0, people.variance - answers), stimuli.variance
    return replace(stimuli, third=tail_of(share) * s * (5 * people.variance + 3 * between + 4 * s))


def wilson(share: Any, variance: Any, quantile: Any, responses: float) -> tuple[Any, Any]:
    """Return the ends of Wilson's interval of shares (0 to 1) with given variances; numbers, or arrays.

    Args:
        variance: variance of the share; 0 for that of independent responses.
        quantile: two-sided quantile of Student's t or of the normal distribution.
    """
    weight = quantile**2 / effective_size(share, variance, responses)
    centre = (share + weight / 2) / (1 + weight)
    half = np.sqrt(weight * (share * (1 - share) + weight / 4)) / (1 + weight)
    return np.maximum(0.0, centre - half), np.minimum(1.0, centre + half)


def effective_size(share: Any, variance: Any, responses: Any) -> np.ndarray:
    """Return how many independent responses give a share (0 to 1) its variance; numbers, or arrays.

    Of a share of 0 or 1, all whose variance is rounding error, and without variance it is that of responses.
    """
    single, variance = np.broadcast_arrays(np.asarray(share * (1 - share), float), variance)
    size = np.array(np.broadcast_to(responses, single.shape), float)
    np.divide(single, variance, out=size, where=(variance > 0) & (single > _ALL_ALIKE))
    return size


def wilson_interval(share: float, of: Component, responses: float, level: float) -> list[float]:
    """Return Wilson's interval of a share (0 to 1), farther out on the side of the longer tail.

    Of several components, each end is that of the one with which it is farthest out.
    """
    below, above = of.reaches(level)
    low, high = (wilson(share, of.variance, reach, responses) for reach in (below, above))
    return [float(np.min(low[0])), float(np.max(high[1]))]


def ranges(apart: Estimate, groups: int, level: float) -> tuple[list[float], list[list[float]]]:
    """Return p-values and simultaneous intervals of all pairs of groups, by the studentized range.

    Args:
        apart: the differences of the pairs, their variances above 0; arrays of shape (pairs,).
    """
    error, df = np.sqrt(apart.total.variance / 2), apart.total.df
    half = error * studentized_range.isf(1 - level, groups, df)
    p = studentized_range.sf(np.abs(apart.value) / error, groups, df)
    return p.tolist(), np.array([apart.value - half, apart.value + half]).T.tolist()


def welch(values: np.ndarray, of: Component) -> dict[str, Any]:
    """Return Welch's test (1951) that values, two or more, are equal; their variances are above 0."""
    weights = 1 / of.variance
    shares, k = weights / weights.sum(), len(values)
    spread = float(((1 - shares) ** 2 / of.df).sum())
    between = float((weights * (values - shares @ values) ** 2).sum()) / (k - 1)
    return f_test(between / (1 + 2 * (k - 2) / (k**2 - 1) * spread), k - 1, (k**2 - 1) / (3 * spread))


def f_test(f: float, between: float, within: float, epsilon: float = 1.0) -> dict[str, Any]:
    """Return `F`, its degrees of freedom `df`, and `p`, with both multiplied by `epsilon`."""
    return {"F": f, "df": [between, within], "p": float(fdtrc(epsilon * between, epsilon * within, f))}


def holm(p: Sequence[float | None] | np.ndarray) -> list[float | None]:
    """Return p-values corrected for their number, step by step (Holm, 1979); None does not count."""
    values = np.array(p, float)
    tested = ~np.isnan(values)
    values[tested] = holm_of_rows(values[tested])
    return [None if np.isnan(one) else one for one in values.tolist()]


def holm_of_rows(p: np.ndarray) -> np.ndarray:
    """Return Holm's p-values of the tests of each study: shape (..., tests), none of them NaN."""
    order = np.argsort(p, axis=-1, kind="stable")
    steps = np.arange(p.shape[-1], 0, -1)
    stepped = np.maximum.accumulate(np.take_along_axis(p, order, -1) * steps, axis=-1)
    result: np.ndarray = np.take_along_axis(np.minimum(stepped, 1.0), np.argsort(order, axis=-1), -1)
    return result


def simultaneous(level: float, count: float) -> float:
    """Return the level at which each of `count` intervals holds, so that all do at `level` (Bonferroni)."""
    return 1 - (1 - level) / count


def reaches(quantile: Any, variance: Any, third: Any) -> tuple[Any, Any]:
    """Return how many standard errors intervals reach below and above estimates.

    Args:
        quantile: Student's, two-sided.
        third: third cumulants.
    """
    longer = _lean(variance, third) * (1 + 2 * quantile**2)
    return quantile + np.maximum(-longer, 0.0), quantile + np.maximum(longer, 0.0)


def _lean(variance: Any, third: Any) -> np.ndarray:
    cubes = np.asarray(variance) ** 1.5
    result: np.ndarray = np.divide(third, 4 * cubes, out=np.zeros_like(cubes), where=cubes > 0)
    return result


def t_quantile(df: Any, level: Any) -> Any:
    """Return the two-sided quantile of Student's t; of the normal distribution where `df` is infinite."""
    upper = (1 + level) / 2
    return _plain(np.where(np.isinf(df), ndtri(upper), stdtrit(df, upper)))


def t_below(t: Any, df: Any) -> Any:
    """Return the probability of a value below `t`; of the normal distribution where `df` is infinite."""
    return _plain(np.where(np.isinf(df), ndtr(t), stdtr(df, t)))


def t_of_normal(z: Any, df: Any) -> Any:
    """Return the quantile of Student's t with the probability that the normal distribution has below `z`."""
    return _plain(-stdtrit(df, ndtr(-z)))


def two_sided_p(t: Any, df: Any) -> Any:
    """Return the two-sided p-value of a statistic with Student's distribution."""
    return 2 * t_below(-np.abs(t), df)


def _plain(values: Any) -> Any:
    """Return a number as a float, and an array as it is."""
    return float(values) if np.ndim(values) == 0 else values
