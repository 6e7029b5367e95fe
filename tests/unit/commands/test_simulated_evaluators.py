"""Parameters in, parameters out: simulated evaluators through the real HTTP API and the scoring."""

import math
import threading
from contextlib import closing

import pytest
from flask import Flask

from backend.administration.clear import clear_simulated
from backend.commands.simulated_evaluators import Client, Refused, simulate
from backend.experiment import staircase
from backend.experiment.observer import parse_observer
from backend.foundation.errors import Conflict, InvalidInput
from backend.responses.study_data import study_scores
from backend.stores.datadir import DataDir
from backend.web.server import in_background

from .. import sample_studies as studies
from ..people import served


@pytest.mark.slow("simulates many evaluators to know an interval's coverage")
def test_known_accuracies_come_back_within_their_intervals_and_in_order(world):
    study = world.add(studies.study(models=("good", "middle", "bad"), images=60), each=200)
    accuracies = {"good": "0.55", "middle": "0.75", "bad": "0.95"}

    simulate(world.store, world.data, "faces", accuracies, seed=4)
    scores = study_scores(world.store, study, simulated=True)

    assert [model["model"] for model in scores["models"]] == ["good", "middle", "bad"]
    for model, expected in zip(scores["models"], (45, 25, 5), strict=True):
        assert model["evaluators"] == 30
        # an interval of 95 % misses at times; five binomial standard deviations do not
        sd = math.sqrt(expected * (100 - expected) / (30 * 60))
        assert abs(model["score"] - expected) < 5 * sd
    assert all(pair["p"] < 0.05 for pair in scores["pairs"])


@pytest.mark.slow("simulates many evaluators to know an interval's coverage")
def test_a_threshold_comes_back_where_the_rule_settles(world):
    study = world.add(studies.study(method="time", models=("m",), blocks=1, evaluators=12), each=100)
    text = "threshold=300,slope=12,lapse=0,guess=0.5"
    goal = staircase.equilibrium_accuracy(study.protocol.timing.staircase)

    simulate(world.store, world.data, "faces", {"all": text}, seed=5)
    (model,) = study_scores(world.store, study, simulated=True)["models"]

    observer = parse_observer(text)
    settles = min(range(100, 1000), key=lambda ms: abs(observer.accuracy(ms) - goal))
    assert model["score"] == pytest.approx(settles, abs=35)


def test_a_model_that_the_study_does_not_have_is_named(world):
    world.add(studies.study(images=4))

    with pytest.raises(InvalidInput, match="study faces has no model 'x'; it has gan, vae"):
        simulate(world.store, world.data, "faces", {"x": "0.5"})


def test_evaluators_who_never_err_score_nothing_as_many_as_are_wanted(world):
    study = world.add(studies.study(models=("m",), images=20, evaluators=4))

    simulate(world.store, world.data, "faces", {"all": "1.0"}, seed=1)

    (model,) = study_scores(world.store, study, simulated=True)["models"]
    assert (model["score"], model["evaluators"]) == (0.0, 4)


def answers(world):
    """Return what was answered, in the order in which the sessions were opened."""
    found = sorted(world.store.answered("faces", simulated=True), key=lambda one: one[0].opened_at)
    return sorted(
        (session.model, session.seed, [(r.stimulus, r.response) for r in responses])
        for session, _, responses in found
    )


def test_the_same_seed_gives_the_same_answers_whatever_people_did_meanwhile(world):
    world.add(studies.study(images=8, evaluators=4))
    simulate(world.store, world.data, "faces", {"all": "0.7"}, seed=3, sd=0.1)
    first = answers(world)
    clear_simulated(world.store, "faces")
    for _ in range(3):
        world.player().play()

    simulate(world.store, world.data, "faces", {"all": "0.7"}, seed=3, sd=0.1, at_once=3)

    assert answers(world) == first
    assert len(list(world.store.sessions("faces"))) == 3


def test_simulating_in_parts_gives_what_simulating_at_once_gives(world):
    world.add(studies.study(images=8, evaluators=4))
    counts = [simulate(world.store, world.data, "faces", {}, evaluators=n, seed=5) for n in (3, 5)]
    in_parts = answers(world)
    clear_simulated(world.store, "faces")

    simulate(world.store, world.data, "faces", {}, seed=5)

    assert (counts, len(in_parts)) == ([3, 5], 8)
    assert answers(world) == in_parts


def test_as_many_are_simulated_as_are_wanted_of_real_ones_and_more_when_asked_for(world):
    world.add(studies.study(images=8, evaluators=2))
    world.player().play()

    counts = [simulate(world.store, world.data, "faces", {}, evaluators=n) for n in (1, None, None, 3)]

    assert counts == [1, 3, 0, 3]
    assert world.store.finished("faces", simulated=True)[0] == 7


def test_a_study_with_a_qualification_is_simulated_with_it(world):
    world.add(studies.study("test", kind="qualification", images=20))
    world.add(studies.study(images=8, evaluators=2, qualification="test"))

    simulate(world.store, world.data, "faces", {}, at_once=2)

    assert [world.store.finished(name, simulated=True)[0] for name in ("faces", "test")] == [4, 4]
    assert [world.store.finished(name)[0] for name in ("faces", "test")] == [0, 0]


def test_a_server_with_another_key_is_told_apart(world, tmp_path):
    world.add(studies.study(images=8))
    other = DataDir(tmp_path / "other")
    with served(world.store, world.data.root) as base:
        with pytest.raises(InvalidInput, match=r"there is no .*other/keys\.json"):
            simulate(world.store, other, "faces", {}, url=base)
        other.keys()
        with pytest.raises(InvalidInput, match="has another researcher's key"):
            simulate(world.store, other, "faces", {}, url=base)

        simulate(world.store, world.data, "faces", {}, url=base, evaluators=2)

    assert world.store.finished("faces", simulated=True)[0] == 2


def test_sessions_that_are_cleared_while_they_are_played_end_the_simulation_with_a_word(world):
    world.add(studies.study(images=100))
    done = threading.Event()

    def clear():
        while not done.is_set():
            clear_simulated(world.store, "faces")

    clearing = threading.Thread(target=clear)
    clearing.start()
    try:
        with pytest.raises(Conflict, match="simulated sessions of faces were removed while they were played"):
            simulate(world.store, world.data, "faces", {}, evaluators=4)
    finally:
        done.set()
        clearing.join()


def test_a_server_of_something_else_is_told_by_its_reply():
    refused = pytest.raises(Refused, match=r"not JSON \(status 404\): is openhype served there")
    with in_background(Flask("something_else")) as url, closing(Client(url)) as client, refused:
        client.get("/api/studies/faces")


def test_a_server_that_takes_no_evaluator_is_asked_by_one_of_them(world):
    world.add(studies.study(images=8))
    app, asked = Flask("closed"), []

    @app.post("/api/studies/faces/sessions")
    def refuse():
        asked.append(1)
        return {"error": {"code": "conflict", "message": "closed"}}, 409

    with in_background(app) as url, pytest.raises(Refused, match="closed"):
        simulate(world.store, world.data, "faces", {}, url=url, evaluators=20)

    assert len(asked) == 1


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_busy_server_whose_refusal_is_no_json_is_asked_again(status):
    app, replies = Flask("busy"), [("<h1>busy</h1>", status), ("<h1>busy</h1>", status), {"study": "faces"}]
    app.get("/api/studies/faces")(lambda: replies.pop(0))

    with in_background(app) as url, closing(Client(url)) as client:
        assert client.get("/api/studies/faces") == {"study": "faces"}
