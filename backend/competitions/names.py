"""The names of models within a leaderboard study: each belongs to one submission, whoever's it is.

A submitter's models are called by its own name besides, but researchers, and models that the study was made
with, share one space of names. Without this, a submission could take the model of another for its own.
"""

from collections.abc import Callable, Mapping
from typing import Any

from backend.experiment.records import Study
from backend.foundation.errors import Conflict
from backend.stores.store import Store
from backend.stores.updates import update
from backend.studies.competition_books import names_of


def claim(
    store: Store, study: Study, called: str, model: str, submission: str, is_held: Callable[[str], bool]
) -> None:
    """Give a name to a submission; again, it changes nothing.

    Args:
        called: what the model is to be called within the study.
        model: what its member calls it.
        is_held: whether a submission that has the name, by its id, still needs it.

    Raises:
        Conflict: `model_taken`, a model or another submission has the name.
    """

    def rule(data: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        known = data is not None and data["created_at"] == study.created_at
        if data is not None and known and data["submission"] == submission:
            return None
        in_study = {name.casefold() for name in study.models}
        if called.casefold() in in_study or (data is not None and known and is_held(data["submission"])):
            raise Conflict(
                f"no model can be called {model} in this study; choose another name", code="model_taken"
            )
        return {"created_at": study.created_at, "submission": submission}

    update(store, names_of(study.name), called.casefold(), rule)
