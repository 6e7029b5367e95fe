"""Intervals and p-values: by hand, by scipy, how often they hold; that all are formed in one module."""

import ast
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import backend
from backend.analysis.distributions.bootstrap import doubts, percentile_coverage
from backend.analysis.distributions.inference import (
    Component,
    Estimate,
    Share,
    as_of_share,
    clustered,
    f_test,
    holm,
    mean_of,
    ranges,
    t_below,
    t_quantile,
    third_of_share,
    unseen_skewness,
    wilson,
    with_stimuli,
)
from validate import coverage
from validate.studies import InfinityPopulation


def interval(values, of_images=0.0, images_df=1.0, answers=100):
    """Return the interval in percent of evaluators' percent."""
    values = np.array(values, float)
    mean = mean_of(values / 100)
    share = Share(mean.value, mean.people, Component(of_images, images_df), answers=answers * len(values))
    return [100 * end for end in share.interval(0.95)]


shares = st.lists(st.integers(0, 100), min_size=2, max_size=30)


def test_with_very_many_evaluators_it_is_wilsons_own():
    # 30 of 100 as binomial: p = 0.3, variance 0.0021, Wilson's interval from scipy
    ours = wilson(0.3, 0.3 * 0.7 / 100, t_quantile(1e9, 0.95), 100)

    theirs = stats.binomtest(30, 100).proportion_ci(0.95, method="wilson")
    assert ours == pytest.approx((theirs.low, theirs.high), abs=1e-6)


def test_independent_responses_have_the_interval_of_their_number():
    theirs = stats.binomtest(30, 100).proportion_ci(0.95, method="wilson")
    assert wilson(0.3, 0.0, t_quantile(1e9, 0.95), 100) == pytest.approx((theirs.low, theirs.high), abs=1e-6)


def test_nobody_wrong_still_leaves_room_above():
    # 0 of 200: variance 0, t(1) = 12.7062; w = t^2 / 200: the end is w / (1 + w)
    w = 12.7062**2 / 200

    assert interval([0, 0]) == pytest.approx([0, 100 * w / (1 + w)], rel=1e-4)


def test_evaluators_cannot_differ_less_than_answers_by_chance():
    # 29, 30, 31 of 100: SD 1, t(2) = 4.30: 4.30 * 0.577 = 2.5 points; 90 of 300 by chance: z = 1.96, Wilson's
    chance, theirs = 0.3 * 0.7 / 300, 0.01**2 / 3
    nearly_all = wilson(0.3, chance - 2 * theirs, t_quantile(np.inf, 0.95), 300)
    whole = stats.binomtest(90, 300).proportion_ci(0.95, method="wilson")

    assert interval([29, 30, 31]) == pytest.approx([100 * end for end in nearly_all], abs=1e-9)
    assert interval([29, 30, 31]) == pytest.approx([100 * whole.low, 100 * whole.high], abs=0.3)


@pytest.mark.parametrize("people", [5, 10, 30, 60])
def test_evaluators_who_do_not_differ_have_intervals_that_are_not_too_wide(people):
    # the wider of Student's interval and that of all answers covers 97.9% with 5 people, 97.1% with 10
    rng, held = np.random.default_rng(people), []
    for values in rng.binomial(100, 0.5, (2000, people)):
        low, high = interval(values)
        held.append(low <= 50 <= high)

    assert 0.945 < np.mean(held) < 0.974


def test_pictures_widen_the_interval_by_their_variance_and_degrees_of_freedom():
    # 40, 50, 60, not skewed: s^2 / n = 0.01 / 3 (df 2); pictures 0.01 (df 10): variance 0.013333,
    # Satterthwaite's df 0.013333^2 / (0.003333^2 / 2 + 0.01^2 / 10) = 11.43
    variance, df = 0.01 / 3 + 0.01, (0.01 / 3 + 0.01) ** 2 / ((0.01 / 3) ** 2 / 2 + 0.01**2 / 10)
    theirs = wilson(0.5, variance, t_quantile(df, 0.95), 300)

    assert interval([40, 50, 60], 0.01, 10) == pytest.approx([100 * end for end in theirs], rel=1e-9)


def test_times_have_students_interval():
    values = np.array([300.0, 320, 310, 330])

    theirs = stats.t.interval(0.9, 3, values.mean(), stats.sem(values))
    assert mean_of(values).interval(0.9) == pytest.approx(list(theirs))


