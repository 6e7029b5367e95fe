"""Places at the panel and sessions here, brought to agree by reading what the panel says now.

A place that was returned or ran out of time is given back to the model it was for: its session is closed
as `returned`, and is neither counted nor paid. A session that is done is reported where the panel waits
for that. Nothing here rests on what was heard before, or on the order in which it was heard: each reading
is of the panel's state now, and doing it twice changes nothing.

No place is added for one that was given back while the panel's study is open, for the panel offers it
again by itself; added to, it would be taken twice. Once every place was taken and closed the panel offers
none any more: only then is a place added for each session that is still lacking, within the budget.
"""

import logging
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from backend import recruiting
from backend import session as sessions
from backend.panels import Panel, PanelRefused, Submission
from backend.records import Session, Study
from backend.session import Cursor
from backend.stores import Stale, Store

WAITING = ("reserved", "active", "timed_out")
"""States in which the panel may still be told that a person is done."""
ON_THE_WAY = ("reserved", "active")
CLOSED = ("finished", "ended")
log = logging.getLogger("openhype")


def settle(store: Store, panel: Panel, study: Study, now: str) -> Counter:
    """Bring all sessions of a study to agree with the panel; return what was done, counted.

    Args:
        now: the time, as it is stored.
    """
    done, waiting = read(store, panel, study, now)
    for submission in waiting:
        done[report(store, panel, study, submission)] += 1
    return done


def read(store: Store, panel: Panel, study: Study, now: str) -> tuple[Counter, list[str]]:
    """Give back what the panel says is gone, and see that enough people are taken in.

    Returns:
        what was done, counted; and the places of people who are done, and whom the panel waits for.
    """
    state = recruiting.recruitment(store, study)
    places = {submission.id: submission for submission in panel.submissions(state["panel_study"])}
    done, waiting = Counter(), []
    for session, cursor in of_panel(store, study):
        id = session.panel[study.protocol.panel.submission]
        if cursor.state != "returned":
            place = places.get(id) or _place(panel, study, session)
            outcome = _give_back(store, study, session, cursor, place, now)
            done[outcome] += 1
            if outcome == "as it was" and _is_awaited(state, cursor, place):
                waiting.append(id)
    _keep_wanted(store, panel, study, sum(place.status in ON_THE_WAY for place in places.values()))
    return done, waiting


def settle_one(store: Store, panel: Panel, study: Study, session: Session, now: str) -> None:
    """Bring one session to agree with the panel."""
    place, cursor = _place(panel, study, session), store.cursor(session.id)
    if _give_back(store, study, session, cursor, place, now) == "as it was" and _is_awaited(
        recruiting.recruitment(store, study), cursor, place
    ):
        report(store, panel, study, place.id)


def report(store: Store, panel: Panel, study: Study, submission: str) -> str:
    """Tell the panel that a person is done; return what came of it."""
    try:
        panel.complete(submission, recruiting.recruitment(store, study)["codes"]["done_by_server"])
    except PanelRefused as error:  # one person's place must not hold up the others'
        log.warning("the panel was told that a person of %s is done: %s", study.name, error)
        return "refused"
    return "completed"


def of_panel(store: Store, study: Study) -> Iterable[tuple[Session, Cursor]]:
    """Yield the sessions of people who came with a place at the panel."""
    name = study.protocol.panel.submission
    for session, cursor in store.sessions(study.name):
        if name and session.panel.get(name):
            yield session, cursor


def _is_awaited(state: Mapping[str, Any], cursor: Cursor, place: Submission | None) -> bool:
    """Return whether a person is done, and the panel waits to be told so."""
    is_open = place is not None and place.status in WAITING
    return is_open and cursor.state in CLOSED and state["by_server"]


def _give_back(
    store: Store, study: Study, session: Session, cursor: Cursor, place: Submission | None, now: str
) -> str:
    """Close a session whose place is gone; return what was done.

    Who finished just after the time ran out keeps the work.
    """
    # Who names a place that the panel does not know, or another person's, has none.
    is_theirs = place is not None and place.participant == session.panel.get(study.protocol.panel.evaluator)
    is_gone = not is_theirs or place.status == "returned"
    while is_gone or (place.status == "timed_out" and cursor.state == "active"):
        try:
            store.move(session.id, cursor.version, sessions.give_back(cursor, now))
            return "given back"
        except Stale:
            cursor = store.cursor(session.id)
        if cursor.state == "returned":
            break
    return "as it was"


def _place(panel: Panel, study: Study, session: Session) -> Submission | None:
    """Return a session's place as it stands now, None where the panel knows none."""
    try:
        return panel.submission(session.panel[study.protocol.panel.submission])
    except PanelRefused:
        return None


def _keep_wanted(store: Store, panel: Panel, study: Study, on_the_way: int) -> None:
    """Take in nobody once no session is lacking; add places where some are and the panel offers none."""
    state = recruiting.recruitment(store, study)
    if study.kind == "qualification" or state["state"] not in ("published", "full"):
        return
    lacking = _lacking(store, study)
    if lacking == 0:
        if state["state"] == "published":
            panel.change(state["panel_study"], "pause")
            recruiting.update(store, study, state="full")
        return
    is_closed = panel.is_closed(state["panel_study"])
    if state["state"] == "full":  # a session that was finished has been given back
        if not is_closed:
            panel.change(state["panel_study"], "start")
        recruiting.update(store, study, state="published")
    wanted = min(state["places"] + lacking - on_the_way, recruiting.affordable(study, state))
    if is_closed and wanted > state["places"]:
        recruiting.grow(store, panel, study, wanted)


def _lacking(store: Store, study: Study) -> int:
    """Return how many finished sessions are still wanted, over all models."""
    finished = Counter(
        session.model for session, cursor in store.sessions(study.name) if cursor.state == "finished"
    )
    return sum(max(study.protocol.evaluators - finished[model], 0) for model in study.models)


def recruited(store: Store, panel_name: str) -> list[Study]:
    """Return the studies that were published at a panel."""
    found = []
    for study in store.studies():
        entry = store.entry(recruiting.book(study.name), panel_name)
        if entry is not None and entry.data["panel_study"]:
            found.append(study)
    return found
