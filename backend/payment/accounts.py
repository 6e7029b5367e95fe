"""A study's debts as books in the store: accounts, payments, and the funds, which enforce the budget.

An entry is replaced by one conditional write, so that several processes can work at once (`ledger.py`
has the rules, `payer.py` pays).
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, overload

from backend.experiment.panel import PROLIFIC_STUDY
from backend.experiment.records import Session, Study
from backend.experiment.session import LAPSED, Cursor
from backend.foundation.errors import Conflict, NotFound
from backend.foundation.timestamps import readable, stamp
from backend.payment.ledger import (
    OPEN,
    SETTLED,
    WITHDRAWN,
    Account,
    Line,
    PanelTerms,
    Payment,
    StudyFunds,
    account_of,
    as_broken_off,
    as_paid_elsewhere,
    closed,
    entered,
    is_ahead,
    load_account,
    load_payment,
    partial_account_of,
    report,
    rest_of,
    waited_account,
    waits_from,
)
from backend.stores.replaced_values import check_replaced
from backend.stores.store import RESTORES, Entry, Stale, Store
from backend.stores.updates import retried, update
from backend.studies.lifecycle import DELETED, recruitment_book
from backend.studies.retainer import Wait, is_waiting
from backend.studies.waiting_room import waits

BUSY = "several payers are at work at once"


def ledger_of(study: str) -> str:
    """Return the name of a study's book of accounts."""
    return f"ledger/{study}"


def payments_of(study: str) -> str:
    return f"payments/{study}"


FUNDS = "purses"


def panel_names(study: Study) -> tuple[str, str]:
    """Return the names of the link parameters for the person and the submission at the panel."""
    return study.protocol.admission.panel.evaluator, study.protocol.admission.panel.submission


def recruited(store: Store, study: str, panel: str = "prolific") -> Mapping[str, Any] | None:
    """Return a study's recruitment from a panel; None if there was none."""
    entry = store.entry(recruitment_book(study), panel)
    return entry.data if entry else None


def panel_study_of(store: Store, study: Study, now: datetime) -> str | None:
    """Return the panel's study of a study; '' if people only came on the way to others, None if none did."""
    if panel_study := (recruited(store, study.name) or {}).get("panel_study"):
        return str(panel_study)
    is_elsewhere = any(account.panel_study for account in plain_accounts(store, study, now).values())
    return "" if is_elsewhere else None


def other_panel_studies(store: Store, study: Study) -> set[str]:
    """Return the panel's studies that other studies here recruited for, deleted ones included."""
    names = {one.name for one in store.studies()} | {entry.key for entry in store.entries(DELETED)}
    made = (recruited(store, name) for name in names - {study.name})
    return {state["panel_study"] for state in made if state and state["panel_study"]}


def funds(store: Store, study: str) -> tuple[int, StudyFunds]:
    """Return a study's funds and their version."""
    entry = store.entry(FUNDS, study)
    return (entry.version, StudyFunds(**entry.data)) if entry else (0, StudyFunds())


def check_paid_here(store: Store, study: str) -> None:
    """Raise Conflict if another store pays the study, so that the ledger here is a copy."""
    if elsewhere := funds(store, study)[1].paid_from:
        raise Conflict(
            f"study {study} is paid from {elsewhere}, and the ledger here is a copy: pay and recruit there, "
            f"or bring it here (`openhype copy {study} --move`); if that store is lost, take over from it "
            f"(`openhype pay {study} --take-over`)",
            code="paid_elsewhere",
        )


def take_over(store: Store, study: str, at: str) -> None:
    """Make this store pay a study whose ledger here is a copy; bonuses wait as after a restore.

    Args:
        at: the time (UTC, ISO 8601).
    """

    paid_from = funds(store, study)[1].paid_from
    if not paid_from:
        return
    note_restore(store, study, at, paid_from)
    change_funds(store, study, lambda now: replace(now, paid_from=""))


def note_restore(store: Store, study: str, at: str, paid_from: str = "") -> None:
    """Record that the ledger of a study may lack what was paid before a time (UTC, ISO 8601)."""
    with suppress(Stale):
        store.write_entry(RESTORES, f"{at} {study}", 0, {"study": study, "paid_from": paid_from})


