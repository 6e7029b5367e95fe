"""Reports of studies and of responses files, built from responses and facts about their source.

For a study these are its dates, settings and stimuli; for a file, its name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backend import __version__
from backend.experiment.judgments import method_named
from backend.experiment.protocol import to_json
from backend.experiment.records import CLIPS, Study
from backend.foundation import optional_packages
from backend.foundation.errors import InvalidInput
from backend.metrics import study_metrics
from backend.payment import accounts
from backend.recruitment.plan import largest_bonus
from backend.report import heat_maps, page, thumbnails
from backend.report.compose import compose
from backend.report.context import FindingsView, SourceInfo
from backend.report.elements import Report
from backend.report.leaderboard import Entry, leaderboard
from backend.responses import question_answers
from backend.responses.readers import file_to_score, study_beside
from backend.responses.study_looks import exported
from backend.stores.datadir import DataDir
from backend.stores.store import Store
from backend.studies import look_records
from backend.studies.withdrawals import sessions_of

if TYPE_CHECKING:
    from backend.report.findings import FindingsOptions

_OMITTED_SETTINGS = {"method", "title", "consent_text", "consent_version", "contact", "panel", "texts"}
"""Settings that do not describe the measurement."""


@dataclass(frozen=True)
class ReportOptions:
    """Options of a report."""

    title: str = ""
    exposures: str = "nominal"
    findings_options: "FindingsOptions | None" = None
    scoring_options: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of `scoring.Options`."""
    simulated: bool = False
    """Whether to report on simulated sessions instead of real ones."""
    picture_metrics: Sequence[Mapping[str, Any]] = ()
    """The metrics that are kept with the study (`with_stored_metrics`)."""

    @property
    def metrics(self) -> Mapping[str, Mapping[str, float]]:
        return self.findings_options.metrics if self.findings_options else {}


def study_report(
    store: Store,
    read: thumbnails.Read,
    study: Study,
    now: datetime,
    options: ReportOptions | None = None,
) -> Report:
    """Return the report of a study.

    Args:
        read: reads stimuli, which are shown as thumbnails.

    Raises:
        InvalidInput: as in `study_findings`, for example if no session is finished yet.
        NotInstalled: the package matplotlib is missing.
        Conflict: the study's scores are hidden until a planned look ends it.
    """
    from backend.report.judgment_report import report_of
    from backend.report.study_findings import study_findings

    optional_packages.check("a report", "matplotlib")
    options = options or ReportOptions()
    look_records.check_shown(study, options.simulated)
    findings = study_findings(
        store,
        study,
        now,
        options.findings_options,
        options.exposures,
        options.simulated,
        in_columns=True,
        **options.scoring_options,
    )
    view = FindingsView(findings)
    judgment = report_of(study.protocol.method)
    pictures = thumbnails.thumbnails(read, study.name, dict.fromkeys(judgment.shown_names(view)))
    marked = thumbnails.thumbnails(read, study.name, judgment.marked_names(view), heat_maps.SIZE_PX)
    info = study_info(store, study, now, options)
    return compose(findings, replace(info, thumbnails=pictures, marked=marked))


def with_stored_metrics(options: ReportOptions, data: DataDir, study: Study) -> ReportOptions:
    """Return options with the metrics that are kept with a study; those given take precedence by name."""
    from backend.report.findings import FindingsOptions

    chosen = options.findings_options or FindingsOptions()
    runs = study_metrics.stored_runs(data, study)
    metrics = {**study_metrics.metrics_of(runs), **chosen.metrics}
    return replace(options, findings_options=replace(chosen, metrics=metrics), picture_metrics=runs)


def study_page(
    store: Store,
    read: thumbnails.Read,
    study: Study,
    now: datetime,
    top: str,
    data: DataDir,
    simulated: bool = False,
) -> str:
    """Return the results page of a study, with the server's markup `top`.

    Args:
        data: has the metrics that are kept with the study.
    """
    options = with_stored_metrics(ReportOptions(simulated=simulated), data, study)
    return page.html(study_report(store, read, study, now, options), top=top)


def file_report(path: Path, now: datetime, options: ReportOptions | None = None) -> Report:
    """Return the report of a responses file.

    Raises:
        NotFound, InvalidInput: as in `readers.read_answers`.
        NotInstalled: the package matplotlib is missing.
    """
    from backend.report.findings import findings
    from backend.responses.readers import read_answers

    optional_packages.check("a report", "matplotlib")
    options = options or ReportOptions()
    answers = read_answers(path, details=True, simulated=options.simulated)
    results = findings(
        answers,
        options.findings_options,
        in_columns=True,
        exposures=options.exposures,
        **options.scoring_options,
    )
    return compose(results, file_info(path, answers.method, now, options))


def file_info(path: Path, method: str, now: datetime, options: ReportOptions) -> SourceInfo:
    """Return the facts about a responses file that its report shows."""
    beside = study_beside(file_to_score(path))
    return SourceInfo(
        options.title or path.stem,
        path.name,
        f"{now:%Y-%m-%d}",
        __version__,
        study=_exposures(method, options),
        looks=None if options.simulated else beside.get("looks"),
        metrics=options.metrics,
        are_clips=beside.get("medium") == CLIPS,
    )


