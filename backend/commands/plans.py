"""The command that plans studies: `plan`."""

import json
from pathlib import Path
from typing import Any

import click

from backend.commands.setup import (
    FEE_TYPE,
    FILE,
    Number,
    Setup,
    answers_of,
    command,
    elapsed_time,
    named,
    option,
)
from backend.experiment.judgments import PLANNED_WITHOUT_PILOT
from backend.experiment.planned_looks import SPENDINGS, looks_of
from backend.foundation.errors import InvalidInput
from backend.foundation.optional_packages import check

_POSITIVE = Number(0, min_open=True)
_SHARE = Number(1e-6, 1 - 1e-6)
_USD = Number(0, 1e6)
_MANY = 1_000_000


@command()
@option("--width", "Of the interval of a score: percentage points, ms, or log-odds.", _POSITIVE)
@option("--assurance", "Chance that it is no wider.", _SHARE, default=0.8)
@option("--difference", "Between two models, to be found significant.", _POSITIVE)
@option("--power", "Chance of finding it so.", _SHARE, default=0.8)
@option("--level", "", _SHARE, default=0.95)
@option("--models", "Models of the study; from 3 on, the test of all pairs.", click.IntRange(1, 10_000), "M")
@option(
    "--method",
    "Of the published SDs, or of those of simulated evaluators (tournament); a pilot has its own.",
    click.Choice(PLANNED_WITHOUT_PILOT),
)
@option("--pilot", "Take the SDs from it instead of the published ones.", metavar="STUDY|FILE")
@option("--images", "Images an evaluator; default, as before.", click.IntRange(2, _MANY), "K")
@option(
    "--most-images", "That an evaluator may be asked to judge.", click.IntRange(2, _MANY), "K", default=200
)
@option(
    "--pictures",
    "Of each model and of reals, to sample from; default, the papers' 5,000, or the pilot's.",
    click.IntRange(2, _MANY),
    "N",
)
@option(
    "--models-per-session",
    "Models that a session shows; default 1, or the pilot's. Tournaments, 2AFC and JND show all.",
    click.IntRange(1, 10_000),
    "M",
)
@option("--ties", "Tournament without a pilot: a pair may be called equal.", bool)
@option("--real-contestant", "The same: the reals are a contestant.", bool)
@option("--base-usd", "For taking part; default 1.00.", _USD)
@option("--hourly-usd", "For the time that images take; default 12.00.", _USD)
@option("--bonus-usd", "For each right answer; default 0.02.", _USD)
@option("--fee", "What the panel takes on top of pay, such as 42.8; default 0.", FEE_TYPE, "PERCENT")
@option("--image-seconds", "That an image takes; default 6, HYPE-time 8.", _POSITIVE)
@option("--base-seconds", "Consent and instructions; default 60.", Number(0))
@option("--at-once", "Evaluators at a time; default 10.", click.IntRange(1, _MANY))
@option("--looks", "Evaluators of each model at each look: compare with a fixed plan.", metavar="15,20,25,30")
@option(
    "--aim",
    "With --looks: apart (default; apart=neighbours), ranks=R, half-width=H, equal-within=M, futility=D.",
    metavar="AIM",
)
@option("--spending", "With --looks: how the error is spread over them.", click.Choice(SPENDINGS))
@option("-o --out", "A picture: .svg, .png or .pdf.", FILE)
@option("--json as_json", "Print JSON, with full precision.", bool)
def plan(
    setup: Setup, pilot: str | None, out: Path | None, as_json: bool, method: str | None, **options: Any
) -> None:
    """Plan a study: evaluators, cost and time for a wanted interval, and the cheapest number of images."""
    from backend.report.notebook import plan as make
    from backend.report.plan_tables import as_table

    if pilot is not None and method is not None:
        raise click.UsageError("--method goes with the published SDs; a pilot has its own method")
    for name in ("base", "hourly", "bonus"):
        usd = options.pop(f"{name}_usd")
        options["right_usd_cents" if name == "bonus" else f"{name}_usd_cents"] = (
            None if usd is None else 100 * usd
        )
    if options["looks"] is not None:
        options["looks"] = looks_of(options["looks"])
    if options["fee"] is not None:
        options["fee"] = float(options["fee"])
    with elapsed_time("plan"):
        made = make(
            None if pilot is None else answers_of(setup, named(setup, pilot), details=False),
            method,
            **{name: value for name, value in options.items() if value is not None},
        )
    if out is not None:
        _draw(made, out)
    click.echo(json.dumps(made, indent=2, allow_nan=False) if as_json else as_table(made))


def _draw(made: dict[str, Any], out: Path) -> None:
    if out.suffix not in (".svg", ".png", ".pdf"):
        raise InvalidInput(f"a picture's name must end in .svg, .png or .pdf, not {out.name!r}")
    check("a picture of a plan", "matplotlib")
    from backend.report.figures.plan import draw_plan

    draw_plan(made).savefig(out)
