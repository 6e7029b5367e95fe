"""The rules of what is owed: hand-counted cents."""

import dataclasses
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.experiment.session import Cursor
from backend.foundation.errors import InvalidInput
from backend.panels.api import Status
from backend.payment.ledger import (
    LOST,
    Account,
    Line,
    PanelTerms,
    Payment,
    StudyFunds,
    account_of,
    as_broken_off,
    entered,
    load_account,
    partial_account_of,
    payable,
    reconciled,
    times_shown,
)

from .. import sample_studies as studies

NAMES = ("PROLIFIC_PID", "SESSION_ID")
AT = "2026-01-05T00:00:00+00:00"
STUDY = studies.study(images=10, base_usd_cents=125, bonus_usd_cents=2)
SESSION = dataclasses.replace(studies.session(STUDY), panel={"PROLIFIC_PID": "person", "SESSION_ID": "place"})


def cursor(state="finished", answered=10, right=7, voided=0, voided_right=0):
    return Cursor(
        state=state,
        trial_index=answered,
        right={"real": right},
        voided_answers=voided,
        voided_right=voided_right,
    )


def test_a_closed_session_is_owed_its_base_and_a_bonus_for_each_right_answer_apart():
    account = account_of(STUDY.protocol, SESSION, cursor(), AT, NAMES)

    assert (account.base_usd_cents, account.bonus_usd_cents) == (125, 14)
    assert (account.usd_cents("reward"), account.usd_cents("bonus")) == (125, 14)
    assert (account.reward, account.bonus) == ("owed", "owed")


def test_a_session_closed_early_is_owed_what_its_evaluator_was_told():
    account = account_of(STUDY.protocol, SESSION, cursor("ended", 4, 3, 2, 1), AT, NAMES)

    assert (account.base_usd_cents, account.bonus_usd_cents) == (125, 8)


@pytest.mark.parametrize("state", ["active", "returned"])
def test_an_open_session_is_owed_nothing_yet(state):
    assert account_of(STUDY.protocol, SESSION, cursor(state), AT, NAMES) is None


def test_part_of_a_session_is_paid_by_its_share_of_trials_rounded_up_and_all_as_a_bonus():
    """3 of 10 trials of 125 cents are 37.5; one more was mistimed, and right."""
    account = partial_account_of(STUDY.protocol, SESSION, cursor("active", 3, 2), "a fault", AT, NAMES)

    assert (account.base_usd_cents, account.bonus_usd_cents) == (38, 4)
    assert (account.usd_cents("reward"), account.usd_cents("bonus")) == (0, 42)
    assert account.reward == "none"


def test_who_was_done_too_late_for_the_panel_is_paid_the_whole_as_a_bonus():
    account = partial_account_of(STUDY.protocol, SESSION, cursor(right=7), "ran out of time", AT, NAMES)

    assert account.usd_cents("bonus") == 139


def test_a_fault_needs_a_reason():
    with pytest.raises(InvalidInput, match="why"):
        partial_account_of(STUDY.protocol, SESSION, cursor("active"), "", AT, NAMES)


def test_a_place_at_a_panel_is_approved_though_our_base_is_nothing():
    free = studies.study(images=10, base_usd_cents=0)

    at_panel = account_of(free.protocol, SESSION, cursor(right=0), AT, NAMES)
    by_link = account_of(free.protocol, dataclasses.replace(SESSION, panel={}), cursor(right=0), AT, NAMES)

    assert (at_panel.reward, at_panel.bonus) == ("owed", "none")
    assert (by_link.reward, by_link.bonus) == ("none", "none")


def test_two_sessions_of_one_place_have_one_account_and_another_person_another():
    accounts = [
        account_of(STUDY.protocol, dataclasses.replace(SESSION, id=id, panel=panel), cursor(), AT, NAMES)
        for id, panel in [
            ("s1", SESSION.panel),
            ("s2", SESSION.panel),
            ("s3", {**SESSION.panel, "PROLIFIC_PID": "another"}),
        ]
    ]

    assert accounts[0].key == accounts[1].key != accounts[2].key
    assert "place" not in accounts[0].key


