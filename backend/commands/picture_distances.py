"""The command that computes distances between pictures: `distances`."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from backend.commands.setup import PATH, Setup, command, named, option, options, progress_bar

if TYPE_CHECKING:
    from backend.metrics.pairs.distances import Distance
    from backend.responses.item_pictures import ItemPictures


distance_options = options(
    option(
        "--distance distances",
        "l2, psnr, ssim, ms-ssim, lpips-NET or baseline-NET; NET: alex, vgg, squeeze. Repeatable.",
        metavar="NAME",
        multiple=True,
    ),
    option(
        "--weights",
        "Trunk (AlexNet, VGG16, SqueezeNet) or linear layers of LPIPS: .pth. Repeatable.",
        PATH,
        "FILE",
        multiple=True,
    ),
    option(
        "--lpips-version version",
        "Of linear layers that are not the published ones; 0.1 if not given.",
        click.Choice(["0.1", "0.0"]),
    ),
)
"""The options that choose distances, and their weights."""


@command()
@click.argument("what", nargs=-1, required=True, metavar="NAME|DIR|FIRST SECOND")
@distance_options
@option("-o --out", "CSV to write; for several distances a directory, as DIR/NAME.csv.", PATH, "FILE|DIR")
def distances(
    setup: Setup,
    what: tuple[str, ...],
    distances: tuple[str, ...],
    weights: tuple[Path, ...],
    version: str | None,
    out: Path | None,
) -> None:
    """Compute distances between the pictures of pairs or triplets: a study, a folder, or two pictures.

    NAME is a 2AFC or JND study, DIR a folder of items as for `create --items`; FIRST and SECOND are two
    pictures, or two folders with pictures of the same names. Without --distance: l2, psnr and ssim.
    """
    from backend.foundation.atomic_files import write_whole
    from backend.metrics.pairs.distances import DEFAULT, distances_named
    from backend.responses.picture_distances import as_csv, distances_of

    chosen = distances_named(distances or DEFAULT, weights, version or "")
    targets = {} if out is None else _targets(out, chosen)
    pictures = _pictures(setup, what)
    rows = distances_of(pictures, chosen, progress_bar)
    for each in chosen:
        click.echo(f"{each.name}: {each.description}", err=True)
    if targets:
        tables = {targets[name]: as_csv(pictures, {name: values}) for name, values in rows.items()}
        write_whole({path: table.encode() for path, table in tables.items()})
        for path in tables:
            click.echo(str(path))
    elif len(what) == 2 and not Path(what[0]).is_dir():
        for name, values in rows.items():
            click.echo(f"{name} {values[0]:.6g}")
    else:
        click.echo(as_csv(pictures, rows, len(rows) > 1), nl=False)


def _targets(out: Path, chosen: "Sequence[Distance]") -> dict[str, Path]:
    """Return the CSV to write of each distance, by name; refuse before hours of work what cannot be one."""
    from backend.foundation.errors import InvalidInput
    from backend.foundation.printable import printable

    if out.suffix != ".csv" and out.is_file():
        raise InvalidInput(f"-o {out} is a file; name a CSV, or a folder")
    if out.suffix == ".csv" and len(chosen) > 1:
        raise InvalidInput(
            f"{', '.join(each.name for each in chosen)} are written as a file each; -o must name a folder, "
            f"not {out}"
        )
    targets = {each.name: out if out.suffix == ".csv" else out / f"{each.name}.csv" for each in chosen}
    for path in targets.values():
        if path.is_dir():
            raise InvalidInput(f"{printable(path)} is a folder; -o must name a CSV, or a folder for it")
        first = next(parent for parent in path.absolute().parents if parent.exists())
        if not first.is_dir():
            raise InvalidInput(f"{printable(first)} is a file; -o must name a CSV in a folder")
    return targets


def _pictures(setup: Setup, what: Sequence[str]) -> "ItemPictures":
    from backend.responses.item_pictures import pictures_at, pictures_of_study, pictures_of_two

    if len(what) > 2:
        raise click.UsageError("expected a study, a folder, two pictures or two folders")
    if len(what) == 2:
        return pictures_of_two(Path(what[0]), Path(what[1]))
    source = named(setup, what[0])
    if isinstance(source, Path):
        return pictures_at(source)
    return pictures_of_study(setup.data, source, setup.store.stimuli(source.name))
