"""The command line: parses, calls, prints. A command's module is imported when the command is called.

Exit status 0 done, 1 the work failed (one line on stderr says why), 2 wrong usage.
"""

import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from backend import __version__
from backend.commands.world import World
from backend.errors import OpenhypeError

_COMMANDS = {
    "studies": ("create", "qualification", "masks", "upload"),
    "service": ("demo", "serve", "status", "simulate"),
    "panels": ("links",),
    "recruit": ("recruit",),
    "pay": ("pay",),
    "scores": ("score", "export", "settling"),
    "plans": ("plan",),
    "reports": ("report", "leaderboard"),
    "people": ("pause", "resume", "call", "retention"),
    "deployment": ("deploy", "site"),
    "moves": ("copy", "costs"),
}
"""By module of `backend.commands`."""
HOMES: Mapping[str, str] = {name: module for module, names in _COMMANDS.items() for name in names}


class _Group(click.Group):
    """Finds commands by name, and turns our own errors into one line on stderr and status 1."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(HOMES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in HOMES:
            return None
        return getattr(import_module(f"backend.commands.{HOMES[cmd_name]}"), cmd_name)

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


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="openhype")
@click.pass_context
def main(ctx: click.Context) -> None:
    """How real do generated images look to people? Human eye perceptual evaluation (HYPE)."""
    ctx.obj = World()
