"""Simulated sessions: only the researcher opens one, and it counts, pays and limits nothing."""

import pytest

from backend import owing
from backend.control import set_paused
from backend.errors import InvalidInput
from backend.ledger import partial_account_of
from backend.progress import progress
from backend.results import study_rows

from . import studies

AT = "2026-01-01T00:00:00.000Z"


@pytest.fixture
def study(world):
    return world.add(studies.study(images=8, evaluators=1, base_usd_cents=50))


def sessions(world, simulated, study="faces"):
    return [session for session, _ in world.store.sessions(study, simulated)]


@pytest.mark.parametrize("key", [None, "wrong", "é"])
def test_without_the_researchers_key_nobody_opens_a_simulated_session(world, study, key):
    reply = world.open(simulated=True, key=key)

    assert (reply.status_code, reply.json["error"]["code"]) == (403, "wrong_key" if key else "no_token")
    assert sessions(world, True) == sessions(world, False) == []


def test_a_key_alone_makes_no_session_a_simulated_one(world, study):
    world.open(key=world.data.keys().researcher)

    assert [session.is_simulated for session in sessions(world, False)] == [False]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"simulated": "yes"}, "simulated must be true or false"),
        ({"simulated": 1}, "simulated must be true or false"),
        ({"seed": 3}, "a seed goes with a simulated session only"),
        ({"simulated": True, "seed": -1}, "seed must be a whole number from 0"),
    ],
)
def test_an_opening_that_asks_for_something_odd_is_refused(world, study, asked, message):
    reply = world.open(key=world.data.keys().researcher, **asked)

    assert (reply.status_code, message in reply.json["error"]["message"]) == (400, True)


def test_the_store_knows_a_simulated_session_by_the_server_and_not_by_its_device(world, study):
    world.player(simulated=True, device={"simulated": False})
    world.player(device={"simulated": True})

    ((simulated,), (real,)) = sessions(world, True), sessions(world, False)
    assert (simulated.is_simulated, real.is_simulated) == (True, False)


def test_simulated_sessions_take_no_places_and_real_ones_none_of_theirs(world, study):
    for _ in range(6):
        world.player(simulated=True).play()

    for _ in range(2):
        world.player().play()

    models = [sorted(session.model for session in sessions(world, which)) for which in (True, False)]
    assert models == [["gan"] * 3 + ["vae"] * 3, ["gan", "vae"]]
    assert world.open().json["error"]["code"] == "study_full"
    assert world.simulate().status_code == 201


def test_a_simulated_session_is_owed_nothing_and_is_in_no_number(world, study):
    done = world.player(simulated=True).play()

    told = progress(world.store, study)
    (pair,) = world.store.sessions("faces", simulated=True)

    assert done["complete"] is True
    assert (told["owed_usd_cents"], told["responses"], told["median_wage_usd_cents_an_hour"]) == (0, 0, None)
    assert [row["finished"] for row in told["models"]] == [0, 0]
    assert list(study_rows(world.store, study)) == []
    assert (owing.plain_accounts(world.store, study), owing.enter(world.store, study, *pair)) == ({}, None)
    with pytest.raises(InvalidInput, match="nobody is owed anything"):
        partial_account_of(study.protocol, *pair, "fault", AT)


def test_a_pause_a_private_link_and_a_panel_do_not_stop_a_simulated_session(world):
    world.add(studies.study(images=8, panel="private"))
    set_paused(world.store, "faces", True, AT)

    player = world.player(simulated=True, panel={"PROLIFIC_PID": "p1"})

    (session,) = sessions(world, True)
    assert (player.play()["complete"], session.panel, session.evaluator_key) == (True, {}, None)
    assert world.open().json["error"]["code"] == "study_paused"


def test_a_simulated_session_makes_nobody_known(world):
    world.add(studies.study(images=8, exclusive="true"))
    world.add(studies.study("hands", images=8, exclusive="true"))
    panel = {"PROLIFIC_PID": "p1"}

    world.player(simulated=True, panel=panel).play()

    assert list(world.store.entries("people")) == []
    assert world.open("hands", panel=panel).status_code == 201
    assert world.simulate(panel=panel).status_code == 201


def test_nobody_withdraws_from_a_simulated_session(world, study):
    state = world.player(simulated=True).state
    path, _, secret = state["withdrawal_url"].partition("#")
    url = f"/api/sessions/{path.rpartition('/')[2]}/withdrawal"
    headers = {"Authorization": f"Bearer {secret}"}

    replies = [world.http.get(url, headers=headers), world.http.post(url, json={}, headers=headers)]

    assert [reply.json["error"]["code"] for reply in replies] == ["simulated"] * 2
    assert len(sessions(world, True)) == 1
    assert list(world.store.entries("withdrawn")) == []


def test_the_same_seed_gives_the_same_pictures(world, study):
    for seed in (1, 2, 1):
        world.simulate(seed=seed)

    drawn = {session.seed: session.blocks for session in sessions(world, True)}
    again = [session.blocks for session in sessions(world, True) if session.seed == 1]
    assert again[0] == again[1] != drawn[2]


def test_simulated_sessions_do_not_begin_a_study_and_real_ones_do(world, study):
    world.player(simulated=True).play()
    before = world.store.study("faces").begun_at
    world.player()

    assert (before, world.store.study("faces").begun_at) == ("", AT)


class TestQualification:
    @pytest.fixture(autouse=True)
    def studies(self, world):
        world.add(studies.study("test", kind="qualification", images=20))
        world.add(studies.study(images=8, qualification="test"))

    def test_a_simulated_session_asks_for_a_simulated_pass(self, world):
        first = world.simulate()
        gate = world.player("test", simulated=True)
        gate.play()

        assert first.json["stage"] == "qualification"
        assert world.simulate(token=gate.token).json["stage"] == "session"

    @pytest.mark.parametrize("simulated", [True, False])
    def test_a_pass_of_one_kind_admits_none_of_the_other(self, world, simulated):
        gate = world.player("test", simulated=simulated)
        gate.play()

        open_other = world.open if simulated else world.simulate

        assert open_other(token=gate.token).json["stage"] == "qualification"

    def test_a_simulated_pass_lets_nobody_wait_for_pay(self, world):
        world.add(studies.study("later", images=8, qualification="test", retainer_usd_cents="10"))
        gate = world.player("test", simulated=True)
        gate.play()

        reply = world.http.post("/api/studies/later/waits", json={"qualification_token": gate.token})

        assert reply.json["error"]["code"] == "not_qualified"
        assert world.store.study("later").begun_at == ""
