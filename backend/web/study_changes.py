"""Routes that change a study: pause, settings, links, simulated evaluators, retention, deletion."""

from typing import cast

from flask import Flask

from backend.administration import clear, delete, retention, simulated_evaluators
from backend.administration.setting_forms import posted
from backend.experiment.protocol import to_json
from backend.foundation.errors import Conflict, InvalidInput
from backend.foundation.timestamps import stamp
from backend.members.roles import RESEARCHER
from backend.studies import tournament_counts
from backend.studies.pausing import set_paused
from backend.studies.waiting_room import waiting_now
from backend.task.eligibility import issue_links
from backend.web import queries
from backend.web.bodies import NoFields, body
from backend.web.context import Context
from backend.web.job_routes import enqueued
from backend.web.job_types import Enqueued
from backend.web.operations import Operation, Operations
from backend.web.study_routes import base_url
from backend.web.study_types import (
    Called,
    Cleared,
    Contents,
    Deletion,
    Drawing,
    Links,
    LinksWanted,
    PausedOrNot,
    RetentionDone,
    RetentionDue,
    RetentionWanted,
    Settings,
    SettingsChanged,
    Simulation,
)

_PATH = "/api/studies/{study}"
_KEEP_DAYS = (
    (
        "keep_days",
        "query",
        {"type": "number", "minimum": 0, "maximum": 36500},
        "Overrides the study's own setting; 0: nothing is deleted",
    ),
)
OPERATIONS: Operations = {
    f"POST {_PATH}/pause": Operation(
        "Open no new sessions; those under way go on",
        {200: ("The study is paused", PausedOrNot)},
        "400 404 415 503",
        NoFields,
        role=RESEARCHER,
    ),
    f"POST {_PATH}/resume": Operation(
        "Let a paused study go on",
        {200: ("The study is open to evaluators", PausedOrNot)},
        "400 404 415 503",
        NoFields,
        role=RESEARCHER,
    ),
    f"POST {_PATH}/call": Operation(
        "Open a study, and call the people who are paid to wait for it",
        {200: ("They are called", Called)},
        "400 404 415 503",
        NoFields,
        role=RESEARCHER,
    ),
    f"POST {_PATH}/set": Operation(
        "Change settings of a study that no real evaluator has begun; pictures and masks stay",
        {200: ("What changed", SettingsChanged)},
        "400 404 409 415 501 503",
        Settings,
        role=RESEARCHER,
    ),
    f"POST {_PATH}/clear": Operation(
        "Remove the simulated sessions of a study, and no real one",
        {200: ("They are removed", Cleared)},
        "400 404 415 503",
        NoFields,
        role=RESEARCHER,
    ),
    f"GET {_PATH}/contents": Operation(
        "What deleting a study would delete, and what is in the way",
        {200: ("Its contents", Contents)},
        "404",
        role=RESEARCHER,
    ),
    f"POST {_PATH}/delete": Operation(
        "Delete a study with its sessions, answers and pictures, for good; at once nobody can open it",
        {202: ("It is hidden, and being deleted", Enqueued)},
        "400 404 409 415 503",
        Deletion,
        role=RESEARCHER,
    ),
    f"POST {_PATH}/links": Operation(
        "Issue private links, one a person",
        {201: ("The links, which are shown once", Links)},
        "400 404 415 503",
        LinksWanted,
        role=RESEARCHER,
    ),
    f"POST {_PATH}/simulate": Operation(
        "Have simulated evaluators take part through the API; they count, pay and limit nothing",
        {202: ("They begin soon", Enqueued)},
        "400 404 409 415 503",
        Simulation,
        role=RESEARCHER,
    ),
    f"POST {_PATH}/draw": Operation(
        "Find which pictures need evaluators, so that the next sessions draw them; count a tournament again",
        {202: ("It is being found out", Enqueued)},
        "400 404 415 503",
        Drawing,
        role=RESEARCHER,
    ),
    f"GET {_PATH}/retention": Operation(
        "How many sessions have personal data that are old enough to be deleted",
        {200: ("Nothing is deleted yet", RetentionDue)},
        "400 404",
        role=RESEARCHER,
        parameters=_KEEP_DAYS,
    ),
    f"POST {_PATH}/retention": Operation(
        "Delete personal data that are old enough, for good; answers stay",
        {200: ("They are deleted", RetentionDone)},
        "400 404 415 503",
        RetentionWanted,
        role=RESEARCHER,
    ),
}


