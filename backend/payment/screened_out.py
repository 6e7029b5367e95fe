"""People who were screened out, if the panel pays a fixed amount for that.

The code that pays is reported by the server, so that it never reaches a browser. The debt is recorded
first, in the book `screened out STUDY`, and the report to the panel is repeated until it succeeds. The
panel's ids are in the entry's `panel`, which retention empties.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress

from backend.experiment.records import Study
from backend.foundation.frozen import dataclass
from backend.panels.api import COMPLETABLE, Submission
from backend.payment.accounts import panel_names, recruited
from backend.payment.ledger import key_of
from backend.stores.store import Stale, Store


@dataclass(frozen=True)
class Report:
    """A report on a place for the panel: the completion code that the server submits for it."""

    submission: str
    code: str


def book(study: str) -> str:
    return f"screened out {study}"


def is_paid_by_panel(store: Store, study: Study) -> bool:
    """Return whether the panel pays people who are screened out of a study."""
    return bool((recruited(store, study.name) or {}).get("screen_out"))


def note(store: Store, study: Study, panel: Mapping[str, str], at: str) -> str:
    """Record that a person is screened out; return the submission, '' if the link named none."""
    person, submission = (panel.get(name, "") for name in panel_names(study))
    if not submission:
        return ""
    ids = {name: panel.get(name, "") for name in panel_names(study)}
    with suppress(Stale):  # recorded before
        store.write_entry(book(study.name), key_of(submission, person), 0, {"panel": ids, "at": at})
    return submission


def to_report(store: Store, study: Study, listed: Mapping[str, Submission]) -> Iterator[Report]:
    """Yield the places of screened-out people whom the panel still waits for."""
    state = recruited(store, study.name) or {}
    person, submission = panel_names(study)
    for entry in store.entries(book(study.name)):
        ids = entry.data["panel"]
        place = listed.get(ids.get(submission, ""))
        if place is not None and place.status in COMPLETABLE and place.participant == ids[person]:
            yield Report(place.id, state["codes"]["screened_out"])
