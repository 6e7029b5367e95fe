"""Simulated evaluators answer as often right as they are told to."""

import math
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from backend.experiment.observer import (
    ConstantObserver,
    PsychometricObserver,
    parse_observer,
)
from backend.foundation.errors import InvalidInput

shares = st.floats(0, 1)
OBSERVERS = st.one_of(
    st.builds(ConstantObserver, shares),
    st.builds(PsychometricObserver, st.floats(1e-3, 1e6), st.floats(0.01, 1e6), shares, shares),
)


def test_at_the_threshold_accuracy_is_midway_between_guess_and_best():
    observer = parse_observer("threshold=250,slope=3,lapse=0.02,guess=0.5")

    assert observer.accuracy(250) == pytest.approx((0.5 + 0.98) / 2)
    assert observer.accuracy(None) == 0.98
    assert observer.accuracy(1) == pytest.approx(0.5, abs=1e-5)


def test_twice_the_threshold_at_slope_3_is_eight_ninths_of_the_way():
    # 1 / (1 + (1/2)**3) = 8/9
    assert PsychometricObserver(250, slope=3).accuracy(500) == pytest.approx(0.5 + 0.5 * 8 / 9)


@example(PsychometricObserver(2.0, 1.0), 5e-324)
@given(OBSERVERS, st.none() | st.floats(0, 1e6))
def test_accuracy_is_a_share_at_any_exposure(observer, exposure_ms):
    assert 0 <= observer.accuracy(exposure_ms) <= 1


@pytest.mark.parametrize(("text", "exposure_ms"), [("0.81", None), ("threshold=250,lapse=0.1", 300)])
@pytest.mark.parametrize("truth", ["real", "fake"])
def test_answers_are_right_as_often_as_the_accuracy_says(text, exposure_ms, truth):
    rng, observer = Random(1), parse_observer(text)
    accuracy = observer.accuracy(exposure_ms)

    right = sum(observer.answer(truth, exposure_ms, rng) == truth for _ in range(20000))

    assert right / 20000 == pytest.approx(accuracy, abs=4 * (accuracy * (1 - accuracy) / 20000) ** 0.5)


@pytest.mark.parametrize("observer", [ConstantObserver(0.7), PsychometricObserver(250, lapse=0.3)])
def test_evaluators_vary_around_the_mean_within_bounds(observer):
    rng = Random(2)

    many = [observer.varied(0.2, rng).accuracy(None) for _ in range(2000)]

    assert min(many) == pytest.approx(0.3)
    assert max(many) == pytest.approx(0.995)
    # clipping Normal(0.7, 0.2) to [0.3, 0.995] takes 0.004 off the mean; 4 standard errors are 0.018
    assert sum(many) / 2000 == pytest.approx(0.696, abs=0.018)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "an observer must be an accuracy such as 0.81"),
        ("x", "an observer must be an accuracy"),
        ("slop=3", "an observer must be an accuracy"),
        ("slope=3", "an observer must be an accuracy"),
        ("threshold=1,threshold=2", "with each name once"),
        ("threshold=250,", "an observer must be an accuracy"),
        ("1.5", "accuracy must be from 0 to 1, not 1.5"),
        ("nan", "accuracy must be from 0 to 1, not nan"),
        ("threshold=0", "threshold must be above 0, not 0.0"),
        ("threshold=inf", "threshold must be above 0, not inf"),
        ("threshold=250,slope=-1", "slope must be above 0, not -1.0"),
        ("threshold=250,lapse=2", "lapse must be from 0 to 1, not 2.0"),
        ("threshold=250,guess=nan", "guess must be from 0 to 1, not nan"),
    ],
)
def test_what_describes_no_observer_is_refused(text, message):
    with pytest.raises(InvalidInput, match=message):
        parse_observer(text)


@pytest.mark.parametrize(
    ("d_prime", "divisor", "accuracy"),
    [
        (0, 2, 0.5),
        (1, 2, 0.6914625),  # R: pnorm(0.5)
        (1, math.sqrt(2), 0.7602499),  # R: pnorm(1 / sqrt(2))
        (-1, math.sqrt(2), 0.2397501),
        (50, math.sqrt(2), 1),
    ],
)
def test_a_sensitivity_is_an_accuracy_by_the_rule_of_the_judgment(d_prime, divisor, accuracy):
    observer = parse_observer(f"dprime={d_prime}", divisor)

    assert observer.accuracy(None) == pytest.approx(accuracy, abs=1e-7)


@pytest.mark.parametrize("text", ["dprime=nan", "dprime=inf", "dprime=", "dprime=1,slope=3", "dprime=1e999"])
def test_a_sensitivity_is_a_finite_number(text):
    with pytest.raises(InvalidInput, match=r"dprime must be a finite number, such as 1\.2"):
        parse_observer(text, 2)


def test_where_sensitivity_has_no_rule_it_is_no_observer():
    with pytest.raises(InvalidInput, match="an observer must be an accuracy"):
        parse_observer("dprime=1")
