"""People in every state that the model of the money in docs/paying.md has, and what is said of each.

Each case is a function that has somebody take part at a fake panel, and returns by what name to ask for
them; with it stand the words that explain what they are owed, worked out by hand from the base of $1.00
and $0.02 for each right answer.
"""

import dataclasses
from datetime import timedelta

from backend.experiment.panel import LINK
from backend.panels.api import PanelUnreached
from backend.payment import accounts as owing
from backend.payment import automatic, manual, screened_out
from backend.payment.ledger import as_paid_elsewhere
from backend.payment.people import as_known
from backend.payment.study_payments import PayOptions, paid_by
from backend.stores.store import RESTORES
from backend.studies.retainer import Wait
from backend.studies.waiting_room import book_of
from backend.task.withdrawal import withdraw
from tests.unit.panel_reconciliation import reconcile

from . import sample_studies as studies
from .memory import MemoryStore
from .payday import FAULT, Payday
from .payment.test_payer_faults import Fate, run
from .payment.test_unreadable import Vanished

CODES = {"done": "DONE7", "no_consent": "NO7", "unfit_device": "UNFIT7", "screened_out": "OUT7"}
CASES = {}
"""By name: (what happens, the words that are said)."""
AT = "2026-01-05T00:00:00.000Z"


class Recorder(MemoryStore):
    """A store that records each move of a part of an account, and of a payment, as (what, from, to)."""

    def __init__(self, of=None):
        super().__init__()
        vars(self).update(vars(of or self))
        self.moves = set()

    def write_entry(self, book, key, expected_version, data):
        before = self.entry(book, key)
        written = super().write_entry(book, key, expected_version, data)
        kinds = {"ledger": ("reward", "bonus"), "payments": ("state",)}
        for kind in kinds.get(book.partition("/")[0], ()):
            was = before.data[kind] if before else ""
            if was != data[kind]:
                self.moves.add((kind, was, data[kind]))
        return written


def case(*words, **options):
    def declare(happen):
        CASES[happen.__name__] = (happen, words, options)
        return happen

    return declare


def played(name):
    """Have a case happen; return its payday and the name to ask for."""
    happen, _, options = CASES[name]
    payday = Payday(Recorder(), **options)
    return payday, happen(payday)


def known(payday, panel=None):
    """Return what the study knows, as the command asks for it."""

    def opened():
        return panel or payday.panel

    options = PayOptions(panel_study=payday.panel_study)
    return as_known(payday.store, payday.study, opened, payday.clock, paid_by(payday.study), options)


def recruits(payday, **facts):
    """Store that the people were recruited from here, so that codes at the panel mean something."""
    terms = studies.recruitment(panel_study=payday.panel_study, codes=CODES, **facts)
    payday.store.write_entry("recruitment faces", "prolific", 0, terms)


def pay(payday, runs=1, **options):
    for _ in range(runs):
        payday.payer(**options).run()
        payday.clock.advance(minutes=20)


def paid_with(payday, call, event):
    """Run a payer whose call of the panel meets an event before it is done."""
    run(payday, Fate({("before", call, 1): event}))


def session_of(payday):
    return next(payday.store.sessions("faces"))


def move(payday, **changes):
    session, cursor = session_of(payday)
    after = dataclasses.replace(cursor, version=cursor.version + 1, **changes)
    payday.store.move(session.id, cursor.version, after)


def stranger(payday, code):
    """Have somebody hand in a place without a session; return their pseudonym."""
    place = payday.books.take(payday.panel_study)
    payday.books.start(place.id)
    payday.books.fresh[place.id] = 0
    if code:
        payday.books.submit(place.id, code)
    return place


def unmatched_of(payday, place):
    return payday.accounts()[place.id].evaluator


def broken_off(payday, at_panel="timed_out"):
    who, place = payday.person("active", right=2, answered=5, at_panel=at_panel)
    owing.broke_off(payday.store, payday.study, who, FAULT)
    return who, place


# a session, paid by approval and a bonus


@case(
    "who: e001, session faces-001",
    "did: finished; 10 of 10 trials answered, 5 right, last on 2026-01-04 00:01 UTC",
    "owed: $1.00 of base + $0.10 of bonus (5 right × $0.02) = $1.10",
    "reward: $1.00 owed",
    "bonus: $0.10 owed",
    "at the panel: awaiting review",
    "next: the next run approves the submission",
    "next: the bonus is paid once the reward is",
    "you may: openhype pay faces --yes",
)
def owed(payday):
    return payday.person()[0]


