"""Commands that create studies: `create`, `qualification`, `upload`, and `masks` to preview masks."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from backend.commands.setup import (
    FILE,
    PATH,
    SEED,
    Setup,
    command,
    images_option,
    option,
    options,
    progress_bar,
    say,
)
from backend.experiment.judgments import METHODS, judgment_of
from backend.foundation.errors import InvalidInput
from backend.foundation.names import clean

if TYPE_CHECKING:
    from backend.experiment.records import Study

"""Where `openhype serve` listens by default."""

_places = images_option(
    "Where browsers get the pictures, if not from `openhype serve`; they are uploaded there as well."
)


def _folders_of_items(
    _context: click.Context, _option: click.Parameter, given: tuple[str, ...]
) -> tuple[tuple[str, Path], ...]:
    """Return name and folder of each set of items; '' for one that has the name of its folder."""
    pairs_of = [each.partition("=") if "=" in each else ("", "", each) for each in given]
    for (name, sign, folder), each in zip(pairs_of, given, strict=True):
        if not folder or (sign and not name):
            raise click.BadParameter(f"a set of items is DIR or NAME=DIR, not {each!r}")
    return tuple((clean(name), Path(folder)) for name, _, folder in pairs_of)


_image_options = options(
    option("--real", "Folder of real images.", PATH),
    option(
        "--model models",
        "A model and the folder of its samples; once for each model.",
        metavar="NAME=DIR",
        example="gan=images/gan",
    ),
    option(
        "--practice",
        "Pictures for practice, in DIR/real and DIR/fake, with --set practice_images=N; without "
        "DIR they are set aside from the study's own.",
        PATH,
        "DIR",
    ),
    option(
        "--checks",
        "Pictures whose truth is beyond doubt, in DIR/real and DIR/fake, for attention checks: "
        "--set picture_checks=N.",
        PATH,
        "DIR",
    ),
    option("--size", "Width and height of the pictures shown.", int, "PX"),
    option(
        "--set settings",
        "A setting of the study (docs/settings.md).",
        metavar="KEY=VALUE",
        example="images=40",
    ),
    option(
        "--panel",
        "Where evaluators come from: a panel by name, or a file that describes one.",
        metavar="NAME|FILE.toml",
    ),
    option(
        "--preprocess",
        "Put both sides through the same loss: jpeg:QUALITY or size:PX.",
        metavar="STEP",
        multiple=True,
    ),
    option(
        "--skip-bad", "Leave out files that cannot be read and pictures on both sides, and list them.", bool
    ),
    option("--strict", "Refuse duplicates instead of leaving them out with a note.", bool),
    option("--flat", "Ignore the sub-folders of each side, which are classes otherwise.", bool),
)


@command()
@click.argument("name")
@option("--method", "", click.Choice([*METHODS]), default="infinity")
@option(
    "--items",
    "Pairs or triplets, in DIR/p0, DIR/p1 (and DIR/ref) or sub-folders with these; once for each set.",
    metavar="[NAME=]DIR",
    multiple=True,
    callback=_folders_of_items,
)
@_image_options
@option("--masks", "Folder of masks to use instead of made ones.", PATH)
@option("--evaluators", "Finished sessions wanted for each model.", int, "N")
@option("--qualification", "Qualification that evaluators must have passed.", metavar="NAME")
@_places
def create(
    setup: Setup,
    name: str,
    method: str,
    real: Path | None,
    models: tuple,
    items: tuple,
    place: str | None,
    **options: Any,
) -> None:
    """Make a study NAME from folders of images, or from a description in NAME.toml."""
    from backend.administration.study_spec import BY_OPTIONS, StudySpec, check_sources, read_spec

    if name.endswith(".toml"):
        if real is not None or models or items:
            raise click.UsageError("a study is described by a TOML file or by options, not by both")
        _create(setup, read_spec(Path(name)), place)
        return
    try:
        check_sources(method, real is not None or bool(models), bool(items), BY_OPTIONS)
    except InvalidInput as error:
        raise click.UsageError(str(error)) from None
    if not items:
        _need_folders(real, models)
    settings = _settings(options)
    spec = StudySpec(name, "study", method, real, _folders(models), settings, items=items, **_picked(options))
    _create(setup, spec, place)


@command()
@click.argument("what", metavar="NAME|DIR")
@option("-o --out", "", FILE, required=True)
@option("--kind", "", click.Choice(["texture", "phase"]), default="texture")
@option("--size size_px", "", click.IntRange(16, 2048), "PX", default=256)
@option("--count", "", click.IntRange(1, 1000), "N", default=10)
@option("--seed", "", SEED, default=0)
def masks(setup: Setup, what: str, out: Path, count: int, **options: Any) -> None:
    """Show masks as a PNG: those of the study NAME, or pictures of the folder DIR above their masks."""
    from backend.stimuli.masks import sheet

    if "/" not in what and not Path(what).is_dir():
        study = setup.study(what)
        folder = setup.data.images(study.name)
        if not study.masks:
            raise InvalidInput(f"study {what} has no masks")
        picture = sheet.of_masks([folder / name for name in study.masks[:count]])
    else:
        picture = sheet.of_sources(Path(what), count, progress=progress_bar, **options)
    picture.save(out, "PNG", optimize=True)
    click.echo(str(out))


@command()
@click.argument("name")
@option(
    "--method",
    "What is asked; a pass admits to studies of every method.",
    click.Choice(["infinity", "pair"]),
    default="infinity",
)
@_image_options
@_places
def qualification(
    setup: Setup,
    name: str,
    method: str,
    real: Path | None,
    models: tuple,
    place: str | None,
    **options: Any,
) -> None:
    """Make a qualification NAME; a study asks for it with `--qualification NAME`."""
    from backend.administration.study_spec import StudySpec

    _need_folders(real, models)
    settings = _settings(options)
    spec = StudySpec(name, "qualification", method, real, _folders(models), settings, **_picked(options))
    _create(setup, spec, place)


@command()
@click.argument("name")
@_places
def upload(setup: Setup, name: str, place: str | None) -> None:
    """Upload the pictures of the study NAME to the bucket that serves them; what is there is left."""
    from deploy.s3_upload import parse_place, upload_pictures

    if place is None:
        raise click.UsageError("--images s3://BUCKET/PREFIX is needed")
    study = setup.study(name)
    target = parse_place(place)
    sent = upload_pictures(target, study.name, setup.data.images(study.name), progress_bar)
    click.echo(f"{sent} files of {study.name} uploaded to {target}")


def _need_folders(real: Path | None, models: tuple) -> None:
    if real is None or not models:
        raise click.UsageError("--real DIR and at least one --model NAME=DIR are needed")


def _folders(models: tuple) -> tuple[tuple[str, Path], ...]:
    return tuple((name, Path(folder)) for name, folder in models)


def _settings(options: dict[str, Any]) -> dict[str, Any]:
    from backend.administration.study_spec import with_texts

    settings = with_texts(dict(options["settings"]))
    named = {"size_px": "size", "evaluators": "evaluators", "qualification": "qualification"}
    settings.update({key: options[name] for key, name in named.items() if options.get(name) is not None})
    if options.get("panel"):
        from backend.administration.study_spec import read_panel

        settings["panel"] = read_panel(options["panel"])
    return settings


def _picked(options: dict[str, Any]) -> dict[str, Any]:
    return {
        key: options[key]
        for key in ("masks", "practice", "checks", "preprocess", "skip_bad", "strict", "flat")
        if key in options
    }


def _create(setup: Setup, spec: Any, place: str | None) -> None:
    from backend.administration.create import create
    from backend.foundation.timestamps import utc_now
    from backend.stimuli.media import MEDIA
    from deploy.s3_upload import publisher

    publish = publisher(place, progress_bar)

    study = create(
        setup.store,
        setup.data,
        spec,
        utc_now(),
        progress=progress_bar,
        publish=publish,
        say=say,
    )
    for line in _summary(study, _serve_options(setup), setup.address):
        click.echo(MEDIA[study.medium].said(line, [*study.models, study.name]))


def _summary(study: "Study", options: str, address: str | None) -> Iterator[str]:
    """Yield lines on what was created, notes about it, and the next steps.

    Args:
        address: where browsers reach the pages of the store, if that is known.
    """
    from backend.experiment.groups.stimuli import BETWEEN
    from backend.foundation.addresses import study_page
    from backend.recruitment.plan import asked_for

    protocol = study.protocol
    judgment = judgment_of(protocol.method)
    has_items = judgment.has_items
    what, shown_each = ("set", "items") if has_items else ("model", _shown_each(study))
    models = f"{len(study.models)} {what}{'s' if len(study.models) > 1 else ''}"
    shown = protocol.stimuli
    blocks = f" ({shown.blocks} blocks of {shown.images})" if shown.blocks > 1 else ""
    yield f"made the {study.kind} {study.name}: {models}, {shown.trials} {shown_each} a session{blocks}"
    if study.is_mixed and not has_items:
        groups = len(study.model_groups)
        some = f"{shown.models_per_session} of them, in {groups} groups" if groups > 1 else "all of them"
        yield (
            f"mixed sessions: each evaluator judges {some}; evaluators wanted: "
            f"{study.evaluators_wanted:,}, for {protocol.admission.evaluators} of each model"
        )
    if extra := _unscored(study):
        yield f"not scored: {extra}"
    if shown.class_design == BETWEEN:
        yield (
            f"classes: each evaluator judges one of {len(study.classes)}; {protocol.admission.evaluators} "
            f"are wanted for each class of each model, {study.evaluators_wanted:,} in total"
        )
    elif study.classes:
        yield f"classes: each evaluator judges all {len(study.classes)}, in blocks of their own"
    for note in study.notes:
        yield f"note: {note}"
    if protocol.admission.panel.caution:
        yield f"note: {protocol.admission.panel.caution}"
    for wish in asked_for(study):
        yield f"for recruiting: {wish}"
    link = f"open {study_page(address, study.name)}" if address else None
    yield f"next: {link or f'openhype serve{options}, which prints the link'}"
    if study.kind == "qualification":
        yield f"then: openhype create … --qualification {study.name}"
    elif protocol.admission.panel.private_links:
        where = "" if address else " --url https://…"
        yield f"then: openhype links {study.name}{options} --count N{where}"


def _shown_each(study: "Study") -> str:
    """Return what is counted as trials, such as `pictures`."""
    one = judgment_of(study.protocol.method).trial_shows
    return f"{study.medium if one == 'picture' else one}s"


def _unscored(study: "Study") -> str:
    """Return what a session shows besides its scored pictures; "" for nothing."""
    shown = study.protocol.unscored
    counts = {
        "practice pictures before it": shown.practice_images,
        "attention checks by pictures": shown.picture_checks,
        "attention checks by instructions": shown.instructed_checks,
    }
    return ", ".join(f"{count} {what}" for what, count in counts.items() if count)


def _serve_options(setup: Setup) -> str:
    """Return the options of this command that the next one also needs, as typed."""
    sources = click.get_current_context().get_parameter_source
    given = {
        "data": f" --data {shlex.quote(str(setup.folder))}",
        "store": f" --store {shlex.quote(setup.url)}",
    }
    return "".join(text for name, text in given.items() if sources(name) is ParameterSource.COMMANDLINE)
