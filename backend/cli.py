"""The command line: parses, calls, prints. Heavy modules are imported by the command that needs them.

Exit status 0 done, 1 the work failed (one line on stderr says why), 2 wrong usage.
"""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from backend import __version__
from backend.datadir import DataDir
from backend.errors import InvalidInput, OpenhypeError
from backend.protocol import MADE_MASKS
from backend.stores import Store, open_store

_DEFAULT_STORE = "sqlite:///openhype.db"


class _Group(click.Group):
    """Turns our own errors into one line on stderr and status 1."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except OpenhypeError as error:
            click.echo(f"openhype: {error}", err=True)
            sys.exit(1)
        except OSError as error:  # a full disk, a folder without rights, a file that went away
            where = f"{error.filename}: " if error.filename else ""
            click.echo(f"openhype: {where}{error.strerror or error}", err=True)
            sys.exit(1)


class _World:
    """The data directory and the store that the options name, opened when first needed."""

    def __init__(self) -> None:
        self.data = DataDir(Path("openhype-data"))
        self.url = _DEFAULT_STORE
        self._store: Store | None = None

    @property
    def store(self) -> Store:
        if self._store is None:
            self._store = open_store(self.url, self.data.root)
            click.get_current_context().find_root().call_on_close(self._store.close)
        return self._store


_pass_world = click.make_pass_decorator(_World)


def _store_options(command: Any) -> Any:
    """Give a command --store and --data, which every command takes."""

    def take_data(ctx: click.Context, _: click.Parameter, value: Path) -> None:
        ctx.find_object(_World).data = DataDir(value)

    def take_url(ctx: click.Context, _: click.Parameter, value: str) -> None:
        ctx.find_object(_World).url = value

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


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="openhype")
@click.pass_context
def main(ctx: click.Context) -> None:
    """How real do generated images look to people? Human eye perceptual evaluation (HYPE)."""
    ctx.obj = _World()


def _pairs(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> tuple[tuple[str, str], ...]:
    """Parse NAME=VALUE options."""
    pairs = []
    for value in values:
        name, equals, rest = value.partition("=")
        if not (name and equals and rest):
            raise click.BadParameter(f"must be of the form NAME=VALUE, not {value!r}", ctx, param)
        pairs.append((name, rest))
    return tuple(pairs)


def _image_options(command: Any) -> Any:
    for option in reversed(
        [
            click.option("--real", type=click.Path(path_type=Path), help="Folder of real images."),
            click.option(
                "--model",
                "models",
                multiple=True,
                callback=_pairs,
                metavar="NAME=DIR",
                help="A model and the folder of its samples; once for each model.",
            ),
            click.option("--size", type=int, metavar="PX", help="Width and height of the pictures shown."),
            click.option(
                "--set",
                "settings",
                multiple=True,
                callback=_pairs,
                metavar="KEY=VALUE",
                help="A setting of the study (docs/settings.md).",
            ),
            click.option(
                "--equalise",
                multiple=True,
                metavar="STEP",
                help="Put both sides through the same loss: jpeg:QUALITY or size:PX.",
            ),
            click.option(
                "--skip-bad", is_flag=True, help="Leave unreadable and duplicate files out, and list them."
            ),
        ]
    ):
        command = option(command)
    return command


@main.command()
@click.argument("name")
@click.option("--method", type=click.Choice(["infinity", "time"]), default="infinity", show_default=True)
@_image_options
@click.option("--masks", type=click.Path(path_type=Path), help="Folder of masks to use instead of made ones.")
@click.option("--evaluators", type=int, metavar="N", help="Finished sessions wanted for each model.")
@click.option("--qualification", metavar="NAME", help="Qualification that evaluators must have passed.")
@_store_options
@_pass_world
def create(world: _World, name: str, method: str, real: Path | None, models: tuple, **options: Any) -> None:
    """Make a study NAME from folders of images, or from a description in NAME.toml."""
    from backend.creation import Order, read_order

    if name.endswith(".toml"):
        if real is not None or models:
            raise click.UsageError("a study is described by a TOML file or by options, not by both")
        _create(world, read_order(Path(name)))
        return
    _need_folders(real, models)
    settings = _settings(options)
    _create(world, Order(name, "study", method, real, _folders(models), settings, **_picked(options)))


@main.command()
@click.argument("what", metavar="NAME|DIR")
@click.option("-o", "--out", type=click.Path(dir_okay=False, path_type=Path), required=True)
@click.option("--kind", type=click.Choice(MADE_MASKS), default="texture", show_default=True)
@click.option(
    "--size", "size_px", type=click.IntRange(16, 2048), default=256, show_default=True, metavar="PX"
)
@click.option("--count", type=click.IntRange(1, 1000), default=10, show_default=True, metavar="N")
@click.option("--seed", type=int, default=0, show_default=True)
@_store_options
@_pass_world
def masks(world: _World, what: str, out: Path, count: int, **options: Any) -> None:
    """Show masks as a PNG: those of the study NAME, or pictures of the folder DIR above their masks."""
    from backend.masks import sheet

    if "/" not in what and not Path(what).is_dir():
        study = world.store.study(what)
        folder = world.data.images(study.name)
        if not study.masks:
            raise InvalidInput(f"study {what} has no masks")
        picture = sheet.of_masks([folder / name for name in study.masks[:count]])
    else:
        picture = sheet.of_sources(Path(what), count, progress=_progress_bar, **options)
    picture.save(out, "PNG", optimize=True)
    click.echo(str(out))


@main.command()
@click.argument("name")
@_image_options
@_store_options
@_pass_world
def qualification(world: _World, name: str, real: Path | None, models: tuple, **options: Any) -> None:
    """Make a qualification NAME; a study asks for it with `--qualification NAME`."""
    from backend.creation import Order

    _need_folders(real, models)
    settings = _settings(options)
    order = Order(name, "qualification", "infinity", real, _folders(models), settings, **_picked(options))
    _create(world, order)


def _need_folders(real: Path | None, models: tuple) -> None:
    if real is None or not models:
        raise click.UsageError("--real DIR and at least one --model NAME=DIR are needed")


def _folders(models: tuple) -> tuple[tuple[str, Path], ...]:
    return tuple((name, Path(folder)) for name, folder in models)


def _settings(options: dict[str, Any]) -> dict[str, Any]:
    settings = dict(options["settings"])
    named = {"size_px": "size", "evaluators": "evaluators", "qualification": "qualification"}
    settings.update({key: options[name] for key, name in named.items() if options.get(name) is not None})
    return settings


def _picked(options: dict[str, Any]) -> dict[str, Any]:
    return {key: options[key] for key in ("masks", "equalise", "skip_bad") if key in options}


def _create(world: _World, order: Any) -> None:
    from backend.creation import create
    from backend.visits import utc_now

    study = create(world.store, world.data, order, utc_now(), progress=_progress_bar)
    click.echo(
        f"made the {study.kind} {study.name}: {len(study.models)} models, {study.protocol.trials} trials"
    )
    for note in study.notes:
        click.echo(f"note: {note}")
    click.echo(f"next: openhype serve, then share http://…/s/{study.name}")


def _progress_bar(items: Iterable, total: int | None = None, label: str = "") -> Iterable:
    """Wrap a loop in a progress bar: on a terminal, and none in a pipe."""
    from tqdm import tqdm

    return tqdm(items, total=total, desc=label, disable=None, leave=False)


@main.command()
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True)
@_store_options
@_pass_world
def serve(world: _World, host: str, port: int) -> None:
    """Serve the task page and the API on this machine."""
    _serve(world, host, port)


def _serve(world: _World, host: str, port: int, opened: Any = None) -> None:
    from backend.handlers import create_app
    from backend.server import make_server
    from backend.server import serve as run

    app = create_app(world.store, world.data, world.data.keys())
    server = make_server(app, host, port)
    base = f"http://{host}:{server.effective_port}"
    for study in world.store.studies():
        click.echo(f"{study.kind} {study.name}: {base}/s/{study.name}")
    click.echo(f"researcher's key: {world.data.root / 'keys.json'}; stop with Ctrl-C")
    sys.stdout.flush()
    if opened is not None:
        opened(base)
    run(server)


@main.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@_store_options
@_pass_world
def status(world: _World, name: str | None, as_json: bool) -> None:
    """List the studies, or show how far the study NAME is."""
    from backend.progress import as_text, progress
    from backend.visits import utc_now

    studies = [world.store.study(name)] if name else world.store.studies()
    found = [progress(world.store, study, utc_now()) for study in studies]
    if as_json:
        click.echo(json.dumps(found[0] if name else found, indent=2))
    elif found:
        click.echo("\n".join(as_text(data) for data in found))
    else:
        click.echo("no study yet; make one with `openhype create`, or try `openhype demo`")


@main.command()
@click.argument("what", metavar="NAME|FILE")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with full precision.")
@click.option("--iterations", type=click.IntRange(1), help="Monte Carlo bootstrap instead of the exact one.")
@click.option("--seed", type=int, help="Seed of the Monte Carlo bootstrap.")
@click.option("--level", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.95)
@click.option("--evaluators-drawn", type=click.IntRange(1), metavar="N", help="Evaluators a resample draws.")
@click.option(
    "--exposures",
    type=click.Choice(["nominal", "shown"]),
    default="nominal",
    help="HYPE-time: as the staircase asked for, or as the display showed them.",
)
@_store_options
@_pass_world
def score(world: _World, what: str, as_json: bool, **options: Any) -> None:
    """Score a study, or a file of responses (CSV or JSON lines) collected anywhere."""
    from backend.responses import score_file
    from backend.results import study_scores
    from backend.tables import as_table

    if Path(what).suffix in (".csv", ".jsonl", ".ndjson") or "/" in what:
        scores = score_file(Path(what), **options)
    else:
        scores = study_scores(world.store, world.store.study(what), **options)
    click.echo(json.dumps(scores, indent=2, allow_nan=False) if as_json else as_table(scores))


@main.command()
@click.argument("name")
@click.option("-o", "--out", type=click.Path(file_okay=False, path_type=Path), required=True)
@_store_options
@_pass_world
def export(world: _World, name: str, out: Path) -> None:
    """Write the answers of the study NAME as a Psych-DS data set."""
    from backend.export import export as write

    for path in write(world.store, world.store.study(name), out):
        click.echo(str(path))


@main.command()
@click.argument("name")
@click.option("--evaluators", type=click.IntRange(1), metavar="N", help="In all; default: as many as wanted.")
@click.option(
    "--accuracy",
    "observers",
    multiple=True,
    callback=_pairs,
    metavar="MODEL=OBSERVER",
    help="0.81, or threshold=250,slope=3,lapse=0.02,guess=0.5; `all=…` for every model not named.",
)
@click.option("--sd", type=click.FloatRange(0, 0.5), default=0.0, help="SD of accuracy between evaluators.")
@click.option("--url", help="A running server; default: one of its own on this store.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--at-once", type=click.IntRange(1, 256), default=8, show_default=True)
@_store_options
@_pass_world
def simulate(world: _World, name: str, observers: tuple, **options: Any) -> None:
    """Have simulated evaluators take part in the study NAME, through the real HTTP API."""
    from backend.simulation import simulate as run

    done = run(world.store, world.data, name, dict(observers), progress=_progress_bar, **options)
    click.echo(f"{done} simulated evaluators finished {name}; next: openhype score {name}")


@main.command()
@click.option("--evaluators", type=click.IntRange(2), default=4000, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--observer", type=click.Choice(["constant", "exponential"]), default="constant")
def settling(evaluators: int, seed: int, observer: str) -> None:
    """Print where each reading of the papers' staircase settles on their six models."""
    import numpy as np

    from backend.settling import as_table, settling_table

    table = settling_table(np.random.default_rng(seed), evaluators=evaluators, observer=observer)
    click.echo(as_table(table))


@main.command()
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True)
@click.option("--no-browser", is_flag=True, help="Do not open a browser.")
@_store_options
@_pass_world
def demo(world: _World, port: int, no_browser: bool) -> None:
    """Make the sample studies if they are missing, and serve them."""
    from backend.demo import make_missing

    make_missing(world.store, world.data, report=click.echo, progress=_progress_bar)
    _serve(world, "127.0.0.1", port, opened=None if no_browser else _open_browser)


def _open_browser(base: str) -> None:
    import threading
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(f"{base}/s/digits",), daemon=True).start()
