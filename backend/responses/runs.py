"""Studies as runs of one study: their responses, and in which settings they differ."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from backend.experiment.protocol import to_json
from backend.experiment.records import Study
from backend.foundation.counted_nouns import MOST_NAMED
from backend.stores.store import Store

if TYPE_CHECKING:
    from backend.analysis.replication import Run

_NOT_MEASURED = {"title", "consent_text", "consent_version", "contact", "evaluators", "budget_cents"}
"""Settings in which runs may differ without a note."""


def run_of(store: Store, study: Study, simulated: bool = False) -> "Run":
    """Return the responses of a study as a run, with the names of all its stimuli.

    Raises:
        InvalidInput: no session is finished.
    """
    from backend.analysis.replication import Run
    from backend.responses.study_data import study_answers

    pool = frozenset(stimulus.name for stimulus in store.stimuli(study.name) if not stimulus.role)
    return Run(study.name, study_answers(store, study, simulated), pool)


def differing_settings(studies: Sequence[Study]) -> list[str]:
    """Return a sentence on each study whose settings differ from those of the first."""
    notes = []
    for study in studies[1:]:
        first, own = (to_json(one.protocol) for one in (studies[0], study))
        names = sorted({*first, *own} - _NOT_MEASURED)
        differ = [
            f"{name} ({_text(first.get(name))}, then {_text(own.get(name))})"
            for name in names
            if first.get(name) != own.get(name)
        ]
        if differ:
            more = f" and {len(differ) - MOST_NAMED} others" if len(differ) > MOST_NAMED else ""
            listed = ", ".join(differ[:MOST_NAMED])
            notes.append(
                f"{studies[0].name} and {study.name} differ in settings that may matter: {listed}{more}"
            )
    return notes


def _text(value: object) -> str:
    if isinstance(value, dict):
        return str(value.get("name", "other"))
    return "none" if value in (None, "", ()) else str(value)
