"""A ledger in two stores: one of them pays, whoever is killed or at work while the right to pay moves."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from click.testing import CliRunner

from backend.administration import delete, retention
from backend.administration.copy import copy
from backend.cli import main
from backend.foundation.errors import Conflict
from backend.foundation.timestamps import stamp
from backend.payment import accounts, manual
from backend.recruitment import recruit
from backend.stores.opening import open_store
from backend.stores.store import RESTORES
from backend.studies import lifecycle, pausing, waiting_room
from backend.task.withdrawal import withdraw

from .. import sample_studies as studies
from ..memory import MemoryStore
from ..payday import BASE, BONUS, Payday
from ..payment.test_payer_faults import STORE_CALLS, Fate, Fated, Killed, finish, payday_of, run, steps_of
from ..payment.test_rests import goes_on
from ..task import test_withdrawal as dying

NAMES = ("sqlite:///old.db", "sqlite:///new.db")


def moved(payday, other):
    """Move the study to the other store, as from now on the payday does."""
    copy(payday.store, other, "faces", names=NAMES, moves=True)


def run_or_refused(payday, fate, **options):
    try:
        run(payday, fate, **options)
    except Conflict as error:
        if error.code != "paid_elsewhere":
            raise


def begun(payday):
    """Have the study begun, as the first evaluator's opening does."""
    from backend.studies import lifecycle

    payday.study = lifecycle.begin(payday.store, payday.study, "2026-01-05T00:00:00.000Z")
    return payday


def test_a_copy_has_the_ledger_and_does_not_pay():
    payday, other = begun(payday_of()), MemoryStore()
    payday.payer().run()

    done = copy(payday.store, other, "faces", names=NAMES)

    assert done.paid_from == NAMES[0]
    assert accounts.accounts(other, "faces").keys() == accounts.accounts(payday.store, "faces").keys()
    assert [one for _, one in accounts.payments(other, "faces")] == [
        one for _, one in accounts.payments(payday.store, "faces")
    ]
    with pytest.raises(Conflict, match=r"is paid from sqlite:///old\.db, and the ledger here is a copy"):
        payday.payer(other).run()
    finish(payday)
    payday.check()


@pytest.mark.parametrize(
    "act",
    [
        lambda store, study, path: manual.write_list(store, study, path, None),
        lambda store, study, path: manual.mark_paid(store, study, path, None),
        lambda store, study, path: accounts.set_budget(store, study.name, 100),
        lambda store, study, path: accounts.broke_off(store, study, "e001", "the server was down"),
        lambda store, study, path: recruit.grow(store, None, study, 99),
        lambda store, study, path: recruit.change(store, None, study, "start"),
    ],
    ids=["list", "mark", "budget", "broke off", "grow", "start"],
)
def test_whatever_leads_to_pay_is_refused_where_the_ledger_is_a_copy(act, tmp_path):
    payday, other = begun(payday_of()), MemoryStore()
    copy(payday.store, other, "faces", names=NAMES)

    with pytest.raises(Conflict, match="the ledger here is a copy"):
        act(other, payday.study, tmp_path / "list.csv")

    assert not (tmp_path / "list.csv").exists()


def test_a_copy_is_brought_up_to_what_was_paid_since():
    payday, other = begun(payday_of()), MemoryStore()
    stores = (payday.store, other)
    copy(payday.store, other, "faces", names=NAMES)
    finish(payday)

    copy(payday.store, other, "faces", names=NAMES)

    found = [{key: one for key, (_, one) in accounts.accounts(each, "faces").items()} for each in stores]
    assert found[0] == found[1] != {}


def test_after_a_move_the_other_store_pays_and_the_first_refuses():
    payday, other = begun(payday_of()), MemoryStore()
    payday.books.pay_delay *= 0
    payday.payer(batch=2).run()
    first = payday.store

    moved(payday, other)

    with pytest.raises(Conflict, match=r"is paid from sqlite:///new\.db"):
        payday.payer(first).run()
    payday.store = other
    finish(payday)
    payday.check()
    moved_again = copy(first, other, "faces", names=NAMES, moves=True)
    assert moved_again.paid_from == ""


