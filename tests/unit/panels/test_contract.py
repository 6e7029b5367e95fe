"""One contract for every panel with an API: what it does, and what it says when it cannot."""

import dataclasses
import math
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest

from backend.panels.api import Balance, Bonus, Cost, NotThere, PanelRefused, Recruitment, ScreenOut, Wages
from backend.panels.prolific import ProlificPanel
from tests import prolific
from tests.prolific import Books, Clock, Fake

ORDER = Recruitment(
    name="openhype faces",
    title="Real or not?",
    description="Look at pictures.",
    url="http://127.0.0.1:8000/s/faces",
    places=3,
    minutes=5,
    reward_cents=100,
    codes={"done": "DONE7", "done_by_server": "SERVER7", "no_consent": "NO7", "screened_out": "OUT7"},
)
SCREEN_OUT = ScreenOut(reward_cents=20, slots=2)


@pytest.fixture
def books():
    features = frozenset({"screen_out", "secure_urls", "test_participants"})
    clock = Clock(datetime(2026, 1, 1, tzinfo=UTC))
    return Books(clock=clock, pay_delay=timedelta(minutes=10), features=features)


@pytest.fixture(params=["over a socket", "in the process"])
def panel(request, books):
    if request.param == "in the process":
        yield Fake(books).panel()
        return
    with prolific.running(books) as fake:
        yield ProlificPanel(fake.token, f"{fake.url}/api/v1/", sleep=lambda _: None)


@pytest.fixture
def study(panel):
    return published(panel, ORDER)


def published(panel, order):
    study = panel.create(order)
    panel.change(study, "publish")
    assert panel.state(study) in ("publishing", "active")
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


def test_a_study_is_told_by_its_internal_name_among_others_of_the_same_title(panel, books):
    made = [panel.create(dataclasses.replace(ORDER, name=f"openhype {number}")) for number in range(30)]

    assert len(set(made)) == 30
    assert panel.create(dataclasses.replace(ORDER, name="openhype 3")) == made[3]


@pytest.mark.parametrize(
    ("actions", "state"),
    [
        (["publish"], "active"),
        (["publish", "pause"], "paused"),
        (["publish", "pause", "start"], "active"),
        (["publish", "stop"], "closed"),
    ],
)
def test_a_change_that_is_done_already_is_no_error(panel, books, actions, state):
    study = panel.create(ORDER)
    assert panel.state(study) == "draft"

    for action in actions:
        panel.change(study, action)
        panel.change(study, action)

    assert panel.state(study) == state


def test_a_study_that_a_person_scheduled_is_left_to_its_time(panel, books):
    study = panel.create(ORDER)
    books.transition_study(study, "SCHEDULE_PUBLISH")

    panel.change(study, "publish")

    assert panel.state(study) == "scheduled"


def test_a_study_that_was_stopped_cannot_be_started(panel, study):
    panel.change(study, "stop")

    with pytest.raises(PanelRefused, match="cannot START"):
        panel.change(study, "start")


def test_a_change_that_is_not_possible_is_refused(panel):
    study = panel.create(ORDER)

    with pytest.raises(PanelRefused, match="cannot PAUSE"):
        panel.change(study, "pause")


def test_places_grow_and_never_shrink(panel, books, study):
    panel.set_places(study, 5)
    panel.set_places(study, 5)

    with pytest.raises(PanelRefused, match="only be increased"):
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


@pytest.mark.parametrize("seed", range(5))
def test_no_place_is_lost_however_rows_move_between_the_pages(panel, books, study, seed):
    panel.set_places(study, 450)
    places = {books.take(study).id for _ in range(450)}

    assert {one.id for one in panel.submissions(study)} == places


def test_a_submission_is_unknown_for_a_moment_after_it_began(panel, books, study):
    place = books.take(study)

    with pytest.raises(NotThere, match="no resource with that id"):
        panel.submission(place.id)
    found = panel.submission(place.id)
    assert (found.participant, found.status, found.studies) == (place.participant, "reserved", (study,))


