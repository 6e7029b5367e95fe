"""The hash of what a leaderboard study does with every model, so that anyone sees whether it changed.

It is the SHA-256 of a text that is stored with the terms: settings that later versions of this program add
change neither text nor hash. The text itself is the researcher's to publish, since it says how attention is
checked; pictures are in it by their names, which are keyed hashes of what they show.
"""

import json
from collections.abc import Iterable
from hashlib import sha256

from backend import __version__
from backend.experiment.protocol import to_json
from backend.experiment.records import Study
from backend.stores.store import Store

COVERS = (
    "every setting of the study: method, exposures and masks, trials, balance, pay, rules for exclusion, and "
    "the texts that evaluators read",
    "the researcher's own pages and questions",
    "the reals, and the pictures for practice and attention checks, by keyed hashes of their content",
    "the classes, and how many evaluators are wanted of each model",
)
"""What the hash covers, as sentences for visitors."""
_LEFT_OUT = ("panel",)
"""Settings that say where evaluators come from by links and codes, not what they are shown."""


def protocol_text(store: Store, study: Study) -> str:
    """Return what a study does with every model, as canonical JSON."""
    settings = {name: value for name, value in to_json(study.protocol).items() if name not in _LEFT_OUT}
    pool = [stimulus for stimulus in store.stimuli(study.name) if stimulus.model is None or stimulus.role]
    said = {
        "study": study.name,
        "made_at": study.created_at,
        "panel": study.protocol.admission.panel.name,
        "settings": settings,
        "pages": [vars(page) for page in study.pages],
        "questions": [vars(question) for question in study.questions],
        "classes": study.classes,
        "masks": _names(study.masks),
        "reals": _names(f"{each.class_}/{each.name}" for each in pool if not each.role),
        "unscored": _names(f"{each.role}/{each.truth}/{each.name}" for each in pool if each.role),
        "version": __version__,
    }
    return json.dumps(said, sort_keys=True, separators=(",", ":"), default=_plain)


def hash_of(text: str) -> str:
    return sha256(text.encode("utf-8", "backslashreplace")).hexdigest()


def _names(names: Iterable[str]) -> dict[str, int | str]:
    listed = sorted(names)
    return {"count": len(listed), "sha256": sha256("\n".join(listed).encode()).hexdigest()}


def _plain(value: object) -> object:
    return vars(value) if hasattr(value, "__dict__") else str(value)
