"""A study's life: made, begun when the first real evaluator is let in, deleted.

Each step is one conditional write of the study's record. Until it is begun its settings may change
(`revision.py`); from then on they never do, so that no session is played, paid or scored by other
settings than those it was opened under. Simulated sessions begin nothing.
"""

from dataclasses import replace
from typing import Any

from backend.errors import Conflict
from backend.records import Study
from backend.stores import Stale, Store

_TRIES = 20


def begin(store: Store, study: Study, at: str) -> Study:
    """Have a study be begun, and return it as it stands: perhaps with settings changed just before.

    Args:
        at: UTC, ISO 8601.

    Raises:
        NotFound: it is being deleted.
    """
    return study if study.begun_at else _changed(store, study, begun_at=at)


def begin_deletion(store: Store, study: Study, at: str) -> Study:
    """Have nobody find a study any more, and return it; also where its deletion had begun."""
    return study if study.deleted_at else _changed(store, study, deleted_at=at)


def end_deletion(store: Store, study: Study) -> Study:
    """Have a study be found again whose deletion was refused."""
    return _changed(store, study, deleted_at="")


def _changed(store: Store, study: Study, **changes: Any) -> Study:
    """Make changes that depend on nothing else in the record, whatever it stands at by now."""
    ((name, value),) = changes.items()
    for _ in range(_TRIES):
        now = store.study(study.name, even_deleted=name == "deleted_at")
        if bool(getattr(now, name)) == bool(value):
            return now
        try:
            after = replace(now, version=now.version + 1, **changes)
            store.change_study(after)
        except Stale:
            continue
        return after
    raise Conflict(f"study {study.name} is being changed from several places at once; try again", code="busy")
