"""Command that scores metrics against people: `agree`."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from backend.commands.picture_distances import distance_options
from backend.commands.setup import (
    FOLDER,
    LEVEL,
    SIMULATED,
    Setup,
    command,
    elapsed_time,
    named,
    option,
    progress_bar,
    screen_width,
)

if TYPE_CHECKING:
    import numpy as np

    from backend.analysis.agreement.votes import Votes
    from backend.experiment.records import Study
    from backend.metrics.pairs.distances import Distance
    from backend.report.elements import Report
    from backend.responses.agreement import Agreement
    from backend.responses.item_pictures import ItemPictures


@dataclass(frozen=True)
class _Metrics:
    """The metrics that were asked for."""

    files: Sequence[tuple[str, Path]]
    distances: "Sequence[Distance]"
    level: float

    @property
    def described(self) -> dict[str, str]:
        return {each.name: each.description for each in self.distances}


@command()
@click.argument("what", metavar="NAME|FILE|DIR [NAME|FILE|DIR]", nargs=-1, required=True)
@option(
    "--metric metrics",
    "A metric's distances: item, d0, d1 for 2AFC; item, d for JND and opinion scores. Repeatable; of two "
    "studies, a file for each.",
    metavar="NAME=CSV",
    example="lpips=distances.csv",
)
@distance_options
@option("--json as_json", "Print JSON, with full precision.", bool)
@option("-o --out", "Also write a page with figure and tables into this directory.", FOLDER, "DIR")
@option(
    "--votes votes_per_item",
    "Votes behind each share of a BAPPS tree, whose files do not tell.",
    click.IntRange(1, 1_000_000),
    "N",
)
@LEVEL
@SIMULATED
def agree(
    setup: Setup,
    what: tuple[str, ...],
    metrics: tuple[tuple[str, str], ...],
    distances: tuple[str, ...],
    weights: tuple[Path, ...],
    version: str | None,
    as_json: bool,
    out: Path | None,
    votes_per_item: int | None,
    level: float,
    simulated: bool,
) -> None:
    """Score metrics against people's votes: a 2AFC or JND study, its export, or a BAPPS tree.

    Of two, one of 2AFC and one of JND, print how the scores of metrics correlate. Of mean opinion scores
    (CSV with stimulus and score, or lines like TID2013's), print rank correlations.
    """
    from backend.foundation.errors import InvalidInput
    from backend.metrics.pairs.distances import distances_named
    from backend.report.text_report import as_sections
    from backend.report.write import write
    from backend.responses.reading.opinion_scores import are_opinion_scores

    if len(what) > 2:
        raise click.UsageError("expected one study, file or folder, or two")
    names = [*dict.fromkeys(distances), *(name for name, _ in metrics)]
    if len(what) == 1 and (twice := sorted({name for name in names if names.count(name) > 1})):
        raise InvalidInput(f"the metric {twice[0]} is named twice; each --metric needs a name of its own")
    if not distances and (weights or version):
        raise InvalidInput("--weights and --lpips-version are for --distance, which is not given")
    chosen = distances_named(distances, weights, version or "") if distances else []
    wanted = _Metrics([(name, Path(path)) for name, path in metrics], chosen, level)
    source = [named(setup, one) for one in what]
    if len(source) == 1 and isinstance(source[0], Path) and are_opinion_scores(source[0]):
        if chosen or votes_per_item or simulated:
            raise InvalidInput(
                "opinion scores take metrics as --metric NAME=CSV; --distance, --votes and --simulated are "
                "for votes (openhype distances compares the pictures of two folders)"
            )
        page, remarks = _of_opinions(source[0], what[0], wanted)
    elif len(source) == 1:
        page, remarks = _of_one(setup, source[0], what[0], wanted, votes_per_item, simulated)
    elif votes_per_item is not None:
        raise InvalidInput("--votes is for the ceiling of one BAPPS tree, which two do not show")
    else:
        page, remarks = _of_two(setup, source, what, wanted, simulated)
    for remark in remarks:
        click.echo(f"note: {remark}", err=True)
    if as_json:
        click.echo(json.dumps(next(iter(page.data.values())), indent=2, allow_nan=False))
    else:
        click.echo(as_sections(page, screen_width()))
    if out is not None:
        click.echo(str(write(page, out, progress=progress_bar)[-1]), err=True)


def _of_one(
    setup: Setup,
    source: "Study | Path",
    what: str,
    wanted: _Metrics,
    votes_per_item: int | None,
    simulated: bool,
) -> "tuple[Report, Sequence[str]]":
    from backend import __version__
    from backend.foundation.timestamps import utc_now
    from backend.report.agreement import report

    votes = _votes(setup, source, simulated, votes_per_item)
    made = _agreement(setup, source, votes, wanted, dict(wanted.files))
    date = f"{utc_now():%Y-%m-%d}"
    return report(made.data, Path(what).name or what, date, __version__, votes.is_simulated), made.remarks


def _of_two(
    setup: Setup, sources: "Sequence[Study | Path]", what: Sequence[str], wanted: _Metrics, simulated: bool
) -> "tuple[Report, Sequence[str]]":
    """Return the report on metrics by the votes of a 2AFC and of a JND study, and remarks."""
    from backend import __version__
    from backend.foundation.timestamps import utc_now
    from backend.report.across_judgments import report
    from backend.responses.agreement import across_studies, check_both, files_by_kind

    votes = [_votes(setup, one, simulated) for one in sources]
    check_both(what, votes)
    files = files_by_kind(wanted.files, what, votes, [each.name for each in wanted.distances])

    def score(i: int, one: "Votes") -> "Agreement":
        return _agreement(setup, sources[i], one, wanted, files[one.kind])

    made = across_studies(what, votes, score, wanted.level)
    return report(made.data, f"{utc_now():%Y-%m-%d}", __version__, made.remarks), made.remarks


def _of_opinions(path: Path, what: str, wanted: _Metrics) -> "tuple[Report, Sequence[str]]":
    """Return the report on mean opinion scores of others, and remarks."""
    from backend import __version__
    from backend.foundation.timestamps import utc_now
    from backend.report.opinion_scores import report
    from backend.responses.agreement import opinions_agreement

    made = opinions_agreement(path, dict(wanted.files), wanted.level)
    date = f"{utc_now():%Y-%m-%d}"
    return report(made.data, path.name or what, date, __version__, made.points), made.remarks


def _votes(
    setup: Setup, source: "Study | Path", simulated: bool, votes_per_item: int | None = None
) -> "Votes":
    from backend.foundation.errors import InvalidInput
    from backend.responses.agreement import study_votes, votes_at

    if isinstance(source, Path):
        return votes_at(source, simulated, votes_per_item)
    if votes_per_item is not None:
        raise InvalidInput("--votes is for shares in the layout of BAPPS; a study has its single votes")
    with elapsed_time("votes"):
        return study_votes(setup.store, source, simulated)


def _agreement(
    setup: Setup, source: "Study | Path", votes: "Votes", wanted: _Metrics, files: Mapping[str, Path]
) -> "Agreement":
    from backend.responses.agreement import agreement_of
    from backend.responses.picture_distances import distances_of

    arrays: dict[str, np.ndarray] = {}
    if wanted.distances:
        arrays = distances_of(_pictures(setup, source, votes), wanted.distances, progress_bar)
    with elapsed_time("agreement"):
        return agreement_of(votes, files, wanted.level, arrays, wanted.described)


def _pictures(setup: Setup, source: "Study | Path", votes: "Votes") -> "ItemPictures":
    """Return the pictures of the items with votes, in the order of the votes."""
    from backend.responses.item_pictures import pictures_at, pictures_of_study

    if isinstance(source, Path):
        pictures = pictures_at(source)
    else:
        pictures = pictures_of_study(setup.data, source, setup.store.stimuli(source.name))
    return pictures.of(votes)
