"""The command that lists the settings of a study: `settings`."""

import shutil

import click

from backend.experiment.judgments import METHODS

_KINDS = (*METHODS, "qualification")
_WIDEST = 100


@click.command()
@click.argument("method", required=False, type=click.Choice(_KINDS), metavar="[METHOD]")
def settings(method: str | None) -> None:
    """List the settings of a study: name, default, what it is.

    METHOD is infinity or time, or qualification. Without it, the defaults are those of HYPE-infinity, and
    others stand beside them where they differ. A setting is given as `openhype create … --set NAME=VALUE`,
    or in the table [settings] of a study.toml.
    """
    from backend.administration.setting_list import as_lines

    width = min(shutil.get_terminal_size().columns, _WIDEST)
    click.echo("\n".join(as_lines(method, width)))
