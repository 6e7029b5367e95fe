"""Commands on the same study again: `rerun` and `replicate`."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from backend.commands.setup import (
    FOLDER,
    LEVEL,
    SIMULATED,
    Number,
    Setup,
    answers_of,
    command,
    images_option,
    named,
    option,
    progress_bar,
    screen_width,
)

if TYPE_CHECKING:
    from backend.analysis.replication import Run
    from backend.experiment.records import Study


@command()
@click.argument("name")
@option("--as again", "Name of the new study.  [default: NAME-2, or the next number]", metavar="NEW")
@option(
    "--every days",
    "Have the server make it again every so many days from now on, rather than once now; 0 ends that.",
    click.IntRange(0, 3650),
    "DAYS",
)
@images_option(
    "Where browsers get the pictures, if not from `openhype serve`; they are uploaded there as well."
)
def rerun(setup: Setup, name: str, again: str | None, days: int | None, place: str | None) -> None:
    """Make a study like NAME for other people: the same stimuli, settings, pages and questions."""
    from backend.administration.rerun import free_name
    from backend.administration.rerun import rerun as run
    from backend.foundation.timestamps import utc_now
    from deploy.s3_upload import publisher

    study = setup.study(name)
    if days is not None:
        if again or place:
            raise click.UsageError("--as and --images are for a run that is made now, not for --every")
        _schedule(setup, study, days)
        return
    again = again or free_name(setup.store, name)
    publish = publisher(place, progress_bar)
    made = run(setup.store, setup.data, study, again, utc_now(), progress_bar, publish)
    stimuli = sum(1 for _ in setup.store.stimuli(made.name))
    click.echo(f"made the study {made.name}: {', '.join(made.models)}; {stimuli:,} stimuli of {name}")
    if left := [model for model in study.models if model not in made.models]:
        click.echo(f"note: {', '.join(left)}, which was withdrawn, is left out")
    click.echo(f"next: openhype set {made.name} panel=… if it is another; then recruit, and")
    click.echo(f"then: openhype replicate {name} {made.name}")


def _schedule(setup: Setup, study: "Study", days: int) -> None:
    from backend.foundation.timestamps import utc_now
    from backend.jobs.rerun_schedule import schedule, unschedule

    if not days:
        was = "is no longer" if unschedule(setup.store, study) else "was not"
        click.echo(f"{study.name} {was} made again on a schedule")
        return
    first = schedule(setup.store, study, days, utc_now())
    click.echo(f"{study.name} is made again every {days} days, first on {first:%Y-%m-%d %H:%M} UTC")
    click.echo("note: a server has to run then (openhype serve, openhype work, or AWS)", err=True)
    click.echo("next: recruit for each run, which is not done by itself; end it by --every 0")


@command()
@click.argument("what", metavar="NAME|FILE NAME|FILE...", nargs=-1, required=True)
@option(
    "--margin",
    "Difference from which on scores count as changed: percentage points; ms or log-odds for methods with "
    "such scores.  [default: 5 points]",
    Number(0, min_open=True),
)
@option("--json as_json", "Print JSON, with full precision.", bool)
@option("-o --out", "Also write a page with figure and tables into this directory.", FOLDER, "DIR")
@LEVEL
@SIMULATED
def replicate(
    setup: Setup,
    what: tuple[str, ...],
    margin: float | None,
    as_json: bool,
    out: Path | None,
    level: float,
    simulated: bool,
) -> None:
    """Test runs of one study against each other: did scores change, or stay within a margin?

    Runs are studies made by `openhype rerun`, or files of responses; their order is that of the chart.
    """
    from backend import __version__
    from backend.analysis.replication import replication
    from backend.foundation.timestamps import utc_now
    from backend.report.replication import report
    from backend.report.text_report import as_sections
    from backend.report.write import write
    from backend.responses.runs import differing_settings

    studies = [named(setup, one) for one in what]
    stems = [one.stem if isinstance(one, Path) else one.name for one in studies]
    runs = [
        _run(setup, one, stem if stems.count(stem) == 1 else one, simulated)
        for one, stem in progress_bar([*zip(what, stems, strict=True)], len(what), "runs")
    ]
    data = replication(runs, level, margin)
    warnings = differing_settings([one for one in studies if not isinstance(one, Path)])
    for warning in warnings:
        click.echo(f"note: {warning}", err=True)
    made = report(data, f"{utc_now():%Y-%m-%d}", __version__, warnings)
    if as_json:
        click.echo(json.dumps(data, indent=2, allow_nan=False))
    else:
        click.echo(as_sections(made, screen_width()))
    if out is not None:
        click.echo(str(write(made, out, progress=progress_bar)[-1]), err=True)


def _run(setup: Setup, what: str, name: str, simulated: bool) -> "Run":
    """Return the responses of a study or a file as a run called `name`."""
    from backend.analysis.replication import Run
    from backend.responses.runs import run_of

    source = named(setup, what)
    if isinstance(source, Path):
        return Run(name, answers_of(setup, source, True, simulated))
    return run_of(setup.store, source, simulated)