def restored_at(store: Store, study: str) -> str:
    """Return when a study's ledger was last restored from a backup, or taken over; '' for never."""
    return max((entry.key.partition(" ")[0] for entry in _restores(store, study)), default="")


def restore_waits_from(store: Store, study: str, now: datetime) -> datetime | None:
    """Return the time from which the wait after the last restore counts (`ledger.waits_from`), if any."""
    if not (at := restored_at(store, study)):
        return None
    noticed = max((entry.data.get("noticed_at", "") for entry in _restores(store, study)), default="")
    return waits_from(at, noticed, now)


def notice_restore(store: Store, study: str, now: datetime) -> None:
    """Have the wait after a restore that is dated later than now count from now on."""
    for entry in _restores(store, study):
        since = waits_from(entry.key.partition(" ")[0], entry.data.get("noticed_at", ""), now)
        if since == now:
            with suppress(Stale):  # another payer noticed it
                noticed = {**entry.data, "noticed_at": stamp(now)}
                store.write_entry(RESTORES, entry.key, entry.version, noticed)


def _restores(store: Store, study: str) -> list[Entry]:
    return [entry for entry in store.entries(RESTORES) if entry.data.get("study") in (None, study)]


def panel_terms(store: Store, study: Study) -> PanelTerms:
    """Return what the panel itself pays for a submission of a study."""
    screen_out = (recruited(store, study.name) or {}).get("screen_out") or {}
    return PanelTerms(study.protocol.pay.base_usd_cents, screen_out.get("reward_cents", 0))


def in_force(store: Store, study: str, funds: StudyFunds) -> StudyFunds:
    """Return the funds with the effective budget: the lower of those set for pay and for recruiting."""
    terms = recruited(store, study) or {}
    budgets = [b for b in (funds.budget_usd_cents, terms.get("budget_usd_cents")) if b is not None]
    return replace(funds, budget_usd_cents=min(budgets, default=None))


def set_budget(
    store: Store,
    study: str,
    budget_usd_cents: int | None = None,
    fee_percent: str | None = None,
    vat_percent: str | None = None,
    replaces: Mapping[str, Any] | None = None,
) -> StudyFunds:
    """Set the maximum total cost of a study, fees and VAT included; None leaves a value unchanged.

    Args:
        replaces: the values that are replaced, by name; None for whichever.

    Raises:
        Conflict: `changed`: a value is another by now.
    """
    wanted = {
        "budget_usd_cents": budget_usd_cents,
        "fee_percent": fee_percent,
        "vat_percent": vat_percent,
    }
    changes: dict[str, Any] = {name: value for name, value in wanted.items() if value is not None}
    check_paid_here(store, study)

    def rule(now: StudyFunds) -> StudyFunds:
        after = replace(now, **changes)
        if after != now:
            check_replaced(replaces or {}, vars(in_force(store, study, now)))
        return after

    return change_funds(store, study, rule)


def change_funds(store: Store, study: str, rule: Callable[[StudyFunds], StudyFunds]) -> StudyFunds:
    """Replace a study's funds by the result of `rule`, and return it."""

    def change() -> StudyFunds:
        version, now = funds(store, study)
        after = rule(now)
        if after != now or not version:
            store.write_entry(FUNDS, study, version, after.data())
        return after

    return retried(change, BUSY)


def accounts(store: Store, study: str) -> dict[str, tuple[int, Account]]:
    """Return a study's stored accounts with their versions, by key."""
    return {entry.key: (entry.version, load_account(entry.data)) for entry in store.entries(ledger_of(study))}


def elsewhere(store: Store, study: str, submissions: Collection[str]) -> list[Account]:
    """Return the accounts of all other studies that name one of these submissions."""
    return [
        load_account(entry.data)
        for other in store.studies()
        if other.name != study
        for entry in store.entries(ledger_of(other.name))
        if entry.data.get("submission") in submissions
    ]


def payments(store: Store, study: str) -> Iterator[tuple[int, Payment]]:
    """Yield a study's stored payments with their versions."""
    for entry in store.entries(payments_of(study)):
        yield entry.version, load_payment(entry.data)


