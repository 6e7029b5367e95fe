"""Closing a model of a running study: its sessions go on, and no further ones are opened for it."""

from dataclasses import replace

from backend.experiment.records import Study
from backend.foundation.errors import Conflict
from backend.stores.store import Store
from backend.stores.updates import retried


def close_model(store: Store, study: Study, model: str) -> Study:
    """Open no further sessions for a model; return the study as stored.

    Raises:
        Conflict: sessions show several models, so that others would lose theirs.
    """
    if any(len(group) > 1 for group in study.model_groups if model in group):
        raise Conflict(
            f"sessions of study {study.name} show several models, and {model} is judged in them beside "
            "others; it can be withdrawn only before it has joined",
            code="already_judged",
        )

    def change() -> Study:
        now = store.study(study.name)
        if model in now.closed:
            return now
        after = replace(now, closed=(*now.closed, model), version=now.version + 1)
        store.change_study(after)
        return after

    return retried(change, f"study {study.name} is being changed from several programs at once")
