"""The fake panel does what Prolific's reference says, the unpleasant parts above all."""

import json
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from http.client import HTTPConnection, RemoteDisconnected
from urllib.parse import parse_qsl, urlsplit

import jwt
import pytest

from tests import prolific
from tests.prolific import Books, Clock, Refusal
from tests.prolific.api import reply

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
    {
        "code": "NO",
        "code_type": "NO_CONSENT",
        "actions": [{"action": "REQUEST_RETURN", "return_reason": "Withdrew consent"}],
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


FEATURES = frozenset({"screen_out", "secure_urls", "test_participants"})
SCREEN_OUT = {"action": "FIXED_SCREEN_OUT_PAYMENT", "fixed_screen_out_reward": 20, "slots": 1}


@pytest.fixture
def fake():
    clock = Clock(datetime(2026, 1, 1, tzinfo=UTC))
    with prolific.running(clock=clock, unknown_at_first=0, shifts=0) as fake:
        yield fake


def call(*arguments, **options):
    return call_with_headers(*arguments, **options)[:2]


def call_with_headers(fake, method, path, body=None, token=None):
    http = HTTPConnection(urlsplit(fake.url).netloc, timeout=60)
    headers = {"Authorization": f"Token {token or fake.token}"}
    try:
        http.request(method, f"/api/v1{path}", json.dumps(body) if body is not None else None, headers)
        reply = http.getresponse()
        return reply.status, json.loads(reply.read()), dict(reply.getheaders())
    finally:
        http.close()


def published(fake, **changes):
    study = call(fake, "POST", "/studies/", {**STUDY, **changes})[1]["id"]
    assert call(fake, "POST", f"/studies/{study}/transition/", {"action": "PUBLISH"})[0] == 200
    assert call(fake, "GET", f"/studies/{study}/")[1]["status"] == "PUBLISHING"
    assert call(fake, "GET", f"/studies/{study}/")[1]["status"] == "ACTIVE"
    return study


def begun(fake, study):
    place = fake.books.take(study)
    fake.books.start(place.id)
    return place


def with_code(*codes):
    return {"completion_codes": [CODES[0], *codes]}


def screen_out(**changes):
    return {"code": "OUT", "code_type": "FIXED_SCREENOUT", "actions": [{**SCREEN_OUT, **changes}]}


def test_a_wrong_token_is_told_nothing(fake):
    old = fake.token
    fake.books.rotate_token()

    status, data = call(fake, "GET", "/studies/", token=old)

    assert (status, data["error"]["status"]) == (401, 401)
    assert call(fake, "GET", "/studies/")[0] == 200


@pytest.mark.parametrize(
    "changes",
    [
        {"completion_code": "X"},
        {"eligibility_requirements": []},
        {"reward": 0},
        {"reward": 1.5},
        {"total_available_places": 0},
        {"completion_codes": []},
        {"prolific_id_option": "by pigeon"},
        {"device_compatibility": ["fridge"]},
        {"external_study_url": "study.example/s/faces"},
        {"project": "0" * 24},
        {"maximum_allowed_time": 16},
        with_code(CODES[0]),
        with_code({"code": "NO", "code_type": "NO_CONSENT", "actions": [{"action": "REQUEST_RETURN"}]}),
        with_code({"code": "X", "code_type": "OTHER", "actions": [{"action": "FORGIVE"}]}),
        with_code({"code": "X", "code_type": "OTHER", "actions": [{"action": "ADD_TO_PARTICIPANT_GROUP"}]}),
        with_code({"code": "X", "code_type": "OTHER", "actions": [{"action": "DYNAMIC_PAYMENT"}]}),
        with_code({"code": "X", "actor": "nobody", "code_type": "OTHER", "actions": []}),
        with_code({**CODES[0], "code": "X", "actions": [CODES[1]["actions"][0], CODES[0]["actions"][0]]}),
        with_code(screen_out(slots=0)),
        with_code(screen_out(fixed_screen_out_reward=13)),
        with_code(screen_out(fixed_screen_out_reward=100)),
        with_code(screen_out(), {**screen_out(), "code": "OUT2"}),
    ],
)  # fmt: skip
def test_a_study_that_prolific_would_refuse_is_refused(fake, changes):
    fake.books.workspace.features = FEATURES

    status, data = call(fake, "POST", "/studies/", {**STUDY, **changes})

    assert status in (400, 404)
    assert {"status", "error_code", "title", "detail"} == set(data["error"])
    assert fake.books.studies == {}


@pytest.mark.parametrize(
    ("currency", "reward", "minutes", "status"),
    [
        ("USD", 160, 12, 201),
        ("USD", 159, 12, 400),
        ("USD", 154, 11.5, 400),  # $8.03 an hour for 11.5 minutes, and $7.70 for 12
        ("GBP", 120, 12, 201),
        ("GBP", 119, 12, 400),
    ],
)
def test_a_wage_is_judged_by_whole_minutes_in_the_currency_of_the_wallet(currency, reward, minutes, status):
    with prolific.running(currency=currency) as fake:
        study = {**STUDY, "reward": reward, "estimated_completion_time": minutes}

        assert call(fake, "POST", "/studies/", study)[0] == status


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/studies/", {**STUDY, "is_external_study_url_secure": True}),
        ("/studies/", {**STUDY, **with_code(screen_out())}),
        ("/researchers/participants/", {"email": "tester@university.example"}),
    ],
)
def test_what_only_chosen_workspaces_may_do_is_refused_to_others(fake, path, body):
    assert call(fake, "POST", path, body)[0] == 403
    fake.books.workspace.features = FEATURES
    assert call(fake, "POST", path, body)[0] == 201


