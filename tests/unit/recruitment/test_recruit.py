"""Recruiting is planned first, begun once however often it is asked for, and never over its budget."""

from contextlib import suppress
from datetime import UTC, datetime
from fractions import Fraction

import pytest

from backend.administration import delete
from backend.foundation.errors import Conflict, InvalidInput, NotFound
from backend.panels.api import NotThere, PanelRefused, PanelUnsure
from backend.payment.accounts import funds, set_budget
from backend.recruitment import recruit, study_recruitment
from backend.recruitment.recruit import begin, change, grow, plan
from backend.recruitment.study_recruitment import Wish
from tests.prolific import Books, Clock, Fake
from tests.unit.panel_reconciliation import reconcile

from .. import sample_studies as studies

URL = "https://study.example"


@pytest.fixture
def books():
    return Books(clock=Clock(datetime(2026, 1, 1, tzinfo=UTC)), fee=Fraction(428, 1000))


@pytest.fixture
def panel(books):
    return Fake(books).panel()


@pytest.fixture
def study(world):
    return world.add(studies.study(images=8, evaluators=3, base_usd_cents=200, minutes=10))


def test_a_plan_counts_places_wage_and_the_most_that_it_can_cost(study):
    made = plan(study)

    # 6 places of $2.00 and 8 bonuses of 2 cents: 6 * (200 * 1.428 = 285.6 -> 286 + 16 * 1.428 -> 23)
    assert (made.places, made.largest_bonus_cents, made.total_cents) == (6, 16, 6 * (286 + 23))
    assert made.wage_cents_an_hour == 1200
    assert not any("warning" in line for line in made.lines())


@pytest.mark.parametrize(
    ("cents", "warning"),
    [(100, "under the panel's least wage of $8.00"), (150, "under the fair wage of $12.00")],
)
def test_a_plan_warns_of_a_low_wage(world, cents, warning):
    poor = world.add(studies.study(images=8, base_usd_cents=cents, minutes=10))

    assert warning in plan(poor).lines()[-1]


def test_the_largest_bonus_counts_replaced_flashes(world):
    study = world.add(
        studies.study(method="time", images=8, blocks=2, spare_images=4, base_usd_cents=200, minutes=10)
    )

    assert plan(study).largest_bonus_cents == 2 * (16 + 8)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"base_usd_cents": 0}, "make the study with --set base_usd_cents=200"),
        ({"base_usd_cents": 100}, r"pays \$6.00 an hour, under the panel's least wage"),
        ({"panel": "connect", "base_usd_cents": 200}, "made for the panel connect, not for prolific"),
    ],
)
def test_a_study_that_cannot_be_recruited_for_is_refused(world, panel, settings, message):
    study = world.add(studies.study(images=8, minutes=10, **settings))

    with pytest.raises(InvalidInput, match=message):
        begin(world.store, panel, study, plan(study), URL)


def test_a_qualification_needs_a_number_of_places(world):
    test = world.add(studies.study("test", kind="qualification", images=20))

    with pytest.raises(InvalidInput, match=r"say for how many people \(--places N\)"):
        plan(test)
    assert plan(test, 50).places == 50


def test_a_plan_over_the_budget_is_not_begun(world, panel, books, study):
    with pytest.raises(InvalidInput, match=r"cost \$18.54 at most, over the budget of \$18.53"):
        begin(world.store, panel, study, plan(study), URL, budget_cents=1853)

    assert books.studies == {}


def test_beginning_makes_and_publishes_one_study_with_codes_of_its_own(world, panel, books, study):
    for _ in range(3):
        state = begin(world.store, panel, study, plan(study), URL)

    (made,) = (books.study(id) for id in books.studies if books.seen_study(id))
    codes = {code["code_type"]: code["code"] for code in made["completion_codes"]}
    assert (made["id"], made["status"], made["total_available_places"]) == (state["panel_study"], "ACTIVE", 6)
    assert made["external_study_url"].startswith("https://study.example/s/faces?PROLIFIC_PID=")
    assert set(state["codes"]) == set(recruit.OUTCOMES)
    assert len(set(codes.values())) == 6
    assert set(codes.values()) == set(state["codes"].values())
    assert (made["estimated_completion_time"], made["maximum_allowed_time"]) == (10, 32)


