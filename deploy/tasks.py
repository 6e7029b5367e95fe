"""What the function `panel` runs: tasks on a schedule, and what the API's function asks of the panel.

Only this function can read the panel's token. Tasks are events with an entry `task`, which nobody can send
through a function's URL; they require the right to invoke the function. Every other event must be an HTTP
request, here one with a panel's events.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import timedelta
from functools import lru_cache
from typing import Any

from backend.administration import retention
from backend.foundation.request_deadline import deadline
from backend.foundation.timestamps import stamp, utc_now
from backend.panels.api import PanelUnreached
from backend.payment import automatic
from backend.recruitment.panel_health import health
from backend.recruitment.sync import recruited
from backend.recruitment.sync_thread import Watch
from backend.stores.store import Store, study_if_any
from deploy import api
from deploy.panel_calls import ERRORS

SECONDS = 110
"""Time for a task, below the function's timeout."""
FAILING = timedelta(minutes=5)
"""For which the panel cannot be read before this is an error of the function."""
log = logging.getLogger("openhype")


def handle(event: Mapping[str, Any], context: Any) -> dict[str, Any]:
    """Return the result of a task, or the reply to an HTTP request.

    Raises:
        ValueError: the event is neither, or the task is unknown.
    """
    if "task" not in event:
        from deploy import entry_point  # Zappa's handler, which only a package has

        return entry_point.handle(event, context)
    task = _TASKS.get(event["task"])
    if task is None:
        raise ValueError(f"unknown task {event['task']!r}; there are {', '.join(_TASKS)}")
    store, watch = _parts()
    with deadline(SECONDS):
        return task(store, watch, event) or {}


@lru_cache(maxsize=1)
def _parts() -> tuple[Store, Watch]:
    return api.store_and_watch()


def _recruitment(store: Store, watch: Watch, event: Mapping[str, Any]) -> None:
    """Read all submissions.

    Raises:
        PanelUnreached: those of a study could not be read for minutes: an error of the function, which has an
            alarm.
    """
    watch.reconcile_all()
    since = stamp(utc_now() - FAILING)
    names = [study.name for study in recruited(store, watch.panel.name)]
    failing = [name for name in names if "" < health(store, name).failing_since <= since]
    if failing:
        raise PanelUnreached(f"the panel of {', '.join(failing)} cannot be read since {FAILING} or longer")


def _payments(store: Store, watch: Watch, event: Mapping[str, Any]) -> None:
    automatic.run(store, watch.panel, utc_now)


def _retention(store: Store, watch: Watch, event: Mapping[str, Any]) -> None:
    for study in store.studies():
        due = retention.due(store, study, utc_now())
        if len(due):
            retention.apply(store, due, utc_now())
            log.warning("%s", "; ".join(retention.lines([due])))


def _closed(store: Store, watch: Watch, event: Mapping[str, Any]) -> None:
    watch.closed(store.study(event["study"]), store.session(event["session"]))


def _screened_out(store: Store, watch: Watch, event: Mapping[str, Any]) -> None:
    watch.screened_out(store.study(event["study"]), event["submission"])


def _read_places(store: Store, watch: Watch, event: Mapping[str, Any]) -> dict[str, Any]:
    study = study_if_any(store, event["study"])
    return {"is_worthwhile": study is not None and watch.read_places(study)}


def _submission(store: Store, watch: Watch, event: Mapping[str, Any]) -> dict[str, Any]:
    """Return the panel's record of a place, or the error that the panel gave."""
    try:
        return {"submission": asdict(watch.panel.submission(event["submission"], is_urgent=True))}
    except tuple(ERRORS.values()) as error:
        name = next(name for name, kind in ERRORS.items() if isinstance(error, kind))
        return {"error": name, "message": str(error)}


_TASKS: Mapping[str, Callable[[Store, Watch, Mapping[str, Any]], dict[str, Any] | None]] = {
    "recruitment": _recruitment,
    "payments": _payments,
    "retention": _retention,
    "closed": _closed,
    "screened_out": _screened_out,
    "read_places": _read_places,
    "submission": _submission,
}
