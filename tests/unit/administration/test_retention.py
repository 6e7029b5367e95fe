"""Personal data go when they were kept long enough; answers, and scores, stay as they were."""

import dataclasses
from datetime import timedelta

import pytest
from click.testing import CliRunner

from backend.administration.retention import apply, due, lines
from backend.cli import main
from backend.foundation.timestamps import stamp
from backend.payment import accounts, screened_out
from backend.payment.manual import mark_paid, write_list
from backend.responses.study_data import study_rows
from backend.studies import waiting_room, withdrawals
from backend.studies.pausing import set_paused
from backend.task import withdrawal
from backend.web.progress import progress
from tests.prolific.books import Payment

from .. import sample_studies as studies
from ..memory import MemoryStore
from ..payday import Payday

PANEL = {"PROLIFIC_PID": "person-77", "STUDY_ID": "panel-study", "SESSION_ID": "submission-1"}


def open_with_device(world, study="faces", **device):
    body = {"consent_version": "1", "panel": PANEL, "device": {"user_agent": "Firefox", **device}}
    return world.http.post(f"/api/studies/{study}/sessions", json=body).json["state"]["session"]


def session(world, study="faces"):
    ((found, _),) = world.store.sessions(study)
    return found


@pytest.fixture
def study(world):
    return world.add(studies.study(images=8, keep_days=30))


def test_nothing_is_due_before_its_time_and_everything_after(world, study):
    open_with_device(world)

    world.clock.move(days=30)
    on_the_day = due(world.store, study, world.clock())
    world.clock.move(seconds=1)
    after = due(world.store, study, world.clock())

    assert (len(on_the_day), len(after)) == (0, 1)


def test_panel_and_device_go_and_answers_stay(world, study):
    player = world.player(panel=PANEL)
    player.play()
    before, rows = session(world), list(study_rows(world.store, study))
    told = progress(world.store, study)
    world.clock.move(days=31)

    apply(world.store, due(world.store, study, world.clock()), world.clock())

    assert session(world) == dataclasses.replace(before, panel={}, device={})
    assert list(study_rows(world.store, study)) == rows
    assert progress(world.store, study) == told
    assert len(due(world.store, study, world.clock())) == 0


def test_who_took_part_is_still_known_by_the_keyed_hash(world, study):
    world.player(panel=PANEL).play()
    world.clock.move(days=31)

    apply(world.store, due(world.store, study, world.clock()), world.clock())

    assert world.open(panel=PANEL).json["error"]["code"] == "already_finished"


def test_what_a_browser_says_of_itself_is_emptied_and_simulated_sessions_are_left_alone(world, study):
    open_with_device(world, simulated=True)
    world.player(simulated=True, device={"simulated": True})
    world.clock.move(days=31)

    found = due(world.store, study, world.clock())
    apply(world.store, found, world.clock())

    ((simulated, _),) = world.store.sessions("faces", simulated=True)
    assert (len(found), session(world).device) == (1, {})
    assert (simulated.device, simulated.is_simulated) == ({"simulated": True}, True)
    assert len(due(world.store, study, world.clock())) == 0


def test_a_session_that_goes_on_is_as_young_as_its_last_answer(world, study):
    player = world.player(panel=PANEL)
    world.clock.move(days=29)
    player.begin()
    player.answer()
    world.clock.move(days=2)

    assert len(due(world.store, study, world.clock())) == 0


def test_a_study_without_the_setting_keeps_for_ever_unless_days_are_given(world):
    study = world.add(studies.study(images=8))
    open_with_device(world)
    world.clock.move(days=10000)

    assert len(due(world.store, study, world.clock())) == 0
    assert len(due(world.store, study, world.clock(), keep_days=90)) == 1


def test_what_is_left_of_a_withdrawal_loses_the_panels_reference_too(world, study):
    id = open_with_device(world)
    withdrawal.withdraw(world.store, study, id, stamp(world.clock()))
    world.clock.move(days=31)

    apply(world.store, due(world.store, study, world.clock()), world.clock())

    (entry,) = withdrawals.withdrawn(world.store, "faces")
    assert (entry.data["panel"], entry.data["base_usd_cents"]) == ({}, 0)
    assert len(due(world.store, study, world.clock())) == 0


