"""Settings as forms need them, plans of studies as they are set, and work on a study's pictures."""

import pytest

from backend.administration import setting_forms
from backend.experiment.settings import documented_settings, named_settings, value_of, with_settings
from backend.foundation.errors import InvalidInput
from backend.jobs.queue import jobs

from .. import sample_studies as studies
from .researcher import Researcher


@pytest.fixture
def me(world):
    return Researcher(world)


@pytest.mark.parametrize("method", [*setting_forms.PROTOCOLS])
def test_every_documented_setting_is_a_field_whose_default_is_taken(me, method):
    found = me.get(f"settings/{method}")["settings"]

    assert [field["name"] for field in found] == [*documented_settings()]
    protocol = setting_forms.PROTOCOLS[method]
    for field in found:
        name, value = field["name"], field["default"]
        if field["applies"] and value not in (None, "") and field["group"] != "admission":
            values = setting_forms.posted({name: value})
            assert with_settings(protocol, values) == protocol, name


CHOICES = named_settings(lambda declared: declared.choices)


@pytest.mark.parametrize("name", [*CHOICES])
def test_choices_are_taken_and_others_are_not_unless_a_field_is_open(name):
    needs = {"confidence_when": {"confidence": "5"}, "sampling": {"random_sampling_share": 0.5}}.get(name, {})
    method = {
        "staircase": "time",
        "exposure_design": "exposures",
        "exposure_steps": "time",
        "pairing": "pair",
    }.get(name, "infinity")
    base = setting_forms.PROTOCOLS[method]

    for choice in CHOICES[name]:
        made = with_settings(base, {**needs, name: choice})
        value = value_of(made, name)
        assert getattr(value, "name", value) == choice or name == "staircase"
    wrong = {"image_format": "bmp"}.get(name, "none of these")
    if name != "image_format":  # checked when pictures are written
        with pytest.raises(InvalidInput, match=f"{name}|panel"):
            with_settings(base, {**needs, name: wrong})


def test_fields_tell_what_a_form_needs(me):
    found = {field["name"]: field for field in me.get("settings/time")["settings"]}

    assert {found["images"][key] for key in ("kind", "low", "high", "default")} == {"whole", 2, 5000, 150}
    assert (found["staircase"]["kind"], found["staircase"]["is_open"]) == ("choice", True)
    assert found["feedback"]["kind"] == "truth_value"
    assert found["consent_text"]["kind"] == "long_text"
    assert not found["ties"]["applies"]
    assert "method must be one of" in me.get("settings/nonsense", 400)["error"]["message"]


def test_a_plan_is_of_the_study_as_it_is_set(me):
    settings = {
        "evaluators": 20,
        "images": 50,
        "base_usd_cents": 100,
        "bonus_usd_cents": 2,
        "panel": "prolific",
    }
    made = me.post("plan", {"method": "infinity", "models": 3, "settings": settings})

    # 60 sessions; a reward of $1.00 costs 100 + 42.8 -> 143, 50 bonuses of 2 cents as much
    assert made["study"]["sessions"] == 60
    assert made["study"]["total_usd_cents"] == 60 * (143 + 143)
    assert made["study"]["pay_usd_cents"] == 60 * 200
    assert made["study"]["hours"] == 10
    assert (made["precision"]["test"], made["precision"]["evaluators"], len(made["precision"]["rows"])) == (
        "all",
        20,
        6,
    )
    assert all(0 < row["power"] < 1 and row["width"] > 0 for row in made["precision"]["rows"])
    assert made["aim"]["aim"]["models"] == 3
    assert any("$6.00 an hour" in text for text in made["warnings"])


def test_a_wage_is_checked_by_whole_minutes_where_a_panel_pays(me):
    body = {"method": "infinity", "models": 1, "settings": {"base_usd_cents": 154, "minutes": 11.5}}

    by_link = me.post("plan", body)
    body["settings"]["panel"] = "prolific"
    at_panel = me.post("plan", body)

    assert by_link["study"]["wage_usd_cents_an_hour"] == pytest.approx(803.48, abs=0.01)
    assert by_link["warnings"] == []
    assert at_panel["study"]["wage_usd_cents_an_hour"] == 770
    assert any("pays $7.70 an hour, and the least" in text for text in at_panel["warnings"])


def test_more_evaluators_tell_more(me):
    few, many = (
        me.post("plan", {"models": 2, "settings": {"evaluators": count}})["precision"]["rows"][0]
        for count in (10, 90)
    )

    assert many["width"] < few["width"] / 3
    assert many["power"] > few["power"]


@pytest.mark.parametrize(
    "method", ["time", "exposures", "2afc", "jnd", "pair", "tournament", "qualification"]
)
def test_every_method_can_be_planned(me, method):
    made = me.post("plan", {"method": method, "models": 2})

    is_known = method in ("time", "tournament")
    assert (made["precision"] is None, made["aim"] is None) == (not is_known, not is_known)
    assert (made["why_none"] is None) == is_known
    if method == "exposures":
        why = "no published study says how evaluators of Constant stimuli differ; a pilot does"
        assert made["why_none"] == why
    assert made["study"]["currency"] == "USD"


