"""Synchronization of places at the panel with sessions here, from the panel's current state.

A place that was returned or timed out is freed for its condition: its session is closed as `returned`,
and is neither counted nor paid. A completed session is reported where the panel waits for that. Nothing
depends on earlier events or on their order: each pass reads the panel's current state, and repeating it
changes nothing.

Only what was read closes a session: a place that is listed as gone, or one that is unknown to the panel
in two passes some time apart. An error says nothing about a place, and closes none.

While the panel's study is open, no place is added for one that was given back, because the panel offers
it again by itself; it would be taken twice. Once every place was taken and closed, the panel offers none
any more: only then is a place added for each session that is still lacking, within the budget. After a
planned look more are lacking than an open study still offers, and only these are added. A person who
pauses or stops the study at the panel is not overruled.
"""

import logging
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from backend.experiment import sampling
from backend.experiment import session as sessions
from backend.experiment.panel import PROLIFIC_STUDY
from backend.experiment.records import Session, Study
from backend.experiment.session import BROKEN_OFF, CLOSED, LAPSED, Cursor
from backend.foundation.errors import NotFound
from backend.panels.api import (
    COMPLETABLE,
    NotThere,
    Panel,
    PanelRefused,
    Status,
    StudyState,
    Submission,
    TokenRefused,
)
from backend.payment import accounts, screened_out
from backend.payment.accounts import panel_names
from backend.payment.ledger import Account, is_ahead, key_of, load_account
from backend.payment.screened_out import Report
from backend.recruitment import approved_sessions, recruit
from backend.stores.store import Entry, Stale, Store
from backend.studies import pausing
from backend.studies.places_given_back import note_given_back, note_rejections, rejected
from backend.studies.withdrawals import withdrawn

ON_THE_WAY: tuple[Status, ...] = ("reserved", "active")
TAKEN: tuple[Status, ...] = (*ON_THE_WAY, "awaiting_review", "approved", "partially_approved")
_MISSING_FOR = timedelta(minutes=1)
"""How long a place must be unknown to the panel, which may not know it just after it was taken."""
log = logging.getLogger("openhype")


def read(store: Store, panel: Panel, study: Study, now: str) -> tuple[Counter[str], list[Report]]:
    """Close sessions whose places are gone, and adjust how many people the panel admits.

    Returns:
        counts of what was done; and the reports that the panel waits for.
    """
    state = recruit.recruitment(store, study)
    listed = {one.id: one for one in panel.submissions(state["panel_study"])}
    missing = {entry.key: entry for entry in store.entries(_missing(study))}
    rejections: dict[str, str] = {}
    done: Counter[str] = Counter()
    reports = []
    for session, cursor in of_panel(store, study):
        if cursor.state in ("returned", LAPSED):
            continue
        place = listed.get(session.panel[study.protocol.admission.panel.submission])
        try:
            place = place or _place(panel, study, session)
        except TokenRefused:
            raise
        except PanelRefused as error:  # one unreadable place must not hold up the others
            log.warning("a submission of %s could not be read: %s", study.name, error)
            done["not read"] += 1
            continue
        if place and place.status == "rejected" and cursor.state == "finished":
            rejections[session.id] = session.condition or ""
        is_missing = _is_still_missing(store, study, session, place, missing.get(session.id), now)
        outcome = _give_back(store, study, state, session, cursor, place, is_missing, now)
        done[outcome] += 1
        if outcome == "as it was" and place and _is_awaited(store, study, state, cursor, place):
            reports.append(Report(place.id, state["codes"]["done_by_server"]))
    note_rejections(store, study, rejections)
    reports += _left_behind(store, study, state, listed)
    reports += screened_out.to_report(store, study, listed)
    try:
        _keep_wanted(store, panel, study, list(listed.values()), now)
    except PanelRefused:
        for each in reports:  # a refusal to change the study must not hold up who is done
            report(panel, study, each)
        raise
    return done, reports


def reconcile_one(store: Store, panel: Panel, study: Study, session: Session, now: str) -> None:
    """Synchronize one session with the panel; one that the panel does not know is left unchanged.

    So is that of a test on the way to another study: its place is there.
    """
    if not _has_place(study, session, accounts.other_panel_studies(store, study)):
        return
    place, cursor = _place(panel, study, session), store.cursor(session.id)
    state = recruit.recruitment(store, study)
    outcome = _give_back(store, study, state, session, cursor, place, False, now)
    if outcome == "as it was" and place and _is_awaited(store, study, state, cursor, place):
        report(panel, study, Report(place.id, state["codes"]["done_by_server"]))


