"""What the fake panel tells by itself: signed events, which tests hold back, repeat, reorder or forge."""

import base64
import hashlib
import hmac
import json
import secrets
from dataclasses import dataclass
from urllib.error import HTTPError
from urllib.request import Request, urlopen

SPELLINGS = {" ": "_", "-": "_"}


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


class Outbox:
    """Events in the order in which they happened; `deliver` sends them, in any order, as often as asked."""

    def __init__(self, books, secret):
        self._books, self.secret, self.events = books, secret, []
        books.watchers.append(self._happened)

    def deliver(self, url, events=None, secret=None):
        """Post events (default: all so far) to `url`, signed; return the statuses."""
        return [self._post(url, event, secret or self.secret) for event in list(events or self.events)]

    def _post(self, url, event, secret):
        request = Request(url, data=event.body, headers=event.headers(secret))
        try:
            with urlopen(request, timeout=10) as reply:
                return reply.status
        except HTTPError as error:
            with error:
                return error.code

    def _happened(self, kind, resource, status, place):
        data = {"event_type": kind, "resource_id": resource, "status": status.translate(_table())}
        if place is not None:
            data |= {"participant_id": place.participant, "study_id": place.study}
        timestamp = str(int(self._books.clock().timestamp()))
        self.events.append(Event(secrets.token_hex(12), timestamp, json.dumps(data).encode()))


def _table():
    return str.maketrans(SPELLINGS)
