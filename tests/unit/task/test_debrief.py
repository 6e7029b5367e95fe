"""The end that tells how one did: never before the end, only of one's own pictures, beside others' values."""

from urllib.parse import urlsplit

import pytest

from backend.administration.create import create
from backend.administration.study_spec import StudySpec
from backend.analysis.table.evaluator_values import values_by_model
from backend.experiment.judgments import real_or_fake
from backend.experiment.published import published_scores
from backend.experiment.settings import new_protocol
from backend.foundation.errors import InvalidInput
from backend.responses import study_data

from .. import sample_studies as studies

ONE_MODEL = {"models": ("gan",), "debrief": "true"}


def asked(player, token=None):
    return player.world.http.get(
        f"/api/sessions/{player.state['session']}/debrief",
        headers={"Authorization": f"Bearer {token or player.token}"},
    )


def test_nothing_is_told_before_the_last_answer(world):
    world.add(studies.study(images=4, **ONE_MODEL))
    player = world.player()
    refused = [asked(player)]
    player.begin()
    for _ in range(3):
        player.answer()
        refused.append(asked(player))

    player.answer()

    assert {reply.status_code for reply in refused} == {409}
    assert {reply.json["error"]["code"] for reply in refused} == {"not_finished"}
    assert {tuple(reply.json) for reply in refused} == {("error",)}
    assert asked(player).status_code == 200


def test_a_study_without_it_tells_nothing_at_its_end(world):
    world.add(studies.study(images=4))
    player = world.player()
    player.play()

    reply = asked(player)

    assert (reply.status_code, reply.json["error"]["code"]) == (403, "no_debrief")


def test_nobody_is_told_of_another_session(world):
    world.add(studies.study(images=4, **ONE_MODEL))
    one, other = world.player(), world.player()
    one.play()
    other.play()

    assert asked(one, token=other.token).status_code == 403


def test_a_session_that_ended_early_is_told_nothing(world):
    world.add(studies.study(method="time", images=2, blocks=1, spare_images=0, **ONE_MODEL))
    player = world.player()
    player.begin()
    player.answer(flags=["mistimed"])

    assert player.done["complete"] is False
    assert asked(player).json["error"]["code"] == "not_finished"


DEMONSTRATION = {"panel": "link", "repeat_visits": "true", "base_usd_cents": 0, "bonus_usd_cents": 0}


def ended(player):
    return player.post("end", {"lease": player.state["lease"]})


@pytest.mark.parametrize("judged", [0, 1, 3])
def test_a_demonstration_that_ended_early_tells_of_what_was_shown_and_takes_no_more_answers(world, judged):
    study = studies.study(method="time", images=8, blocks=1, spare_images=4, **ONE_MODEL, **DEMONSTRATION)
    world.add(study)
    player = world.player()
    player.begin()
    for _ in range(judged):
        player.answer()
    before = asked(player)
    shown = [player.images[trial] for trial in range(judged)]

    reply = ended(player)

    told = asked(player).json
    done = reply.json["done"]
    assert before.json["error"]["code"] == "not_finished"
    assert [urlsplit(row["url"]).path.rpartition("/")[2] for row in told["pictures"]] == shown
    assert (told["score"], done["complete"], done["needs_code"]) == (None, False, False)
    assert (done["right"], done["answered"], reply.json["progress"]["total"]) == (judged, judged, 8)
    with pytest.raises(AssertionError, match="closed"):
        player.answer()
    assert len(world.store.responses(player.state["session"])) == judged


def test_who_has_no_spare_left_in_a_demonstration_is_told_of_what_was_shown(world):
    world.add(studies.study(method="time", images=4, blocks=1, spare_images=0, **ONE_MODEL, **DEMONSTRATION))
    player = world.player()
    player.begin()
    player.answer(right=False)

    player.answer(flags=["mistimed"])

    assert (player.done["complete"], player.done["right"], player.done["answered"]) == (False, 0, 1)
    assert len(asked(player).json["pictures"]) == 1


