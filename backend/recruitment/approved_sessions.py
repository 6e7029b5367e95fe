"""How many finished sessions a recruitment was decided for, once models have joined its study.

A model that joins makes a study want more sessions. Whether more people are paid for is a person's
decision (`openhype recruit NAME --places N --yes`): until then the number of places at the panel grows only
for what was decided before, such as a place that was given back.
"""

from collections.abc import Mapping
from typing import Any

from backend.experiment import sampling
from backend.experiment.records import Study
from backend.recruitment import recruit
from backend.stores.store import Store


def keep(store: Store, study: Study) -> None:
    """Store, before a model joins, how many finished sessions the recruitment is for, unless it is stored."""
    state = recruit.begun(store, study)
    if state is None or study.kind == "qualification" or "approved_sessions" in state:
        return
    lacking = sampling.lacking(study, store.sessions(study.name))
    recruit.update(store, study, approved_sessions=store.finished(study.name)[0] + lacking)


def lacking(store: Store, study: Study, state: Mapping[str, Any], wanted: int) -> int:
    """Return how many of the `wanted` further sessions the recruitment was decided for."""
    approved = state.get("approved_sessions")
    if approved is None:
        return wanted
    return max(min(wanted, approved - store.finished(study.name)[0]), 0)


def more_places(store: Store, study: Study) -> tuple[int, int] | None:
    """Return the number of places at the panel, and how many would suffice for all sessions that are wanted.

    None if nobody was recruited, or if the places suffice.
    """
    state = recruit.begun(store, study)
    if state is None or state.get("approved_sessions") is None:
        return None
    wanted = sampling.lacking(study, store.sessions(study.name))
    missing = wanted - lacking(store, study, state, wanted)
    return (state["places"], state["places"] + missing) if missing else None
