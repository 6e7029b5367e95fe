"""The command that says what a plan of looks decides: `looks`."""

import json
from pathlib import Path

import click

from backend.commands.setup import (
    SIMULATED,
    Number,
    Setup,
    answers_named,
    command,
    elapsed_time,
    named,
    option,
)


@command()
@click.argument("what", metavar="NAME|FILE")
@option("--plan", "Evaluators of each model at each look.", metavar="15,20,25,30", required=True)
@option(
    "--aim",
    "apart, apart=neighbours, apart=MODEL, ranks=R, half-width=H, equal-within=M or futility=D.",
    metavar="AIM",
    default="apart",
)
@option(
    "--spending",
    "How the error is spread over the looks.",
    click.Choice(("obrien-fleming", "obrien-fleming-whole", "pocock")),
    default="obrien-fleming",
)
@option("--level", "Of all looks together.", Number(1e-6, 1 - 1e-6), default=0.95)
@option("--json as_json", "Print JSON, with full precision.", bool)
@SIMULATED
def looks(
    setup: Setup, what: str, plan: str, aim: str, spending: str, level: float, as_json: bool, simulated: bool
) -> None:
    """Say for each planned look of a study, or of its export, whether to stop, go on, or drop a model."""
    from backend.analysis.look_decisions import decisions
    from backend.analysis.planning.looks import LookPlan, aim_of, looks_of
    from backend.report.look_tables import as_table
    from backend.responses.finishing_times import times_of_file, times_of_study

    wanted = LookPlan(looks_of(plan), aim_of(aim), spending, level)
    with elapsed_time("looks"):
        source = named(setup, what)
        is_file = isinstance(source, Path)
        times = (
            times_of_file(source)
            if isinstance(source, Path)
            else times_of_study(setup.store, source, simulated)
        )
        models = () if isinstance(source, Path) else tuple(source.models)
        made = decisions(answers_named(setup, what, is_file, simulated), times, wanted, models)
    click.echo(json.dumps(made, indent=2, allow_nan=False) if as_json else as_table(made))
