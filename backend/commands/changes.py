"""Commands that change or remove existing data: `set`, `clear` and `delete`."""

import sys
from functools import partial
from typing import Any

import click

from backend.commands.setup import Setup, command, elapsed_time, images_option, option, pairs, progress_bar
from backend.experiment.records import Study
from backend.foundation.errors import StoreFailed

_LONG = 60


@command("set")
@click.argument("name")
@click.argument("settings", nargs=-1, required=True, metavar="KEY=VALUE…", callback=pairs("images=40"))
def set_settings(setup: Setup, name: str, settings: tuple) -> None:
    """Change settings of the study NAME, which no real evaluator has begun; pictures and masks stay."""
    from backend.administration.revise import change_settings
    from backend.administration.study_spec import with_texts

    with elapsed_time("settings"):
        change = change_settings(setup.store, setup.data, name, with_texts(dict(settings)))
    changed = change.changed()
    for setting, (before, after) in changed.items():
        click.echo(f"{setting}: {_format_setting(before)} -> {_format_setting(after)}")
    if not changed:
        click.echo(f"{name} has these settings already")
    if change.cleared:
        click.echo(f"removed {_sessions(change.cleared, 'simulated ')} of the settings before")
    for note in change.new_notes():
        click.echo(f"note: {note}")


set = set_settings  # a command is found by its name, which shadows a Python built-in here


def _format_setting(value: Any) -> str:
    from backend.experiment.panel import PanelRecord
    from backend.experiment.staircase import NAMED_RULES, StaircaseRule

    if isinstance(value, PanelRecord):
        return value.name
    if isinstance(value, StaircaseRule):
        named = (name for name, rule in NAMED_RULES.items() if rule == value)
        return next(named, ",".join(f"{part}:{number:g}" for part, number in vars(value).items()))
    if isinstance(value, bool):
        return str(value).lower()
    text = f"{value:g}" if isinstance(value, float) else repr(value)
    return text if len(text) <= _LONG else f"{text[: _LONG - 1]}…"


@command()
@click.argument("name")
@option("--simulated", "The simulated sessions; there is nothing else to clear.", bool)
@option("--yes", "Do not ask.", bool)
def clear(setup: Setup, name: str, simulated: bool, yes: bool) -> None:
    """Remove the simulated sessions of the study NAME, and no real one."""
    from backend.administration.clear import clear_simulated

    if not simulated:
        raise click.UsageError(
            f"only simulated sessions can be cleared: openhype clear {name} --simulated "
            f"(`openhype delete {name}` removes the study with all its sessions)"
        )
    study = setup.study(name)
    count = sum(1 for _ in setup.store.sessions(name, simulated=True))
    if not count:
        click.echo(f"{name} has no simulated sessions")
    elif yes or _confirm(f"Remove {_sessions(count, 'simulated ')} of {name}?", "--yes"):
        with elapsed_time("sessions"):
            removed = clear_simulated(setup.store, name)
        click.echo(f"removed {_sessions(removed, 'simulated ')} of {name}")
    gate = study.protocol.admission.qualification
    if gate and any(True for _ in setup.store.sessions(gate, simulated=True)):
        click.echo(f"note: its qualification has some too: openhype clear {gate} --simulated", err=True)


@command()
@click.argument("name")
@option("--yes repeated", "Do not ask; the name is repeated.", metavar="NAME")
@images_option("Where its pictures were uploaded; they are removed there as well.")
def delete(setup: Setup, name: str, repeated: str | None, place: str | None) -> None:
    """Delete the study NAME with its sessions, answers, pictures and masks, for good."""
    from backend.administration.delete import check
    from backend.administration.delete import delete as run
    from backend.foundation.timestamps import utc_now

    if repeated is not None and repeated != name:
        raise click.UsageError(f"--yes repeats the name of the study: openhype delete {name} --yes {name}")
    from deploy.s3_upload import MayNotDelete

    remove_uploaded = _remover(setup, place)
    study = _study_to_delete(setup, name)
    check(setup.store, study, utc_now())
    click.echo(_contents(setup, study))
    if repeated is None:
        _confirm(f"Delete {name}, for good?", f"--yes {name}")
        if click.prompt("Type its name to confirm", default="", show_default=False) != name:
            raise click.ClickException(f"that is not its name; {name} was not deleted")
    try:
        run(
            setup.store,
            setup.data,
            study,
            utc_now(),
            remove_uploaded=remove_uploaded,
            progress=progress_bar,
        )
    except MayNotDelete as error:
        _leave_pictures(setup, study, str(error))
        return
    click.echo(f"{name} is deleted")
    if others := setup.data.sharers(name):
        where, having = setup.data.images(name), " and ".join(others)
        click.echo(f"note: its pictures stay in {where}, for the copy of the study in {having}")
    if place is None and setup.url.startswith("dynamodb://"):
        click.echo(
            "note: pictures that were uploaded stay where they are; who may delete in their bucket removes "
            f"them with: aws s3 rm --recursive s3://BUCKET/PREFIX/i/{name}/",
            err=True,
        )


def _leave_pictures(setup: Setup, study: Study, reason: str) -> None:
    """Leave pictures to who may delete them: the deployment's function `work`, else a person.

    Raises:
        StoreFailed: the table has no deployment.
    """
    from backend.foundation.timestamps import utc_now
    from backend.jobs.queue import enqueue

    if setup.deployed_at is None:
        raise StoreFailed(
            f"{reason}; sessions and answers of {study.name} are deleted, and who may delete in the bucket "
            f"finishes it with: openhype delete {study.name} --images s3://BUCKET/PREFIX"
        )
    enqueue(setup.store, "delete", study.name, "owner", {"created_at": study.created_at}, utc_now())
    click.echo(
        f"{study.name} is deleted but for its pictures ({reason}); the deployment's function `work` removes "
        "these within minutes, from the edges too"
    )


def _remover(setup: Setup, place: str | None) -> Any:
    """Return what removes a study's pictures from the bucket; without one, those of a deployment are left."""
    from deploy.s3_upload import MayNotDelete, parse_place, remove_pictures

    if place is not None:
        return partial(remove_pictures, parse_place(place))
    if setup.deployed_at is None:
        return None

    def leave(study: str) -> None:
        raise MayNotDelete("no bucket is named by --images")

    return leave


def _study_to_delete(setup: Setup, name: str) -> Study:
    """Return a study, also one whose deletion was begun and broke off."""
    study = setup.store.study(name, even_deleted=True)
    if study.deleted_at:
        click.echo(f"the deletion of {name} was begun on {study.deleted_at[:10]}; resuming it")
    return study


def _contents(setup: Setup, study: Study) -> str:
    from backend.administration.delete import contents

    held = contents(setup.store, setup.data, study)
    return (
        f"{study.kind} {study.name}: {_sessions(held.sessions)} with {held.responses:,} answers, "
        f"{_sessions(held.simulated, 'simulated ')}, {held.files:,} pictures and masks; what was owed and "
        "paid stays recorded"
    )


def _sessions(count: int, kind: str = "") -> str:
    return f"{count} {kind}session{'' if count == 1 else 's'}"


def _confirm(question: str, option: str) -> bool:
    """Return True once somebody at the terminal has agreed.

    Raises:
        click.UsageError: standard input is not a terminal.
        click.Abort: the user declined.
    """
    if not sys.stdin.isatty():
        raise click.UsageError(f"nothing was removed, for there is no terminal to ask at; say {option}")
    return click.confirm(question, abort=True)
