"""The published shape of a study of clips, simulated through the product from files to responses.

Runway's "Turing Reel" (2026): 1,043 people judged 20 clips of 5 s each; 57.1% of the answers were right, and
99 people (9.5%) had 15 or more of 20 right, where guessing gives 2.07% (binomial). With an SD of 4.2 points
between people the binomial mixture gives 9.4% (computed). The clips are the demo's, since the published ones
come without the answers of single people.
"""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scipy.stats import binom

from backend.administration.create import create
from backend.administration.study_spec import StudySpec
from backend.commands import demo_clips
from backend.commands.simulated_evaluators import simulate
from backend.foundation.timestamps import utc_now
from backend.responses.study_data import study_rows
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store
from backend.stores.store import Store

PEOPLE, CLIPS, MANY = 1043, 20, 15
_PUBLISHED_RIGHT, _PUBLISHED_MANY = 57.1, 9.5
_BETWEEN_PEOPLE = 0.042
_SES = 3
"""Standard errors of the simulated share within which it agrees."""


def run() -> dict[str, dict[str, Any]]:
    """Return the shares of answers that are right, and of people who have many right."""
    guessed = 100 * float(binom.sf(MANY - 1, CLIPS, 0.5))
    with _study() as (store, data):
        _, many_by_chance = _shares(store, data, "chance", 0.5, 0)
        right, many = _shares(store, data, "people", _PUBLISHED_RIGHT / 100, _BETWEEN_PEOPLE)
    return {
        "clips, answers right (%)": _compared(right, _PUBLISHED_RIGHT, PEOPLE * CLIPS),
        f"clips, people with {MANY} or more of {CLIPS} right (%)": _compared(many, _PUBLISHED_MANY, PEOPLE),
        f"clips, guessing people with {MANY} or more right (%)": _compared(many_by_chance, guessed, PEOPLE),
    }


def _compared(simulated: float, expected: float, count: int) -> dict[str, Any]:
    error = 100 * (expected / 100 * (1 - expected / 100) / count) ** 0.5
    near = _SES * error
    return {
        "value": simulated,
        "agrees": abs(simulated - expected) <= near,
        "agrees_if": f"within {near:.2g} of {expected:.3g}",
    }


@contextmanager
def _study() -> Iterator[tuple[Store, DataDir]]:
    """Yield a store with two studies of the demo's clips, for people and for chance."""
    with tempfile.TemporaryDirectory() as folder:
        root, source = Path(folder), Path(demo_clips.__file__).parent
        fakes = root / "fakes"
        fakes.mkdir()
        for path in source.glob("*/*.clip"):
            if path.parent.name != "real":
                shutil.copy(path, fakes / f"{path.parent.name}-{path.name}")
        data = DataDir(root)
        store = open_store("sqlite:///openhype.db", root)
        for name in ("people", "chance"):
            settings = {"images": CLIPS, "spare_images": 0, "evaluators": PEOPLE}
            models = (("generated", fakes),)
            spec = StudySpec(name, "study", "infinity", source / "real", models, settings)
            create(store, data, spec, utc_now())
        yield store, data
        store.close()


def _shares(store: Store, data: DataDir, name: str, accuracy: float, sd: float) -> tuple[float, float]:
    """Return the percentage of answers that are right, and of people who have `MANY` or more right."""
    simulate(store, data, name, {"all": f"{accuracy}"}, evaluators=PEOPLE, sd=sd, picture_sd=0.0)
    right: dict[str, int] = {}
    for row in study_rows(store, store.study(name), simulated=True):
        right[row["evaluator"]] = right.get(row["evaluator"], 0) + (row["response"] == row["truth"])
    assert len(right) == PEOPLE, len(right)
    answers = 100 * sum(right.values()) / (PEOPLE * CLIPS)
    return answers, 100 * sum(count >= MANY for count in right.values()) / PEOPLE


if __name__ == "__main__":
    for what, result in run().items():
        print(what, result)  # noqa: T201
