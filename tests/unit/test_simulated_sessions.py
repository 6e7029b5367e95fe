"""Simulated sessions: only the researcher opens one, and it counts, pays and limits nothing."""

import re

import pytest

from backend.foundation.errors import InvalidInput
from backend.payment import accounts
from backend.payment.ledger import partial_account_of
from backend.responses.study_data import study_rows, study_scores, version
from backend.studies.pausing import set_paused
from backend.web.monitor import Watch
from backend.web.progress import as_text, progress

from . import sample_studies as studies

AT = "2026-01-01T00:00:00.000Z"


@pytest.fixture
def study(world):
    return world.add(studies.study(images=8, evaluators=1, base_usd_cents=50))


def sessions(world, simulated, study="faces"):
    return [session for session, _ in world.store.sessions(study, simulated)]


@pytest.mark.parametrize("key", [None, "wrong", "é"])
def test_without_the_researchers_key_nobody_opens_a_simulated_session(world, study, key):
    reply = world.open(simulated=True, key=key)

    assert (reply.status_code, reply.json["error"]["code"]) == (403, "wrong_token" if key else "no_token")
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
    assert accounts.plain_accounts(world.store, study, world.clock()) == {}
    assert accounts.enter(world.store, study, *pair) is None
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


def key_of(world):
    return {"Authorization": f"Bearer {world.data.keys().researcher}"}


def scores(world, query=""):
    return world.http.get(f"/api/studies/faces/scores{query}", headers=key_of(world))


def test_scores_are_of_the_real_ones_and_of_the_simulated_ones_when_asked_for(world):
    study = world.add(studies.study(images=8, evaluators=2))
    for _ in range(4):
        world.player().play()
    for _ in range(2):
        world.player(simulated=True).play(right=lambda truth: False)

    real, rehearsed = study_scores(world.store, study), study_scores(world.store, study, simulated=True)

    assert ([row["score"] for row in real["models"]], real["simulated"]) == ([0, 0], False)
    assert ([row["score"] for row in rehearsed["models"]], rehearsed["simulated"]) == ([100, 100], True)
    assert scores(world).json == real
    assert scores(world, "?simulated=true").json == rehearsed
    assert scores(world, "?simulated=yes").status_code == 400


def test_a_study_that_was_only_simulated_has_no_scores_and_says_where_those_are(world, study):
    world.player(simulated=True).play()

    reply = scores(world)

    assert reply.status_code == 400
    assert "1 simulated ones are finished: ask for them with --simulated" in reply.json["error"]["message"]
    assert "make some with `openhype simulate faces`" not in reply.json["error"]["message"]


def test_a_simulated_session_changes_the_scores_of_simulated_ones_only(world, study):
    world.player().play()
    world.player(simulated=True).play()
    tags = [version(world.store, study, simulated) for simulated in (False, True)]

    world.player(simulated=True).play()

    after = [version(world.store, study, simulated) for simulated in (False, True)]
    assert (tags[0], tags[0] != tags[1], tags[1] != after[1]) == (after[0], True, True)


def test_status_and_live_view_count_the_simulated_ones_apart(world, study):
    for _ in range(3):
        world.player(simulated=True).play()
    world.simulate()
    world.player().play()

    told = world.http.get("/api/studies/faces/status", headers=key_of(world)).json
    seen = Watch(world.store, study).with_scores(world.clock())

    assert (told["simulated"], sum(row["finished"] for row in told["models"])) == (3, 1)
    assert (seen["simulated"], sum(row["evaluators"] for row in seen["scores"]["models"])) == (3, 1)
    assert "3 simulated sessions, in none of these numbers" in as_text(told)


class TestResultsPage:
    @pytest.fixture(autouse=True)
    def visitor(self, world, study):
        world.http.post("/api/sign-in", json={"token": world.data.keys().researcher})

    def test_the_page_of_simulated_sessions_says_so_everywhere(self, world):
        world.player(simulated=True).play()

        page = world.http.get("/results/faces?simulated=true").text

        assert 'class="banner"' in page
        assert "Results of faces (simulated)" in page
        captions = re.findall(r"<figcaption><strong>Figure \d+\.</strong> (.*?)</figcaption>", page)
        tables = re.findall(r"<caption.*?><span>(.*?)</span></caption>", page)
        assert captions
        assert [text for text in (*captions, *tables) if not text.startswith("Simulated sessions. ")] == []
        assert page.count(">simulated sessions</text>") == 2 * len(captions)

    @pytest.mark.slow("draws every figure")
    def test_the_page_of_real_sessions_shows_nothing_of_them_but_a_link(self, world):
        world.player().play()
        before = world.http.get("/results/faces")
        world.player(simulated=True).play()

        after = world.http.get("/results/faces", headers={"If-None-Match": before.headers["ETag"]})

        assert (after.status_code, 'class="banner"' in after.text) == (200, False)
        assert '<a href="?simulated=true">Results of simulated sessions</a>' in after.text
        assert "?simulated=true" not in before.text
        assert '<a href="?">Results of real sessions</a>' in (
            world.http.get("/results/faces?simulated=true").text
        )

    def test_a_page_that_has_nothing_yet_leads_to_the_one_that_has(self, world):
        world.player(simulated=True).play()

        reply = world.http.get("/results/faces")

        assert reply.status_code == 404
        assert "No real session of faces is finished yet" in reply.text
        assert 'href="?simulated=true"' in reply.text
        assert '<a href="/console/studies/faces">Back to the study in the console</a>' in reply.text
