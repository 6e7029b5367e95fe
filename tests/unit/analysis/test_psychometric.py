"""The psychometric function: known ones come back, intervals hold them, and answers that say little."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from backend.analysis.models.psychometric import Fit, Trials, fit, limited, profile_over_evaluators
from backend.foundation.errors import InvalidInput

EXPOSURES = np.array([60.0, 90, 135, 200, 300, 450, 675, 1000])


def accuracy(ms, midpoint=250.0, slope=3.0, lapse=0.03, guess=0.5):
    return guess + (1 - guess - lapse) / (1 + (midpoint / ms) ** slope)


def drawn(rng, each=60, **function):
    totals = np.full(len(EXPOSURES), each)
    return Trials(EXPOSURES, rng.binomial(totals, accuracy(EXPOSURES, **function)).astype(float), totals)


@pytest.mark.parametrize(
    "function",
    [
        {"midpoint": 250.0, "slope": 3.0, "lapse": 0.03},
        {"midpoint": 150.0, "slope": 5.0, "lapse": 0.1},
        {"midpoint": 400.0, "slope": 2.0, "lapse": 0.0, "guess": 0.25},
    ],
)
def test_shares_without_noise_give_the_function_back(function):
    totals = np.full(len(EXPOSURES), 10_000)
    guess = function.get("guess", 0.5)

    found = fit(Trials(EXPOSURES, totals * accuracy(EXPOSURES, **function), totals), guess=guess)

    assert found.midpoint_ms == pytest.approx(function["midpoint"], rel=1e-3)
    assert found.slope == pytest.approx(function["slope"], rel=1e-3)
    assert found.lapse == pytest.approx(function["lapse"], abs=1e-3)
    assert found.accuracy(found.threshold_ms) == pytest.approx(0.75, abs=1e-9)
    assert found.deviance == pytest.approx(0, abs=1e-3)


def test_parameters_come_back_from_simulated_answers():
    rng = np.random.default_rng(1)

    fits = [fit(drawn(rng, each=200), level=None) for _ in range(40)]

    # 0.75 = 0.5 + 0.47 / (1 + (250 / t)^3): t = 250 * (0.25 / 0.22)^(1/3) = 260.9
    assert np.median([one.threshold_ms for one in fits]) == pytest.approx(260.9, rel=0.02)
    assert np.median([one.slope for one in fits]) == pytest.approx(3, rel=0.1)
    assert np.median([one.lapse for one in fits]) == pytest.approx(0.03, abs=0.01)


def test_the_interval_is_where_the_profile_of_a_dense_grid_crosses():
    trials = drawn(np.random.default_rng(2))
    found = fit(trials)

    def log_likelihood(midpoint, slope, lapse):
        p = np.clip(accuracy(EXPOSURES, midpoint, slope, lapse), 1e-9, 1 - 1e-9)
        return float(trials.right @ np.log(p) + (trials.total - trials.right) @ np.log1p(-p))

    def profile(threshold):
        best = -math.inf
        for slope in np.geomspace(0.5, 25, 160):
            for lapse in np.linspace(0, 0.2, 81):
                reached = 0.25 / (0.5 - lapse)
                midpoint = threshold * (1 / reached - 1) ** (1 / slope)
                best = max(best, log_likelihood(midpoint, slope, lapse))
        return best

    # chi-squared's 95% with one degree of freedom is 3.8415
    losses = [2 * (found.log_likelihood - profile(end)) for end in found.ci]
    assert losses == pytest.approx([3.8415, 3.8415], abs=0.03)


@pytest.mark.slow("simulates many evaluators to know an interval's coverage")
def test_95_of_100_intervals_hold_the_threshold_and_5_of_100_good_fits_look_bad():
    """150 simulated evaluators of 480 answers, SE 1.8%."""
    rng = np.random.default_rng(3)

    fits = [fit(drawn(rng), rng=rng) for _ in range(150)]

    held = np.mean([(one.ci[0] or 0) <= 260.9 <= (one.ci[1] or math.inf) for one in fits])
    assert held == pytest.approx(0.95, abs=0.04)
    assert np.mean([one.p < 0.05 for one in fits]) == pytest.approx(0.05, abs=0.04)


def test_answers_that_no_such_function_makes_fit_badly():
    totals = np.full(8, 100)
    right = np.array([90.0, 50, 95, 55, 60, 95, 50, 99])

    assert fit(Trials(EXPOSURES, right, totals), rng=np.random.default_rng(0)).p < 0.01


def test_people_who_differ_widen_the_interval_of_their_threshold():
    rng = np.random.default_rng(5)
    people = [drawn(rng, midpoint=300 * np.exp(0.5 * rng.standard_normal())) for _ in range(30)]
    everything = Trials(EXPOSURES, sum(one.right for one in people), sum(one.total for one in people))

    found = fit(everything)
    low, high = profile_over_evaluators(everything, found, people, 0.95)

    assert np.log(high / low) > 2 * np.log(found.ci[1] / found.ci[0])


def test_alike_people_have_the_interval_of_their_answers():
    rng = np.random.default_rng(5)
    people = [drawn(rng) for _ in range(60)]
    everything = Trials(EXPOSURES, sum(one.right for one in people), sum(one.total for one in people))

    found = fit(everything)
    over = profile_over_evaluators(everything, found, people, 0.95)

    assert over == pytest.approx(found.ci, rel=0.02)
    assert profile_over_evaluators(everything, found, people[:1], 0.95) is None


def test_a_threshold_that_the_answers_do_not_bound_has_an_interval_without_that_end():
    ms, totals = np.array([100.0, 200, 400, 800]), np.full(4, 20)
    people = [Trials(ms, np.array(right), totals) for right in ([20.0, 20, 20, 20], [10.0, 10, 10, 11])]
    everything = Trials(ms, people[0].right + people[1].right, 2 * totals)

    over = profile_over_evaluators(everything, fit(everything, level=None), people, 0.95)

    assert over == (None, None)  # one sees everything, one nothing, at any exposure


def test_an_accuracy_that_is_never_reached_has_no_threshold():
    totals = np.full(8, 200)
    found = fit(Trials(EXPOSURES, np.round(totals * accuracy(EXPOSURES, lapse=0.35)), totals))

    assert (found.threshold_ms, found.ci[1]) == (None, None)
    assert found.ci[0] > 1000


@pytest.mark.parametrize("was_right", [0, 1])
@pytest.mark.parametrize("exposures", [[500.0], [500.0] * 40, np.arange(100.0, 1000, 10)])
def test_all_right_or_all_wrong_is_fitted_without_a_warning(exposures, was_right):
    found = fit(Trials.of(exposures, np.full(len(exposures), was_right)), rng=np.random.default_rng(0))

    assert isinstance(found, Fit)
    assert math.isfinite(found.deviance)
    # nothing tells how short, or how long, the threshold could be
    assert found.ci[1 - was_right] is None or found.ci[0] is None


def test_one_exposure_has_no_goodness_of_fit():
    assert fit(Trials.of([500.0, 500.0, 500.0], [0, 1, 1]), rng=np.random.default_rng(0)).p is None


@settings(max_examples=10)
@given(
    st.lists(st.tuples(st.sampled_from(EXPOSURES.tolist()), st.booleans()), min_size=5, max_size=80),
    st.randoms(),
)
def test_the_order_of_answers_does_not_matter(answers, random):
    mixed = [*answers]
    random.shuffle(mixed)

    assert fit(Trials.of(*zip(*mixed, strict=True))) == fit(Trials.of(*zip(*answers, strict=True)))


def test_exposures_are_kept_to_the_digit():
    assert Trials.of([100.0, 100.0, 16.7], [1, 0, 1]).exposure_ms.tolist() == [16.7, 100.0]


@pytest.mark.parametrize(
    ("exposures", "answers", "message"),
    [
        ([], [], "needs answers, and there are none"),
        ([100], [1, 0], "two lists of one length"),
        ([0, 100], [1, 0], "every exposure must be a number above 0 ms"),
        ([float("nan")], [1], "every exposure must be a number above 0 ms"),
        ([100], [2], "every answer must be right"),
        ([100], [float("nan")], "every answer must be right"),
    ],
)
def test_answers_that_are_none_are_refused(exposures, answers, message):
    with pytest.raises(InvalidInput, match=message):
        Trials.of(np.array(exposures, float), np.array(answers))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"guess": 1.0}, "guess must be from 0 to below 1, not 1"),
        ({"at": 0.5}, r"between guess \(0.5\) and 1, not 0.5"),
        ({"at": 1}, r"between guess \(0.5\) and 1, not 1"),
        ({"level": 95}, "level must be between 0 and 1, such as 0.95, not 95"),
    ],
)
def test_an_option_out_of_range_is_refused(options, message):
    with pytest.raises(InvalidInput, match=message):
        fit(Trials.of([100.0], [1]), **options)


@pytest.mark.parametrize(("exposures", "answers"), [(2, 40), (3, 40), (4, 5000), (9, 100000)])
@pytest.mark.parametrize("share", [0, 1])
def test_answers_that_are_all_alike_fit_perfectly(exposures, answers, share):
    trials = Trials(
        np.linspace(100.0, 400, exposures),
        np.full(exposures, float(share * answers)),
        np.full(exposures, answers),
    )

    found = fit(trials, guess=0.0, rng=np.random.default_rng(1))

    assert found.p is None or found.p > 0.5
    assert found.censored == ("floor" if share else "ceiling")


@given(st.lists(st.tuples(st.sampled_from([30.0, 60, 120, 500]), st.booleans()), min_size=4, max_size=60))
def test_what_is_no_estimate_is_said_to_be_none(answers):
    ms, right = map(np.array, zip(*answers, strict=True))
    assume(ms.min() < ms.max())

    found = fit(Trials.of(ms, right))

    inside = found.threshold_ms is not None and ms.min() < found.threshold_ms < ms.max()
    assert (found.censored is None) == inside
    assert ("slope" in found.at_bound) == (found.slope > 29.999 or found.slope < 0.30001)
    limit = limited(found.threshold_ms, found.ci, ms.min(), ms.max())
    assert ms.min() <= limit["ms"] <= ms.max()
    low, high = limit["ci"]
    assert low is None or ms.min() < low <= ms.max()
    assert high is None or ms.min() <= high < ms.max()
    assert None in (low, high) or low < high


@pytest.mark.parametrize(
    ("ms", "ci", "expected"),
    [
        (20.0, (10.0, 40.0), [None, 50.0]),
        (20.0, (10.0, 80.0), [None, 80.0]),
        (60.0, (40.0, 80.0), [None, 80.0]),
        (70.0, (60.0, None), [60.0, None]),
        (None, (2000.0, None), [1000.0, None]),
        (None, (None, None), [None, None]),
    ],
)
def test_an_end_outside_the_exposures_shown_is_open(ms, ci, expected):
    assert limited(ms, ci, 50.0, 1000.0)["ci"] == expected
