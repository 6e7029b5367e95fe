"""`recruit`: recruits evaluators from a panel with an API; shows the plan first, executes it with `--yes`."""

import json
import os
import threading
from pathlib import Path
from typing import Any

import click

from backend.commands.setup import FEE_TYPE, Setup, amount, command, option
from backend.foundation.text_files import read_text
from backend.recruitment.plan import FEE_PERCENT


@command()
@click.argument("name")
@option("--panel", "", click.Choice(["prolific"]), default="prolific")
@option("--url", "Where evaluators reach the server: https://…; default: where it is served, if by https.")
@option("--places", "Default: every session wanted. Can only grow.", click.IntRange(1, 1_000_000), "N")
@option("--workspace", "The workspace that pays, if there are several.", metavar="ID", default="")
@option("--project", "The project it is paid by, where there are several.", metavar="ID", default="")
@option("--fee", f"What the panel takes on top of pay. Default: {FEE_PERCENT}.", FEE_TYPE, "PERCENT")
@option("--vat", "VAT on the fee, where your account pays it. Default: 0.", metavar="PERCENT")
@option("--budget", "Maximum total cost; default: the plan's cost.", metavar="AMOUNT", callback=amount)
@option(
    "--completion",
    "Who reports completion to the panel: the server (default), or the person with a code.",
    click.Choice(["server", "code"]),
)
@option(
    "--signed/--unsigned is_signed",
    "Have Prolific sign its links (chosen workspaces); default: unsigned.",
    default=None,
)
@option(
    "--screen-out",
    "Have Prolific pay this for being screened out (selected workspaces); needs --slots.",
    metavar="AMOUNT",
    callback=amount,
)
@option("--slots", "For how many people. Can only grow.", click.IntRange(1), "N")
@option("--yes", "Do it.", bool)
@option(
    "--rehearse",
    "Publish a copy to test participants; with EMAIL, make one first.",
    metavar="[EMAIL]",
    is_flag=False,
    flag_value="",
)
@option("--webhooks", "Have Prolific notify the server at URL immediately; needs https.", metavar="URL")
@option("--pause action", "Pause recruitment.", flag_value="pause")
@option("--resume action", "Resume recruitment.", flag_value="resume")
@option("--stop action", "Stop recruitment permanently; give up a draft.", flag_value="stop")
@option("--status action", "Show participant slots, sessions and cost.", flag_value="status")
@option(
    "--watch action",
    "Keep slots and sessions consistent until Ctrl-C; `openhype serve` does so by itself.",
    flag_value="watch",
)
@option("--json as_json", "Print JSON.", bool)
def recruit(
    setup: Setup, name: str, action: str | None, as_json: bool, webhooks: str | None, **options: Any
) -> None:
    """Recruit evaluators for the study NAME: shows the plan, and does it with --yes."""
    study = setup.study(name)
    if webhooks is not None:
        _subscribe(setup, study, webhooks)
    elif action is None:
        _recruit(setup, study, **options)
    elif action == "watch":
        _keep_watch(setup)
    elif action == "status":
        _show(setup, study, as_json)
    else:
        _change(setup, study, action, options["slots"])


def make_watch(setup: Setup) -> Any:
    """Return a watch over Prolific, with the token from the environment and the webhooks' secret.

    The secret is read from the environment, or from the data directory, where `--webhooks` stored it.
    """
    from backend.panels.prolific import open_prolific
    from backend.recruitment.sync_thread import Watch

    return Watch(setup.store, open_prolific(), webhook_secret(setup))


def webhook_secret(setup: Setup) -> str:
    """Return the secret with which Prolific signs its events; '' if there is none."""
    secret = os.environ.get("PROLIFIC_WEBHOOK_SECRET", "").strip()
    file = os.environ.get("PROLIFIC_WEBHOOK_SECRET_FILE", "")
    if not secret and file:
        secret = read_text(Path(file)).strip()
    return secret or setup.data.secret("prolific-webhooks")


def _recruit(
    setup: Setup,
    study: Any,
    *,
    panel: str,
    url: str | None,
    yes: bool,
    rehearse: str | None,
    fee: str | None,
    vat: str | None,
    budget: int | None,
    screen_out: int | None,
    **terms: Any,
) -> None:
    from backend.experiment.money import format_money
    from backend.recruitment import recruit as recruiting
    from backend.recruitment import study_recruitment as recruitment

    recruiting.check_panel(study, panel)
    state = recruiting.begun(setup.store, study)
    wish = recruitment.Wish(
        url=url or ("" if state else _served_by_https(setup)),
        fee_percent=fee,
        vat_percent=vat,
        budget_usd_cents=budget,
        screen_out_usd_cents=screen_out,
        **terms,
    )
    if state is None and (screen_out is None) != (wish.slots is None):
        raise click.UsageError("--screen-out and --slots go together")
    plan, agreed = recruitment.wanted(study, state, wish), recruitment.terms(study, state, wish)
    lines = [*plan.lines(), *recruitment.terms_lines(agreed)]
    click.echo("\n".join([f"{study.kind} {study.name} at {panel}", *lines]))
    if state is None:
        _show_wallet(wish.workspace, wish.project)
    limit = recruitment.budget(state, wish)
    if limit is not None:
        click.echo(f"budget: {format_money(limit, plan.currency)}")
    if rehearse is not None:
        _rehearse(setup, study, wish, rehearse)
    elif yes:
        _publish(setup, study, wish)
    else:
        click.echo("nothing was done; do it with --yes")


