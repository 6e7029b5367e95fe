"""Sessions and places agree with what the panel says now, whatever was heard, and in whatever order."""

from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction

import pytest

from backend.experiment.records import FAKE, Stimulus
from backend.panels.api import NotThere, PanelRefused, PanelUnreached, PanelUnsure, TokenRefused
from backend.payment import accounts
from backend.recruitment import approved_sessions, recruit
from backend.recruitment.recruit import begin, plan
from backend.responses.study_data import study_rows
from backend.studies.places_given_back import given_back, rejected
from backend.task.withdrawal import withdraw
from tests import prolific
from tests.prolific import Books, Clock, Fake
from tests.unit.panel_reconciliation import reconcile

from .. import sample_studies as studies

AT = "2026-01-01T00:00:00.000Z"


class Recruited:
    """A study that is recruited for at a fake panel, and people who come from there."""

    def __init__(self, world, books, **settings):
        self.world, self.books = world, books
        self.panel = Fake(books).panel()
        values = {"images": 8, "evaluators": 2, "base_usd_cents": 200, "minutes": 10, "panel": "prolific"}
        values |= settings
        self.study = world.add(studies.study(**values))
        made = begin(
            world.store, self.panel, self.study, plan(self.study), "https://s.example", budget_cents=3000
        )
        self.id = made["panel_study"]

    def arrive(self):
        """Take a place and open a session; return both."""
        place = self.books.take(self.id)
        self.books.start(place.id)
        link = {"PROLIFIC_PID": place.participant, "STUDY_ID": self.id, "SESSION_ID": place.id}
        return place, self.world.player(panel=link)

    def reconcile(self, at=AT):
        return reconcile(self.world.store, self.panel, self.study, at)

    def state_of(self, player):
        return self.world.store.cursor(player.state["session"]).state

    def taken(self):
        return self.world.store.taken("faces", "2020")


@pytest.fixture
def recruited(world):
    return Recruited(world, Books(clock=Clock(datetime(2026, 1, 1, tzinfo=UTC)), fee=Fraction(428, 1000)))


@pytest.mark.parametrize("leave", ["give_back", "time_out"])
def test_a_place_that_is_gone_is_given_back_to_its_model(recruited, leave):
    place, player = recruited.arrive()
    player.begin()
    player.answer()
    before = recruited.taken()
    getattr(recruited.books, leave)(place.id)

    done = recruited.reconcile()
    again = recruited.reconcile()

    assert (sum(before.values()), recruited.taken()) == (1, {})
    assert (done["given back"], again["given back"]) == (1, 0)
    assert recruited.state_of(player) == "returned"
    why = {"give_back": "returned", "time_out": "timed_out"}[leave]
    assert given_back(recruited.world.store, recruited.study) == {player.state["session"]: why}
    reply = player.post("answers", player.body())
    assert (reply.status_code, reply.json["error"]["code"]) == (409, "returned")


def test_who_finished_and_then_returned_is_neither_counted_nor_paid(recruited):
    place, player = recruited.arrive()
    player.begin()
    for _ in range(7):
        player.answer()
    last = player.body()
    player.answer()
    recruited.reconcile()
    recruited.books.give_back(place.id)

    recruited.reconcile()

    assert recruited.state_of(player) == "returned"
    assert list(study_rows(recruited.world.store, recruited.study)) == []
    assert list(study_rows(recruited.world.store, recruited.study, "unfinished")) == []
    for path, body in (("resume", {}), ("answers", last)):
        reply = player.post(path, body)
        assert reply.json["error"]["code"] == "returned"
        assert "completion_code" not in reply.get_data(as_text=True)


def test_who_was_excused_and_finished_is_owed_all_of_it_though_the_place_was_returned_before(recruited):
    """The account says what was owed when the session broke off, before the first answer: nothing."""
    place, player = recruited.arrive()
    accounts.broke_off(recruited.world.store, recruited.study, player.state["session"], "a server was down")
    recruited.books.give_back(place.id)
    player.play()

    recruited.reconcile()

    ((_, account),) = accounts.accounts(recruited.world.store, "faces").values()
    assert (account.fault, account.base_usd_cents, account.reward) == ("a server was down", 200, "owed")


def test_who_is_done_is_reported_by_the_server_once(recruited):
    place, player = recruited.arrive()
    done = player.play()

    counts = [recruited.reconcile()["completed"] for _ in range(3)]

    assert counts == [1, 0, 0]
    assert recruited.books.place(place.id).status == "AWAITING REVIEW"
    assert done["redirect_url"] == "https://app.prolific.com/submissions"
    codes = recruit.recruitment(recruited.world.store, recruited.study)["codes"].values()
    assert done["completion_code"] not in codes


