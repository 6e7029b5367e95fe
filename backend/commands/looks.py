"""The commands of planned looks: `looks` decides them, `preregister` writes down a plan beforehand."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from backend.commands.setup import (
    SIMULATED,
    Number,
    Setup,
    answers_of,
    command,
    elapsed_time,
    named,
    option,
)
from backend.experiment.planned_looks import OBRIEN_FLEMING, SPENDINGS, aim_of, looks_of
from backend.foundation.errors import Conflict, InvalidInput

if TYPE_CHECKING:
    from backend.analysis.planning.looks import LookPlan


@command()
@click.argument("what", metavar="NAME|FILE")
@option(
    "--plan", "Evaluators of each model at each look; default: the plan of the study.", metavar="15,20,25,30"
)
@option(
    "--aim",
    "With --plan: apart[=neighbours or =MODEL], ranks=R, half-width=H, equal-within=M or futility=D.",
    metavar="AIM",
    default="apart",
)
@option(
    "--spending",
    "With --plan: how the error is spread over the looks.",
    click.Choice(SPENDINGS),
    default=OBRIEN_FLEMING,
)
@option("--level", "With --plan: of all looks together.", Number(1e-6, 1 - 1e-6), default=0.95)
@option("--close", "Nobody else comes: decide on the evaluators so far, and end the study.", bool)
@option("--replay", "Decide the recorded looks of an export again, and say whether they are the same.", bool)
@option("--json as_json", "Print JSON, with full precision.", bool)
@SIMULATED
def looks(
    setup: Setup,
    what: str,
    plan: str | None,
    aim: str,
    spending: str,
    level: float,
    close: bool,
    replay: bool,
    as_json: bool,
    simulated: bool,
) -> None:
    """Decide the planned looks of a study that are reached: stop, go on, or drop a model.

    A study with a plan of its own records each decision once. Of an export, or by another --plan, decisions
    are only shown.
    """
    from backend.analysis.planning.looks import LookPlan
    from backend.report.look_tables import as_replay, as_table

    if close and (plan or replay or simulated):
        raise click.UsageError("--close ends a running study by its own plan; leave the other options out")
    wanted = LookPlan(looks_of(plan), aim_of(aim), spending, level) if plan else None
    with elapsed_time("looks"):
        if replay:
            rows = _replayed(setup, what)
            click.echo(json.dumps(rows, indent=2) if as_json else as_replay(rows))
            if any(row["outcome"] != "same" for row in rows):
                raise Conflict("not every look is the same from this data")
            return
        made = _made(setup, what, wanted, simulated, close)
    click.echo(json.dumps(made, indent=2, allow_nan=False) if as_json else as_table(made))


def _made(
    setup: Setup, what: str, wanted: "LookPlan | None", simulated: bool, is_closed: bool
) -> dict[str, Any]:
    """Return the decisions of a study, or of a file."""
    from backend.analysis.look_decisions import decisions
    from backend.foundation.timestamps import stamp, utc_now
    from backend.responses.finishing_times import times_of_file, times_of_study
    from backend.responses.readers import file_to_score, study_beside
    from backend.responses.study_looks import decide, plan_exported, plan_of

    source = named(setup, what)
    if isinstance(source, Path):
        if is_closed:
            raise InvalidInput(f"{what} is a file; name a running study to close")
        stated = study_beside(file_to_score(source)).get("looks", {})
        if wanted is None and not stated:
            raise InvalidInput(f"{what} has no plan of looks; say one (--plan 15,20,25,30)")
        answers = answers_of(setup, source, True, simulated)
        return decisions(answers, times_of_file(source), wanted or plan_exported(stated))
    if source.protocol.looks.looks and wanted is not None and not simulated:
        raise InvalidInput(
            f"study {source.name} has a plan of looks, and another one would be a look that was not planned; "
            "leave out --plan, or try it on simulated sessions (--simulated)"
        )
    if wanted is None and not simulated:
        made = decide(setup.store, source, stamp(utc_now()), is_closed)
        if made is None:
            raise InvalidInput(f"no look of {source.name} is reached: nobody has finished")
        return made
    answers = answers_of(setup, source, False, simulated)
    times = times_of_study(setup.store, source, simulated)
    return decisions(answers, times, wanted or plan_of(source), source.models)


def _replayed(setup: Setup, what: str) -> list[dict[str, Any]]:
    from backend.responses.finishing_times import times_of_file
    from backend.responses.readers import file_to_score, study_beside
    from backend.responses.study_looks import replayed

    source = named(setup, what)
    stated = study_beside(file_to_score(source)).get("looks") if isinstance(source, Path) else None
    if not isinstance(source, Path) or not stated:
        raise InvalidInput(f"{what} is not an export of a study with a plan of looks; name its folder")
    return replayed(answers_of(setup, source, True), times_of_file(source), stated)


@command()
@click.argument("name")
def preregister(setup: Setup, name: str) -> None:
    """Print a text in which the study NAME is registered: design, exclusion, sample size, analysis."""
    from backend import __version__
    from backend.report.planned_looks import registration

    study = setup.study(name)
    if study.kind == "qualification":
        raise InvalidInput(f"{name} is a qualification, which has no scores to register; name a study")
    click.echo(registration(study, __version__), nl=False)
    if study.begun_at:
        click.echo(f"note: evaluators have taken part in {name} already", err=True)
