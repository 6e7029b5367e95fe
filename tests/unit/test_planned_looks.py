"""A study's plan of looks: checked when it is set, and fixed with its hash once an evaluator comes."""

import json

import pytest
from click.testing import CliRunner

from backend.administration.revise import change_settings
from backend.analysis.planning.boundaries import SPENDING
from backend.analysis.planning.looks import LookPlan, aim_of
from backend.cli import main
from backend.experiment.planned_looks import SPENDINGS
from backend.foundation.errors import Conflict, InvalidInput

from . import sample_studies as studies

PLAN = {"looks": "5,10,15", "aim": "apart=neighbours", "spending": "pocock"}


def planned(**settings):
    return studies.study(images=8, panel="link", **{**PLAN, **settings})


def test_settings_give_the_plan_of_the_command_and_its_hash():
    study = planned()

    assert study.protocol.admission.evaluators == 15
    same = LookPlan((5, 10, 15), aim_of("apart=neighbours"), "pocock")
    assert study.protocol.looks.plan.digest == same.digest
    assert planned(aim="apart").protocol.looks.plan.digest != study.protocol.looks.plan.digest
    assert tuple(SPENDING) == SPENDINGS


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"looks": "10,5"}, "looks must rise, such as 15,20,25,30; 5 follows 10"),
        ({"looks": "5,ten"}, "looks are numbers of evaluators such as 15,20,25,30, not '5,ten'"),
        ({"looks": [5, 10.5]}, "looks are numbers of evaluators"),
        ({"looks": "3,10"}, "the first look must be at 5 evaluators or more, not 3"),
        ({"evaluators": 12}, "the last of looks must be evaluators, 12, not 15"),
        ({"aim": "half-width"}, "the aim half-width needs a number above 0, such as half-width=5, not ''"),
        ({"aim": "half-width=nan"}, "needs a number above 0, such as half-width=5, not 'nan'"),
        (
            {"aim": "closer"},
            "the aim must be apart, half-width, equal-within, futility or ranks, not 'closer'",
        ),
        ({"spending": "bonferroni"}, "spending must be one of obrien-fleming, obrien-fleming-whole, pocock"),
        ({"looks": ""}, "aim goes with looks, such as looks=15,20,25,30"),
        ({"method": "tournament"}, "looks goes with methods 'infinity', 'time', 'exposures' and 'pair'"),
    ],
)
def test_a_plan_that_cannot_be_is_refused(settings, message):
    with pytest.raises(InvalidInput, match=message):
        planned(**settings)


@pytest.mark.parametrize(
    ("models", "settings", "message"),
    [
        (("gan",), {"aim": "apart"}, "the aim apart compares models, and there is one, gan"),
        (("gan", "vae"), {"aim": "apart=wae"}, "apart= must name all, neighbours or a model (gan, "),
        (("gan", "vae"), {"class_design": "between"}, "counts the evaluators of a look for each"),
    ],
)  # fmt: skip
def test_a_plan_that_does_not_fit_the_study_is_refused_when_it_is_set(world, models, settings, message):
    world.add(studies.study(images=8, models=models))

    with pytest.raises(InvalidInput, match=message.replace("(", r"\(").replace(")", r"\)")):
        change_settings(world.store, world.data, "faces", {"looks": "5,10", **settings})

    assert not world.store.study("faces").protocol.looks.looks


def test_a_qualification_has_no_looks(world):
    world.add(studies.study("test", kind="qualification", images=8))

    with pytest.raises(InvalidInput, match="has no looks in a qualification"):
        change_settings(world.store, world.data, "test", {"looks": "5,10", "evaluators": 10})


def test_the_plan_is_fixed_with_its_hash_at_the_first_evaluator(each_world):
    study = each_world.add(planned())
    assert each_world.store.study("faces").looks_digest == ""
    each_world.simulate()
    change_settings(each_world.store, each_world.data, "faces", {"looks": "5,10"})

    each_world.open()

    after = each_world.store.study("faces")
    assert after.looks_digest == after.protocol.looks.plan.digest != study.protocol.looks.plan.digest
    assert after.protocol.admission.evaluators == 10
    for change in ({"looks": "5,12"}, {"aim": "apart"}, {"spending": "obrien-fleming"}, {"evaluators": "9"}):
        with pytest.raises(Conflict, match=r"copy it \(`openhype rerun faces`\), and change the copy"):
            change_settings(each_world.store, each_world.data, "faces", change)


def test_status_and_the_api_show_the_plan(world, tmp_path):
    study = world.add(planned())
    world.open(study.name)

    found = [
        CliRunner().invoke(main, ["status", "faces", "--data", str(tmp_path), *more]).stdout
        for more in ([], ["--json"])
    ]

    digest = study.protocol.looks.plan.digest
    line = "looks at 5, 10, 15 of each model, aim apart=neighbours (pocock), fixed on 2026-01-01: plan"
    assert f"{line} {digest[:12]}" in found[0]
    told = json.loads(found[1])["looks"]
    assert (told["looks"], told["digest"], told["fixed_at"][:10]) == ([5, 10, 15], digest, "2026-01-01")
