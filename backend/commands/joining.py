"""The command `join`: a model joins a running tournament."""

from pathlib import Path
from typing import Any

import click

from backend.commands.world import (
    World,
    images_option,
    pairs,
    pass_world,
    progress_bar,
    say,
    store_options,
)


@click.command()
@click.argument("name")
@click.option(
    "--model",
    "models",
    multiple=True,
    required=True,
    callback=pairs("vae=samples/vae"),
    metavar="NAME=DIR",
    help="A model and the folder of its samples; repeatable.",
)
@click.option(
    "--equalise",
    multiple=True,
    metavar="LOSS",
    help="As at the making of the study, if it was given there.",
)
@click.option("--skip-bad", is_flag=True, help="Leave out files that cannot be read.")
@click.option("--strict", is_flag=True, help="Refuse duplicates instead of leaving them out.")
@images_option("Where browsers get the pictures, if not from `openhype serve`; they are uploaded there too.")
@store_options
@pass_world
def join(
    world: World,
    name: str,
    models: tuple,
    place: str | None,
    equalise: tuple,
    skip_bad: bool,
    strict: bool,
    **_: Any,
) -> None:
    """Add models to the tournament NAME, also while evaluators answer."""
    from backend.administration.join import Newcomer
    from backend.administration.join import join as run
    from backend.foundation.timestamps import utc_now
    from deploy.s3_upload import parse_place, upload_pictures

    target = None if place is None else parse_place(place)

    def publish(study: str, folder: Path) -> None:
        upload_pictures(target, study, folder, progress_bar)

    for model, folder in models:
        study = run(
            world.store,
            world.data,
            name,
            Newcomer(model, Path(folder), tuple(equalise), skip_bad, strict),
            utc_now(),
            progress=progress_bar,
            publish=publish if target else None,
            say=say,
        )
        click.echo(f"{study.models[-1]} joined {name}, which has {len(study.models)} models now")
    wanted = study.protocol.admission.evaluators
    click.echo(
        f"{wanted} finished sessions of all models together are wanted; those of before count in the scores"
    )