class Dies:
    """A store and a panel that die before or after their `n`th writing call, counted together."""

    def __init__(self, n, after):
        self.left, self.after = n, after

    def around(self, target, names):
        outer = self

        class Around:
            name = getattr(target, "name", "")

            def __getattr__(self, name):
                method = getattr(target, name)
                return outer._call(method) if name in names else method

        return Around()

    def _call(self, method):
        def call(*args, **options):
            self.left -= 1
            if self.left == -1 and not self.after:
                raise PanelUnsure("died before")
            result = method(*args, **options)
            if self.left == -1:
                raise PanelUnsure("died after")
            return result

        return call


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("n", range(6))
def test_a_death_at_any_step_leaves_one_study_at_the_panel(world, panel, books, study, n, after):
    dies = Dies(n, after)
    store = dies.around(world.store, {"write_entry"})
    with pytest.raises(PanelUnsure, match=r"died (before|after)"):
        begin(store, dies.around(panel, {"create", "change"}), study, plan(study), URL)

    state = begin(world.store, panel, study, plan(study), URL)

    (made,) = (books.study(id) for id in books.studies if books.seen_study(id))
    assert (made["id"], made["status"], state["state"]) == (state["panel_study"], "ACTIVE", "published")
    assert {code["code"] for code in made["completion_codes"]} == set(state["codes"].values())


def test_places_grow_within_the_budget_and_never_shrink(world, panel, books, study):
    begin(world.store, panel, study, plan(study), URL, budget_cents=7 * 309)

    grow(world.store, panel, study, 7)

    with pytest.raises(InvalidInput, match=r"8 slots cost .* over the budget"):
        grow(world.store, panel, study, 8)
    with pytest.raises(InvalidInput, match="can only grow: there are 7, and 5 were asked for"):
        grow(world.store, panel, study, 5)
    (made,) = books.studies.values()
    assert made["total_available_places"] == 7


class Meanwhile:
    """A panel at which another process raises the places before a call of this one arrives."""

    name = "prolific"

    def __init__(self, panel, change):
        self._panel, self._change = panel, change

    def __getattr__(self, name):
        return getattr(self._panel, name)

    def set_places(self, study, places):
        change, self._change = self._change, lambda: None
        change()
        self._panel.set_places(study, places)


def test_places_that_two_raise_at_once_are_recorded_as_the_panel_has_them(world, panel, books, study):
    begin(world.store, panel, study, plan(study), URL, budget_cents=20 * 309)
    both = Meanwhile(panel, lambda: grow(world.store, panel, study, 12))

    with pytest.raises(PanelRefused, match="can only be increased"):
        grow(world.store, both, study, 8)

    (made,) = books.studies.values()
    assert (recruit.begun(world.store, study)["places"], made["total_available_places"]) == (12, 12)


def test_a_raise_that_another_overtook_does_not_lower_what_is_recorded(world, panel, books, study):
    begin(world.store, panel, study, plan(study), URL, budget_cents=20 * 309)

    class Overtaken:
        """A store in which another process raises the places before the first write."""

        is_first = True

        def __getattr__(self, name):
            return getattr(world.store, name)

        def write_entry(self, *args):
            if self.is_first:
                self.is_first = False
                grow(world.store, panel, study, 12)
            return world.store.write_entry(*args)

    with pytest.raises(InvalidInput, match="can only grow: there are 12, and 8 were asked for"):
        grow(Overtaken(), panel, study, 8)

    assert recruit.begun(world.store, study)["places"] == 12


def test_places_that_a_restored_store_does_not_know_are_recorded_when_more_are_added(
    world, panel, books, study
):
    state = begin(world.store, panel, study, plan(study), URL, budget_cents=100_000)
    id, before = state["panel_study"], state["places"]
    panel.set_places(id, before + 3)

    grown = grow(world.store, panel, study, before + 1)

    assert (grown["places"], grown["is_growing"]) == (before + 3, False)
    assert books.studies[id]["total_available_places"] == before + 3
    assert grow(world.store, panel, study, before + 4)["places"] == before + 4
    assert books.studies[id]["total_available_places"] == before + 4


def test_a_recruitment_that_was_stopped_does_not_grow(world, panel, books, study):
    begin(world.store, panel, study, plan(study), URL, budget_cents=20 * 309)
    change(world.store, panel, study, "stop")

    with pytest.raises(Conflict, match="was stopped permanently"):
        grow(world.store, panel, study, 8)

    (made,) = books.studies.values()
    assert (made["status"], made["total_available_places"]) == ("AWAITING REVIEW", 6)