@pytest.mark.parametrize(
    ("part", "why", "status", "expected"),
    [
        ("reward", "finished", "awaiting_review", True),
        ("reward", "finished", "approved", False),  # it is paid already
        ("reward", "finished", "active", False),
        ("reward", "finished", "returned", False),
        ("reward", "finished", "timed_out", False),
        ("reward", "finished", "rejected", False),
        ("reward", "finished", "", False),
        ("bonus", "finished", "awaiting_review", False),
        ("bonus", "finished", "approved", True),
        ("bonus", "finished", "returned", False),
        ("bonus", "finished", "timed_out", False),
        ("bonus", "a fault", "timed_out", True),
        ("bonus", "a fault", "returned", True),
        ("bonus", "a fault", "active", False),
        ("bonus", "a fault", "approved", False),
    ],
)
def test_who_is_paid_follows_from_where_the_place_stands(part, why, status, expected):
    account = Account("s", "e", why, 100, 10, AT)

    assert payable(account, part, status) == expected


@pytest.mark.parametrize(
    ("base", "payable_at"),
    [
        (50, {"returned", "timed_out", "rejected", "screened_out"}),
        (0, {*LOST, "approved", "awaiting_review"}),
    ],
)
def test_base_in_a_rest_is_not_paid_as_a_bonus_while_the_place_may_be_approved(base, payable_at):
    rest = Account("s-rest", "e", "rest", base, 4, AT, reward="none", submission="p")

    assert payable_at <= {status for status in get_args(Status) if payable(rest, "bonus", status)}
    assert payable(rest, "bonus", "awaiting_review") == (base == 0)
    assert not payable(rest, "bonus", "active")
    after = reconciled(rest, "approved", PanelTerms(100, 50), AT)
    assert (after.base_usd_cents, after.usd_cents("bonus")) == (0, 4)


def test_a_place_that_is_gone_is_owed_all_that_was_earned_and_nothing_if_nothing_was():
    account = account_of(STUDY.protocol, SESSION, cursor(), AT, NAMES)

    gone = as_broken_off(account, "a fault")
    of_nothing = as_broken_off(account.moved(base_usd_cents=0, bonus_usd_cents=0), "a fault")

    assert (gone.reward, gone.bonus, gone.usd_cents("bonus")) == ("none", "owed", 125 + 14)
    assert (of_nothing.reward, of_nothing.bonus) == ("none", "none")


WHOLE = Account("s", "e", "finished", 125, 14, AT)
PART = Account("s", "e", "a fault", 50, 4, AT, reward="none")
LESS, MORE = PART.moved(base_usd_cents=40), PART.moved(base_usd_cents=60)
UNMATCHED_PLACE = Account("", "", "no_session", 0, 0, AT, reward="undecided", bonus="none", reward_cents=125)
PAID = {"reward": "confirmed", "reward_cents": 130, "confirmed_at": AT}
UNDER_WAY = {"reward": "intended", "rewards": ("r1",), "reward_cents": 130}


@pytest.mark.parametrize(
    ("now", "account", "expected"),
    [
        (None, WHOLE, WHOLE),
        (WHOLE, WHOLE.moved(bonus_usd_cents=20), None),
        (UNMATCHED_PLACE, UNMATCHED_PLACE.moved(reward="owed"), None),
        (UNMATCHED_PLACE.moved(**PAID), UNMATCHED_PLACE, None),
        (UNMATCHED_PLACE, WHOLE, WHOLE),
        (UNMATCHED_PLACE.moved(**UNDER_WAY), WHOLE, WHOLE.moved(**UNDER_WAY)),
        (PART, LESS, None),
        (PART, PART, None),
        (PART, MORE, MORE),
        (PART, WHOLE, WHOLE.moved(fault="a fault")),
        (PART.moved(payments=("p1",)), MORE, None),
        (PART.moved(payments=("p1",)), WHOLE, None),
        (PART.moved(**PAID), MORE, None),
        (PART.moved(**PAID), WHOLE, WHOLE.moved(**PAID, fault="a fault")),
        (WHOLE, WHOLE.moved(is_withdrawn=True), WHOLE.moved(is_withdrawn=True)),
        (WHOLE.moved(is_withdrawn=True), WHOLE.moved(is_withdrawn=True), None),
    ],
)
def test_what_is_entered_replaces_only_less_than_it_and_never_loses_what_was_paid(now, account, expected):
    assert entered(now, account) == expected


