"""When evaluators finished: the time at which the last of their answers was stored.

It is the same from a study and from its export, whatever the order of their rows.
"""

from collections.abc import Iterable
from pathlib import Path

from backend.experiment.records import Study
from backend.foundation.errors import InvalidInput
from backend.foundation.names import clean
from backend.responses.readers import file_to_score
from backend.responses.reading.chunks import chunks_of
from backend.responses.study_data import scored_rows
from backend.stores.store import Store


def times_of_study(store: Store, study: Study, simulated: bool = False) -> dict[str, str]:
    """Return when each evaluator of a study finished (UTC, ISO 8601).

    Raises:
        InvalidInput: no session is finished yet.
    """
    return _latest((row["evaluator"], row["at"]) for row in scored_rows(store, study, simulated))


def times_of_file(path: Path) -> dict[str, str]:
    """Return when each evaluator of a responses file, or of an exported data set, finished.

    Raises:
        NotFound: the file does not exist.
        InvalidInput: it has no column `at`, or an empty cell in it.
    """
    file = file_to_score(path)
    pairs: list[tuple[str, str]] = []
    for chunk in chunks_of(file):
        if "at" not in chunk.columns:
            raise InvalidInput(f"{file} has no column `at`, which says in which order evaluators finished")
        if not all(chunk.columns["at"]):
            chunk.refuse("at", "a time (UTC, ISO 8601)", lambda cell: not cell)
        pairs += zip(map(clean, chunk.columns["evaluator"]), chunk.columns["at"], strict=True)
    return _latest(pairs)


def _latest(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    latest: dict[str, str] = {}
    for evaluator, at in pairs:
        latest[evaluator] = max(latest.get(evaluator, ""), at)
    return latest