@pytest.mark.parametrize(
    "changes",
    [{"repeat_visits": "false"}, {"debrief": "false"}, {"base_usd_cents": 10},
     {"repeat_visits": "false", "bonus_usd_cents": 1}],
)  # fmt: skip
def test_only_a_demonstration_ends_at_will_and_tells_before_its_end(world, changes):
    numbers = {"images": 4, "blocks": 1, "spare_images": 16, **ONE_MODEL, **DEMONSTRATION, **changes}
    world.add(studies.study(method="time", **numbers))
    player = world.player()
    player.begin()
    player.answer()

    refused = ended(player)
    for _ in range(5):
        player.images[1] = player.answer(flags=["mistimed"])["replaced_by"].rpartition("/")[2]
    closed = ended(player)

    assert refused.json["error"]["code"] == "not_mistimed"
    assert closed.json["done"]["complete"] is False
    assert asked(player).json["error"]["code"] in ("not_finished", "no_debrief")
    assert world.http.get("/api/studies/faces").json["demonstration"] is False


def test_the_result_is_what_was_judged_wrong_on_either_side(world):
    """8 pictures: all 4 fakes taken for real, 1 of 4 reals taken for fake."""
    world.add(studies.study(images=8, **ONE_MODEL))
    player = world.player()
    reals = iter([False, True, True, True])
    player.play(right=lambda truth: truth == "real" and next(reals))

    told = asked(player).json

    assert (told["unit"], told["fakes_error"], told["reals_error"], told["score"]) == (
        "percent",
        100,
        25,
        62.5,
    )
    assert told["model"] == "gan"
    assert told["published"] == published_scores("infinity")


def test_the_pictures_are_those_of_the_session_with_truth_and_answer(world):
    world.add(studies.study(images=6, **ONE_MODEL))
    player = world.player()
    player.play(right=lambda truth: truth == "real")

    told = asked(player).json["pictures"]

    assert [urlsplit(row["url"]).path.rpartition("/")[2] for row in told] == list(player.images.values())
    assert [row["truth"] for row in told] == [player.truths[name] for name in player.images.values()]
    assert {row["response"] for row in told} == {"real"}


def test_a_flash_that_was_replaced_is_not_told(world):
    world.add(studies.study(method="time", images=4, blocks=1, spare_images=4, **ONE_MODEL))
    player = world.player()
    player.begin()
    first = player.images[0]
    player.images[0] = player.answer(flags=["mistimed"])["replaced_by"].rpartition("/")[2]
    for _ in range(4):
        player.answer()

    told = [row["url"].rpartition("/")[2] for row in asked(player).json["pictures"]]

    assert first not in told
    assert told == list(player.images.values())


@pytest.mark.parametrize("method", ["infinity", "time"])
def test_values_are_those_of_the_scores(world, method):
    size = {"images": 12, "blocks": 1 if method == "infinity" else 2}
    study = world.add(studies.study(method=method, **size, **ONE_MODEL))
    players = []
    for wrong_each in (2, 3, 5):
        player = world.player()
        turns = iter(range(100))
        player.play(right=lambda truth, turns=turns, each=wrong_each: next(turns) % each != 0)
        players.append(player)

    told = [asked(player).json for player in players]

    scored = values_by_model(study_data.study_answers(world.store, study))["gan"]
    evaluators = [world.store.session(player.state["session"]).evaluator for player in players]
    own = dict(zip(evaluators, (reply["score"] for reply in told), strict=True))
    assert own == pytest.approx(dict(zip(scored.evaluators, scored.numbers.tolist(), strict=True)))
    others = told[0]["others"]
    assert others["values"] == pytest.approx(sorted(t["score"] for t in told[1:]))
    assert (others["evaluators"], others["mean"]) == (2, pytest.approx(sum(others["values"]) / 2))