def test_who_is_not_paid_yet_can_be_paid_all_the_same_and_is_forgotten_after(world, tmp_path):
    study = world.add(studies.study(images=8, keep_days=30, base_usd_cents=100))
    world.player(panel=PANEL).play()
    world.clock.move(days=31)

    apply(world.store, due(world.store, study, world.clock()), world.clock())

    ((_, account),) = accounts.accounts(world.store, "faces").values()
    assert (account.participant, account.submission) == ("person-77", "submission-1")
    assert len(due(world.store, study, world.clock())) == 0
    listed = tmp_path / "owed.csv"
    write_list(world.store, study, listed, world.clock())
    assert mark_paid(world.store, study, listed, world.clock) == 1
    world.clock.move(days=31)
    assert len(due(world.store, study, world.clock())) == 1
    apply(world.store, due(world.store, study, world.clock()), world.clock())
    ((_, account),) = accounts.accounts(world.store, "faces").values()
    assert (account.participant, account.submission, account.bonus) == ("", "", "confirmed")
    assert len(due(world.store, study, world.clock())) == 0


def test_who_waited_is_forgotten_too_and_what_is_owed_stays(world):
    paid = world.add(studies.study("paid", images=8, keep_days=30, retainer_usd_cents=10))
    set_paused(world.store, "paid", True, "2026")
    at = world.clock().timestamp()
    token = waiting_room.begin(world.store, paid, "q1", PANEL, at)["token"]
    wait_id = token.partition(".")[0]
    waiting_room.sign(world.store, paid, wait_id, token, True, True, at + 30)
    world.clock.move(days=31)

    apply(world.store, due(world.store, paid, world.clock()), world.clock())

    ((_, wait),) = waiting_room.waits(world.store, "paid")
    assert (wait.panel, wait.minutes) == ({}, 1)
    assert len(due(world.store, paid, world.clock())) == 0


def test_who_was_screened_out_is_forgotten_too(world):
    study = world.add(studies.study("paid", images=8, keep_days=30, panel="prolific"))
    screened_out.note(world.store, study, PANEL, stamp(world.clock()))
    book = screened_out.book("paid")
    assert "submission-1" in repr(list(world.store.entries(book)))
    world.clock.move(days=31)

    apply(world.store, due(world.store, study, world.clock()), world.clock())

    (entry,) = world.store.entries(book)
    assert entry.data["panel"] == {}
    assert not [id for id in ("submission-1", "person-77") if id in repr(entry)]
    assert list(screened_out.to_report(world.store, study, {})) == []


@pytest.mark.parametrize("is_ended", [True, False])
def test_who_was_paid_is_forgotten_though_the_payment_was_still_under_way_for_others(is_ended):
    payday = Payday(MemoryStore())
    (_, place), (_, other) = payday.person(right=7), payday.person(right=3)
    payday.books.pay_delay = timedelta(days=1000)
    payday.payer().run()
    payday.books._bonuses_due = [due for due in payday.books._bonuses_due if due[1] != place.id]
    payday.books.book.append(Payment("bonus", place.id, 14, ""))
    payday.payer().run()

    for _ in range(2 if is_ended else 1):
        payday.clock.advance(days=40)
        apply(payday.store, due(payday.store, payday.study, payday.clock(), 10), payday.clock())
        payday.payer(releases_sent=is_ended).run()

    found = everything_of(payday.store)
    assert place.id not in found
    assert place.participant not in found
    assert other.id in found


def everything_of(store):
    """Return, as text, all books of a store, and what its sessions hold of the panel."""
    return f"{store._books} {[session.panel for session, _ in store.sessions('faces')]}"


def test_each_study_gets_a_line(world, study):
    open_with_device(world)
    kept = world.add(studies.study("kept", images=8))
    now = world.clock()
    world.clock.move(days=31)

    told = list(
        lines(
            [
                due(world.store, study, world.clock()),
                due(world.store, study, now),
                due(world.store, kept, now),
            ]
        )
    )

    assert told == [
        "faces: panel parameters and devices of 1 session that ended more than 30 days ago",
        "faces: nothing is older than 30 days",
        "kept: stored as long as the study",
    ]


def test_the_command_shows_first_and_deletes_with_yes(world, tmp_path):
    world.add(studies.study(images=8, keep_days=30))
    open_with_device(world)  # the clock of tests stands in the past
    options = ["--data", str(tmp_path)]

    shown = CliRunner().invoke(main, ["retention", *options])
    kept = session(world).panel
    done = CliRunner().invoke(main, ["retention", "faces", "--yes", *options])
    again = CliRunner().invoke(main, ["retention", "--yes", *options])

    assert shown.output.endswith("nothing is deleted yet; with --yes it is, for good\n")
    assert kept == PANEL
    assert done.output.endswith("deleted\n")
    assert (session(world).panel, session(world).device) == ({}, {})
    assert again.output == "faces: nothing is older than 30 days\n"