def test_a_list_promises_the_id_and_the_name_of_a_study_and_nothing_else(fake):
    study = published(fake)

    (row,) = call(fake, "GET", "/studies/")[1]["results"]

    assert (row["id"], row["name"]) == (study, STUDY["name"])
    assert not {"internal_name", "status", "reward"} & set(row)


def test_without_a_project_a_study_is_paid_by_the_first_one_ever_made(fake):
    lab = fake.books.add_workspace("Lab", "GBP", projects=("Faces", "Rooms"))

    for project, wallet in ((None, fake.books.workspace), (lab.projects[1].id, lab)):
        study = published(fake, **({"project": project} if project else {}))
        assert fake.books.wallet_of(study) is wallet
    rows = call(fake, "GET", f"/projects/{lab.projects[1].id}/studies/")[1]["results"]
    assert [row["id"] for row in rows] == [study]


def test_an_id_is_not_known_in_the_moment_after_it_was_made(fake):
    fake.books.unknown_at_first = 1

    study = call(fake, "POST", "/studies/", STUDY)[1]["id"]

    assert [call(fake, "GET", f"/studies/{study}/")[0] for _ in "12"] == [404, 200]


@pytest.mark.parametrize(
    "change",
    [
        {"reward": 200},
        {"estimated_completion_time": 4},
        {"name": "Another"},
        {"filters": [{"filter_id": "age"}]},
        {"total_available_places": 29},
        {"completion_codes": CODES[:1]},
        {"project": "0" * 24},
    ],
)
def test_what_is_published_hardly_changes(fake, change):
    study = published(fake)

    assert call(fake, "PATCH", f"/studies/{study}/", change)[0] == 400
    assert call(fake, "PATCH", f"/studies/{study}/", {"total_available_places": 31})[0] == 200


@pytest.mark.parametrize(
    ("actions", "state"),
    [
        (["PAUSE"], "PAUSED"),
        (["PAUSE", "START"], "ACTIVE"),
        (["STOP"], "AWAITING REVIEW"),
        (["PAUSE", "STOP"], "AWAITING REVIEW"),
    ],
)
def test_a_study_moves_from_state_to_state_and_stop_leads_to_review(fake, actions, state):
    study, path = published(fake), "/studies/{}/transition/"
    begun(fake, study)

    for action in actions:
        assert call(fake, "POST", path.format(study), {"action": action})[0] == 200

    assert fake.books.study(study)["status"] == state
    assert call(fake, "POST", path.format(study), {"action": "PUBLISH"})[0] == 400
    assert call(fake, "POST", path.format(study), {"action": actions[-1]})[0] == 400


def test_a_draft_is_scheduled_by_a_person_and_nothing_else_becomes_of_it(fake):
    study = call(fake, "POST", "/studies/", STUDY)[1]["id"]
    path = f"/studies/{study}/transition/"

    states = [
        call(fake, "POST", path, {"action": action})[1].get("status", "refused")
        for action in ("PAUSE", "SCHEDULE_PUBLISH", "PUBLISH", "CANCEL_PUBLISH")
    ]

    assert states == ["refused", "SCHEDULED", "refused", "UNPUBLISHED"]


def test_places_only_grow_and_no_more_are_taken_than_there_are(fake):
    study = published(fake)
    for _ in range(30):
        fake.books.take(study)

    with pytest.raises(Refusal, match="Bad request"):
        fake.books.take(study)


