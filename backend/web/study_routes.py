"""Routes that tell of studies: their list, what a page on one needs, and its progress."""

from flask import Flask, Response, request

from backend.experiment.records import Study
from backend.members.roles import RESEARCHER
from backend.web import study_record
from backend.web.context import Context
from backend.web.monitor import Watch
from backend.web.operations import SINCE, UNCHANGED, Operation, Operations
from backend.web.progress_types import WatchedStudy
from backend.web.replying import polled
from backend.web.results_cache import ResultsCache
from backend.web.study_types import StudyLines, StudyRecord

_MOST_STUDIES = 1000
OPERATIONS: Operations = {
    "GET /api/studies": Operation(
        "The studies, with their sessions by state",
        {200: ("In the order of their names", StudyLines), **UNCHANGED},
        "",
        role=RESEARCHER,
        parameters=(SINCE,),
        headers=("ETag",),
    ),
    "GET /api/studies/{study}/record": Operation(
        "All that a page on a study needs at once",
        {200: ("The study", StudyRecord)},
        "404",
        role=RESEARCHER,
    ),
    "GET /api/studies/{study}/live": Operation(
        "How far a study is, and its scores so far; some seconds old at most",
        {200: ("Progress and scores", WatchedStudy), **UNCHANGED},
        "404",
        role=RESEARCHER,
        parameters=(SINCE,),
        headers=("ETag",),
    ),
}


def base_url(context: Context) -> str:
    """Return the address of this server, without a slash at its end, as evaluators reach it."""
    return (context.base_url or request.host_url).rstrip("/")


def add_routes(app: Flask, context: Context) -> None:
    """Add the routes."""
    store = context.store
    watches = ResultsCache(_MOST_STUDIES)

    def watch(study: Study) -> Watch:
        version = f"{study.created_at} {study.version}"
        return watches.get(study.name, version, lambda: Watch(store, study))

    @app.get("/api/studies")
    def studies() -> Response:
        now = context.clock()
        found = store.studies()
        lines = [study_record.listed(store, study, watch(study).progress(now)) for study in found]
        return polled({"studies": lines})

    @app.get("/api/studies/<study>/record")
    def record(study: str) -> StudyRecord:
        found, now = store.study(study), context.clock()
        return study_record.record(store, found, watch(found).progress(now), base_url(context), now)

    @app.get("/api/studies/<study>/live")
    def live(study: str) -> Response:
        return polled(watch(store.study(study)).with_latest_scores(context.clock()))
