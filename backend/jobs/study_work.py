"""Jobs on a study that exists: `pay`, `delete`, `update_sampling`, `metrics`, `agree` and `correlate`."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from backend.experiment.records import Study
from backend.foundation.errors import NotFound
from backend.foundation.timestamps import stamp, utc_now
from backend.jobs.queue import Job
from backend.jobs.work import Failed, Work
from backend.stores.store import Store, study_if_any

if TYPE_CHECKING:
    from backend.analysis.agreement.votes import Votes
    from backend.responses.agreement import Agreement


def pay(work: Work, job: Job) -> dict[str, Any]:
    """Pay what was confirmed, once; whatever the ledger shows as paid already is left.

    Raises:
        Failed: not all of it could be paid; the details say what was in the way.
    """
    from backend.panels.prolific import open_prolific
    from backend.payment.study_payments import carry_out

    study = study_of(work, job)
    panel = open_prolific()
    obstacles = carry_out(work.store, study, panel, utc_now, job.args["order"], work.progress)
    if obstacles:
        raise Failed("; ".join(obstacles), {"obstacles": obstacles})
    return {"total_usd_cents": job.args["order"]["total_usd_cents"], "currency": study.protocol.pay.currency}


def delete(work: Work, job: Job) -> dict[str, Any]:
    from backend.administration.delete import delete as run

    study = study_if_any(work.store, job.study or "", even_deleted=True)  # an earlier run may have deleted it
    if study and study.created_at == job.args["created_at"] and study.deleted_at:
        run(work.store, work.data, study, utc_now(), progress=work.progress)
    return {"study": job.study}


def update_sampling(work: Work, job: Job) -> dict[str, Any]:
    """Find which pictures need evaluators, or count the answers of a tournament again."""
    from backend.responses.sampling_needs import recounted, refresh
    from backend.studies.tournament_counts import is_counted

    study, simulated = study_of(work, job), job.args["simulated"]
    if is_counted(study):
        return {"sessions": recounted(work.store, study, simulated)}
    needs = refresh(work.store, study, stamp(utc_now()), simulated)
    return {"sessions": needs.sessions, "pictures": sum(map(len, needs.sides.values()))}


def metrics(work: Work, job: Job) -> dict[str, Any]:
    """Compute metrics of a study's pictures, keep them with it, and return them as the command does."""
    from backend.metrics import study_metrics
    from backend.metrics.runs import Plan, study_runs
    from backend.metrics.set_distances import Options
    from backend.report.metrics import metric_findings

    study, args = study_of(work, job), job.args
    plan = Plan(
        work.data.cache("features"),
        Options(level=args["level"], seed=args["seed"], extrapolate=args["extrapolate"]),
        (),
        (),
        args["skip_bad"],
        None,
        work.progress,
        work.say,
    )
    runs, sets = study_runs(plan, work.store, work.data, study)
    stored = study_metrics.keep(work.data, study, runs, sets, utc_now())
    scores = metric_findings(work.store, study, study_metrics.metrics_of(stored), args["level"])
    return {"study": study.name, "runs": runs, "agreement": scores["findings"]["metrics"] if scores else []}


def agree(work: Work, job: Job) -> dict[str, Any]:
    """Score distances that need no weights against the votes of a study, as `openhype agree` does."""
    from backend.responses.agreement import study_votes

    study, args = study_of(work, job), job.args
    made = _scored(work, study, study_votes(work.store, study, args["simulated"]), args)
    return {**made.data, "simulated": args["simulated"], "remarks": list(made.remarks)}


def correlate(work: Work, job: Job) -> dict[str, Any]:
    """Correlate the scores of distances by a 2AFC and by a JND study, as `openhype agree A B` does.

    Beside its data: `sentences` and `notes` of the report, and `remarks` on the studies.
    """
    from backend.report.across_judgments import section
    from backend.responses.agreement import across_studies, check_both, study_votes

    args = job.args
    studies = [study_of(work, job), study_named(work.store, args["other"])]
    names = [study.name for study in studies]
    votes = [study_votes(work.store, study, args["simulated"]) for study in studies]
    check_both(names, votes)
    made = across_studies(names, votes, lambda i, one: _scored(work, studies[i], one, args), args["level"])
    page = section(made.data)
    return {
        **made.data,
        "sentences": [*page.paragraphs],
        "notes": [*page.notes],
        "remarks": [*made.remarks],
    }


def study_of(work: Work, job: Job) -> Study:
    """Return the study that a job is about.

    Raises:
        NotFound: it was deleted, though another one may have its name now.
    """
    return study_named(work.store, {"study": job.study or "", "created_at": job.args["created_at"]})


def study_named(store: Store, facts: Mapping[str, str]) -> Study:
    """Return the study that was meant when a job was ordered: `study` is its name, beside `created_at`.

    Raises:
        NotFound: it was deleted, though another one may have its name now.
    """
    study = store.study(facts["study"])
    if study.created_at != facts["created_at"]:
        raise NotFound(f"study {study.name} was deleted, and another one has its name", code="unknown_study")
    return study


def _scored(work: Work, study: Study, votes: "Votes", args: Mapping[str, Any]) -> "Agreement":
    from backend.metrics.pairs.distances import distances_named
    from backend.responses.agreement import agreement_of
    from backend.responses.item_pictures import pictures_of_study
    from backend.responses.picture_distances import distances_of

    chosen = distances_named(args["distances"])
    pictures = pictures_of_study(work.data, study, work.store.stimuli(study.name)).of(votes)
    arrays = distances_of(pictures, chosen, work.progress) if chosen else {}
    return agreement_of(votes, {}, args["level"], arrays, {each.name: each.description for each in chosen})
