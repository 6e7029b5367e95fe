"""Sessions that one address, or one person, may open in a time."""

import threading

import pytest

from backend.foundation.errors import TooMany
from backend.handlers import create_app
from backend.web.session_rate_limit import Openings, network

from .. import sample_studies as studies


class Seconds:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


def opened(limit, address="192.0.2.1", times=1):
    for _ in range(times):
        with limit.one(address):
            pass


def test_an_address_opens_as_many_as_are_allowed_in_a_minute_and_an_hour():
    clock = Seconds()
    limit = Openings(3, 5, clock)

    opened(limit, times=3)
    with pytest.raises(TooMany, match="at most 3 in 1 min; try again in 60 s") as refused:
        opened(limit)
    assert (refused.value.code, refused.value.retry_after_s) == ("too_many_sessions", 60)
    clock.now += 60
    opened(limit, times=2)
    clock.now += 60
    with pytest.raises(TooMany, match="at most 5 in 60 min; try again in 3480 s"):
        opened(limit)
    clock.now += 3480
    opened(limit, times=3)


def test_addresses_do_not_limit_each_other():
    limit = Openings(1, 1, Seconds())

    opened(limit, "192.0.2.1")
    opened(limit, "192.0.2.2")

    with pytest.raises(TooMany, match="many sessions"):
        opened(limit, "192.0.2.1")


def test_what_failed_or_opened_nothing_is_not_counted():
    limit = Openings(1, 1, Seconds())

    with pytest.raises(KeyError, match="full"), limit.one("a"):
        raise KeyError("full")
    with limit.one("a") as forget:
        forget()
    limit.check("a")
    opened(limit, "a")

    with pytest.raises(TooMany, match="many sessions"):
        limit.check("a")


def test_nought_is_no_limit():
    opened(Openings(0, 0, Seconds()), times=2000)


def test_a_lab_of_fifty_takes_test_and_study_by_default():
    opened(Openings(clock=Seconds()), times=100)


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
        (None, ""),
        ("a\ud800", "a\ud800"),
    ],
)
def test_a_household_is_one_network(address, name):
    assert network(address) == name


def test_memory_is_bounded_however_many_addresses_come():
    limit = Openings(1, 1, Seconds(), most_addresses=10)

    for i in range(100):
        opened(limit, f"address {i}")

    assert len(limit._opened) == 10
    with pytest.raises(TooMany, match="many sessions"):
        opened(limit, "address 99")


def test_threads_together_get_no_more():
    limit, done = Openings(50, 600, Seconds()), []

    def try_to_open():
        for _ in range(20):
            try:
                opened(limit)
            except TooMany:
                continue
            done.append(1)

    threads = [threading.Thread(target=try_to_open) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(done) == 50


@pytest.fixture
def limited(world):
    """A world whose server lets an address open two sessions a minute."""
    world.seconds = Seconds()
    world.app = create_app(
        world.store,
        world.data,
        world.data.keys(),
        world.clock,
        openings=Openings(2, 100, world.seconds),
    )
    world.http = world.app.test_client()
    world.add(studies.study(panel="link", evaluators=50))
    return world


def test_the_server_tells_when_to_come_back(limited):
    assert [limited.open().status_code for _ in range(3)] == [201, 201, 429]
    limited.seconds.now += 18

    reply = limited.open()

    assert (reply.status_code, reply.json["error"]["code"]) == (429, "too_many_sessions")
    assert reply.headers["Retry-After"] == "42"
    admission = limited.http.post("/api/studies/faces/admission", json={"panel": {}})
    assert (admission.status_code, admission.headers["Retry-After"]) == (429, "42")
    limited.seconds.now += 42
    assert limited.open().status_code == 201
    assert len(list(limited.store.sessions("faces"))) == 3


def test_what_is_refused_for_another_reason_takes_nothing_of_the_limit(limited):
    for _ in range(5):
        assert limited.open(study="nobody").status_code == 404
        assert (
            limited.http.post("/api/studies/faces/sessions", json={"consent_version": "2"}).status_code == 400
        )

    assert limited.open().status_code == 201


def test_simulated_sessions_are_not_limited(limited):
    assert [limited.simulate().status_code for _ in range(5)] == [201] * 5
    assert limited.open().status_code == 201


def test_who_has_a_session_goes_on_however_many_are_opened(limited):
    player = limited.player()
    limited.open()
    assert limited.open().status_code == 429

    player.begin()
    player.answer()

    assert player.post("resume", {}).status_code == 200


@pytest.mark.parametrize("kind", ["study", "qualification"])
def test_one_person_opens_a_session_ten_times_an_hour_at_most(each_world, kind):
    world = each_world
    world.add(studies.study(kind=kind, evaluators=50))
    panel = {"PROLIFIC_PID": "ann"}

    for _ in range(10):
        assert world.open(panel=panel).status_code == 201
        world.clock.move(minutes=1)
    reply = world.open(panel=panel)

    assert (reply.status_code, reply.json["error"]["code"]) == (429, "opened_too_often")
    assert reply.headers["Retry-After"] == "3000"  # the first of them was ten minutes ago
    admission = world.http.post("/api/studies/faces/admission", json={"panel": panel})
    assert (admission.status_code, admission.json["error"]["code"]) == (429, "opened_too_often")
    assert world.open(panel={"PROLIFIC_PID": "bob"}).status_code == 201
    assert len(list(world.store.sessions("faces"))) == 11
    world.clock.move(minutes=50)
    assert world.open(panel=panel).status_code == 201


def test_at_once_one_person_gets_no_more(world):
    world.add(studies.study(evaluators=50, repeat_visits="true"))
    statuses = []

    def open_some():
        http = world.app.test_client()
        for _ in range(4):
            body = {"consent_version": "1", "panel": {"PROLIFIC_PID": "ann"}}
            statuses.append(http.post("/api/studies/faces/sessions", json=body).status_code)

    threads = [threading.Thread(target=open_some) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (statuses.count(201), statuses.count(429)) == (10, 14)
    assert len(list(world.store.sessions("faces"))) == 10


def test_what_is_kept_of_a_person_does_not_grow_with_openings(world):
    world.add(studies.study(evaluators=50))
    for _ in range(40):
        world.open(panel={"PROLIFIC_PID": "ann"})
        world.clock.move(minutes=20)

    (entry,) = world.store.entries("people")

    assert len(entry.data["opened"]["faces"]) <= 4


@pytest.mark.parametrize("where", ["device", "display"])
def test_facts_of_a_device_are_small(world, where):
    world.add(studies.study(panel="link"))
    facts = {f"fact {i}": "\u00fc" * 300 for i in range(8)}
    if where == "device":
        reply = world.open(device=facts)
    else:
        player = world.player()
        reply = player.post("blocks", {"lease": 1, "block": 0, "display": facts})

    assert (reply.status_code, reply.json["error"]["code"]) == (400, "invalid")
    assert reply.json["error"]["message"].startswith(f"{where} must be of at most 4096 bytes as JSON, not ")
