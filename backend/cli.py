"""The command line: parses, calls, prints. Heavy modules are imported by the command that needs them.

Exit status 0 done, 1 the work failed (one line on stderr says why), 2 wrong usage.
"""

import sys
from typing import Any

import click

from backend import __version__
from backend.commands import (
    deployment,
    moves,
    panels,
    pay,
    people,
    plans,
    recruit,
    reports,
    scores,
    service,
    studies,
)
from backend.commands.world import World
from backend.errors import OpenhypeError


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


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="openhype")
@click.pass_context
def main(ctx: click.Context) -> None:
    """How real do generated images look to people? Human eye perceptual evaluation (HYPE)."""
    ctx.obj = World()


for _command in (
    studies.create, studies.qualification, studies.masks, studies.upload,
    service.demo, service.serve, service.status, service.simulate,
    panels.links, recruit.recruit, pay.pay,
    scores.score, scores.export, scores.settling,
    deployment.deploy, deployment.site,
    moves.copy, moves.costs,
    plans.plan,
    reports.report, reports.leaderboard,
    people.pause, people.resume, people.call, people.retention,
):  # fmt: skip
    main.add_command(_command)