def test_who_finished_just_after_the_time_ran_out_keeps_the_work(recruited):
    place, player = recruited.arrive()
    recruited.books.time_out(place.id)
    player.play()

    recruited.reconcile()

    assert recruited.state_of(player) == "finished"
    assert recruited.books.place(place.id).status == "AWAITING REVIEW"


def test_who_names_another_persons_place_has_none(recruited):
    place = recruited.books.take(recruited.id)
    link = {"PROLIFIC_PID": "somebody-else", "STUDY_ID": recruited.id, "SESSION_ID": place.id}
    player = recruited.world.player(panel=link)
    player.play()

    recruited.reconcile()

    assert recruited.state_of(player) == "returned"
    assert recruited.books.place(place.id).status == "RESERVED"


def test_who_names_a_place_of_another_study_has_none(recruited):
    order = recruited.books.studies[recruited.id]
    names = ("name", "description", "external_study_url", "prolific_id_option", "completion_codes", "reward",
             "total_available_places", "estimated_completion_time")  # fmt: skip
    other = recruited.books.create_study({name: order[name] for name in names})["id"]
    recruited.books.transition_study(other, "PUBLISH")
    place = recruited.books.take(other)
    link = {"PROLIFIC_PID": place.participant, "STUDY_ID": recruited.id, "SESSION_ID": place.id}
    player = recruited.world.player(panel=link)
    player.play()

    recruited.reconcile()
    recruited.reconcile()

    assert recruited.state_of(player) == "returned"


def test_a_place_that_the_panel_does_not_know_is_gone_if_a_later_reading_says_so_too(recruited):
    link = {"PROLIFIC_PID": "somebody", "STUDY_ID": recruited.id, "SESSION_ID": "f" * 24}
    player = recruited.world.player(panel=link)
    player.play()

    states = []
    for at in ("00:00:00", "00:00:59", "00:01:00"):
        recruited.reconcile(f"2026-01-01T{at}.000Z")
        states.append(recruited.state_of(player))

    assert states == ["finished", "finished", "returned"]


def test_a_reading_under_a_clock_ahead_hides_no_place_that_is_gone(recruited):
    link = {"PROLIFIC_PID": "somebody", "STUDY_ID": recruited.id, "SESSION_ID": "f" * 24}
    player = recruited.world.player(panel=link)
    player.play()
    recruited.reconcile("2026-08-01T00:00:00.000Z")

    states = []
    for at in ("00:00:00", "00:00:59", "00:01:00"):
        recruited.reconcile(f"2026-01-01T{at}.000Z")
        states.append(recruited.state_of(player))

    assert states == ["finished", "finished", "returned"]


def test_a_place_that_is_known_again_is_not_gone_the_next_time_it_is_not(recruited):
    place, player = recruited.arrive()
    hidden = recruited.books.places.pop(place.id)
    recruited.reconcile("2026-01-01T00:00:00.000Z")
    recruited.books.places[place.id] = hidden
    recruited.reconcile("2026-01-01T00:01:00.000Z")
    del recruited.books.places[place.id]

    recruited.reconcile("2026-01-01T00:10:00.000Z")

    assert recruited.state_of(player) == "active"


REFUSALS = [
    TokenRefused("401"), TokenRefused("403"), PanelRefused("400"), NotThere("404"), PanelUnsure("500"),
    PanelUnreached("429"),
]  # fmt: skip


@pytest.mark.parametrize("error", REFUSALS, ids=str)
@pytest.mark.parametrize("call", ["submissions", "submission", "complete", "state"])
@pytest.mark.parametrize(
    "is_finished", [True, pytest.param(False, marks=pytest.mark.slow("the same before the end"))]
)
def test_an_error_closes_no_session_and_the_next_reading_makes_it_good(recruited, call, error, is_finished):
    """Finished work was discarded, and nobody was told, when the token was deleted or a call refused."""
    place, player = recruited.arrive()
    if is_finished:
        player.play()
    broken = Broken(recruited.panel, call, error, hides=call == "submission")

    for minute in range(3):
        with suppress(PanelRefused, PanelUnsure, PanelUnreached):
            at = f"2026-01-01T00:00:{10 * minute:02d}.000Z"
            reconcile(recruited.world.store, broken, recruited.study, at)

    assert recruited.state_of(player) == ("finished" if is_finished else "active")
    recruited.reconcile("2026-01-01T00:01:00.000Z")
    assert recruited.state_of(player) == ("finished" if is_finished else "active")
    assert place.status == ("AWAITING REVIEW" if is_finished else "ACTIVE")


class Broken:
    """A panel of which one call goes wrong; its list of places may be empty, so that each is read."""

    name = "prolific"

    def __init__(self, panel, call, error, hides=False):
        self._panel, self._call, self._error, self._hides = panel, call, error, hides

    def __getattr__(self, name):
        if name == self._call:
            return self._fails
        if name == "submissions" and self._hides:
            return lambda _: iter(())
        return getattr(self._panel, name)

    def _fails(self, *_, **__):
        raise self._error


