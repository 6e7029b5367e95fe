"""The command that pays evaluators: `pay`."""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from backend.commands.setup import FEE_TYPE, FILE, Number, Setup, amount, command, option, progress_bar
from backend.experiment.money import format_money
from backend.experiment.records import Study


@command()
@click.argument("name")
@option(
    "--panel",
    "How people are paid: by Prolific, or by a list. Default: as the study's panel has it.",
    click.Choice(["prolific", "link"]),
)
@option("--yes", "Pay; without it, only the plan is shown.", bool)
@option(
    "--budget",
    "Maximum total cost of the study, fees and VAT included; stored.",
    metavar="AMOUNT",
    callback=amount,
)
@option("--fee", "The panel's fee on top of pay; stored. Default: 42.8.", FEE_TYPE, "PERCENT")
@option("--vat", "VAT on the fee, if your account pays it; stored.", metavar="PERCENT")
@option(
    "--broke-off faults",
    "A session (or its evaluator) broke off through no fault of the evaluator; it is paid in part.",
    metavar="EVALUATOR=REASON",
    example="e1f2a3b4=browser-crash",
)
@option(
    "--close closings",
    "What is open for an evaluator (or a session) is not to be paid; recorded with the reason.",
    metavar="EVALUATOR=REASON",
    example="e1f2a3b4=rejected-at-the-panel",
)
@option(
    "--approve to_approve",
    "Pay the reward of submissions without a session: a name, why they have none, or all.",
    metavar="WHO",
    multiple=True,
)
@option(
    "--ask-return to_return",
    "Ask people without a session to return their submission.",
    metavar="WHO",
    multiple=True,
)
@option("--panel-study", "The panel's study, where `recruit` did not make it.", metavar="ID")
@option(
    "--reconcile-hours",
    "How long the panel may be at a payment of which it is not known whether it was asked for.",
    Number(1, 8760),
    "H",
    default=24,
)
@option("--release", "Owe again what the panel took on and has not paid by then.", bool)
@option("-o --out", "link: write what is owed to this CSV file.", FILE)
@option(
    "--mark-paid",
    "link: the rows of this CSV file were paid.",
    click.Path(exists=True, dir_okay=False, path_type=Path),
    "FILE",
)
@option("--take-over", "Pay from here though the ledger is a copy, since the store that paid is lost.", bool)
@option(
    "--restored",
    "This store was just restored by other means than `restore`, as a table on AWS: bonuses wait.",
    bool,
)
@option(
    "--automatic/--not-automatic automatic",
    "Have the functions of `openhype deploy --panel` pay each hour what --yes would; or no longer.",
    default=None,
)
@option(
    "--explain who",
    "Say why somebody is owed, paid, or not: a pseudonym, session, completion code, or the panel's id.",
    metavar="WHO",
)
@option("--json as_json", "Print JSON.", bool)
def pay(
    setup: Setup,
    name: str,
    panel: str | None,
    budget: int | None,
    fee: str | None,
    vat: str | None,
    faults: tuple[tuple[str, str], ...],
    closings: tuple[tuple[str, str], ...],
    take_over: bool,
    restored: bool,
    automatic: bool | None,
    who: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Show what the evaluators of the study NAME are owed, and pay it with --yes."""
    from backend.foundation.timestamps import stamp, utc_now
    from backend.payment import accounts, study_payments

    study = setup.study(name)
    if restored:
        accounts.note_restore(setup.store, name, stamp(utc_now()))
    if take_over:
        accounts.take_over(setup.store, name, stamp(utc_now()))
    elsewhere = accounts.funds(setup.store, name)[1].paid_from
    if elsewhere:
        click.echo(f"note: {name} is paid from {elsewhere}; what follows is a copy of its ledger", err=True)
    if (budget, fee, vat) != (None, None, None):
        accounts.set_budget(setup.store, name, budget, fee, vat)
    for evaluator, fault in faults:
        accounts.broke_off(setup.store, study, evaluator, fault)
    for evaluator, why in closings:
        accounts.close(setup.store, study, evaluator, why, utc_now())
    panel = panel or study_payments.paid_by(study)
    if automatic is not None:
        study_payments.set_automatic(setup.store, study, panel, automatic, utc_now())
    if who is not None:
        click.echo(_explained(setup, study, panel, who, as_json, **options))
        return
    pay_by = _by_panel if panel == "prolific" else _by_hand
    state = study_payments.status(setup.store, study, pay_by(setup, study, **options), panel, utc_now())
    click.echo(json.dumps(state, indent=2) if as_json else _as_text(state))
    if options["yes"] and state["obstacles"]:
        for obstacle in state["obstacles"]:
            click.echo(f"openhype: {obstacle}", err=True)
        sys.exit(1)


def _explained(
    setup: Setup,
    study: Study,
    panel: str,
    who: str,
    as_json: bool,
    panel_study: str | None,
    reconcile_hours: float,
    yes: bool,
    **_: Any,
) -> str:
    from backend.foundation.timestamps import utc_now
    from backend.panels.prolific import open_prolific
    from backend.payment import explanation, people, study_payments

    if yes:
        raise click.UsageError("--explain pays nobody: leave out --yes, or --explain")
    options = study_payments.PayOptions(panel_study or "", reconcile_hours)
    known = people.as_known(setup.store, study, open_prolific, utc_now, panel, options)
    accounts = explanation.explain(known, who)
    if as_json:
        return json.dumps([asdict(each) for each in accounts], indent=2)
    return "\n\n".join(
        "\n".join(f"{one.about + ':':<14}{one.words}" for one in each.said) for each in accounts
    )


def _by_panel(
    setup: Setup,
    study: Study,
    yes: bool,
    panel_study: str | None,
    reconcile_hours: float,
    release: bool,
    to_approve: tuple[str, ...],
    to_return: tuple[str, ...],
    **_: Any,
) -> dict[str, Any]:
    from backend.foundation.timestamps import utc_now
    from backend.panels.prolific import open_prolific
    from backend.payment import study_payments

    options = study_payments.PayOptions(panel_study or "", reconcile_hours, release, to_approve, to_return)
    payer = study_payments.payer(setup.store, study, open_prolific(), utc_now, options, progress_bar)
    obstacles = study_payments.run(payer, options) if yes else []
    return {**payer.plan(), "obstacles": obstacles}


def _by_hand(
    setup: Setup, study: Study, out: Path | None, mark_paid: Path | None, **_: Any
) -> dict[str, Any]:
    from backend.foundation.timestamps import utc_now
    from backend.payment import manual

    if mark_paid is not None:
        manual.mark_paid(setup.store, study, mark_paid, utc_now)
    if out is not None:
        manual.write_list(setup.store, study, out, utc_now())
    return manual.plan(setup.store, study, utc_now())


def _as_text(state: dict[str, Any]) -> str:
    def money(cents: int) -> str:
        return format_money(cents, state["currency"])

    open_rows = [row for row in state["evaluators"] if not _is_paid(row)]
    paid = len(state["evaluators"]) - len(open_rows)
    closed = sum(map(_is_closed, open_rows))
    paid_note = f"paid, {closed} closed" if closed else "paid in full"
    lines = [f"study {state['study']}: {paid} of {len(state['evaluators'])} evaluators were {paid_note}"]
    lines += [f"  {_line(row, money)}" for row in open_rows]
    if state["early_ends_exceeded"]:
        lines.append(state["early_ends_exceeded"])
    lines += [f"a clock was or is wrong: {odd}" for odd in state["odd_dates"]]
    undecided = [row for row in state["unmatched"] if row["reward"] in ("undecided", "owed", "intended")]
    if undecided:
        lines.append(
            f"{len(undecided)} without a session here; Prolific approves those that nobody reviews, some "
            "weeks after they were submitted, at the full reward (--approve WHO, --ask-return WHO):"
        )
        lines += [f"  {_unmatched(row)}" for row in undecided]
    fees = f"{money(state['fees_usd_cents'])} of fees"
    lines.append(f"to pay now: {money(state['to_pay_usd_cents'])}, and {fees}")
    if state["budget_usd_cents"] is not None:
        reserved = state["undecided_usd_cents"]
        reserved_note = (
            f", {money(reserved)} of it reserved for submissions without a session" if reserved else ""
        )
        lines.append(
            f"budget: {money(state['budget_usd_cents'])}; paid or on its way: "
            f"{money(state['committed_usd_cents'])}{reserved_note}; left: {money(state['left_usd_cents'])}"
        )
    if state["automatic"]:
        lines += _automatic_lines(state["automatic"])
    return "\n".join(lines)


def _automatic_lines(automatic: dict[str, Any]) -> list[str]:
    latest = f"latest run {automatic['last_at']}" if automatic["last_at"] else "no run yet"
    lines = [f"automatic: approved {automatic['approved_at']}; {latest}"]
    return [*lines, *(f"  not paid: {obstacle}" for obstacle in automatic["obstacles"])]


def _is_paid(row: dict[str, Any]) -> bool:
    return all(row[part] in ("confirmed", "none") for part in ("reward", "bonus"))


def _is_closed(row: dict[str, Any]) -> bool:
    parts = {row["reward"], row["bonus"]}
    return "closed" in parts and parts <= {"closed", "confirmed", "none"}


def _line(row: dict[str, Any], money: Any) -> str:
    from backend.payment.study_payments import STATE_WORDS

    why = "" if row["why"] == "finished" else f" ({row['reason']})"
    states = {row["reward"], row["bonus"]} - {"none"}
    status = " and ".join(sorted(STATE_WORDS[state] for state in states))
    if "closed" in states:
        status += f" ({row['closed_why']})"
    owed = f"base {money(row['base_usd_cents'])}, bonus {money(row['bonus_usd_cents'])}"
    if row["why"] == "waited":
        owed = money(row["bonus_usd_cents"])
    panel_status = (
        ""
        if row["pays"] or _is_closed(row)
        else f"; its submission at the panel: {row['at_panel'].replace('_', ' ')}"
    )
    return f"{row['evaluator']}{why}: {owed}: {status}{panel_status}"


def _unmatched(row: dict[str, Any]) -> str:
    from backend.payment.study_payments import STATE_WORDS

    asked = ", asked to return" if row["asked_to_return_at"] else ""
    at = f", done {row['completed_at'][:10]}" if row["completed_at"] else ""
    return f"{row['evaluator']} ({row['why'].replace('_', ' ')}{at}{asked}): {STATE_WORDS[row['reward']]}"
