"""Commands about people: `pause`, `resume`, `admit-waiting`, and `retention`, which deletes personal data."""

import click

from backend.commands.setup import Number, Setup, command, elapsed_time, option


@command()
@click.argument("name")
def pause(setup: Setup, name: str) -> None:
    """Open no new sessions of the study NAME; those under way go on."""
    _set_paused(setup, name, True)


@command()
@click.argument("name")
def resume(setup: Setup, name: str) -> None:
    """Let the study NAME go on after a pause."""
    _set_paused(setup, name, False)


@command()
@click.argument("name")
def admit_waiting(setup: Setup, name: str) -> None:
    """Open the study NAME: notify those who wait for it, and admit evaluators."""
    from backend.foundation.timestamps import utc_now
    from backend.studies.waiting_room import waiting_now

    waiting = waiting_now(setup.store, setup.study(name).name, utc_now().timestamp())
    _set_paused(setup, name, False)
    click.echo(f"{waiting} waiting evaluators are notified")


def _set_paused(setup: Setup, name: str, is_to_pause: bool) -> None:
    from backend.foundation.timestamps import stamp, utc_now
    from backend.studies.pausing import set_paused

    study = setup.study(name)
    has_changed = set_paused(setup.store, study.name, is_to_pause, stamp(utc_now()))
    was = "" if has_changed else " already"
    click.echo(f"{name} is {'paused' if is_to_pause else 'open to evaluators'}{was}")


@command()
@click.argument("name", required=False, metavar="[STUDY]")
@option("--keep-days", "Overrides the studies' own setting; 0: never delete.", Number(0, 36500), "D")
@option("--yes", "Delete; without it, only show what would be deleted.", bool)
def retention(setup: Setup, name: str | None, keep_days: float | None, yes: bool) -> None:
    """Delete panel parameters and facts about devices that were kept long enough; answers stay."""
    from backend.administration.retention import apply, due, lines
    from backend.foundation.timestamps import utc_now

    studies = [setup.study(name)] if name else setup.store.studies()
    with elapsed_time("sessions"):
        due_now = [due(setup.store, study, utc_now(), keep_days) for study in studies]
    for line in lines(due_now):
        click.echo(line)
    if not any(map(len, due_now)):
        return
    if not yes:
        click.echo("nothing is deleted yet; with --yes it is, for good")
        return
    with elapsed_time("deleting"):
        for what in due_now:
            apply(setup.store, what, utc_now())
    click.echo("deleted")