def test_the_right_to_pay_goes_back_and_forth():
    payday = begun(payday_of())
    here, there = payday.store, MemoryStore()
    for _ in range(2):
        moved(payday, there)
        payday.store = there
        payday.payer(batch=1).run()
        here, there = there, here
    finish(payday)
    payday.check()


def test_two_stores_that_both_have_paid_are_not_joined():
    payday, other = begun(payday_of()), MemoryStore()
    payday.payer().run()
    copy(payday.store, other, "faces", names=NAMES)
    accounts.take_over(other, "faces", "2026-01-06T00:00:00.000Z")

    for moves in (False, True):
        with pytest.raises(Conflict, match="both stores have a ledger of study faces"):
            copy(payday.store, other, "faces", names=NAMES, moves=moves)


def test_a_copy_takes_over_where_the_first_store_is_lost_and_pays_nobody_twice():
    payday, other = begun(payday_of()), MemoryStore()
    payday.payer(batch=3).run()
    copy(payday.store, other, "faces", names=NAMES)
    finish(payday)  # it paid on, and then was lost

    accounts.take_over(other, "faces", payday.clock().isoformat())

    payday.store = other
    finish(payday)
    payday.check()


def on_its_way():
    """A study of which one bonus was asked for and takes three hours; and its store as it was before that."""
    payday = begun(Payday(MemoryStore()))
    payday.owes(payday.person(right=7)[1], bonus=7 * BONUS)
    before = payday.store.backup()
    payday.books.pay_delay = timedelta(hours=3)
    payday.payer().run()
    return payday, before


def restored(payday, before):
    before.write_entry(RESTORES, stamp(payday.clock()), 0, {"taken_at": "2026-01-05T00:00:00.000Z"})
    return before


def taken_over(payday, before):
    other = MemoryStore()
    copy(before, other, "faces", names=NAMES)
    accounts.take_over(other, "faces", stamp(payday.clock()))
    return other


@pytest.mark.parametrize("recovered", [restored, taken_over])
def test_a_bonus_on_its_way_when_a_store_was_lost_is_awaited_after_a_further_move(recovered):
    payday, before = on_its_way()
    payday.store = recovered(payday, before)
    third = MemoryStore()

    moved(payday, third)

    payday.store = third
    finish(payday)
    payday.check()


def test_two_studies_that_are_taken_over_at_the_same_moment_both_wait_with_bonuses():
    payday, before = on_its_way()
    second = begun(Payday(before, "cats", books=payday.books))
    other = MemoryStore()
    for name in ("faces", "cats"):
        copy(before, other, name, names=NAMES)

    for name in ("cats", "faces"):
        accounts.take_over(other, name, stamp(payday.clock()))

    for one in (payday, second):
        assert "took a ledger over" in one.payer(other).run()[0]
    payday.store = other
    finish(payday)
    payday.check()


@pytest.mark.slow("a process is killed again and again")
def test_a_move_at_every_step_of_a_payer_that_changes_anything_pays_everybody_once():
    changing = {("after", "write_entry"), ("before", "approve")}
    changing |= {(side, name) for side in ("before", "after") for name in ("propose_bonuses", "pay_bonuses")}
    for step, side, name in steps_of(batch=3):
        if (side, name) not in changing:
            continue
        payday, other = begun(payday_of()), MemoryStore()
        payday.books.pay_delay = timedelta(hours=20)

        run_or_refused(payday, Fate({step: lambda _, p=payday, o=other: moved(p, o)}), batch=3)

        moved(payday, other)  # where the step was not reached
        payday.store = other
        finish(payday, batch=3)
        payday.check()


WRITING = (*STORE_CALLS, "add_study", "restore", "claim", "erase_session", "change_study")


def steps_of_a_move(payday, other, events):
    """Move the study through stores whose calls meet their fate; return how many steps there were."""
    fate = Fate(events)
    one, two = Fated(payday.store, fate, WRITING), Fated(other, fate, WRITING)
    copy(one, two, "faces", names=NAMES, moves=True)
    return len(fate.trace)


