"""Commands about where studies are kept: `copy` and `costs`."""

import click

from backend.commands.world import World, data_option, pass_world, progress_bar


@click.command()
@click.argument("name", metavar="STUDY")
@click.option("--from", "source", required=True, metavar="URL", help="The store that has the study.")
@click.option("--to", "target", required=True, metavar="URL", help="The store that is to have it.")
@data_option
@pass_world
def copy(world: World, name: str, source: str, target: str) -> None:
    """Copy STUDY with its answers from one store to another; done again, it catches up."""
    from contextlib import closing

    from backend.copying import copy as run
    from backend.stores import open_store

    with (
        closing(open_store(source, world.data.root)) as one,
        closing(open_store(target, world.data.root)) as other,
    ):
        done = run(one, other, name, progress=progress_bar)
        qualification = one.study(name).protocol.qualification
    click.echo(f"{name}: {done.sessions} sessions, {done.written} of them written")
    if qualification:
        click.echo(f"note: {name} asks for the qualification {qualification}; copy it too")


@click.command()
@click.option(
    "--pictures", type=click.IntRange(2, 10_000_000), default=2000, show_default=True, help="A study's pool."
)
@click.option(
    "--evaluators",
    type=click.IntRange(1, 10_000_000),
    multiple=True,
    default=(30, 1000),
    show_default=True,
    help="Of a study; may be given several times.",
)
def costs(pictures: int, evaluators: tuple[int, ...]) -> None:
    """Tell what a study takes of AWS, and what that costs: requests, units, bytes, dollars."""
    from backend import usage
    from backend.protocol import INFINITY, TIME

    click.echo(usage.as_tables({"infinity": INFINITY, "time": TIME}, evaluators, pictures, usage.prices()))
