"""The command `join`: a model joins a running study."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from backend.commands.setup import Setup, command, images_option, option, progress_bar, say

if TYPE_CHECKING:
    from backend.experiment.records import Study


@command()
@click.argument("name")
@option(
    "--model models",
    "A model and the folder of its samples; repeatable.",
    metavar="NAME=DIR",
    required=True,
    example="vae=samples/vae",
)
@option(
    "--preprocess",
    "Other losses than those that the pictures of the study went through.",
    metavar="LOSS",
    multiple=True,
)
@option("--skip-bad", "Leave out files that cannot be read.", bool)
@option("--strict", "Refuse duplicates instead of leaving them out.", bool)
@images_option("Where browsers get the pictures, if not from `openhype serve`; they are uploaded there too.")
def join(
    setup: Setup,
    name: str,
    models: tuple,
    place: str | None,
    preprocess: tuple,
    skip_bad: bool,
    strict: bool,
    **_: Any,
) -> None:
    """Add models to the study or tournament NAME, also while evaluators answer."""
    from backend.administration.join import Newcomer
    from backend.administration.join import join as run
    from backend.foundation.timestamps import utc_now
    from deploy.s3_upload import publisher

    publish = publisher(place, progress_bar)

    known = len(setup.study(name).notes)
    for model, folder in models:
        study = run(
            setup.store,
            setup.data,
            name,
            Newcomer(model, Path(folder), tuple(preprocess) or None, skip_bad, strict),
            utc_now(),
            progress=progress_bar,
            publish=publish,
            say=say,
        )
        click.echo(f"{study.models[-1]} joined {name}, which has {len(study.models)} models now")
    for line in _what_follows(setup, study, known):
        click.echo(line)


def _what_follows(setup: Setup, study: "Study", known: int) -> Iterator[str]:
    """Yield notes beyond the first `known` ones, what the study wants now, and what is left to decide."""
    from backend.recruitment.approved_sessions import more_places
    from backend.studies.tournament_counts import is_counted

    for note in study.notes[known:]:
        yield f"note: {note}"
    if is_counted(study):
        yield (
            f"{study.protocol.admission.evaluators} finished sessions of all models together are "
            "wanted; those of before count in the scores"
        )
    else:
        whom = "group of models" if study.is_mixed else "model"
        yield f"evaluators wanted: {study.evaluators_wanted:,}, {study.evaluators_a_group:,} for each {whom}"
    if places := more_places(setup.store, study):
        yield (
            f"the {places[0]:,} places at the panel stay as they are: `openhype recruit {study.name} "
            f"--places {places[1]}` shows what it costs to recruit for all that is wanted "
            "now, and does it with --yes"
        )
