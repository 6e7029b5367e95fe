"""Code shared by all commands: the store and the data directory, option types, progress bars."""

import math
import shutil
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from backend.experiment.money import parse_money
from backend.foundation.errors import InvalidInput, NotFound
from backend.foundation.suggestions import did_you_mean

if TYPE_CHECKING:
    from backend.analysis.table.response_table import Answers
    from backend.experiment.records import Study
    from backend.report.build import ReportOptions
    from backend.stores.datadir import DataDir
    from backend.stores.store import Store

_DEFAULT_STORE = "sqlite:///openhype.db"
_MOST_NAMED = 10
_REDRAWN_S = 1.0


class Setup:
    """The data directory and the store given by the options, opened when first needed."""

    def __init__(self) -> None:
        self.folder = Path("openhype-data")
        self.url = _DEFAULT_STORE
        self._store: Store | None = None

    @property
    def data(self) -> "DataDir":
        from backend.stores.datadir import DataDir

        return DataDir(self.folder)

    @property
    def store(self) -> "Store":
        if self._store is None:
            from backend.stores.opening import open_store

            self._store = open_store(self.url, self.data.root)
            click.get_current_context().find_root().call_on_close(self._store.close)
        return self._store

    @property
    def has_store(self) -> bool:
        """Whether the store already exists; commands that only read do not create it."""
        from backend.stores.opening import is_there

        return is_there(self.url, self.data.root)

    @property
    def address(self) -> str | None:
        """Where browsers reach the pages of the store: as OPENHYPE_URL says, else where it is served now."""
        import os

        from backend.foundation.addresses import VARIABLE, parse_public
        from backend.stores.served_address import address_of

        stated = os.environ.get(VARIABLE)
        return parse_public(stated) if stated else address_of(self.data, self.url) or self.deployed_at

    @property
    def deployed_at(self) -> str | None:
        """Where the deployment that the store belongs to serves the pages, if there is one."""
        from backend.stores.served_address import deployed_at

        return deployed_at(self.store) if self.url.startswith("dynamodb://") else None

    def study(self, name: str) -> "Study":
        """Return the study called `name`.

        Raises:
            NotFound: there is none; the message lists the existing ones.
        """
        known = []
        if self.has_store:
            try:
                return self.store.study(name)
            except NotFound:
                known = [study.name for study in self.store.studies()]
        others = f"; there are {', '.join(known[:_MOST_NAMED])}{' …' if len(known) > _MOST_NAMED else ''}"
        where = self.data.root if self.url == _DEFAULT_STORE else self.url
        hint = did_you_mean(name, known, others) if known else "; there is no study yet: is --data right?"
        raise NotFound(f"there is no study {name!r} in {where}{hint}", code="unknown_study")


pass_setup = click.make_pass_decorator(Setup)


def command(name: str | None = None) -> Callable[[Callable], click.Command]:
    """Declare a function as a command with --store and --data; it is called with the World that they name."""

    def declare(function: Callable) -> click.Command:
        return data_option(store_option(click.command(name)(pass_setup(function))))

    return declare


def data_option(command: Any) -> Any:
    """Add --data to a command. A value after the command overrides one before it."""

    def take_data(ctx: click.Context, param: click.Parameter, value: str) -> None:
        if not value:
            raise click.BadParameter("must name a folder, not ''", ctx, param)
        if _is_decisive(ctx, param):
            ctx.ensure_object(Setup).folder = Path(value)

    return option(
        "--data",
        "Data directory: database, pictures, keys.",
        click.Path(file_okay=False),
        "DIR",
        envvar="OPENHYPE_DATA",
        default="./openhype-data",
        show_envvar=True,
        expose_value=False,
        callback=take_data,
    )(command)


