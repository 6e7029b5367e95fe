"""The command that makes pairs and triplets from photographs: `distort`."""

from pathlib import Path
from typing import Any

import click

from backend.commands.world import SEED, Number, progress_bar, say


@click.command()
@click.argument("photographs", metavar="PHOTOS", type=click.Path(path_type=Path))
@click.option(
    "-o", "--out", type=click.Path(file_okay=False, path_type=Path), required=True, metavar="DIR",
    help="Directory to write into, as DIR/NAME/{ref,p0,p1}; made if missing.",
)  # fmt: skip
@click.option(
    "--kind", type=click.Choice(["triplets", "pairs"]), default="triplets", show_default=True,
    help="A reference and two distorted pictures (2afc), or a picture and a distorted one (jnd).",
)  # fmt: skip
@click.option("--count", type=int, default=100, show_default=True, metavar="N", help="Pairs or triplets.")
@click.option(
    "--size", "size_px", type=int, default=64, show_default=True, metavar="PX",
    help="Width and height of the crops; photographs are not scaled up.",
)  # fmt: skip
@click.option(
    "--short-side", "short_side_px", type=int, metavar="PX",
    help="Scale larger photographs down to this short side before they are cropped.",
)  # fmt: skip
@click.option("--seed", type=SEED, default=0, show_default=True)
@click.option("--name", default="traditional", show_default=True, help="Of the set, and of its folder.")
@click.option(
    "--longest", type=int, default=2, show_default=True, metavar="N",
    help="Most distortions in a sequence; each length from 1 is equally probable.",
)  # fmt: skip
@click.option(
    "--only", multiple=True, metavar="DISTORTION",
    help="A distortion or sub-type to draw from, as docs/distortions.md names them; once for each.",
)  # fmt: skip
@click.option(
    "--subtle", type=Number(0, 1), default=0.3, show_default=True, metavar="SHARE",
    help="Share of pairs with one distortion of the mildest quarter of its range.",
)  # fmt: skip
@click.option(
    "--skip-bad", is_flag=True,
    help="Leave out photographs that cannot be read or are too small, and list them.",
)  # fmt: skip
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
