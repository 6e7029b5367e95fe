"""What every command shares: the store and the data directory, NAME=VALUE options, progress bars."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from backend.answers import Answers
    from backend.datadir import DataDir
    from backend.stores import Store

_DEFAULT_STORE = "sqlite:///openhype.db"


class World:
    """The data directory and the store that the options name, opened when first needed."""

    def __init__(self) -> None:
        self.folder = Path("openhype-data")
        self.url = _DEFAULT_STORE
        self._store: Store | None = None

    @property
    def data(self) -> "DataDir":
        from backend.datadir import DataDir

        return DataDir(self.folder)

    @property
    def store(self) -> "Store":
        if self._store is None:
            from backend.stores import open_store

            self._store = open_store(self.url, self.data.root)
            click.get_current_context().find_root().call_on_close(self._store.close)
        return self._store


pass_world = click.make_pass_decorator(World)


def store_options(command: Any) -> Any:
    """Give a command --store and --data, which every command takes."""

    def take_data(ctx: click.Context, _: click.Parameter, value: Path) -> None:
        ctx.find_object(World).folder = value

    def take_url(ctx: click.Context, _: click.Parameter, value: str) -> None:
        ctx.find_object(World).url = value

    command = click.option(
        "--data",
        type=click.Path(file_okay=False, path_type=Path),
        envvar="OPENHYPE_DATA",
        default="./openhype-data",
        show_default=True,
        show_envvar=True,
        expose_value=False,
        callback=take_data,
        help="Data directory: database, pictures, keys.",
    )(command)
    return click.option(
        "--store",
        envvar="OPENHYPE_STORE",
        default=_DEFAULT_STORE,
        show_default=True,
        show_envvar=True,
        expose_value=False,
        callback=take_url,
        metavar="URL",
        help="Where studies and answers are stored.",
    )(command)


def is_file(what: str) -> bool:
    """Return whether an argument NAME|FILE is a file of responses rather than the name of a study."""
    return Path(what).suffix in (".csv", ".jsonl", ".ndjson") or "/" in what


def answers_named(world: World, what: str, details: bool) -> "Answers":
    """Return the answers of a responses file, or of the study of that name.

    Args:
        details: of a file, with the columns that scores can do without; a study's are always there.
    """
    if is_file(what):
        from backend.responses import read_answers

        return read_answers(Path(what), details)
    from backend.results import study_answers

    return study_answers(world.store, world.store.study(what))


def pairs(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Parse NAME=VALUE options."""
    pairs = []
    for value in values:
        name, equals, rest = value.partition("=")
        if not (name and equals and rest):
            raise click.BadParameter(f"must be of the form NAME=VALUE, not {value!r}", ctx, param)
        pairs.append((name, rest))
    return tuple(pairs)


def progress_bar(items: Iterable, total: int | None = None, label: str = "") -> Iterable:
    """Wrap a loop in a progress bar: on a terminal, and none in a pipe."""
    from tqdm import tqdm

    return tqdm(items, total=total, desc=label, disable=None, leave=False)
