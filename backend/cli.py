"""The command line: parses, calls, prints. A command's module is imported when the command is called.

Exit status 0 done, 1 the work failed (one line on stderr says why), 2 wrong usage, 130 interrupted.
"""

import io
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any, NoReturn

import click

from backend import __version__
from backend.commands.setup import store_options
from backend.foundation.errors import OpenhypeError, reason
from backend.foundation.suggestions import did_you_mean

_GROUPS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "Make and try a study": {
        "demo": ("service", "make two sample studies and serve them"),
        "create": ("studies", "make a study from folders of images"),
        "qualification": ("studies", "make a test that evaluators pass before a study"),
        "settings": ("settings", "list the settings of a study, with their defaults"),
        "masks": ("studies", "show the masks of a study, or those of a folder"),
        "distort": ("distortion", "make pairs and triplets from photographs"),
        "preview": ("preview", "show a study as its evaluators see it, recording nothing"),
        "simulate": ("service", "let simulated evaluators take part"),
        "set": ("changes", "change settings of a study without sessions"),
        "rerun": ("replication", "make the same study again, for other people"),
        "join": ("joining", "add a model to a running study"),
        "competition": ("competition", "have a study take in models that others submit"),
        "clear": ("changes", "remove the simulated sessions of a study"),
        "delete": ("changes", "delete a study with all its answers and pictures"),
        "submit": ("submit", "submit a model's pictures to a leaderboard study"),
        "site": ("deployment", "write a demo of a study for any web server"),
    },
    "Collect answers": {
        "serve": ("service", "serve the task page and the console"),
        "work": ("jobs", "do jobs of the server, such as making studies"),
        "members": ("members", "list and change who may use the API, with tokens"),
        "status": ("service", "list the studies, or show how far one is"),
        "pause": ("people", "open no new sessions of a study"),
        "resume": ("people", "resume a paused study"),
        "backup": ("moves", "back up the data directory, also while answers arrive"),
        "restore": ("moves", "make a data directory from a backup"),
        "copy": ("moves", "copy a study with its answers to another store"),
        "retention": ("people", "delete personal data whose retention period is over"),
    },
    "Recruit and pay": {
        "plan": ("plans", "plan how many evaluators an aim needs, and the cost"),
        "links": ("panels", "print private links, one a person"),
        "recruit": ("recruit", "recruit evaluators at a panel"),
        "admit-waiting": ("people", "open a study for the people who wait for it"),
        "update-sampling": ("sampling", "select the pictures that need evaluators"),
        "pay": ("pay", "show what evaluators are owed, and pay it"),
    },
    "Score and report": {
        "score": ("scores", "score a study, or a file of responses"),
        "looks": ("looks", "say what planned looks decide: stop, go on, drop a model"),
        "preregister": ("looks", "print a text in which a study is registered"),
        "report": ("reports", "write a page with every number, figure and table"),
        "leaderboard": ("reports", "write one table over several studies"),
        "replicate": ("replication", "test runs of one study against each other"),
        "export": ("scores", "write the answers as a Psych-DS data set"),
        "published": ("scores", "recompute what the papers print from their tables"),
        "convergence": ("scores", "show what each reading of the staircase converges to"),
    },
    "Compare with metrics": {
        "agree": ("agreement", "score metrics against votes on triplets or pairs"),
        "calibrate": ("calibration", "fit LPIPS on people's votes on triplets"),
        "distances": ("picture_distances", "compute LPIPS, SSIM and others between pictures"),
        "metrics": ("metrics", "compare models' pictures with the reals: FID and others"),
    },
    "Deploy": {
        "deploy": ("deployment", "put page, API and pictures on AWS"),
        "upload": ("studies", "upload the pictures of a study to its bucket"),
        "costs": ("moves", "estimate what a study costs on AWS"),
    },
}
"""By heading of the help: each command's module in `backend.commands`, and a one-line description."""
HOMES: Mapping[str, str] = {
    name: module for commands in _GROUPS.values() for name, (module, _) in commands.items()
}
_EXAMPLES = (
    "openhype demo",
    "openhype create faces --real images/real --model gan=images/gan",
    "openhype serve",
    "openhype score faces",
    "openhype report responses.csv -o report",
)


class _Commands(click.Group):
    """Finds commands by name; turns any error into one line on stderr and an exit status."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(HOMES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in HOMES:
            return None
        return getattr(import_module(f"backend.commands.{HOMES[cmd_name]}"), cmd_name.replace("-", "_"))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in HOMES and not args[0].startswith("-"):
            hint = did_you_mean(args[0], HOMES, "; `openhype --help` lists all")
            ctx.fail(f"there is no command {args[0]!r}{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, HOMES))
        for heading, commands in _GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), line) for name, (_, line) in commands.items()])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Examples"):
            for example in _EXAMPLES:
                formatter.write(f"  {example}\n")

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            _fail("interrupted", 130)

    def main(self, *args: Any, **options: Any) -> Any:
        _print_anything()
        try:
            return super().main(*args, **options)
        except OpenhypeError as error:
            _fail(str(error))
        except OSError as error:  # a full disk, a folder without permission, a file that was removed
            where = error.filename2 or error.filename  # for a failed copy, the destination
            _fail(f"{where}: {reason(error)}" if where else reason(error))
        except MemoryError as error:
            _fail(f"there is not enough memory for this: {error or 'ask for less'}")
        except UnicodeEncodeError as error:
            _fail(f"a name must be text that can be written as UTF-8, not {error.object!a}")
        except ModuleNotFoundError as error:
            from backend.foundation.optional_packages import not_installed

            _fail(str(not_installed("this command", error.name or str(error))))
        except Exception as error:  # noqa: BLE001 - the entry point: any error ends in one line
            _fail(_fault(error))


def _print_anything() -> None:
    """Print characters that the terminal cannot encode as escape sequences, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")


def _fail(message: str, status: int = 1) -> NoReturn:
    click.echo(f"openhype: {message}", err=True)
    sys.exit(status)


def _fault(error: Exception) -> str:
    """Return the message for an unexpected error; details for developers are written to a file."""
    import tempfile
    import traceback

    if type(error).__module__ == "sqlite3":
        return f"the database cannot be read or written: {error}"
    what = f"a fault in openhype: {type(error).__name__}: {error}".rstrip(": ").replace("\n", " ")
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="openhype-fault-", suffix=".txt", delete=False, encoding="utf-8", errors="replace"
        ) as file:
            file.write(f"openhype {__version__}, Python {sys.version}\n{sys.argv}\n")
            traceback.print_exception(error, file=file)
    except OSError:
        return what
    return f"{what}; please report it, with the file {file.name}"


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="openhype")
@store_options
def main() -> None:
    """How real do generated images look to people? Human eye perceptual evaluation (HYPE)."""