def test_a_study_is_published_only_if_the_balance_covers_its_places(fake):
    study = call(fake, "POST", "/studies/", STUDY)[1]["id"]
    path = f"/studies/{study}/transition/"
    fake.books.workspace.balance = 30 * 134 - 1

    poor = call(fake, "POST", path, {"action": "PUBLISH"})[0]
    fake.books.workspace.balance += 1
    rich = call(fake, "POST", path, {"action": "PUBLISH"})[0]

    balance = call(fake, "GET", f"/workspaces/{fake.books.workspace.id}/balance/")[1]
    assert (poor, rich) == (400, 200)
    assert (balance["currency_code"], balance["total_balance"], balance["available_balance"]) == (
        "USD",
        4020,
        0,
    )


def test_bonuses_are_handed_in_whole_currency_and_shown_in_cents(fake):
    fake.books.workspace.vat = Fraction(1, 5)
    study = published(fake)
    place = fake.books.take(study)

    csv = f"{place.id},4.25\n"
    bulk = call(fake, "POST", "/submissions/bonus-payments/", {"study_id": study, "csv_bonuses": csv})[1]
    status, _ = call(fake, "POST", f"/bulk-bonus-payments/{bulk['id']}/pay/")

    # a third of 425 and a fifth of that: 142 and 28
    assert [bulk[name] for name in ("amount", "fees", "vat", "total_amount")] == [425, 142, 28, 595]
    assert status == 202
    assert call(fake, "GET", f"/submissions/{place.id}/")[1]["bonus_payments"] == [425]


@pytest.mark.parametrize("csv", ["", "{id}", "{id},0", "{id},1.234", "{id},-1", "{id},1\n\n{id},1", "0,1"])
def test_bonuses_of_another_form_are_refused_whole(fake, csv):
    study = published(fake)
    body = {"study_id": study, "csv_bonuses": csv.format(id=fake.books.take(study).id)}

    assert call(fake, "POST", "/submissions/bonus-payments/", body)[0] == 400
    assert fake.books.bulks == {}


def test_no_more_bonuses_and_approvals_are_taken_at_once_than_prolific_advises(fake):
    study = published(fake)
    place = begun(fake, study)

    for count, status in ((200, 201), (201, 400)):
        body = {"study_id": study, "csv_bonuses": f"{place.id},1\n" * count}
        assert call(fake, "POST", "/submissions/bonus-payments/", body)[0] == status
    for count, status in ((1000, 200), (1001, 400)):
        body = {"submission_ids": [place.id] * count}
        assert call(fake, "POST", "/submissions/bulk-approve/", body)[0] == status


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


def test_many_are_approved_later_and_who_cannot_be_is_passed_over(fake):
    fake.books.approve_delay = timedelta(minutes=3)
    study = published(fake)
    done, gone = begun(fake, study), begun(fake, study)
    fake.books.submit(done.id, "DONE")
    fake.books.give_back(gone.id)

    status, _ = call(fake, "POST", "/submissions/bulk-approve/", {"submission_ids": [done.id, gone.id]})

    assert (status, done.status) == (200, "AWAITING REVIEW")
    fake.books.clock.advance(minutes=3)
    assert fake.books.paid() == {(done.id, "reward"): 100}


def test_approvals_one_by_one_contend_for_the_wallet(fake):
    study = published(fake)
    places = [begun(fake, study) for _ in range(6)]
    for place in places:
        fake.books.submit(place.id, "DONE")

    paths = [f"/submissions/{place.id}/transition/" for place in places]
    statuses = [call(fake, "POST", path, {"action": "APPROVE"})[0] for path in paths]

    assert statuses == [200, 200, 429, 200, 200, 429]


def test_a_page_past_the_end_is_not_there_and_statuses_vary_in_their_spelling(fake):
    study = published(fake)
    places = [begun(fake, study) for _ in range(21)]
    for place in places:
        fake.books.submit(place.id, "DONE")

    path = f"/submissions/?study={study}&ordering=started_at"
    first, second = (call(fake, "GET", f"{path}&page={page}")[1] for page in (1, 2))

    assert (len(first["results"]), len(second["results"])) == (20, 1)
    assert first["_links"]["next"]["href"].endswith("page=2")
    assert second["_links"]["next"]["href"] is None
    assert call(fake, "GET", f"{path}&page=3")[0] == 404
    assert {row["status"] for row in first["results"]} == {
        "AWAITING_REVIEW",
        "AWAITING REVIEW",
        "AWAITING-REVIEW",
    }
    assert {row["study_code"] for row in first["results"]} == {"DONE"}


