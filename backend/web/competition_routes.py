"""Routes of the competitions that anyone may see: JSON, pages without script, and badges."""

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from flask import Flask, Response, request

from backend.competitions.terms import CompetitionRecord
from backend.experiment.records import Study
from backend.foundation.errors import NotFound
from backend.web import headers
from backend.web.competition_types import CompetitionFacts, CompetitionList
from backend.web.compression import compressed
from backend.web.context import Context
from backend.web.routing import Routes
from backend.web.study_routes import base_url

route = Routes()


@route("GET /api/competitions", gives=CompetitionList)
def list_competitions(context: Context) -> Response:
    """The competitions that anyone may see.

    Returns:
        The competitions.
    """
    return _public(_json({"competitions": [_entry(*each) for each in context.competitions.published()]}))


@route("GET /api/competitions/{study}", gives=CompetitionFacts)
def show_competition(context: Context, study: str) -> Response:
    """A competition, and its table after the embargo; any site's page may read it.

    Returns:
        The competition.
    """
    competitions = context.competitions
    return _public(_json(competitions.of(*competitions.find(study))))


def add_pages(app: Flask, context: Context) -> None:
    """Add the pages of competitions, and the badges of their models."""
    competitions = context.competitions

    @app.get("/competitions")
    def competitions_page() -> Response:
        from backend.competitions import pages

        return _page(pages.competitions_page(competitions.published(), context.clock(), request.script_root))

    @app.get("/competitions/<study>")
    def competition_page(study: str) -> Response:
        from backend.competitions import pages

        try:
            data = competitions.of(*competitions.find(study))
        except NotFound as error:
            return _page(pages.nothing(str(error), request.script_root), 404)
        return _page(pages.competition_page(data, context.clock(), base_url(context), request.script_root))

    @app.get("/competitions/<study>/badge.svg")
    def competition_badge(study: str) -> Response:
        from backend.competitions.badge import badge as drawn

        data = competitions.of(*competitions.find(study))
        name, submitter = request.args.get("model", ""), request.args.get("by")
        for row in data["models"]:
            if row["model"] == name and submitter in (None, row["submitter"]):
                reply = Response(drawn(data, row), mimetype="image/svg+xml")
                return _public(reply, headers.IMAGE_FOR_ALL)
        raise NotFound(f"no model of the competition {study!r} is called so", code="unknown_model")


def _entry(study: Study, record: CompetitionRecord) -> dict[str, Any]:
    terms = record.terms
    return {
        "study": study.name,
        "title": terms.title,
        "method": study.protocol.method,
        "opens_at": terms.opens_at,
        "closes_at": terms.closes_at,
        "embargo_until": terms.embargo_until,
    }


def _json(data: Mapping[str, Any]) -> Response:
    text = json.dumps(data, allow_nan=False, ensure_ascii=False)
    return Response(text.encode("utf-8", "backslashreplace"), mimetype="application/json")


def _page(text: str, status: int = 200) -> Response:
    return _public(Response(text, status, mimetype="text/html"), headers.PAGE_FOR_ALL)


def _public(reply: Response, sent: Mapping[str, str] = headers.DATA_FOR_ALL) -> Response:
    """Return a reply that caches may keep for a minute, and that is sent only if it changed."""
    reply.headers.update(sent)
    reply.set_etag(sha256(reply.get_data()).hexdigest()[:24])
    compressed(reply).make_conditional(request)
    return reply