@pytest.mark.slow("a process is killed again and again")
def test_a_payer_that_runs_at_any_step_of_a_move_pays_nobody_twice():
    count = steps_of_a_move(begun(payday_of()), MemoryStore(), {})
    for step in range(count - 1, 0, -3):
        payday, other = begun(payday_of()), MemoryStore()
        payday.books.pay_delay = timedelta(hours=20)

        steps_of_a_move(payday, other, {step: lambda _, p=payday: run_or_refused(p, Fate(), batch=3)})

        payday.store = other
        finish(payday, batch=3)
        payday.check()


@pytest.mark.slow("a process is killed again and again")
def test_a_move_that_is_killed_at_any_step_and_done_again_pays_everybody_once():
    count = steps_of_a_move(begun(payday_of()), MemoryStore(), {})
    for step in range(count - 1, 0, -3):
        payday, other = begun(payday_of()), MemoryStore()
        payday.books.pay_delay = timedelta(minutes=15)
        run(payday, Fate({("after", "pay_bonuses", 1): "kill"}), batch=3)

        with suppress(Killed):
            steps_of_a_move(payday, other, {step: "kill"})

        run_or_refused(payday, Fate(), batch=3)
        moved(payday, other)
        payday.store = other
        finish(payday, batch=3)
        payday.check()


@pytest.mark.parametrize("seed", range(20))
def test_moves_kills_and_payers_in_any_order(seed):
    rng = Random(seed)
    payday = begun(payday_of())
    stores = [payday.store, MemoryStore()]
    for _ in range(rng.randint(2, 5)):
        events = {rng.randint(0, 250): rng.choice(["kill", "move"]) for _ in range(rng.randint(1, 3))}

        def meanwhile(_):
            moved(payday, stores[1])

        fate = Fate({at: meanwhile if what == "move" else what for at, what in events.items()})
        run_or_refused(payday, fate, batch=rng.choice([1, 3]))
        if accounts.funds(stores[0], "faces")[1].paid_from:
            stores.reverse()
            payday.store = stores[0]
        payday.clock.advance(minutes=rng.choice([0, 1, 600]))
    finish(payday)
    payday.check()


