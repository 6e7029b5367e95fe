"""Evaluators are recruited through the API as the cost was confirmed, once."""

import threading
from fractions import Fraction

import pytest

from backend.recruitment import study_recruitment
from backend.recruitment.plan import plan
from backend.recruitment.recruit import prepare
from backend.recruitment.study_recruitment import Wish
from tests import prolific

from .. import sample_studies as studies
from .researcher import Researcher

URL = "https://study.example"


@pytest.fixture
def fake(monkeypatch):
    with prolific.running(fee=Fraction(428, 1000)) as fake:
        for name, value in fake.environment().items():
            monkeypatch.setenv(name, value)
        yield fake


@pytest.fixture
def me(world):
    return Researcher(world)


@pytest.fixture
def study(world):
    return world.add(studies.study(images=8, evaluators=3, base_usd_cents=200, minutes=10))


def offered(me, query=f"url={URL}"):
    found = me.get(f"studies/faces/recruitment?{query}")
    assert found["obstacle"] is None
    return found


def made(fake):
    return [fake.books.study(id) for id in fake.books.studies if fake.books.seen_study(id)]


def test_the_cost_is_told_and_then_recruited_for_once(fake, me, study):
    found = offered(me)
    assert made(fake) == []
    body = {"confirmation": found["confirmation"], "url": URL}

    first = me.post("studies/faces/recruit", body)
    again = me.post("studies/faces/recruit", body)  # a reply that was lost

    # 6 places of $2.00 and 8 bonuses of 2 cents: 6 * (200 * 1.428 = 285.6 -> 286 + 16 * 1.428 -> 23)
    assert (found["plan"]["places"], found["plan"]["total_usd_cents"]) == (6, 6 * (286 + 23))
    assert found["plan"]["wallet"]["available_usd_cents"] > 0
    (at_panel,) = made(fake)
    assert (at_panel["status"], at_panel["total_available_places"]) == ("ACTIVE", 6)
    assert first == again
    assert first["recruited"]["state"] == "published"
    assert "codes" not in first["recruited"]
    record = me.get("studies/faces/record")
    assert (record["recruited"], record["panel"]["has_token"]) == (first["recruited"], True)
    state = me.get("studies/faces/recruitment")
    assert (state["at_panel"]["at_panel"], state["at_panel"]["places"]) == ("active", 6)


