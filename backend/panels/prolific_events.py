"""Events sent by Prolific: verifying the sender, and which submission each is about.

An event is trusted only to say that a place may have changed, which is then read at the panel. So it is
harmless if events come twice, late, or out of order, and a refused one costs only the time until the
next reading.
"""

import base64
import hashlib
import hmac
import json
from datetime import datetime
from typing import Protocol

from backend.foundation.errors import InvalidInput, NotAllowed

_ID = "X-Event-ID"
_TIMESTAMP = "X-Prolific-Request-Timestamp"
_SIGNATURE = "X-Prolific-Request-Signature"
_OLDEST_S, _NEWEST_S = 2 * 3600, 300
"""Maximum age of an event: deliveries are retried for long. A clock may be ahead by less."""
_MAX_ID = 128


class HeaderFields(Protocol):
    """The header of a request, as far as it is read here."""

    def get(self, key: str, default: str, /) -> str: ...


def read_event(
    secret: str, headers: HeaderFields, body: bytes, now: datetime
) -> tuple[tuple[str, str], str | None]:
    """Return (names that identify a repeated event, id of the submission concerned or None).

    The names are its id, the same whenever the panel resends it, and a hash of what was signed: the id
    was not signed, so that anybody who saw an event could send it under other ids.

    Raises:
        NotAllowed: it is not signed with `secret`, or too old.
        InvalidInput: it is signed, but malformed.
    """
    timestamp = headers.get(_TIMESTAMP, "")
    expected = base64.b64encode(hmac.new(secret.encode(), timestamp.encode() + body, hashlib.sha256).digest())
    if not hmac.compare_digest(expected, headers.get(_SIGNATURE, "").encode()):
        raise NotAllowed("the event's signature does not fit", code="wrong_signature")
    if not timestamp.isdecimal() or not -_NEWEST_S <= now.timestamp() - int(timestamp) <= _OLDEST_S:
        raise NotAllowed("the event's time is too far from now", code="wrong_time")
    event = headers.get(_ID, "")
    if not event or len(event) > _MAX_ID:
        raise InvalidInput(f"the header {_ID} must name the event")
    try:
        data = json.loads(body)
        kind, resource = str(data["event_type"]), str(data["resource_id"])
    except (ValueError, KeyError, TypeError):
        raise InvalidInput("an event must be a JSON object with event_type and resource_id") from None
    signed = hashlib.sha256(timestamp.encode() + b"\n" + body).hexdigest()
    return (event, signed), resource if kind == "submission.status.change" else None
