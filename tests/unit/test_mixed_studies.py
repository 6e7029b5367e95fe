"""Studies whose sessions show fakes of several models, from opening to score, over every store."""

import json
from collections import Counter

import pytest

from backend.administration.revise import change_settings
from backend.experiment import sampling
from backend.foundation.errors import InvalidInput
from backend.recruitment import plan
from backend.report.study_findings import study_findings
from backend.responses.attrition import attrition
from backend.responses.export import export
from backend.responses.study_data import study_rows, study_scores
from backend.stores import json_codec
from backend.studies import withdrawals
from backend.task import withdrawal
from backend.web import progress
from backend.web.monitor import Watch
from backend.web.static_demo import write_site
from tests.unit.response_rows import score_file

from . import sample_studies as studies

MODELS = ("gan", "vae", "dit")


def mixed(world, size=3, models=MODELS, each=40, **settings):
    settings = {"images": 12, "spare_images": 6, "evaluators": 2, "models_per_session": size, **settings}
    return world.add(studies.study(models=models, **settings), each=each)


def played(world, count, **options):
    players = [world.player(**options) for _ in range(count)]
    for i, player in enumerate(players):
        answers = iter([True, i % 2 == 0, True] * 100)
        player.play(right=lambda truth, answers=answers: next(answers))
    return players


def withdraw(world, session_id):
    secret = withdrawal.secret_of(world.data.keys().hashing, session_id)
    path = f"/api/sessions/{session_id}/withdrawal"
    assert world.http.post(path, headers={"Authorization": f"Bearer {secret}"}).json["is_withdrawn"]


def refused(reply):
    return reply.json["error"]["code"]


def test_an_evaluator_judges_all_models_beside_the_same_reals(each_world):
    world = each_world
    study = mixed(world)

    played(world, 2)

    sessions = [session for session, _ in world.store.sessions("faces")]
    assert {session.models for session in sessions} == {MODELS}
    assert {session.model for session in sessions} == {None}
    for session in sessions:
        assert Counter(session.blocks[0].models) == {None: 6, "gan": 2, "vae": 2, "dit": 2}
        assert Counter(session.spares[0].models) == {None: 3, "gan": 1, "vae": 1, "dit": 1}
    assert refused(world.open()) == "study_full"
    assert world.store.taken("faces", "2020") == {"gan, vae, dit": 2}
    assert sampling.lacking(study, world.store.sessions("faces")) == 0
    rows = list(study_rows(world.store, study))
    assert Counter(row["model"] for row in rows) == {"": 12, "gan": 4, "vae": 4, "dit": 4}
    assert {row["truth"] for row in rows if not row["model"]} == {"real"}
    found = study_scores(world.store, study)
    assert (found["design"], found["pairs_method"], found["responses"]) == ("within", "paired", 24)


def test_each_model_gets_the_wanted_evaluators_if_a_session_shows_some_of_the_models(each_world):
    world = each_world
    study = mixed(world, size=2, evaluators=4, base_usd_cents=100)
    assert (study.evaluators_wanted, plan.plan(study).places) == (6, 6)

    played(world, 6)

    judged = Counter(model for session, _ in world.store.sessions("faces") for model in session.models)
    assert judged == dict.fromkeys(MODELS, 4)
    assert world.store.taken("faces", "2020") == {"gan, vae": 2, "vae, dit": 2, "gan, dit": 2}
    assert refused(world.open()) == "study_full"
    found = study_findings(world.store, study, world.clock())
    assert (found["design"], found["pairs_method"]) == ("mixed", "clustered")
    assert {row["model"]: row["evaluators"] for row in found["models"]} == dict.fromkeys(MODELS, 4)
    assert [row["model"] for row in found["findings"]["attrition"]["models"]] == [
        "gan, vae", "vae, dit", "gan, dit"
    ]  # fmt: skip


def test_a_place_that_comes_free_goes_to_its_group(world):
    mixed(world, size=2, evaluators=2, panel="link")
    held = [world.player() for _ in range(3)]
    for player in held[1:]:
        player.play()
    assert refused(world.open()) == "study_full"

    world.clock.move(minutes=10, seconds=1)
    again = world.store.session(world.player().state["session"])

    assert again.models == world.store.session(held[0].state["session"]).models


def test_classes_between_evaluators_are_crossed_with_groups(each_world):
    world = each_world
    study = mixed(world, evaluators=1, classes=("cat", "dog"), class_design="between")

    played(world, 2)

    assert world.store.taken("faces", "2020") == {"gan, vae, dit/cat": 1, "gan, vae, dit/dog": 1}
    assert refused(world.open()) == "study_full"
    classes = study_findings(world.store, study, world.clock())["findings"]["classes"]
    assert [(row["class"], len(row["models"])) for row in classes] == [("cat", 3), ("dog", 3)]


def test_hype_time_has_a_staircase_for_each_model_and_replaces_by_the_same_one(each_world):
    world = each_world
    study = mixed(world, method="time", blocks=3, images=8, spare_images=12, evaluators=1)
    player = world.player()
    for _ in range(3):
        player.begin()
        planned = player.images[player.next["trial_index"]]
        reply = player.answer(flags=["mistimed"])
        player.images[player.next["trial_index"]] = reply["replaced_by"].rpartition("/")[2]
        at = {s.name: s for s in world.store.stimuli("faces")}
        before, after = (
            at[player.stored(name)] for name in (planned, player.images[player.next["trial_index"]])
        )
        assert (before.truth, before.model) == (after.truth, after.model)
        for _ in range(8):
            player.answer()

    (session, _), *_ = world.store.sessions("faces")
    per_block = [{model for model in block.models if model} for block in session.blocks]
    assert sorted(map(tuple, per_block)) == [("dit",), ("gan",), ("vae",)]
    rows = list(study_rows(world.store, study))
    assert Counter(row["model"] for row in rows) == dict.fromkeys(MODELS, 8)
    for block, models in enumerate(per_block):
        assert {row["model"] for row in rows if row["block"] == block} == models
    assert {row["model"] for row in study_scores(world.store, study)["models"]} == set(MODELS)


