"""The routes that members call."""

from backend.web import (
    competition_routes,
    download_routes,
    intake_routes,
    job_routes,
    member_routes,
    payment_routes,
    plan_routes,
    preview_routes,
    recruitment_routes,
    replication_routes,
    session_routes,
    study_changes,
    study_routes,
    submission_routes,
    terms_routes,
    upload_routes,
)

OF_MEMBERS = (
    member_routes.route,
    upload_routes.route,
    job_routes.route,
    intake_routes.route,
    study_routes.route,
    study_changes.route,
    session_routes.route,
    recruitment_routes.route,
    payment_routes.route,
    download_routes.route,
    plan_routes.route,
    replication_routes.route,
    preview_routes.route,
    terms_routes.route,
    submission_routes.route,
    competition_routes.route,
)
