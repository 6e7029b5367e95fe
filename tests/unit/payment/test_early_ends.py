"""Sessions closed early: paid for flashes that were tried, told with the reason, bounded with the quota."""

import csv
import io
from datetime import UTC, datetime
from fractions import Fraction

import pytest

from backend.payment import accounts, manual
from backend.payment.payer import Payer
from backend.recruitment import recruit
from backend.studies import pausing
from backend.task.withdrawal import withdraw
from backend.web.progress import progress
from tests.prolific import Books, Clock, Refusal

from .. import sample_studies as studies
from ..conftest import Player
from ..recruitment.test_sync import AT, Recruited, places_at_the_panel

BASE, TRIALS = 500, 16
MOST = BASE + 2 * TRIALS
"""What a session can earn at most, in cents."""
FLASHES = {"method": "time", "images": 8, "blocks": 2, "spare_images": 40, "models": ("gan",)}
SETTINGS = {**FLASHES, "evaluators": 2, "base_usd_cents": BASE, "bonus_usd_cents": 2}
PART = -(-BASE * 5 // TRIALS) + 2 * 5
"""What is owed for five answers, all of them right, of a session that broke off."""


def end_early(player, flag="mistimed"):
    """Answer five flashes that were not seen as planned, and end the session; return the last reply."""
    player.begin()
    for _ in range(5):
        reply = player.answer(flags=[flag])
        player.images[0] = reply["replaced_by"].rpartition("/")[2]
    return player.post("end", {"lease": player.lease}).json


def owed(world, study):
    """Return what is owed, as (reason, cents)."""
    known = accounts.plain_accounts(world.store, study, world.clock()).values()
    return [(one.reason, one.base_usd_cents + one.bonus_usd_cents) for one in known]


def test_a_session_of_reloads_alone_is_owed_nothing(world):
    study = world.add(studies.study(**SETTINGS))
    player = world.player()
    player.begin()

    for _ in range(31):
        player.lease = player.post("resume", {}).json["state"]["lease"]
    ended = player.post("end", {"lease": player.lease}).json

    assert (ended["done"]["earned_usd_cents"], ended["done"]["paid_in_part"]) == (0, True)
    assert owed(world, study) == []


def test_five_hidden_flashes_are_paid_by_the_share_of_trials(world):
    study = world.add(studies.study(**SETTINGS))

    ended = end_early(world.player(), "hidden")

    assert (ended["done"]["earned_usd_cents"], ended["earned_usd_cents"]) == (PART, PART)
    reason = "broke off: 0 pictures did not flash on time, fewer than 5; paid by the share answered"
    assert owed(world, study) == [(reason, PART)]
    assert progress(world.store, study)["owed_usd_cents"] == PART


def test_who_tried_five_flashes_is_paid_the_whole_base_and_the_list_says_why(world):
    study = world.add(studies.study(**SETTINGS))

    ended = end_early(world.player())

    rows = list(csv.DictReader(io.StringIO(manual.as_list(world.store, study, world.clock()))))
    assert (ended["done"]["earned_usd_cents"], ended["done"]["paid_in_part"]) == (BASE + 10, False)
    assert owed(world, study) == [("closed early: 5 pictures did not flash on time", BASE + 10)]
    assert [row["reason"] for row in rows] == ["closed early: 5 pictures did not flash on time"]


@pytest.mark.parametrize(("flag", "each"), [("mistimed", BASE + 10), ("hidden", PART)])
def test_of_twenty_people_who_end_early_no_more_are_let_in_than_the_bound_allows(world, flag, each):
    study = world.add(studies.study(**SETTINGS))
    opened = [world.player(), world.player()]
    for player in opened:
        end_early(player, flag)

    replies = [world.open() for _ in range(18)]

    assert {reply.json["error"]["code"] for reply in replies} == {"study_paused"}
    assert [cents for _, cents in owed(world, study)] == [each, each]
    assert 2 * each <= (2 + pausing.early_ends_allowed(study)) * MOST
    (warning,) = progress(world.store, study)["warnings"]
    assert "has paused itself, and takes in nobody new: 2 sessions" in warning


def test_who_resumes_the_study_allows_as_many_again(world):
    study = world.add(studies.study(**SETTINGS))
    for _ in range(2):
        end_early(world.player())
    assert world.open().json["error"]["code"] == "study_paused"

    pausing.set_paused(world.store, study.name, False, AT)

    assert pausing.early_ends_exceeded(world.store, study) is None
    for _ in range(2):
        end_early(world.player())
    assert world.open().json["error"]["code"] == "study_paused"


def test_withdrawn_sessions_that_are_paid_count_as_well(world):
    study = world.add(studies.study(**SETTINGS))
    for _ in range(2):
        player = world.player()
        player.begin()
        player.answer()
        withdraw(world.store, study, player.state["session"], AT)

    assert len(owed(world, study)) == 2
    assert world.open().json["error"]["code"] == "study_paused"


def test_a_place_vacated_by_one_early_end_too_many_goes_to_nobody(world, monkeypatch):
    """The newcomer's pause was read before the session ended, and the place after."""
    study = world.add(studies.study(**SETTINGS))
    end_early(world.player())
    first = world.player()
    world.player()
    is_paused, reads = pausing.is_paused, []

    def ends_just_after(store, name):
        reads.append(is_paused(store, name))
        if len(reads) == 1:
            end_early(first)
        return reads[-1]

    monkeypatch.setattr(pausing, "is_paused", ends_just_after)

    assert world.open().json["error"]["code"] == "study_paused"
    states = sorted(cursor.state for _, cursor in world.store.sessions(study.name))
    assert states == ["active", "ended", "ended"]


@pytest.mark.parametrize(("flag", "is_whole"), [("mistimed", True), ("hidden", False)])
def test_on_prolific_places_and_debts_stay_within_the_bound_while_sync_runs(world, flag, is_whole):
    books = Books(clock=Clock(datetime(2026, 1, 1, tzinfo=UTC)), fee=Fraction(428, 1000))
    recruited = Recruited(world, books, **(SETTINGS | {"minutes": 10}))
    states = []
    for _ in range(20):
        with_place = take(recruited)
        if with_place is None:
            break
        place, player = with_place
        if player is not None:
            states.append(end_early(player, flag))
            if not is_whole:
                books.give_back(place.id)
        recruited.reconcile()

    study, world = recruited.study, recruited.world
    bound = (2 + pausing.early_ends_allowed(study)) * MOST
    assert len(states) == 2
    assert places_at_the_panel(recruited) == 2
    assert books.study(recruited.id)["status"] == "PAUSED"
    assert sum(cents for _, cents in owed(world, study)) <= bound
    pay(recruited)
    pay(recruited)
    paid = sum(line.cents for line in books.account())
    assert paid == 2 * (BASE + 10 if is_whole else PART)


def take(recruited):
    """Take a place at the panel, and a session if one can be had; None if the panel offers no place."""
    try:
        place = recruited.books.take(recruited.id)
    except Refusal:
        return None
    recruited.books.start(place.id)
    link = {"PROLIFIC_PID": place.participant, "STUDY_ID": recruited.id, "SESSION_ID": place.id}
    reply = recruited.world.open(panel=link)
    return place, Player(recruited.world, reply.json) if reply.status_code == 201 else None


def pay(recruited):
    state = recruit.recruitment(recruited.world.store, recruited.study)
    panel_study, clock = state["panel_study"], recruited.books.clock
    Payer(recruited.world.store, recruited.study, recruited.panel, panel_study, clock).run()
