"""Command that scores metrics against people: `agree`."""

import json
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
    from backend.analysis.agreement.votes import Votes
    from backend.experiment.records import Study
    from backend.responses.item_pictures import ItemPictures


@command()
@click.argument("what", metavar="NAME|FILE|DIR")
@option(
    "--metric metrics",
    "A metric's distances: item, d0, d1 for 2AFC; item, d for JND. Repeatable.",
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
    what: str,
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
    """Score metrics against people's votes: a 2AFC or JND study, its export, or a BAPPS tree."""
    from backend import __version__
    from backend.foundation.errors import InvalidInput
    from backend.foundation.timestamps import utc_now
    from backend.metrics.pairs.distances import distances_named
    from backend.report.agreement import report
    from backend.report.text_report import as_sections
    from backend.report.write import write
    from backend.responses.agreement import agreement_of, study_votes, votes_at
    from backend.responses.picture_distances import distances_of

    names = [*dict.fromkeys(distances), *(name for name, _ in metrics)]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InvalidInput(f"the metric {twice[0]} is named twice; each --metric needs a name of its own")
    if not distances and (weights or version):
        raise InvalidInput("--weights and --lpips-version are for --distance, which is not given")
    chosen = distances_named(distances, weights, version or "") if distances else []
    found = named(setup, what)
    if isinstance(found, Path):
        votes = votes_at(found, simulated, votes_per_item)
    elif votes_per_item is not None:
        raise InvalidInput("--votes is for shares in the layout of BAPPS; a study has its single votes")
    else:
        with elapsed_time("votes"):
            votes = study_votes(setup.store, found, simulated)
    arrays = distances_of(_pictures(setup, found, votes), chosen, progress_bar) if chosen else {}
    described = {each.name: each.description for each in chosen}
    files = {name: Path(path) for name, path in metrics}
    with elapsed_time("agreement"):
        made = agreement_of(votes, files, level, arrays, described)
    for remark in made.remarks:
        click.echo(f"note: {remark}", err=True)
    source, date = Path(what).name or what, f"{utc_now():%Y-%m-%d}"
    page = report(made.data, source, date, __version__, votes.is_simulated)
    if as_json:
        click.echo(json.dumps(made.data, indent=2, allow_nan=False))
    else:
        click.echo(as_sections(page, screen_width()))
    if out is not None:
        click.echo(str(write(page, out, progress=progress_bar)[-1]), err=True)


def _pictures(setup: Setup, found: "Study | Path", votes: "Votes") -> "ItemPictures":
    """Return the pictures of the items with votes, in the order of the votes."""
    from backend.responses.item_pictures import pictures_at, pictures_of_study

    if isinstance(found, Path):
        pictures = pictures_at(found)
    else:
        pictures = pictures_of_study(setup.data, found, setup.store.stimuli(found.name))
    return pictures.of(votes)
