"""The command that plans studies: `plan`."""

import json
from pathlib import Path
from typing import Any

import click

from backend.commands.world import FEE_TYPE, Number, World, answers_named, command
from backend.experiment.judgments import PLANNED_WITHOUT_PILOT
from backend.foundation.errors import InvalidInput
from backend.foundation.optional_packages import check

_POSITIVE = Number(0, min_open=True)
_SHARE = Number(1e-6, 1 - 1e-6)
_USD = Number(0, 1e6)
_MANY = 1_000_000


@command()
@click.option(
    "--width", type=_POSITIVE, help="Of the interval of a score: percentage points, ms, or log-odds."
)
@click.option("--assurance", type=_SHARE, default=0.8, show_default=True, help="Chance that it is no wider.")
@click.option("--difference", type=_POSITIVE, help="Between two models, to be found significant.")
@click.option("--power", type=_SHARE, default=0.8, show_default=True, help="Chance of finding it so.")
@click.option("--level", type=_SHARE, default=0.95, show_default=True)
@click.option(
    "--models",
    type=click.IntRange(1, 10_000),
    metavar="M",
    help="Models of the study; from 3 on, the test of all pairs.",
)
@click.option(
    "--method",
    type=click.Choice(PLANNED_WITHOUT_PILOT),
    help="Of the published SDs, or of those of simulated evaluators (tournament); a pilot has its own.",
)
@click.option("--pilot", metavar="STUDY|FILE", help="Take the SDs from it instead of the published ones.")
@click.option(
    "--images", type=click.IntRange(2, _MANY), metavar="K", help="Images an evaluator; default, as before."
)
@click.option(
    "--most-images",
    type=click.IntRange(2, _MANY),
    default=200,
    show_default=True,
    metavar="K",
    help="That an evaluator may be asked to judge.",
)
@click.option(
    "--pictures",
    type=click.IntRange(2, _MANY),
    metavar="N",
    help="Of each model and of reals, to draw from; default, the papers' 5,000, or the pilot's.",
)
@click.option(
    "--models-per-session",
    type=click.IntRange(1, 10_000),
    metavar="M",
    help="Models that a session shows; default 1, or the pilot's. Tournaments, 2AFC and JND show all.",
)
@click.option("--ties", is_flag=True, help="Tournament without a pilot: a pair may be called equal.")
@click.option("--real-contestant", is_flag=True, help="The same: the reals are a contestant.")
@click.option("--base-usd", type=_USD, help="For taking part; default 1.00.")
@click.option("--hourly-usd", type=_USD, help="For the time that images take; default 12.00.")
@click.option("--bonus-usd", type=_USD, help="For each right answer; default 0.02.")
@click.option(
    "--fee",
    type=FEE_TYPE,
    metavar="PERCENT",
    help="What the panel takes on top of pay, such as 42.8; default 0.",
)
@click.option("--image-seconds", type=_POSITIVE, help="That an image takes; default 6, HYPE-time 8.")
@click.option("--base-seconds", type=Number(0), help="Consent and instructions; default 60.")
@click.option("--at-once", type=click.IntRange(1, _MANY), help="Evaluators at a time; default 10.")
@click.option(
    "-o", "--out", type=click.Path(dir_okay=False, path_type=Path), help="A picture: .svg, .png or .pdf."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with full precision.")
def plan(
    world: World, pilot: str | None, out: Path | None, as_json: bool, method: str | None, **options: Any
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
    if options["fee"] is not None:
        options["fee"] = float(options["fee"])
    made = make(
        None if pilot is None else answers_named(world, pilot, details=False),
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
