"""Studies as runs of one study: in which settings they differ."""

from collections.abc import Sequence

from backend.experiment.protocol import to_json
from backend.experiment.records import Study
from backend.foundation.counted_nouns import MOST_NAMED

_NOT_MEASURED = {"title", "consent_text", "consent_version", "contact", "evaluators", "budget_cents"}
"""Settings in which runs may differ without a note."""


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
            told = ", ".join(differ[:MOST_NAMED])
            notes.append(
                f"{studies[0].name} and {study.name} differ in settings that may matter: {told}{more}"
            )
    return notes


def _text(value: object) -> str:
    if isinstance(value, dict):
        return str(value.get("name", "other"))
    return "none" if value in (None, "", ()) else str(value)