@case(
    "did: closed early, and paid in full; 7 pictures did not flash on time; 6 of 10 trials answered",
    "owed: $1.00 of base + $0.06 of bonus (3 right",
)
def ended(payday):
    payday.person("ended", right=3, answered=6)
    move(payday, failed_flashes=7)
    return "faces-001"


@case(
    "did: closed early, and paid in part; 2 pictures did not flash on time, fewer than 5; paid by the share",
    "owed: $0.60 of base (6 of 10 × $1.00, rounded up) + $0.06 of bonus (3 right × $0.02) = $0.66, all as a",
    "next: the bonus is paid once the submission is returned or timed out",
)
def ended_in_part(payday):
    who, _ = payday.person("broken_off", right=3, answered=6, at_panel="active")
    move(payday, failed_flashes=2)
    return who


@case("did: 0 of 10 trials answered, 0 right", "owed: nothing: the session was closed early")
def ended_without_an_answer(payday):
    return payday.person("broken_off", right=0, answered=0, at_panel="active")[0]


@case("owed: $1.00 of base + $0.13 of bonus (5 right × $0.02 + 3 not sure × half of it, rounded up) = $1.13")
def not_sure(payday):
    who, _ = payday.person()
    move(payday, not_sure=3)
    return who


@case("next: the next run reports the person as done, then approves the submission")
def not_reported(payday):
    recruits(payday, by_server=True)
    return payday.person(at_panel="active")[0]


@case("reward: $1.00 committed", "next: the next run asks for its approval, and looks for it")
def approval_committed(payday):
    who, _ = payday.person()
    paid_with(payday, "approve", "kill")
    return who


@case(
    "reward: $1.00 paid, as recorded on 2026-01-05 00:00 UTC", "bonus: $0.10 paid", ": closed, asked for on"
)
def paid(payday):
    payday.person()
    pay(payday, 2)
    return "CODE001"


@case("reward: $1.00 paid", "bonus: $0.10 owed", "next: the next run pays the bonus")
def approved_by_hand(payday):
    who, place = payday.person()
    owing.enter_all(payday.store, payday.study, payday.clock())
    payday.books.approve(place.id)
    payday.books.refusing_bulks = True
    pay(payday)
    return who


@case("bonus: $0.10 committed", "next: the next run asks the panel to carry the payment out", ": intended")
def payment_intended(payday):
    who, _ = payday.person()
    paid_with(payday, "propose_bonuses", "unsure")
    return who


@case("bonus: $0.10 committed", "next: the next run asks the panel to carry the payment out", ": handed in")
def payment_handed_in(payday):
    who, _ = payday.person()
    paid_with(payday, "pay_bonuses", "unreached")
    return who


@case(
    "bonus: $0.10 asked for, without an answer",
    ": paying, asked for on 2026-01-05 00:00 UTC",
    "if they lack it after 2026-01-06 00:00 UTC, it is owed again",
)
def payment_paying(payday):
    who, _ = payday.person()
    paid_with(payday, "pay_bonuses", "unsure")
    return who


@case(
    "bonus: $0.10 on its way", ": sent", "after 2026-01-06 00:00 UTC, it can be released", "--release --yes"
)
def payment_sent(payday):
    payday.books.pay_delay = timedelta(hours=90)
    who, _ = payday.person()
    pay(payday)
    return who


@case("bonus: $0.10 paid", ": lapsed, asked for on 2026-01-05 00:00 UTC; payment", ": closed, asked for on")
def payment_lapsed(payday):
    who, _ = payday.person()
    paid_with(payday, "pay_bonuses", "unsure")
    payday.clock.advance(hours=30)
    pay(payday, 2)
    return who


def released(payday, delay):
    """Have somebody's payment, which arrives after a delay, be released after 30 hours; return who it is."""
    payday.books.pay_delay = delay
    who, _ = payday.person()
    pay(payday)
    payday.clock.advance(hours=30)
    payday.books.refusing_bulks = True
    pay(payday, releases_sent=True)
    return who


@case("bonus: $0.10 owed", ": lapsed", "next: the next run pays the bonus")
def payment_released(payday):
    return released(payday, timedelta(days=9))


