"""Evaluators are paid through the API what was confirmed, once, whatever is sent again or at once."""

import dataclasses
import threading

import pytest

from backend.experiment.panel import LINK
from backend.jobs import queue
from backend.jobs.queue import jobs
from backend.panels.prolific import ProlificPanel
from backend.payment import accounts
from backend.payment.study_payments import carry_out
from tests import prolific

from .. import sample_studies as studies
from ..payday import FEE, Payday
from .researcher import Researcher

OWED = 500 + 34 + 20 + 54
"""Cents owed to everybody: five rewards, bonuses of 14, 14, 20, 6, and 54 for one who broke off."""


@pytest.fixture
def fake(monkeypatch):
    with prolific.running(fee=FEE) as fake:
        for name, value in fake.environment().items():
            monkeypatch.setenv(name, value)
        yield fake


@pytest.fixture
def payday(fake, world):
    panel = ProlificPanel(fake.token, fake.environment()["OPENHYPE_PROLIFIC_URL"])
    payday = Payday(world.store, "faces", panel, fake.books)
    terms = studies.recruitment(panel_study=payday.panel_study)
    world.store.write_entry("recruitment faces", "prolific", 0, terms)
    return payday


@pytest.fixture
def me(world):
    return Researcher(world)


def test_the_amount_is_told_exactly_and_then_paid_once(payday, me):
    payday.everyone()

    offered = me.get("studies/faces/payments")
    assert payday.books.paid() == {}
    job = me.job("studies/faces/pay", {"confirmation": offered["confirmation"]})

    assert (offered["now_usd_cents"], offered["currency"], offered["pays"]) == (OWED, "USD", 6)
    assert offered["now_total_usd_cents"] == offered["now_usd_cents"] + offered["now_fees_usd_cents"]
    assert (job.state, job.result["total_usd_cents"]) == ("done", offered["now_total_usd_cents"]), job.reason
    assert sum(line.cents for line in payday.books.account()) == OWED
    payday.check()
    assert me.get("studies/faces/payments")["now_total_usd_cents"] == 0


def test_the_same_confirmation_again_gives_the_same_job(payday, me):
    payday.everyone()
    confirmed = {"confirmation": me.get("studies/faces/payments")["confirmation"]}

    first = me.post("studies/faces/pay", confirmed, 202)
    assert me.post("studies/faces/pay", confirmed, 202) == first
    me.done(first["job"])
    assert me.post("studies/faces/pay", confirmed, 202) == first  # a reply that was lost

    payday.check()
    assert len(jobs(me.world.store)) == 1


