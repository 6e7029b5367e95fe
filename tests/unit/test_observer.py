"""Simulated evaluators answer as often right as they are told to."""

from random import Random

import pytest

from backend.errors import InvalidInput
from backend.observer import Observer, parse_observer


def test_at_the_threshold_accuracy_is_midway_between_guess_and_best():
    observer = parse_observer("threshold=250,slope=3,lapse=0.02,guess=0.5")

    assert observer.accuracy(250) == pytest.approx((0.5 + 0.98) / 2)
    assert observer.accuracy(None) == 0.98
    assert observer.accuracy(1) == pytest.approx(0.5, abs=1e-5)


def test_answers_are_right_as_often_as_the_accuracy_says():
    rng, observer = Random(1), parse_observer("0.81")

    right = sum(observer.answer("fake", None, rng) == "fake" for _ in range(20000))

    assert right / 20000 == pytest.approx(0.81, abs=4 * (0.81 * 0.19 / 20000) ** 0.5)


def test_evaluators_vary_around_the_mean_within_bounds():
    rng = Random(2)

    many = [Observer(lapse=0.3).varied(0.2, rng).accuracy(None) for _ in range(2000)]

    assert min(many) >= 0.3
    assert max(many) <= 0.995
    assert sum(many) / 2000 == pytest.approx(0.7, abs=0.03)


@pytest.mark.parametrize("text", ["", "x", "1.5", "nan", "threshold=0", "slop=3", "lapse=2", "threshold=inf"])
def test_what_describes_no_observer_is_refused(text):
    with pytest.raises(InvalidInput, match="an observer"):
        parse_observer(text)