def test_a_session_erased_while_its_place_is_given_back_does_not_hold_up_the_others(recruited, monkeypatch):
    (first, erased), (second, player) = recruited.arrive(), recruited.arrive()
    for place in (first, second):
        recruited.books.give_back(place.id)
    store = recruited.world.store
    move = store.move

    def erased_first(session_id, *rest):
        if session_id == erased.state["session"]:
            store.erase_session(session_id)
        return move(session_id, *rest)

    monkeypatch.setattr(store, "move", erased_first)

    assert recruited.reconcile() == {"not known": 1, "given back": 1}
    assert recruited.state_of(player) == "returned"


def test_one_place_that_cannot_be_read_does_not_hold_up_the_others(recruited):
    recruited.arrive()
    second, player = recruited.arrive()
    recruited.books.give_back(second.id)

    class Partly(Broken):
        def __getattr__(self, name):
            if name == "submissions":
                return lambda _: (
                    one for one in recruited.panel.submissions(recruited.id) if one.id == second.id
                )
            return super().__getattr__(name)

    broken = Partly(recruited.panel, "submission", PanelRefused("400"))
    done = reconcile(recruited.world.store, broken, recruited.study, AT)

    assert done == {"not read": 1, "given back": 1}
    assert recruited.state_of(player) == "returned"


def test_the_panel_is_told_of_who_was_done_and_then_withdrew(recruited):
    place, player = recruited.arrive()
    player.play()
    withdraw(recruited.world.store, recruited.study, player.state["session"], AT)

    counts = [recruited.reconcile()["completed"] for _ in range(2)]

    assert counts == [1, 0]
    assert recruited.books.place(place.id).status == "AWAITING REVIEW"


def test_who_came_by_a_plain_link_is_left_alone(recruited):
    player = recruited.world.player()
    player.play()

    recruited.reconcile()

    assert recruited.state_of(player) == "finished"


def places_at_the_panel(recruited):
    return recruited.books.study(recruited.id)["total_available_places"]


def test_no_place_is_added_while_the_panel_fills_it_again_itself(recruited):
    for _ in range(3):
        place, _ = recruited.arrive()
        recruited.books.give_back(place.id)
        recruited.reconcile()

    assert places_at_the_panel(recruited) == 4
    assert recruit.recruitment(recruited.world.store, recruited.study)["state"] == "published"


def test_once_no_session_is_lacking_nobody_is_taken_in(recruited):
    for _ in range(4):
        recruited.arrive()[1].play()

    recruited.reconcile()

    assert recruit.recruitment(recruited.world.store, recruited.study)["state"] == "full"
    assert recruited.books.study(recruited.id)["status"] in ("PAUSED", "AWAITING REVIEW")


@pytest.mark.parametrize("call", ["state", "change"])
def test_who_is_done_is_reported_also_where_the_panel_refuses_to_change_its_study(recruited, call):
    places = []
    for _ in range(4):
        place, player = recruited.arrive()
        player.play()
        places.append(place)

    broken = Broken(recruited.panel, call, PanelRefused("no slots"))
    with pytest.raises(PanelRefused, match="no slots"):
        reconcile(recruited.world.store, broken, recruited.study, AT)

    assert {place.status for place in places} == {"AWAITING REVIEW"}


def fill(recruited):
    """Have all places taken and closed, so that the panel closes the study; return them."""
    code = recruit.recruitment(recruited.world.store, recruited.study)["codes"]["done_by_server"]
    places = []
    for _ in range(4):
        place, player = recruited.arrive()
        player.play()
        recruited.books.submit(place.id, code, "researcher")
        places.append(place)
    assert recruited.books.study(recruited.id)["status"] == "AWAITING REVIEW"
    return places


def test_who_returns_after_all_were_done_makes_room_for_another(recruited):
    places = []
    for _ in range(4):
        place, player = recruited.arrive()
        player.play()
        recruited.reconcile()
        places.append(place)
    recruited.books.give_back(places[1].id)

    recruited.reconcile()

    recruited.arrive()[1].play()
    recruited.reconcile()
    assert (places_at_the_panel(recruited), recruited.taken()) == (4, {"gan": 2, "vae": 2})


def test_the_next_holder_of_a_place_that_was_rejected_is_let_in_and_finished_work_stays(recruited):
    places = fill(recruited)
    recruited.books.reject(places[1].id)

    recruited.reconcile()

    state = recruit.recruitment(recruited.world.store, recruited.study)["state"]
    recruited.arrive()[1].play()
    recruited.reconcile()
    assert state == "published"
    assert sorted(recruited.taken().values()) == [2, 3], "the rejected work stays, and is scored"
    assert recruited.world.open().json["error"]["code"] == "study_full"
    assert recruit.recruitment(recruited.world.store, recruited.study)["state"] == "full"