@case("bonus: $0.10 paid, as recorded on 2026-01-06", ": lapsed")
def paid_late(payday):
    who = released(payday, timedelta(hours=35))
    payday.clock.advance(hours=10)
    pay(payday)
    return who


@case("bonus: $0.10 paid, as recorded on 2026-01-06", ": lapsed")
def closed_and_paid_late(payday):
    who = released(payday, timedelta(hours=35))
    owing.close(payday.store, payday.study, who, "released, and to be paid by hand", payday.clock())
    payday.clock.advance(hours=10)
    pay(payday)
    return who


@case("bonus: $0.10 owed", ": refused")
def payment_refused(payday):
    payday.books.refusing_bulks = True
    who, _ = payday.person()
    pay(payday)
    return who


@case("bonus: $0.10 owed", ": void")
def payment_void(payday):
    who, _ = payday.person()
    _, other = payday.person()
    paid_with(payday, "pay_bonuses", "unreached")
    payday.books.refusing_bulks = True
    pay(payday, panel=Vanished(payday.panel, {other.id}))
    return who


@case("bonus: $0.10 owed", ": refused")
def payment_refused_when_handed_in(payday):
    who, _ = payday.person()
    payday.fake.fail("POST", "/bonus-payments/$", 400)
    pay(payday)
    return who


@case("bonus: $0.10 paid", ": closed")
def payment_shown_without_an_answer(payday):
    who, _ = payday.person()
    run(payday, Fate({("after", "pay_bonuses", 1): "unsure"}))
    pay(payday)
    return who


@case(
    "reward: $1.00 owed",
    "next: nothing: the budget does not suffice",
    "you may: openhype pay faces --budget AMOUNT --yes",
)
def beyond_the_budget(payday):
    owing.set_budget(payday.store, "faces", 100)
    return payday.person()[0]


@case("next: after a restore, bonuses are paid from 2026-01-06 00:00 UTC on")
def restored(payday):
    who, _ = payday.person()
    payday.store.write_entry(RESTORES, AT, 0, {})
    pay(payday)
    return who


@case("reward: $1.00 owed", "at the panel: not asked: Prolific is away", "known once the panel can be asked")
def panel_away(payday):
    return payday.person()[0]


@case("next: the next run at sqlite:///there, approves the submission")
def paid_from_elsewhere(payday):
    owing.change_funds(
        payday.store, "faces", lambda now: dataclasses.replace(now, paid_from="sqlite:///there")
    )
    return payday.person()[0]


@case("next: the next run, within the hour, approves the submission")
def paid_automatically(payday):
    owing.set_budget(payday.store, "faces", 1000)
    automatic.approve(payday.store, payday.study, payday.clock())
    return payday.person()[0]


@case(
    "all as a bonus: the submission belongs to another study at the panel",
    "bonus: $1.10 owed",
    "pays the bonus",
)
def on_the_way_to_another_study(payday):
    who, place = payday.person()
    owing.enter_all(payday.store, payday.study, payday.clock())
    key = payday.accounts()[place.id].key
    there = payday.panel_study
    owing.change_known(payday.store, "faces", key, lambda now: as_paid_elsewhere(now, there))
    return who


# debts that nothing pays


@case("at the panel: returned", "next: nothing: the submission was returned", "--broke-off e001=REASON --yes")
def returned(payday):
    return payday.person(at_panel="returned")[0]


@case("next: nothing: the submission was rejected", "you may: openhype pay faces --close e001=REASON")
def rejected(payday):
    return payday.person(at_panel="rejected")[0]


@case("reward: $1.00 owed", "next: nothing: the submission was rejected")
def rejected_when_committed(payday):
    who, place = payday.person()
    paid_with(payday, "approve", "kill")
    payday.books.reject(place.id)
    pay(payday)
    return who


@case("reward: $1.00 closed on 2026-01-05 00:00 UTC: spam", "bonus: $0.10 closed on")
def closed(payday):
    who, _ = payday.person(at_panel="rejected")
    owing.close(payday.store, payday.study, who, "spam", payday.clock())
    return who


@case("reward: $1.00 paid", "bonus: $0.10 closed on 2026-01-05 00:00 UTC: spam")
def closed_and_approved(payday):
    who, place = payday.person()
    owing.close(payday.store, payday.study, who, "spam", payday.clock())
    payday.books.approve(place.id)
    pay(payday)
    return who


