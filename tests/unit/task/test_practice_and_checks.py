"""Practice and attention checks through the API: what is told, counted, paid and stored, in every store."""

import json

import pytest

from backend.experiment.session import earned_usd_cents, replay
from backend.responses.study_data import study_rows

from .. import sample_studies as studies
from .. import unscored_studies

COUNTS = {"practice_images": 4, "picture_checks": 4, "instructed_checks": 2}


def added(world, method="infinity", **settings):
    return unscored_studies.add(world, studies.study(method=method, **{"images": 8, **COUNTS, **settings}))


def stored(world, player):
    session = world.store.session(player.state["session"])
    return session, world.store.cursor(session.id), world.store.responses(session.id)


def test_a_session_is_played_stored_and_paid_with_checks_and_without_practice(each_world):
    study = added(each_world, base_usd_cents=50, bonus_usd_cents=3)
    player = each_world.player()

    replies = unscored_studies.play(player, right=lambda kind: kind != "test")

    session, cursor, responses = stored(each_world, player)
    kinds = [reply["kind"] for reply in replies]
    assert kinds[:4] == ["practice"] * 4
    assert {kind: kinds.count(kind) for kind in ("test", "check", "instructed")} == {
        "test": 8,
        "check": 4,
        "instructed": 2,
    }
    assert player.done["earned_usd_cents"] == 50 + 6 * 3 == earned_usd_cents(study.protocol, cursor)
    assert (player.done["right"], player.done["answered"]) == (6, 14)
    assert dict(cursor.right) == {"checks": 6}
    assert replay(session, study.protocol, cursor, responses).right == cursor.right
    rows = list(study_rows(each_world.store, study))
    assert [row["trial_kind"] for row in rows] == kinds
    assert {row["model"] for row in rows if row["trial_kind"] == "test"} == {session.model}
    assert all(row["model"] == "" for row in rows if row["trial_kind"] in ("check", "instructed"))


def test_pay_and_progress_are_exact_after_each_answer(world):
    added(world, base_usd_cents=50, bonus_usd_cents=3)
    player = world.player()
    assert player.state["progress"] == {"answered": 0, "total": 4, "replaced": 0}
    assert (player.state["next"]["practice"], player.state["earned_usd_cents"]) == (True, 50)

    replies = unscored_studies.play(player)

    assert [reply["earned_usd_cents"] for reply in replies] == [50] * 4 + [53 + 3 * i for i in range(14)]
    assert [reply["progress"]["answered"] for reply in replies] == [1, 2, 3, 0, *range(1, 15)]
    assert [reply["progress"]["total"] for reply in replies] == [4, 4, 4, *[14] * 15]
    assert [reply["block_finished"] for reply in replies] == [*[False] * 3, True, *[False] * 13, True]


def test_practice_always_tells_and_a_study_without_feedback_tells_nothing_else(world):
    added(world, feedback=False, bonus_usd_cents=3)
    player = world.player()

    replies = unscored_studies.play(player, right=lambda kind: kind != "practice")

    assert [reply["was_correct"] for reply in replies] == [False] * 4 + [None] * 14
    assert [reply["earned_usd_cents"] for reply in replies[:-1]] == [None] * 17


def test_an_interrupted_practice_goes_on_where_it_was(world):
    added(world)
    player = world.player()
    player.begin()
    player.answer()
    player.answer()

    state = player.post("resume", {}).json["state"]

    assert (state["stage"], state["next"]["trial_index"], state["next"]["practice"]) == ("block", 2, True)
    assert state["progress"] == {"answered": 2, "total": 4, "replaced": 0}
    player.lease = state["lease"]
    assert len(player.begin()["images"]) == 2


def test_an_answer_sent_again_gets_the_reply_it_had(world):
    added(world, bonus_usd_cents=3)
    player = world.player()
    player.begin()
    for _ in range(4):
        body = player.body()
        first = player.answer()
        again = player.post("answers", body).json
        assert again == first


def test_a_check_by_a_picture_differs_from_a_scored_trial_in_nothing_that_a_browser_gets(world):
    """The fields and forms of all replies are alike, whichever kind a trial has."""
    added(world, instructed_checks=0, images=20, picture_checks=10)
    seen = {"test": [], "check": []}
    player = world.player()
    roles = {each.name: each.role for each in world.pools["faces"]}
    addresses = {}
    while player.done is None:
        block = player.begin()
        assert block["instructed"] == []
        for url in block["images"]:
            index = player.next["trial_index"]
            kind = roles[player.stored(player.images[index])] or "test"
            reply = player.answer()
            addresses[url] = kind
            if kind != "practice" and player.done is None:
                last = {**reply, "trial_index": 0, "next": {**reply["next"], "trial_index": 0}}
                del last["progress"]["answered"], last["earned_usd_cents"]
                seen[kind].append(json.dumps(last, sort_keys=True))

    assert set(seen["check"]) <= set(seen["test"])
    assert len({len(url) for url in addresses}) == 1
    state = player.state
    assert "check" not in json.dumps([state, [*addresses]])