def _served_by_https(setup: Setup) -> str:
    """Return where browsers reach the pages, "" if that is not known, or no address for a panel."""
    address = setup.address or ""
    return address if address.startswith("https://") else ""


def _show_wallet(workspace: str, project: str) -> None:
    """Show which wallet would pay, if there is a token for the panel's API."""
    from backend.foundation.errors import OpenhypeError
    from backend.panels.prolific import has_token, open_prolific
    from backend.recruitment import panel_wallet

    if not has_token():
        return
    try:
        click.echo(panel_wallet.choose(open_prolific(), workspace, project).line())
    except OpenhypeError as error:
        click.echo(f"note: {error}", err=True)


def _publish(setup: Setup, study: Any, wish: Any) -> None:
    from backend.panels.prolific import open_prolific
    from backend.recruitment import recruit as recruiting
    from backend.recruitment import study_recruitment as recruitment

    if recruiting.begun(setup.store, study) is None:
        recruitment.check_url(wish.url)
    state = recruitment.publish(setup.store, open_prolific(), study, wish)
    click.echo(
        f"published: {state['places']} participant slots; next: openhype recruit {study.name} --status"
    )


def _rehearse(setup: Setup, study: Any, wish: Any, email: str) -> None:
    from backend.panels.prolific import open_prolific
    from backend.recruitment import recruit as recruiting
    from backend.recruitment import study_recruitment as recruitment

    if recruiting.begun(setup.store, study) is None:
        recruitment.check_url(wish.url)
    state = recruitment.rehearse(setup.store, open_prolific(), study, wish, email)
    click.echo(
        f"rehearsal: log in at Prolific as the test participant and open {state['rehearsal']['url']}\n"
        "what is answered there counts as simulated: it is neither scored nor paid\n"
        f"next: openhype recruit {study.name} --yes publishes the study itself"
    )


def _subscribe(setup: Setup, study: Any, server: str) -> None:
    from backend.panels.prolific import open_prolific
    from backend.recruitment.study_recruitment import subscribe

    keep = lambda secret: setup.data.keep_secret("prolific-webhooks", secret)  # noqa: E731
    url = subscribe(setup.store, open_prolific(), study, server, keep)
    click.echo(f"Prolific notifies {url} of each submission that changes; restart `openhype serve`")


def _change(setup: Setup, study: Any, action: str, slots: int | None) -> None:
    from backend.panels.prolific import open_prolific
    from backend.recruitment.study_recruitment import change

    state = change(setup.store, open_prolific(), study, action, slots)
    if state["state"] == "given_up":
        click.echo(f"the draft of the recruitment for {study.name} is given up; nothing of it is left")
    else:
        click.echo(f"the recruitment for {study.name} is {state['state']}")


def _show(setup: Setup, study: Any, as_json: bool) -> None:
    from backend.panels.prolific import open_prolific
    from backend.recruitment import study_recruitment as recruitment
    from backend.web.progress import panel_warnings

    data = recruitment.status(setup.store, open_prolific(), study)
    data["warnings"] = panel_warnings(setup.store, study)
    click.echo(json.dumps(data, indent=2) if as_json else "\n".join(_lines(data)))


def _lines(data: dict[str, Any]) -> list[str]:
    from backend.experiment.money import format_money

    def money(name: str) -> str:
        return format_money(data[name], data["currency"])

    def counted(name: str, none: str) -> str:
        return ", ".join(f"{count} {what}" for what, count in data[name].items()) or none

    lines = [
        f"{data['study']} at {data['panel']}: {data['state']} ({data['at_panel']} there), "
        f"{data['places']} places",
        f"  places: {counted('submissions', 'none taken')}",
        f"  sessions: {counted('sessions', 'none')}",
        f"  cost so far: {money('cost_usd_cents')} of {money('budget_usd_cents')}, "
        f"{money('fees_usd_cents')} of it fees and {money('tax_usd_cents')} tax",
    ]
    if data["unmatched"]:
        lines.append(
            f"  without a session here: {counted('unmatched', '')}; see openhype pay {data['study']}"
        )
    if data["webhooks"]:
        events = ", ".join(f"{count} {what}" for what, count in data["webhooks"]["events"].items())
        off = "" if data["webhooks"]["is_enabled"] else "disabled by Prolific; --webhooks URL enables them; "
        lines.append(f"  webhooks: {off}events: {events or 'none yet'}")
    return lines + [f"  warning: {warning}" for warning in data["warnings"]]


def _keep_watch(setup: Setup) -> None:
    watch = make_watch(setup)
    watch.start()
    click.echo("watching; stop with Ctrl-C")
    try:
        threading.Event().wait()
    finally:
        watch.stop()