def test_a_submission_tells_its_bonuses_in_cents_once_they_are_paid(panel, books, study, place):
    payment = panel.propose_bonuses(study, [Bonus(place.id, 1), Bonus(place.id, 130)])
    panel.pay_bonuses(payment)

    known(panel, place)
    assert panel.submission(place.id).bonuses_cents == ()
    books.clock.advance(minutes=10)
    assert panel.submission(place.id).bonuses_cents == (1, 130)


def test_handing_in_twice_pays_nobody(panel, books, study, place):
    payments = {panel.propose_bonuses(study, [Bonus(place.id, 30)]) for _ in range(2)}

    books.clock.advance(days=1)
    assert len(payments) == 2
    assert books.paid() == {}


def test_bonuses_for_someone_who_did_not_take_part_are_refused_whole(panel, books, study, place):
    with pytest.raises(PanelRefused, match="did not take part"):
        panel.propose_bonuses(study, [Bonus(place.id, 30), Bonus("f" * 24, 30)])
    assert books.bulks == {}


def known(panel, place):
    """Ask for a place until the panel knows it."""
    try:
        return panel.submission(place.id)
    except NotThere:
        return panel.submission(place.id)


def test_approving_pays_the_reward_once(panel, books, study, place):
    books.submit(place.id, "DONE7")

    panel.approve([place.id])
    panel.approve([place.id])

    assert known(panel, place).status == "approved"
    assert books.paid() == {(place.id, "reward"): 100}
    assert panel.cost(study) == Cost("USD", 100, 0, 34, 0)  # a third on top, rounded up


@pytest.mark.slow("hundreds of places are approved")
def test_many_are_approved_in_few_calls_and_later(panel, books, study):
    books.approve_delay = timedelta(minutes=5)
    panel.set_places(study, 1100)
    places = [books.take(study) for _ in range(1100)]
    for place in places:
        books.start(place.id)
        books.submit(place.id, "DONE7")

    panel.approve([place.id for place in places])

    assert {place.status for place in places} == {"AWAITING REVIEW"}
    books.clock.advance(minutes=5)
    assert {one.status for one in panel.submissions(study)} == {"approved"}


@pytest.mark.parametrize("is_first", [True, False])
def test_one_that_is_not_there_does_not_keep_the_others_from_their_reward(
    panel, books, study, place, is_first
):
    books.submit(place.id, "DONE7")
    given = ["0" * 24, place.id] if is_first else [place.id, "0" * 24]

    with pytest.raises(NotThere, match="no submission with that id"):
        panel.approve(given)

    assert books.paid() == {(place.id, "reward"): 100}


def test_approving_one_by_one_contends_for_the_wallet_and_ends_well(panel, books, study):
    panel.set_places(study, 10)
    places = [books.take(study) for _ in range(10)]
    for place in places:
        books.start(place.id)
        books.submit(place.id, "DONE7")

    with pytest.raises(NotThere, match="no submission with that id"):
        panel.approve([*(place.id for place in places), "0" * 24])

    assert {place.status for place in places} == {"APPROVED"}


def test_nobody_who_returned_is_approved(panel, books, place):
    books.give_back(place.id)

    panel.approve([place.id])

    assert books.paid() == {}
    assert known(panel, place).status == "returned"


def test_a_person_can_be_asked_to_return(panel, books, place):
    books.submit(place.id, "NOCODE")

    panel.ask_to_return(place.id, "There is no answer of yours")
    panel.ask_to_return(place.id, "There is no answer of yours")

    found = panel.submission(place.id)
    assert (found.status, found.is_asked_to_return, found.code) == ("awaiting_review", True, "NOCODE")