def test_a_t_test_is_scipys_whether_one_or_many():
    values = np.array([300.0, 320, 310, 330])
    mean = mean_of(values)
    many = Estimate(
        np.array([mean.value, 2.0]), Component(np.array([mean.people.variance, 4]), np.array([3, np.inf]))
    )

    theirs = stats.ttest_1samp(values, 290)
    assert (mean.t(290), mean.p(290)) == pytest.approx((theirs.statistic, theirs.pvalue))
    assert [mean.p_above(290), mean.p_below(290)] == pytest.approx([theirs.pvalue / 2, 1 - theirs.pvalue / 2])
    assert many.p(290)[0] == pytest.approx(theirs.pvalue)
    assert many.p()[1] == pytest.approx(2 * stats.norm.sf(1))
    assert many.interval(0.9)[0] == mean.interval(0.9)
    assert many.interval(0.9)[1] == pytest.approx(list(stats.norm.interval(0.9, 2, 2)))


def test_an_end_is_farther_out_on_the_side_of_the_longer_tail():
    # 10, 20, 60: mean 30, s^2 / n = 1400 / 2 / 3 = 700 / 3, third cumulant (-8000 - 1000 + 27000) / 2 / 9
    # = 1000; g = 1000 / (700 / 3)^1.5 = .280566; t(2) = 4.302653: .280566 (1 + 2 * 18.51282) / 4 = 2.667100
    error = (700 / 3) ** 0.5

    low, high = mean_of(np.array([10.0, 20, 60])).interval(0.95)
    mirrored = mean_of(-np.array([10.0, 20, 60])).interval(0.95)

    assert (low, high) == pytest.approx((30 - 4.302653 * error, 30 + (4.302653 + 2.667100) * error), rel=1e-5)
    assert mirrored == pytest.approx([-high, -low])
    assert mean_of(np.array([10.0, 20])).people.third == 0


skewed = st.lists(st.integers(0, 50).map(lambda value: value**2 / 25), min_size=3, max_size=12, unique=True)


@given(skewed, st.floats(0.6, 0.99))
def test_an_interval_ends_where_its_p_is_what_the_level_leaves(values, level):
    """For means and shares, at both ends; each end is one one-sided p."""
    mean = mean_of(np.array(values) / 100)
    share = Share(mean.value, mean.people, Component(1e-4, 10), answers=100 * len(values))

    for found in (mean, share):
        low, high = found.interval(level)
        if low > 0:
            assert found.p_above(low) == pytest.approx((1 - level) / 2, rel=1e-6)
        if high < 1 or found is mean:
            assert found.p_below(high) == pytest.approx((1 - level) / 2, rel=1e-6)


@pytest.mark.parametrize(("evaluators", "least"), [(10, 0.93), (20, 0.945)])
def test_it_holds_for_skewed_people_more_often_than_students(evaluators, least):
    """20,000 studies of exponential values, SE 0.2%; Student's holds in 89.8 and 91.7%."""
    values = np.random.default_rng(4).exponential(size=(20_000, evaluators))
    thirds, variances = (((values.T - values.mean(axis=1)) ** power).sum(axis=0) for power in (3, 2))
    of = Component(
        variances / evaluators / (evaluators - 1),
        evaluators - 1,
        thirds / (evaluators - 1) / evaluators**2,
    )

    low, high = np.array(Estimate(values.mean(axis=1), of).interval(0.95)).T

    plain = np.array(Estimate(values.mean(axis=1), Component(of.variance, of.df)).interval(0.95)).T
    held, before = (np.mean((ends[0] <= 1) & (ends[1] >= 1)) for ends in ((low, high), plain))
    assert before < held - 0.03
    assert least < held < 0.96


def test_shares_are_taken_to_be_more_skewed_than_those_of_people_with_normal_log_odds():
    """2,000,000 people of 40 answers; Wilson's interval has the skewness of independent answers."""
    rng = np.random.default_rng(3)
    chance = 1 / (1 + np.exp(-rng.normal(-2, 0.35, 2_000_000)))
    values = rng.binomial(40, chance) / 40
    p, v = values.mean(), values.var()
    tail, b = (1 - 2 * p) / (p * (1 - p)), v - p * (1 - p) / 40

    beyond = ((values - p) ** 3).mean() - v**2 * tail

    assert beyond == pytest.approx(b * (v + b) * tail, rel=0.15)
    assert 1.5 < third_of_share(p, v, 0.0, 40) / beyond < 3
    own = as_of_share(Component(v, 9), p, 40).third
    assert own == pytest.approx(third_of_share(p, v, 0.0, 40) + v**2 * tail)


