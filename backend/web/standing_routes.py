"""Routes by which a study becomes a standing one, and its terms are changed."""

from typing import Any

import msgspec
from flask import Flask

from backend.members.roles import RESEARCHER
from backend.standing.protocol_hash import hash_of
from backend.standing.terms import Limit, Standing, Terms, plain_terms, stand, standing
from backend.web.bodies import body
from backend.web.context import Context
from backend.web.operations import Operation, Operations
from backend.web.standing_types import MAX_TERMS_BYTES, StandingFacts, TermsGiven

OPERATIONS: Operations = {
    "POST /api/studies/{study}/standing": Operation(
        "Make a study a standing one, which takes models in, or change its terms",
        {200: ("The terms", StandingFacts)},
        "400 404 413 415 503",
        TermsGiven,
        role=RESEARCHER,
    ),
    "GET /api/studies/{study}/standing": Operation(
        "The terms of a standing study", {200: ("The terms", StandingFacts)}, "404", role=RESEARCHER
    ),
}


def add_routes(app: Flask, context: Context) -> None:
    """Add the routes of terms."""
    store, clock = context.store, context.clock

    @app.post("/api/studies/<study>/standing")
    def make_standing(study: str) -> dict:
        given = body(TermsGiven, MAX_TERMS_BYTES)
        found = store.study(study)
        return _facts_of(stand(store, found, _terms(given), clock()))

    @app.get("/api/studies/<study>/standing")
    def show_standing(study: str) -> dict:
        return _facts_of(standing(store, store.study(study)))


def _terms(given: TermsGiven) -> Terms:
    limit = given.limit and Limit(given.limit.count, given.limit.days)
    submitters = given.submitters if isinstance(given.submitters, str) else tuple(given.submitters)
    return Terms(**{**msgspec.structs.asdict(given), "limit": limit, "submitters": submitters})


def _facts_of(record: Standing) -> dict[str, Any]:
    return {
        "study": record.study,
        **plain_terms(record.terms),
        "since": record.since,
        "changes": [dict(change) for change in record.changes],
        "protocol": record.protocol,
        "protocol_sha256": hash_of(record.protocol),
    }