@pytest.mark.parametrize(("currency", "wages"), [("USD", Wages(800, 1200)), ("GBP", Wages(600, 900))])
def test_the_wallets_tell_their_currency_and_what_the_panel_asks_for(panel, books, currency, wages):
    lab = books.add_workspace("Lab", currency, projects=("Faces", "Rooms"))
    lab.balance = 5000

    found = {one.title: one for one in panel.workspaces()}

    assert [title for _, title in found["Lab"].projects] == ["Faces", "Rooms"]
    assert panel.balance(lab.id) == Balance(currency, 5000)
    assert panel.wages(lab.id, currency) == wages


def test_a_study_is_paid_by_the_project_that_it_names(panel, books):
    lab = books.add_workspace("Lab", "GBP", projects=("Faces", "Rooms"))
    lab.balance, lab.vat = 10_000, Fraction(1, 5)

    study = published(panel, dataclasses.replace(ORDER, project=lab.projects[1].id))

    assert books.studies[study]["project"] == lab.projects[1].id
    assert panel.balance(lab.id) == Balance("GBP", 10_000 - 3 * 140)  # 100 pence, a third, VAT on that
    assert panel.cost(study, is_projected=True) == Cost("GBP", 300, 0, 100, 20)


@pytest.mark.parametrize("minutes", [0.5, 1, 2, 3, 3.2, 4, 11.5, 60])
def test_the_time_that_a_place_may_take_is_one_that_the_panel_accepts(panel, books, minutes):
    study = panel.create(dataclasses.replace(ORDER, minutes=minutes, reward_cents=1000))

    estimate, most = (books.studies[study][n] for n in ("estimated_completion_time", "maximum_allowed_time"))
    assert estimate == max(1, math.ceil(minutes))
    assert most == max(3 * estimate + 2, math.ceil(2 + 2 * estimate + 2 * estimate**0.5))


def test_who_is_screened_out_is_paid_by_the_panel_until_the_slots_are_used(panel, books):
    study = published(panel, dataclasses.replace(ORDER, places=5, screen_out=SCREEN_OUT))
    places = [books.take(study) for _ in range(3)]
    for place in places:
        books.start(place.id)

    for place in places[:2]:
        panel.complete(place.id, "OUT7")

    found = panel.submission(places[0].id)
    assert (found.status, found.bonuses_cents, panel.state(study)) == ("screened_out", (20,), "paused")
    with pytest.raises(PanelRefused, match="all screen-out slots are used"):
        panel.change(study, "start")
    panel.set_slots(study, "OUT7", dataclasses.replace(SCREEN_OUT, slots=3))
    panel.change(study, "start")
    assert panel.state(study) == "active"


def test_a_test_study_is_for_test_participants_and_costs_nothing(panel, books):
    draft = panel.create(ORDER)
    participant = panel.add_test_participant("tester@university.example")

    trial = panel.test(draft)

    place = books.take(trial.id, participant)
    books.start(place.id)
    panel.complete(place.id, "SERVER7")
    panel.approve([place.id])
    assert known(panel, place).status == "approved"
    assert (books.paid(), panel.state(draft)) == ({}, "draft")


def test_the_server_says_that_a_person_is_done_as_often_as_it_likes(panel, place):
    panel.complete(place.id, "SERVER7")
    panel.complete(place.id, "SERVER7")

    assert known(panel, place).status == "awaiting_review"


def test_a_code_that_is_the_participants_own_does_not_complete_from_the_server(panel, place):
    with pytest.raises(PanelRefused, match="whose actor is researcher"):
        panel.complete(place.id, "DONE7")


@pytest.mark.parametrize(
    "call",
    [
        lambda panel: panel.submission("0" * 24),
        lambda panel: list(panel.submissions("0" * 24)),
        lambda panel: panel.pay_bonuses("0" * 24),
        lambda panel: panel.approve(["0" * 24]),
        lambda panel: panel.cost("0" * 24),
        lambda panel: panel.balance("0" * 24),
        lambda panel: panel.ask_to_return("0" * 24, "because"),
    ],
)
def test_what_is_not_there_is_refused_as_such(panel, call):
    with pytest.raises(NotThere, match="with that id"):
        call(panel)