def test_a_draft_that_costs_more_than_is_wanted_now_is_not_published(world, panel, books, study):
    recruit.prepare(world.store, panel, study, plan(study, 6), URL)

    with pytest.raises(Conflict, match=r"decided with 6 slots for at most \$18.54, not 2 for \$6.18"):
        begin(world.store, panel, study, plan(study, 2), URL)

    (made,) = books.studies.values()
    assert made["status"] == "UNPUBLISHED"


def test_the_fee_of_payments_is_that_of_the_decision_which_holds(world, panel, study):
    first = plan(study, fee_percent="42.8")

    class Overtaken(type(panel)):
        """A panel whose balance is read while another process decides."""

        def __init__(self):
            self.__dict__ = panel.__dict__

        def balance(self, workspace):
            recruit.prepare(world.store, panel, study, first, URL)
            return panel.balance(workspace)

    recruit.prepare(world.store, Overtaken(), study, plan(study, fee_percent="10"), URL)

    assert funds(world.store, study.name)[1].fee_percent == "42.8"


def test_what_was_published_before_its_process_died_counts_as_published(world, panel, books, study):
    state = recruit.prepare(world.store, panel, study, plan(study), URL)
    panel.change(state["panel_study"], "publish")

    with pytest.raises(InvalidInput, match="can only grow: there are 6, and 2 were asked for"):
        study_recruitment.publish(world.store, panel, study, Wish(places=2))

    state = recruit.begun(world.store, study)
    assert (state["state"], state["places"]) == ("published", 6)


def test_a_recruitment_is_paused_resumed_and_stopped_for_good(world, panel, books, study):
    begin(world.store, panel, study, plan(study), URL)

    seen = []
    for action in ("pause", "pause", "start", "stop", "stop"):
        state = change(world.store, panel, study, action)
        (made,) = books.studies.values()
        seen.append((state["state"], made["status"]))

    assert seen == [
        ("paused", "PAUSED"), ("paused", "PAUSED"), ("published", "ACTIVE"),
        ("stopped", "AWAITING REVIEW"), ("stopped", "AWAITING REVIEW"),
    ]  # fmt: skip
    with pytest.raises(Conflict, match="was stopped permanently"):
        change(world.store, panel, study, "start")


def test_before_anything_was_begun_there_is_nothing_to_change(world, panel, study):
    with pytest.raises(NotFound, match="nobody was recruited for faces yet"):
        change(world.store, panel, study, "pause")


def test_the_status_counts_places_and_sessions(world, panel, books, study):
    state = begin(world.store, panel, study, plan(study), URL)
    books.take(state["panel_study"])

    found = recruit.status(world.store, panel, study)

    assert found["submissions"] == {"reserved": 1}
    assert (found["state"], found["places"], found["cost_usd_cents"]) == ("published", 6, 0)


B = "https://b.example"
LATER = {
    "url": (Wish(url=B), "external_study_url", f"{B}/s/faces?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}"),
    "code": (Wish(completion="code"), None, False),
    "signed": (Wish(is_signed=True), "is_external_study_url_secure", True),
    "places": (Wish(places=7, budget_usd_cents=9999), "total_available_places", 7),
    "slots": (
        Wish(screen_out_usd_cents=50, slots=9, budget_usd_cents=9999),
        "completion_codes",
        {"action": "FIXED_SCREEN_OUT_PAYMENT", "fixed_screen_out_reward": 50, "slots": 9},
    ),
}
"""What is asked for later than at first; the field of the panel's study that shows it, and how."""
DRAFT = Wish(url="http://127.0.0.1:8000")


@pytest.fixture
def able(books):
    """A workspace with all that only chosen ones have, and a test participant."""
    books.workspace.features = frozenset({"secure_urls", "screen_out", "test_participants"})
    books.add_test_participant("tester@example.org")
    return books


def published(books):
    return next(study for study in books.studies.values() if not study["is_test"])