def test_the_skewness_that_is_taken_yields_to_a_greater_one_and_has_none_at_half():
    # v = .01, b = .01 - .09 / 100 = .0091, 1 - 2p over p (1 - p) = .8 / .09: 3 x .01 x .0091 x 8.8889
    least = 3 * 0.01 * 0.0091 * 0.8 / 0.09

    assert third_of_share(0.1, 0.01, 0.0, 100) == pytest.approx(least)
    assert third_of_share(0.9, 0.01, 0.0, 100) == pytest.approx(-least)
    assert third_of_share(0.1, 0.01, -0.5, 100) == -0.5
    assert third_of_share(0.1, 0.0005, 0.0, 100) == 0  # they differ as single answers do
    assert third_of_share(0.5, 0.01, 1e-6, 100) == 1e-6
    assert third_of_share(0.0, 0.0, 0.0, 100) == 0
    assert third_of_share(np.array([0.1, 0.9]), 0.01, 0.0, 100) == pytest.approx([least, -least])


def test_stimuli_make_shares_of_rare_errors_skewed_too():
    """20 people see the same 30 stimuli of 20,000 studies; stimuli differ more than people do."""
    rng, (people, stimuli) = np.random.default_rng(7), (20, 30)
    chances = [
        1 / (1 + np.exp(2.5 - rng.normal(0, 0.5, (2000, people, 1)) - rng.normal(0, 1, (2000, 1, stimuli))))
        for _ in range(10)
    ]
    found = np.concatenate([(rng.random(chance.shape) < chance).mean((1, 2)) for chance in chances])
    p = found.mean()
    shared = Component(np.mean([chance.mean(1).var(1) for chance in chances]) / stimuli, stimuli - 1)
    own = Component(found.var() - shared.variance, people - 1)

    taken = with_stimuli(p, own, p * (1 - p) / (people * stimuli), shared)

    third, of_people = ((found - p) ** 3).mean(), as_of_share(own, p, people * stimuli).third
    assert of_people < third / 3
    assert 1.3 < (of_people + taken.third) / third < 2.2
    assert (taken.variance, taken.df) == (shared.variance, shared.df)
    assert with_stimuli(1 - p, own, 0.0, shared).third == pytest.approx(
        -with_stimuli(p, own, 0.0, shared).third
    )
    assert with_stimuli(0.5, own, 0.0, shared).third == with_stimuli(0.0, own, 0.0, shared).third == 0


def test_components_add_with_satterthwaites_degrees_of_freedom_in_any_order():
    # 2 + 3 + 0 with 4, 9 and 7: 25 / (4 / 4 + 9 / 9)
    parts = [Component(2.0, 4), Component(3.0, 9), Component(0.0, 7)]

    for one, other, last in (parts, parts[::-1]):
        found = one + other + last
        assert (found.variance, found.df) == (5, pytest.approx(12.5))
    assert (Component(0.0, 4) + Component(0.0, 9)).df == 4


def test_of_clusters_it_is_the_variance_of_their_sums():
    # influences -1, 1 and 0, 4, -4 of four: sums -1, 1, 0: 2 * 4 / 3; of -1, -1, 2: 6 * 3 / 2, cubes as many
    assert clustered(np.array([-1.0, -1, 2])) == Component(9, 2, 9)
    assert clustered(np.array([-1.0, 1, 0, 0])) == Component(pytest.approx(8 / 3), 3)
    assert clustered(np.array([-1.0, 1, 0, 0]), 3) == Component(pytest.approx(3), 2)


def test_what_does_not_vary_has_no_p():
    assert np.isnan(Estimate(1.0, Component(0.0, 3)).p())


def test_an_interval_in_log_odds_is_symmetric_there_and_none_at_the_ends():
    # log odds of .8: 1.386294; its error .05 / .16; t(5) at .95: 2.570582
    low, high = Estimate(0.8, Component(0.0025, 5)).log_odds_interval(0.95)

    assert np.log([low / (1 - low), high / (1 - high)]) == pytest.approx(
        [1.386294 - 2.570582 * 0.3125, 1.386294 + 2.570582 * 0.3125], abs=1e-5
    )
    assert Estimate(1.0, Component(0.0025, 5)).log_odds_interval(0.95) is None
    assert Estimate(0.5, Component(0.0, 5)).log_odds_interval(0.95) is None