def test_many_at_once_are_one_payment(payday, me):
    payday.everyone()
    confirmed = {"confirmation": me.get("studies/faces/payments")["confirmation"]}
    found = []

    def send():
        client = me.world.app.test_client()
        found.append(client.post("/api/studies/faces/pay", json=confirmed, headers=me.headers).json["job"])

    threads = [threading.Thread(target=send) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len({*found}) == 1
    assert me.done(found[0]).state == "done"
    payday.check()


def test_one_who_finished_since_changes_what_is_confirmed(payday, me):
    payday.owes(payday.person()[1], bonus=10)
    confirmed = {"confirmation": me.get("studies/faces/payments")["confirmation"]}
    payday.person()

    assert "look at the amounts again" in me.refused("studies/faces/pay", confirmed, 409, "changed")
    assert payday.books.paid() == {}


def test_one_who_finishes_before_the_worker_comes_is_not_paid_unconfirmed(payday, me):
    payday.owes(payday.person()[1], bonus=10)
    offered = me.get("studies/faces/payments")
    name = me.post("studies/faces/pay", {"confirmation": offered["confirmation"]}, 202)["job"]
    payday.person()

    job = me.done(name)

    assert (job.state, job.reason) == ("failed", "more is owed by now than was confirmed")
    assert payday.books.total_with_fees() == offered["now_total_usd_cents"]
    payday.check()


def test_a_failed_payment_is_confirmed_anew(payday, me, fake):
    payday.everyone()
    first = me.get("studies/faces/payments")["confirmation"]
    fake.fail("POST", "/pay/", "before")
    job = me.job("studies/faces/pay", {"confirmation": first})
    assert job.state == "failed"

    second = me.get("studies/faces/payments")["confirmation"]
    assert second != first
    me.refused("studies/faces/pay", {"confirmation": "0" * 64}, 409, "changed")
    me.job("studies/faces/pay", {"confirmation": second})

    payday.check(complete=None)


@pytest.mark.parametrize(
    ("call", "when"), [("/pay/", "before"), ("/pay/", "after"), ("/bulk-approve/", "after")]
)
def test_a_payment_that_broke_off_is_finished_by_the_same_order(payday, me, fake, call, when):
    payday.everyone()
    offered = me.get("studies/faces/payments")
    name = me.post("studies/faces/pay", {"confirmation": offered["confirmation"]}, 202)["job"]
    order = queue.job(me.world.store, name).args["order"]
    run = (me.world.store, payday.study, fake.panel(), payday.clock, order)
    fake.fail("POST", call, when)
    carry_out(*run)

    payday.clock.advance(hours=25)  # by then it is known what became of a call without an answer
    for _ in range(2):
        carry_out(*run)

    payday.check()
    assert sum(line.cents for line in payday.books.account()) == OWED


def test_a_budget_bounds_what_is_offered_and_paid(payday, me):
    payday.everyone()
    me.post("studies/faces/payments/budget", {"budget_usd_cents": 450})
    offered = me.get("studies/faces/payments")

    job = me.job("studies/faces/pay", {"confirmation": offered["confirmation"]})

    assert (job.state, job.reason) == ("failed", "the budget does not suffice for all that is owed")
    assert 0 < payday.books.total_with_fees() == offered["now_total_usd_cents"] <= 450
    payday.check(complete=False)


def test_submissions_without_a_session_are_paid_as_they_were_named(payday, me):
    place = payday.books.take(payday.panel_study)
    payday.books.start(place.id)
    payday.books.submit(place.id, "NO7")
    payday.books.fresh[place.id] = 0
    without = me.get("studies/faces/payments")
    (line,) = without["unmatched"]

    offered = me.get(f"studies/faces/payments?approve={line['evaluator']}")
    body = {"confirmation": offered["confirmation"], "approve": [line["evaluator"]]}
    job = me.job("studies/faces/pay", body)

    assert (without["now_total_usd_cents"], offered["now_total_usd_cents"]) == (0, 143)
    assert (job.state, payday.books.total_with_fees()) == ("done", 143), job.reason
    me.get("studies/faces/payments?approve=nobody", 400)


def test_without_a_token_what_is_owed_is_told_from_the_ledger(payday, me, monkeypatch):
    payday.owes(payday.person()[1], bonus=10)
    confirmed = {"confirmation": me.get("studies/faces/payments")["confirmation"]}
    monkeypatch.delenv("PROLIFIC_TOKEN")

    state = me.get("studies/faces/payments")

    assert (state["confirmation"], len(state["evaluators"])) == (None, 1)
    assert "PROLIFIC_TOKEN" in state["problem"]
    me.refused("studies/faces/pay", confirmed, 409, "no_panel_token")


def test_a_ledger_that_is_a_copy_pays_nobody(payday, me):
    payday.person()
    confirmed = {"confirmation": me.get("studies/faces/payments")["confirmation"]}
    accounts.change_funds(
        me.world.store, "faces", lambda now: type(now)(**{**now.data(), "paid_from": "sqlite:///x"})
    )

    assert me.get("studies/faces/payments")["paid_from"] == "sqlite:///x"
    me.refused("studies/faces/pay", confirmed, 409, "paid_elsewhere")
    me.refused("studies/faces/payments/take-over", {"confirm": "yes"}, 400, "invalid")
    assert me.post("studies/faces/payments/take-over", {"confirm": "sqlite:///x"}) == {"paid_from": ""}


def test_a_session_that_broke_off_is_owed_a_part(payday, me):
    evaluator, _ = payday.person("active", answered=5, right=2, at_panel="timed_out")
    body = {"evaluator": evaluator, "reason": "the server was down"}

    owed = me.post("studies/faces/payments/broke-off", body)

    assert owed == {"evaluator": evaluator, "base_usd_cents": 50, "bonus_usd_cents": 4}
    me.refused("studies/faces/payments/broke-off", {**body, "evaluator": "nobody"}, 404, "not_found")


def test_automatic_payments_need_a_budget(payday, me):
    me.refused("studies/faces/payments/automatic", {"automatic": True}, 409, "conflict")
    me.post("studies/faces/payments/budget", {"budget_usd_cents": 1000})

    assert me.post("studies/faces/payments/automatic", {"automatic": True})["automatic"]["approved_at"]
    assert me.get("studies/faces/payments")["automatic"]
    assert me.post("studies/faces/payments/automatic", {"automatic": False}) == {"automatic": None}


def test_people_of_a_link_are_paid_from_a_list(fake, world, me):
    payday = Payday(world.store, books=fake.books, panel_record=LINK)
    payday.person(right=5)

    offered = me.get("studies/faces/payments")
    listed = me.get("studies/faces/payments.csv")
    paid = {"paid": [{"evaluator": "e001", "usd_cents": 110}]}

    assert (offered["paid_by"], offered["now_total_usd_cents"], offered["confirmation"]) == (
        "link",
        110,
        None,
    )
    row = listed.get_data(as_text=True).splitlines()[1]
    assert row.startswith("e001,CODE001,100,10,110,USD,")
    assert offered["by_hand"] == {"people": 1, "usd_cents": 110}
    assert listed.headers["Content-Disposition"] == 'attachment; filename="faces-payments.csv"'
    me.refused("studies/faces/pay", {"confirmation": ""}, 400, "invalid")
    for wrong in ({"evaluator": "e001", "usd_cents": 111}, {"evaluator": "e009", "usd_cents": 110}):
        me.refused("studies/faces/payments/mark-paid", {"paid": [*paid["paid"], wrong]}, 400, "invalid")
    assert me.get("studies/faces/payments")["now_total_usd_cents"] == 110
    named = {**paid["paid"][0], "completion_code": "CODE001", "account": row.rpartition(",")[2]}
    assert me.post("studies/faces/payments/mark-paid", {"paid": [named]}) == {"marked": 1}
    assert me.post("studies/faces/payments/mark-paid", paid) == {"marked": 0}
    assert me.get("studies/faces/payments")["now_total_usd_cents"] == 0


def test_who_holds_no_place_at_the_panel_is_paid_from_a_list_too(payday, me):
    payday.owes(payday.person()[1], bonus=10)
    payday.person(right=7)
    (session, cursor) = list(payday.store.sessions("faces"))[1]
    payday.store.erase_session(session.id)
    payday.store.add_session(dataclasses.replace(session, panel={}), cursor)  # came by the study's own link

    offered = me.get("studies/faces/payments")
    listed = me.get("studies/faces/payments.csv").get_data(as_text=True).splitlines()

    assert (offered["paid_by"], offered["pays"], offered["by_hand"]) == (
        "prolific",
        1,
        {"people": 1, "usd_cents": 114},
    )
    assert [line[:21] for line in listed[1:]] == ["e002,CODE002,100,14,1"]


@pytest.mark.parametrize("cents", [-1, 10**12, 1.5, "100", 10**400])
def test_a_budget_is_in_whole_cents(payday, me, cents):
    me.refused("studies/faces/payments/budget", {"budget_usd_cents": cents}, 400, "invalid")


def test_why_somebody_is_owed_what_is_said_in_words_to_who_asks(payday, me):
    _, place = payday.person(right=5)

    (account,) = me.get("studies/faces/payments/e001")["accounts"]

    said = [(one["about"], one["words"]) for one in account["said"]]
    assert account["evaluator"] == "e001"
    assert ("owed", "$1.00 of base + $0.10 of bonus (5 right × $0.02) = $1.10") in said
    assert ("next", "the next run approves the submission") in said
    assert me.get(f"studies/faces/payments/{place.id}")["accounts"] == [account]
    unknown = me.get("studies/faces/payments/e002", 404)["error"]
    assert (unknown["code"], unknown["message"]) == (
        "unknown_evaluator",
        "study faces knows nobody called 'e002'; did you mean `e001`?",
    )