def odd_dates(store: Store, study: str, now: datetime) -> list[str]:
    """Return, in words, which stored dates cannot be right: later than now, or in an impossible order."""
    stored = {key: account for key, (_, account) in accounts(store, study).items()}
    dates = [
        (f"what {account.evaluator} is owed was {what}", at)
        for account in stored.values()
        for what, at in (
            ("entered", account.owed_at),
            ("paid", account.confirmed_at),
            ("closed", account.closed_at),
            ("asked to be returned", account.asked_to_return_at),
        )
    ]
    orders = []
    for _, payment in payments(store, study):
        made, asked = f"payment {payment.id} was made", f"payment {payment.id} was asked for"
        dates += [(made, payment.made_at), (asked, payment.asked_at)]
        orders.append((asked, payment.asked_at, made, payment.made_at))
        if payment.state in (*OPEN, "closed"):
            owed = max(
                (stored[line.account].owed_at for line in payment.lines if line.account in stored), default=""
            )
            orders.append((made, payment.made_at, "the last amount in it was owed", owed))
    ahead = [
        f"{what} on {readable(at)}, and now it is {readable(stamp(now))}"
        for what, at in dates
        if is_ahead(at, now)
    ]
    return ahead + [
        f"{later} on {readable(at)}, before {earlier}, on {readable(before)}"
        for later, at, earlier, before in orders
        if at and before and is_ahead(before, datetime.fromisoformat(at))
    ]


def broke_off(store: Store, study: Study, evaluator: str, fault: str) -> Account:
    """Record what is owed to an evaluator whose session was interrupted through no fault of theirs.

    Also for one who finished too late for the panel, even if the session was withdrawn since. Raises
    Conflict if the payment is under way already, or made by another store.

    Args:
        evaluator: pseudonym, or the session's id.
    """

    def rule(now: Account | None) -> Account:
        if now is not None and now.is_unmatched:  # its place may be approved already: that pays the base
            return entered(now, account) or now
        if now is not None and (now.rewards or now.payments or now.confirmed_at):
            raise Conflict(f"the payment of {evaluator} is in progress already")
        if now is not None and now.closed_at:
            raise Conflict(f"what is owed to {now.evaluator} is closed: {now.closed_why}")
        if now is not None and now.total_usd_cents > account.total_usd_cents:  # for another session there
            raise Conflict(
                f"more is owed already for the submission of session {account.session}, to {now.session}: "
                "name that one"
            )
        return account

    check_paid_here(store, study.name)
    sessions = [pair for pair in store.sessions(study.name) if evaluator in (pair[0].evaluator, pair[0].id)]
    if sessions:
        session, cursor = sessions[0]
        names = panel_names(study)
        account = partial_account_of(study.protocol, session, cursor, fault, cursor.last_at, names)
        account = _at_its_place(account, session, other_panel_studies(store, study))
        return change(store, study.name, _key_of(store, study.name, account), rule)
    for key, (_, known) in accounts(store, study.name).items():
        if evaluator in (known.evaluator, known.session) and known.is_withdrawn:
            account = as_broken_off(known, fault)
            return change(store, study.name, key, rule)
    raise NotFound(f"study {study.name} has no session {evaluator!r}, nor one of an evaluator of that name")


def close(store: Store, study: Study, who: str, why: str, now: datetime) -> list[Account]:
    """Record that what is open for somebody is not to be paid, and why; return the closed accounts.

    Args:
        who: pseudonym, or the session's id.

    Raises:
        NotFound: nobody of that name has an account.
        Conflict: nothing is open, a payment of it is under way, or another store pays.
    """
    check_paid_here(store, study.name)
    enter_all(store, study, now)
    known = accounts(store, study.name).items()
    own = {key: account for key, (_, account) in known if who in (account.evaluator, account.session)}
    if not own:
        raise NotFound(
            f"study {study.name} owes nobody {who!r} anything, nor has it paid anybody of that name"
        )
    open_ones = [key for key, account in own.items() if not account.is_paid] or [*own]
    at = stamp(now)
    done = [change_known(store, study.name, key, lambda now: closed(now, why, at)) for key in open_ones]
    return [*filter(None, done)]


