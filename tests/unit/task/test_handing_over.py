"""On another device a session goes on, where the panel or a private link vouches for its person."""

import pytest

from backend.experiment.panel import PRIVATE_LINK
from backend.task.eligibility import issue_links

from .. import sample_studies as studies
from ..conftest import Player

TYPED = {"PROLIFIC_PID": "p1", "SESSION_ID": "s1", "STUDY_ID": "t1"}


def admission(world, study, panel, signature=None):
    reply = world.http.post(f"/api/studies/{study}/admission", json={"panel": panel, "signature": signature})
    return reply.json


def refused(reply):
    return reply["error"]["code"] if "error" in reply else None


def elsewhere(world, player, token):
    """Return the player of the same session in another browser, which holds `token` alone."""
    other = Player(world, {"token": token, "state": player.state})
    resumed = other.post("resume", {}).json
    assert "state" in resumed, resumed
    return Player(world, {"token": token, "state": resumed["state"]})


@pytest.fixture
def private(world):
    world.add(studies.study("faces", images=8, panel="private"))
    first, second = issue_links(world.store, world.data.keys().hashing, "faces", 2)
    return world, {PRIVATE_LINK: first}, {PRIVATE_LINK: second}


def test_a_private_link_goes_on_in_another_browser_which_takes_the_session_over(private):
    world, link, _ = private
    player = world.player(panel=link)
    player.begin()
    player.answer()

    there = elsewhere(world, player, admission(world, "faces", link)["token"])

    assert there.state["progress"]["answered"] == 1
    assert refused(player.post("answers", player.body()).json) == "stale_lease"
    assert there.play()["completion_code"]
    assert len(world.store.responses(player.state["session"])) == 8
    assert len(list(world.store.sessions("faces"))) == 1


@pytest.mark.parametrize("panel", ["private", "link"])
def test_a_private_link_leads_through_the_qualification_of_its_study(world, panel):
    world.add(studies.study("gate", kind="qualification", images=4, panel=panel))
    world.add(studies.study("faces", images=8, panel="private", qualification="gate"))
    world.add(studies.study("cars", images=8, panel="private"))
    (link,) = issue_links(world.store, world.data.keys().hashing, "faces", 1)
    (other,) = issue_links(world.store, world.data.keys().hashing, "cars", 1)

    test = world.player("gate", panel={PRIVATE_LINK: link})
    test.play()
    opened = world.open("faces", panel={PRIVATE_LINK: link}, qualification_token=test.token).json
    stranger = world.open("gate", panel={PRIVATE_LINK: other}).json

    assert opened["stage"] == "session"
    assert refused(stranger) == "unknown_link"


def test_a_private_link_shows_the_code_again(private):
    world, link, _ = private
    player = world.player(panel=link)
    done = player.play()

    there = elsewhere(world, player, admission(world, "faces", link)["token"])

    assert there.state["done"]["completion_code"] == done["completion_code"]
    assert there.state["withdrawal_url"] == player.state["withdrawal_url"]


def test_a_study_that_is_paused_or_full_lets_its_own_people_go_on(private):
    world, link, _ = private
    player = world.player(panel=link)
    player.begin()
    key = world.data.keys().researcher
    world.http.post("/api/studies/faces/pause", json={}, headers={"Authorization": f"Bearer {key}"})

    assert elsewhere(world, player, admission(world, "faces", link)["token"]).play()["completion_code"]


def test_another_private_link_leads_to_no_session_of_another(private):
    world, link, other = private
    world.player(panel=link).begin()

    assert "token" not in admission(world, "faces", other)
    assert refused(admission(world, "faces", {PRIVATE_LINK: "x" + link[PRIVATE_LINK][1:]})) == "unknown_link"


@pytest.mark.parametrize("ends", [False, True])
@pytest.mark.parametrize("more", [{}, {PRIVATE_LINK: ""}, {"prolific_token": "x"}])
@pytest.mark.parametrize("signature", [None, "pass.99999999999.0", "x"])
def test_ids_that_anybody_could_type_open_nobodys_session(world, ends, more, signature):
    world.add(studies.study("faces", images=8, panel="prolific"))
    player = world.player(panel=TYPED)
    player.play() if ends else player.begin()

    reply = admission(world, "faces", {**TYPED, **more}, signature)

    assert refused(reply) == ("already_finished" if ends else "already_started")
    assert player.token.partition(".")[2] not in str(reply)
    assert "token" not in str(reply)


def test_the_token_of_one_session_opens_no_other_one(private):
    world, link, other = private
    one, two = world.player(panel=link), world.player(panel=other)
    one.begin()
    two.begin()
    secret = admission(world, "faces", link)["token"].partition(".")[2]

    for token in (f"{two.state['session']}.{secret}", f"{one.state['session']}.{secret[:-1]}é"):
        assert refused(two.post("resume", {}, token=token).json) == "wrong_token"
    withdrawing = world.http.get(
        f"/api/sessions/{one.state['session']}/withdrawal", headers={"Authorization": f"Bearer {secret}"}
    )
    assert withdrawing.status_code == 403


def test_who_withdrew_is_told_so_in_another_browser_too(private):
    world, link, _ = private
    player = world.player(panel=link)
    player.play()
    token = admission(world, "faces", link)["token"]
    secret = player.state["withdrawal_url"].partition("#")[2]
    path = f"/api/sessions/{player.state['session']}/withdrawal"
    world.http.post(path, json={}, headers={"Authorization": f"Bearer {secret}"})

    assert refused(admission(world, "faces", link)) == "withdrawn"
    assert refused(player.post("resume", {}, token=token).json) in ("withdrawn", "unknown_session")
