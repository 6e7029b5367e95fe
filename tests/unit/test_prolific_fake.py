"""The fake panel does what Prolific's reference says, the unpleasant parts above all."""

import json
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection, RemoteDisconnected
from urllib.parse import urlsplit

import pytest

from tests import prolific
from tests.prolific import Books, Clock, Refusal

CODES = [
    {
        "code": "DONE",
        "code_type": "COMPLETED",
        "actor": "participant",
        "actions": [{"action": "MANUALLY_REVIEW"}],
    },
    {
        "code": "SERVER",
        "code_type": "OTHER",
        "actor": "researcher",
        "actions": [{"action": "AUTOMATICALLY_APPROVE"}],
    },
]
STUDY = {
    "name": "Real or not?",
    "internal_name": "openhype-faces",
    "description": "Look at pictures.",
    "external_study_url": "http://x/s/faces?PROLIFIC_PID={{%PROLIFIC_PID%}}&SESSION_ID={{%SESSION_ID%}}",
    "prolific_id_option": "url_parameters",
    "completion_codes": CODES,
    "total_available_places": 30,
    "estimated_completion_time": 5,
    "reward": 100,
}


@pytest.fixture
def fake():
    with prolific.running(clock=Clock(datetime(2026, 1, 1, tzinfo=UTC))) as fake:
        yield fake


def call(fake, method, path, body=None, token=None):
    http = HTTPConnection(urlsplit(fake.url).netloc, timeout=5)
    headers = {"Authorization": f"Token {token or fake.token}"}
    try:
        http.request(method, f"/api/v1{path}", json.dumps(body) if body is not None else None, headers)
        reply = http.getresponse()
        return reply.status, json.loads(reply.read())
    finally:
        http.close()


def published(fake):
    study = call(fake, "POST", "/studies/", STUDY)[1]["id"]
    assert call(fake, "POST", f"/studies/{study}/transition/", {"action": "PUBLISH"})[0] == 200
    return study


def test_a_wrong_token_is_told_nothing(fake):
    status, data = call(fake, "GET", "/studies/", token="another")

    assert (status, data["error"]["status"]) == (401, 401)


def test_bonuses_are_handed_in_whole_currency_and_shown_in_cents(fake):
    study = published(fake)
    place = fake.books.take(study)

    csv = f"{place.id},4.25\n"
    bulk = call(fake, "POST", "/submissions/bonus-payments/", {"study_id": study, "csv_bonuses": csv})[1]
    status, _ = call(fake, "POST", f"/bulk-bonus-payments/{bulk['id']}/pay/")

    assert (bulk["amount"], status) == (425, 202)
    assert call(fake, "GET", f"/submissions/{place.id}/")[1]["bonus_payments"] == [425]


def test_a_bonus_asked_for_twice_is_paid_twice_and_arrives_late(fake):
    fake.books.pay_delay = timedelta(minutes=10)
    study = published(fake)
    place = fake.books.take(study)
    bulk = fake.books.set_up_bonuses(study, f"{place.id},0.50")

    for _ in range(2):
        call(fake, "POST", f"/bulk-bonus-payments/{bulk.id}/pay/")

    assert fake.books.bonuses(place.id) == []
    fake.books.clock.advance(minutes=11)
    assert fake.books.bonuses(place.id) == [50, 50]


def test_a_page_past_the_end_is_not_there_and_statuses_vary_in_their_spelling(fake):
    study = published(fake)
    places = [fake.books.take(study) for _ in range(21)]
    fake.books.start(places[0].id)
    fake.books.submit(places[0].id, "DONE")

    first = call(fake, "GET", f"/submissions/?study={study}")[1]
    second = call(fake, "GET", f"/submissions/?study={study}&page=2")[1]

    assert (len(first["results"]), len(second["results"])) == (20, 1)
    assert first["_links"]["next"]["href"].endswith("page=2")
    assert second["_links"]["next"]["href"] is None
    assert call(fake, "GET", f"/submissions/?study={study}&page=3")[0] == 404
    assert first["results"][0]["status"] == "AWAITING_REVIEW"
    assert call(fake, "GET", f"/submissions/{places[0].id}/")[1]["status"] == "AWAITING REVIEW"


def test_places_only_grow_and_no_more_are_taken_than_there_are(fake):
    study = published(fake)
    for _ in range(30):
        fake.books.take(study)

    fewer, _ = call(fake, "PATCH", f"/studies/{study}/", {"total_available_places": 29})

    assert fewer == 400
    with pytest.raises(Refusal, match="Bad request"):
        fake.books.take(study)


def test_retired_fields_and_poor_pay_are_refused(fake):
    assert call(fake, "POST", "/studies/", {**STUDY, "completion_code": "X"})[0] == 400
    assert call(fake, "POST", "/studies/", {**STUDY, "reward": 10})[0] == 400


def test_the_server_completes_with_a_researchers_code_only_and_as_often_as_it_likes(fake):
    study = published(fake)
    place = fake.books.take(study)
    path = f"/submissions/{place.id}/transition/"

    theirs, _ = call(fake, "POST", path, {"action": "COMPLETE", "completion_code": "DONE"})
    replies = [call(fake, "POST", path, {"action": "COMPLETE", "completion_code": "SERVER"}) for _ in "12"]

    assert (theirs, [status for status, _ in replies]) == (400, [200, 200])
    assert fake.books.paid() == {(place.id, "reward"): 100}


@pytest.mark.parametrize(("how", "paid"), [("before", 0), ("after", 50)])
def test_the_connection_drops_before_or_after_a_call_is_handled(fake, how, paid):
    study = published(fake)
    place = fake.books.take(study)
    bulk = fake.books.set_up_bonuses(study, f"{place.id},0.50")
    fake.fail("POST", "/pay/", how)

    with pytest.raises((RemoteDisconnected, ConnectionError)):
        call(fake, "POST", f"/bulk-bonus-payments/{bulk.id}/pay/")

    assert sum(fake.books.bonuses(place.id)) == paid


def test_events_are_signed_over_timestamp_and_body():
    """The expected value is `printf '1700000000{}' | openssl dgst -sha256 -hmac key -binary | base64`."""
    assert prolific.signature("key", "1700000000", b"{}") == "i/lINbu870b3ShJQxHhQ7eP6iAkOWfGwvGrzEgmpfKk="


def test_each_change_of_a_place_is_an_event_in_its_order():
    books = Books()
    outbox = prolific.server.Outbox(books, "key")
    study = books.create_study(STUDY)["id"]
    books.transition_study(study, "PUBLISH")
    place = books.take(study)
    books.start(place.id)
    books.time_out(place.id)

    told = [json.loads(event.body) for event in outbox.events]
    assert [event["status"] for event in told] == ["ACTIVE", "RESERVED", "ACTIVE", "TIMED_OUT"]
    assert len({event.id for event in outbox.events}) == 4
