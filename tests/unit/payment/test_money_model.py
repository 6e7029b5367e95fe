"""The model of the money in docs/paying.md is that of the code: its states, its moves, and no others."""

import re
from itertools import product
from pathlib import Path
from typing import get_args

from backend.experiment.session import CLOSED, CLOSED_EARLY
from backend.panels.api import Status
from backend.payment.explanation import WHYS
from backend.payment.ledger import (
    OPEN,
    PARTS,
    REST,
    UNMATCHED,
    WAITED,
    WITHDRAWN,
    Account,
    PanelTerms,
    PaymentState,
    State,
    reconciled,
)

from ..field_study import FieldStudy
from ..money_cases import CASES, Recorder, played

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "paying.md").read_text("utf-8")
BEGINS = "—"


def table(header):
    """Return the cells of the rows of the table whose first row begins with a cell."""
    text = re.search(rf"^\| {re.escape(header)} \|.*\n\|[- |]+\n((?:\|.*\n)+)", PAGE, re.M)[1]
    return [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in text.splitlines()]


def names(cell):
    return re.findall(r"`(\w+)`", cell)


def moves_of_parts():
    """Yield the moves of the page as (part, from, to); an account begins with ''."""
    for move, parts, *_ in table("move"):
        before, after = (state.strip("` ") for state in move.split("→"))
        yield from ((part, "" if before == BEGINS else before, after) for part in parts.split(", "))


def moves_of_payments():
    yield "state", "", "intended"
    for state, _, becomes in table("state of a payment"):
        yield from (("state", *names(state), after) for after in names(becomes))


DOCUMENTED = {*moves_of_parts(), *moves_of_payments()}


def test_the_page_has_every_state_reason_and_status_and_no_other():
    def first(header):
        return [name for row in table(header) for name in names(row[0])]

    assert sorted(first("state of a part")) == sorted(get_args(State))
    assert sorted(first("state of a payment")) == sorted(get_args(PaymentState))
    assert sorted(first("reason")) == sorted(WHYS)
    assert {*CLOSED, *CLOSED_EARLY, *UNMATCHED, WAITED, REST, WITHDRAWN} == set(WHYS)
    assert sorted(first("status of a submission")) == sorted(get_args(Status))


def test_every_move_of_the_page_happens_and_no_other_does():
    happened = set().union(*(played(name)[0].store.moves for name in CASES))

    assert happened - DOCUMENTED == set()
    assert DOCUMENTED - happened == set()


def test_whole_recruitments_make_no_other_move():
    moves = set()
    for seed in range(6):
        recruitment = FieldStudy(seed)
        recruitment.may_go_back = False  # to another store than the one that records
        recruitment.store = Recorder(of=recruitment.store)

        recruitment.play()

        moves |= recruitment.store.moves
    assert moves
    assert moves - DOCUMENTED == set()


def test_whatever_the_panel_shows_moves_no_account_otherwise():
    terms, states = PanelTerms(100, 50), get_args(State)
    for why, status, reward, bonus, is_withdrawn in product(
        (*WHYS, "a fault"), get_args(Status), states, set(states) - {"undecided"}, (False, True)
    ):
        account = Account(
            "s", "e", why, 50, 4, "", "p", "q", reward=reward, bonus=bonus, is_withdrawn=is_withdrawn
        )
        after = reconciled(account, status, terms, "")

        made = {(part, getattr(account, part), getattr(after, part)) for part in PARTS}
        assert {move for move in made if move[1] != move[2]} <= DOCUMENTED, (account, status)


def test_every_state_but_the_last_ones_can_be_left():
    left = {(kind == "state", before) for kind, before, _ in DOCUMENTED}

    assert {state for state in get_args(State) if (False, state) not in left} == {"confirmed"}
    assert {state for state in get_args(PaymentState) if (True, state) in left} == set(OPEN)