def test_the_public_description_counts_checks_among_the_pictures_and_practice_apart(world):
    added(world)

    told = world.http.get("/api/studies/faces").json

    assert (told["images"], told["practice"]) == (14, 4)


def flash(exposure_ms, achieved=None):
    frames = max(1, round(exposure_ms * 60 / 1000))
    planned = [30, 30, 30, frames, 2, 2, 2, 2]
    return {
        "shown_ms": 1000 / 60 * frames,
        "frames": frames,
        "frame_ms": 1000 / 60,
        "mask_ms": [30.0] * 4,
        "timing": {
            "evidence": "element",
            "lateness_ms": 0.1,
            "planned_frames": planned,
            "achieved_frames": achieved or planned,
            "phase_ms": [1000 / 60 * each for each in planned],
        },
    }


def test_in_hype_time_neither_practice_nor_checks_move_the_staircase_or_use_up_spares(world):
    study = added(world, "time", images=12, blocks=1, spare_images=2, picture_checks=0, instructed_checks=4)
    player = world.player()
    before, exposures = None, []
    while player.done is None:
        block = player.begin()
        assert (block["staircase"] is None) == player.next["practice"]
        for instruction in block["instructed"] or [None] * len(block["images"]):
            shown = player.next["exposure_ms"]
            was_practice = player.next["practice"]
            answer = {"response": instruction} if instruction else {}
            is_late = bool(instruction) or was_practice
            bad = [30, 30, 30, 99, 2, 2, 2, 2] if is_late else None
            reply = player.answer(True, **flash(shown, bad), **answer)
            assert reply["replaced_by"] is None
            if player.done is None and not reply["block_finished"]:
                exposures.append((is_late, shown, player.next["exposure_ms"]))
            before = reply
    _, cursor, _ = stored(world, player)

    assert before["done"]["complete"]
    assert all(now == then for is_late, now, then in exposures if is_late)
    assert sorted({now for is_late, now, _ in exposures if not is_late}, reverse=True)[:3] == [500, 470, 440]
    assert (cursor.voids, cursor.voided_answers) == ((), 0)
    scored = [row for row in study_rows(world.store, study) if row["trial_kind"] == "test"]
    assert [row["exposure_ms"] for row in scored] == [500] * 3 + [470] * 3 + [440] * 3 + [410] * 3


def test_an_instructed_flash_that_is_resumed_is_shown_again(world):
    added(world, "time", images=2, blocks=1, spare_images=0, picture_checks=0, instructed_checks=2)
    player = world.player()
    while player.next["trial_index"] < 5:
        player.begin()
        player.answer(True, **flash(player.next["exposure_ms"]))
    block = player.begin()
    assert block["instructed"][0] is not None

    state = player.post("resume", {}).json["state"]

    player.lease = state["lease"]
    assert player.begin()["images"][0] == block["images"][0]


def test_a_qualification_is_passed_by_its_scored_trials_alone(world):
    unscored_studies.add(
        world, studies.study("q", kind="qualification", images=8, **COUNTS, base_usd_cents=100)
    )

    player = world.player("q")
    unscored_studies.play(player, right=lambda kind: kind == "test")
    passed = player.done["qualification"]
    player = world.player("q")
    unscored_studies.play(player, right=lambda kind: kind != "test")
    failed = player.done["qualification"]

    assert (passed["passed"], passed["reals_right"], passed["fakes_right"]) == (True, 1, 1)
    assert (failed["passed"], failed["reals_right"], failed["fakes_right"]) == (False, 0, 0)


def test_a_debrief_shows_scored_pictures_only(world):
    added(world, debrief=True)
    player = world.player()
    unscored_studies.play(player)

    told = world.http.get(
        f"/api/sessions/{player.state['session']}/debrief",
        headers={"Authorization": f"Bearer {player.token}"},
    ).json

    assert (len(told["pictures"]), told["score"]) == (8, 0)


@pytest.mark.parametrize("counts", [{}, {"practice_images": 4}, {"instructed_checks": 4}])
def test_each_part_works_without_the_others(each_world, counts):
    unscored_studies.add(each_world, studies.study(images=6, **counts))
    player = each_world.player()

    replies = unscored_studies.play(player)

    assert len(replies) == 6 + sum(counts.values())
    assert player.done["complete"]
