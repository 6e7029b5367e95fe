"""What the fake panel tells by itself: secrets, subscriptions, and signed events.

Tests hold events back, repeat, reorder or forge them (`deliver`); subscriptions get theirs by `post`.
"""

import base64
import hashlib
import hmac
import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from .refusals import bad, not_found

EVENT_TYPES = ("study.status.change", "submission.status.change")
GIVEN_UP_AFTER = timedelta(days=5)
_TABLE = str.maketrans({" ": "_", "-": "_"})


def signature(secret, timestamp, body):
    """Return the value of X-Prolific-Request-Signature: base64(HMAC-SHA256(secret, timestamp + body))."""
    mac = hmac.new(secret.encode(), timestamp.encode() + body, hashlib.sha256)
    return base64.b64encode(mac.digest()).decode()


@dataclass(frozen=True)
class Event:
    """A notification as it goes over the wire."""

    id: str
    timestamp: str
    body: bytes

    def headers(self, secret):
        return {
            "Content-Type": "application/json",
            "X-Event-ID": self.id,
            "X-Timestamp": self.timestamp,
            "X-Prolific-Request-Timestamp": self.timestamp,
            "X-Prolific-Request-Signature": signature(secret, self.timestamp, self.body),
        }


@dataclass
class Delivery:
    """An event of a subscription, as the API lists it."""

    event: Event
    created_at: str
    status: str = "PENDING"


@dataclass
class Subscription:
    id: str
    workspace: str
    event_type: str
    target_url: str
    confirmation: str
    """What the header X-Hook-Secret told, and what confirms the subscription."""
    is_confirmed: bool = False
    is_enabled: bool = True
    failing_since: object = None
    deliveries: list = field(default_factory=list)

    def data(self):
        names = ("id", "event_type", "target_url", "is_enabled")
        return {**{name: getattr(self, name) for name in names}, "workspace_id": self.workspace}


class Hooks:
    """Secrets, subscriptions and events, in the order in which things happened."""

    def __init__(self, books):
        self._books = books
        self.events, self.subscriptions, self.secrets, self.made = [], {}, {}, 0
        self.replies_with_list = False
        """Whether a new subscription is told as a list; both have been seen."""
        books.watchers.append(self._happened)

    @property
    def secret(self):
        """The secret of the first workspace, made by hand at the panel if there is none."""
        workspace = self._books.workspace.id
        return (self.secrets.get(workspace) or self.make_secret(workspace))["value"]

    def secrets_of(self, workspace):
        self._books.known_workspace(workspace)
        return [self.secrets[workspace]] if workspace in self.secrets else []

    def make_secret(self, workspace):
        """Make a workspace's secret; the one before is worth nothing any more."""
        self._books.known_workspace(workspace)
        secret = {"id": self._books.new_id(), "value": secrets.token_hex(16), "workspace_id": workspace}
        self.secrets[workspace] = secret
        self.made += 1
        return secret

    def subscribe(self, workspace, event_type, target_url):
        self._books.known_workspace(workspace)
        if workspace not in self.secrets:
            raise bad({"workspace_id": ["create a secret first"]})
        if event_type not in EVENT_TYPES:
            raise bad({"event_type": ["is not a valid choice"]})
        if not str(target_url).startswith("https://"):
            raise bad({"target_url": ["must be an https address"]})
        made = Subscription(self._books.new_id(), workspace, event_type, target_url, secrets.token_hex(16))
        self.subscriptions[made.id] = made
        return made

    def subscription(self, id):
        if id not in self.subscriptions:
            raise not_found("subscription")
        return self.subscriptions[id]

    def confirm(self, id, secret):
        subscription = self.subscription(id)
        if secret != subscription.confirmation:
            raise bad({"secret": ["does not match"]})
        subscription.is_confirmed = True
        return subscription

    def post(self, send: Callable | None = None):
        """Deliver what the subscriptions are owed; after five days of failures one is disabled.

        Args:
            send: called with (address, event, secret), returns a status; by default it is sent.
        """
        for subscription in self.subscriptions.values():
            secret = self.secrets[subscription.workspace]["value"]
            for delivery in subscription.deliveries:
                if delivery.status == "SUCCEEDED" or not subscription.is_enabled:
                    continue
                status = (send or _post)(subscription.target_url, delivery.event, secret)
                self._note(subscription, delivery, 200 <= status < 300)

    def _note(self, subscription, delivery, has_arrived):
        now = self._books.clock()
        delivery.status = "SUCCEEDED" if has_arrived else "FAILED"
        if has_arrived:
            subscription.failing_since = None
        elif subscription.failing_since is None:
            subscription.failing_since = now
        elif now - subscription.failing_since >= GIVEN_UP_AFTER:
            subscription.is_enabled = False

    def deliver(self, url, events=None, secret=None):
        """Post events (default: all so far) to `url`, signed; return the statuses."""
        return [_post(url, event, secret or self.secret) for event in list(events or self.events)]

    def _happened(self, kind, resource, status, place):
        data = {"event_type": kind, "resource_id": resource, "status": status.translate(_TABLE)}
        if place is not None:
            data |= {"participant_id": place.participant, "study_id": place.study}
        timestamp = str(int(self._books.clock().timestamp()))
        event = Event(secrets.token_hex(12), timestamp, json.dumps(data).encode())
        self.events.append(event)
        for subscription in self.subscriptions.values():
            hears = subscription.is_confirmed and subscription.is_enabled
            if hears and subscription.event_type == kind:
                subscription.deliveries.append(Delivery(event, self._books.clock().isoformat()))


def _post(url, event, secret):
    request = Request(url, data=event.body, headers=event.headers(secret))
    try:
        with urlopen(request, timeout=10) as reply:
            return reply.status
    except HTTPError as error:
        with error:
            return error.code
    except URLError:
        return 0
