"""The settings of a study: parsed in one place, checked, and stored for good."""

import dataclasses
import json
import re
from pathlib import Path

import pytest

from backend.administration.setting_list import as_markdown
from backend.experiment import protocol
from backend.experiment.judgments import real_or_fake
from backend.experiment.settings import from_json, new_protocol, with_settings
from backend.experiment.staircase import StaircaseRule, equilibrium_accuracy
from backend.foundation.errors import InvalidInput

SETTINGS_PAGE = Path(__file__).resolve().parents[3] / "docs" / "settings.md"


def test_the_defaults_are_the_papers_numbers():
    infinity, time, qualification = real_or_fake.INFINITY, real_or_fake.TIME, real_or_fake.QUALIFICATION

    assert (infinity.stimuli.images, infinity.stimuli.blocks, infinity.admission.evaluators) == (100, 1, 30)
    assert (time.stimuli.images, time.stimuli.blocks) == (150, 3)
    assert (
        time.timing.countdown_from,
        time.timing.countdown_ms,
        time.timing.mask_count,
        time.timing.mask_ms,
    ) == (3, 500, 4, 30)
    assert time.timing.staircase == StaircaseRule(3, 30, 10, 500, 100, 1000)
    assert (qualification.stimuli.images, qualification.admission.pass_share) == (100, 0.65)


@pytest.mark.parametrize(
    ("base", "kind", "settings", "pay"),
    [
        # HYPE 2.3: $1.00 for the qualification, and then $0.02 for each right answer
        (real_or_fake.INFINITY, "study", {"panel": "prolific"}, (0, 2)),
        (real_or_fake.QUALIFICATION, "qualification", {"panel": "connect"}, (100, 0)),
        (real_or_fake.TIME, "study", {"panel": "mturk", "base_usd_cents": "200"}, (200, 2)),
        (real_or_fake.INFINITY, "study", {"panel": "prolific", "bonus_usd_cents": 0}, (0, 0)),
        (real_or_fake.INFINITY, "study", {}, (0, 0)),
        (real_or_fake.QUALIFICATION, "qualification", {"panel": "sona"}, (0, 0)),
        (real_or_fake.INFINITY, "study", {"panel": "private", "bonus_usd_cents": "3"}, (0, 3)),
    ],
)
def test_money_is_promised_only_where_the_panel_pays_or_it_is_set(base, kind, settings, pay):
    made = new_protocol(base, kind, settings)

    assert (made.pay.base_usd_cents, made.pay.bonus_usd_cents) == pay


def test_a_rule_can_be_spelled_out_and_its_bounds_be_set_apart():
    made = with_settings(
        real_or_fake.TIME, {"staircase": "right_to_descend:2,down_ms:20,up_ms:20", "min_exposure_ms": "50"}
    )

    assert made.timing.staircase == StaircaseRule(2, 20, 20, 500, 50, 1000)
    assert equilibrium_accuracy(made.timing.staircase) == pytest.approx(0.5**0.5)


@pytest.mark.parametrize(
    ("settings", "wage"),
    [
        ({"currency": "GBP"}, 900),
        ({"currency": "USD"}, 1200),
        ({"currency": "GBP", "target_wage_usd_cents": "1500"}, 1500),
    ],
)
def test_a_currency_brings_the_wage_that_panels_advise_in_it(settings, wage):
    made = with_settings(real_or_fake.INFINITY, settings)

    assert (made.pay.currency, made.pay.target_wage_usd_cents) == (settings["currency"], wage)


def test_an_address_of_the_panel_is_set_apart():
    addresses = {"redirect_url": "https://c.example/all", "early_redirect_url": "https://c.example/some"}

    panel = with_settings(real_or_fake.INFINITY, {"panel": "connect", **addresses}).admission.panel

    assert [panel.redirect, panel.early_redirect] == list(addresses.values())
    assert panel.is_redirect_for_done_only


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"currency": "EUR"}, "currency must be one of USD, GBP, not 'EUR'"),
        ({"imags": "10"}, "no setting is called 'imags'; did you mean `images`\\?"),
        ({"colour": "10"}, "no setting is called 'colour'; `openhype settings` lists them all"),
        ({"method": "time"}, "no setting is called 'method'"),
        ({"images": "ten"}, "images must be a whole number, not 'ten'"),
        ({"images": 10.5}, "images must be a whole number, not 10.5"),
        ({"images": True}, "images must be a whole number, not True"),
        ({"images": "9" * 5000}, f"images must be a whole number, not '{'9' * 79}…"),
        ({"images": 10**400}, "images must be from 2 to 5000, not 1000"),
        ({"minutes": 10**400}, "minutes must be a number, not 1000"),
        ({"title": "a\udcff"}, r"title must be text that can be written as UTF-8, not 'a\\udcff'"),
        ({"images": "0"}, "images must be from 2 to"),
        ({"mask_ms": "nan"}, "mask_ms must be finite"),
        ({"feedback": "maybe"}, "feedback must be true or false"),
        ({"feedback": "no"}, "feedback=false does not go with HYPE-time"),
        ({"masks": "noise"}, "masks must be one of texture, phase, not 'noise'"),
        ({"staircase": "3-up"}, "staircase must be one of hype-2019, weighted-75"),
        ({"staircase": "down_ms:0"}, "steps must be above 0"),
        ({"contact": "write\nto me"}, "contact must be an e-mail address, a URL as https://"),
        ({"contact": "javascript://lab.example/x"}, "contact must be an e-mail address"),
        ({"contact": "x" * 201}, "a line of at most 200 characters"),
        ({"min_exposure_ms": "2000"}, "min <= start <= max"),
    ],
)
def test_a_setting_that_cannot_be_is_named(settings, message):
    with pytest.raises(InvalidInput, match=message):
        with_settings(real_or_fake.TIME, settings)


def test_a_staircase_without_flashes_is_refused():
    with pytest.raises(InvalidInput, match="goes with method 'time'"):
        with_settings(real_or_fake.INFINITY, {"staircase": "weighted-75"})


@pytest.mark.parametrize("made", [real_or_fake.INFINITY, real_or_fake.TIME, real_or_fake.QUALIFICATION])
def test_a_protocol_comes_back_from_its_stored_form(made):
    assert from_json(protocol.to_json(made)) == made


@pytest.mark.parametrize(
    "contact", ["", "faces@lab.example", "https://lab.example/faces", "Dr. Ada Example, room 5"]
)
def test_a_contact_is_an_address_a_url_or_a_text(contact):
    assert with_settings(real_or_fake.INFINITY, {"contact": contact}).consent.contact == contact


VECTORS = json.loads((Path(__file__).parents[1] / "stage_vectors.json").read_text("utf-8"))


@pytest.mark.parametrize("vector", VECTORS["largest"], ids=str)
def test_pictures_are_shown_at_most_as_large_as_the_page_makes_them(vector):
    made = real_or_fake.INFINITY.changed(size_px=vector["size_px"], largest_css_px=vector["largest_css_px"])

    assert made.stimuli.shown_at_most_css_px == vector["largest_css"]


def test_every_setting_is_documented():
    table = re.search(r"^\| setting \|.*?(?=\n\n)", SETTINGS_PAGE.read_text("utf-8"), re.M | re.S)

    names = [row.split("`")[1] for row in as_markdown().splitlines()[2:]]
    groups = [group for group in vars(real_or_fake.INFINITY).values() if dataclasses.is_dataclass(group)]
    assert len(groups) == 13
    assert {setting.name for group in groups for setting in dataclasses.fields(group)} <= set(names)
    assert table[0].splitlines() == as_markdown().splitlines()
