"""Routes that tell of studies: their list, what a page on one needs, and its progress."""

from collections.abc import Callable

from flask import request

from backend.experiment.records import Study
from backend.foundation.addresses import reach_of
from backend.members.roles import RESEARCHER
from backend.web import study_record
from backend.web.authorisation import caller
from backend.web.context import Context
from backend.web.live_job import latest_scores
from backend.web.monitor import Watch
from backend.web.progress_types import WatchedStudy
from backend.web.results_cache import results_cache
from backend.web.routing import Routes
from backend.web.study_types import StudyLines, StudyRecord
from backend.web.vary_header import is_of_host

_MOST_STUDIES = 1000
route = Routes(RESEARCHER)


def base_url(context: Context) -> str:
    """Return the address of this server, without a slash at its end, as evaluators reach it.

    To a researcher at this machine, whose own address others do not reach, it is one that they reach.
    """
    if context.base_url:
        return context.base_url.rstrip("/")
    is_of_host()
    asked = request.url_root.rstrip("/")
    if reach_of(asked) != "this_computer":
        return asked
    return next(iter(context.other_urls()), asked)


@route("GET /api/studies", is_polled=True)
def list_studies(context: Context) -> StudyLines:
    """The studies, with their sessions by state.

    Returns:
        In the order of their names.
    """
    now = context.clock()
    return {
        "studies": [
            study_record.listed(context.store, study, _watch(context, study).progress(now))
            for study in context.store.studies()
        ]
    }


@route("GET /api/studies/{study}/record")
def show_record(context: Context, study: Study) -> StudyRecord:
    """All that a page on a study needs at once.

    Returns:
        The study.
    """
    now = context.clock()
    progress = _watch(context, study).progress(now)
    return study_record.record(
        context.store, study, progress, base_url(context), now, context.downloads.kinds
    )


@route("GET /api/studies/{study}/live", is_polled=True)
def show_live(context: Context, study: Study) -> WatchedStudy:
    """How far a study is, and its scores so far; some seconds old at most.

    Returns:
        Progress and scores.
    """
    watch, now, downloads = _watch(context, study), context.clock(), context.downloads
    if not downloads.is_elsewhere:
        return watch.with_latest_scores(now)
    progress, member = watch.progress(now), caller().name
    scores = latest_scores(context.store, study, progress, member, now)
    return {**progress, "scores": scores}


def _watch(context: Context, study: Study) -> Watch:
    key = study.name, study.created_at, study.version
    return context.shared(_watches)(key, lambda: Watch(context.store, study))


def _watches(context: Context) -> Callable[..., Watch]:
    return results_cache(_MOST_STUDIES)