def add_routes(app: Flask, context: Context) -> None:
    """Add the routes."""
    store, data, clock = context.store, context.data, context.clock

    def paused(study: str, is_to_pause: bool) -> PausedOrNot:
        body(NoFields)
        name = store.study(study).name
        return {"paused": is_to_pause, "changed": set_paused(store, name, is_to_pause, stamp(clock()))}

    @app.post("/api/studies/<study>/pause")
    def pause_study(study: str) -> PausedOrNot:
        return paused(study, True)

    @app.post("/api/studies/<study>/resume")
    def resume_study(study: str) -> PausedOrNot:
        return paused(study, False)

    @app.post("/api/studies/<study>/call")
    def call_people(study: str) -> Called:
        waiting = waiting_now(store, store.study(study).name, clock().timestamp())
        return {"paused": paused(study, False)["paused"], "called": waiting}

    @app.post("/api/studies/<study>/set")
    def set_settings(study: str) -> SettingsChanged:
        from backend.administration.revise import change_settings

        wanted = body(Settings).settings
        change = change_settings(store, data, study, posted(wanted))
        before, after = to_json(change.before.protocol), to_json(change.study.protocol)
        return {
            "changed": [
                {"setting": name, "before": before[name], "after": after[name]} for name in change.changed()
            ],
            "cleared": change.cleared,
            "notes": change.new_notes(),
        }

    @app.post("/api/studies/<study>/clear")
    def clear_simulated(study: str) -> Cleared:
        body(NoFields)
        return {"cleared": clear.clear_simulated(store, store.study(study).name)}

    @app.get("/api/studies/<study>/contents")
    def contents(study: str) -> Contents:
        found = store.study(study)
        try:
            delete.check(store, found, clock())
            hindrance = None
        except Conflict as error:
            hindrance = str(error)
        return cast(Contents, {**vars(delete.contents(store, data, found)), "hindrance": hindrance})

    @app.post("/api/studies/<study>/delete")
    def delete_study(study: str) -> tuple[Enqueued, int]:
        found = store.study(study, even_deleted=True)
        if body(Deletion).confirm != found.name:
            raise InvalidInput(f"confirm must be the name of the study, {found.name}: nothing was deleted")
        marked = delete.mark(store, found, clock())
        data.remove_downloads(found.name)
        return enqueued(context, "delete", marked, {})

    @app.post("/api/studies/<study>/links")
    def private_links(study: str) -> tuple[Links, int]:
        from backend.experiment.panel import PRIVATE_LINK

        found, count = store.study(study), body(LinksWanted).count
        tokens = issue_links(store, context.keys.hashing, found.name, count)
        base = base_url(context)
        return {"links": [f"{base}/s/{found.name}?{PRIVATE_LINK}={token}" for token in tokens]}, 201

    @app.post("/api/studies/<study>/simulate")
    def simulate(study: str) -> tuple[Enqueued, int]:
        found, wanted = store.study(study), body(Simulation)
        observers = {name: str(value) for name, value in wanted.accuracy.items()}
        strengths = {name: str(value) for name, value in wanted.strength.items()}
        simulated_evaluators.checked(found, observers, strengths)
        existing = list(store.sessions(found.name, simulated=True))
        count = (
            simulated_evaluators.wanted(found, existing) if wanted.evaluators is None else wanted.evaluators
        )
        if not count:
            raise Conflict(
                f"{found.name} has as many simulated sessions as it wants of real ones; say how many more",
                code="simulated_already",
            )
        args = {
            "observers": observers,
            "strengths": strengths,
            "sd": wanted.sd,
            "seed": wanted.seed or 0,
            "evaluators": count,
            "until": store.finished(found.name, simulated=True)[0] + count,
        }
        return enqueued(context, "simulate", found, args)

    @app.post("/api/studies/<study>/draw")
    def draw(study: str) -> tuple[Enqueued, int]:
        found, wanted = store.study(study), body(Drawing)
        if not (found.protocol.stimuli.draws_by_need or tournament_counts.is_counted(found)):
            raise InvalidInput(f"study {found.name} draws all its pictures at random")
        return enqueued(context, "draw", found, {"simulated": wanted.simulated})

    @app.get("/api/studies/<study>/retention")
    def retention_due(study: str) -> RetentionDue:
        due = retention.due(store, store.study(study), clock(), queries.number("keep_days", 0, 36500))
        (text,) = retention.lines([due])
        return {"study": due.study, "keep_days": due.keep_days, "due": len(due), "text": text}

    @app.post("/api/studies/<study>/retention")
    def apply_retention(study: str) -> RetentionDone:
        found, wanted = store.study(study), body(RetentionWanted)
        due = retention.due(store, found, clock(), wanted.keep_days)
        retention.apply(store, due, clock())
        data.remove_downloads(found.name)
        return {"study": found.name, "deleted": len(due)}