@pytest.mark.parametrize("name", LATER)
@pytest.mark.parametrize("way", ["publish", "rehearse"])
def test_what_is_asked_for_before_publication_is_what_the_panel_gets(world, panel, able, study, name, way):
    wish, field, expected = LATER[name]
    study_recruitment.rehearse(world.store, panel, study, DRAFT)

    (study_recruitment.publish if way == "publish" else study_recruitment.rehearse)(
        world.store, panel, study, wish
    )

    state, sent = recruit.begun(world.store, study), published(able)
    assert str(expected) in (str(sent[field]) if field else str(state["by_server"]))
    assert sent["status"] in (("PUBLISHING", "ACTIVE") if way == "publish" else ("UNPUBLISHED",))
    assert state["url"] == (f"{B}/s/faces" if name == "url" else "http://127.0.0.1:8000/s/faces")


@pytest.mark.parametrize("name", ["url", "code", "signed", "slots"])
def test_what_can_no_longer_change_is_refused_rather_than_ignored(world, panel, able, study, name):
    study_recruitment.publish(world.store, panel, study, DRAFT)
    before = (dict(published(able)), recruit.begun(world.store, study))

    for ask in (study_recruitment.publish, study_recruitment.rehearse):
        with pytest.raises(Conflict, match="can no longer change"):
            ask(world.store, panel, study, LATER[name][0])
    with pytest.raises(Conflict, match="can no longer change"):
        study_recruitment.offer(world.store, study, panel, LATER[name][0])

    assert (dict(published(able)) | {"status": 0}, recruit.begun(world.store, study)) == (
        before[0] | {"status": 0},
        before[1],
    )


def test_the_same_terms_may_be_given_again_after_publication(world, panel, able, study):
    wish = Wish(url=URL, completion="code", is_signed=True)
    study_recruitment.publish(world.store, panel, study, wish)

    state = study_recruitment.publish(
        world.store, panel, study, Wish(**{**vars(wish), "places": 7, "budget_usd_cents": 9999})
    )

    assert (state["places"], state["by_server"], state["is_signed"]) == (7, False, True)


def test_another_wallet_than_was_decided_is_refused(world, panel, able, study):
    study_recruitment.rehearse(world.store, panel, study, DRAFT)

    with pytest.raises(Conflict, match=r"decided with the workspace First .*, not W9; give the draft up"):
        study_recruitment.publish(world.store, panel, study, Wish(workspace="W9"))
    study_recruitment.publish(world.store, panel, study, Wish(workspace="First", project="First project"))


def test_another_fee_after_publication_is_that_of_plan_and_payments(world, panel, study):
    study_recruitment.publish(world.store, panel, study, Wish(url=URL))

    state = study_recruitment.publish(world.store, panel, study, Wish(fee_percent="33.3"))

    assert (state["fee_percent"], funds(world.store, study.name)[1].fee_percent) == ("33.3", "33.3")


def test_two_who_publish_at_once_record_the_address_that_the_panel_has(world, panel, able, study):
    study_recruitment.rehearse(world.store, panel, study, DRAFT)

    class Overtaken(type(panel)):
        """A panel that another process changes and publishes just before it is asked to publish."""

        def __init__(self):
            self.__dict__ = panel.__dict__

        def change(self, study_id, action):
            study_recruitment.publish(world.store, panel, study, Wish(url=B))
            panel.change(study_id, action)

    study_recruitment.publish(world.store, Overtaken(), study, Wish(url=URL))

    assert published(able)["external_study_url"].startswith(recruit.begun(world.store, study)["url"] + "?")


def test_a_plan_says_where_people_are_sent(world, panel, study):
    _, data = study_recruitment.offer(world.store, study, panel, DRAFT)

    assert data["url"] == "http://127.0.0.1:8000/s/faces"
    assert "address of the task page: http://127.0.0.1:8000/s/faces" in data["lines"]
    assert "warning: only this computer reaches http://127.0.0.1:8000/s/faces" in data["lines"]


def test_a_draft_that_is_given_up_leaves_nothing_and_another_can_be_decided(world, panel, able, study):
    study_recruitment.rehearse(world.store, panel, study, DRAFT)

    state = study_recruitment.change(world.store, panel, study, "stop")

    assert (state["state"], recruit.begun(world.store, study)) == ("given_up", None)
    assert [(one["is_test"], one["status"]) for one in able.studies.values()] == [(True, "AWAITING REVIEW")]
    delete.check(world.store, study, datetime(2026, 1, 2, tzinfo=UTC))
    assert study_recruitment.publish(world.store, panel, study, Wish(url=B))["url"] == f"{B}/s/faces"


