"""Commands about the storage of studies: `backup`, `restore`, `copy` and `costs`."""

from collections.abc import Mapping
from pathlib import Path

import click

from backend.commands.setup import Setup, command, data_option, option, pass_setup, progress_bar

_FOLDER = click.argument("folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))


@command()
@_FOLDER
def backup(setup: Setup, folder: Path) -> None:
    """Write a backup of the data directory into DIR while answers come in; done again, it catches up."""
    from backend.administration.backup import back_up
    from backend.foundation.errors import InvalidInput
    from backend.foundation.timestamps import utc_now
    from backend.stores.opening import sqlite_path

    database = sqlite_path(setup.url, setup.data.root)
    if database is None:
        raise InvalidInput(
            f"a backup is of a database in a file, not of {setup.url}; AWS restores a table of DynamoDB to "
            "any second of the last 35 days (docs/backups.md)"
        )
    done = back_up(database, setup.data, folder, utc_now(), progress_bar)
    click.echo(f"{folder}: {_counted(done.counts)}; {done.copied} of {done.files} files written")


@click.command()
@_FOLDER
@data_option
@pass_setup
def restore(setup: Setup, folder: Path) -> None:
    """Make a new data directory (--data) from the backup in DIR."""
    from backend.administration.backup import restore as run
    from backend.foundation.timestamps import utc_now
    from backend.jobs.queue import void_open

    now = utc_now()
    done = run(folder, setup.data, now, progress_bar, lambda store: void_open(store, now))
    click.echo(f"{setup.data.root}: {_counted(done.counts)}, as of {done.taken_at}")
    click.echo("note: what was paid after that is not in its ledger; read docs/backups.md before you pay")


def _counted(counts: Mapping[str, int]) -> str:
    names = (("study", "studies"), ("session", "sessions"), ("response", "responses"))
    return ", ".join(f"{counts[many]:,} {one if counts[many] == 1 else many}" for one, many in names)


@click.command()
@click.argument("name", metavar="STUDY")
@option("--from source", "The store that has the study.", metavar="URL", required=True)
@option("--to target", "The store that is to have it.", metavar="URL", required=True)
@option("--move moves", "Pay and recruit from the other store from now on.", bool)
@data_option
@pass_setup
def copy(setup: Setup, name: str, source: str, target: str, moves: bool) -> None:
    """Copy STUDY, answers and ledger, from one store to another; done again, it catches up."""
    from contextlib import closing

    from backend.administration.copy import copy as run
    from backend.stores.opening import open_store

    with (
        closing(open_store(source, setup.data.root)) as one,
        closing(open_store(target, setup.data.root)) as other,
    ):
        names = (_absolute_url(source, setup.data.root), _absolute_url(target, setup.data.root))
        study = one.study(name)
        before = {*setup.data.sharers(name)}
        setup.data.note_sharers(name, {*before, *names})  # first, or a deletion meanwhile takes them
        try:
            done = run(one, other, name, progress_bar, names, moves)
        finally:
            if study.created_at not in {each.created_at for each in other.studies() if each.name == name}:
                setup.data.note_sharers(name, before)
        qualification = study.protocol.admission.qualification
    click.echo(f"{name}: {done.sessions} sessions, {done.written} of them written")
    if done.paid_from:
        click.echo(f"note: {name} is paid from {done.paid_from} as before; --move brings that along")
    if qualification:
        click.echo(f"note: {name} asks for the qualification {qualification}; copy it too")


def _absolute_url(url: str, data: Path) -> str:
    """Return a store's URL with the whole path of a file."""
    from backend.stores.opening import sqlite_path

    path = sqlite_path(url, data)
    return url if path is None else f"sqlite:///{path.absolute()}"


@command()
@click.argument("name", required=False)
@option("--pictures", "A study's pool.", click.IntRange(2, 10_000_000), default=2000)
@option(
    "--evaluators",
    "Of a study; may be given several times.",
    click.IntRange(1, 10_000_000),
    multiple=True,
    default=(30, 1000),
)
@option("--hostile", "What ten million requests of a stranger would cost instead.", bool)
@option(
    "--at-once",
    "With --hostile: the people for whom a deployment is bounded.",
    click.IntRange(1, 1_000_000),
    "N",
    default=1000,
)
def costs(
    setup: Setup, name: str | None, pictures: int, evaluators: tuple[int, ...], hostile: bool, at_once: int
) -> None:
    """Tell what a study takes of AWS, and what that costs: requests, units, bytes, dollars.

    Of the study NAME with the files that it has; else of usual ones.
    """
    from backend.administration import aws_costs as usage
    from backend.experiment.judgments.real_or_fake import INFINITY, TIME
    from deploy import bounds

    if name is not None:
        study, prices = setup.store.study(name), usage.prices()
        stored = usage.of_stored_study(study, setup.store.pool(name), setup.data.picture, prices)
        click.echo(usage.as_table_of(study, stored, prices))
        return
    if hostile:
        parameters = bounds.defaults(at_once, account_limit=1_000_000)
        click.echo(usage.hostile_table(usage.prices(), parameters, 10_000_000))
        return
    click.echo(usage.as_tables({"infinity": INFINITY, "time": TIME}, evaluators, pictures, usage.prices()))
