"""What a study's reals were as files, and which losses its pictures went through, for models that join later.

The reals' own files are not stored. A sample of their facts (format, quality, size) is, so that a model that
joins is compared with them as the first models were, and goes through the same losses.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from backend.experiment.records import Study
from backend.stores.store import Store, no_study
from backend.stores.updates import update

if TYPE_CHECKING:
    from backend.stimuli.images import SourceFacts

BOOK = "intake"
"""The book of these facts, by study."""


@dataclass(frozen=True)
class IntakeFacts:
    """How the pictures of a study were taken in."""

    preprocess: tuple[str, ...]
    """The losses that all of them were put through, as given (`jpeg:90`)."""
    reals: tuple["SourceFacts", ...]
    """Those of a sample of the reals' files."""


def write(store: Store, study: Study, preprocess: Sequence[str], reals: Sequence["SourceFacts"]) -> None:
    """Store the facts of a study that has just been made."""
    data = {
        "created_at": study.created_at,
        "preprocess": [*preprocess],
        "reals": [asdict(facts) for facts in reals],
    }
    update(store, BOOK, study.name, lambda _: data)


def read(store: Store, study: Study) -> IntakeFacts:
    """Return the facts of a study.

    Raises:
        NotFound: there are none, since the study is being deleted.
    """
    from backend.stimuli.images import SourceFacts

    entry = store.entry(BOOK, study.name)
    if entry is None or entry.data["created_at"] != study.created_at:
        raise no_study(study.name)
    reals = (SourceFacts(**{**row, "treatments": tuple(row["treatments"])}) for row in entry.data["reals"])
    return IntakeFacts(tuple(entry.data["preprocess"]), tuple(reals))


def copy(source: Store, target: Store, study: Study) -> None:
    """Give the target the facts of a study."""
    entry = source.entry(BOOK, study.name)
    if entry is not None and entry.data["created_at"] == study.created_at:
        update(target, BOOK, study.name, lambda _: entry.data)


def erase(store: Store, study: Study) -> None:
    store.erase_entry(BOOK, study.name)