def report(panel: Panel, study: Study, what: Report) -> str:
    """Send the panel a report it waits for; return the outcome."""
    try:
        panel.complete(what.submission, what.code)
    except TokenRefused:
        raise
    except PanelRefused as error:  # one person's place must not hold up the others
        log.warning("the panel refused the report that a person of %s is done: %s", study.name, error)
        return "refused"
    return "completed"


def of_panel(store: Store, study: Study) -> Iterator[tuple[Session, Cursor]]:
    """Yield the sessions of people who came with a place in the panel's study of this study.

    Excludes people who took a test here on the way to another study: their place is there.
    """
    others = accounts.other_panel_studies(store, study)
    for session, cursor in store.sessions(study.name):
        if _has_place(study, session, others):
            yield session, cursor


def _has_place(study: Study, session: Session, others: Container[str]) -> bool:
    """Return whether a session's place is in the panel's study of its own study, not in one of `others`."""
    name = study.protocol.admission.panel.submission
    return bool(name and session.panel.get(name)) and session.panel.get(PROLIFIC_STUDY) not in others


def recruited(store: Store, panel_name: str) -> list[Study]:
    """Return the studies that were published at a panel."""
    pairs = []
    for study in store.studies():
        entry = store.entry(recruit.book(study.name), panel_name)
        if entry is not None and entry.data["panel_study"]:
            pairs.append(study)
    return pairs


def _is_awaited(
    store: Store, study: Study, state: Mapping[str, Any], cursor: Cursor, place: Submission
) -> bool:
    """Return whether a person is done, and the panel waits for a report of that."""
    if not (place.status in COMPLETABLE and cursor.state in CLOSED and state["by_server"]):
        return False
    return not _is_paid_otherwise(store, study, place)


def _is_paid_otherwise(store: Store, study: Study, place: Submission) -> bool:
    """Return whether everything is paid as a bonus, so that the panel must not also pay a reward."""
    account = _broke_off(store, study, place)
    return account is not None and account.bonus != "none"


def _broke_off(store: Store, study: Study, place: Submission) -> Account | None:
    """Return the account of a session that broke off through no fault of its evaluator."""
    entry = store.entry(accounts.ledger_of(study.name), key_of(place.id, place.participant))
    account = load_account(entry.data) if entry else None
    return account if account is not None and account.is_partial else None


def _left_behind(
    store: Store, study: Study, state: Mapping[str, Any], listed: Mapping[str, Submission]
) -> Iterator[Report]:
    """Yield reports for people who were done, and withdrew before the panel was notified."""
    person, submission = panel_names(study)
    for entry in withdrawn(store, study.name) if state["by_server"] else ():
        place = listed.get(entry.data["panel"].get(submission, ""))
        if place is None or place.participant != entry.data["panel"].get(person):
            continue
        is_done = entry.data["state"] in CLOSED and place.status in COMPLETABLE
        if is_done and not _is_paid_otherwise(store, study, place):
            yield Report(place.id, state["codes"]["done_by_server"])


def _give_back(
    store: Store,
    study: Study,
    state: Mapping[str, Any],
    session: Session,
    cursor: Cursor,
    place: Submission | None,
    is_missing: bool,
    now: str,
) -> str:
    """Close a session whose place is gone; return what was done.

    A session finished just after the time ran out stays finished.

    Args:
        place: None if the panel does not know it.
        is_missing: whether the panel has not known it for long enough.
    """
    is_gone = is_missing or (
        place is not None and (place.status == "returned" or not _is_theirs(study, state, session, place))
    )
    has_timed_out = place is not None and place.status == "timed_out"
    if cursor.state in (BROKEN_OFF, LAPSED):  # what is paid of it is paid once its place is gone
        return "as it was"
    while is_gone or (has_timed_out and cursor.state == "active"):
        why = "timed_out" if has_timed_out and not is_missing else "returned"
        note_given_back(store, study, session, why)
        if place is not None and _broke_off(store, study, place):
            accounts.enter(store, study, session, cursor)  # what it has earned since is owed without a place
        try:
            store.move(session.id, cursor.version, sessions.mark_returned(cursor, now))
            return "given back"
        except Stale:
            try:
                cursor = store.cursor(session.id)
            except NotFound:  # erased in the meantime
                return "not known"
        if cursor.state in ("returned", BROKEN_OFF, LAPSED):
            break
    return "as it was" if place is not None or is_gone else "not known"