def test_the_scores_of_an_export_are_those_of_the_study(each_world, tmp_path):
    world = each_world
    study = mixed(world, evaluators=4, images=20)
    played(world, 4)

    data, *_ = export(world.store, study, tmp_path / "out")

    assert score_file(data) == study_scores(world.store, study)
    people = (tmp_path / "out" / "data" / "study-faces_description-evaluators_data.csv").read_text()
    assert people.splitlines()[1].split(",")[3] == ""  # a session of several models is of none


def test_a_withdrawn_session_is_counted_with_its_group_and_paid(each_world):
    world = each_world
    study = mixed(world, base_usd_cents=100)
    first, _ = played(world, 2)
    key = first.state["session"]

    withdraw(world, key)

    (entry,) = withdrawals.withdrawn(world.store, "faces")
    assert list(entry.data["models"]) == list(MODELS)
    assert entry.data["base_usd_cents"] == 100
    (row,) = attrition(world.store, study, world.clock())["models"]
    assert (row["model"], row["began"], row["withdrawn"], row["finished"]) == ("all models", 2, 1, 1)
    assert {r["evaluators"] for r in study_scores(world.store, study)["models"]} == {1}
    world.player().play()  # the place is free again
    assert refused(world.open()) == "study_full"


def test_progress_counts_groups_of_models(world):
    study = mixed(world, size=2, evaluators=4)
    played(world, 2)

    found = progress.progress(world.store, study)

    assert found["evaluators_wanted"] == 2
    assert {row["model"] for row in found["models"]} == {"gan, vae", "vae, dit", "gan, dit"}
    assert sum(row["finished"] for row in found["models"]) == 2
    assert "of 2 wanted" in progress.as_text(found)
    watched = Watch(world.store, study).with_scores(world.clock())
    assert watched["models"] == found["models"]
    assert {row["model"] for row in watched["scores"]["models"]} <= set(MODELS)


def test_the_debrief_names_the_models_and_compares_with_those_who_judged_them(world):
    mixed(world, debrief=True)
    first, second = played(world, 2)

    told = second.world.http.get(
        f"/api/sessions/{second.state['session']}/debrief",
        headers={"Authorization": f"Bearer {second.token}"},
    ).json

    assert told["model"] == "gan, vae, dit"
    assert told["others"]["evaluators"] == 1
    assert first.done["complete"]


def test_replies_name_no_model_before_the_end(world):
    mixed(world, models=("gan-secret", "vae-secret", "dit-secret"))
    bodies = []
    world.app.after_request(lambda reply: (bodies.append(reply.get_data(as_text=True)), reply)[1])

    played(world, 2)

    assert len(bodies) > 20
    assert not any(model in body for body in bodies for model in ("gan-secret", "vae-secret", "dit-secret"))


def test_settings_are_changed_before_anybody_began_and_simulated_sessions_go(each_world):
    world = each_world
    mixed(world, size=1)
    played(world, 3, simulated=True)

    changed = change_settings(world.store, world.data, "faces", {"models_per_session": 2})

    assert (changed.cleared, [each.name for each in changed.study.conditions]) == (
        3, ["gan, vae", "vae, dit", "gan, dit"]
    )  # fmt: skip
    played(world, 3, simulated=True)
    simulated = [session for session, _ in world.store.sessions("faces", simulated=True)]
    assert {session.models for session in simulated} == {("gan", "vae"), ("vae", "dit"), ("gan", "dit")}
    with pytest.raises(InvalidInput, match=r"at most 3, the number of the study's models .*, not 4"):
        change_settings(world.store, world.data, "faces", {"models_per_session": 4})
    assert world.store.study("faces").protocol.stimuli.models_per_session == 2


def test_a_pair_of_people_sees_half_and_half_of_each_truth(world):
    mixed(world, balance="people", images=20)
    played(world, 2)

    first, second = (session.blocks[0] for session, _ in world.store.sessions("faces"))

    assert Counter((*first.truths, *second.truths)) == {"real": 20, "fake": 20}
    for block in (first, second):
        counts = Counter(model for model in block.models if model)
        assert max(counts.values()) - min(counts.values()) <= 1
    together = Counter(model for model in (*first.models, *second.models) if model)
    assert sorted(together.values()) == [6, 7, 7]


def test_sessions_come_back_from_a_store_with_as_many_models_as_they_have():
    study = studies.study(images=10)
    session = studies.session(study)

    for models in (session.models, MODELS, ()):
        stored = json_codec.dump(studies.replaced(session, models=models))

        assert json.loads(stored)["models"] == list(models)
        assert json_codec.load_session(stored) == studies.replaced(session, models=models)


def test_a_static_demo_of_mixed_sessions_is_refused(world, tmp_path):
    study = mixed(world)

    with pytest.raises(InvalidInput, match="models_per_session=3; make a study with models_per_session=1"):
        write_site(world.store, study, tmp_path, tmp_path / "out")
    assert not (tmp_path / "out").exists()
