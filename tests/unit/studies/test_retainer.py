"""Waiting is paid while somebody is there, once, and never beyond the cap or the budget."""

import dataclasses
from concurrent.futures import ThreadPoolExecutor

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from backend.cli import main
from backend.experiment.judgments.real_or_fake import INFINITY
from backend.experiment.session import Cursor
from backend.studies import pausing, waiting_room
from backend.studies.pausing import set_paused
from backend.studies.retainer import Wait, asks, beat, is_waiting, minutes_due
from backend.web.progress import as_text, progress

from .. import sample_studies as studies

PAID = INFINITY.changed(retainer_usd_cents=10, retainer_minutes=20)
FRESH = Wait("w1", "q1", {}, "x", seen_at=0.0, confirmed_at=0.0)


def waited(*signs):
    """Return the wait after signs given as (at, is_visible, is_here)."""
    wait = FRESH
    for sign in signs:
        wait = beat(wait, *sign)
    return wait


def steady(until, step=10):
    return [(float(at), True, False) for at in range(step, until + 1, step)]


def test_a_minute_begun_is_owed():
    assert [minutes_due(waited(*steady(until)), PAID) for until in (10, 60, 70, 300)] == [1, 1, 2, 5]


def test_time_out_of_view_or_out_of_touch_does_not_count():
    hidden = waited((10, True, False), (20, False, False), (30, True, False), (40, True, False))
    lost = waited((10, True, False), (100, True, False), (110, True, False))

    assert (hidden.seconds, lost.seconds) == (20, 20)


def test_who_does_not_say_to_be_there_is_asked_and_counts_no_longer():
    wait = waited(*steady(600))

    assert asks(waited(*steady(290)), 290) is False
    assert asks(wait, 600) is True
    assert wait.seconds == 360


def test_who_says_so_goes_on():
    wait = waited(*steady(300), (310.0, True, True), *steady(600)[31:])

    assert wait.seconds == 600


def test_nobody_is_paid_beyond_the_cap():
    wait = dataclasses.replace(FRESH, seconds=3600.0, minutes=15)

    assert minutes_due(wait, PAID) == 5


@given(st.lists(st.tuples(st.floats(0, 1000), st.booleans(), st.booleans()), max_size=40))
def test_never_more_time_counts_than_has_passed(signs):
    wait = waited(*signs)

    assert 0 <= wait.seconds <= max([at for at, _, _ in signs], default=0)


def test_who_is_silent_waits_no_longer():
    assert is_waiting(FRESH, 45)
    assert not is_waiting(FRESH, 46)


@pytest.fixture
def room(world):
    """A paused study that pays for waiting, and its qualification."""
    world.add(studies.study("gate", kind="qualification", images=8))
    settings = {"retainer_usd_cents": 10, "retainer_minutes": 20, "retainer_budget_usd_cents": 50}
    world.add(studies.study(images=8, qualification="gate", **settings))
    set_paused(world.store, "faces", True, "2026")
    return world


def qualified(world):
    gate = world.player("gate")
    gate.play()
    return gate.token


def come(world, token):
    body = {"panel": {}, "qualification_token": token}
    return world.http.post("/api/studies/faces/waits", json=body)


def sign(world, token, visible=True, here=True):
    path = f"/api/studies/faces/waits/{token.partition('.')[0]}/signs"
    headers = {"Authorization": f"Bearer {token}"}
    return world.http.post(path, json={"is_visible": visible, "is_here": here}, headers=headers)


def stay(world, token, minutes):
    for _ in range(minutes * 2):
        world.clock.move(seconds=30)
        reply = sign(world, token).json
    return reply


def test_waiting_is_owed_minute_by_minute_and_the_call_comes_with_the_end_of_the_pause(room, tmp_path):
    token = come(room, qualified(room)).json["token"]
    before = stay(room, token, 3)
    study = room.store.study("faces")
    told = progress(room.store, study, room.clock())

    called = CliRunner().invoke(main, ["admit-waiting", "faces", "--data", str(tmp_path)])

    assert (before["minutes"], before["earned_usd_cents"], before["is_admitted"]) == (3, 30, False)
    assert told["retainer"] == {"waiting": 1, "owed_usd_cents": 30}
    assert "1 waiting to be called; owed for waiting: $0.30" in as_text(told)
    assert called.output.startswith("faces is open to evaluators\n")
    assert sign(room, token).json["is_admitted"] is True