def test_a_plan_is_of_the_sessions_and_pictures_that_are_set(me):
    base, mixed, few, none = (
        me.post("plan", {"models": 4, "settings": {"evaluators": 20, **own}, **more})["precision"]["rows"][0]
        for own, more in (
            ({}, {}), ({"models_per_session": 4}, {}), ({}, {"pictures": 60}), ({}, {"pictures": 40}),
        )
    )  # fmt: skip

    assert mixed["width"] > base["width"]
    assert few["width"] > base["width"]
    assert (none["width"], none["power"]) == (None, None)
    assert none["why_none"] == "there are too few pictures for a session that shows none twice"


def test_a_tournament_is_told_in_log_odds(me):
    body = {"method": "tournament", "models": 4, "difference": 0.5, "settings": {"evaluators": 30}}

    plain, ties = (
        me.post("plan", {**body, "settings": {**body["settings"], "ties": t}}) for t in (False, True)
    )

    precision = plain["precision"]
    assert (precision["unit"], precision["source"], precision["test"]) == ("log-odds", "simulated", "two")
    assert 0.2 < precision["rows"][0]["width"] < ties["precision"]["rows"][0]["width"] < 1
    assert plain["aim"]["rows"][0]["people"] == plain["aim"]["rows"][0]["evaluators"]
    assert me.post("plan", {**body, "models": 1})["why_none"] == "a tournament has two models or more"
    time = {"method": "time", "models": 2, "settings": {"models_per_session": 2}}
    assert "only for sessions of one model" in me.post("plan", time)["why_none"]


@pytest.mark.parametrize(
    ("method", "difference"), [("infinity", 10), ("time", 150), ("tournament", 0.5)]
)  # what the console has asked for at first
def test_power_is_for_the_difference_that_a_method_asks_for_at_first(me, method, difference):
    (choice,) = [each for each in me.get("methods")["methods"] if each["method"] == method]

    precision = me.post("plan", {"method": method, "models": 2})["precision"]

    assert precision["difference"] == choice["difference"] == difference
    assert (precision["unit"], precision["source"]) == (choice["unit"], choice["without_pilot"])
    assert 0 < precision["rows"][0]["power"] <= 1


def test_a_pilot_gives_its_own_spreads(world, me):
    world.add(studies.study(images=8, evaluators=5))
    for seed in range(8):
        world.player().play(lambda truth, seed=seed: (truth == "real") == (seed % 3 > 0))

    made = me.post("plan", {"models": 2, "pilot": "faces"})

    assert made["precision"]["source"] == "pilot"
    assert {row["model"] for row in made["precision"]["rows"]} == {"gan", "vae"}
    assert made["precision"]["assurance"] == 0.8
    sure = me.post("plan", {"models": 2, "pilot": "faces", "assurance": 0.5, "pictures": 4000})
    assert sure["precision"]["rows"][0]["width"] < made["precision"]["rows"][0]["width"]
    me.post("plan", {"pilot": "none"}, 404)
    me.post("plan", {"method": "time", "pilot": "faces"}, 400)


@pytest.mark.parametrize(
    "body",
    [
        {"method": "x"}, {"models": 0}, {"models": 10**6}, {"settings": {"images": 7}},
        {"settings": {"imges": 8}}, {"width": 0}, {"width": "nan"},
        {"difference": -1}, {"level": 1}, {"power": 0}, {"fee_percent": 42.8},
        {"fee_percent": "0.428.1"}, {"settings": [1]}, {"assurance": 1}, {"pictures": 1},
    ],
)  # fmt: skip
def test_a_plan_that_makes_no_sense_is_refused(me, body):
    me.refused("plan", body, 400, "invalid")


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({"method": "time", "difference": 1e-9}, "more than 1,000,000 evaluators would be needed"),
        ({"difference": 99}, "no score differs by 99 points from 50.7"),
        ({"width": 5, "pictures": 50}, "the shared pictures alone make the interval"),
    ],
)
def test_where_no_number_of_evaluators_suffices_the_reason_is_told(me, body, why):
    row = me.post("plan", body)["aim"]["rows"][0]

    assert (row["evaluators"], row["usd"]) == (None, None)
    assert why in row["why_none"]


def test_costs_of_aws_are_those_of_the_command(me):
    made = me.post("costs", {"pictures": 2000, "evaluators": [30]})

    assert [study["method"] for study in made["studies"]] == ["infinity", "time"]
    for study in made["studies"]:
        assert study["total_usd"] == pytest.approx(sum(study["services"].values()))
    me.refused("costs", {"evaluators": []}, 400, "invalid")


def test_work_on_pictures_is_a_job_and_says_why_it_cannot_be_done(world, me):
    world.add(studies.study(images=8, evaluators=2))

    job = me.job("studies/faces/metrics", {"level": 0.9})

    assert (job.state, job.kind) == ("failed", "metrics")  # this study has no pictures
    assert "faces" in job.reason
    me.refused("studies/faces/agree", {}, 400, "invalid")
    me.refused("studies/faces/metrics", {"level": 1}, 400, "invalid")
    assert len(jobs(world.store)) == 1
