"""Everybody whom a study's payments know, and by what names: with an account, or without any.

The panel's ids are names that a researcher may ask by; nothing here shows them.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from backend.experiment.records import Session, Study
from backend.experiment.session import Cursor
from backend.foundation.errors import InvalidInput, NotFound, OpenhypeError
from backend.foundation.suggestions import did_you_mean
from backend.panels.api import Panel, Submission
from backend.payment import accounts, ledger, screened_out, study_payments, unmatched
from backend.payment.ledger import Account
from backend.payment.payer import SETTLE
from backend.payment.study_payments import LINK, PayOptions
from backend.stores.store import Store
from backend.studies.retainer import Wait
from backend.studies.waiting_room import waits
from backend.studies.withdrawals import withdrawn

_MOST_NAMED = 10


@dataclass(frozen=True)
class Known:
    """What is known of a study's payments: all accounts as a run would find them, and the panel's places."""

    store: Store
    study: Study
    now: datetime
    is_by_list: bool
    """Whether no panel pays the people of the study."""
    accounts: Mapping[str, Account]
    """By key, as what follows."""
    statuses: Mapping[str, str]
    places: Mapping[str, Submission]
    trouble: str = ""
    """Why the panel could not be asked; '' if it was, or if there is none."""
    settle: timedelta = SETTLE
    bonuses_from: datetime | None = None
    """When bonuses are paid again after a restore; None: now."""


@dataclass(frozen=True)
class Case:
    """What a study knows of a person under one account, or without any."""

    evaluator: str
    names: frozenset[str]
    """All that it is found by."""
    session_id: str = ""
    key: str = ""
    account: Account | None = None
    session: tuple[Session, Cursor] | None = None
    withdrawn: Mapping[str, Any] | None = None
    wait: Wait | None = None
    place: Submission | None = None
    why: str = ""
    """One of `ledger.UNMATCHED` where there is no account."""


def as_known(
    store: Store,
    study: Study,
    open_panel: Callable[[], Panel],
    clock: Callable[[], datetime],
    by: str,
    options: PayOptions,
) -> Known:
    """Return what is known of a study; from the ledger alone if no panel pays, or it cannot be asked."""
    trouble = ""
    if by != LINK:
        try:
            payer = study_payments.payer(store, study, open_panel(), clock, options)
            places = payer.look()
            facts = (*payer.known(places), places, "", payer.settle, payer.restored_until())
            return Known(store, study, clock(), False, *facts)
        except OpenhypeError as error:
            trouble = str(error)
    known = accounts.plain_accounts(store, study, clock())
    return Known(store, study, clock(), by == LINK, known, {}, {}, trouble)


def called(known: Known, who: str) -> list[Case]:
    """Return all cases of the person, or of the people, whom a name is of.

    Args:
        who: the pseudonym or its beginning, the session's id, the completion code, or the panel's id of the
            person or the submission.

    Raises:
        NotFound: nobody is called so.
        InvalidInput: the pseudonyms of several people begin so.
    """
    cases = [*_everybody(known)]
    exact = {case.evaluator for case in cases if who in case.names}
    people = exact or {case.evaluator for case in cases if case.evaluator.startswith(who)}
    first = ", ".join(sorted(people or {case.evaluator for case in cases})[:_MOST_NAMED])
    if not people:
        near = did_you_mean(
            who, {case.evaluator for case in cases}, f"; there are {first} …" if first else ""
        )
        raise NotFound(
            f"study {known.study.name} knows nobody called {who!r}{near}", code="unknown_evaluator"
        )
    if len(people) > 1 and not exact:
        raise InvalidInput(f"the names of {len(people)} people begin with {who!r}: {first} …")
    return [case for case in cases if case.evaluator in people]


def _everybody(known: Known) -> Iterator[Case]:
    """Yield all accounts, then what has none: sessions, withdrawals, waits, and places at the panel."""
    store, study = known.store, known.study
    sessions = {pair[0].id: pair for pair in store.sessions(study.name)}
    gone = {entry.key: entry.data for entry in withdrawn(store, study.name)}
    waiting, seen = dict(waits(store, study.name)), {*known.accounts}
    for key, account in known.accounts.items():
        id = account.session_id
        case = _of_session(known, id, sessions.get(id), gone.get(id))
        ids = {account.evaluator, account.session, account.code, account.submission, account.participant}
        yield replace(
            case,
            evaluator=account.evaluator,
            names=case.names | ids - {""},
            key=key,
            account=account,
            wait=waiting.get(account.wait_id),
            place=known.places.get(key),
        )
    owed = {account.session_id for account in known.accounts.values()}
    waited = {account.wait_id for account in known.accounts.values()}
    for id in sorted({*sessions, *gone} - owed):
        case = _of_session(known, id, sessions.get(id), gone.get(id))
        seen.add(case.key)
        yield case
    for id in sorted(waiting.keys() - waited):
        wait = waiting[id]
        ids = {wait.panel.get(name, "") for name in accounts.panel_names(study)}
        yield Case(wait.evaluator, frozenset({wait.evaluator, id, *ids} - {""}), wait=wait)
    yield from _without_session(known, seen)


def _of_session(
    known: Known, id: str, pair: tuple[Session, Cursor] | None, gone: Mapping[str, Any] | None
) -> Case:
    """Return the case of a session, which may be withdrawn, or lost since."""
    facts = gone or (vars(pair[0]) if pair else {})
    if not facts:
        return Case("", frozenset(), id)
    person, submission = (facts["panel"].get(name, "") for name in accounts.panel_names(known.study))
    key = ledger.key_of(submission, person)
    names = frozenset({facts["evaluator"], id, facts["completion_code"], person, submission} - {""})
    session = None if gone else pair
    return Case(facts["evaluator"], names, id, key, None, session, gone, place=known.places.get(key))


def _without_session(known: Known, seen: set[str]) -> Iterator[Case]:
    """Yield places at the panel, and people who were screened out, that have neither account nor session."""
    reasons = unmatched.reasons(known.store, known.study, known.places)
    panels = {
        entry.key: entry.data["panel"] for entry in known.store.entries(screened_out.book(known.study.name))
    }
    for key in sorted({*known.places, *panels} - seen):
        place, evaluator = known.places.get(key), ledger.pseudonym_of(key)
        ids = {place.id, place.participant} if place else {*panels[key].values()}
        why = "screened_out" if key in panels else reasons.get(key) or "no_session"
        yield Case(evaluator, frozenset(ids - {""} | {evaluator}), key=key, place=place, why=why)
