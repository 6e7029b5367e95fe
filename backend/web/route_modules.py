"""The modules of routes that members call, each with its `OPERATIONS` and `add_routes`."""

from backend.web import (
    competition_routes,
    download_routes,
    intake_routes,
    job_routes,
    member_routes,
    payment_routes,
    plan_routes,
    recruitment_routes,
    session_routes,
    standing_routes,
    study_changes,
    study_routes,
    submission_routes,
    upload_routes,
)
from backend.web.authorisation import Routes

MODULES: tuple[Routes, ...] = (
    member_routes,
    upload_routes,
    job_routes,
    intake_routes,
    study_routes,
    study_changes,
    session_routes,
    recruitment_routes,
    payment_routes,
    download_routes,
    plan_routes,
    standing_routes,
    submission_routes,
    competition_routes,
)
