"""Life cycle of a study: created, begun when an evaluator or a panel is to rely on its settings, deleted.

Each step is one conditional write of the study's record. Settings may change
(`administration/revise.py`) until the study is begun, and never after that, so that no session is run,
paid or scored under other settings than those it was opened under. Simulated sessions do not begin a
study. Deletion is in `administration/delete.py`.
"""

import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from backend.experiment.records import Study
from backend.foundation.errors import Conflict
from backend.stores.store import Stale, Store, study_if_any
from backend.stores.updates import retried, update

DELETED = "deleted"
"""The book of deleted studies, by their names."""
ATTEMPTS = "attempts"
"""The book of the last attempts to make or extend studies, by names: who left pictures if it was killed."""


def recruitment_book(study: str) -> str:
    """Return the name of the book of a study's recruitments, one entry per panel."""
    return f"recruitment {study}"


def new_settings_id() -> str:
    """Return a new unique id for a version of a study's settings."""
    return secrets.token_hex(8)


def new_attempt(store: Store, name: str) -> str:
    """Return the id of a new attempt to make or extend a study, by which its store will know it."""
    attempt = secrets.token_hex(16)
    update(store, ATTEMPTS, name, lambda _: {"id": attempt})
    return attempt


def was_attempted(store: Store, name: str, attempt: str | None) -> bool:
    """Return whether `attempt` is the last one in this store, and not one of a store beside it."""
    last = store.entry(ATTEMPTS, name)
    return last is not None and last.data["id"] == attempt


def check_name(store: Store, name: str) -> None:
    """Raise Conflict if a study cannot be called `name`, because another one is or was."""
    existing = study_if_any(store, name, even_deleted=True)
    if existing is None:
        if was_deleted(store, name):
            raise Conflict(
                f"a study {name} was deleted after evaluators had begun it, and its name is in the "
                "ledgers; choose another name"
            )
        return
    if existing.deleted_at:
        raise Conflict(
            f"a study {name} is being deleted; finish that with `openhype delete {name}`, or choose another "
            "name"
        )
    raise Conflict(f"a study {name} exists already; choose another name")


def was_deleted(store: Store, name: str) -> bool:
    """Return whether a study of this name had begun, and is deleted or certain to be."""
    entry = store.entry(DELETED, name)
    return entry is not None and entry.data["was_begun"]


def is_decided(store: Store, study: Study) -> bool:
    """Return whether the deletion of a study can no longer be undone: parts of it may be gone."""
    entry = store.entry(DELETED, study.name)
    return entry is not None and _named(study).items() <= entry.data.items()


def decide(store: Store, study: Study, at: str) -> None:
    """Record that a study will be deleted, and whether it was begun, before any of it is deleted.

    The name of a study that no real evaluator began can be reused: the next deletion of that name
    overwrites this entry.
    """
    data = {**_named(study), "was_begun": bool(study.begun_at), "at": at}
    entry = store.entry(DELETED, study.name)
    with suppress(Stale):  # another process that deletes it wrote the same
        store.write_entry(DELETED, study.name, entry.version if entry else 0, data)


def begin(store: Store, study: Study, at: str) -> Study:
    """Mark a study as begun and return its current record, whose settings may just have changed.

    Its plan of looks is fixed with its settings; the record has the plan's hash from then on.

    Args:
        at: UTC, ISO 8601.

    Raises:
        NotFound: the study is being deleted.
    """
    if study.begun_at:
        return study
    return _changed(store, study, "begun_at", at, lambda now: {"looks_digest": _digest(now)})


def _digest(study: Study) -> str:
    plan = study.protocol.looks.plan
    return plan.digest if plan else ""


def begin_deletion(store: Store, study: Study, at: str) -> Study:
    """Hide a study from all readers and return it; also if its deletion had begun already."""
    return study if study.deleted_at else _changed(store, study, "deleted_at", at)


def end_deletion(store: Store, study: Study) -> Study:
    """Make a study visible again whose deletion was refused."""
    return _changed(store, study, "deleted_at", "")


def _named(study: Study) -> dict[str, str]:
    """Return what distinguishes a study from an earlier one of the same name."""
    return {"created_at": study.created_at, "settings_id": study.settings_id}


def _changed(
    store: Store,
    study: Study,
    name: str,
    value: str,
    others: Callable[[Study], Mapping[str, Any]] = lambda now: {},
) -> Study:
    """Change a field that depends on nothing else in the record, and `others` that follow from it."""

    def change() -> Study:
        now = store.study(study.name, even_deleted=name == "deleted_at")
        if bool(getattr(now, name)) == bool(value):
            return now
        changes: dict[str, Any] = {name: value, **others(now)}
        after = replace(now, version=now.version + 1, **changes)
        store.change_study(after)
        return after

    return retried(change, f"study {study.name} is being changed from several programs at once")