@pytest.mark.parametrize("state", ["finished", "active"])
@pytest.mark.parametrize("was_copied", [True, False])
def test_who_withdraws_at_the_first_store_after_a_move_is_paid_by_the_other(state, was_copied):
    payday, other = begun(Payday(MemoryStore())), MemoryStore()
    if not was_copied:
        moved(payday, other)
    at_panel = "done" if state == "finished" else "active"
    _, place = payday.person("active", right=2, answered=4, at_panel=at_panel)
    if was_copied:
        moved(payday, other)
    session = goes_on(payday, answered=10 if state == "finished" else 5, state=state)
    withdraw(payday.store, payday.study, session.id, "2026-01-05T00:00:00.000Z")
    if state == "active":
        payday.books.give_back(place.id)
    with pytest.raises(Conflict, match="1 evaluator of sessions here is not in the copied ledger"):
        delete.check(payday.store, payday.study, payday.clock())

    copy(payday.store, other, "faces", names=NAMES)

    is_whole = state == "finished"
    payday.owes(place, BASE if is_whole else 0, 7 * BONUS + (0 if is_whole else BASE // 2))
    first, payday.store = payday.store, other
    finish(payday)
    payday.check()
    copy(other, first, "faces", names=NAMES)
    delete.check(first, payday.study, payday.clock())


@pytest.mark.parametrize("at", range(1, 7))
def test_a_withdrawal_that_died_before_a_move_is_paid_by_the_other_store(at):
    payday, other = begun(Payday(MemoryStore())), MemoryStore()
    payday.owes(payday.person(right=7)[1], bonus=7 * BONUS)
    ((session, _),) = payday.store.sessions("faces")
    with suppress(dying.Killed):
        withdraw(dying.Dying(payday.store, at), payday.study, session.id, "2026-01-05T00:00:00.000Z")

    moved(payday, other)

    payday.store = other
    finish(payday)
    payday.check()


def test_who_finished_at_the_first_store_is_paid_by_the_other_though_retention_came_before_the_copy():
    payday, other = begun(Payday(MemoryStore())), MemoryStore()
    moved(payday, other)
    payday.owes(payday.person(right=7)[1], bonus=7 * BONUS)
    later = payday.clock() + timedelta(days=40)
    retention.apply(payday.store, retention.due(payday.store, payday.study, later, 30), later)

    copy(payday.store, other, "faces", names=NAMES)

    payday.store = other
    finish(payday)
    payday.check()


def test_minutes_waited_at_the_first_store_after_a_move_are_owed_by_the_other():
    store, other = MemoryStore(), MemoryStore()
    study = studies.study(evaluators=3, retainer_usd_cents=10, retainer_budget_usd_cents=1000)
    store.add_study(study, [])
    study = lifecycle.begin(store, study, "2026-01-05T00:00:00.000Z")
    pausing.set_paused(store, "faces", True, "2026-01-05T00:00:00.000Z")
    start = datetime(2026, 1, 5, tzinfo=UTC)
    token = waiting_room.begin(store, study, "q1", {}, start.timestamp())["token"]
    copy(store, other, "faces", names=NAMES, moves=True)
    for beat in range(1, 7):
        at = start.timestamp() + 20 * beat
        waiting_room.sign(store, study, token.partition(".")[0], token, True, True, at)

    copy(store, other, "faces", names=NAMES)
    copy(other, store, "faces", names=NAMES)

    (account,) = manual.owed(other, study, start + timedelta(hours=1))
    assert account.bonus_usd_cents == 20
    assert [wait.minutes for _, wait in waiting_room.waits(store, "faces")] == [2]


def test_a_copy_can_be_deleted_once_its_sessions_are_in_the_ledger_of_the_store_that_pays():
    payday, other = begun(payday_of()), MemoryStore()
    first = payday.store
    first.write_entry(lifecycle.recruitment_book("faces"), "prolific", 0, studies.recruitment())
    moved(payday, other)
    evaluators = len(list(accounts.newly_owed(first, payday.study, payday.clock())))
    later = payday.clock() + timedelta(days=30)

    with pytest.raises(Conflict, match=r"are not in the copied ledger \(copy the study to sqlite:///new\.db"):
        delete.check(first, payday.study, later)
    payday.store = other
    payday.payer().run()
    copy(other, first, "faces", names=NAMES[::-1])

    assert evaluators > 0
    delete.check(first, payday.study, later)


@pytest.fixture
def pair(table, tmp_path):
    opened = [open_store(url, tmp_path) for url in ("sqlite:///copied.db", table)]
    yield opened
    for store in opened:
        store.close()


@pytest.mark.parametrize("is_to_table", [True, False])
def test_a_ledger_moves_between_a_database_and_a_table(pair, is_to_table):
    first, second = pair if is_to_table else pair[::-1]
    payday = Payday(first)
    payday.everyone()
    begun(payday)
    payday.payer(batch=2).run()

    moved(payday, second)

    with pytest.raises(Conflict, match="the ledger here is a copy"):
        payday.payer(first).run()
    payday.store = second
    finish(payday)
    payday.check()


def test_the_commands_say_who_pays(tmp_path):
    data = ["--data", str(tmp_path)]
    store = open_store("sqlite:///openhype.db", tmp_path)
    study = studies.study(images=8, panel="link")
    store.add_study(study, studies.pool(study))
    begun(type("Begun", (), {"store": store, "study": study})())
    store.close()

    def run_(*arguments):
        return CliRunner().invoke(main, [*arguments, *data])

    to = ["faces", "--from", "sqlite:///openhype.db", "--to", "sqlite:///new.db"]
    copied = run_("copy", *to)
    refused = run_("pay", "faces", "--store", "sqlite:///new.db", "-o", str(tmp_path / "owed.csv"))
    moving = run_("copy", *to, "--move")
    paid = run_("pay", "faces", "--store", "sqlite:///new.db", "-o", str(tmp_path / "owed.csv"))
    refused_here = run_("pay", "faces", "-o", str(tmp_path / "owed.csv"))
    taken = run_("pay", "faces", "--take-over", "-o", str(tmp_path / "owed.csv"))

    assert f"faces is paid from sqlite:///{tmp_path}/openhype.db as before; --move" in copied.stdout
    assert "is paid from" not in moving.stdout
    assert "is a copy" in refused.stderr
    assert f"is paid from sqlite:///{tmp_path}/new.db" in refused_here.stderr
    codes = [each.exit_code for each in (copied, refused, moving, paid, refused_here, taken)]
    assert codes == [0, 1, 0, 0, 1, 0]
