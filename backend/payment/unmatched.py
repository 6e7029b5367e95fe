"""Submissions at the panel without an owed session here.

Their people declined, had an unfit device, were screened out, never came, or were done there before
being done here. They cost money all the same: the panel automatically approves what nobody reviews.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from backend.experiment.records import Study
from backend.experiment.session import CLOSED
from backend.panels.api import Submission
from backend.payment.accounts import accounts, panel_names, panel_terms, recruited
from backend.payment.ledger import (
    APPROVED,
    Account,
    PanelTerms,
    key_of,
    reconciled,
    unmatched_account,
)
from backend.stores.store import Store

_BY_CODE = {"no_consent": "declined", "unfit_device": "unfit_device", "screened_out": "screened_out"}


def by_key(submissions: Iterable[Submission]) -> dict[str, Submission]:
    return {key_of(one.id, one.participant): one for one in submissions}


def unmatched(
    store: Store, study: Study, listed: Mapping[str, Submission], known: Collection[str], at: str
) -> list[Account]:
    """Return accounts for the submissions without one that cost money, or may.

    Args:
        listed: by the keys of their accounts.
        known: keys of the existing accounts.
        at: the current time.
    """
    terms = panel_terms(store, study)
    costs = ("awaiting_review", *APPROVED, *(("screened_out",) if terms.screen_out_cents else ()))
    payments = []
    sessions = _sessions(store, study)
    codes = (recruited(store, study.name) or {}).get("codes", {})
    for key, submission in listed.items():
        if key in known or submission.status not in costs:
            continue
        why = _why(submission, sessions, codes)
        if why is not None:
            payments.append(_account(submission, why, terms, at))
    return payments


def count(store: Store, study: Study, submissions: Iterable[Submission]) -> dict[str, int]:
    """Count the submissions without a session here by reason, or by their status if there is no reason."""
    codes, sessions = (recruited(store, study.name) or {}).get("codes", {}), _sessions(store, study)
    owed = {key for key, (_, one) in accounts(store, study.name).items() if not one.is_unmatched}
    counts: Counter[str] = Counter()
    for key, submission in by_key(submissions).items():
        why = None if key in owed else _why(submission, sessions, codes)
        if why == "no_session":
            counts[f"no session, {submission.status.replace('_', ' ')}"] += 1
        elif why is not None:
            counts[why.replace("_", " ")] += 1
    return dict(sorted(counts.items()))


def reasons(store: Store, study: Study, listed: Mapping[str, Submission]) -> dict[str, str]:
    """Return why submissions are unmatched, by the keys of their accounts; without those of sessions."""
    sessions, codes = _sessions(store, study), (recruited(store, study.name) or {}).get("codes", {})
    whys = {key: _why(submission, sessions, codes) for key, submission in listed.items()}
    return {key: why for key, why in whys.items() if why is not None}


def _account(submission: Submission, why: str, terms: PanelTerms, at: str) -> Account:
    done_at = submission.completed_at or submission.started_at
    account = unmatched_account(submission.id, submission.participant, why, done_at, terms)
    if submission.is_asked_to_return:
        account = account.moved(asked_to_return_at=at)
    return reconciled(account, submission.status, terms, at)


def _why(
    submission: Submission, sessions: Mapping[str, tuple[str, str]], codes: Mapping[str, Any]
) -> str | None:
    """Return why a submission is unmatched; None if a session accounts for it."""
    participant, state = sessions.get(submission.id, ("", ""))
    is_theirs = bool(participant) and participant == submission.participant
    if is_theirs and state in CLOSED:
        return None
    outcome = next((outcome for outcome, code in codes.items() if code == submission.code), "")
    if outcome in _BY_CODE:
        return _BY_CODE[outcome]
    if submission.status == "screened_out":
        return "screened_out"
    if not is_theirs:
        return "no_session"
    return "unfinished" if submission.status in ("awaiting_review", *APPROVED) else None


def _sessions(store: Store, study: Study) -> dict[str, tuple[str, str]]:
    """Return (participant, state) of the sessions that name a submission, by submission."""
    person, submission = panel_names(study)
    return {
        session.panel[submission]: (session.panel.get(person, ""), cursor.state)
        for session, cursor in store.sessions(study.name)
        if session.panel.get(submission)
    }