def test_rows_move_from_page_to_page_while_a_list_is_read(fake):
    fake.books.shifts = 1
    study = published(fake)
    places = [fake.books.take(study) for _ in range(30)]

    path = f"/submissions/?study={study}&ordering=started_at"
    rows = [row for page in (1, 2) for row in call(fake, "GET", f"{path}&page={page}")[1]["results"]]

    assert [row["id"] for row in rows] == [place.id for place in (*places[:20], *places[21:])]


def test_the_server_completes_with_a_researchers_code_only_and_as_often_as_it_likes(fake):
    study = published(fake)
    place = fake.books.take(study)
    path = f"/submissions/{place.id}/transition/"

    theirs, _ = call(fake, "POST", path, {"action": "COMPLETE", "completion_code": "DONE"})
    replies = [call(fake, "POST", path, {"action": "COMPLETE", "completion_code": "SERVER"}) for _ in "12"]

    assert (theirs, [status for status, _ in replies]) == (400, [200, 200])
    assert fake.books.paid() == {(place.id, "reward"): 100}


def test_a_place_times_out_and_completed_after_that_is_one_on_top(fake):
    study = published(fake, total_available_places=1, maximum_allowed_time=17)
    place = begun(fake, study)
    fake.books.clock.advance(minutes=18)
    begun(fake, study)

    status, _ = call(
        fake,
        "POST",
        f"/submissions/{place.id}/transition/",
        {"action": "COMPLETE", "completion_code": "SERVER"},
    )

    assert (status, fake.books.study(study)["places_taken"]) == (200, 2)


def test_who_is_asked_to_return_and_does_not_is_approved_after_three_weeks_at_the_full_reward(fake):
    study = published(fake)
    place = begun(fake, study)
    fake.books.submit(place.id, "NO")

    row = call(fake, "GET", f"/submissions/?study={study}")[1]["results"][0]

    assert (place.status, bool(row["return_requested"]), row["study_code"]) == ("AWAITING REVIEW", True, "NO")
    fake.books.clock.advance(days=20, hours=23)
    assert fake.books.paid() == {}
    fake.books.clock.advance(hours=1)
    assert fake.books.paid() == {(place.id, "reward"): 100}


def test_a_return_is_asked_for_with_a_reason(fake):
    place = begun(fake, published(fake))
    path = f"/submissions/{place.id}/request-return/"

    assert call(fake, "POST", path, {})[0] == 400
    assert call(fake, "POST", path, {"request_return_reasons": ["Withdrew consent"]})[0] == 200
    assert place.return_requested


def test_who_is_screened_out_is_paid_beside_bonuses_until_the_slots_are_used(fake):
    fake.books.workspace.features = FEATURES
    study = published(fake, **with_code(screen_out()))
    place = begun(fake, study)
    path, slots = f"/studies/{study}/", {"code": "OUT", "actions": [{**SCREEN_OUT, "slots": 2}]}

    fake.books.submit(place.id, "OUT")

    assert (place.status, fake.books.study(study)["status"]) == ("SCREENED OUT", "PAUSED")
    assert call(fake, "GET", f"/submissions/{place.id}/")[1]["bonus_payments"] == [20]
    assert call(fake, "POST", f"{path}transition/", {"action": "START"})[0] == 400
    assert call(fake, "PATCH", path, {"completion_codes": [slots]})[0] == 200
    assert call(fake, "POST", f"{path}transition/", {"action": "START"})[0] == 200


def test_a_test_study_is_made_from_a_draft_for_test_participants(fake):
    fake.books.workspace.features = FEATURES
    draft = call(fake, "POST", "/studies/", STUDY)[1]["id"]
    path = f"/studies/{draft}/test-study"

    assert call(fake, "POST", path)[0] == 400
    tester = call(fake, "POST", "/researchers/participants/", {"email": "a@b.example"})[1]["participant_id"]
    again, _ = call(fake, "POST", "/researchers/participants/", {"email": "a@b.example"})
    made = call(fake, "POST", path)[1]["study_id"]

    assert again == 400
    with pytest.raises(Refusal, match="Bad request"):
        fake.books.take(made)
    place = fake.books.take(made, tester)
    fake.books.start(place.id)
    fake.books.submit(place.id, "SERVER", "researcher")
    assert (place.status, fake.books.paid()) == ("APPROVED", {})