def test_a_rejection_that_is_taken_back_frees_no_place_any_more(recruited):
    (place, *_) = fill(recruited)
    store, study = recruited.world.store, recruited.study
    recruited.books.reject(place.id)
    recruited.reconcile()
    before = sum(rejected(store, study).values())

    place.status = "APPROVED"
    recruited.reconcile()

    assert (before, sum(rejected(store, study).values())) == (1, 0)
    assert recruited.world.open().json["error"]["code"] == "study_full"


def test_a_place_is_added_where_the_panel_has_closed_and_a_session_is_lacking(recruited):
    places = fill(recruited)
    recruited.books.give_back(places[1].id)

    for _ in range(3):
        recruited.reconcile()

    assert places_at_the_panel(recruited) == 5
    recruited.arrive()[1].play()
    recruited.reconcile()
    assert recruited.taken() == {"gan": 2, "vae": 2}
    assert recruit.recruitment(recruited.world.store, recruited.study)["state"] == "full"


class Busy:
    """A panel that is too busy to raise places, once."""

    is_busy = True

    def __init__(self, panel):
        self._panel = panel

    def __getattr__(self, name):
        return getattr(self._panel, name)

    def set_places(self, study, places):
        if self.is_busy:
            self.is_busy = False
            raise PanelUnreached("too busy")
        self._panel.set_places(study, places)


def test_a_place_that_the_panel_was_too_busy_to_add_is_added_later(recruited):
    places = fill(recruited)
    recruited.books.give_back(places[1].id)
    panel = recruited.panel
    recruited.panel = Busy(panel)
    with pytest.raises(PanelUnreached, match="too busy"):
        recruited.reconcile()

    recruited.reconcile()

    assert places_at_the_panel(recruited) == 5
    state = recruit.recruitment(recruited.world.store, recruited.study)
    assert (state["places"], state["at_panel"]["is_stopped"]) == (5, False)
    recruited.arrive()[1].play()
    recruited.reconcile()
    assert recruited.taken() == {"gan": 2, "vae": 2}


def test_a_study_that_was_published_just_before_its_process_died_is_kept_in_agreement(recruited):
    recruit.update(recruited.world.store, recruited.study, state="decided")
    fill(recruited)

    recruited.reconcile()

    assert recruit.recruitment(recruited.world.store, recruited.study)["state"] == "full"


def test_no_place_is_added_over_the_budget(recruited):
    recruit.update(recruited.world.store, recruited.study, budget_usd_cents=4 * 309)
    places = fill(recruited)
    recruited.books.give_back(places[1].id)

    recruited.reconcile()

    assert places_at_the_panel(recruited) == 4


def test_places_grow_for_a_model_that_joined_only_when_a_person_says_so(recruited):
    store, study = recruited.world.store, recruited.study
    places = fill(recruited)
    approved_sessions.keep(store, study)
    now = store.study("faces")
    joined = replace(now, models=(*now.models, "dit"), joined=(2,), version=now.version + 1)
    store.add_stimuli(joined, [Stimulus(f"{i:031x}a.png", FAKE, "dit") for i in range(40)])
    recruited.study = joined

    recruited.reconcile()

    assert places_at_the_panel(recruited) == 4
    assert approved_sessions.more_places(store, joined) == (4, 6)
    recruited.books.give_back(places[1].id)
    recruited.reconcile()
    recruited.reconcile()
    assert places_at_the_panel(recruited) == 5
    assert approved_sessions.more_places(store, joined) == (5, 7)
    recruit.grow(store, recruited.panel, joined, 7)
    assert approved_sessions.more_places(store, joined) is None
    recruited.reconcile()
    assert places_at_the_panel(recruited) == 7


def test_a_pause_of_the_researcher_is_left_alone(recruited):
    recruited.arrive()
    recruit.change(recruited.world.store, recruited.panel, recruited.study, "pause")

    recruited.reconcile()

    assert recruited.books.study(recruited.id)["status"] == "PAUSED"


def test_what_the_panel_did_not_hear_is_said_again(recruited):
    place, player = recruited.arrive()
    player.play()
    with prolific.running(recruited.books) as fake:
        from backend.panels.prolific import ProlificPanel

        panel = ProlificPanel(fake.token, f"{fake.url}/api/v1/", sleep=lambda _: None)
        fake.fail("POST", "/transition/", 503, times=4, headers=(("Retry-After", "1"),))
        with pytest.raises(PanelUnreached, match="too busy to complete"):
            reconcile(recruited.world.store, panel, recruited.study, AT)
        assert recruited.books.place(place.id).status == "ACTIVE"

        reconcile(recruited.world.store, panel, recruited.study, AT)

    assert recruited.books.place(place.id).status == "AWAITING REVIEW"
