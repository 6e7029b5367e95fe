"""Which pictures of a study need evaluators most: a snapshot in the store, from which sessions are drawn.

It is written by `openhype update-sampling` (`responses/sampling_needs.py`), and read when a session is
opened: one entry, whatever the number of responses. It holds at most `MOST` indices, so that the entry stays
small.
"""

from collections.abc import Mapping, Sequence

from backend.experiment.records import Study
from backend.foundation.frozen import dataclass
from backend.stores.store import Store
from backend.stores.updates import update

BOOK = "sampling_needs"
"""The book of snapshots, by study; those of simulated sessions apart."""
MOST = 30_000
Side = tuple[str | None, str]
"""A model (None: the reals) and a class."""


@dataclass(frozen=True)
class Needs:
    """The pictures of each side that need evaluators most, by their index in the pool."""

    at: str
    """When the responses were read; UTC, ISO 8601."""
    sessions: int
    """Number of finished sessions whose responses were read."""
    sides: Mapping[Side, Sequence[int]]


def read(store: Store, study: Study, simulated: bool) -> Needs | None:
    """Return the latest snapshot; None if there is none of this study."""
    entry = store.entry(BOOK, key_of(study, simulated))
    if entry is None or entry.data["created_at"] != study.created_at:
        return None
    sides = {(model, class_): indices for model, class_, indices in entry.data["sides"]}
    return Needs(entry.data["at"], entry.data["sessions"], sides)


def write(store: Store, study: Study, simulated: bool, needs: Needs) -> None:
    """Store a snapshot in place of the one before."""
    data = {
        "created_at": study.created_at,
        "at": needs.at,
        "sessions": needs.sessions,
        "sides": [[model, class_, [*indices]] for (model, class_), indices in needs.sides.items()],
    }
    update(store, BOOK, key_of(study, simulated), lambda _: data)


def warning(store: Store, study: Study) -> str | None:
    """Return what a researcher should know of the snapshot's age; None if it is of now, or not used."""
    if not study.protocol.stimuli.is_adaptive:
        return None
    needs, finished = read(store, study, simulated=False), store.finished(study.name)[0]
    command = f"`openhype update-sampling {study.name}`"
    if needs is None:
        return (
            f"pictures are sampled at random until {command} has found which need evaluators"
            if finished
            else None
        )
    behind = finished - needs.sessions
    if behind <= 0:
        return None
    return (
        f"pictures are sampled by what they needed {behind} finished sessions ago, at {needs.at[:16]}Z; "
        f"{command} brings this up to date"
    )


def key_of(study: Study, simulated: bool) -> str:
    """Return the key of a study's entry in a book; simulated sessions have one of their own."""
    return f"{study.name} simulated" if simulated else study.name
