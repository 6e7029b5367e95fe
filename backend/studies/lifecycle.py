"""A study's life: made, begun when the first real evaluator is let in, deleted (`administration/delete.py`).

Each step is one conditional write of the study's record. Until it is begun its settings may change
(`administration/revise.py`); from then on they never do, so that no session is played, paid or scored by
other settings than those it was opened under. Simulated sessions begin nothing.
"""

import secrets
from contextlib import suppress
from dataclasses import replace
from typing import Any

from backend.experiment.records import Study
from backend.foundation.errors import Conflict, NotFound
from backend.stores.store import Stale, Store
from backend.stores.updates import retried
from backend.studies.waiting_room import waits
from backend.studies.withdrawals import withdrawn

DELETED = "deleted"
"""The book of deleted studies, by their names."""


def recruitment_book(study: str) -> str:
    """Return the name of the book of what panels were told of a study, an entry for each panel."""
    return f"recruitment {study}"


def new_settings_id() -> str:
    """Return a name for settings that no others have."""
    return secrets.token_hex(8)


def check_name(store: Store, name: str) -> None:
    """Raise Conflict where a study cannot be called `name`, for another one is or was."""
    try:
        is_leaving = bool(store.study(name, even_deleted=True).deleted_at)
    except NotFound:
        if was_deleted(store, name):
            raise Conflict(
                f"a study {name} was deleted after evaluators had begun it, and its name stands in the "
                "books; choose another name"
            ) from None
        return
    if is_leaving:
        raise Conflict(
            f"a study {name} is being deleted; finish that with `openhype delete {name}`, or choose another "
            "name"
        )
    raise Conflict(f"a study {name} exists already; choose another name")


def was_deleted(store: Store, name: str) -> bool:
    """Return whether a study of this name was begun, and is deleted or about to be for sure."""
    entry = store.entry(DELETED, name)
    return entry is not None and entry.data["was_begun"]


def is_decided(store: Store, study: Study) -> bool:
    """Return whether the deletion of a study can only go on: parts of it may be gone."""
    entry = store.entry(DELETED, study.name)
    return entry is not None and _named(study).items() <= entry.data.items()


def decide(store: Store, study: Study, at: str) -> None:
    """Write down that a study goes, and whether it was begun, before anything of it is gone.

    A name that nobody real had begun is free again: what stands here of it gives way to the next.
    """
    data = {**_named(study), "was_begun": is_begun(store, study), "at": at}
    entry = store.entry(DELETED, study.name)
    with suppress(Stale):  # the other one who deletes it wrote the same
        store.write_entry(DELETED, study.name, entry.version if entry else 0, data)


def is_begun(store: Store, study: Study) -> bool:
    """Return whether an evaluator has seen a study's settings, or was promised something by them.

    Studies of older versions do not say when they were begun, but what came of it does.
    """
    return (
        bool(study.begun_at)
        or any(True for _ in store.sessions(study.name))
        or any(True for _ in withdrawn(store, study.name))
        or any(True for _ in waits(store, study.name))
        or any(True for _ in store.entries(recruitment_book(study.name)))
    )


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


def _named(study: Study) -> dict[str, str]:
    """Return what tells a study from another one that had the same name before."""
    return {"created_at": study.created_at, "settings_id": study.settings_id}


def _changed(store: Store, study: Study, **changes: Any) -> Study:
    """Make changes that depend on nothing else in the record, whatever it stands at by now."""
    ((name, value),) = changes.items()

    def change() -> Study:
        now = store.study(study.name, even_deleted=name == "deleted_at")
        if bool(getattr(now, name)) == bool(value):
            return now
        after = replace(now, version=now.version + 1, **changes)
        store.change_study(after)
        return after

    return retried(change, f"study {study.name} is being changed from several places at once")
