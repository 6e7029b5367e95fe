"""Routes by which a study becomes a leaderboard study, and its terms are changed."""

from typing import cast

from backend.competitions.protocol_hash import hash_of
from backend.competitions.terms import CompetitionRecord, Limit, Terms, competition_of, plain_terms, set_terms
from backend.experiment.records import Study
from backend.members.roles import RESEARCHER
from backend.web.competition_types import MAX_TERMS_BYTES, TermsFacts, TermsGiven, TermsSeen
from backend.web.context import Context
from backend.web.routing import Routes

route = Routes(RESEARCHER)


@route("POST /api/studies/{study}/competition", "413 503", most_bytes=MAX_TERMS_BYTES)
def set_competition_terms(context: Context, study: Study, given: TermsGiven) -> TermsFacts:
    """Make a study a leaderboard study, which accepts models, or change its terms.

    Returns:
        The terms.
    """
    replaces = _terms(given.replaces) if isinstance(given.replaces, TermsSeen) else given.replaces or ""
    return _facts_of(set_terms(context.store, study, _terms(given), context.clock(), replaces))


@route("GET /api/studies/{study}/competition")
def competition_terms(context: Context, study: Study) -> TermsFacts:
    """The terms of a leaderboard study.

    Returns:
        The terms.
    """
    return _facts_of(competition_of(context.store, study))


def _terms(given: TermsSeen) -> Terms:
    limit = given.limit and Limit(given.limit.count, given.limit.days)
    submitters = given.submitters if isinstance(given.submitters, str) else tuple(given.submitters)
    values = {name: getattr(given, name) for name in TermsSeen.__struct_fields__}
    return Terms(**{**values, "limit": limit, "submitters": submitters})


def _facts_of(record: CompetitionRecord) -> TermsFacts:
    facts = {
        "study": record.study,
        **plain_terms(record.terms),
        "since": record.since,
        "changes": [dict(change) for change in record.changes],
        "protocol": record.protocol,
        "protocol_sha256": hash_of(record.protocol),
    }
    return cast(TermsFacts, facts)
