"""Classes within or between evaluators: who judges what, how many are wanted, and what is scored."""

from collections import Counter

import pytest

from backend.administration.revise import change_settings
from backend.experiment import sampling
from backend.foundation.errors import InvalidInput
from backend.recruitment import plan
from backend.report.study_findings import study_findings
from backend.web import progress

from . import sample_studies as studies

CONDITIONS = {("gan", "cat"), ("gan", "dog"), ("vae", "cat"), ("vae", "dog")}


def by_class(world, **settings):
    settings = {"images": 10, "spare_images": 0, "evaluators": 1, "class_design": "between", **settings}
    return world.add(studies.study(classes=("cat", "dog"), **settings), each=40)


def judged(session):
    """Return the model and the classes that a session shows."""
    return session.model, "".join({block.class_ for block in session.blocks})


def refused(reply):
    return reply.json["error"]["code"]


@pytest.mark.parametrize("method", ["infinity", "time"])
def test_each_class_of_each_model_gets_evaluators_of_its_own(each_world, method):
    world = each_world
    study = by_class(world, method=method)
    players = [world.player() for _ in range(4)]
    assert refused(world.open()) == "study_full"

    for player in players:
        player.play()

    played = list(world.store.sessions("faces"))
    assert {judged(session) for session, _ in played} == CONDITIONS
    assert {(session.model, session.class_) for session, _ in played} == CONDITIONS
    assert refused(world.open()) == "study_full"
    assert world.store.taken("faces", "2020") == dict.fromkeys(
        ("gan/cat", "gan/dog", "vae/cat", "vae/dog"), 1
    )
    assert sampling.lacking(study, played) == 0
    scored = study_findings(world.store, study, world.clock())["findings"]["classes"]
    assert {(row["model"], part["class"]) for part in scored for row in part["models"]} == CONDITIONS


def test_a_place_that_comes_free_goes_to_its_class(each_world):
    world = each_world
    study = by_class(world, panel="link")
    for player in (held := [world.player() for _ in range(4)])[1:]:
        player.play()
    lost = world.store.session(held[0].state["session"])
    assert sampling.lacking(study, world.store.sessions("faces")) == 1

    world.clock.move(minutes=10, seconds=1)
    again = world.store.session(world.player().state["session"])

    assert judged(again) == judged(lost)
    assert refused(world.open()) == "study_full"


def test_within_classes_a_model_needs_one_evaluator_who_sees_both(each_world):
    world = each_world
    by_class(world, class_design="within")

    sessions = [world.store.session(world.player().state["session"]) for _ in range(2)]

    assert refused(world.open()) == "study_full"
    assert Counter(block.class_ for session in sessions for block in session.blocks) == {"cat": 2, "dog": 2}
    assert {session.class_ for session in sessions} == {""}


def test_progress_and_recruitment_want_evaluators_for_each_class(world):
    study = by_class(world, evaluators=3, base_usd_cents=100)

    assert progress.progress(world.store, study)["evaluators_wanted"] == 6
    assert plan.plan(study).places == 12


def test_simulated_evaluators_fill_each_class(each_world):
    world = each_world
    study = by_class(world, evaluators=2)
    for _ in range(8):
        world.player(simulated=True).play()

    played = list(world.store.sessions("faces", simulated=True))

    assert Counter(judged(session) for session, _ in played) == dict.fromkeys(CONDITIONS, 2)
    assert sampling.lacking(study, played) == 0


def test_the_design_can_be_changed_before_anybody_began(world):
    world.add(studies.study(images=10, spare_images=0, classes=("cat", "dog")), each=40)
    world.add(studies.study("plain", images=10, spare_images=0), each=40)

    after = change_settings(world.store, world.data, "faces", {"class_design": "between"}).study

    assert [condition.name for condition in after.conditions] == ["gan/cat", "gan/dog", "vae/cat", "vae/dog"]
    with pytest.raises(InvalidInput, match="class_design=between needs classes: sub-folders"):
        change_settings(world.store, world.data, "plain", {"class_design": "between"})
    with pytest.raises(InvalidInput, match="one of within, between, not 'neither'"):
        change_settings(world.store, world.data, "faces", {"class_design": "neither"})