def test_many_at_once_make_one_study_at_the_panel(fake, me, study):
    body = {"confirmation": offered(me)["confirmation"], "url": URL}
    statuses = []

    def send():
        client = me.world.app.test_client()
        reply = client.post("/api/studies/faces/recruit", json=body, headers=me.headers)
        statuses.append(reply.status_code)

    threads = [threading.Thread(target=send) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert statuses == [200] * 4
    published = [each for each in made(fake) if each["status"] == "ACTIVE"]
    assert [each["total_available_places"] for each in published] == [6]


@pytest.mark.parametrize(
    "other",
    [{"places": 5}, {"budget_usd_cents": 5000}, {"url": "https://other.example"}, {"fee_percent": "33"}],
)
def test_a_confirmation_is_for_what_was_asked_and_nothing_else(fake, me, study, other):
    body = {"confirmation": offered(me)["confirmation"], "url": URL, **other}

    me.refused("studies/faces/recruit", body, 409, "changed")
    assert made(fake) == []


def test_other_settings_change_what_is_confirmed(fake, me, study):
    body = {"confirmation": offered(me)["confirmation"], "url": URL}
    me.post("studies/faces/set", {"settings": {"base_usd_cents": 210}})

    me.refused("studies/faces/recruit", body, 409, "changed")
    assert made(fake) == []


def test_places_grow_by_a_confirmation_of_their_own(fake, me, study):
    me.post("studies/faces/recruit", {"confirmation": offered(me)["confirmation"], "url": URL})
    query = f"url={URL}&places=8&budget_usd_cents=3000"

    more = offered(me, query)
    body = {"confirmation": more["confirmation"], "url": URL, "places": 8, "budget_usd_cents": 3000}
    for _ in range(2):
        me.post("studies/faces/recruit", body)

    assert more["plan"]["total_usd_cents"] == 8 * (286 + 23)
    assert [each["total_available_places"] for each in made(fake)] == [8]


def test_a_plan_over_its_budget_is_neither_offered_nor_begun(fake, me, study):
    body = {"confirmation": "0" * 64, "url": URL, "budget_usd_cents": 1853}

    found = me.get(f"studies/faces/recruitment?url={URL}&budget_usd_cents=1853")

    assert found["confirmation"] is None
    assert "over the budget" in found["obstacle"]
    assert "over the budget" in me.refused("studies/faces/recruit", body, 400, "invalid")
    assert made(fake) == []


def test_more_places_than_the_budget_pays_for_are_not_offered(fake, me, study):
    me.post("studies/faces/recruit", {"confirmation": offered(me)["confirmation"], "url": URL})

    found = me.get(f"studies/faces/recruitment?url={URL}&places=8")

    assert found["confirmation"] is None
    assert "8 slots cost $24.72 at most, over the budget of $18.54" in found["obstacle"]


def test_a_wage_under_the_least_that_the_panel_allows_is_not_offered(me, world):
    world.add(studies.study(images=8, evaluators=3, base_usd_cents=100, minutes=30))

    found = me.get(f"studies/faces/recruitment?url={URL}")

    assert (found["plan"], found["confirmation"]) == (None, None)
    assert "under the panel's least wage" in found["obstacle"]


def test_a_recruitment_is_paused_resumed_and_stopped(fake, me, study):
    me.refused("studies/faces/recruitment", {"action": "pause"}, 404, "not_found")
    me.post("studies/faces/recruit", {"confirmation": offered(me)["confirmation"], "url": URL})
    states = []
    for action in ("pause", "resume", "stop"):
        states.append(me.post("studies/faces/recruitment", {"action": action})["recruited"]["state"])

    assert states == ["paused", "published", "stopped"]
    me.refused("studies/faces/recruitment", {"action": "resume"}, 409, "conflict")
    me.refused("studies/faces/recruitment", {"action": "explode"}, 400, "invalid")


def test_a_rehearsal_costs_nothing_and_tells_its_address(fake, me, study):
    fake.books.workspace.features = frozenset({"test_participants"})
    body = {"url": URL, "email": "tester@example.org"}

    found = me.post("studies/faces/recruitment/rehearsal", body)["recruited"]

    assert (found["state"], bool(found["rehearsal_url"])) == ("decided", True)


def test_a_rehearsal_decides_what_was_asked_for(fake, me, study):
    fake.books.workspace.features = frozenset({"test_participants"})
    body = {
        "url": URL,
        "email": "tester@example.org",
        "places": 4,
        "fee_percent": "33.3",
        "vat_percent": "20",
    }

    me.post("studies/faces/recruitment/rehearsal", {**body, "budget_usd_cents": 2500, "completion": "code"})

    plan_, state = me.get("studies/faces/recruitment")["plan"], me.get("studies/faces/record")["recruited"]
    assert (plan_["places"], plan_["fee_percent"], plan_["vat_percent"]) == (4, "33.3", "20")
    assert state["budget_usd_cents"] == 2500


def rehearsed(fake, me):
    fake.books.workspace.features = frozenset({"test_participants"})
    me.post("studies/faces/recruitment/rehearsal", {"url": URL, "email": "tester@example.org"})


def published(fake):
    return [each for each in made(fake) if each["status"] == "ACTIVE" and not each["is_test"]]


def test_fewer_places_than_were_rehearsed_are_published_if_those_were_confirmed(fake, me, study):
    rehearsed(fake, me)
    query = f"url={URL}&places=2"
    found = offered(me, query)

    state = me.post("studies/faces/recruit", {"confirmation": found["confirmation"], "url": URL, "places": 2})

    assert (found["plan"]["places"], found["plan"]["total_usd_cents"]) == (2, 2 * (286 + 23))
    assert state["recruited"]["places"] == 2
    assert [each["total_available_places"] for each in published(fake)] == [2]


def test_a_higher_fee_than_was_rehearsed_is_published_within_the_budget_only(fake, me, study):
    fake.books.fee = fake.books.workspace.fee = Fraction(60, 100)
    rehearsed(fake, me)
    body = {"url": URL, "fee_percent": "60"}

    found = me.get(f"studies/faces/recruitment?url={URL}&fee_percent=60")

    assert "over the budget of $18.54" in found["obstacle"]
    assert published(fake) == []
    more = offered(me, f"url={URL}&fee_percent=60&budget_usd_cents=3000")
    me.post(
        "studies/faces/recruit",
        {**body, "confirmation": more["confirmation"], "budget_usd_cents": 3000},
    )
    assert len(published(fake)) == 1


def test_a_confirmation_that_failed_is_for_the_settings_that_it_was_given_out_for(fake, me, study):
    fake.books.workspace.balance = 100
    body = {"confirmation": offered(me)["confirmation"], "url": URL}
    assert "add money" in me.refused("studies/faces/recruit", body, 400, "invalid")
    fake.books.workspace.balance = None
    me.post("studies/faces/set", {"settings": {"base_usd_cents": 1000}})

    me.refused("studies/faces/recruit", body, 409, "changed")
    assert made(fake) == []


def test_what_was_carried_out_is_not_done_over_what_was_decided_since(fake, me, study):
    query = f"url={URL}&budget_usd_cents=2000"
    body = {"confirmation": offered(me, query)["confirmation"], "url": URL, "budget_usd_cents": 2000}
    me.post("studies/faces/recruit", body)
    more = Wish(places=8, budget_usd_cents=3000)
    study_recruitment.publish(me.world.store, fake.panel(), study, more)  # as `openhype recruit` does

    again = me.post("studies/faces/recruit", body)["recruited"]

    assert (again["places"], again["budget_usd_cents"]) == (8, 3000)


def test_a_confirmed_cost_is_not_exceeded_by_what_was_decided_since(fake, me, study):
    fake.books.workspace.balance = 100
    body = {"confirmation": offered(me)["confirmation"], "url": URL}
    me.refused("studies/faces/recruit", body, 400, "invalid")
    fake.books.workspace.balance = None
    prepare(me.world.store, fake.panel(), study, plan(study, 6, fee_percent="60"), URL)

    refused = me.refused("studies/faces/recruit", body, 409, "changed")

    assert "costs $20.76 at most by now, and $18.54 was confirmed" in refused
    assert published(fake) == []


def test_a_recruitment_that_was_stopped_takes_in_nobody_more(fake, me, study):
    me.post("studies/faces/recruit", {"confirmation": offered(me)["confirmation"], "url": URL})
    me.post("studies/faces/recruitment", {"action": "stop"})

    found = me.get(f"studies/faces/recruitment?url={URL}&places=8&budget_usd_cents=5000")

    assert (found["plan"], found["confirmation"]) == (None, None)
    assert "was stopped permanently" in found["obstacle"]


def test_fewer_places_than_are_published_are_not_offered(fake, me, study):
    me.post("studies/faces/recruit", {"confirmation": offered(me)["confirmation"], "url": URL})

    found = me.get(f"studies/faces/recruitment?url={URL}&places=2")

    assert (found["plan"], found["confirmation"]) == (None, None)
    assert "the number of slots can only grow: there are 6, and 2 were asked for" in found["obstacle"]


def test_what_is_in_the_way_is_told(world, me, fake):
    world.add(studies.study(images=8, minutes=10, base_usd_cents=0))
    world.add(studies.study("link", images=8, panel="link"))
    world.add(studies.study("paid", images=8, minutes=10, base_usd_cents=200))

    assert "no base pay" in me.get(f"studies/faces/recruitment?url={URL}")["obstacle"]
    assert "made for the panel link" in me.get(f"studies/link/recruitment?url={URL}")["obstacle"]
    assert "by https" in me.get("studies/paid/recruitment?url=ftp://x")["obstacle"]
    me.get("studies/faces/recruitment?places=nan", 400)
    me.get("studies/faces/recruitment?fee_percent=1e1", 400)


def test_without_a_token_there_is_a_plan_but_no_recruiting(me, study):
    body = {"confirmation": offered(me)["confirmation"], "url": URL}

    me.refused("studies/faces/recruit", body, 409, "no_panel_token")


def test_a_panel_that_refuses_says_so_and_keeps_what_is_known(fake, me, study, monkeypatch):
    me.post("studies/faces/recruit", {"confirmation": offered(me)["confirmation"], "url": URL})
    monkeypatch.setenv("PROLIFIC_TOKEN", "another")

    state = me.get("studies/faces/recruitment")

    assert (state["recruited"]["state"], state["at_panel"]) == ("published", None)
    assert "Prolific" in state["problem"]
    me.refused("studies/faces/recruitment", {"action": "stop"}, 409, "panel_token_refused")
