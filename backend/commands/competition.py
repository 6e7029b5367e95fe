"""The command `competition`: a study takes in models that others submit, on terms."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from backend.commands.setup import Setup, command, option
from backend.foundation.errors import NotFound

if TYPE_CHECKING:
    from backend.competitions.terms import CompetitionRecord, Limit
    from backend.experiment.records import Study

_NO = "none"


def _limit(context: click.Context, parameter: click.Parameter, value: str | None) -> "Limit | str | None":
    """Return a limit such as 5/7: five models in seven days."""
    from backend.competitions.terms import Limit

    if value in (None, _NO):
        return value
    count, _, days = str(value).partition("/")
    if not (count.isdecimal() and days.isdecimal() and len(count) < 6 and len(days) < 6):
        raise click.BadParameter(f"must be COUNT/DAYS, such as 5/7, or {_NO!r}, not {value!r}")
    return Limit(int(count), int(days))


@command()
@click.argument("name")
@option("--title", "What visitors read at the top.")
@option("--about", "Text for visitors; an empty line begins a paragraph.")
@option("--opens opens_at", "When submissions open: 2026-01-31, or 'none'.", metavar="TIME")
@option("--closes closes_at", "When they close.", metavar="TIME")
@option("--embargo embargo_until", "Publish nothing of any model before this.", metavar="TIME")
@option(
    "--limit",
    "How many models of a submitter are judged, in how many days.",
    metavar="COUNT/DAYS",
    callback=_limit,
)
@option("--counts", "Which model of a submitter is in the table.", click.Choice(["best", "last"]))
@option(
    "--submitter submitters",
    "Who may submit, repeatable; 'all' for every member.",
    metavar="MEMBER",
    multiple=True,
)
@option("--publish/--unpublish published", "Whether anyone may see the page.", default=None)
@option("--json as_json", "Print JSON.", bool)
def competition(setup: Setup, name: str, as_json: bool, submitters: tuple[str, ...], **given: Any) -> None:
    """Have the study NAME take in models that are submitted; show its terms and submissions."""
    from backend.competitions import terms
    from backend.competitions.terms import Terms
    from backend.foundation.timestamps import utc_now

    study = setup.study(name)
    try:
        before = terms.competition_of(setup.store, study).terms
    except NotFound:
        before = Terms(title=name)
        given = {**given, "title": given["title"] or name}
    changes: dict[str, Any] = {
        key: None if value == _NO else value for key, value in given.items() if value is not None
    }
    if submitters:
        changes["submitters"] = terms.ALL if terms.ALL in submitters else submitters
    if changes:
        terms.set_terms(setup.store, study, replace(before, **changes), utc_now())
    record = terms.competition_of(setup.store, study)
    if as_json:
        click.echo(json.dumps(_data(setup, study, record), indent=2))
        return
    for line in _lines(setup, study, record):
        click.echo(line)


def _lines(setup: Setup, study: "Study", record: "CompetitionRecord") -> Iterator[str]:
    terms = record.terms
    limit = f"{terms.limit.count} models in {terms.limit.days} days" if terms.limit else _NO
    submitters = terms.submitters if isinstance(terms.submitters, str) else ", ".join(terms.submitters)
    yield f"{study.name} takes in models: {terms.title}"
    yield f"  opens: {terms.opens_at or 'at once'}; closes: {terms.closes_at or 'never'}"
    yield f"  embargo until: {terms.embargo_until or _NO}"
    yield f"  who may submit: {submitters}; limit of each: {limit}; in the table: the {terms.counts} of each"
    page = f"{setup.address or ''}/competitions/{study.name}"
    where = page if terms.published else "not published (--publish)"
    yield f"  page: {where}"
    yield f"  protocol: {_data(setup, study, record)['protocol_sha256']}"
    for one in _submissions(setup, study):
        why = f": {one['reason']}" if one["reason"] else ""
        yield f"  {one['created_at'][:10]}  {one['member']}  {one['model']}  {one['state']}{why}"


def _data(setup: Setup, study: "Study", record: "CompetitionRecord") -> dict[str, Any]:
    from backend.competitions.protocol_hash import hash_of
    from backend.competitions.terms import plain_terms

    return {
        "study": study.name,
        **plain_terms(record.terms),
        "since": record.since,
        "protocol_sha256": hash_of(record.protocol),
        "submissions": [*_submissions(setup, study)],
    }


def _submissions(setup: Setup, study: "Study") -> Iterator[dict[str, Any]]:
    from backend.competitions import progress, states, submissions
    from backend.competitions.competition import Competitions
    from backend.competitions.join_job import KIND
    from backend.foundation.timestamps import utc_now
    from backend.jobs import queue

    sessions = progress.read(setup.store, study)
    judged = Competitions(setup.store, utc_now).judged(study)
    for one in sorted(submissions.of_study(setup.store, study), key=lambda one: one.created_at):
        job = queue.find(setup.store, KIND, submissions.job_key(one))
        known = states.JobState(job.state, job.updated_at, job.reason) if job else None
        state = states.state_of(study, one, sessions, known, judged)
        yield {
            "submission": one.id,
            "member": one.member,
            "model": one.model,
            "created_at": one.created_at,
            "state": state.state,
            "reason": state.reason,
        }
