"""People who fall silent: their place goes to one other person, and never more finish than are wanted."""

import dataclasses
from datetime import UTC, datetime
from fractions import Fraction
from types import SimpleNamespace

import pytest

from backend.experiment.panel import LINK
from backend.payment import accounts
from backend.responses.attrition import attrition
from backend.responses.study_data import study_rows
from backend.task.service import TaskService
from backend.web.progress import progress
from tests.prolific import Books, Clock

from .. import sample_studies as studies
from ..recruitment.test_sync import Recruited

SETTINGS = {"images": 8, "models": ("gan",), "base_usd_cents": 100}


def begun(world):
    player = world.player()
    player.begin()
    player.answer()
    return player


def go_on(player):
    """Post the next answer; return the code of the refusal, '' if it was taken."""
    reply = player.post("answers", player.body())
    if reply.status_code == 200:
        player.next, player.done = reply.json["next"], reply.json["done"]
        return ""
    return reply.json["error"]["code"]


def finished(world):
    return world.store.finished("faces")[0]


def test_however_many_fall_silent_and_come_back_no_more_finish_than_are_wanted(each_world):
    """Of a defect: six finished and were paid of three wanted, and the fourth was let in knowingly."""
    world = each_world
    study = world.add(studies.study(evaluators=3, **SETTINGS))
    silent = [begun(world) for _ in range(3)]
    world.clock.move(minutes=61)
    others = [begun(world) for _ in range(3)]

    came_back = [go_on(player) for player in silent]
    for player in others:
        player.play()

    assert came_back == ["lapsed"] * 3
    assert finished(world) == 3
    assert len(accounts.plain_accounts(world.store, study, world.clock())) == 3
    assert world.open().json["error"]["code"] == "study_full"


def test_who_comes_back_before_another_was_let_in_goes_on_and_holds_the_place(each_world):
    world = each_world
    world.add(studies.study(evaluators=1, **SETTINGS))
    player = begun(world)
    world.clock.move(minutes=61)

    assert go_on(player) == ""

    assert world.open().json["error"]["code"] == "study_full"
    player.play()
    assert finished(world) == 1


@pytest.mark.parametrize("path", ["resume", "answers"])
def test_whose_place_was_given_away_is_told_so_wherever_they_go_on(world, path):
    world.add(studies.study(evaluators=1, **SETTINGS))
    player = world.player()
    player.begin()
    world.clock.move(minutes=11)
    begun(world)

    reply = player.post(path, {"resume": {}, "answers": player.body()}[path])

    assert (reply.status_code, reply.json["error"]["code"]) == (409, "lapsed")
    assert player.post("resume", {}).json["error"]["code"] == "lapsed"


def test_the_answers_of_a_lapsed_session_stay_and_a_person_decides_about_its_pay(world):
    study = world.add(studies.study(evaluators=1, **SETTINGS))
    player = begun(world)
    world.clock.move(minutes=61)
    begun(world)
    assert go_on(player) == "lapsed"
    who = world.store.session(player.state["session"]).evaluator

    account = accounts.broke_off(world.store, study, who, "the line was dead")

    assert [row["session"] for row in study_rows(world.store, study, "unfinished")].count(
        player.state["session"]
    ) == 1
    assert (account.base_usd_cents, account.bonus_usd_cents) == (-(-100 // 8), 2)
    assert progress(world.store, study, world.clock())["models"][0]["abandoned"] == 1
    (row,) = attrition(world.store, study, world.clock())["models"]
    assert (row["broke_off"], row["under_way"]) == (1, 1)


def test_whoever_holds_a_place_at_a_panel_that_is_asked_keeps_it_until_the_panel_says_otherwise(world):
    recruited = Recruited(
        world, Books(clock=Clock(datetime(2026, 1, 1, tzinfo=UTC)), fee=Fraction(428, 1000))
    )
    players = [recruited.arrive()[1] for _ in range(4)]
    for player in players:
        player.begin()
    world.clock.move(minutes=61)
    for _ in range(4):
        begun(world)
    asking = SimpleNamespace(panel=recruited.panel, closed=lambda *_: None)

    service = TaskService.over(world.store, world.data.keys().hashing, world.clock, watch=asking)
    resumed = [service.answering.resume(player.state["session"], player.token) for player in players]

    assert {reply["state"]["stage"] for reply in resumed} == {"block"}
    assert players[0].post("resume", {}).json["error"]["code"] == "lapsed", "a server that asks nobody"


def test_who_lapsed_does_not_begin_anew_after_having_seen_pictures(world):
    world.add(
        studies.study(evaluators=2, panel=dataclasses.replace(LINK, evaluator="PROLIFIC_PID"), **SETTINGS)
    )
    link = {"PROLIFIC_PID": "p1"}
    player = world.player(panel=link)
    player.begin()
    player.answer()
    world.clock.move(minutes=61)
    begun(world), begun(world)
    assert go_on(player) == "lapsed"

    assert world.open(panel=link).json["error"]["code"] == "lapsed"
