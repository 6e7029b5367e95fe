"""Routes that change a study: pause, settings, links, simulated evaluators, retention, deletion."""

from typing import cast

from backend.administration import clear, delete, retention, simulated_evaluators
from backend.administration.setting_forms import posted
from backend.experiment.protocol import to_json
from backend.experiment.records import Study
from backend.foundation.addresses import study_page
from backend.foundation.errors import Conflict, InvalidInput
from backend.foundation.timestamps import stamp
from backend.members.roles import RESEARCHER
from backend.studies import tournament_counts
from backend.studies.pausing import set_paused
from backend.studies.waiting_room import waiting_now
from backend.task.eligibility import issue_links
from backend.web.context import Context
from backend.web.job_routes import enqueued
from backend.web.job_types import Enqueued
from backend.web.routing import Routes
from backend.web.study_routes import base_url
from backend.web.study_types import (
    Cleared,
    Contents,
    Deletion,
    Links,
    LinksWanted,
    PausedOrNot,
    RetentionDone,
    RetentionDue,
    RetentionWanted,
    SamplingUpdate,
    Settings,
    SettingsChanged,
    Simulation,
    WaitingAdmitted,
)

route = Routes(RESEARCHER)


@route("POST /api/studies/{study}/pause", "503")
def pause_study(context: Context, study: Study) -> PausedOrNot:
    """Open no new sessions; those under way go on.

    Returns:
        The study is paused.
    """
    return _paused(context, study, True)


@route("POST /api/studies/{study}/resume", "503")
def resume_study(context: Context, study: Study) -> PausedOrNot:
    """Let a paused study go on.

    Returns:
        The study is open to evaluators.
    """
    return _paused(context, study, False)


def _paused(context: Context, study: Study, is_to_pause: bool) -> PausedOrNot:
    changed = set_paused(context.store, study.name, is_to_pause, stamp(context.clock()))
    return {"paused": is_to_pause, "changed": changed}


@route("POST /api/studies/{study}/admit-waiting", "503")
def admit_waiting(context: Context, study: Study) -> WaitingAdmitted:
    """Open a study, and notify the people who are paid to wait for it.

    Returns:
        They are notified.
    """
    waiting = waiting_now(context.store, study.name, context.clock().timestamp())
    return {"paused": _paused(context, study, False)["paused"], "notified": waiting}


@route("POST /api/studies/{study}/set", "409 501 503")
def set_settings(context: Context, study: str, wanted: Settings) -> SettingsChanged:
    """Change settings of a study that no real evaluator has begun; pictures and masks stay.

    Returns:
        What changed.
    """
    from backend.administration.revise import change_settings

    change = change_settings(context.store, context.data, study, posted(wanted.settings), wanted.replaces)
    before, after = to_json(change.before.protocol), to_json(change.study.protocol)
    return {
        "changed": [
            {"setting": name, "before": before[name], "after": after[name]} for name in change.changed()
        ],
        "cleared": change.cleared,
        "notes": change.new_notes(),
    }


@route("POST /api/studies/{study}/clear", "503")
def clear_simulated(context: Context, study: Study) -> Cleared:
    """Remove the simulated sessions of a study, and no real one.

    Returns:
        They are removed.
    """
    return {"cleared": clear.clear_simulated(context.store, study.name)}


@route("GET /api/studies/{study}/contents")
def show_contents(context: Context, study: Study) -> Contents:
    """What deleting a study would delete, and what is in the way.

    Returns:
        Its contents.
    """
    try:
        delete.check(context.store, study, context.clock())
        obstacle = None
    except Conflict as error:
        obstacle = str(error)
    facts = vars(delete.contents(context.store, context.data, study))
    return cast(Contents, {**facts, "obstacle": obstacle})


@route("POST /api/studies/{study}/delete", "409 503", status=202)
def delete_study(context: Context, study: str, wanted: Deletion) -> Enqueued:
    """Delete a study with its sessions, answers and pictures, for good; at once nobody can open it.

    Returns:
        It is hidden, and being deleted.
    """
    record = context.store.study(study, even_deleted=True)
    if wanted.confirm != record.name:
        raise InvalidInput(f"confirm must be the name of the study, {record.name}: nothing was deleted")
    marked = delete.mark(context.store, record, context.clock())
    context.downloads.remove(record.name)
    return enqueued(context, "delete", marked, {})


@route("POST /api/studies/{study}/links", "503", status=201)
def private_links(context: Context, study: Study, wanted: LinksWanted) -> Links:
    """Issue private links, one a person.

    Returns:
        The links, which are shown once.
    """
    from backend.experiment.panel import PRIVATE_LINK

    tokens = issue_links(context.store, context.keys.hashing, study.name, wanted.count)
    base = base_url(context)
    return {"links": [f"{study_page(base, study.name)}?{PRIVATE_LINK}={token}" for token in tokens]}


@route("POST /api/studies/{study}/simulate", "409 503", status=202)
def simulate(context: Context, study: Study, wanted: Simulation) -> Enqueued:
    """Have simulated evaluators take part; they answer through the API, and count, pay and limit nothing.

    Returns:
        They begin soon.
    """
    store = context.store
    observers = {name: str(value) for name, value in wanted.accuracy.items()}
    strengths = {name: str(value) for name, value in wanted.strength.items()}
    simulated_evaluators.checked(study, observers, strengths)
    count = wanted.evaluators
    if count is None:
        existing = list(store.sessions(study.name, simulated=True))
        count = simulated_evaluators.wanted(study, existing)
    if not count:
        raise Conflict(
            f"{study.name} has as many simulated sessions as it wants of real ones; say how many more",
            code="simulated_already",
        )
    args = {
        "observers": observers,
        "strengths": strengths,
        "sd": wanted.sd,
        "picture_sd": wanted.picture_sd,
        "seed": wanted.seed or 0,
        "evaluators": count,
        "until": store.finished(study.name, simulated=True)[0] + count,
    }
    return enqueued(context, "simulate", study, args)


@route("POST /api/studies/{study}/update-sampling", "503", status=202)
def update_sampling(context: Context, study: Study, wanted: SamplingUpdate) -> Enqueued:
    """Find which pictures need evaluators, so that the next sessions show them; count a tournament again.

    Returns:
        It is being found out.
    """
    if not (study.protocol.stimuli.is_adaptive or tournament_counts.is_counted(study)):
        raise InvalidInput(f"study {study.name} samples all its pictures at random")
    return enqueued(context, "update_sampling", study, {"simulated": wanted.simulated})


@route("GET /api/studies/{study}/retention")
def retention_due(context: Context, study: Study, query: RetentionWanted) -> RetentionDue:
    """How many sessions have personal data that are old enough to be deleted.

    Returns:
        Nothing is deleted yet.
    """
    due = retention.due(context.store, study, context.clock(), query.keep_days)
    (text,) = retention.lines([due])
    return {"study": due.study, "keep_days": due.keep_days, "due": len(due), "text": text}


@route("POST /api/studies/{study}/retention", "503")
def apply_retention(context: Context, study: Study, wanted: RetentionWanted) -> RetentionDone:
    """Delete personal data that are old enough, for good; answers stay.

    Returns:
        They are deleted.
    """
    due = retention.due(context.store, study, context.clock(), wanted.keep_days)
    retention.apply(context.store, due, context.clock())
    context.downloads.remove(study.name)
    return {"study": study.name, "deleted": len(due)}
