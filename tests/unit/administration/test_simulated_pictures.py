"""Pictures that differ for simulated evaluators: the mean asked for is met, and the same ones are hard."""

from random import Random
from statistics import NormalDist, fmean, pstdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.administration.simulated_pictures import accuracy_at, picture_effects, strengths_of
from backend.experiment.observer import parse_observer
from backend.experiment.records import FAKE, REAL, Stimulus


def pool(count, model="gan", truth=FAKE, class_=""):
    return [Stimulus(f"{truth}{model}{class_}{i}", truth, model, class_, f"{i:05}.png") for i in range(count)]


@given(st.integers(1, 300))
def test_effects_of_each_kind_of_picture_have_mean_0_and_sd_1(count):
    stimuli = [*pool(count), *pool(count + 3, None, REAL), *pool(count, class_="cat")]

    found = picture_effects(stimuli)

    assert found.keys() == {each.name for each in stimuli}
    for kind in (pool(count), pool(count + 3, None, REAL), pool(count, class_="cat")):
        own = [found[each.name] for each in kind]
        assert fmean(own) == pytest.approx(0, abs=1e-9)
        assert pstdev(own) == pytest.approx(float(len(kind) > 1), abs=1e-9)
    assert found == picture_effects(reversed(stimuli))


@pytest.mark.parametrize("accuracy", ["0", "0.3", "0.5", "0.81", "0.97", "1", "dprime=1.2"])
@pytest.mark.parametrize("sd", [0, 0.35, 1])
@pytest.mark.parametrize("count", [10, 50, 500])
def test_the_accuracy_asked_for_is_the_mean_over_the_pictures(accuracy, sd, count):
    observer, effects = parse_observer(accuracy, 2.0), picture_effects(pool(count)).values()

    found = [accuracy_at(observer, None, [effect], sd) for effect in effects]

    assert fmean(found) == pytest.approx(observer.accuracy(None), abs=0.01 if count == 10 else 0.003)
    assert (len(set(found)) > 1) == (0 < observer.accuracy(None) < 1 and sd > 0)


def test_pictures_too_short_to_be_seen_are_all_alike():
    observer = parse_observer("threshold=300,slope=6,lapse=0.05")

    spread = [
        accuracy_at(observer, ms, [2.0], 0.35) - accuracy_at(observer, ms, [-2.0], 0.35)
        for ms in (1, 150, 300, None)
    ]

    assert spread[0] == pytest.approx(0, abs=1e-6)
    assert spread[0] < spread[1] < spread[2]
    assert spread[3] > 0.1


def test_strengths_are_met_over_all_pairs_of_pictures():
    a, b = pool(60, "a"), pool(60, "b")
    effects, rng, models = picture_effects([*a, *b]), Random(1), {"a": 0.5, "b": -0.3}

    odds = []
    for _ in range(20_000):
        left, right = strengths_of([rng.choice(a), rng.choice(b)], models, effects, 0.35)
        odds.append(1 / (1 + 2.718281828 ** (right - left)))

    share = fmean(odds)
    assert share == pytest.approx(1 / (1 + 2.718281828**-0.8), abs=0.006)
    assert pstdev(odds) > 0.1


def test_two_pictures_of_a_pair_add_up():
    observer = parse_observer("0.75")
    normal, rng = NormalDist(), Random(3)

    found = [accuracy_at(observer, None, [rng.gauss(0, 1), rng.gauss(0, 1)], 0.35) for _ in range(20_000)]

    assert fmean(found) == pytest.approx(0.75, abs=0.005)
    probits = [normal.inv_cdf(each) for each in found]
    assert pstdev(probits) == pytest.approx(0.35 * 2**0.5, rel=0.03)
