"""The command `update-sampling`: find which pictures of a study need evaluators, for the sessions that
follow."""

import time
from typing import Any

import click

from backend.commands.setup import SIMULATED, Setup, command, elapsed_time, option

_SECONDS = 60


@command()
@click.argument("name")
@option(
    "--every",
    "Go on, and find out again after so many minutes, until interrupted.",
    click.IntRange(1, 1440),
    "MINUTES",
)
@SIMULATED
def update_sampling(setup: Setup, name: str, every: int | None, simulated: bool, **_: Any) -> None:
    """Select the pictures of the study NAME that need evaluators, so that its next sessions show them.

    In a tournament, whose sessions count their answers themselves, count all of them again.
    """
    from backend.foundation.timestamps import stamp, utc_now
    from backend.responses.sampling_needs import recounted, refresh
    from backend.studies.tournament_counts import is_counted

    while True:
        study = setup.study(name)
        if is_counted(study):
            with elapsed_time("answers"):
                sessions = recounted(setup.store, study, simulated)
            click.echo(
                f"{name}: the answers of {sessions:,} finished sessions were counted again; the next "
                "sessions choose their pairs by them"
            )
            return
        with elapsed_time("answers"):
            needs = refresh(setup.store, study, stamp(utc_now()), simulated)
        lists = sum(map(len, needs.sides.values()))
        click.echo(
            f"{name}: {lists:,} pictures need evaluators most (sampling={study.protocol.stimuli.sampling}, "
            f"from {needs.sessions:,} finished sessions); the next sessions choose from them"
        )
        if every is None:
            return
        time.sleep(every * _SECONDS)