def _is_theirs(study: Study, state: Mapping[str, Any], session: Session, place: Submission) -> bool:
    """Return whether a place belongs to the person who named it and to this study, as far as known."""
    is_person = place.participant in ("", session.panel.get(study.protocol.admission.panel.evaluator))
    is_study = not place.studies or bool(set(place.studies) & set(recruit.panel_studies(state)))
    return is_person and is_study


def _place(panel: Panel, study: Study, session: Session) -> Submission | None:
    """Return the current state of a session's place, or None if the panel does not know it."""
    try:
        return panel.submission(session.panel[study.protocol.admission.panel.submission])
    except NotThere:
        return None


def _missing(study: Study) -> str:
    """Return the book of the sessions whose place the panel did not know, and since when."""
    return f"missing submissions {study.name}"


def _is_still_missing(
    store: Store, study: Study, session: Session, place: Submission | None, entry: Entry | None, now: str
) -> bool:
    """Return whether a place that the panel does not know was also missing in an earlier pass.

    One that is dated later than now, by a clock that was ahead, is dated anew.
    """
    since = entry.data["at"] if entry else ""
    if place is None and since and not is_ahead(since, datetime.fromisoformat(now)):
        return datetime.fromisoformat(now) - datetime.fromisoformat(since) >= _MISSING_FOR
    if place is None or since:
        with suppress(Stale):
            at = "" if place is not None else now
            store.write_entry(_missing(study), session.id, entry.version if entry else 0, {"at": at})
    return False


def _keep_wanted(store: Store, panel: Panel, study: Study, listed: list[Submission], now: str) -> None:
    """Pause the panel's study when no session is lacking; add places if some are and none is offered."""
    if accounts.funds(store, study.name)[1].paid_from:
        return  # only the store that pays may admit more people
    state = recruit.recruitment(store, study)
    if state["state"] in ("published", "full"):
        state = recruit.finish_growth(store, panel, study, state)
    at_panel = panel.state(state["panel_study"])
    is_stopped = at_panel == "closed" and _ever_taken(listed) < state["places"]
    if state["state"] == "decided":
        recruit.notice_published(store, panel, study)
    state = recruit.notice(store, study, at_panel, is_stopped, now)
    if study.kind == "qualification" or state["state"] not in ("published", "full"):
        return
    lacking = sampling.lacking(study, store.sessions(study.name), rejected(store, study))
    if lacking == 0 or pausing.early_ends_exceeded(store, study):
        _take_in_nobody(store, panel, study, state, at_panel)
        return
    if state["state"] == "full":  # a finished session was given back
        if at_panel == "paused":
            panel.change(state["panel_study"], "start")
        state = recruit.update(store, study, state="published")
    is_looked_at = at_panel == "active" and bool(study.protocol.looks.looks)
    if (at_panel == "closed" and not is_stopped) or is_looked_at:
        approved = approved_sessions.lacking(store, study, state, lacking)
        _add_places(store, panel, study, state, listed, approved, is_offering=is_looked_at)


def _take_in_nobody(
    store: Store, panel: Panel, study: Study, state: Mapping[str, Any], at_panel: StudyState
) -> None:
    """Pause the panel's study, unless a person has already done so there.

    That it is full is recorded first: a pause that nothing here tells of would be taken for a person's.
    """
    if at_panel in ("active", "closed") and state["state"] != "full":
        recruit.update(store, study, state="full")
    if at_panel == "active":
        panel.change(state["panel_study"], "pause")


def _add_places(
    store: Store,
    panel: Panel,
    study: Study,
    state: Mapping[str, Any],
    listed: list[Submission],
    lacking: int,
    is_offering: bool,
) -> None:
    """Add a place for each session that is lacking, within the budget.

    A person who finished after the time ran out has a place in addition to those offered.

    Args:
        is_offering: whether the panel still offers the places that nobody has taken or given back.
    """
    counts = Counter(place.status for place in listed)
    on_the_way = sum(counts[status] for status in ON_THE_WAY)
    taken = max(state["places"], sum(counts[status] for status in TAKEN))
    most = state["places"] + recruit.affordable(store, study, state) - taken
    offered = taken - sum(counts[status] for status in TAKEN) if is_offering else 0
    wanted = min(state["places"] + lacking - on_the_way - offered, most)
    if wanted > state["places"]:
        recruit.grow(store, panel, study, wanted, is_decided=False)


def _ever_taken(listed: Iterable[Submission]) -> int:
    """Return how many places were ever completed: those taken, and those given back after completion."""
    return sum(
        place.status in (*TAKEN, "rejected") or (place.status == "returned" and bool(place.completed_at))
        for place in listed
    )