@case(
    "at the panel: no such submission of this person",
    "next: nothing: the panel does not know",
    "--release --yes",
)
def vanished(payday):
    who, place = payday.person()
    paid_with(payday, "approve", "kill")
    payday.panel = Vanished(payday.panel, {place.id})
    return who


@case(
    "reward: $1.00 owed",
    "next: nothing: the panel does not know the person's submission",
    "--close e001=REASON",
)
def vanished_and_released(payday):
    who = vanished(payday)
    pay(payday, releases_sent=True)
    return who


@case("reward: $1.00 paid, as recorded on")
def forgotten(payday):
    who, _ = payday.person()
    pay(payday, 2)
    payday.clock.advance(days=9)
    owing.forget(payday.store, "faces", payday.clock().isoformat())
    return who


# sessions that broke off, and what becomes of them


@case(
    f"did: broke off, through no fault of the evaluator, as you said: {FAULT}; 5 of 10 trials answered, 2",
    "owed: $0.50 of base (5 of 10 × $1.00, rounded up) + $0.04 of bonus (2 right × $0.02) = $0.54, all as a",
    "bonus: $0.54 owed",
    "next: the next run pays the bonus",
)
def broke_off(payday):
    return broken_off(payday)[0]


@case("next: the bonus is paid once the submission is returned or timed out")
def broke_off_with_the_place_open(payday):
    return broken_off(payday, "active")[0]


@case("bonus: $0.54 paid")
def broke_off_and_paid(payday):
    who, _ = broken_off(payday)
    pay(payday)
    return who


@case("reward: $1.00 not decided", "--approve e001 --yes")
def broke_off_and_came_back(payday):
    who, place = broken_off(payday)
    payday.books.submit(place.id, "DONE7")
    paid_with(payday, "propose_bonuses", "kill")
    return who


@case(
    "owed: $0.00 of base, as the reward paid it, + $0.04 of bonus", "reward: $1.00 paid", "bonus: $0.04 paid"
)
def broke_off_and_approved(payday):
    who, place = broken_off(payday)
    payday.books.submit(place.id, "DONE7")
    payday.books.approve(place.id)
    pay(payday, 2)
    return who


@case("reward: $1.00 paid")
def broke_off_without_a_right_answer_and_approved(payday):
    who, place = payday.person("active", right=0, answered=5, at_panel="timed_out")
    owing.broke_off(payday.store, payday.study, who, FAULT)
    payday.books.submit(place.id, "DONE7")
    payday.books.approve(place.id)
    pay(payday, 2)
    return who


@case(f"did: finished; had been said to have broken off: {FAULT}", "owed: $1.00 of base + $0.14 of bonus")
def broke_off_and_finished(payday):
    who, place = broken_off(payday)
    move(payday, state="finished", trial_index=10, right={"real": 3, "fake": 4})
    payday.books.submit(place.id, "DONE7")
    pay(payday)
    return who


@case(
    "bonus: $0.54 paid", "owed: $0.60: all that the session earned, less what was owed before", "bonus: $0.60"
)
def rest(payday):
    who, _ = broken_off(payday)
    pay(payday)
    move(payday, state="finished", trial_index=10, right={"real": 3, "fake": 4})
    pay(payday)
    return who


@case(
    "bonus: $1.10 owed",
    "did: broke off, through no fault of the evaluator, as you said: too late for the panel",
)
def finished_too_late(payday):
    who, _ = payday.person(at_panel="timed_out")
    owing.enter_all(payday.store, payday.study, payday.clock())
    owing.broke_off(payday.store, payday.study, who, "too late for the panel")
    return who


# withdrawn


@case("did: finished; withdrew on 2026-01-05 00:00 UTC, when the session was finished; its 10 answers are")
def withdrawn(payday):
    payday.person()
    withdraw(payday.store, payday.study, "faces-001", AT)
    return "faces-001"


@case(
    "did: withdrew, which is paid as a bonus once the submission is returned; withdrew on 2026-01-05 00:00 "
    "UTC",
    "owed: $0.50 of base (of $1.00, by the trials answered) + $0.04 of bonus = $0.54",
)
def withdrawn_under_way(payday):
    _, place = payday.person("active", right=2, answered=5, at_panel="active")
    withdraw(payday.store, payday.study, "faces-001", AT)
    return place.participant


