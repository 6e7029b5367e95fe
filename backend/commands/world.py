"""What every command shares: the store and the data directory, NAME=VALUE options, progress bars."""

from collections.abc import Callable, Iterable
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


def data_option(command: Any) -> Any:
    """Give a command --data."""

    def take_data(ctx: click.Context, _: click.Parameter, value: Path) -> None:
        ctx.find_object(World).folder = value

    return click.option(
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


def store_options(command: Any) -> Any:
    """Give a command --store and --data, which nearly every command takes."""

    def take_url(ctx: click.Context, _: click.Parameter, value: str) -> None:
        ctx.find_object(World).url = value

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
    )(data_option(command))


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


def is_file(what: str) -> bool:
    """Tell a file of responses from the name of a study."""
    return Path(what).suffix in (".csv", ".jsonl", ".ndjson") or "/" in what


def progress_bar(items: Iterable, total: int | None = None, label: str = "") -> Iterable:
    """Wrap a loop in a progress bar: on a terminal, and none in a pipe."""
    from tqdm import tqdm

    return tqdm(items, total=total, desc=label, disable=None, leave=False)


LEVEL = click.option(
    "--level", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.95, show_default=True
)
"""Of the intervals."""


def finding_options(only_with: str = "") -> Callable[[Any], Any]:
    """Give a command the options of `findings.findings`; some may tell only with another option."""
    where, implied = (f" ({only_with})", f" Implies {only_with}.") if only_with else ("", "")
    options = [
        click.option(
            "--metrics",
            type=click.Path(dir_okay=False, path_type=Path),
            metavar="CSV",
            help=f"Automatic metrics to correlate: model, then one column a metric.{implied}",
        ),
        click.option(
            "--margin",
            type=click.FloatRange(0, 50, min_open=True, max_open=True),
            default=5.0,
            show_default=True,
            help=f"Points of percent around 50% that count as indistinguishable{where}.",
        ),
        click.option(
            "--threshold-at",
            type=click.FloatRange(0.5, 1, min_open=True, max_open=True),
            default=0.75,
            show_default=True,
            help=f"Accuracy at which the psychometric function has its threshold{where}.",
        ),
        click.option(
            "--iterations", type=click.IntRange(1), help="Monte Carlo bootstrap instead of the exact one."
        ),
        click.option("--seed", type=int, help="Seed of the Monte Carlo bootstrap."),
        LEVEL,
        click.option(
            "--exposures",
            type=click.Choice(["nominal", "shown"]),
            default="nominal",
            help="HYPE-time: as the staircase asked for, or as the display showed them.",
        ),
    ]

    def given(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return given
