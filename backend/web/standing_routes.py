"""Routes by which a study becomes a standing one, and its terms are changed."""

from typing import cast

from backend.experiment.records import Study
from backend.members.roles import RESEARCHER
from backend.standing.protocol_hash import hash_of
from backend.standing.terms import Limit, Standing, Terms, plain_terms, stand, standing
from backend.web.context import Context
from backend.web.routing import Routes
from backend.web.standing_types import MAX_TERMS_BYTES, StandingFacts, TermsGiven, TermsSeen

route = Routes(RESEARCHER)


@route("POST /api/studies/{study}/standing", "413 503", most_bytes=MAX_TERMS_BYTES)
def make_standing(context: Context, study: Study, given: TermsGiven) -> StandingFacts:
    """Make a study a leaderboard study, which accepts models, or change its terms.

    Returns:
        The terms.
    """
    replaces = _terms(given.replaces) if isinstance(given.replaces, TermsSeen) else given.replaces or ""
    return _facts_of(stand(context.store, study, _terms(given), context.clock(), replaces))


@route("GET /api/studies/{study}/standing")
def show_standing(context: Context, study: Study) -> StandingFacts:
    """The terms of a leaderboard study.

    Returns:
        The terms.
    """
    return _facts_of(standing(context.store, study))


def _terms(given: TermsSeen) -> Terms:
    limit = given.limit and Limit(given.limit.count, given.limit.days)
    submitters = given.submitters if isinstance(given.submitters, str) else tuple(given.submitters)
    values = {name: getattr(given, name) for name in TermsSeen.__struct_fields__}
    return Terms(**{**values, "limit": limit, "submitters": submitters})


def _facts_of(record: Standing) -> StandingFacts:
    facts = {
        "study": record.study,
        **plain_terms(record.terms),
        "since": record.since,
        "changes": [dict(change) for change in record.changes],
        "protocol": record.protocol,
        "protocol_sha256": hash_of(record.protocol),
    }
    return cast(StandingFacts, facts)
