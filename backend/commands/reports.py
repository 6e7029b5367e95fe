"""Commands that write pages: `report` and `leaderboard`."""

from pathlib import Path
from typing import Any

import click

from backend.commands.setup import (
    FOLDER,
    LEVEL,
    SIMULATED,
    Setup,
    command,
    elapsed_time,
    finding_options,
    named,
    option,
    progress_bar,
    report_options,
)

_OUT = option("-o --out", "Directory to write into; made if missing.", FOLDER, "DIR", required=True)
_TITLE = option("--title", "Of the page.", default="")


@command()
@click.argument("what", metavar="NAME|FILE")
@_OUT
@_TITLE
@finding_options()
@SIMULATED
def report(setup: Setup, what: str, out: Path, title: str, **given: Any) -> None:
    """Write a page with figures and tables of the study NAME, or of a file of responses."""
    from backend.foundation.timestamps import utc_now
    from backend.report.build import file_report, study_report, with_stored_metrics
    from backend.report.write import write

    options, source = report_options(title, **given), named(setup, what)
    with elapsed_time("findings"):
        if isinstance(source, Path):
            made = file_report(source, utc_now(), options)
        else:
            options = with_stored_metrics(options, setup.data, source)
            made = study_report(setup.store, setup.data.picture, source, utc_now(), options)
    click.echo(str(write(made, out, progress=progress_bar)[-1]))


@command()
@click.argument("what", metavar="NAME|FILE...", nargs=-1, required=True)
@_OUT
@_TITLE
@LEVEL
@SIMULATED
def leaderboard(
    setup: Setup, what: tuple[str, ...], out: Path, title: str, level: float, simulated: bool
) -> None:
    """Write one table over several studies or files of responses on one data set."""
    from backend.foundation.timestamps import utc_now
    from backend.report.build import file_entry, leaderboard_of, study_entry
    from backend.report.write import write

    now = utc_now()
    entries = [
        file_entry(source, level, simulated)
        if isinstance(source, Path)
        else study_entry(setup.store, source, now, level, simulated)
        for source in progress_bar([named(setup, one) for one in what], len(what), "findings")
    ]
    made = leaderboard_of(entries, title, now)
    click.echo(str(write(made, out, progress=progress_bar)[-1]))