def test_a_secure_link_is_signed_for_two_minutes(fake):
    fake.books.workspace.features = FEATURES
    study = published(fake, is_external_study_url_secure=True)
    place = begun(fake, study)
    keys = reply(fake.books, prolific_request(fake, "/.well-known/study/jwks.json"))[1]

    link = fake.books.link(place.id)

    token = dict(parse_qsl(urlsplit(link).query))["prolific_token"]
    key = jwt.PyJWKSet.from_dict(keys)[jwt.get_unverified_header(token)["kid"]]
    url = link.partition("&prolific_token=")[0]
    claims = jwt.decode(
        token, key, ["RS256"], audience=url, options={"verify_exp": False, "verify_iat": False}
    )
    assert claims["iss"] == "https://www.prolific.com"
    assert (claims["exp"] - claims["iat"], claims["sub"]) == (120, place.id)
    own = {"PROLIFIC_PID": place.participant, "SESSION_ID": place.id}
    assert claims["prolific"] == {**own, "workspace_id": fake.books.workspace.id}


def prolific_request(fake, path):
    return fake.request("GET", f"{fake.url}{path}", b"", "")


@pytest.mark.parametrize(("how", "paid"), [("before", 0), ("after", 50)])
def test_the_connection_drops_before_or_after_a_call_is_handled(fake, how, paid):
    study = published(fake)
    place = fake.books.take(study)
    bulk = fake.books.set_up_bonuses(study, f"{place.id},0.50")
    fake.fail("POST", "/pay/", how)

    with pytest.raises((RemoteDisconnected, ConnectionError), match=r"without response|reset"):
        call(fake, "POST", f"/bulk-bonus-payments/{bulk.id}/pay/")

    assert sum(fake.books.bonuses(place.id)) == paid


def test_events_are_signed_over_timestamp_and_body():
    """The expected value is `printf '1700000000{}' | openssl dgst -sha256 -hmac key -binary | base64`."""
    assert prolific.signature("key", "1700000000", b"{}") == "i/lINbu870b3ShJQxHhQ7eP6iAkOWfGwvGrzEgmpfKk="


def test_each_change_of_a_place_is_an_event_in_its_order():
    books = Books()
    study = books.create_study(STUDY)["id"]
    books.transition_study(study, "PUBLISH")
    place = books.take(study)
    books.start(place.id)
    books.time_out(place.id)

    told = [json.loads(event.body) for event in books.hooks.events]
    assert [event["status"] for event in told] == ["PUBLISHING", "ACTIVE", "RESERVED", "ACTIVE", "TIMED_OUT"]
    assert len({event.id for event in books.hooks.events}) == 5


@pytest.mark.parametrize("is_list", [False, True])
def test_a_subscription_needs_a_secret_an_https_address_and_to_be_confirmed(fake, is_list):
    fake.webhooks.replies_with_list = is_list
    workspace = fake.books.workspace.id
    body = {
        "workspace_id": workspace,
        "event_type": "submission.status.change",
        "target_url": "https://s.example/e",
    }
    path = "/hooks/subscriptions/"

    assert call(fake, "GET", f"/hooks/secrets/?workspace_id={workspace}")[1] == {"results": []}
    assert call(fake, "POST", path, body)[0] == 400
    call(fake, "POST", "/hooks/secrets/", {"workspace_id": workspace})
    assert call(fake, "POST", path, {**body, "target_url": "http://s.example/e"})[0] == 400
    status, made, headers = call_with_headers(fake, "POST", path, body)
    id = (made["results"][0] if is_list else made)["id"]

    assert status == 201
    begun(fake, published(fake))
    assert call(fake, "POST", f"{path}{id}/", {"secret": "guessed"})[0] == 400
    assert call(fake, "POST", f"{path}{id}/", {"secret": headers["X-Hook-Secret"]})[0] == 200
    assert fake.webhooks.subscription(id).deliveries == []
    begun(fake, published(fake))
    fake.webhooks.post(lambda *_: 200)
    events = call(fake, "GET", f"{path}{id}/events/")[1]["results"]
    assert [event["status"] for event in events] == ["SUCCEEDED", "SUCCEEDED"]


def test_a_second_secret_is_worth_the_first_one_no_more(fake):
    first = fake.webhooks.secret

    call(fake, "POST", "/hooks/secrets/", {"workspace_id": fake.books.workspace.id})

    assert fake.webhooks.secret != first


def test_five_days_of_failures_disable_a_subscription(fake):
    fake.webhooks.make_secret(fake.books.workspace.id)
    made = fake.webhooks.subscribe(fake.books.workspace.id, "submission.status.change", "https://s.example/e")
    fake.webhooks.confirm(made.id, made.confirmation)
    begun(fake, published(fake))

    for days in range(7):
        fake.webhooks.post(lambda *_: 500)
        assert made.is_enabled == (days < 5), days
        fake.books.clock.advance(days=1)
