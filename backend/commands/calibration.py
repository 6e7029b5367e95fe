"""The command that fits LPIPS on people's votes: `calibrate`."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from backend.commands.setup import (
    FILE,
    FOLDER,
    LEVEL,
    SEED,
    SIMULATED,
    Number,
    Setup,
    command,
    elapsed_time,
    named,
    option,
    progress_bar,
    screen_width,
)

_DATA = "calibration.json"


@command()
@click.argument("what", metavar="NAME|DIR")
@option("--net", "Network of the trunk.", click.Choice(["alex", "vgg", "squeeze"]), default="alex")
@option("--trunk", "Weights of the trunk: torchvision's, or those of LPIPS.", FILE, "FILE", required=True)
@option(
    "--start",
    "Linear layers to start from. Default: uniform; random, as the paper, with --schedule paper.",
    metavar="FILE|uniform|random",
)
@option(
    "--lpips-version version",
    "How the trunk's input is scaled. Default: that of a published start, else 0.1.",
    click.Choice(["0.1", "0.0"]),
)
@option(
    "--schedule",
    "default: until the validation loss no longer falls. paper: ten epochs at 0.0001.",
    click.Choice(["default", "paper"]),
    default="default",
)
@option("--steps", "Most steps, by default 10,000.", click.IntRange(1, 10_000_000), "N")
@option("--rate", "Learning rate, by default 0.001.", Number(0, 1, min_open=True), "R")
@option(
    "--validation",
    "Of the triplets, to decide when to stop.",
    Number(0, 1, min_open=True, max_open=True),
    "SHARE",
    default=0.2,
)
@option(
    "--held-out",
    "Of the triplets, to test the result.",
    Number(0, 1, min_open=True, max_open=True),
    "SHARE",
    default=0.2,
)
@option("--seed", "Of the split and of the fit.", SEED, default=0)
@option(
    "--votes votes_per_item",
    "Votes behind each share of a BAPPS tree, whose files do not tell.",
    click.IntRange(1, 1_000_000),
    "N",
)
@option(
    "-o --out",
    "Directory for the weights, calibration.json, and a page; made if missing.",
    FOLDER,
    "DIR",
    required=True,
)
@option("--overwrite", "Replace an earlier calibration in DIR.", bool)
@option("--json as_json", "Print JSON, with full precision.", bool)
@LEVEL
@SIMULATED
def calibrate(
    setup: Setup,
    what: str,
    net: str,
    trunk: Path,
    start: str | None,
    version: str | None,
    schedule: str,
    steps: int | None,
    rate: float | None,
    validation: float,
    held_out: float,
    seed: int,
    votes_per_item: int | None,
    out: Path,
    overwrite: bool,
    as_json: bool,
    level: float,
    simulated: bool,
) -> None:
    """Fit the linear layers of LPIPS on the votes of a 2AFC study, its export, or a BAPPS tree."""
    from backend import __version__
    from backend.foundation import optional_packages
    from backend.foundation.atomic_files import write_whole
    from backend.foundation.errors import InvalidInput
    from backend.foundation.timestamps import utc_now
    from backend.metrics.calibration.calibrate import Options, check_votes
    from backend.metrics.calibration.schedule import PAPER
    from backend.metrics.calibration.split import Shares
    from backend.metrics.weights import check_torch
    from backend.report.calibration import report
    from backend.report.text_report import as_text
    from backend.report.write import write
    from backend.responses.agreement import study_votes, votes_at
    from backend.responses.calibration import calibration_of, read_start
    from backend.responses.item_pictures import pictures_at, pictures_of_study

    check_torch("a calibration")
    optional_packages.check("a calibration", "matplotlib")
    if schedule == PAPER and (steps or rate):
        raise InvalidInput("--schedule paper has its own steps and rate; leave --steps and --rate out")
    options = Options(Shares(validation, held_out), schedule, steps, rate, seed, level)
    paths = [out / f"{net}.pth", out / _DATA]
    if not overwrite and (there := [path for path in paths if path.exists()]):
        raise InvalidInput(f"{there[0]} exists; name another directory, or replace it with --overwrite")
    weights = read_start(net, trunk, start, version or "", options)
    voted = named(setup, what)
    if isinstance(voted, Path):
        votes = votes_at(voted, simulated, votes_per_item)
        check_votes(votes)
        pictures = pictures_at(voted)
    elif votes_per_item is not None:
        raise InvalidInput("--votes is for shares in the layout of BAPPS; a study has its single votes")
    else:
        with elapsed_time("votes"):
            votes = study_votes(setup.store, voted, simulated)
        check_votes(votes)
        pictures = pictures_of_study(setup.data, voted, setup.store.stimuli(voted.name))
    source = Path(what).name or what
    made, content = calibration_of(votes, pictures, weights, options, progress_bar)
    data = {"source": source, "file": paths[0].name, **made.data}
    write_whole(dict(zip(paths, (content, _json(data).encode()), strict=True)))
    page = report(data, f"{utc_now():%Y-%m-%d}", __version__)
    click.echo(_json(data) if as_json else as_text(page, screen_width()), nl=not as_json)
    click.echo(str(paths[0]), err=True)
    click.echo(str(write(page, out, progress=progress_bar)[-1]), err=True)


def _json(data: Mapping[str, Any]) -> str:
    return json.dumps(data, indent=2, allow_nan=False) + "\n"
