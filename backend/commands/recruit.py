"""`recruit`: evaluators from a panel with an API, planned first and done with `--yes`."""

import json
import os
import threading
from pathlib import Path
from typing import Any

import click

from backend.commands.world import FEE_TYPE, Number, World, pass_world, store_options
from backend.errors import InvalidInput
from backend.reading.texts import read_text
from backend.recruiting import FEE_PERCENT

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
@click.option(
    "--fee",
    "fee_percent",
    type=FEE_TYPE,
    default=FEE_PERCENT,
    show_default=True,
    metavar="PERCENT",
    help="What the panel takes on top of pay.",
)
@click.option(
    "--budget", type=Number(0, 1e9), metavar="USD", help="In all; default: what the plan costs at most."
)
@click.option(
    "--completion",
    type=click.Choice(["server", "code"]),
    default="server",
    show_default=True,
    help="Who tells the panel that a person is done: the server, or the person with a code.",
)
@click.option("--yes", is_flag=True, help="Do it.")
@_flag("pause", "Take in nobody for now.")
@_flag("resume", "Go on.")
@_flag("stop", "Take in nobody any more, for good.")
@_flag("status", "Show places, sessions and cost.")
@_flag("watch", "Keep places and sessions in agreement until Ctrl-C; `openhype serve` does so by itself.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@store_options
@pass_world
def recruit(world: World, name: str, action: str | None, as_json: bool, **options: Any) -> None:
    """Recruit evaluators for the study NAME: shows the plan, and does it with --yes."""
    study = world.study(name)
    if action is None:
        _recruit(world, study, **options)
    elif action == "watch":
        _keep_watch(world)
    elif action == "status":
        _show(world, study, as_json)
    else:
        _change(world, study, {"resume": "start"}.get(action, action))


def make_watch(store: Any) -> Any:
    """Return a watch over Prolific, with the token and the webhooks' secret of the environment."""
    from backend.panels.prolific import open_prolific
    from backend.watching import Watch

    secret = os.environ.get("PROLIFIC_WEBHOOK_SECRET", "").strip()
    file = os.environ.get("PROLIFIC_WEBHOOK_SECRET_FILE", "")
    if not secret and file:
        secret = read_text(Path(file)).strip()
    return Watch(store, open_prolific(), secret)


def _recruit(world: World, study: Any, *, url: str | None, places: int | None, fee_percent: str,
             budget: float | None, completion: str, yes: bool, panel: str) -> None:  # fmt: skip
    from backend import recruiting
    from backend.panels.prolific import open_prolific

    cents = None if budget is None else round(100 * budget)
    began = world.store.entry(recruiting.book(study.name), panel)
    state = began.data if began else None
    if state is not None:
        places, fee_percent = places or state["places"], state["fee_percent"]
        cents = cents if cents is not None else state["budget_usd_cents"]
    recruiting.check_panel(study, panel)
    plan = recruiting.plan(study, places, fee_percent)
    click.echo("\n".join([f"{study.kind} {study.name} at {panel}", *plan.lines()]))
    if cents is not None:
        click.echo(f"budget: ${cents / 100:,.2f}")
    if not yes:
        click.echo("nothing was done; do it with --yes")
        return
    if state is None:
        _check_url(url)
        state = recruiting.begin(
            world.store, open_prolific(), study, plan, url or "",
            budget_usd_cents=cents, by_server=completion == "server",
        )  # fmt: skip
    else:
        at_prolific = open_prolific()
        recruiting.update(world.store, study, budget_usd_cents=cents)
        state = recruiting.begin(world.store, at_prolific, study, plan, state["url"])
        recruiting.grow(world.store, at_prolific, study, plan.places)
    click.echo(f"published: {plan.places} places; next: openhype recruit {study.name} --status")


def _check_url(url: str | None) -> None:
    if not url:
        raise InvalidInput("say where evaluators reach the server: --url https://…")
    if not url.startswith(("https://", "http://127.0.0.1", "http://localhost")):
        raise InvalidInput(f"evaluators must reach the server by https, not at {url!r}")


def _change(world: World, study: Any, action: str) -> None:
    from backend import recruiting
    from backend.panels.prolific import open_prolific

    state = recruiting.change(world.store, open_prolific(), study, action)
    click.echo(f"the recruitment for {study.name} is {state['state']}")


def _show(world: World, study: Any, as_json: bool) -> None:
    from backend import recruiting
    from backend.panels.prolific import open_prolific

    data = recruiting.status(world.store, open_prolific(), study)
    if as_json:
        click.echo(json.dumps(data, indent=2))
        return
    places = ", ".join(f"{count} {state}" for state, count in data["submissions"].items()) or "none taken"
    sessions = ", ".join(f"{count} {state}" for state, count in data["sessions"].items()) or "none"
    click.echo(
        f"{study.name} at {data['panel']}: {data['state']}, {data['places']} places\n"
        f"  places: {places}\n"
        f"  sessions: {sessions}\n"
        f"  cost so far: ${data['cost_usd_cents'] / 100:,.2f} of ${data['budget_usd_cents'] / 100:,.2f}"
    )


def _keep_watch(world: World) -> None:
    watch = make_watch(world.store)
    watch.start()
    click.echo("watching; stop with Ctrl-C")
    try:
        threading.Event().wait()
    finally:
        watch.stop()
