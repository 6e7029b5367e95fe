"""Routes by which previews are opened: a study as evaluators see it, with nothing recorded."""

from collections.abc import Callable
from typing import Any, TypedDict

from backend.experiment.records import Study
from backend.foundation.errors import Conflict
from backend.members.roles import RESEARCHER
from backend.web.context import Context
from backend.web.previews import Preview
from backend.web.proxies import address_of
from backend.web.routing import Routes

route = Routes(RESEARCHER)


class OpenedPreview(TypedDict):
    """A preview was opened."""

    path: str
    """Where it is played, without signing in, for an hour at most."""


@route("POST /api/studies/{study}/previews", "409", status=201, is_audited=False)
def preview_study(context: Context, study: Study) -> OpenedPreview:
    """Open a preview of a study: it is played as by an evaluator, and leaves nothing behind.

    Returns:
        It is open.
    """
    return opened(context, study.name, lambda preview: preview.add(context.store, context.data, study))


def opened(context: Context, name: str, fill: Callable[[Preview], Any]) -> OpenedPreview:
    """Open a preview, of whose arguments `Previews.open` says more.

    Raises:
        Conflict: `no_previews`.
    """
    if context.previews is None:
        raise Conflict(
            "no preview can be opened here, where several processes answer; have `openhype preview NAME` run",
            code="no_previews",
        )
    return {"path": address_of(context.previews.open(name, fill))}
