"""Votes of a study, of a responses file, or of a tree in the layout of BAPPS, and metrics against them.

And metrics against opinion scores of others.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from backend.analysis.agreement.votes import JND, KINDS, TWO_AFC, Votes, votes_of
from backend.experiment.records import Study
from backend.foundation.errors import InvalidInput
from backend.responses.readers import file_to_score
from backend.responses.reading.bapps import is_bapps, read_bapps
from backend.responses.reading.distances import kind_of_distances, listed, read_distances
from backend.responses.reading.opinion_scores import read_opinion_scores
from backend.responses.reading.votes_file import read_votes
from backend.responses.study_data import scored_rows
from backend.stores.store import Store

MOST_POINTS = 1000
"""Stimuli that a figure of opinion scores shows."""


@dataclass(frozen=True)
class Agreement:
    """Scores of metrics against people, and remarks on the files that they come from."""

    data: Mapping[str, Any]
    """The plain data of `analysis.agreement.agreement`."""
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class OpinionAgreement(Agreement):
    """Rank correlations of metrics with opinion scores, and what a figure shows of them."""

    points: Mapping[str, Any]
    """`scores` of the stimuli shown, and `values`: those of each metric by name, in the same order."""


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
    arrays: Mapping[str, np.ndarray] | None = None,
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

    of_files, remarks = _read(files, votes.kind, votes.items, "items with votes", "vote")
    data = agreement(votes, {**(arrays or {}), **of_files}, level)
    return Agreement({**data, "described": dict(described)} if described else data, remarks)


def opinions_agreement(path: Path, files: Mapping[str, Path], level: float = 0.95) -> OpinionAgreement:
    """Return the rank correlations of metrics, whose values are in files, with opinion scores in a file.

    Of many stimuli, the points are of `MOST_POINTS`, spread evenly over the order of their scores.

    Args:
        files: CSV with the columns `item` and `d` by name of the metric.

    Raises:
        NotFound, InvalidInput: as in `reading.opinion_scores` and `reading.distances`.
    """
    from backend.analysis.agreement.opinion_scores import opinion_agreement

    opinions = read_opinion_scores(path)
    metrics, remarks = _read(files, JND, opinions.stimuli, "stimuli with opinion scores", "opinion score")
    order = np.argsort(opinions.scores, kind="stable")
    shown = order[np.unique(np.linspace(0, len(order) - 1, MOST_POINTS).round().astype(int))]
    points = {
        "scores": opinions.scores[shown].tolist(),
        "values": {name: values[shown].tolist() for name, values in metrics.items()},
    }
    return OpinionAgreement(opinion_agreement(opinions, metrics, level), remarks, points)


def across_studies(
    names: Sequence[str],
    votes: Sequence[Votes],
    score: Callable[[int, Votes], Agreement],
    level: float = 0.95,
) -> Agreement:
    """Return how metrics' scores by a 2AFC and by a JND study correlate, on the sets that both have.

    Its data are those of `across_judgments.across_judgments`, with `studies` and `simulated` as
    `report.across_judgments.report` takes them.

    Args:
        score: returns the scores of the metrics against votes of the first study (0) or the second (1).
    """
    from backend.analysis.agreement.across_judgments import across_judgments

    both, remarks = in_common(names, votes)
    scores = [score(i, one) for i, one in enumerate(both)]
    data = across_judgments({one.kind: made.data for one, made in zip(both, scores, strict=True)}, level)
    data["studies"] = [
        {"name": name, "kind": one.kind, "items": len(one.items), "evaluators": one.evaluators}
        for name, one in zip(names, both, strict=True)
    ]
    data["simulated"] = both[0].is_simulated
    return Agreement(data, (*remarks, *(remark for made in scores for remark in made.remarks)))


def check_judgments(names: Sequence[str], kinds: Sequence[str]) -> None:
    """Raise InvalidInput unless two studies are different ones, of 2AFC and of JND."""
    if names[0] == names[1]:
        raise InvalidInput(f"{names[0]} is named twice; the correlation is over one 2AFC and one JND study")
    if kinds[0] == kinds[1]:
        raise InvalidInput(
            f"{names[0]} and {names[1]} are both {kinds[0].upper()}; the correlation is over one 2AFC "
            "and one JND study (`openhype replicate` tests runs of one study against each other)"
        )


def check_both(names: Sequence[str], votes: Sequence[Votes]) -> None:
    """Raise InvalidInput unless two studies are different ones, of 2AFC and of JND, both simulated or not."""
    check_judgments(names, [one.kind for one in votes])
    if votes[0].is_simulated != votes[1].is_simulated:
        one, other = names if votes[0].is_simulated else names[::-1]
        raise InvalidInput(f"the sessions of {one} are simulated and those of {other} are not; use one kind")


def files_by_kind(
    files: Sequence[tuple[str, Path]], names: Sequence[str], votes: Sequence[Votes], computed: Sequence[str]
) -> dict[str, dict[str, Path]]:
    """Return the files of metrics by kind of votes and name: for each metric one for either study.

    Args:
        names: of the studies, in the order of `votes`.
        computed: names of metrics that are computed, which no file may have.

    Raises:
        InvalidInput: a metric is missing in a study, or is there twice, or there is no metric.
        NotFound: there is no such file.
    """
    by_kind: dict[str, dict[str, Path]] = {one.kind: {} for one in votes}
    for name, path in files:
        kind = kind_of_distances(path)
        if name in by_kind[kind] or name in computed:
            raise InvalidInput(
                f"the metric {name} is named twice for {kind.upper()}; each needs its own name"
            )
        by_kind[kind][name] = path
    for name, _ in files:
        for study, one in zip(names, votes, strict=True):
            if name not in by_kind[one.kind]:
                columns = "item, d0, d1" if one.kind == TWO_AFC else "item, d"
                raise InvalidInput(
                    f"the metric {name} has no distances for {study}; name a CSV with {columns} as well "
                    f"(--metric {name}=CSV), or leave the metric out"
                )
    if not (files or computed):
        raise InvalidInput("name metrics by --distance, or --metric with a file for each of the studies")
    return by_kind


def in_common(names: Sequence[str], votes: Sequence[Votes]) -> tuple[list[Votes], list[str]]:
    """Return the votes on the sets that both studies have, and remarks on others; all if there are none."""
    common = {*votes[0].sets} & {*votes[1].sets}
    if not common:
        sets = "; ".join(f"{name}: {', '.join(one.sets)}" for name, one in zip(names, votes, strict=True))
        return [*votes], [f"the studies have no set in common, so that each has all of its own ({sets})"]
    kept, remarks = [], []
    for name, one in zip(names, votes, strict=True):
        places = [place for place, each in enumerate(one.sets) if each in common]
        kept.append(one.of_items(np.flatnonzero(np.isin(one.set_of, places))))
        if others := [each for each in one.sets if each not in common]:
            remarks.append(f"{name}: {listed(others)}, which the other study does not have, is left out")
    return kept, remarks


def _read(
    files: Mapping[str, Path], kind: str, items: Sequence[str], judged: str, lacking: str
) -> tuple[dict[str, np.ndarray], tuple[str, ...]]:
    """Return the distances in files by name, and remarks on items that are left out."""
    metrics, remarks = {}, []
    for name, path in files.items():
        distances = read_distances(path, kind, items, judged)
        metrics[name] = distances.values
        if distances.extra:
            count = len(distances.extra)
            remarks.append(
                f"{path}: {count:,} {'item has' if count == 1 else 'items have'} no {lacking} and "
                f"{'is' if count == 1 else 'are'} left out: {listed(distances.extra)}"
            )
    return metrics, tuple(remarks)
