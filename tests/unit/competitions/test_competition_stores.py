"""Terms, submissions, closed models and tables in every store, and the command `stand`."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from click.testing import CliRunner

from backend.cli import main
from backend.competitions import submissions
from backend.competitions.competition import Competitions
from backend.competitions.terms import Limit, Terms, competition_of, set_terms
from backend.experiment.records import FAKE, Stimulus
from backend.foundation.errors import Conflict
from backend.foundation.timestamps import stamp
from backend.studies.closing import close_model

from .. import sample_studies as studies

KEY = b"k" * 32
TERMS = Terms("Faces", limit=Limit(2, 7), submitters=("ann", "bob"), published=True)


def joined(world, study, model):
    now = world.store.study(study.name)
    after = replace(
        now,
        models=(*now.models, model),
        joined=(*now.joined, len(now.models)),
        joined_at=(*now.joined_at, stamp(world.clock())),
        version=now.version + 1,
    )
    new = [Stimulus(f"{i:029x}{len(now.models)}aa.png", FAKE, model) for i in range(40)]
    world.store.add_stimuli(after, new)
    world.pools[study.name] += new
    return after


def test_limits_and_names_hold_for_many_at_once(each_world):
    world = each_world
    study = world.add(studies.study(images=8, evaluators=1))
    record = set_terms(world.store, study, TERMS, world.clock())

    def one(i):
        name, digest = f"m{i % 4}", f"{i:064x}"
        try:
            return submissions.submit(world.store, KEY, study, record, "ann", name, digest, world.clock())[0]
        except Conflict as refused:
            return refused.code

    with ThreadPoolExecutor(8) as pool:
        found = [*pool.map(one, range(12))]

    made = [each for each in found if not isinstance(each, str)]
    assert len(made) == 2
    assert {each for each in found if isinstance(each, str)} <= {"model_taken", "limit_reached"}
    assert {each.id for each in submissions.of_member(world.store, study, "ann")} == {
        each.id for each in made
    }
    again, is_new = submissions.submit(
        world.store, KEY, study, record, "ann", made[0].model, made[0].digest, world.clock()
    )
    assert (again, is_new) == (made[0], False)
    assert competition_of(world.store, study) == record


def test_a_closed_model_opens_no_session_and_its_sessions_stay_counted(each_world):
    world = each_world
    study = world.add(studies.study(images=8, evaluators=2))
    study = joined(world, study, "dit")
    players = [world.player() for _ in range(3)]
    assert {session.models for session, _ in world.store.sessions("faces")} == {("gan",), ("vae",), ("dit",)}

    for _ in range(2):
        closed = close_model(world.store, study, "dit")

    for player in players:  # who has begun can finish
        player.play()
    for _ in range(2):
        world.player().play()
    assert world.open().json["error"]["code"] == "study_full"
    assert closed.closed == ("dit",)
    assert world.store.finished("faces")[0] == 5
    assert sorted(session.models[0] for session, _ in world.store.sessions("faces")) == [
        "dit", "gan", "gan", "vae", "vae",
    ]  # fmt: skip


def test_a_table_outlives_its_process_and_a_model_joining_changes_no_score(each_world):
    world = each_world
    study = world.add(studies.study(images=8, evaluators=2))
    record = set_terms(world.store, study, TERMS, world.clock())
    for i in range(4):
        answers = iter([i % 2 == 0, True, True] * 50)
        world.player().play(right=lambda truth, answers=answers: next(answers))
    first = Competitions(world.store, world.clock).of(study, record)
    world.clock.move(hours=1)

    study = joined(world, study, "dit")
    for _ in range(2):
        world.player().play()

    kept = Competitions(world.store, world.clock)
    world.clock.move(hours=1)
    after = kept.of(study, record)
    assert [row["model"] for row in after["models"]][-1:] == ["dit"] or len(after["models"]) == 3
    scores = {row["model"]: (row["score"], row["ci"]) for row in after["models"]}
    assert {row["model"]: (row["score"], row["ci"]) for row in first["models"]} == {
        model: found for model, found in scores.items() if model != "dit"
    }


def test_sessions_that_show_several_models_cannot_lose_one(world):
    study = world.add(studies.study(models=("a", "b", "c"), images=12, models_per_session=2, evaluators=2))

    with pytest.raises(Conflict, match="show several models, and c is judged in them beside others"):
        close_model(world.store, study, "c")


def test_what_sessions_are_to_show_beside_others_is_not_withdrawn_while_it_is_checked(world):
    study = world.add(studies.study(images=8, models=("gan", "vae", "dit"), models_per_session=2))
    record = set_terms(world.store, study, TERMS, world.clock())
    one, _ = submissions.submit(world.store, KEY, study, record, "ann", "new", "0" * 64, world.clock())
    begun = submissions.check_begun(world.store, study, one, world.clock())

    with pytest.raises(Conflict, match="the pictures of new are being checked by now"):
        submissions.withdraw(world.store, study, one, world.clock())

    assert submissions.withdraw(world.store, study, begun, world.clock()).withdrawn_at


def test_stand_shows_and_changes_terms(world):
    world.add(studies.study(images=8))

    def run(*given):
        return CliRunner().invoke(main, ["competition", "faces", "--data", str(world.data.root), *given])

    shown = run("--limit", "5/7", "--closes", "2030-01-01", "--submitter", "ann", "--publish")
    assert shown.exit_code == 0, shown.output
    assert "limit of each: 5 models in 7 days" in shown.output
    changed = json.loads(run("--limit", "none", "--submitter", "all", "--json").output)
    assert (changed["limit"], changed["submitters"]) == (None, "all")
    assert changed["closes_at"] == "2030-01-01T00:00:00.000Z"
    assert changed["published"] is True
    refused = run("--opens", "2031-01-01")
    assert refused.exit_code == 1
    assert "closes_at must be after opens_at" in refused.output


def test_a_study_that_nothing_can_join_cannot_stand(world):
    study = world.add(studies.study(images=8, sampling="least-seen"))

    with pytest.raises(Exception, match="cannot be a leaderboard study: it samples its pictures adaptively"):
        set_terms(world.store, study, TERMS, world.clock())