def test_a_draft_that_another_published_is_stopped_rather_than_given_up(world, panel, books, study):
    state = recruit.prepare(world.store, panel, study, plan(study), URL)
    panel.change(state["panel_study"], "publish")

    assert change(world.store, panel, study, "stop")["state"] == "stopped"
    assert published(books)["status"] == "AWAITING REVIEW"


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("n", range(3))
def test_a_death_while_giving_up_a_draft_is_resumed(world, panel, able, study, n, after):
    study_recruitment.rehearse(world.store, panel, study, DRAFT)
    dies = Dies(n, after)
    store = dies.around(world.store, {"erase_entry"})
    with pytest.raises(PanelUnsure, match=r"died (before|after)"):
        change(store, dies.around(panel, {"discard", "change"}), study, "stop")

    if recruit.begun(world.store, study):
        change(world.store, panel, study, "stop")

    assert recruit.begun(world.store, study) is None
    assert all(one["is_test"] for one in able.studies.values())


def test_the_budget_of_payments_holds_places_back_too(world, panel, able, study):
    set_budget(world.store, "faces", 2 * 309)
    with pytest.raises(InvalidInput, match=r"6 slots cost \$18.54 at most, over the budget of \$6.18"):
        study_recruitment.publish(world.store, panel, study, Wish(url=URL, budget_usd_cents=9999))
    study_recruitment.publish(world.store, panel, study, Wish(places=2))
    assert published(able)["total_available_places"] == 2

    with pytest.raises(InvalidInput, match="over the budget of"):
        grow(world.store, panel, study, 3)
    set_budget(world.store, "faces", 3 * 309)

    assert grow(world.store, panel, study, 3)["places"] == 3


def as_published(books):
    """Return url and places of the one study that is published at the panel."""
    (made,) = (study for study in books.studies.values() if study["status"] != "UNPUBLISHED")
    return made["external_study_url"].split("/s/")[0], made["total_available_places"]


@pytest.mark.parametrize("call", ["state", "revise", "change", "cost"])
@pytest.mark.parametrize("side", ["before", "after"])
def test_of_two_who_publish_other_terms_at_once_those_at_the_panel_are_recorded(
    world, panel, books, study, call, side
):
    recruit.prepare(world.store, panel, study, plan(study), URL, budget_cents=9000)
    other = Wish(url="https://other.example", places=5)

    class Between:
        """A panel at which another process publishes before or after the first call of a kind."""

        name, is_first = "prolific", True

        def __getattr__(self, name):
            if name != call or not self.is_first:
                return getattr(panel, name)
            self.is_first = False

            def called(*given, **options):
                if side == "before":
                    study_recruitment.publish(world.store, panel, study, other)
                done = getattr(panel, name)(*given, **options)
                if side == "after":
                    study_recruitment.publish(world.store, panel, study, other)
                return done

            return called

    with suppress(Conflict, PanelRefused, InvalidInput):
        study_recruitment.publish(world.store, Between(), study, Wish(url="https://mine.example", places=7))

    state = recruit.begun(world.store, study)
    assert (state["url"].split("/s/")[0], state["places"]) == as_published(books)
    assert state["state"] == "published"


def test_a_draft_that_was_deleted_at_the_panel_is_given_up(world, panel, books, study):
    state = recruit.prepare(world.store, panel, study, plan(study), URL)
    books.drop_study(state["panel_study"])

    with pytest.raises(NotThere, match=r"give it up \(`openhype recruit faces --stop`\), and decide anew"):
        study_recruitment.publish(world.store, panel, study, Wish())
    assert change(world.store, panel, study, "stop")["state"] == "given_up"

    study_recruitment.publish(world.store, panel, study, Wish(url=URL))
    assert as_published(books) == (URL, 6)


def test_a_recruitment_that_the_panel_does_not_know_any_more_can_be_stopped_and_deleted(
    world, panel, books, study
):
    state = begin(world.store, panel, study, plan(study), URL)
    known = books.studies.pop(state["panel_study"])

    with pytest.raises(NotThere):
        change(world.store, panel, study, "pause")
    change(world.store, panel, study, "stop")

    delete.check(world.store, world.store.study("faces"), datetime(2026, 1, 1, tzinfo=UTC))
    books.studies[known["id"]] = known  # the token was another account's
    books.seen_study(known["id"])
    reconcile(world.store, panel, study, "2026-01-01T00:00:00.000Z")
    assert "was stopped here and takes people in at Prolific" in recruit.at_odds(world.store, study)
