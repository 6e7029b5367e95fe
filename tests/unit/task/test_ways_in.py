"""What comes of a link in another browser, for each state in which its person's session can stand."""

import pytest

from backend.experiment.panel import PRIVATE_LINK
from backend.experiment.session import mark_returned
from backend.studies.pausing import set_paused
from backend.task.eligibility import issue_links

from .. import sample_studies as studies

AT = "2026-01-01T00:00:00.000Z"
TYPED = {"PROLIFIC_PID": "p1", "SESSION_ID": "s1", "STUDY_ID": "t1"}


def opened(player):
    """Leave after the consent."""


def begun(player):
    player.begin()


def in_block(player):
    player.begin()
    player.answer()


def between_blocks(player):
    player.begin()
    while not player.answer()["block_finished"]:
        pass


def finished(player):
    player.play()


def withdrawn(player):
    player.play()
    secret = player.state["withdrawal_url"].partition("#")[2]
    path = f"/api/sessions/{player.state['session']}/withdrawal"
    player.world.http.post(path, json={}, headers={"Authorization": f"Bearer {secret}"})


def paused(player):
    in_block(player)
    set_paused(player.world.store, "faces", True, AT)


def silent(player):
    in_block(player)
    player.world.clock.move(hours=5)


def full(player):
    in_block(player)
    world, others = player.world, [{"PROLIFIC_PID": f"p{i}"} for i in range(2, 9)]
    links = issue_links(world.store, world.data.keys().hashing, "faces", len(others))
    is_private = world.store.study("faces").protocol.admission.panel.private_links
    for i, link in enumerate(links):
        world.open(panel={PRIVATE_LINK: link} if is_private else others[i])


def returned(player):
    in_block(player)
    store, session = player.world.store, player.state["session"]
    cursor = store.cursor(session)
    store.move(session, cursor.version, mark_returned(cursor, AT))


WAYS = {
    opened: ("resumed", "begins", "begins"),
    begun: ("resumed", "resumed", "already_started"),
    in_block: ("resumed", "resumed", "already_started"),
    between_blocks: ("resumed", "resumed", "already_started"),
    finished: ("its code", "its code", "already_finished"),
    withdrawn: ("withdrawn", "withdrawn", "withdrawn"),
    paused: ("resumed", "resumed", "already_started"),
    silent: ("resumed", "resumed", "already_started"),
    returned: ("returned", "returned", "returned"),
    full: ("resumed", "resumed", "already_started"),
}
"""Same browser; another one, vouched for; another one, of ids that were typed."""


def stands(player, token):
    reply = player.post("resume", {}, token=token).json
    if "error" in reply:
        return reply["error"]["code"]
    return "its code" if reply["state"]["done"] else "resumed"


def elsewhere(world, player, panel):
    reply = world.http.post("/api/studies/faces/admission", json={"panel": panel, "signature": None}).json
    if "error" in reply:
        return reply["error"]["code"]
    return stands(player, reply["token"]) if "token" in reply else "begins"


@pytest.mark.parametrize("leave", WAYS, ids=lambda leave: leave.__name__)
@pytest.mark.parametrize("is_vouched", [True, False])
def test_a_link_opened_again_leads_to_the_session_or_to_words(world, leave, is_vouched):
    panel = "private" if is_vouched else "prolific"
    world.add(studies.study("faces", "time", images=4, blocks=2, spare_images=20, evaluators=3, panel=panel))
    (link,) = issue_links(world.store, world.data.keys().hashing, "faces", 1)
    ids = {PRIVATE_LINK: link} if is_vouched else TYPED
    player = world.player(panel=ids)

    leave(player)

    same, vouched, typed = WAYS[leave]
    assert elsewhere(world, player, ids) == (vouched if is_vouched else typed)
    assert stands(player, player.token) in (same, "unknown_session" if same == "withdrawn" else same)


TEST_WAYS = {
    opened: "begins", begun: "already_started", in_block: "already_started", finished: "passed",
    withdrawn: "withdrawn",
}  # fmt: skip
"""What comes of a study's qualification in another browser, where ids were typed."""


@pytest.mark.parametrize("leave", TEST_WAYS, ids=lambda leave: leave.__name__)
def test_a_test_left_in_another_browser_is_begun_counted_or_told_of(world, leave):
    world.add(studies.study("gate", kind="qualification", images=4))
    world.add(studies.study("faces", images=8, qualification="gate"))
    player = world.player("gate", panel=TYPED)

    leave(player)

    first = world.open("faces", panel=TYPED).json
    assert "token" not in first or first["stage"] == "session"
    test = world.open("gate", panel=TYPED).json if first.get("stage") == "qualification" else first
    outcome = test["error"]["code"] if "error" in test else "begins" if test is not first else "passed"
    assert outcome == TEST_WAYS[leave]