def _exposures(method: str, options: ReportOptions) -> list[tuple[str, str]]:
    return [("exposures scored", options.exposures)] if method_named(method).has("staircase") else []


def study_info(store: Store, study: Study, now: datetime, options: ReportOptions) -> SourceInfo:
    """Return the facts about a study that its report shows, without pictures."""
    simulated = options.simulated
    settings = [
        (name.replace("_", " "), value)
        for name, value in to_json(study.protocol).items()
        if name not in _OMITTED_SETTINGS and value not in (None, "", ())
    ]
    return SourceInfo(
        title=options.title or f"Results of {study.name}",
        source=f"study {study.name}",
        date=f"{now:%Y-%m-%d}",
        version=__version__,
        collected=collected(store, study, simulated),
        study=[
            ("made", study.created_at[:10]),
            ("classes", ", ".join(study.classes)),
            *_when_judged(store, study, simulated),
            *settings,
            *_exposures(study.protocol.method, options),
        ],
        metrics=options.metrics,
        picture_metrics=options.picture_metrics,
        looks=None if simulated else _looks(store, study),
        notes=study.notes,
        texts=question_answers.texts(store, study, simulated),
        are_clips=study.medium == CLIPS,
    )


def _looks(store: Store, study: Study) -> dict[str, Any] | None:
    """Return a study's plan of looks with its decisions, and what its end saved at most."""
    looks = exported(store, study)
    if not looks or not looks["decisions"]:
        return looks
    funds, pay = accounts.funds(store, study.name)[1], study.protocol.pay
    with_fees = funds.cost_usd_cents if study.protocol.admission.panel.pays else int
    each = sum(map(with_fees, (pay.base_usd_cents, largest_bonus(study.protocol))))
    saved = (looks["decisions"][-1].get("saved") or 0) * each
    return {**looks, "saved_usd_cents": saved, "currency": pay.currency}


def collected(store: Store, study: Study, simulated: bool = False) -> str:
    """Return the dates of finished sessions, `2025-03-01` or `2025-03-01 to 2025-03-05`; empty if none."""
    days = [
        (session.opened_at[:10], cursor.last_at[:10])
        for session, cursor in sessions_of(store, study, simulated)
        if cursor.state == "finished"
    ]
    return _span(days)


def _when_judged(store: Store, study: Study, simulated: bool) -> list[tuple[str, str]]:
    """Return, if models joined a study, the dates of the finished sessions of each model."""
    if not study.joined:
        return []
    days: dict[str, list[tuple[str, str]]] = {model: [] for model in study.models}
    for session, cursor in sessions_of(store, study, simulated):
        for model in session.models if cursor.state == "finished" else ():
            days[model].append((session.opened_at[:10], cursor.last_at[:10]))
    return [(f"evaluators of {model}", _span(of_model) or "none yet") for model, of_model in days.items()]


def _span(days: Sequence[tuple[str, str]]) -> str:
    """Return the first and the last of some days, as a text; '' for none."""
    if not days:
        return ""
    first, last = min(opened for opened, _ in days), max(ended for _, ended in days)
    return first if first == last else f"{first} to {last}"


def study_entry(store: Store, study: Study, now: datetime, level: float, simulated: bool = False) -> Entry:
    """Return a study's entry of a leaderboard; raises the errors of `study_findings`."""
    from backend.report.study_findings import study_findings
    from backend.responses.runs import run_of

    entry = study_findings(store, study, now, simulated=simulated, level=level)
    run = run_of(store, study, simulated)
    return Entry(study.name, collected(store, study, simulated), entry, run)


def file_entry(path: Path, level: float, simulated: bool = False) -> Entry:
    """Return a responses file's entry of a leaderboard; raises the errors of `readers.read_answers`."""
    from backend.analysis.replication import Run
    from backend.report.findings import findings
    from backend.responses.readers import read_answers

    answers = read_answers(path, simulated=simulated)
    return Entry(path.stem, "", findings(answers, level=level), Run(path.stem, answers))


def leaderboard_of(entries: Sequence[Entry], title: str, now: datetime) -> Report:
    """Return the leaderboard of several studies as a report.

    Raises:
        InvalidInput: two entries have the same name, or an entry's scores are on a scale of its own.
        NotInstalled: the package matplotlib is missing.
    """
    from backend.report.judgment_report import report_of

    optional_packages.check("a report", "matplotlib")
    for entry in entries:
        if not report_of(entry.data["method"]).has_leaderboard:
            raise InvalidInput(
                f"{entry.name} is a study of {method_named(entry.data['method']).title}, whose scores cannot "
                "be compared between studies; leave it out"
            )
    names = [entry.name for entry in entries]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InvalidInput(f"two entries of the leaderboard are called {twice[0]!r}; rename one of the files")
    return leaderboard(entries, title or "Leaderboard", f"{now:%Y-%m-%d}", __version__)
