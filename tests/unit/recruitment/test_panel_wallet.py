"""Which wallet pays is read before anything is published, and a study is never paid in another currency."""

from datetime import UTC, datetime
from fractions import Fraction

import pytest

from backend.foundation.errors import Conflict, InvalidInput
from backend.panels.api import Wages
from backend.recruitment import panel_wallet, recruit
from backend.recruitment.plan import plan
from backend.recruitment.recruit import begin
from tests.prolific import Books, Clock, Fake

from .. import sample_studies as studies

URL = "https://study.example"
SETTINGS = {"images": 8, "evaluators": 3, "base_usd_cents": 200, "minutes": 10, "panel": "prolific"}


@pytest.fixture
def books():
    return Books(clock=Clock(datetime(2026, 1, 1, tzinfo=UTC)), fee=Fraction(428, 1000))


@pytest.fixture
def panel(books):
    return Fake(books).panel()


def test_the_only_project_there_is_pays(panel, books):
    wallet = panel_wallet.choose(panel)

    assert (wallet.workspace, wallet.project) == (books.workspace.id, books.workspace.projects[0].id)
    assert wallet.line() == ("paid by: workspace First, project First project; $10,000,000.00 available")


def test_of_several_one_is_named_by_title_or_id(panel, books):
    lab = books.add_workspace("Lab", "GBP", projects=("Faces", "Rooms"))
    rooms = lab.projects[1]

    with pytest.raises(InvalidInput, match=rf"more than one project .*Lab \({lab.id}\): Faces .*Rooms"):
        panel_wallet.choose(panel)
    with pytest.raises(InvalidInput, match="more than one project at the panel fits workspace 'Lab'"):
        panel_wallet.choose(panel, "Lab")
    with pytest.raises(InvalidInput, match="no project at the panel fits project 'Cars'"):
        panel_wallet.choose(panel, project="Cars")
    for words in ({"project": "Rooms"}, {"project": rooms.id}, {"workspace": lab.id, "project": "Rooms"}):
        assert panel_wallet.choose(panel, **words).project == rooms.id


@pytest.mark.parametrize(("paid_in", "promised"), [("GBP", "USD"), ("USD", "GBP")])
def test_a_study_in_another_currency_than_the_wallet_is_not_published(world, paid_in, promised):
    books = Books(currency=paid_in)
    study = world.add(studies.study(**SETTINGS, currency=promised))

    with pytest.raises(
        InvalidInput, match=f"in {promised}, and the workspace pays in {paid_in}: .*currency={paid_in}"
    ):
        begin(world.store, Fake(books).panel(), study, plan(study), URL)

    assert books.studies == {}
    assert recruit.begun(world.store, study) is None


def test_a_study_in_pounds_is_published_in_pence(world):
    books = Books(currency="GBP", fee=Fraction(428, 1000))
    study = world.add(studies.study(**SETTINGS, currency="GBP"))
    wanted = plan(study)

    begin(world.store, Fake(books).panel(), study, wanted, URL)

    (made,) = books.studies.values()
    assert (made["reward"], books.wallet_of(made["id"]).currency) == (200, "GBP")
    assert "reward: £2.00 for 10 minutes, £12.00 an hour; a bonus of at most £0.16" in wanted.lines()


def test_the_wallet_that_is_named_pays(world, panel, books):
    lab = books.add_workspace("Lab", projects=("Faces", "Rooms"))
    study = world.add(studies.study(**SETTINGS))

    state = begin(world.store, panel, study, plan(study), URL, project="Rooms")

    (made,) = books.studies.values()
    assert (made["project"], state["workspace"]) == (lab.projects[1].id, lab.id)


def test_a_balance_that_does_not_cover_the_rewards_is_said_before_anything_is_made(world, panel, books):
    books.workspace.balance = 6 * 286 - 1
    study = world.add(studies.study(**SETTINGS))

    with pytest.raises(
        InvalidInput, match=r"6 slots cost \$17.16 with fees, and workspace First has \$17.15"
    ):
        begin(world.store, panel, study, plan(study), URL)
    books.workspace.balance += 1
    begin(world.store, panel, study, plan(study), URL)

    assert len(books.studies) == 1


@pytest.mark.parametrize("vat", [Fraction(1, 5), Fraction(0)])
def test_a_fee_or_vat_that_the_plan_does_not_know_of_is_said_before_anything_is_published(world, vat):
    books = Books(fee=Fraction(1, 2), vat=vat)
    panel, study = Fake(books).panel(), world.add(studies.study(**SETTINGS))

    with pytest.raises(Conflict, match=rf"\(--fee 50.0 --vat {100 * vat}\) \(nothing is published\)"):
        begin(world.store, panel, study, plan(study), URL)
    (made,) = books.studies.values()
    assert made["status"] == "UNPUBLISHED"
    terms = {"fee_percent": "50", "vat_percent": str(100 * vat), "budget_usd_cents": 10_000}
    wanted = recruit.planned(study, recruit.update(world.store, study, **terms))
    state = begin(world.store, panel, study, wanted, URL)

    assert (len(books.studies), state["state"]) == (1, "published")


def test_the_wage_is_that_of_whole_minutes(world, panel, books):
    """11.5 minutes at $1.55 are $8.09 an hour; the panel counts 12, and that is $7.75."""
    study = world.add(studies.study(**{**SETTINGS, "base_usd_cents": 155, "minutes": 11.5}))

    with pytest.raises(InvalidInput, match=r"pays \$7.75 an hour, under the panel's least wage of \$8.00"):
        begin(world.store, panel, study, plan(study), URL)

    assert "for 11.5 minutes (the panel counts 12), $7.75 an hour" in plan(study).lines()[1]


def test_the_wages_that_the_panel_asks_for_now_hold(world, books):
    class Dear:
        name = "prolific"

        def __getattr__(self, name):
            return getattr(panel, name)

        def wages(self, workspace, currency):
            return Wages(1300, 1600)

    panel, study = Fake(books).panel(), world.add(studies.study(**SETTINGS))

    with pytest.raises(InvalidInput, match=r"pays \$12.00 an hour, under the panel's least wage of \$13.00"):
        begin(world.store, Dear(), study, plan(study), URL)
