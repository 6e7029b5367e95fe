"""Visits by links that the panel did not fill in, counted so that the researcher can mend the link."""

from collections.abc import Mapping, Sequence
from typing import Any

from backend.experiment.panel import LINK_QUERIES
from backend.experiment.records import Study
from backend.foundation.timestamps import readable
from backend.stores.store import Store
from backend.stores.updates import update

MOST = 1000
"""Visits that are counted: more tell nothing, and would cost writes for whoever sends them."""
BOOK = "unfilled links"
"""The book of such visits, by study: `visits` by parameter, and the time of the last one, `at`."""


def note(store: Store, study: str, parameters: Sequence[str], at: str) -> None:
    """Count a visit whose `parameters` were not filled in, up to `MOST`; `at` is UTC, ISO 8601."""

    def counted(now: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        visits = now["visits"] if now else {}
        if max(visits.values(), default=0) >= MOST:
            return None
        return {"visits": visits | {name: visits.get(name, 0) + 1 for name in parameters}, "at": at}

    update(store, BOOK, study, counted, "many people come by such links at once")


def warning(store: Store, study: Study) -> str:
    """Return what the researcher should know of them; '' if there were none."""
    entry = store.entry(BOOK, study.name)
    if entry is None:
        return ""
    visits = entry.data["visits"].items()
    counts = ", ".join(f"{name} {count}{' or more' if count >= MOST else ''}" for name, count in visits)
    return (
        f"links came in which the panel had filled in no value ({counts}; the last at "
        f"{readable(entry.data['at'])}), and those people were not let in; {_advice(study)}"
    )


def _advice(study: Study) -> str:
    query = LINK_QUERIES.get(study.protocol.admission.panel.name)
    if query is None:
        return "correct the study's address at the panel, where its own words for these values belong"
    return f"give the panel the address /s/{study.name}?{query}, exactly so"


def forget(store: Store, study: str) -> None:
    """Delete the count, so that a later study of the same name does not inherit it."""
    store.erase_entry(BOOK, study)