@pytest.mark.parametrize("record", [WHOLE, StudyFunds(), Line("s", "place", 5), Payment("p", (), AT)])
def test_no_record_of_money_changes_in_place(record):
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(record, dataclasses.fields(record)[0].name, "another")


def test_money_that_was_there_before_is_not_ours():
    account = Account("s", "e", "finished", 100, 14, AT, before=(14, 30))

    assert times_shown(account, (14, 30)) == 0
    assert times_shown(account, (30, 14, 14)) == 1
    assert times_shown(account, (14, 30, 15)) == 0


@pytest.mark.parametrize(
    ("usd_cents", "fee", "expected"),
    [(100, "42.8", 143), (1, "33.3", 2), (100, "0", 100), (3000, "33.3", 3999)],
)
def test_fees_are_rounded_up_to_a_cent(usd_cents, fee, expected):
    assert StudyFunds(fee_percent=fee).cost_usd_cents(usd_cents) == expected


@given(st.integers(0, 10**6), st.integers(0, 10**7))
def test_a_cost_is_the_least_whole_number_of_cents_that_covers_the_fee(usd_cents, thousandths):
    fee = f"{thousandths // 10**5}.{thousandths % 10**5:05d}"

    cost = StudyFunds(fee_percent=fee).cost_usd_cents(usd_cents)

    exact = usd_cents * 10**7 + usd_cents * thousandths  # in ten-millionths of a cent
    assert exact <= cost * 10**7 < exact + 10**7


@pytest.mark.parametrize("fee", ["-1", "1/3", "nan", "", "1e3", "４"])
def test_a_fee_is_a_plain_number(fee):
    with pytest.raises(InvalidInput, match="percent"):
        StudyFunds(fee_percent=fee)


@pytest.mark.parametrize("before", [None, (), (1, 2)])
def test_an_account_comes_back_as_it_was_written(before):
    account = Account("s", "e", "finished", 100, 14, AT, payments=("p",), rewards=("r",), before=before)

    assert load_account(account.data()) == account


X, Y = (Account(f"s{n}", "e", "finished", 100, 14, f"2026-01-0{n}T", before=()) for n in (1, 2))


@pytest.mark.parametrize(
    ("account", "others", "listed", "expected"),
    [
        (X, [Y], 0, 0), (X, [Y], 1, 1), (X, [Y], 2, 1), (X, [Y], 3, 2),
        (Y, [X], 0, 0), (Y, [X], 1, 0), (Y, [X], 2, 1), (Y, [X], 3, 2),
        (X, [Y.moved(bonus="confirmed")], 1, 0), (X, [Y.moved(bonus="confirmed")], 2, 1),
        (X, [Y.moved(before=None)], 1, 1),  # no payment of it was made yet
        (X, [Y.moved(bonus_usd_cents=15)], 1, 1), (Y, [X.moved(bonus_usd_cents=15)], 1, 1),
        (Y.moved(before=(14,)), [X.moved(bonus="confirmed")], 1, 0),
        (Y.moved(before=(14,)), [X.moved(bonus="confirmed")], 2, 1),
        (X.moved(before=(14,)), [Y.moved(before=(14,))], 2, 1),
    ],
)  # fmt: skip
def test_of_equal_bonuses_on_one_submission_each_is_shown_by_one_of_its_own(
    account, others, listed, expected
):
    assert times_shown(account, (14,) * listed + (30,), others) == expected
