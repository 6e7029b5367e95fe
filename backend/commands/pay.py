"""The command that pays evaluators: `pay`."""

import json
import re
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import click

from backend.commands.world import FEE_TYPE, Number, World, pairs, pass_world, progress_bar, store_options
from backend.errors import InvalidInput
from backend.money import dollars
from backend.records import Study

_SAID = {
    "owed": "owed",
    "intended": "about to be paid",
    "handed_in": "handed in",
    "paying": "asked for, without an answer",
    "sent": "on its way",
    "confirmed": "paid",
}


@click.command()
@click.argument("name")
@click.option(
    "--panel",
    type=click.Choice(["prolific", "link"]),
    help="How people are paid: by Prolific, or by a list. Default: as the study's panel has it.",
)
@click.option("--yes", is_flag=True, help="Pay; without it, only the plan is shown.")
@click.option("--budget", metavar="USD", help="What the study may cost in all, fees included; is kept.")
@click.option(
    "--fee",
    type=FEE_TYPE,
    metavar="PERCENT",
    help="What the panel takes on top of pay; is kept. Default: 42.8.",
)
@click.option(
    "--broke-off",
    "faults",
    multiple=True,
    callback=pairs("e1f2a3b4=browser-crash"),
    metavar="EVALUATOR=REASON",
    help="A session (or its evaluator) broke off through no fault of the evaluator; it is paid in part.",
)
@click.option("--panel-study", metavar="ID", help="The panel's study, where `recruit` did not make it.")
@click.option(
    "--settle-hours",
    type=Number(1, 8760),
    default=24,
    show_default=True,
    metavar="H",
    help="How long the panel may be at a payment of which it is not known whether it was asked for.",
)
@click.option("--release", is_flag=True, help="Owe again what the panel took on and has not paid by then.")
@click.option(
    "-o",
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="link: write what is owed to this CSV file.",
)
@click.option(
    "--mark-paid",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="link: the rows of this CSV file were paid.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@store_options
@pass_world
def pay(
    world: World,
    name: str,
    panel: str | None,
    budget: str | None,
    fee: str | None,
    faults: tuple[tuple[str, str], ...],
    as_json: bool,
    **options: Any,
) -> None:
    """Show what the evaluators of the study NAME are owed, and pay it with --yes."""
    from backend import owing, waiting

    study = world.study(name)
    if budget is not None or fee is not None:
        owing.set_budget(world.store, name, None if budget is None else _cents(budget), fee)
    for evaluator, fault in faults:
        owing.broke_off(world.store, study, evaluator, fault)
    if panel is None:
        panel = "prolific" if study.protocol.panel.name == "prolific" else "link"
    pay_by = _by_panel if panel == "prolific" else _by_hand
    found = {**pay_by(world, study, **options), "waited": waiting.owed_rows(world.store, study)}
    click.echo(json.dumps(found, indent=2) if as_json else _as_text(found))
    if options["yes"] and found["hindrances"]:
        for hindrance in found["hindrances"]:
            click.echo(f"openhype: {hindrance}", err=True)
        sys.exit(1)


def _by_panel(
    world: World,
    study: Study,
    yes: bool,
    panel_study: str | None,
    settle_hours: float,
    release: bool,
    **_: Any,
) -> dict[str, Any]:
    from datetime import timedelta

    from backend import owing, paying
    from backend.panels.prolific import open_prolific
    from backend.stamps import utc_now

    made = owing.recruited(world.store, study.name) or {}
    panel_study = panel_study or made.get("panel_study")
    if not panel_study:
        raise InvalidInput(
            f"nobody was recruited for {study.name} from Prolific; name its study there with --panel-study ID"
        )
    payer = paying.Payer(
        world.store, study, open_prolific(), panel_study, utc_now, timedelta(hours=settle_hours),
        releases_sent=release, progress=progress_bar,
    )  # fmt: skip
    hindrances = payer.run() if yes else []
    return {**payer.plan(), "hindrances": hindrances}


def _by_hand(
    world: World, study: Study, out: Path | None, mark_paid: Path | None, **_: Any
) -> dict[str, Any]:
    from backend import paying_by_hand
    from backend.stamps import utc_now

    if mark_paid is not None:
        paying_by_hand.mark_paid(world.store, study, mark_paid, utc_now)
    if out is not None:
        paying_by_hand.write_list(world.store, study, out)
    return paying_by_hand.plan(world.store, study)


def _cents(text: str) -> int:
    """Return US dollars as written, such as 250 or 99.50, in cents."""
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,2})?", text):
        raise click.BadParameter(f"a budget must be in dollars, such as 250 or 99.50, not {text!r}")
    return int(Decimal(text) * 100)


def _as_text(found: dict[str, Any]) -> str:
    open_rows = [row for row in found["evaluators"] if not _is_paid(row)]
    paid = len(found["evaluators"]) - len(open_rows)
    lines = [f"study {found['study']}: {paid} of {len(found['evaluators'])} evaluators were paid all"]
    lines += [f"  {_line(row)}" for row in open_rows]
    lines += [f"  {_waited(row)}" for row in found["waited"]]
    lines.append(
        f"to pay now: {dollars(found['to_pay_usd_cents'])}, and {dollars(found['fees_usd_cents'])} of fees"
    )
    if found["budget_usd_cents"] is not None:
        lines.append(
            f"budget: {dollars(found['budget_usd_cents'])}; paid or on its way: "
            f"{dollars(found['committed_usd_cents'])}; left: {dollars(found['left_usd_cents'])}"
        )
    return "\n".join(lines)


def _is_paid(row: dict[str, Any]) -> bool:
    return all(row[part] in ("confirmed", "none") for part in ("reward", "bonus"))


def _line(row: dict[str, Any]) -> str:
    why = "" if row["why"] == "finished" else f" ({row['why']})"
    states = {row["reward"], row["bonus"]} - {"none"}
    said = " and ".join(sorted(_SAID[state] for state in states))
    owed = f"base {dollars(row['base_usd_cents'])}, bonus {dollars(row['bonus_usd_cents'])}"
    place = "" if row["pays"] else f"; its place at the panel: {row['at_panel'].replace('_', ' ')}"
    return f"{row['evaluator']}{why}: {owed}: {said}{place}"


def _waited(row: dict[str, Any]) -> str:
    who = f"{row['evaluator']} (qualified as {row['qualified_as'] or 'a session that was withdrawn'})"
    minutes = f"{row['minutes']} {'minute' if row['minutes'] == 1 else 'minutes'}"
    return f"{who}: waited {minutes}: {dollars(row['usd_cents'])}, to be paid by hand"