def test_others_are_those_who_finished_with_the_same_model(world):
    world.add(studies.study(images=4, debrief="true"))
    players = [world.player() for _ in range(4)]
    for player in players:
        player.play()
    world.player()  # who broke off
    own = asked(players[0]).json

    same = [p for p in players[1:] if asked(p).json["model"] == own["model"]]

    assert own["others"]["evaluators"] == len(same) == 1


@pytest.mark.parametrize(
    ("design", "settings"),
    [
        ("classes", {"class_design": "between"}),
        ("exposures", {"method": "exposures", "exposures_ms": "50,500", "exposure_design": "between"}),
        ("models", {"models_per_session": 1}),
    ],
)
def test_others_are_those_of_the_same_condition_whatever_sets_conditions_apart(world, design, settings):
    classes = ("cat", "dog") if design == "classes" else ()
    study = studies.study(images=4, debrief="true", classes=classes, spare_images=0, **settings)
    world.add(study)
    players = [world.player() for _ in range(8)]
    for player in players:
        player.play()
    conditions = {session.id: session.condition for session, _ in world.store.sessions("faces")}

    for player in players:
        own = conditions[player.state["session"]]
        same = sum(condition == own for condition in conditions.values()) - 1
        assert asked(player).json["others"]["evaluators"] == same
    assert len(set(conditions.values())) == len(study.conditions) > 1


def test_simulated_evaluators_are_not_among_the_others(world):
    world.add(studies.study(images=4, **ONE_MODEL))
    player, other = world.player(), world.player()
    player.play()
    other.play()
    before = asked(player).json["others"]

    simulated = world.player(simulated=True)
    simulated.play(right=lambda truth: False)

    assert (before["evaluators"], asked(player).json["others"]) == (1, before)
    assert asked(simulated).json["others"]["evaluators"] == 2


def test_who_withdrew_is_no_longer_among_the_others(world):
    world.add(studies.study(images=4, **ONE_MODEL))
    one, other = world.player(), world.player()
    one.play()
    other.play()
    before = asked(one).json["others"]["evaluators"]
    secret = urlsplit(other.state["withdrawal_url"]).fragment

    assert other.post("withdrawal", {}, token=secret).status_code == 200

    assert (before, asked(one).json["others"]) == (1, {"evaluators": 0, "mean": None, "values": []})
    assert asked(other).json["error"]["code"] == "withdrawn"


@pytest.mark.parametrize("read", ["session", "responses"])
def test_who_is_erased_while_the_others_are_read_is_left_out(world, monkeypatch, read):
    world.add(studies.study(images=4, **ONE_MODEL))
    one, other, third = world.player(), world.player(), world.player()
    for player in (one, other, third):
        player.play()
    gone = other.state["session"]
    original = getattr(world.store, read)

    def erased_first(session_id):
        if session_id == gone:
            world.store.erase_session(gone)
        return original(session_id)

    monkeypatch.setattr(world.store, read, erased_first)

    assert asked(one).json["others"]["evaluators"] == 1


def test_the_page_hears_of_it_before_anybody_agrees(world):
    world.add(studies.study(images=4, **ONE_MODEL))
    world.add(studies.study("plain", images=4))

    told = [world.http.get(f"/api/studies/{name}").json["debrief"] for name in ("faces", "plain")]

    assert told == [True, False]


def test_nobody_is_paid_for_knowing_pictures_from_an_earlier_visit():
    settings = {"debrief": "true", "repeat_visits": "true", "panel": "prolific"}

    with pytest.raises(InvalidInput, match="would be paid for knowing them; set bonus_usd_cents=0"):
        new_protocol(real_or_fake.INFINITY, "study", settings)
    assert new_protocol(real_or_fake.INFINITY, "study", {**settings, "bonus_usd_cents": "0"}).page.debrief


def test_a_qualification_has_none(world, tmp_path):
    order = StudySpec(
        "test", "qualification", "infinity", tmp_path, (("gan", tmp_path),), {"debrief": "true"}
    )

    with pytest.raises(InvalidInput, match="a qualification must not have debrief=true"):
        create(world.store, world.data, order, world.clock())