@case("bonus: $1.10 paid")
def withdrawn_and_returned(payday):
    who, place = payday.person()
    withdraw(payday.store, payday.study, "faces-001", AT)
    payday.books.give_back(place.id)
    pay(payday)
    return who


@case("owed: $1.00 of base", "bonus: $1.00 committed")
def withdrawn_and_returned_when_committed(payday):
    who, place = payday.person(right=0)
    withdraw(payday.store, payday.study, "faces-001", AT)
    paid_with(payday, "approve", "kill")
    payday.books.give_back(place.id)
    paid_with(payday, "propose_bonuses", "kill")
    return who


@case("owed: nothing: the submission had been given up at the panel")
def withdrawn_after_the_place_was_returned(payday):
    who, _ = payday.person("returned", at_panel="returned")
    withdraw(payday.store, payday.study, "faces-001", AT)
    return who


# no account


@case("the session is open", "owed: nothing yet, unless you say that it broke off", "--broke-off e001=REASON")
def unfinished_session(payday):
    return payday.person("active", answered=4, at_panel="active")[0]


@case(
    "the session fell silent, and another got its participant slot",
    "owed: nothing yet, unless you say that it broke off",
    "--broke-off e001=REASON",
)
def lapsed(payday):
    return payday.person("lapsed", answered=4, at_panel="active")[0]


@case(
    "the session was closed, as its submission was timed out",
    "owed: nothing: the submission had been given up",
)
def session_given_back(payday):
    recruits(payday)
    who, _ = payday.person("active", answered=4, at_panel="timed_out")
    reconcile(payday.store, payday.panel, payday.study, AT)
    return who


@case(
    "did: declined to take part",
    "owed: nothing: the panel pays for such a submission only if",
    "panel: returned",
)
def declined_and_returned(payday):
    recruits(payday)
    place = stranger(payday, "NO7")
    payday.books.give_back(place.id)
    return place.id


@case(
    "did: was screened out by the qualification", "owed: nothing here: the panel pays for being screened out"
)
def screened_out_by_a_fixed_amount(payday):
    recruits(payday, screen_out={"reward_cents": 50, "slots": 2})
    place = stranger(payday, "")
    panel = {"PROLIFIC_PID": place.participant, "SESSION_ID": place.id}
    screened_out.note(payday.store, payday.study, panel, AT)
    return place.participant


# places without a session


@case(
    "did: declined to take part",
    "owed: nothing here; the submission's reward is $1.00",
    "reward: $1.00 not decided",
)
def declined(payday):
    recruits(payday)
    return stranger(payday, "NO7").id


@case("did: had a device that cannot show the task", "you may: openhype pay faces --approve p")
def unfit_device(payday):
    recruits(payday)
    return stranger(payday, "UNFIT7").id


@case(
    "did: was screened out by the qualification",
    "reward: $1.00 owed",
    "next: the next run approves the submission",
)
def screened_out_at_the_reward(payday):
    recruits(payday)
    return stranger(payday, "OUT7").id


@case("did: completed the submission without having finished here", "reward: $1.00 not decided")
def unfinished(payday):
    return payday.person("active", answered=4, at_panel="done")[1].id


@case(
    "reward: $1.00 not decided", "at the panel: awaiting review, asked on 2026-01-05 00:00 UTC to return it"
)
def asked_to_return(payday):
    place = stranger(payday, "DONE7")
    payday.payer().decide("all", is_to_pay=False)
    return place.id


@case("did: has no session here", "reward: $1.00 paid")
def approved_without_a_session(payday):
    place = stranger(payday, "DONE7")
    pay(payday)
    payday.payer().decide("all", is_to_pay=True)
    pay(payday)
    pay(payday)
    return place.id


@case("did: has no session here", "owed: nothing here", "at the panel: returned")
def approved_then_returned(payday):
    place = stranger(payday, "DONE7")
    payday.payer().decide("all", is_to_pay=True)
    payday.books.give_back(place.id)
    pay(payday)
    return place.id


@case("at the panel: returned")
def committed_then_returned(payday):
    place = stranger(payday, "DONE7")
    payday.payer().decide("all", is_to_pay=True)
    paid_with(payday, "approve", "kill")
    payday.books.give_back(place.id)
    pay(payday)
    return place.id


