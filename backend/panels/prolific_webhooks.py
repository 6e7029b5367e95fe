"""Subscriptions to Prolific's events: the workspace's one secret, and the subscribed addresses."""

from collections import Counter

from backend.foundation.errors import InvalidInput
from backend.panels.api import Hook, PanelUnsure
from backend.panels.prolific_http import ProlificHttp, each

EVENT_TYPE = "submission.status.change"
_CONFIRMATION = "X-Hook-Secret"


class Webhooks:
    """The API's webhook calls."""

    def __init__(self, http: ProlificHttp):
        self._http = http

    def secret(self, workspace: str) -> str:
        """Return a workspace's secret, created only if there is none: a new one would break other tools."""
        what = "read the webhooks' secret"
        secrets = each(self._http.data("GET", f"hooks/secrets/?workspace_id={workspace}", what))
        known = next((one["value"] for one in secrets if one.get("value")), "")
        if known:
            return known
        body = {"workspace_id": workspace}
        made = self._http.data("POST", "hooks/secrets/", "make a secret for webhooks", body, repeats=False)
        return made["value"]

    def hooks(self, workspace: str, url: str) -> list[Hook]:
        """Return a workspace's subscriptions of an address to events about submissions."""
        subscriptions = []
        for is_enabled in ("true", "false"):
            path = f"hooks/subscriptions/?workspace_id={workspace}&is_enabled={is_enabled}"
            for one in each(self._http.data("GET", path, "list webhooks")):
                if (one.get("event_type"), one.get("target_url")) == (EVENT_TYPE, url):
                    subscriptions.append(Hook(one["id"], bool(one.get("is_enabled", is_enabled == "true"))))
        return subscriptions

    def subscribe(self, workspace: str, url: str) -> tuple[str, str]:
        """Subscribe an address; return (id, confirmation code of the subscription).

        Raises:
            InvalidInput: the address is not https.
        """
        if not url.startswith("https://"):
            raise InvalidInput(f"Prolific sends events to https:// only, not to {url!r}")
        body = {"workspace_id": workspace, "event_type": EVENT_TYPE, "target_url": url}
        reply = self._http.call("POST", "hooks/subscriptions/", "subscribe", body, repeats=False)
        made = next(each(self._http.json(reply, "subscribe", (dict, list))), {})
        confirmation = reply.headers.get(_CONFIRMATION, "")
        if not made.get("id") or not confirmation:
            raise PanelUnsure("Prolific's answer to the subscription lacks its id, or what confirms it")
        return made["id"], confirmation

    def confirm(self, id: str, confirmation: str) -> None:
        path, body = f"hooks/subscriptions/{id}/", {"secret": confirmation}
        self._http.call("POST", path, "confirm a webhook", body, is_new=True)

    def enable(self, id: str) -> None:
        body = {"is_enabled": True}
        self._http.call("PATCH", f"hooks/subscriptions/{id}/", "enable a webhook", body)

    def drop(self, id: str) -> None:
        self._http.call("DELETE", f"hooks/subscriptions/{id}/", "drop a webhook")

    def deliveries(self, id: str) -> dict[str, int]:
        """Return how many of the latest events were delivered, or not, by Prolific's status."""
        events = each(self._http.data("GET", f"hooks/subscriptions/{id}/events/", "list events"))
        return dict(sorted(Counter(str(one.get("status", "")).lower() for one in events).items()))
