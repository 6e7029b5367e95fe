"""Lists of what is owed go out, lists of what was paid come back."""

import csv
import dataclasses
from datetime import UTC, datetime

import pytest

from backend.foundation.errors import InvalidInput
from backend.payment import accounts, manual
from backend.payment.ledger import waited_account

from .. import sample_studies as studies
from ..memory import MemoryStore
from ..payday import Payday


def clock():
    return datetime(2026, 2, 1, tzinfo=UTC)


@pytest.fixture
def payday():
    """Three people of an open link: finished with 5 and 7 right, and one who is still at it."""
    payday = Payday(MemoryStore())
    for options in ({"right": 5}, {"right": 7}, {"state": "active", "at_panel": "active"}):
        payday.person(**options)
    for session, cursor in list(payday.store.sessions("faces")):
        payday.store.erase_session(session.id)
        payday.store.add_session(dataclasses.replace(session, panel={}), cursor)
    return payday


def written(payday, path):
    manual.write_list(payday.store, payday.study, path, clock())
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_list_has_a_row_for_each_session_that_is_owed(payday, tmp_path):
    rows = written(payday, tmp_path / "owed.csv")

    names = [row.pop("account") for row in rows]
    assert [tuple(row.values()) for row in rows] == [
        ("e001", "CODE001", "100", "10", "110", "USD", "finished"),
        ("e002", "CODE002", "100", "14", "114", "USD", "finished"),
    ]
    assert len({*names}) == 2


def test_who_is_marked_as_paid_is_not_listed_again(payday, tmp_path):
    written(payday, tmp_path / "owed.csv")
    (tmp_path / "paid.csv").write_text("evaluator,usd_cents\ne001,110\n")

    marked = [manual.mark_paid(payday.store, payday.study, tmp_path / "paid.csv", clock) for _ in "12"]

    assert marked == [1, 0]
    assert [row["evaluator"] for row in written(payday, tmp_path / "owed.csv")] == ["e002"]


def waited(payday, number, usd_cents):
    """Have e001 be owed for a stretch of waiting, too."""
    owed = waited_account(f"w1 {number}", "e001", usd_cents, "2026-01-01T00:00:00Z", "CODE001", ("", "", ""))
    payday.store.write_entry(accounts.ledger_of("faces"), owed.key, 0, dataclasses.asdict(owed))


@pytest.mark.parametrize("stretches", [(110,), (110, 110), (60, 110), (60, 60)])
def test_somebody_with_several_accounts_is_marked_in_all_of_them_and_listed_in_none(
    payday, tmp_path, stretches
):
    for number, usd_cents in enumerate(stretches):
        waited(payday, number, usd_cents)
    rows = written(payday, tmp_path / "owed.csv")

    marked = [manual.mark_paid(payday.store, payday.study, tmp_path / "owed.csv", clock) for _ in "12"]

    assert sorted(int(row["usd_cents"]) for row in rows) == sorted([110, 114, *stretches])
    assert marked == [len(stretches) + 2, 0]
    assert written(payday, tmp_path / "owed.csv") == []


def test_of_several_accounts_only_those_are_marked_that_were_paid(payday, tmp_path):
    waited(payday, 0, 60)
    waited(payday, 1, 60)

    paid = manual.Paid("e001", "60")
    marked = manual.mark_amounts(payday.store, payday.study, [paid], clock)

    left = [(row["evaluator"], row["usd_cents"]) for row in written(payday, tmp_path / "owed.csv")]
    assert marked == 1
    assert sorted(left) == [("e001", "110"), ("e001", "60"), ("e002", "114")]
    with pytest.raises(InvalidInput, match=r"paid\[2\]: e001 is owed 110 cents, not '60'"):
        manual.mark_amounts(payday.store, payday.study, [paid] * 3, clock)


def test_a_list_that_is_marked_again_marks_nothing_that_was_owed_since(payday, tmp_path):
    waited(payday, 0, 60)
    written(payday, tmp_path / "owed.csv")
    manual.mark_paid(payday.store, payday.study, tmp_path / "owed.csv", clock)
    waited(payday, 1, 60)  # as much again, after the list was written

    again = manual.mark_paid(payday.store, payday.study, tmp_path / "owed.csv", clock)
    new = written(payday, tmp_path / "new.csv")

    assert again == 0
    assert [(row["evaluator"], row["usd_cents"]) for row in new] == [("e001", "60")]
    assert manual.mark_paid(payday.store, payday.study, tmp_path / "new.csv", clock) == 1


def test_an_account_that_is_named_is_marked_for_its_amount_and_once(payday, tmp_path):
    (row, _) = written(payday, tmp_path / "owed.csv")
    paid = manual.Paid(row["evaluator"], row["usd_cents"], account=row["account"])
    mark = lambda *rows: manual.mark_amounts(payday.store, payday.study, rows, clock)  # noqa: E731

    with pytest.raises(InvalidInput, match=r"paid\[0\]: e001 is owed 110 cents, not '111'"):
        mark(dataclasses.replace(paid, usd_cents="111"))
    with pytest.raises(InvalidInput, match=r"paid\[0\]: e002 has no account '[a-p]{12}'"):
        mark(dataclasses.replace(paid, evaluator="e002"))
    with pytest.raises(InvalidInput, match=r"paid\[1\]: e001 has no account '.*' that is not in a row above"):
        mark(paid, paid)
    assert [mark(paid), mark(paid)] == [1, 0]


@pytest.mark.parametrize(
    ("row", "message"),
    [("e009,110", "line 3: no evaluator 'e009'"), ("e002,110", "line 3: e002 is owed 114 cents, not '110'")],
)
def test_a_wrong_row_marks_nobody(payday, tmp_path, row, message):
    (tmp_path / "paid.csv").write_text(f"evaluator,usd_cents\ne001,110\n{row}\n")

    with pytest.raises(InvalidInput, match=message):
        manual.mark_paid(payday.store, payday.study, tmp_path / "paid.csv", clock)

    assert len(written(payday, tmp_path / "owed.csv")) == 2


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            b"",
            r"paid\.csv line 1: the header must name the columns evaluator, .*; evaluator, usd_cents missing",
        ),
        (b"evaluator,usd\ne001,110\n", "line 1: the header .*; usd_cents missing"),
        (b"evaluator,usd_cents\n\xe9,110\n", "line 2: must be UTF-8 text, not the byte 0xe9"),
        (b"evaluator,usd_cents\n" + 200_000 * b"e", "must be CSV; field larger"),
    ],
)
def test_a_file_that_is_no_such_list_is_refused(payday, tmp_path, data, message):
    (tmp_path / "paid.csv").write_bytes(data)

    with pytest.raises(InvalidInput, match=message):
        manual.mark_paid(payday.store, payday.study, tmp_path / "paid.csv", clock)


def test_the_list_ends_where_the_budget_does(payday, tmp_path):
    accounts.set_budget(payday.store, "faces", 223)

    rows = written(payday, tmp_path / "owed.csv")

    assert [row["evaluator"] for row in rows] == ["e001"]
    plan = manual.plan(payday.store, payday.study, clock())
    assert (plan["total_usd_cents"], plan["left_usd_cents"]) == (110, 223)
    assert plan["obstacles"] == ["the budget does not suffice for 1 more"]


def test_who_holds_a_place_at_a_panel_is_paid_there_and_others_by_hand(payday, tmp_path):
    payday.store.write_entry("recruitment faces", "prolific", 0, studies.recruitment())
    payday.person()

    rows = written(payday, tmp_path / "owed.csv")

    assert [row["evaluator"] for row in rows] == ["e001", "e002"]