@case("did: has no session here", "reward: $1.00 paid")
def approved_by_the_panel(payday):
    place = stranger(payday, "DONE7")
    pay(payday)
    payday.books.approve(place.id)
    pay(payday)
    return place.id


@case("reward: $1.00 paid")
def approved_before_anybody_looked(payday):
    place = stranger(payday, "DONE7")
    payday.books.approve(place.id)
    pay(payday)
    return place.id


@case("at the panel: returned")
def returned_as_asked(payday):
    place = stranger(payday, "DONE7")
    payday.payer().decide("all", is_to_pay=False)
    payday.books.give_back(place.id)
    pay(payday)
    return place.id


@case("reward: $1.00 closed on 2026-01-05 00:20 UTC: a test of ours")
def closed_without_a_session(payday):
    place = stranger(payday, "DONE7")
    pay(payday)
    owing.close(payday.store, payday.study, unmatched_of(payday, place), "a test of ours", payday.clock())
    return place.id


@case("did: finished; 10 of 10", "owed: $1.00 of base + $0.10 of bonus", "reward: $1.00 owed")
def finished_after_the_place(payday):
    who, _ = payday.person("active", answered=4, at_panel="done")
    pay(payday)
    move(payday, state="finished", trial_index=10)
    owing.enter_all(payday.store, payday.study, payday.clock())
    return who


@case("reward: $1.00 owed", "bonus: $0.10 owed")
def finished_after_the_place_was_closed(payday):
    who, place = payday.person("active", answered=4, at_panel="done")
    pay(payday)
    owing.close(payday.store, payday.study, unmatched_of(payday, place), "spam", payday.clock())
    move(payday, state="finished", trial_index=10)
    owing.enter_all(payday.store, payday.study, payday.clock())
    return who


@case("reward: $1.00 not decided", "bonus: $0.50 owed")
def broke_off_after_the_place(payday):
    who, _ = payday.person("active", answered=4, at_panel="done")
    pay(payday)
    owing.broke_off(payday.store, payday.study, who, FAULT)
    return who


@case("bonus: $0.50 owed")
def broke_off_after_the_place_was_closed(payday):
    who, place = payday.person("active", answered=4, at_panel="done")
    pay(payday)
    owing.close(payday.store, payday.study, unmatched_of(payday, place), "spam", payday.clock())
    owing.broke_off(payday.store, payday.study, who, FAULT)
    return who


# paid from a list, and waiting


@case(
    "reward: $1.00 owed",
    "next: you pay it, from the list",
    "you may: openhype pay faces --panel link -o owed.csv",
    panel_record=LINK,
)
def owed_from_a_list(payday):
    return payday.person()[0]


@case("reward: $1.00 paid", "bonus: $0.10 paid, as recorded on 2026-01-05 00:00 UTC", panel_record=LINK)
def marked_as_paid(payday):
    who, _ = payday.person()
    manual.mark_amounts(payday.store, payday.study, [manual.Paid(who, "110")], payday.clock)
    return who


def waits(payday, minutes, seen_at, was_in_vain=False):
    protocol = payday.study.protocol.changed(retainer_usd_cents=10)
    payday.study = dataclasses.replace(payday.study, protocol=protocol)
    at = payday.clock().timestamp() + seen_at
    wait = Wait("w001", "s", {}, "x", at, at, was_in_vain=was_in_vain, minutes=minutes)
    payday.store.write_entry(book_of("faces"), "wait1", 0, vars(wait))
    return "w001"


@case(
    "did: waited to be called; 3 paid minutes of waiting, until 2026-01-04 23:00 UTC",
    "owed: $0.30 = 3 minutes × $0.10",
    "next: you pay it, from the list",
)
def waited(payday):
    return waits(payday, 3, -3600)


@case("did: 1 paid minutes of waiting", "owed: nothing yet: waiting is owed once the page is closed")
def waiting(payday):
    return waits(payday, 1, 0)


@case("did: 0 paid minutes", "owed: nothing: there was nothing to wait for, or nobody at the page")
def waited_in_vain(payday):
    return waits(payday, 0, -3600, was_in_vain=True)


class Away:
    """A panel that cannot be reached."""

    def __getattr__(self, name):
        raise PanelUnreached("Prolific is away")
