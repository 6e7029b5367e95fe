"""The command that makes pairs and triplets from photographs: `distort`."""

from pathlib import Path
from typing import Any

import click

from backend.commands.setup import FOLDER, SEED, Number, option, progress_bar, say


@click.command()
@click.argument("photographs", metavar="PHOTOS", type=click.Path(path_type=Path))
@option(
    "-o --out",
    "Directory to write into, as DIR/NAME/{ref,p0,p1}; made if missing.",
    FOLDER,
    "DIR",
    required=True,
)
@option(
    "--kind",
    "A reference and two distorted pictures (2afc), or a picture and a distorted one (jnd).",
    click.Choice(["triplets", "pairs"]),
    default="triplets",
)
@option("--count", "Pairs or triplets.", int, "N", default=100)
@option(
    "--size size_px", "Width and height of the crops; photographs are not scaled up.", int, "PX", default=64
)
@option(
    "--short-side short_side_px",
    "Scale larger photographs down to this short side before they are cropped.",
    int,
    "PX",
)
@option("--seed", "", SEED, default=0)
@option("--name", "Of the set, and of its folder.", default="traditional")
@option(
    "--longest",
    "Most distortions in a sequence; each length from 1 is equally probable.",
    int,
    "N",
    default=2,
)
@option(
    "--only",
    "A distortion or sub-type to choose from, as docs/distortions.md names them; once for each.",
    metavar="DISTORTION",
    multiple=True,
)
@option(
    "--subtle",
    "Share of pairs with one distortion of the mildest quarter of its range.",
    Number(0, 1),
    "SHARE",
    default=0.3,
)
@option("--skip-bad", "Leave out photographs that cannot be read or are too small, and list them.", bool)
def distort(photographs: Path, out: Path, skip_bad: bool, **options: Any) -> None:
    """Make pairs or triplets from the folder PHOTOS, with the traditional distortions of the LPIPS paper."""
    from backend.stimuli.distorted_set import SetOptions, make_set

    chosen = SetOptions(**options)
    made = make_set(photographs, out, chosen, skip_bad=skip_bad, progress=progress_bar, say=say)
    for note in made.notes:
        click.echo(f"note: {note}")
    shared = f", up to {made.most_of_one:,} of one, which may overlap" if made.most_of_one > 1 else ""
    click.echo(f"made {chosen.count:,} {chosen.kind} of {chosen.size_px} px in {made.folder}")
    click.echo(f"photographs: {made.photographs:,}; different crops: {chosen.count:,}{shared}")
    if chosen.kind == "pairs":
        click.echo(f"subtle pairs: {made.subtle:,}")
    click.echo(f"every distortion and its parameters: {made.folder / 'distortions.csv'}")