def enter(store: Store, study: Study, session: Session, cursor: Cursor, why: str = "") -> Account | None:
    """Record what a session is owed, once; an existing account is kept unless `ledger.entered` replaces it.

    Call it before a session is erased, for then nothing else shows what was owed.

    Args:
        why: why an active session was interrupted; without it only a closed session is owed anything.
    """
    about = (study.protocol, session, cursor)
    account = account_of(*about, cursor.last_at, panel_names(study))
    if account is None and cursor.state in ("active", LAPSED) and why:
        account = partial_account_of(*about, why, cursor.last_at, panel_names(study))
    if account is None:
        return None
    account = _at_its_place(account, session, other_panel_studies(store, study))
    if why == WITHDRAWN:
        account = account.moved(is_withdrawn=True)
    return _enter_with_rest(store, study.name, account)


def copy_debts(source: Store, target: Store, study: str) -> None:
    """Record at the target what only the source's ledger owes, as of sessions withdrawn or redacted there."""
    known = {account.session for _, account in accounts(target, study).values()}
    for _, account in accounts(source, study).values():
        if account.session and (account.is_withdrawn or account.session not in known):
            _enter_with_rest(target, study, account)


def _enter_with_rest(store: Store, study: str, account: Account) -> Account:
    """Store an account by the rule of `ledger.entered`, and what it owes beyond one that is paid in part."""
    stored = _enter(store, study, _key_of(store, study, account), account)
    if rest := rest_of(stored, account):
        _enter(store, study, rest.key, rest)
    return stored


def enter_all(store: Store, study: Study, now: datetime) -> None:
    """Record what is owed for every closed session of a study, and to everybody who waited for it."""
    for account in newly_owed(store, study, now):
        _enter(store, study.name, account.key, account)


def newly_owed(store: Store, study: Study, now: datetime) -> Iterator[Account]:
    """Yield what is owed to closed sessions, and to people who waited, and has no account yet."""
    known = {key: account for key, (_, account) in accounts(store, study.name).items()}
    # A session that has since lost the panel's parameters has another key.
    by_session = {account.session: account for account in known.values()}
    seen: set[str] = set()
    others = other_panel_studies(store, study)
    parts = {id: one for key, one in known.items() if one.is_partial for id in (key, one.session)}
    for session, cursor in store.sessions(study.name):
        account = account_of(study.protocol, session, cursor, cursor.last_at, panel_names(study))
        if account is None:
            continue
        stored = known.get(account.key, by_session.get(session.id))
        if account.key not in seen and (stored is None or entered(stored, account)):
            seen.add(account.key)
            yield _at_its_place(account, session, others)
        part = parts.get(session.id) or parts.get(account.key)  # that of an earlier session on the place, too
        # While base is under way as a bonus, the place may come back, and its reward be the base.
        rest = rest_of(part, account) if part and part.bonus in SETTLED else None
        if rest is not None and rest.key not in known:
            yield rest
    yield from waits_owed(store, study, known.values(), now)


def waits_owed(store: Store, study: Study, known: Iterable[Account], now: datetime) -> Iterator[Account]:
    """Yield what is owed to people who waited for a study, and has no account yet."""
    price = study.protocol.pay.retainer_usd_cents
    if not price:
        return
    counted: Counter[str] = Counter()
    for account in known:
        if account.wait_id:
            counted[account.wait_id] += account.bonus_usd_cents // price
    for id, wait in waits(store, study.name):
        minutes = wait.minutes - counted[id]
        if minutes > 0 and not is_waiting(wait, now.timestamp()):
            at = stamp(datetime.fromtimestamp(wait.seen_at, UTC))
            code, place = _who_waited(store, study, wait)
            owed = minutes * price
            yield waited_account(f"{id}-{counted[id]}", wait.evaluator, owed, at, code, place)


def _who_waited(store: Store, study: Study, wait: Wait) -> tuple[str, tuple[str, str, str]]:
    """Return (completion code, (participant, submission, panel's study)) of a person's qualification."""
    if not study.protocol.admission.qualification:
        return "", ("", "", "")
    qualification = store.study(study.protocol.admission.qualification)
    names = panel_names(qualification)
    try:
        session = store.session(wait.qualified_by)
        code, place = session.completion_code, [session.panel.get(name, "") for name in names]
    except NotFound:  # withdrawn since; what was owed for it is in the ledger
        all_known = [account for _, account in accounts(store, qualification.name).values()]
        known = [account for account in all_known if account.session == wait.qualified_by]
        code, place = "", ["", ""]
        if known:
            code, place = known[0].code, [known[0].participant, known[0].submission]
    panel_study = (recruited(store, qualification.name) or {}).get("panel_study", "")
    if not (panel_study and all(place)):
        return code, ("", "", "")
    return code, (place[0], place[1], panel_study)


