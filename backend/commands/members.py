"""The command `members`: people and programs that use the API, their tokens, and the audit log.

Who can read the data directory is its owner: changes made here stand in the audit log as the owner's.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import click

from backend.commands.setup import Setup, option, pass_setup, store_options
from backend.members import audit_log, memberships, tokens
from backend.members.audit_log import Change
from backend.members.memberships import KEY_HOLDER
from backend.members.roles import ROLES, SUBMITTER
from backend.members.tokens import LONGEST_DAYS, Token

_DAYS = 365
_OUTCOMES = {
    "done": "",
    "refused": ": refused",
    "failed": ": failed, perhaps in part",
    "unknown": ": outcome unknown; it is under way, or the server ended before it was known",
}


@click.group(invoke_without_command=True)
@option("--json as_json", "Print JSON.", bool)
@store_options
@pass_setup
@click.pass_context
def members(ctx: click.Context, setup: Setup, as_json: bool) -> None:
    """List the members with their tokens, or change them with one of the commands below."""
    if ctx.invoked_subcommand is not None:
        return
    from backend.foundation.timestamps import stamp, utc_now

    everyone = memberships.memberships(setup.store) if setup.has_store else []
    given = tokens.tokens(setup.store) if setup.has_store else []
    now = stamp(utc_now())
    if as_json:
        click.echo(json.dumps([_facts(each, given) for each in everyone], indent=2))
        return
    for each in everyone:
        click.echo(f"{each.member}: {each.role}{', removed' if each.removed_at else ''}")
        for token in given:
            if token.membership == each.id:
                click.echo(f"  {token.id} {token.label or 'without a label'}: {_state(token, now)}")
    if len(everyone) < 2:
        click.echo("the owner by the researcher's key only; add members with `openhype members add NAME`")


@members.command()
@click.argument("name")
@option(
    "--role",
    "Submitters send models; researchers also make, run and read studies; owners also manage members.",
    click.Choice(ROLES),
    default=SUBMITTER,
)
@store_options
@pass_setup
def add(setup: Setup, name: str, role: str) -> None:
    """Add the member NAME, such as ada@lab.example."""
    with _recorded(setup, "add", f"{name} as {role}") as (_, now):
        memberships.add(setup.store, name, role, KEY_HOLDER, now)
    click.echo(f"{name} is a {role}; make a token with `openhype members token {name}`")


@members.command()
@click.argument("name")
@store_options
@pass_setup
def remove(setup: Setup, name: str) -> None:
    """Remove the member NAME: all tokens and sign-ins end at once."""
    with _recorded(setup, "remove", name) as (_, now):
        ended = memberships.end(setup.store, memberships.membership(setup.store, name), now)
        tokens.revoke_all(setup.store, ended.id, now)
    click.echo(f"{ended.member} is no member any more; the tokens open nothing")


@members.command()
@click.argument("name")
@option("--label", "What it is for.", metavar="TEXT", default="")
@option("--days", "After which it expires.", click.IntRange(1, LONGEST_DAYS), default=_DAYS)
@store_options
@pass_setup
def token(setup: Setup, name: str, label: str, days: int) -> None:
    """Make a token of the member NAME, and print it.

    It is not stored, and cannot be shown again.
    """
    with _recorded(setup, "token", name) as (change, now):
        owner = memberships.membership(setup.store, name)
        given, text = tokens.issue(setup.store, owner, label, days, KEY_HOLDER, now)
        change.concerns(f"{owner.member} {given.id}")
    click.echo(f"token {given.id} of {given.member}, until {given.expires_at}:", err=True)
    click.echo(text)


@members.command("new-key")
@store_options
@pass_setup
def new_key(setup: Setup) -> None:
    """Replace the researcher's key, for example because others know it: all sign-ins end."""
    with _recorded(setup, "new-key", KEY_HOLDER):
        setup.data.replace_researcher_key()
    click.echo(f"the new researcher's key is in {setup.data.root / 'keys.json'}; the earlier one ends once")
    click.echo(
        "servers of this data directory are restarted, and deployments updated by `openhype deploy --yes`"
    )


@members.command()
@click.argument("token_id", metavar="TOKEN")
@store_options
@pass_setup
def revoke(setup: Setup, token_id: str) -> None:
    """Revoke a token, by its id: it ends at once, with its sign-ins."""
    which = tokens.id_in(token_id) or token_id
    with _recorded(setup, "revoke", which) as (change, now):
        revoked = tokens.revoke(setup.store, which, now)
        change.concerns(f"{revoked.member} {revoked.id}")
    click.echo(f"the token of {revoked.member} {revoked.id} opens nothing any more")


@members.command()
@option("--limit", "", click.IntRange(1, audit_log.MOST), default=50)
@option("--before", "Where the page begins, as the one before says.", metavar="NEXT")
@option("--json as_json", "Print JSON.", bool)
@store_options
@pass_setup
def audit(setup: Setup, limit: int, before: str | None, as_json: bool) -> None:
    """Show who changed what, the latest first."""
    entries, following = audit_log.page(setup.store, limit, before) if setup.has_store else ([], None)
    if as_json:
        click.echo(json.dumps({"entries": [vars(entry) for entry in entries], "next": following}, indent=2))
        return
    for entry in entries:
        status = "" if entry.status is None else f" {entry.status}"
        text = (
            f"{entry.at} {entry.member} {entry.token or '-'} {entry.action}{status} {entry.target}".rstrip()
        )
        click.echo(f"{text}{_OUTCOMES[entry.outcome]}")
    if not entries:
        click.echo("nobody has changed anything yet")
    if following:
        click.echo(f'more with --before "{following}"')


@contextmanager
def _recorded(setup: Setup, name: str, target: str) -> Iterator[tuple[Change, datetime]]:
    """Record what is changed within the context, at the time that is returned."""
    from backend.foundation.timestamps import utc_now

    now, action = utc_now(), f"openhype members {name}"
    with audit_log.recorded(setup.store, now, KEY_HOLDER, None, action, target) as change:
        yield change, now


def _facts(membership: memberships.Membership, given: list[Token]) -> dict[str, Any]:
    """Return a member with its tokens, as the API does."""
    from backend.web.member_routes import member_facts, token_facts

    return {
        **member_facts(membership),
        "tokens": [token_facts(each) for each in given if each.membership == membership.id],
    }


def _state(token: Token, now: str) -> str:
    if token.revoked_at:
        return f"revoked at {token.revoked_at}"
    return f"{'expired at' if token.expires_at <= now else 'until'} {token.expires_at}"