def options(*declared: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return the decorator that adds several options to a command, in this order."""

    def decorate(command: Any) -> Any:
        for option in reversed(declared):
            command = option(command)
        return command

    return decorate


def store_options(command: Any) -> Any:
    """Add --store and --data, which nearly every command accepts, to a function."""
    return store_option(data_option(command))


def store_option(command: Any) -> Any:
    def take_url(ctx: click.Context, param: click.Parameter, value: str) -> None:
        if _is_decisive(ctx, param):
            ctx.ensure_object(Setup).url = value

    return option(
        "--store",
        "Where studies and answers are stored.",
        metavar="URL",
        envvar="OPENHYPE_STORE",
        default=_DEFAULT_STORE,
        show_envvar=True,
        expose_value=False,
        callback=take_url,
    )(command)


def _is_decisive(ctx: click.Context, param: click.Parameter) -> bool:
    """Tell whether an option that stands both before and after the command decides here."""
    return ctx.parent is None or ctx.get_parameter_source(param.name or "") is ParameterSource.COMMANDLINE


def answers_of(setup: Setup, source: "Study | Path", details: bool, simulated: bool = False) -> "Answers":
    """Return the responses of a responses file, or of a study: what `named` found.

    Args:
        details: for a file, include the columns that scores do not need; a study's are always included.
        simulated: return those of simulated sessions instead of real ones.
    """
    if isinstance(source, Path):
        from backend.responses.readers import read_answers

        return read_answers(source, details, simulated)
    from backend.responses.study_data import study_answers
    from backend.studies.look_records import check_shown

    check_shown(source, simulated)
    return study_answers(setup.store, source, simulated)


def named(setup: Setup, what: str) -> "Study | Path":
    """Return the study of that name, or otherwise the path of the file or folder of responses.

    Raises:
        NotFound: it is neither.
    """
    path = Path(what)
    if path.suffix.lower() in (".csv", ".jsonl", ".ndjson") or "/" in what:
        return path
    try:
        return setup.study(what)
    except NotFound:
        if what and path.exists():
            return path
        raise


def screen_width() -> int | None:
    """Return the number of columns of the terminal that is written to; None for a pipe or a file."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def pairs(example: str) -> Callable[[click.Context, click.Parameter, tuple[str, ...]], tuple]:
    """Return a callback that parses the values of a NAME=VALUE option; errors show `example`."""

    def parse(
        ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
    ) -> tuple[tuple[str, str], ...]:
        parsed = []
        for value in values:
            name, equals, rest = value.partition("=")
            if not (name and equals and rest):
                raise click.BadParameter(_expected(param, example, value), ctx, param)
            parsed.append((name, rest))
        return tuple(parsed)

    return parse


def server_url(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Return the URL of a server; raise a usage error if it is invalid."""
    from urllib.parse import urlsplit

    if value is None:
        return None
    try:
        parts = urlsplit(value)
        is_one = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # an invalid port or IPv6 address
        is_one = False
    if not is_one:
        raise click.BadParameter(f"must be like http://127.0.0.1:8000, not {value!r}", ctx, param)
    return value


def _expected(param: click.Parameter, example: str, actual: str) -> str:
    form = param.metavar or "NAME=VALUE"
    if isinstance(param, click.Argument):
        return f"must be {form}, for example {example}, not {actual!r}"
    option = param.opts[0]
    if form.endswith("=DIR") and "=" not in actual and Path(actual).name:
        example = f"{Path(actual).name}={actual}"
    return f"must be `{option} {form}`, for example `{option} {example}`, not {actual!r}"


class Number(click.FloatRange):
    """A number within a range, neither infinite nor `nan`, which would pass every range check."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number; raise a usage error if it is invalid."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number.", param, ctx)
        return number


class Percent(click.ParamType):
    """The fee that a panel charges on top of pay, in percent; passed on as text, without a percent sign."""

    name = "percent"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the number as text; raise a usage error if it is invalid, or looks like a share (0 to 1)."""
        from backend.experiment.money import parse_fee

        try:
            return parse_fee(str(value))
        except InvalidInput as error:
            self.fail(str(error), param, ctx)


PATH = click.Path(path_type=Path)
FILE = click.Path(dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)
FEE_TYPE = Percent()
SEED = click.IntRange(0)
ITERATIONS = click.IntRange(1, 10_000_000)


def amount(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """Return an amount of money in currency units, such as 250 or 99.50, in cents."""
    if value is None:
        return None
    try:
        return parse_money(value)
    except InvalidInput as error:
        raise click.BadParameter(str(error), ctx, param) from None


def progress_bar(items: Iterable, total: int | None = None, label: str = "") -> Iterator:
    """Wrap an iterable in a progress bar, shown on a terminal but not in a pipe."""
    with _bar(items, total=total, desc=label) as bar:
        yield from bar


@contextmanager
def elapsed_time(label: str) -> Iterator[None]:
    """Show on a terminal for how long the block, whose steps cannot be counted, has been running."""
    with _bar(desc=label, bar_format="{desc}: {elapsed}"):
        yield


def terminal_bar(items: Iterable | None = None, **options: Any) -> Any:
    """Return a bar of tqdm, which shows itself on a terminal only, and nothing of it after its end."""
    from tqdm import tqdm

    columns, lines = shutil.get_terminal_size()  # tqdm shows nothing on a terminal that does not say its size
    return tqdm(items, disable=None, leave=False, ncols=columns - 1, nrows=lines, **options)


@contextmanager
def _bar(items: Iterable | None = None, **options: Any) -> Iterator[Any]:
    """Yield a bar, drawn anew every second and removed after the block."""
    from backend.stimuli.parallel import OF_BARS

    bar, is_over = terminal_bar(items, **options), threading.Event()

    def redraw() -> None:
        while not is_over.wait(_REDRAWN_S):
            bar.refresh()

    if not bar.disable:
        threading.Thread(target=redraw, name=OF_BARS, daemon=True).start()
    try:
        yield bar
    finally:
        is_over.set()
        bar.close()


def say(text: str) -> None:
    """Print a line to stderr, above the progress bar, if any."""
    import sys

    from tqdm import tqdm

    tqdm.write(text, file=sys.stderr)


def option(
    names: str, about: str = "", type: Any = None, metavar: str | None = None, example: str = "", **more: Any
) -> Callable[[Any], Any]:
    """Return an option of a command, as `click.option` does; its default is shown.

    Args:
        names: separated by spaces, such as `-o --out`, or `--model models` for a parameter `models`.
        about: the help.
        type: of the value; `bool` for a flag.
        example: a NAME=VALUE of an option that takes such pairs, and may be repeated.
    """
    if type is bool:
        return click.option(*names.split(), is_flag=True, help=about, **more)
    if example:
        more |= {"multiple": True, "callback": pairs(example)}
    settings = {"show_default": more.get("default") not in (None, "") or None, **more}
    return click.option(*names.split(), type=type, metavar=metavar, help=about or None, **settings)


def images_option(what: str) -> Callable[[Any], Any]:
    """Return the option --images, a location in a bucket; `what` is its help text."""
    return option(
        "--images place", what, metavar="s3://BUCKET/PREFIX", envvar="OPENHYPE_IMAGES", show_envvar=True
    )


SIMULATED = option(
    "--simulated", "Of simulated sessions, which else are in nothing, instead of real ones.", bool
)
LEVEL = option("--level", "Of the intervals.", Number(1e-6, 1 - 1e-6), default=0.95)


def finding_options(only_with: str = "") -> Callable[[Any], Any]:
    """Add the options of `findings.findings` to a command; some need the option `only_with`."""
    where, implied = (f" ({only_with})", f" Implies {only_with}.") if only_with else ("", "")
    return options(
        option(
            "--metrics",
            f"Automatic metrics to correlate: model, then one column a metric.{implied}",
            FILE,
            "CSV",
        ),
        option(
            "--margin",
            f"Percentage points that count as no difference: of two models, and around 50%{where}.",
            Number(0, 50, min_open=True, max_open=True),
            default=5.0,
        ),
        option(
            "--threshold-at",
            f"Accuracy at which the psychometric function has its threshold{where}.",
            Number(0.5, 1, min_open=True, max_open=True),
            default=0.75,
        ),
        option("--iterations", "Monte Carlo bootstrap instead of the exact one.", ITERATIONS),
        option("--seed", "Seed of the Monte Carlo bootstrap.", SEED),
        LEVEL,
        option(
            "--exposures",
            "HYPE-time: as the staircase asked for, or as the display showed them.",
            click.Choice(["nominal", "shown"]),
            default="nominal",
            show_default=False,
        ),
    )


def report_options(
    title: str,
    metrics: Path | None,
    margin: float,
    threshold_at: float,
    exposures: str,
    simulated: bool,
    **scoring_options: Any,
) -> "ReportOptions":
    """Return the options of a report from those of `finding_options` and `SIMULATED`."""
    from backend.report.build import ReportOptions
    from backend.report.findings import FindingsOptions
    from backend.responses.reading.metrics import read_metrics

    values = read_metrics(metrics) if metrics else {}
    chosen = FindingsOptions(values, margin=margin, threshold_at=threshold_at)
    return ReportOptions(title, exposures, chosen, scoring_options, simulated)