def enter_unmatched(store: Store, study: Study, accounts: Iterable[Account]) -> None:
    """Record the submissions for which nobody is owed a session."""
    for account in accounts:
        _enter(store, study.name, account.key, account)


def forget(store: Store, study: str, before: str) -> int:
    """Erase the panel's ids from accounts paid in full before a time (UTC, ISO 8601); return how many."""

    def rule(now: Account) -> Account | None:
        return now.moved(submission="", participant="") if _is_forgettable(now, before) else None

    old = set(forgettable(store, study, before))
    for version, payment in list(payments(store, study)):
        if any(line.account in old for line in _forgettable_lines(payment)):
            lines = tuple(
                replace(line, submission="") if line.account in old else line for line in payment.lines
            )
            store.write_entry(payments_of(study), payment.id, version, replace(payment, lines=lines).data())
    for key in old:
        change_known(store, study, key, rule)
    return len(old)


def forgettable(store: Store, study: str, before: str) -> dict[str, Account]:
    """Return the accounts whose ids `forget` would erase, by their keys."""
    all_accounts = accounts(store, study).items()
    named = {line.account for _, payment in payments(store, study) for line in _forgettable_lines(payment)}
    return {
        key: account
        for key, (_, account) in all_accounts
        if (account.submission or account.participant or key in named) and _is_forgettable(account, before)
    }


def _forgettable_lines(payment: Payment) -> list[Line]:
    """Return the lines of a payment that have ids, which it does not need any more for accounts in full."""
    is_needed = payment.state in ("intended", "handed_in", "paying")
    return [] if is_needed else [line for line in payment.lines if line.submission]


def _is_forgettable(account: Account, before: str) -> bool:
    ended_at = max(account.confirmed_at, account.closed_at) or account.owed_at
    return account.is_paid and ended_at < before


@overload
def change(store: Store, study: str, key: str, rule: Callable[[Account | None], Account]) -> Account: ...


@overload
def change(
    store: Store, study: str, key: str, rule: Callable[[Account | None], Account | None]
) -> Account | None: ...


def change(
    store: Store, study: str, key: str, rule: Callable[[Account | None], Account | None]
) -> Account | None:
    """Replace an account by the result of `rule` (None leaves it unchanged); return it as it is then."""

    def changed(data: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        after = rule(load_account(data) if data else None)
        return None if after is None else after.data()

    entry = update(store, ledger_of(study), key, changed, BUSY)
    return load_account(entry.data) if entry else None


def change_known(
    store: Store, study: str, key: str, rule: Callable[[Account], Account | None]
) -> Account | None:
    """Replace an account as `change` does; without such an account `rule` is not called."""
    return change(store, study, key, lambda now: None if now is None else rule(now))


def _key_of(store: Store, study: str, account: Account) -> str:
    """Return the key of a session's account; the session may have lost the panel's parameters since."""
    known = accounts(store, study).items()
    return next((key for key, (_, other) in known if other.session == account.session), account.key)


def _at_its_place(account: Account, session: Session, others: Collection[str]) -> Account:
    """Return the account as it is paid if the session's place is in another of the panel's studies."""
    named = session.panel.get(PROLIFIC_STUDY, "")
    return as_paid_elsewhere(account, named) if named in others and account.submission else account


def _enter(store: Store, study: str, key: str, account: Account) -> Account:
    def rule(now: Account | None) -> Account:
        return entered(now, account) or now or account

    return change(store, study, key, rule)


def plain_accounts(store: Store, study: Study, now: datetime) -> dict[str, Account]:
    """Return a study's accounts by key, including those that are not stored yet."""
    known = {key: account for key, (_, account) in accounts(store, study.name).items()}
    for account in newly_owed(store, study, now):
        known[account.key] = entered(known.get(account.key), account) or known[account.key]
    return known


def payment_status(
    store: Store, study: Study, known: Mapping[str, Account], statuses: Mapping[str, str]
) -> dict[str, Any]:
    """Return the state of a study's payments as plain data."""
    limits = in_force(store, study.name, funds(store, study.name)[1])
    made = {payment.id: payment for _, payment in payments(store, study.name)}
    return {"study": study.name, **report(known, made, limits, statuses)}
