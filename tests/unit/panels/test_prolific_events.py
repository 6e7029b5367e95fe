"""Events are believed only if the panel signed them, not long ago; Prolific's way of signing, by hand."""

import base64
import hashlib
import hmac
import json
from datetime import UTC, datetime

import pytest

from backend.foundation.errors import InvalidInput, NotAllowed
from backend.panels.prolific_events import read_event

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
SECRET = "a secret"
BODY = json.dumps(
    {"event_type": "submission.status.change", "resource_id": "s1", "status": "RETURNED"}
).encode()


def headers(body=BODY, age_s=0, secret=SECRET, event="e1"):
    timestamp = str(int(NOW.timestamp()) - age_s)
    signature = hmac.new(secret.encode(), timestamp.encode() + body, hashlib.sha256).digest()
    return {
        "X-Event-ID": event,
        "X-Prolific-Request-Timestamp": timestamp,
        "X-Prolific-Request-Signature": base64.b64encode(signature).decode(),
    }


@pytest.mark.parametrize("age_s", [0, 3600, -60])
def test_a_signed_event_names_its_submission_an_hour_late_too(age_s):
    names, submission = read_event(SECRET, headers(age_s=age_s), BODY, NOW)

    assert (names[0], submission) == ("e1", "s1")


def test_an_event_is_known_again_under_another_id():
    """The id is not signed: anybody who saw an event could send it under others."""
    seen = [read_event(SECRET, headers(event=event), BODY, NOW)[0] for event in ("e1", "e2")]
    later = read_event(SECRET, headers(age_s=1), BODY, NOW)[0]

    assert seen[0][1] == seen[1][1] != later[1]


def test_an_event_of_another_kind_names_none():
    body = BODY.replace(b"submission.status.change", b"study.status.change")

    assert read_event(SECRET, headers(body), body, NOW)[1] is None


@pytest.mark.parametrize("age_s", [3 * 3600, -3600])
def test_an_event_from_another_day_is_refused(age_s):
    with pytest.raises(NotAllowed, match="time is too far from now"):
        read_event(SECRET, headers(age_s=age_s), BODY, NOW)


@pytest.mark.parametrize(
    "changes",
    [
        {"X-Prolific-Request-Signature": ""},
        {"X-Prolific-Request-Signature": "é"},
        {"X-Prolific-Request-Timestamp": "1"},
        {"X-Prolific-Request-Timestamp": "é"},
    ],
)
def test_an_event_that_was_changed_is_refused(changes):
    with pytest.raises(NotAllowed, match="signature does not fit"):
        read_event(SECRET, {**headers(), **changes}, BODY, NOW)


def test_an_event_signed_by_somebody_else_is_refused():
    with pytest.raises(NotAllowed, match="signature does not fit"):
        read_event(SECRET, headers(secret="another"), BODY, NOW)


@pytest.mark.parametrize("body", [b"{", b"[]", b"{}", b'{"event_type": "x"}', b"\xff"])
def test_a_signed_event_of_another_form_is_refused(body):
    with pytest.raises(InvalidInput, match="must be a JSON object"):
        read_event(SECRET, headers(body), body, NOW)


def test_an_event_without_an_id_is_refused():
    with pytest.raises(InvalidInput, match="X-Event-ID must name the event"):
        read_event(SECRET, headers(event=""), BODY, NOW)