def test_pay_lists_who_waited_by_pseudonym_to_be_paid_by_hand(room, tmp_path):
    token = come(room, qualified(room)).json["token"]
    stay(room, token, 3)

    listed = CliRunner().invoke(main, ["pay", "faces", "--panel", "link", "--data", str(tmp_path)])

    ((_, wait),) = waiting_room.waits(room.store, "faces")
    assert f"{wait.evaluator} (waited): $0.30: owed" in listed.output


def test_only_who_passed_the_test_waits(room):
    gate = room.player("gate")
    gate.play(right=lambda truth: truth == "real")

    assert come(room, None).json["error"]["code"] == "not_qualified"
    assert come(room, gate.token).json["error"]["code"] == "not_qualified"


def test_a_study_that_pays_nobody_for_waiting_says_so(world):
    world.add(studies.study("gate", kind="qualification", images=8))
    world.add(studies.study(images=8, qualification="gate"))

    assert come(world, qualified(world)).json["error"]["code"] == "no_retainer"
    assert world.http.get("/api/studies/faces").json["retainer"] is None


def test_one_person_in_two_tabs_is_paid_once(room):
    passed = qualified(room)
    first = come(room, passed).json["token"]
    stay(room, first, 1)
    second = come(room, passed).json["token"]

    refused = sign(room, first)
    after = stay(room, second, 1)

    assert (refused.status_code, refused.json["error"]["code"]) == (403, "wrong_token")
    assert after["minutes"] == 2
    assert len(list(waiting_room.waits(room.store, "faces"))) == 1


def test_the_budget_is_never_exceeded_however_many_wait_at_once(room):
    tokens = [come(room, qualified(room)).json["token"] for _ in range(6)]

    def rounds(token):
        for _ in range(6):
            sign(room, token)

    for _ in range(8):
        room.clock.move(seconds=30)
        with ThreadPoolExecutor(6) as pool:
            list(pool.map(rounds, tokens))

    owed = waiting_room.owed_usd_cents(room.store, room.store.study("faces"))
    assert owed == 50
    assert room.store.entry("retainers", "faces").data == {"minutes": 5}
    assert sign(room, tokens[0]).json["is_over"] is True


def test_a_sign_of_another_form_is_refused(room):
    token = come(room, qualified(room)).json["token"]

    reply = sign(room, token, visible="yes")

    assert (reply.status_code, reply.json["error"]["code"]) == (400, "invalid")


def test_nobody_signs_for_a_wait_that_is_not(room):
    assert sign(room, "nobody.secret").json["error"]["code"] == "unknown_wait"


@pytest.mark.parametrize("event", ["called", "complete", "never paused"])
def test_waiting_is_paid_only_while_there_is_something_to_wait_for(room, event):
    passed = qualified(room)
    if event == "never paused":
        set_paused(room.store, "faces", False, "2026")
    token = come(room, passed).json["token"]
    before = stay(room, token, 2)["minutes"]
    if event == "called":
        set_paused(room.store, "faces", False, "2026")
    if event == "complete":
        study = room.store.study("faces")
        for number in range(study.evaluators_wanted):
            session = dataclasses.replace(studies.session(study), id=f"done{number}")
            room.store.add_session(session, Cursor(state="finished", last_at="2026"))

    told = sign(room, token).json  # the last interval that counts
    after = stay(room, token, 5)

    assert after["minutes"] <= before + 1
    assert (told["is_admitted"], told["is_over"]) == (event != "complete", event == "complete")
    assert before == (0 if event == "never paused" else 2)


def test_nobody_is_paid_to_wait_for_a_study_that_has_paused_itself(room):
    passed, study = qualified(room), room.store.study("faces")
    token = come(room, passed).json["token"]
    before = stay(room, token, 2)["minutes"]
    for number in range(pausing.early_ends_allowed(study) + 1):
        pausing.note_early_end(room.store, study, f"session{number}", "2026")

    told = sign(room, token).json  # the last interval that counts
    after = stay(room, token, 5)["minutes"]

    assert (told["is_admitted"], told["is_over"]) == (False, True)
    assert (before, after) == (2, 2)
    assert come(room, passed).json["error"]["code"] == "no_retainer"
    public = room.http.get("/api/studies/faces").json
    assert (public["paused"], public["retainer"]) == (True, None)
    set_paused(room.store, "faces", False, "2027")
    assert sign(room, token).json["is_admitted"] is True


def test_who_waits_again_after_another_pause_is_paid_again(room):
    token = come(room, qualified(room)).json["token"]
    stay(room, token, 1)
    set_paused(room.store, "faces", False, "2026")
    stay(room, token, 3)
    set_paused(room.store, "faces", True, "2026")
    called = sign(room, token).json["minutes"]

    assert stay(room, token, 2)["minutes"] > called