def test_within_a_margin_both_one_sided_tests_reject():
    apart = Estimate(np.array([1.0, -1.0]), Component(np.array([4.0, 4.0]), np.array([7, 7])))

    assert apart.p_within(5) == pytest.approx([stats.t.cdf((1 - 5) / 2, 7)] * 2)


def test_holm_steps_down_by_hand_and_does_not_count_what_was_not_tested():
    # .01 * 4, .02 * 3, .03 * 2 but not below .06, .5
    assert holm([0.02, None, 0.5, 0.01, 0.03]) == [pytest.approx(0.06), None, 0.5, 0.04, pytest.approx(0.06)]
    assert holm([]) == []


def test_ranges_and_f_are_scipys():
    apart = Estimate(np.array([3.0]), Component(np.array([2.0]), np.array([12.0])))

    (p,), (ci,) = ranges(apart, 4, 0.95)

    half = stats.studentized_range.isf(0.05, 4, 12)
    assert p == pytest.approx(stats.studentized_range.sf(3.0, 4, 12), rel=1e-6)
    assert ci == pytest.approx([3 - half, 3 + half], rel=1e-6)
    assert f_test(3.0, 2, 10)["p"] == pytest.approx(stats.f.sf(3.0, 2, 10))


def test_quantiles_and_probabilities_without_end_are_the_normal_distributions():
    assert t_quantile(np.array([np.inf, 4]), 0.9) == pytest.approx(
        [stats.norm.ppf(0.95), stats.t.ppf(0.95, 4)]
    )
    assert t_below(-2.0, np.inf) == pytest.approx(stats.norm.cdf(-2))


@given(shares)
def test_the_interval_of_a_share_holds_it_and_stays_within_0_and_100(values):
    low, high = interval(values)

    assert 0 <= low <= np.mean(values) + 1e-9
    assert np.mean(values) - 1e-9 <= high <= 100


@given(shares)
def test_right_and_wrong_mirror_each_other(values):
    wrong = interval(values)
    right = interval(100 - np.array(values, float))

    assert [100 - end for end in reversed(right)] == pytest.approx(wrong, abs=1e-9)


@pytest.mark.parametrize("evaluators", [5, 10, 30, 120])
def test_what_the_percentile_interval_covers_is_what_simulated_normal_evaluators_show(evaluators):
    """Its ends of normal values are mean -+ 1.96 population SD / sqrt(n); 20,000 studies, SE 0.2%."""
    rng = np.random.default_rng(8)
    values = rng.normal(0, 1, (20_000, evaluators))
    half = 1.959964 * values.std(axis=1) / evaluators**0.5

    share = np.mean(np.abs(values.mean(axis=1)) < half)

    assert percentile_coverage(evaluators, 0.95) == pytest.approx(share, abs=0.007)


def test_the_percentile_interval_is_doubted_where_it_is_too_narrow():
    rng = np.random.default_rng(1)

    few = doubts(rng.binomial(100, 0.3, 30).astype(float), 3000, True, 0.95)
    many = doubts(rng.binomial(100, 0.3, 60).astype(float), 6000, True, 0.95)
    rare = doubts(np.array([1.0] * 6 + [0.0] * 54), 6000, True, 0.95)

    assert few == ["the percentile interval of 30 evaluators covers about 93.6%, not 95%"]
    assert many == []
    assert rare == ["6 wrong answers in all are too few for the percentile method"]


@pytest.mark.parametrize("evaluators", [5, 30])
@pytest.mark.parametrize("pool", [30, 200, None])
@pytest.mark.parametrize("rate", [0.1, 0.5])
@pytest.mark.slow("simulates many evaluators to know an interval's coverage")
def test_the_interval_covers_other_people_and_other_pictures(rate, pool, evaluators):
    """400 studies, SE 1.1%; `make validate` has the table."""
    found = coverage.coverage(InfinityPopulation(rate, pool=pool), evaluators, 400, np.random.default_rng(3))

    assert 0.92 < found["interval"] < 0.985
    assert found["percentile"] < found["interval"]


