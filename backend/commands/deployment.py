"""Commands that publish studies: `deploy`, and `site` for a demo."""

import os
import shlex
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from backend.commands.setup import FOLDER, Setup, command, option, progress_bar
from backend.foundation.addresses import study_page
from backend.foundation.errors import NotFound, StoreFailed
from backend.foundation.optional_packages import not_installed
from backend.stores.served_address import note_deployment, write_address

_EVALUATORS, _PICTURES = 30, 2000


@command()
@click.argument("name", default="openhype")
@option("--yes", "Do it; without, the plan is shown and nothing is changed.", bool)
@option("--destroy", "Take away what was made; studies, answers and pictures stay.", bool)
@option("--with-data", "With --destroy: delete the data as well; repeat the name.", metavar="NAME")
@option(
    "--panel",
    "Have the functions recruit and pay with the token in PROLIFIC_TOKEN; none: take the token away.",
    click.Choice(["prolific", "none"]),
)
@option(
    "--at-once",
    "Bound throughput and concurrency for N people at once. Default: as they are; for a new one, 1,000.",
    click.IntRange(1, 1_000_000),
    "N",
)
@option(
    "--set settings",
    "A setting of the deployment, such as monthly_budget; `none` takes it away.",
    metavar="NAME=VALUE",
    example="price_class=100",
)
@option("--region", "AWS region; default: as the AWS tools find it.")
@option("--profile", "Profile of the AWS tools.")
def deploy(
    setup: Setup,
    name: str,
    yes: bool,
    destroy: bool,
    with_data: str | None,
    panel: str | None,
    at_once: int | None,
    settings: tuple[tuple[str, str], ...],
    **where: Any,
) -> None:
    """Put page, API and pictures on AWS under NAME: a plan first, done with --yes."""
    if with_data is not None and (not destroy or with_data != name):
        raise click.UsageError(f"--with-data goes with --destroy and repeats the name: --with-data {name}")
    try:
        import boto3
        from botocore.exceptions import BotoCoreError, ClientError
        from zappa import cli as _  # noqa: F401 - packages are built by it
    except ImportError:
        raise not_installed("deploying", "zappa") from None
    from deploy import bounds
    from deploy.deployment import Deployment

    try:
        session = boto3.Session(region_name=where["region"], profile_name=where["profile"])
        deployment = Deployment(
            name,
            setup.data,
            session,
            panel=_panel_secrets(setup) if panel == "prolific" else None,
            removes_panel=panel == "none",
            settings=bounds.parse(settings),
            at_once=at_once,
        )
        checked = deployment.check(removes=destroy)
        click.echo(f"{name} in {checked.region}, account {checked.account}")
        for note in checked.notes:
            click.echo(f"note: {note}")
        if destroy:
            _destroy(setup, deployment, yes, with_data is not None)
        else:
            _deploy(setup, deployment, yes)
    except (BotoCoreError, ClientError) as error:
        raise StoreFailed(f"AWS: {error}; completed steps remain; run this again to resume") from None


@command()
@click.argument("name")
@option("-o --out", "", FOLDER, required=True)
@option("--pictures", "", click.IntRange(1), "N", default=100)
def site(setup: Setup, name: str, out: Path, pictures: int) -> None:
    """Write a demo of the study NAME as plain files, with at most N pictures of each kind."""
    from backend.web.static_demo import write_site

    study = setup.study(name)
    page = write_site(setup.store, study, setup.data.images(study.name), out, pictures, progress_bar)
    click.echo(f"{page}; try it with: python -m http.server -d {shlex.quote(str(out))}")


def _panel_secrets(setup: Setup) -> dict[str, str]:
    """Return what the functions need to recruit at Prolific: the token, and the secret of its events."""
    from backend.commands.recruit import webhook_secret
    from backend.panels.prolific import prolific_token

    return {"token": prolific_token(os.environ), "webhook_secret": webhook_secret(setup)}


def _deploy(setup: Setup, deployment: Any, yes: bool) -> None:
    from deploy.deployment import build_packages

    packages = build_packages(setup.data.cache("packages"), deployment.stages(), report=click.echo)
    plan = deployment.plan(packages)
    _show(plan)
    for line in _cost_lines(has_panel="panel" in packages):
        click.echo(line)
    if all(change.verb == "leave" for change in plan):
        click.echo("nothing to do")
        made = deployment.current()
    elif yes:
        made = deployment.apply(packages, report=click.echo)
        _note_in_table(setup, made, made["Url"])
    else:
        click.echo("nothing was changed; do it with --yes")
        return
    write_address(setup.data, _store_url(made), made["Url"], None)
    click.echo(f"the page is at {study_page(made['Url'], 'STUDY')}; from here on, on this machine:")
    click.echo(f"  export OPENHYPE_STORE='{_store_url(made)}'")
    click.echo(f"  export OPENHYPE_IMAGES=s3://{made['Bucket']}/public")
    click.echo(f"the console is at {made['Url']}/console: sign in with the researcher's key in")
    click.echo(f"{setup.data.root / 'keys.json'}, or with a token of `openhype members token NAME`")


def _cost_lines(has_panel: bool) -> list[str]:
    """Return lines with the cost of a study, and of a month while idle."""
    from backend.administration import aws_costs as costs
    from backend.experiment.judgments.real_or_fake import INFINITY, TIME

    prices = costs.prices()
    assumed = prices["assumed"]
    lines = []
    for name, protocol in (("HYPE-infinity", INFINITY), ("HYPE-time", TIME)):
        used = costs.of_study(protocol, _EVALUATORS, _PICTURES, assumed)
        usd = sum(costs.cost_usd(used, _PICTURES, prices).values())
        lines.append(f"costs: ${usd:.2f} a {name} study of {_EVALUATORS} evaluators, {_PICTURES:,} pictures")
    stored_gb = _PICTURES * assumed["picture_bytes"] / 1e9
    usd = stored_gb * prices["s3"]["stored_gb_month"]
    return [
        *lines,
        f"costs: ${usd:.3f} a month for the pictures of such a study, and without visitors "
        f"${costs.idle_usd(prices, has_panel):.2f} besides, whatever the studies, and with an alarm_mail "
        f"${costs.alarms_usd(prices, has_panel):.2f} for alarms "
        f"(prices of {prices['region']} as of {prices['as_of']}; more: openhype costs)",
    ]


def _destroy(setup: Setup, deployment: Any, yes: bool, with_data: bool) -> None:
    plan = deployment.planned_removal(with_data)
    _show(plan)
    if not any(change.verb == "remove" for change in plan):
        click.echo("nothing to do")
    elif not yes:
        click.echo("nothing was changed; do it with --yes")
    else:
        if "Table" in (made := deployment.current()):
            write_address(setup.data, _store_url(made), None, None)
            with suppress(NotFound):  # the table, if a deletion broke off
                _note_in_table(setup, made, None)
        deployment.remove(with_data, report=click.echo)


def _note_in_table(setup: Setup, made: Mapping[str, str], address: str | None) -> None:
    """Store where the pages are served for those who use the table from other machines; None forgets it."""
    from backend.stores.opening import open_store

    store = open_store(_store_url(made), setup.data.root)
    note_deployment(store, address)
    store.close()


def _store_url(made: Mapping[str, str]) -> str:
    return f"dynamodb://{made['Table']}?region={made['Region']}"


def _show(plan: list) -> None:
    for change in plan:
        click.echo(f"{change.verb:>7}  {change.what}")
