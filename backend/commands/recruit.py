"""`recruit`: recruits evaluators from a panel with an API; shows the plan first, executes it with `--yes`."""

import json
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from backend.commands.world import FEE_TYPE, World, amount, pass_world, store_options
from backend.foundation.errors import InvalidInput, NotFound
from backend.foundation.text_files import read_text
from backend.recruitment.plan import FEE_PERCENT, VAT_PERCENT

_ACTIONS = ("pause", "resume", "stop", "status", "watch")


def _flag(name: str, text: str) -> Any:
    return click.option(f"--{name}", "action", flag_value=name, help=text)


@click.command()
@click.argument("name")
@click.option("--panel", type=click.Choice(["prolific"]), default="prolific", show_default=True)
@click.option("--url", help="Where evaluators reach the server: https://…")
@click.option(
    "--places",
    type=click.IntRange(1, 1_000_000),
    metavar="N",
    help="Default: every session wanted. Can only grow.",
)
@click.option("--workspace", default="", metavar="ID", help="The workspace that pays, if there are several.")
@click.option(
    "--project", default="", metavar="ID", help="The project it is paid by, where there are several."
)
@click.option(
    "--fee",
    type=FEE_TYPE,
    metavar="PERCENT",
    help=f"What the panel takes on top of pay. Default: {FEE_PERCENT}.",
)
@click.option("--vat", metavar="PERCENT", help="VAT on the fee, where your account pays it. Default: 0.")
@click.option(
    "--budget", callback=amount, metavar="AMOUNT", help="Maximum total cost; default: the plan's cost."
)
@click.option(
    "--completion",
    type=click.Choice(["server", "code"]),
    default="server",
    show_default=True,
    help="Who reports completion to the panel: the server, or the person with a code.",
)
@click.option("--signed", "is_signed", is_flag=True, help="Have Prolific sign its links (chosen workspaces).")
@click.option(
    "--screen-out",
    callback=amount,
    metavar="AMOUNT",
    help="Have Prolific pay this for being screened out (selected workspaces); needs --slots.",
)
@click.option("--slots", type=click.IntRange(1), metavar="N", help="For how many people. Can only grow.")
@click.option("--yes", is_flag=True, help="Do it.")
@click.option(
    "--rehearse",
    is_flag=False,
    flag_value="",
    metavar="[EMAIL]",
    help="Publish a copy to test participants; with EMAIL, make one first.",
)
@click.option(
    "--webhooks", metavar="URL", help="Have Prolific notify the server at URL immediately; needs https."
)
@_flag("pause", "Pause recruitment.")
@_flag("resume", "Resume recruitment.")
@_flag("stop", "Stop recruitment permanently.")
@_flag("status", "Show places, sessions and cost.")
@_flag("watch", "Keep places and sessions in agreement until Ctrl-C; `openhype serve` does so by itself.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@store_options
@pass_world
def recruit(
    world: World, name: str, action: str | None, as_json: bool, webhooks: str | None, **options: Any
) -> None:
    """Recruit evaluators for the study NAME: shows the plan, and does it with --yes."""
    study = world.study(name)
    if webhooks is not None:
        _subscribe(world, study, webhooks)
    elif action is None:
        _recruit(world, study, **options)
    elif action == "watch":
        _keep_watch(world)
    elif action == "status":
        _show(world, study, as_json)
    else:
        _change(world, study, {"resume": "start"}.get(action, action), options["slots"])


def make_watch(world: World) -> Any:
    """Return a watch over Prolific, with the token from the environment and the webhooks' secret.

    The secret is read from the environment, or from the data directory, where `--webhooks` stored it.
    """
    from backend.panels.prolific import open_prolific
    from backend.recruitment.sync_thread import Watch

    return Watch(world.store, open_prolific(), webhook_secret(world))


def webhook_secret(world: World) -> str:
    """Return the secret with which Prolific signs its events; '' if there is none."""
    secret = os.environ.get("PROLIFIC_WEBHOOK_SECRET", "").strip()
    file = os.environ.get("PROLIFIC_WEBHOOK_SECRET_FILE", "")
    if not secret and file:
        secret = read_text(Path(file)).strip()
    return secret or world.data.secret("prolific-webhooks")


def _recruit(world: World, study: Any, *, url: str | None, yes: bool, panel: str, budget: int | None,
             rehearse: str | None, workspace: str, project: str, completion: str, is_signed: bool,
             **terms: Any) -> None:  # fmt: skip
    from backend.experiment.money import format_money
    from backend.recruitment import recruit as recruiting

    recruiting.check_panel(study, panel)
    state = recruiting.begun(world.store, study)
    plan = _plan(study, state, **terms)
    click.echo("\n".join([f"{study.kind} {study.name} at {panel}", *plan.lines()]))
    if state is None:
        _show_wallet(workspace, project)
    elif budget is None:
        budget = state["budget_usd_cents"]
    if budget is not None:
        click.echo(f"budget: {format_money(budget, plan.currency)}")
    if not yes and rehearse is None:
        click.echo("nothing was done; do it with --yes")
        return
    if state is None:
        _check_url(url)
    options = {
        "budget_cents": budget, "by_server": completion == "server", "is_signed": is_signed,
        "workspace": workspace, "project": project,
    }  # fmt: skip
    if rehearse is not None:
        _rehearse(world, study, plan, url or "", rehearse, options)
    else:
        _publish(world, study, plan, url or "", state, options)


def _plan(study: Any, state: Mapping[str, Any] | None, *, places: int | None, fee: str | None,
          vat: str | None, screen_out: int | None, slots: int | None) -> Any:  # fmt: skip
    """Return the plan: as decided before, with the changes requested now."""
    from dataclasses import replace

    from backend.panels.api import ScreenOut
    from backend.recruitment import recruit as recruiting
    from backend.recruitment.plan import plan

    if state is not None:
        before = recruiting.planned(study, state, places)
        if state["state"] == "decided":
            before = replace(
                before, fee_percent=fee or before.fee_percent, vat_percent=vat or before.vat_percent
            )
        if slots is not None and before.screen_out:
            before = replace(before, screen_out=replace(before.screen_out, slots=slots))
        return before
    if (screen_out is None) != (slots is None):
        raise click.UsageError("--screen-out and --slots go together")
    terms = ScreenOut(screen_out, slots) if screen_out is not None else None
    return plan(study, places, fee or FEE_PERCENT, vat or VAT_PERCENT, terms)


def _show_wallet(workspace: str, project: str) -> None:
    """Show which wallet would pay, if there is a token for the panel's API."""
    from backend.foundation.errors import OpenhypeError
    from backend.panels.prolific import open_prolific
    from backend.recruitment import panel_wallet

    if not (os.environ.get("PROLIFIC_TOKEN") or os.environ.get("PROLIFIC_TOKEN_FILE")):
        return
    try:
        click.echo(panel_wallet.choose(open_prolific(), workspace, project).line())
    except OpenhypeError as error:
        click.echo(f"note: {error}", err=True)


def _publish(
    world: World, study: Any, plan: Any, url: str, state: Mapping[str, Any] | None, options: dict[str, Any]
) -> None:
    from backend.panels.prolific import open_prolific
    from backend.payment.accounts import set_budget
    from backend.recruitment import recruit as recruiting

    at_prolific = open_prolific()
    if state is None:
        recruiting.begin(world.store, at_prolific, study, plan, url, **options)
    else:
        changes = {"budget_usd_cents": options["budget_cents"]}
        if state["state"] == "decided":
            changes |= {"fee_percent": plan.fee_percent, "vat_percent": plan.vat_percent}
            set_budget(world.store, study.name, fee_percent=plan.fee_percent, vat_percent=plan.vat_percent)
        state = recruiting.update(world.store, study, **changes)
        state = recruiting.begin(world.store, at_prolific, study, plan, state["url"])
        if plan.screen_out and plan.screen_out.slots != state["screen_out"]["slots"]:
            recruiting.set_slots(world.store, at_prolific, study, plan.screen_out.slots)
        recruiting.grow(world.store, at_prolific, study, plan.places)
    click.echo(f"published: {plan.places} places; next: openhype recruit {study.name} --status")


def _rehearse(world: World, study: Any, plan: Any, url: str, email: str, options: dict[str, Any]) -> None:
    from backend.panels.prolific import open_prolific
    from backend.recruitment import recruit as recruiting

    at_prolific = open_prolific()
    recruiting.prepare(world.store, at_prolific, study, plan, url, **options)
    state = recruiting.rehearse(world.store, at_prolific, study, email)
    click.echo(
        f"rehearsal: log in at Prolific as the test participant and open {state['rehearsal']['url']}\n"
        "what is answered there counts as simulated: it is neither scored nor paid\n"
        f"next: openhype recruit {study.name} --yes publishes the study itself"
    )


def _subscribe(world: World, study: Any, server: str) -> None:
    from backend.panels.prolific import open_prolific
    from backend.panels.prolific_webhooks import Webhooks
    from backend.recruitment import recruit as recruiting
    from backend.recruitment import webhooks

    workspace = recruiting.recruitment(world.store, study).get("workspace", "")
    hooks = Webhooks(open_prolific().http)
    keep = lambda secret: world.data.keep_secret("prolific-webhooks", secret)  # noqa: E731
    url = webhooks.subscribe(world.store, hooks, workspace, server, keep)
    click.echo(f"Prolific notifies {url} of each place that changes; restart `openhype serve`")


def _check_url(url: str | None) -> None:
    if not url:
        raise InvalidInput("say where evaluators reach the server: --url https://…")
    if not url.startswith(("https://", "http://127.0.0.1", "http://localhost")):
        raise InvalidInput(f"evaluators must reach the server by https, not at {url!r}")


def _change(world: World, study: Any, action: str, slots: int | None) -> None:
    from backend.panels.prolific import open_prolific
    from backend.recruitment import recruit as recruiting

    at_prolific = open_prolific()
    if slots is not None:
        recruiting.set_slots(world.store, at_prolific, study, slots)
    state = recruiting.change(world.store, at_prolific, study, action)
    click.echo(f"the recruitment for {study.name} is {state['state']}")


def _show(world: World, study: Any, as_json: bool) -> None:
    from backend.panels.prolific import open_prolific
    from backend.recruitment import recruit as recruiting
    from backend.web.progress import panel_warnings

    at_prolific = open_prolific()
    data = recruiting.status(world.store, at_prolific, study)
    data["webhooks"] = _hook(world, study, at_prolific)
    data["warnings"] = panel_warnings(world.store, study)
    click.echo(json.dumps(data, indent=2) if as_json else "\n".join(_lines(data)))


def _hook(world: World, study: Any, panel: Any) -> dict[str, Any] | None:
    """Return the state of the webhooks; None if there is no subscription."""
    from backend.panels.prolific_webhooks import Webhooks
    from backend.recruitment import recruit as recruiting
    from backend.recruitment import webhooks

    workspace = recruiting.recruitment(world.store, study).get("workspace", "")
    try:
        hook = webhooks.status(world.store, Webhooks(panel.http), workspace)
    except NotFound:
        return None
    return {"is_enabled": hook.is_enabled, "events": dict(hook.deliveries)}


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


def _keep_watch(world: World) -> None:
    watch = make_watch(world)
    watch.start()
    click.echo("watching; stop with Ctrl-C")
    try:
        threading.Event().wait()
    finally:
        watch.stop()
