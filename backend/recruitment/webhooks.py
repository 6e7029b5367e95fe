"""Subscriptions to the panel's events about places, recorded in the book `webhooks`.

The secret that signs the events belongs to the panel's workspace: there is only one, which other tools
may share, so that it is used as it is. The confirmation of a subscription comes with the reply that
creates it, and is stored in the book until used.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from backend.foundation.errors import InvalidInput, NotFound
from backend.panels.api import Hook, NotThere, PanelRefused, TokenRefused
from backend.panels.prolific_webhooks import Webhooks
from backend.stores.store import Store

PATH = "/api/panels/prolific/events"
_BOOK = "webhooks"


def subscribe(
    store: Store, hooks: Webhooks, workspace: str, server: str, keep_secret: Callable[[str], None]
) -> str:
    """Subscribe a server to a workspace's events and return its address; an existing one is checked.

    Args:
        server: its https address, as the panel reaches it.
        keep_secret: called with the signing secret before the first event can arrive.

    Raises:
        InvalidInput: no workspace is known, or the address is not https.
    """
    if not workspace:
        raise InvalidInput(
            "the recruitment names no workspace, so that the events to subscribe to are unknown"
        )
    url = server.rstrip("/").removesuffix(PATH) + PATH
    if not url.startswith("https://"):
        raise InvalidInput(f"Prolific sends events to https:// only, not to {url!r}")
    keep_secret(hooks.secret(workspace))
    entry = store.entry(_BOOK, workspace)
    known = dict(entry.data) if entry and entry.data["url"] == url else None
    if known and _is_confirmed(store, hooks, workspace, known):
        return url
    for hook in hooks.hooks(workspace, url):
        hooks.drop(hook.id)  # left by an interrupted run, and no longer confirmable
    id, confirmation = hooks.subscribe(workspace, url)
    data = {"url": url, "subscription": id, "confirmation": confirmation}
    _write(store, workspace, data)
    hooks.confirm(id, confirmation)
    _write(store, workspace, {**data, "confirmation": ""})
    return url


def status(store: Store, hooks: Webhooks, workspace: str) -> Hook:
    """Return the state of a workspace's subscription.

    Raises:
        NotFound: there is none.
    """
    entry = store.entry(_BOOK, workspace) if workspace else None
    if entry is None:
        raise NotFound("nothing is subscribed")
    for hook in hooks.hooks(workspace, entry.data["url"]):
        if hook.id == entry.data["subscription"]:
            return replace(hook, deliveries=hooks.deliveries(hook.id))
    return Hook(entry.data["subscription"], False)


def _is_confirmed(store: Store, hooks: Webhooks, workspace: str, known: dict[str, Any]) -> bool:
    """Return whether a subscription is active, after confirming and enabling it if necessary."""
    subscribed = [one for one in hooks.hooks(workspace, known["url"]) if one.id == known["subscription"]]
    if not subscribed:
        return False
    try:
        if known["confirmation"]:
            hooks.confirm(subscribed[0].id, known["confirmation"])
            _write(store, workspace, {**known, "confirmation": ""})
        if not subscribed[0].is_enabled:
            hooks.enable(subscribed[0].id)
    except (TokenRefused, NotThere):
        raise
    except PanelRefused:
        return False
    return True


def _write(store: Store, workspace: str, data: dict[str, Any]) -> None:
    entry = store.entry(_BOOK, workspace)
    store.write_entry(_BOOK, workspace, entry.version if entry else 0, data)
