"""Commands that tell what studies found: `score`, `export`, and `settling`."""

import json
from pathlib import Path
from typing import Any

import click

from backend.commands.world import World, is_file, pass_world, store_options


@click.command()
@click.argument("what", metavar="NAME|FILE")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with full precision.")
@click.option("--iterations", type=click.IntRange(1), help="Monte Carlo bootstrap instead of the exact one.")
@click.option("--seed", type=int, help="Seed of the Monte Carlo bootstrap.")
@click.option("--level", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.95)
@click.option("--evaluators-drawn", type=click.IntRange(1), metavar="N", help="Evaluators a resample draws.")
@click.option(
    "--exposures",
    type=click.Choice(["nominal", "shown"]),
    default="nominal",
    help="HYPE-time: as the staircase asked for, or as the display showed them.",
)
@store_options
@pass_world
def score(world: World, what: str, as_json: bool, **options: Any) -> None:
    """Score a study, or a file of responses (CSV or JSON lines) collected anywhere."""
    from backend.responses import score_file
    from backend.results import study_scores
    from backend.tables import as_table

    if is_file(what):
        scores = score_file(Path(what), **options)
    else:
        scores = study_scores(world.store, world.store.study(what), **options)
    click.echo(json.dumps(scores, indent=2, allow_nan=False) if as_json else as_table(scores))


@click.command()
@click.argument("name")
@click.option("-o", "--out", type=click.Path(file_okay=False, path_type=Path), required=True)
@store_options
@pass_world
def export(world: World, name: str, out: Path) -> None:
    """Write the answers of the study NAME as a Psych-DS data set."""
    from backend.export import export as write

    for path in write(world.store, world.store.study(name), out):
        click.echo(str(path))


@click.command()
@click.option("--evaluators", type=click.IntRange(2), default=4000, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--observer", type=click.Choice(["constant", "exponential"]), default="constant")
def settling(evaluators: int, seed: int, observer: str) -> None:
    """Print where each reading of the papers' staircase settles on their six models."""
    import numpy as np

    from backend.settling import as_table, settling_table

    table = settling_table(np.random.default_rng(seed), evaluators=evaluators, observer=observer)
    click.echo(as_table(table))
