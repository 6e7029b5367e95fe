"""One contract for every panel with an API: what it does, and what it says when it cannot."""

import dataclasses
from datetime import UTC, datetime, timedelta

import pytest

from backend.panels import Bonus, PanelRefused, Recruitment
from backend.panels.prolific import ProlificPanel
from tests import prolific
from tests.prolific import Books, Clock
from tests.prolific.local import LocalPanel

ORDER = Recruitment(
    name="openhype faces",
    title="Real or not?",
    description="Look at pictures.",
    url="http://127.0.0.1:8000/s/faces",
    places=3,
    minutes=5,
    reward_usd_cents=100,
    codes={"done": "DONE7", "done_by_server": "SERVER7", "no_consent": "NO7", "screened_out": "OUT7"},
)


@pytest.fixture
def books():
    return Books(clock=Clock(datetime(2026, 1, 1, tzinfo=UTC)), pay_delay=timedelta(minutes=10))


@pytest.fixture(params=["prolific", "local"])
def panel(request, books):
    if request.param == "local":
        yield LocalPanel(books)
        return
    with prolific.running(books) as fake:
        yield ProlificPanel(fake.token, f"{fake.url}/api/v1/", sleep=lambda _: None)


@pytest.fixture
def study(panel):
    study = panel.create(ORDER)
    panel.change(study, "publish")
    return study


@pytest.fixture
def place(books, study):
    place = books.take(study)
    books.start(place.id)
    return place


def test_a_study_is_made_once_though_asked_for_twice(panel, books):
    first = panel.create(ORDER)
    again = panel.create(ORDER)
    other = panel.create(dataclasses.replace(ORDER, name="openhype cars"))

    assert first == again
    assert set(books.studies) == {first, other}
    assert books.studies[first]["status"] == "UNPUBLISHED"
    assert (books.studies[first]["reward"], books.studies[first]["total_available_places"]) == (100, 3)


@pytest.mark.parametrize(
    ("actions", "state"),
    [
        (["publish"], "ACTIVE"),
        (["publish", "pause"], "PAUSED"),
        (["publish", "pause", "start"], "ACTIVE"),
        (["publish", "stop"], "AWAITING REVIEW"),
    ],
)
def test_a_change_that_is_done_already_is_no_error(panel, books, actions, state):
    study = panel.create(ORDER)

    for action in actions:
        panel.change(study, action)
        panel.change(study, action)

    assert books.studies[study]["status"] == state


def test_a_change_that_is_not_possible_is_refused(panel):
    study = panel.create(ORDER)

    with pytest.raises(PanelRefused):
        panel.change(study, "pause")


def test_places_grow_and_never_shrink(panel, books, study):
    panel.set_places(study, 5)
    panel.set_places(study, 5)

    with pytest.raises(PanelRefused):
        panel.set_places(study, 4)
    assert books.studies[study]["total_available_places"] == 5


def test_all_places_ever_taken_are_listed(panel, books, study):
    panel.set_places(study, 250)
    places = [books.take(study) for _ in range(250)]
    books.give_back(places[0].id)
    books.time_out(places[1].id)
    books.start(places[2].id)
    books.submit(places[2].id, "DONE7")

    listed = list(panel.submissions(study))

    assert [(s.id, s.participant) for s in listed] == [(p.id, p.participant) for p in places]
    assert [s.status for s in listed[:4]] == ["returned", "timed_out", "awaiting_review", "reserved"]


def test_a_submission_tells_its_bonuses_in_cents_once_they_are_paid(panel, books, study, place):
    payment = panel.propose_bonuses(study, [Bonus(place.id, 1), Bonus(place.id, 130)])
    assert panel.submission(place.id).bonuses_usd_cents == ()

    panel.pay_bonuses(payment)

    assert panel.submission(place.id).bonuses_usd_cents == ()
    books.clock.advance(minutes=10)
    assert panel.submission(place.id).bonuses_usd_cents == (1, 130)


def test_handing_in_twice_pays_nobody(panel, books, study, place):
    payments = {panel.propose_bonuses(study, [Bonus(place.id, 30)]) for _ in range(2)}

    books.clock.advance(days=1)
    assert len(payments) == 2
    assert books.paid() == {}


def test_bonuses_for_someone_who_did_not_take_part_are_refused_whole(panel, books, study, place):
    with pytest.raises(PanelRefused):
        panel.propose_bonuses(study, [Bonus(place.id, 30), Bonus("f" * 24, 30)])
    assert books.bulks == {}


def test_approving_pays_the_reward_once(panel, books, study, place):
    books.submit(place.id, "DONE7")

    panel.approve(place.id)
    panel.approve(place.id)

    assert panel.submission(place.id).status == "approved"
    assert books.paid() == {(place.id, "reward"): 100}
    assert panel.cost_usd_cents(study) == 134  # a third on top, rounded up


def test_nobody_who_returned_can_be_approved(panel, books, place):
    books.give_back(place.id)

    with pytest.raises(PanelRefused):
        panel.approve(place.id)


def test_the_server_says_that_a_person_is_done_as_often_as_it_likes(panel, place):
    panel.complete(place.id, "SERVER7")
    panel.complete(place.id, "SERVER7")

    assert panel.submission(place.id).status == "awaiting_review"


def test_a_code_that_is_the_participants_own_does_not_complete_from_the_server(panel, place):
    with pytest.raises(PanelRefused):
        panel.complete(place.id, "DONE7")


@pytest.mark.parametrize(
    "call",
    [
        lambda panel: panel.submission("0" * 24),
        lambda panel: list(panel.submissions("0" * 24)),
        lambda panel: panel.pay_bonuses("0" * 24),
        lambda panel: panel.approve("0" * 24),
        lambda panel: panel.cost_usd_cents("0" * 24),
    ],
)
def test_what_is_not_there_is_refused(panel, call):
    with pytest.raises(PanelRefused):
        call(panel)
