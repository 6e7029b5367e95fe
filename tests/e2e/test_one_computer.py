"""Several people in one browser: each has a session, a code and a language of their own, by the link."""

import pytest

from backend.experiment import panel as records
from backend.task.eligibility import issue_links

from .conftest import Player

IDS = {
    "prolific": ("PROLIFIC_PID={}&SESSION_ID=s{}&STUDY_ID=1", records.PROLIFIC),
    "connect": ("participantId={}&assignmentId=a{}", records.CONNECT),
    "sona": ("sona_id={}", records.SONA),
    "mturk": ("workerId={}&assignmentId=a{}&turkSubmitTo=https://workersandbox.mturk.com", records.MTURK),
    "own ids": ("who={}", records.PanelRecord("lab", evaluator="who")),
    "without a person": ("place={}", records.PanelRecord("seats", submission="place")),
    "keeps alone": ("seat={}&room=2", records.PanelRecord("room", keeps=("seat", "room"))),
}
ADA, BEA = "5f1c7e0a9b3d", "61aa02c4de77"


def link(query, who):
    return "?" + query.replace("{}", who)


@pytest.fixture
def two(context, site):
    """Opens pages of one browser."""

    def opened():
        player = Player(context.new_page(), site)
        players.append(player)
        return player

    players = []
    yield opened
    assert [fault for player in players for fault in player.faults] == []


def answer(player, trials):
    for _ in range(trials):
        player.wait("question")
        player.answer(player.see()[0])


def stored(site, study):
    """Return the number of answers and the state of each session, by the panel's first id."""
    return {
        next(iter(session.panel.values()), None): (cursor.trial_index, cursor.state)
        for session, cursor in site.store.sessions(study)
    }


@pytest.mark.parametrize("panel", IDS)
def test_who_opens_another_link_begins_and_who_comes_back_goes_on(two, site, panel):
    query, record = IDS[panel]
    site.record = record
    study = "faces"
    site.create("faces", images=4, feedback_ms=50, evaluators=9)
    player = two()
    player.visit(study, link(query, ADA))
    player.press("consent")
    player.press("instructions")
    answer(player, 2)

    player.visit(study, link(query, BEA))
    player.press("consent")
    player.press("instructions")
    answer(player, 4)
    player.wait("done")
    code = player.page.inner_text("#code")
    between = stored(site, study)
    player.visit(study, link(query, ADA))
    player.press("instructions")
    answer(player, 2)
    player.wait("done")

    assert between == {ADA: (2, "active"), BEA: (4, "finished")}
    assert stored(site, study) == {ADA: (4, "finished"), BEA: (4, "finished")}
    assert player.page.inner_text("#code") != code
    kept = player.page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])")
    assert ADA not in kept
    assert BEA not in kept


def test_two_people_use_their_own_links_in_two_tabs_at_once(two, site):
    study = "faces"
    site.create("faces", images=2, feedback_ms=50, evaluators=9, panel=records.SONA)
    ada, bea = two(), two()

    for player, who in ((ada, "41"), (bea, "42")):
        player.visit(study, f"?sona_id={who}")
        player.press("consent")
        player.press("instructions")
    for player in (ada, bea):
        player.page.bring_to_front()
        answer(player, 2)
        player.wait("done")

    assert stored(site, study) == {"41": (2, "finished"), "42": (2, "finished")}


def test_a_private_link_finds_its_own_session_only(two, site):
    study = "faces"
    site.create("faces", images=4, feedback_ms=50, evaluators=9, panel=records.PRIVATE)
    ada, bea = issue_links(site.store, site.data.keys().hashing, study, 2)
    player = two()
    player.visit(study, f"?link={ada}")
    player.press("consent")
    player.press("instructions")
    answer(player, 1)
    player.visit(study, f"?link={bea}")
    player.press("consent")

    player.visit(study, f"?link={ada}")
    player.press("instructions")
    player.wait("question")

    assert sorted(cursor.trial_index for _, cursor in site.store.sessions(study)) == [0, 1]
    assert not any(each in player.page.evaluate("JSON.stringify({...localStorage})") for each in (ada, bea))


@pytest.mark.core
def test_at_a_shared_computer_the_next_person_begins_from_the_last_page(two, site):
    study = "faces"
    site.create("faces", images=2, feedback_ms=50, evaluators=9, shared_computer=True, panel=records.LINK)
    player = two()
    player.begin(study)
    answer(player, 2)
    player.wait("done")
    link_of_first = player.page.get_attribute(".withdrawal a", "href")

    player.page.click("text=Someone else takes part")
    player.press("consent")
    player.press("instructions")
    answer(player, 1)
    player.visit(study)
    player.page.wait_for_selector("h1:text-is('Somebody has begun here')")
    player.page.click("text=Someone else takes part")
    player.press("consent")
    player.press("instructions")
    answer(player, 2)
    player.wait("done")

    assert player.page.get_attribute(".withdrawal a", "href") != link_of_first
    people = [
        (session.device["person_at_computer"], cursor.trial_index)
        for session, cursor in site.store.sessions(study)
    ]
    assert sorted(people) == [(1, 2), (2, 1), (3, 2)]


def test_elsewhere_a_plain_link_is_one_person_and_offers_no_other(two, site):
    study = "faces"
    site.create("faces", images=2, feedback_ms=50, evaluators=9, panel=records.LINK)
    player = two()
    player.begin(study)
    answer(player, 2)

    player.visit(study)
    player.wait("done")

    assert "Someone else" not in player.page.inner_text("main")
    assert len(list(site.store.sessions(study))) == 1
