"""Parameters in, parameters out: simulated evaluators through the real HTTP API and the scoring."""

import math

import pytest

from backend import staircase
from backend.errors import InvalidInput
from backend.observer import parse_observer
from backend.results import study_scores
from backend.simulation import simulate

from . import studies


def test_known_accuracies_come_back_within_their_intervals_and_in_order(world):
    study = world.add(studies.study(models=("good", "middle", "bad"), images=60), each=200)
    accuracies = {"good": "0.55", "middle": "0.75", "bad": "0.95"}

    simulate(world.store, world.data, "faces", accuracies, seed=4)
    scores = study_scores(world.store, study)

    assert [model["model"] for model in scores["models"]] == ["good", "middle", "bad"]
    for model, expected in zip(scores["models"], (45, 25, 5), strict=True):
        assert model["evaluators"] == 30
        # an interval of 95 % misses at times; five binomial standard deviations do not
        sd = math.sqrt(expected * (100 - expected) / (30 * 60))
        assert abs(model["score"] - expected) < 5 * sd
    assert all(pair["p"] < 0.05 for pair in scores["pairs"])


def test_a_threshold_comes_back_where_the_rule_settles(world):
    study = world.add(studies.study(method="time", models=("m",), blocks=1, evaluators=12), each=100)
    text = "threshold=300,slope=12,lapse=0,guess=0.5"
    goal = staircase.equilibrium_accuracy(study.protocol.staircase)

    simulate(world.store, world.data, "faces", {"all": text}, seed=5)
    (model,) = study_scores(world.store, study)["models"]

    observer = parse_observer(text)
    settles = min(range(100, 1000), key=lambda ms: abs(observer.accuracy(ms) - goal))
    assert model["score"] == pytest.approx(settles, abs=35)


def test_a_model_that_the_study_does_not_have_is_named(world):
    world.add(studies.study(images=4))

    with pytest.raises(InvalidInput, match="study faces has no model 'x'; it has gan, vae"):
        simulate(world.store, world.data, "faces", {"x": "0.5"})


def test_evaluators_who_never_err_score_nothing_until_the_study_is_full(world):
    study = world.add(studies.study(models=("m",), images=20, evaluators=4))

    simulate(world.store, world.data, "faces", {"all": "1.0"}, seed=1)

    (model,) = study_scores(world.store, study)["models"]
    assert (model["score"], model["evaluators"]) == (0.0, 4)
