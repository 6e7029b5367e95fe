"""Routes of programs: the document of the API, and the events of a panel's server."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from flask import Response, request

from backend.foundation.errors import NotAllowed
from backend.task import requests
from backend.web.routing import JSON, Routes

if TYPE_CHECKING:
    from backend.recruitment.sync_thread import Watch

described, route = Routes(), Routes()
_SENT = ("X-Event-ID", "X-Prolific-Request-Timestamp", "X-Prolific-Request-Signature")


@described("GET /api/openapi.json", gives=dict[str, Any])
def openapi(document: Callable[[], bytes]) -> Response:
    """This document.

    Returns:
        OpenAPI document.
    """
    return Response(document(), mimetype=JSON)


@route(
    "POST /api/panels/prolific/events",
    "403",
    takes=requests.PanelEvent,
    is_of_servers=True,
    parameters=tuple((name, "header", {"type": "string"}, "As Prolific sends it") for name in _SENT),
)
def event(watch: "Watch | None") -> dict[str, Any]:
    """An event of the panel, signed by it; the server then only reads the submission again.

    Returns:
        Taken, now or before.
    """
    if watch is None:
        raise NotAllowed("no events are expected here; see docs/prolific.md", code="no_webhooks")
    watch.heard(request.headers, request.get_data(cache=False))
    return {}
