"""Commands that output results of studies (`score`, `export`) or the papers' (`published`, `convergence`)."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from backend.commands.setup import (
    FOLDER,
    SEED,
    SIMULATED,
    Setup,
    answers_of,
    command,
    elapsed_time,
    finding_options,
    named,
    option,
    progress_bar,
    report_options,
    screen_width,
)

if TYPE_CHECKING:
    from backend.analysis.agreement.votes import Votes
    from backend.experiment.records import Study
    from backend.report.build import ReportOptions
    from backend.report.elements import Report
    from backend.responses.publication.terms import Terms


@command()
@click.argument("what", metavar="NAME|FILE")
@option("--json as_json", "Print JSON, with full precision.", bool)
@option("--full", "Include all other statistics: the key `findings`.", bool)
@finding_options("--full")
@option("--evaluators-drawn", "Evaluators in each resample.", click.IntRange(1, 100_000), "N")
@SIMULATED
def score(setup: Setup, what: str, as_json: bool, full: bool, **given: Any) -> None:
    """Score a study, or a file of responses (CSV or JSON lines) collected anywhere."""
    from backend.experiment.records import CLIPS
    from backend.foundation.json_text import json_parts
    from backend.report.compose import compose_scores
    from backend.report.findings import score_findings
    from backend.report.text_report import as_brief_text, as_text
    from backend.responses.readers import file_to_score, study_beside
    from backend.scoring import score_answers

    options, source = report_options("", **given), named(setup, what)
    if full or given["metrics"] is not None:
        with elapsed_time("findings"):
            findings, composed = _findings(setup, source, options)
        if not as_json:
            click.echo(as_text(composed(), screen_width()))
            return
        for part in json_parts(findings):
            click.echo(part, nl=False)
        click.echo()
        return
    with elapsed_time("scores"):
        answers = answers_of(setup, source, options.exposures == "shown", options.simulated)
        scored = score_answers if as_json else score_findings
        scores = scored(answers, options.exposures, margin=given["margin"], **options.scoring_options)
    if as_json:
        click.echo(json.dumps(scores, indent=2, allow_nan=False))
    else:
        beside = study_beside(file_to_score(source)) if isinstance(source, Path) else vars(source)
        click.echo(as_brief_text(compose_scores(scores, beside.get("medium") == CLIPS), screen_width()))


def _findings(
    setup: Setup, source: "Study | Path", options: "ReportOptions"
) -> tuple[dict[str, Any], Callable[[], "Report"]]:
    """Return the findings of a study, or of a file of responses, and a function that makes their report."""
    from backend.foundation.timestamps import utc_now
    from backend.report.build import file_info, study_info, with_stored_metrics
    from backend.report.compose import compose
    from backend.report.findings import findings
    from backend.report.study_findings import study_findings
    from backend.studies.look_records import check_shown

    now = utc_now()
    more: dict[str, Any] = {"in_columns": True, "exposures": options.exposures, **options.scoring_options}
    if isinstance(source, Path):
        answers = answers_of(setup, source, True, options.simulated)
        data = findings(answers, options.findings_options, **more)
        return data, lambda: compose(data, file_info(source, answers.method, now, options))
    check_shown(source, options.simulated)
    with_metrics = with_stored_metrics(options, setup.data, source)
    data = study_findings(
        setup.store, source, now, with_metrics.findings_options, simulated=options.simulated, **more
    )
    return data, lambda: compose(data, study_info(setup.store, source, now, with_metrics))


@command()
@click.argument("name")
@option("-o --out", "", FOLDER, required=True)
@option(
    "--bapps", "2AFC, JND: also write pictures and shares of votes in the layout of the BAPPS data set.", bool
)
@option(
    "--croissant",
    "Also write what publishing needs: croissant.json, the header of README.md by which `datasets` of "
    "Hugging Face loads the tables, a model card for each model, CITATION.cff.",
    bool,
)
@option(
    "--creator creators",
    "With --croissant: who made the data set, a person as `Lovelace, Ada` or an organisation; again for "
    "each.",
    metavar="NAME",
    multiple=True,
)
@option("--license licence", "With --croissant: such as CC-BY-4.0.", metavar="ID|URL")
@option("--url", "With --croissant: where the data set is published.", metavar="URL")
@option("--release", "With --croissant: version of the data set.  [default: 1.0.0]", metavar="X.Y.Z")
@SIMULATED
def export(
    setup: Setup, name: str, out: Path, bapps: bool, croissant: bool, simulated: bool, **declared: Any
) -> None:
    """Write the answers of the study NAME as a Psych-DS data set."""
    from backend.responses.export import export as write

    if not croissant and any(declared.values()):
        raise click.UsageError("--creator, --license, --url and --release go with --croissant")
    terms = _terms(**declared) if croissant else None
    study = setup.study(name)
    votes = _votes(setup, study, simulated) if bapps else None
    for path in write(setup.store, study, out, simulated, progress_bar):
        click.echo(str(path))
    if votes is not None:
        _write_bapps(setup, study, votes, out)
    if terms is not None:
        _publish(setup, study, out, terms, simulated)
    others = setup.store.finished(name, simulated=not simulated)[0]
    if others:
        kind, how = ("real", "without") if simulated else ("simulated", "with")
        click.echo(f"note: {others} {kind} sessions are not in it; export them {how} --simulated", err=True)


def _terms(creators: tuple[str, ...], **declared: str | None) -> "Terms":
    from backend.foundation.timestamps import utc_now
    from backend.responses.publication.terms import terms_of

    return terms_of(utc_now().date().isoformat(), creators, **declared)


def _publish(setup: Setup, study: "Study", out: Path, terms: "Terms", simulated: bool) -> None:
    """Write what publishing needs beside an export; say what is missing in it."""
    from backend.responses.publication.publish import publish_study

    with elapsed_time("descriptions"):
        paths, is_scored = publish_study(setup.store, study, out, terms, simulated)
    for path in paths:
        click.echo(str(path))
    if terms.missing:
        click.echo(f"note: nothing is said of {', '.join(terms.missing)}; publish with them", err=True)
    if not terms.creators:
        click.echo("note: there is no CITATION.cff without --creator", err=True)
    if not is_scored:
        click.echo("note: there are no model cards without scores of real evaluators", err=True)


def _votes(setup: Setup, study: "Study", simulated: bool) -> "Votes":
    from backend.responses.agreement import study_votes

    with elapsed_time("votes"):
        return study_votes(setup.store, study, simulated)


def _write_bapps(setup: Setup, study: "Study", votes: "Votes", out: Path) -> None:
    """Write pictures and votes of a study in the layout of BAPPS; say which items have no vote."""
    from functools import partial

    from backend.foundation.counted_nouns import counted
    from backend.responses.bapps_export import export_bapps
    from backend.responses.reading.distances import listed

    read = partial(setup.data.picture, study.name)
    made = export_bapps(votes, setup.store.stimuli(study.name), read, out, progress_bar)
    click.echo(str(made.folder))
    if made.unjudged:
        count = counted(len(made.unjudged), "item")
        click.echo(f"note: {count} without a vote left out of bapps: {listed(made.unjudged)}", err=True)


@click.command()
def published() -> None:
    """Print the papers' tests and correlations, recomputed from the papers' tables."""
    from backend.report.published import report
    from backend.report.text_report import as_sections

    click.echo(as_sections(report(), screen_width() or 110))


@click.command()
@option("--evaluators", "", click.IntRange(2, 1_000_000), default=4000)
@option("--seed", "", SEED, default=0)
@option("--observer", "", click.Choice(["constant", "exponential"]), default="constant", show_default=False)
@option("--bias", "Scores of evaluators, by the exposure that a rule converges to.", bool)
def convergence(evaluators: int, seed: int, observer: str, bias: bool) -> None:
    """Print what each reading of the papers' staircase converges to on their six models."""
    import numpy as np

    from backend.analysis.models.convergence import as_table, bias_as_table, bias_table, convergence_table
    from backend.experiment.staircase import NAMED_RULES

    rng = np.random.default_rng(seed)
    with elapsed_time("staircases"):
        if bias:
            tables = [
                f"{name}\n{bias_as_table(bias_table(rule, rng, evaluators))}"
                for name, rule in NAMED_RULES.items()
            ]
        else:
            tables = [as_table(convergence_table(rng, evaluators=evaluators, observer=observer))]
    click.echo("\n".join(tables))
