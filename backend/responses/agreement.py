"""Votes of a study, of a responses file, or of a tree in the layout of BAPPS, and metrics against them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backend.analysis.agreement.votes import KINDS, Votes, votes_of
from backend.experiment.records import Study
from backend.foundation.errors import InvalidInput
from backend.responses.readers import file_to_score
from backend.responses.reading.bapps import is_bapps, read_bapps
from backend.responses.reading.distances import listed, read_distances
from backend.responses.reading.votes_file import read_votes
from backend.responses.study_data import scored_rows
from backend.stores.store import Store

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Agreement:
    """Scores of metrics against people, and remarks on the files that they come from."""

    data: Mapping[str, Any]
    """The plain data of `analysis.agreement.agreement`."""
    remarks: tuple[str, ...]


def study_votes(store: Store, study: Study, simulated: bool = False) -> Votes:
    """Return the votes of a study's finished sessions.

    Raises:
        InvalidInput: the study asks for neither kind of votes, or no session is finished.
    """
    method = study.protocol.method
    if method not in KINDS:
        raise InvalidInput(
            f"study {study.name} is of the method {method}; metrics are scored against votes of the methods "
            f"{' and '.join(KINDS)}"
        )
    return votes_of(scored_rows(store, study, simulated), method, simulated)


def votes_at(path: Path, simulated: bool = False, votes_per_item: int | None = None) -> Votes:
    """Return the votes of a responses file, of an exported data set, or of a tree in the layout of BAPPS.

    Raises:
        NotFound: there is no such file, or none in the folder.
        InvalidInput: a file is invalid, or `votes_per_item` is given for data that have single votes.
    """
    path = Path(path)
    is_export = path.is_dir() and (path / "data").is_dir()
    if path.is_dir() and not is_export and is_bapps(path):
        return read_bapps(path, votes_per_item)
    if votes_per_item is not None:
        raise InvalidInput("--votes is for shares in the layout of BAPPS; responses have their single votes")
    return read_votes(file_to_score(path), simulated)


def agreement_of(
    votes: Votes,
    files: Mapping[str, Path],
    level: float = 0.95,
    arrays: Mapping[str, "np.ndarray"] | None = None,
    described: Mapping[str, str] | None = None,
) -> Agreement:
    """Return the scores of metrics whose distances are in files, and of those given as arrays.

    Args:
        files: CSV by name of the metric (`reading.distances`).
        arrays: distances by name, in the order of `votes.items` (`analysis.agreement.agreement`).
        described: what these distances are, by name, for the notes of the result.

    Raises:
        NotFound, InvalidInput: as in `reading.distances.read_distances`.
    """
    from backend.analysis.agreement.item_agreement import agreement

    metrics, remarks = dict(arrays or {}), []
    for name, path in files.items():
        distances = read_distances(path, votes.kind, votes.items)
        metrics[name] = distances.values
        if distances.extra:
            count = len(distances.extra)
            remarks.append(
                f"{path}: {count:,} {'item has' if count == 1 else 'items have'} no vote and "
                f"{'is' if count == 1 else 'are'} left out: {listed(distances.extra)}"
            )
    data = agreement(votes, metrics, level)
    return Agreement({**data, "described": dict(described)} if described else data, tuple(remarks))