DISTRIBUTIONS = {
    "bdtr", "bdtrc", "bdtri", "betainc", "betaincinv", "chdtr", "chdtrc", "chdtri", "fdtr", "fdtrc", "fdtri",
    "gammainc", "gammaincc", "log_ndtr", "nctdtr", "nctdtrit", "ndtr", "ndtri", "NormalDist", "stdtr",
    "stdtridf", "stdtrit",
}  # fmt: skip
OF_OTHER_IDEAS = {
    "analysis/distributions/binomial.py": "exact inference from counts, which has no variance",
    "analysis/distributions/studentized_range.py": "is a distribution itself",
    "analysis/distributions/noncentral_t.py": "is a distribution itself",
    "analysis/distributions/ranks.py": "Kendall's tau-b as scipy computes it, without its p-value",
    "analysis/distributions/rank_intervals.py": "inverts a simulated distribution, or uses Fisher's scale",
    "analysis/models/tournament_checks.py": "chi square of a model's fit, which estimates nothing",
    "analysis/models/crossed_fit.py": "posterior of the crossed model",
    "analysis/models/crossed_model.py": "posterior of the crossed model",
    "analysis/models/crossed_posterior.py": "likelihood of the crossed model",
    "analysis/models/psychometric.py": "profile likelihood of one person's function",
    "analysis/models/population.py": "shares of a normal population",
    "analysis/planning/boundaries.py": "boundaries of planned looks",
    "analysis/planning/power.py": "draws of studies that are planned",
    "analysis/planning/share_spreads.py": "variance between pictures that a plan assumes",
    "analysis/detection.py": "z of signal detection",
    "analysis/pairs.py": "z of signal detection",
    "analysis/agreement/item_votes.py": "z of signal detection",
    "analysis/agreement/opinion_scores.py": "Fisher's z of rank correlations over references",
    "web/look_course.py": "z of the recorded p-values of looks",
    "administration/simulated_pictures.py": "draws pictures",
    "experiment/items.py": "draws simulated evaluators",
    "experiment/judgments/same_or_different.py": "draws simulated evaluators",
    "experiment/simulated_follow_ups.py": "draws simulated evaluators",
}
"""Modules that call distributions beside `inference.py`, and why that is no interval or p of a variance."""


def distributions_of(tree):
    """Return the distributions that a module takes from scipy or the standard library."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("scipy.stats"):
            yield "stats"
        elif isinstance(node, ast.ImportFrom | ast.Import):
            names = {name.name for name in node.names}
            yield from names & (DISTRIBUTIONS | {"stats", "scipy.stats"})
        elif isinstance(node, ast.Attribute) and node.attr in DISTRIBUTIONS:
            yield node.attr


def test_every_other_module_forms_its_intervals_and_p_values_by_inference():
    """A number whose variance and quantile were formed elsewhere would not say what is random in it."""
    root = Path(backend.__file__).parent
    users = {
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        if {*distributions_of(ast.parse(path.read_text("utf-8")))}
    }

    assert users - {"analysis/distributions/inference.py"} == {*OF_OTHER_IDEAS}


@pytest.mark.parametrize(
    "code",
    [
        "from scipy.special import expit, stdtrit",
        "from scipy import special\nspecial.ndtri(0.5)",
        "from scipy import stats",
        "import scipy.stats",
        "from scipy.stats import norm",
        "from statistics import NormalDist",
    ],
)
def test_a_distribution_taken_elsewhere_is_noticed(code):
    assert [*distributions_of(ast.parse(code))]


@pytest.mark.parametrize("count", [5, 10, 20, 60])
def test_few_values_show_part_of_the_skewness_of_their_distribution(count):
    values = np.random.default_rng(count).exponential(size=(40_000, count))

    shown = stats.skew(values, axis=1, bias=False).mean()

    assert unseen_skewness(count) * math.sqrt(count) == pytest.approx(2 - shown, abs=0.25)


def test_what_differs_between_strata_is_no_part_of_the_variance():
    values = np.array([1.0, 3, 11, 13])

    people = mean_of(values, np.array([0, 0, 1, 1])).people

    # half the values have the mean 2 and the variance of the mean 1, half 12 and 1: (1 + 1) / 4, of 2 df
    assert (people.variance, people.df) == pytest.approx((0.5, 2))
    assert mean_of(values, np.array([0, 1, 1, 1])).people == mean_of(values).people
