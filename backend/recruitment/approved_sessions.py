"""How many finished sessions a recruitment was decided for, once models have joined its study.

A model that joins makes a study want more sessions. Whether more people are paid for is a person's
decision (`openhype recruit NAME --places N --yes`): until then the number of places at the panel grows only
for what was decided before, such as a place that was given back. With planned looks the decision is for the
models that there were, each until its last look: what a look saves is not spent on others.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from backend.experiment import sampling
from backend.experiment.records import Study
from backend.recruitment import recruit
from backend.stores.store import Store
from backend.studies.places_given_back import rejected


def keep(store: Store, study: Study) -> None:
    """Store, before a model joins, how many finished sessions the recruitment is for, unless it is stored."""
    state = recruit.begun(store, study)
    if state is None or study.kind == "qualification" or is_limited(state):
        return
    if study.protocol.looks.looks:
        recruit.update(store, study, approved_models=len(study.models))
        return
    lacking = sampling.lacking(study, store.sessions(study.name))
    recruit.update(store, study, approved_sessions=store.finished(study.name)[0] + lacking)


def lacking(store: Store, study: Study, state: Mapping[str, Any], wanted: int) -> int:
    """Return how many of the `wanted` further sessions the recruitment was decided for."""
    if not is_limited(state):
        return wanted
    if study.protocol.looks.looks:
        return min(wanted, _until_last_looks(store, study, study.models[: state["approved_models"]]))
    return max(min(wanted, state["approved_sessions"] - store.finished(study.name)[0]), 0)


def is_limited(state: Mapping[str, Any]) -> bool:
    """Return whether it is stored what a recruitment was decided for."""
    return state.get("approved_sessions") is not None or state.get("approved_models") is not None


def _until_last_looks(store: Store, study: Study, models: Sequence[str]) -> int:
    """Return how many more sessions models with planned looks may have, less those of others so far."""
    replaced, most = rejected(store, study), study.protocol.looks.looks[-1]
    ended = dict(zip(study.ended, study.ended_at, strict=True))
    finished = Counter(
        session.condition or ""
        for session, cursor in store.sessions(study.name)
        if cursor.state == "finished"
    )
    own = {model: ended.get(model, most + replaced[model]) - finished[model] for model in models}
    others = sum(count for model, count in finished.items() if model not in own)
    return max(sum(max(count, 0) for count in own.values()) - others, 0)


def more_places(store: Store, study: Study) -> tuple[int, int] | None:
    """Return the number of places at the panel, and how many would suffice for all sessions that are wanted.

    None if nobody was recruited, or if the places suffice.
    """
    state = recruit.begun(store, study)
    if state is None or not is_limited(state):
        return None
    wanted = sampling.lacking(study, store.sessions(study.name))
    missing = wanted - lacking(store, study, state, wanted)
    return (state["places"], state["places"] + missing) if missing else None
