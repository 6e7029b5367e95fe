"""Places at the panel and sessions here, brought to agree by reading what the panel says now.

A place that was returned or ran out of time is given back to the model it was for: its session is closed
as `returned`, and is neither counted nor paid. A session that is done is reported where the panel waits
for that. Nothing here rests on what was heard before, or on the order in which it was heard: each reading
is of the panel's state now, and doing it twice changes nothing.

No place is added for one that was given back, for the panel offers it again by itself; added to, it would
be taken twice. A place is added only for one that was paid and left no finished session, and only within
the budget.
"""

import logging
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from backend import recruiting
from backend import session as sessions
from backend.errors import NotFound
from backend.panels import Panel, PanelRefused, PanelUnreached, PanelUnsure, Submission
from backend.records import Session, Study
from backend.session import Cursor
from backend.stores import Stale, Store

WAITING = ("reserved", "active", "timed_out")
"""States in which the panel may still be told that a person is done."""
PAID = ("approved", "partially_approved")
CLOSED = ("finished", "ended")
log = logging.getLogger("openhype")


def settle(store: Store, panel: Panel, study: Study, now: str) -> Counter:
    """Bring all sessions of a study to agree with the panel; return what was done, counted.

    Args:
        now: the time, as it is stored.
    """
    state = recruiting.recruitment(store, study)
    places = {submission.id: submission for submission in panel.submissions(state["panel_study"])}
    done: Counter = Counter()
    for session, cursor in of_panel(store, study):
        place = places.get(session.panel[study.protocol.panel.submission]) or _read(panel, study, session)
        done[_settle_one(store, panel, study, state, (session, cursor), place, now)] += 1
    _add_places(store, panel, study, state, places.values())
    _stop_when_full(store, panel, study)
    return done


def settle_one(store: Store, panel: Panel, study: Study, session: Session, now: str) -> None:
    """Bring one session to agree with the panel."""
    state = recruiting.recruitment(store, study)
    place = _read(panel, study, session)
    _settle_one(store, panel, study, state, (session, store.cursor(session.id)), place, now)


def of_panel(store: Store, study: Study) -> Iterable[tuple[Session, Cursor]]:
    """Yield the sessions of people who came with a place at the panel."""
    name = study.protocol.panel.submission
    for session, cursor in store.sessions(study.name):
        if name and session.panel.get(name):
            yield session, cursor


def _settle_one(
    store: Store,
    panel: Panel,
    study: Study,
    state: Mapping[str, Any],
    known: tuple[Session, Cursor],
    place: Submission | None,
    now: str,
) -> str:
    session, cursor = known
    if cursor.state == "returned":
        return "as it was"
    # Who names a place that the panel does not know, or another person's, has none.
    is_theirs = place is not None and place.participant == session.panel.get(study.protocol.panel.evaluator)
    is_gone = not is_theirs or place.status == "returned"
    if is_gone or (place.status == "timed_out" and cursor.state == "active"):
        return _give_back(store, session, keeps_closed=not is_gone, now=now)
    if cursor.state in CLOSED and place.status in WAITING and state["by_server"]:
        panel.complete(place.id, state["codes"]["done_by_server"])
        return "completed"
    return "as it was"


def _give_back(store: Store, session: Session, keeps_closed: bool, now: str) -> str:
    while True:
        try:
            cursor = store.cursor(session.id)
        except NotFound:  # taken back meanwhile, answers and all
            return "as it was"
        if cursor.state == "returned" or (keeps_closed and cursor.state != "active"):
            return "as it was"
        try:
            store.move(session.id, cursor.version, sessions.give_back(cursor, now))
        except Stale:
            continue
        return "given back"


def _read(panel: Panel, study: Study, session: Session) -> Submission | None:
    """Return a session's place as it stands now, None where the panel knows none."""
    try:
        return panel.submission(session.panel[study.protocol.panel.submission])
    except PanelRefused:
        return None


def _add_places(
    store: Store, panel: Panel, study: Study, state: Mapping[str, Any], places: Iterable[Submission]
) -> None:
    """Add a place for each that was paid and left no finished session, if the budget has it."""
    if study.kind == "qualification" or state["state"] != "published":
        return
    record = study.protocol.panel
    useful = {
        session.panel[record.submission]
        for session, cursor in of_panel(store, study)
        if cursor.state in ("active", "finished")
    }
    used_up = sum(place.status in PAID and place.id not in useful for place in places)
    wanted = min(state["planned_places"] + used_up, recruiting.affordable(study, state))
    if wanted > state["places"]:
        recruiting.grow(store, panel, study, wanted)


def _stop_when_full(store: Store, panel: Panel, study: Study) -> None:
    """Stop recruiting once every model has all its finished sessions."""
    state = recruiting.recruitment(store, study)
    if study.kind == "qualification" or state["state"] != "published":
        return
    finished = Counter(
        session.model for session, cursor in store.sessions(study.name) if cursor.state == "finished"
    )
    if all(finished[model] >= study.protocol.evaluators for model in study.models):
        recruiting.change(store, panel, study, "stop")


def settle_all(store: Store, panel: Panel, now: str) -> None:
    """Settle every study whose recruitment is on; what fails is tried again with the next reading."""
    for study in recruited(store, panel.name):
        try:
            settle(store, panel, study, now)
        except (PanelRefused, PanelUnsure, PanelUnreached) as error:
            log.warning("places of %s could not be read: %s", study.name, error)


def recruited(store: Store, panel_name: str) -> list[Study]:
    """Return the studies that were published at a panel."""
    found = []
    for study in store.studies():
        entry = store.entry(recruiting.book(study.name), panel_name)
        if entry is not None and entry.data["panel_study"]:
            found.append(study)
    return found
