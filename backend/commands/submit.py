"""Command that submits a model's pictures to a leaderboard study of a server: `submit`."""

import json
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from backend.commands.setup import FILE, Number, option, server_url

if TYPE_CHECKING:
    from backend.client.submission import Result, Submission

_UNITS = {"percent": ("%", 1), "ms": (" ms", 1), "log-odds": (" log-odds", 2)}
"""How a unit is written, and the decimals of its scores."""


@click.command()
@click.argument("study")
@option(
    "--model models",
    "A model and the folder of its pictures; again for each.",
    metavar="NAME=DIR",
    required=True,
    example="gan@4000=samples",
)
@option(
    "--url",
    "Address of the server, such as https://study.example.org.",
    required=True,
    envvar="OPENHYPE_URL",
    show_envvar=True,
    callback=server_url,
)
@option(
    "--token-file",
    "File with the token, - for standard input; without it, the variable OPENHYPE_TOKEN counts first.",
    FILE,
    "FILE",
    envvar="OPENHYPE_TOKEN_FILE",
    show_envvar=True,
)
@option("--wait", "Wait for the scores.", bool)
@option("--timeout", "With --wait: how long.  [default: for ever]", Number(0), "SECONDS")
@option(
    "--fail-under", "With --wait: end with status 1 if a score is below this one.", Number(-1e6, 1e6), "SCORE"
)
@option("--simulated", "With --wait: the scores of simulated evaluators, to rehearse.", bool)
@option("--json as_json", "Print JSON.", bool)
def submit(
    study: str,
    models: tuple[tuple[str, str], ...],
    url: str,
    token_file: Path | None,
    wait: bool,
    timeout: float | None,
    fail_under: float | None,
    simulated: bool,
    as_json: bool,
) -> None:
    """Submit the pictures of models to the leaderboard STUDY of a server.

    Called again with the same pictures, it continues where it stopped, and submits nothing twice.
    """
    from backend.client.client import Client

    if not wait and (timeout is not None or fail_under is not None):
        raise click.UsageError("--timeout and --fail-under go with --wait")
    client = Client(url, _token(token_file), simulated=simulated)
    made = [client.submit(study, model=model, images=folder, progress=True) for model, folder in models]
    if wait:
        _wait(made, timeout)
    if as_json:
        click.echo(json.dumps([each.data for each in made], indent=2, ensure_ascii=False))
    else:
        for each in made:
            click.echo(_line(each))
    for each in made if wait else ():
        _check(_result(each, timeout), each, fail_under)


def _wait(made: Sequence["Submission"], timeout: float | None) -> None:
    """Wait for all; what one of them lacks is said once the others are printed."""
    from backend.client.errors import PicturesMissing, TimedOut

    deadline = None if timeout is None else time.monotonic() + timeout
    for each in made:
        with suppress(TimedOut, PicturesMissing):
            each.wait(None if deadline is None else max(0.0, deadline - time.monotonic()))


def _result(submission: "Submission", timeout: float | None) -> "Result":
    from backend.client.errors import TimedOut

    try:
        return submission.result(0)
    except TimedOut:
        after = "yet" if timeout is None else f"after {timeout:g} s"
        raise TimedOut(f"{submission.model} is {submission.state}: there is no score {after}") from None


def _token(file: Path | None) -> str | None:
    """Return the token in a file or on standard input; None if the environment has it.

    It is no option of its own: every user of the machine can read the options of a running command.
    """
    from backend.client.client import environment_token, token_of

    source = click.get_current_context().get_parameter_source("token_file")
    if file is not None and source is ParameterSource.COMMANDLINE:
        return sys.stdin.readline().strip() if str(file) == "-" else token_of(file)
    if environment_token() or not sys.stdin.isatty():
        return None
    return click.prompt("Token", hide_input=True, err=True)


def _line(submission: "Submission") -> str:
    result, about = submission.so_far, f"{submission.model}: {submission.state}"
    if result is not None:
        unit, digits = _UNITS[result.unit]
        ci = f" ({result.ci[0]:.{digits}f} to {result.ci[1]:.{digits}f})" if result.ci else ""
        score = f"{result.score:.{digits}f}{unit}"
        about += f", {score}{ci}, {result.evaluators} of {result.wanted} evaluators"
    return f"{about}{f': {submission.reason}' if submission.reason else ''} [{submission.id}]"


def _check(result: "Result", submission: "Submission", fail_under: float | None) -> None:
    """Raise the error of a score that is too low."""
    from backend.foundation.errors import OpenhypeError

    if fail_under is not None and result.score < fail_under:
        unit, digits = _UNITS[result.unit]
        raise OpenhypeError(
            f"{submission.model} has {result.score:.{digits}f}{unit}, less than the {fail_under:g}{unit} "
            "asked for",
            code="score_too_low",
        )
