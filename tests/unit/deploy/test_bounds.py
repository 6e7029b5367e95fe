"""Settings of a deployment that bound its bill: their values, their defaults, and what the templates do."""

import json
from pathlib import Path

import boto3
import pytest
import yaml
from click.testing import CliRunner

from backend.administration import aws_costs as costs
from backend.cli import main
from backend.foundation.errors import InvalidInput
from backend.stores.datadir import DataDir
from deploy import bounds
from deploy.deployment import Deployment
from tests import aws

from ..commands.test_deployment import NAME, known_to_moto, package, verbs
from .test_deployed_panel import parameters

ELSEWHERE = "arn:aws:acm:eu-west-1:123456789012:certificate/1"


def service(**conditions):
    return aws.template("service", has_panel=True, **conditions)["Resources"]


@pytest.mark.parametrize(
    "name",
    ["write_units", "read_units", "api_concurrency", "price_class", "monthly_budget", "domain", "web_acl"],
)
def test_each_setting_takes_its_example_and_can_be_taken_away(name):
    setting = bounds.SETTINGS[name]
    example = setting.example.replace("…", "0a1b")

    assert bounds.parse([(name, example)]) == {setting.parameter: example}
    assert bounds.parse([(name, "none")]) == {setting.parameter: ""}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("write_units", "0"), ("write_units", "-1"), ("write_units", "1e3"), ("write_units", "٣"),
        ("read_units", "99999999"), ("api_concurrency", ""), ("price_class", "101"), ("alarm_mail", "nobody"),
        ("alarm_mail", "a@b@c"), ("domain", "https://x"), ("certificate", ELSEWHERE), ("web_acl", "\ud800"),
    ],
)  # fmt: skip
def test_other_values_are_refused_with_an_example(name, value):
    with pytest.raises(InvalidInput, match=f"{name} must be such as"):
        bounds.parse([(name, value)])


def test_an_unknown_setting_is_refused_with_those_that_there_are():
    with pytest.raises(
        InvalidInput, match="there is no setting 'units' of a deployment; there are write_units, "
    ):
        bounds.parse([("units", "1")])


@pytest.mark.parametrize(
    ("at_once", "limit"), [(1, 1000), (1000, 1000), (1000, 100), (1000, None), (100_000, 20_000)]
)
def test_defaults_follow_the_people_at_once_and_leave_the_account_what_aws_requires(at_once, limit):
    found = {name: int(value) for name, value in bounds.defaults(at_once, limit).items()}
    reserved = sum(found[name] for name in found if name.endswith("Concurrency"))

    assert found["MaxWriteUnits"] >= at_once  # an answer every two seconds is half a unit a second
    assert found["MaxReadUnits"] >= 2 * at_once
    if reserved:  # ten requests a second for each, and an answer every two seconds
        assert found["ApiConcurrency"] * 10 >= 3 * at_once * 0.5
    assert reserved == 0 or reserved + 100 <= limit
    assert bool(reserved) == (limit is not None and limit >= 1000)


def test_without_settings_nothing_is_bounded_and_tls_is_cloudfronts():
    resources = service()

    distribution = resources["Distribution"]["Properties"]["DistributionConfig"]
    assert distribution["PriceClass"] == "PriceClass_All"
    assert distribution["ViewerCertificate"] == {"CloudFrontDefaultCertificate": True}
    assert not {"Aliases", "WebACLId"} & set(distribution)
    for stage in ("Api", "Score", "Panel"):
        assert "ReservedConcurrentExecutions" not in resources[f"{stage}Function"]["Properties"]


def test_each_setting_reaches_its_resource():
    named = (
        "ApiConcurrency",
        "ScoreConcurrency",
        "PanelConcurrency",
        "PriceClass",
        "Domain",
        "WebAcl",
    )
    resources = service(**{f"Has{name}": True for name in named})

    distribution = resources["Distribution"]["Properties"]["DistributionConfig"]
    for stage in ("Api", "Score", "Panel"):
        reserved = resources[f"{stage}Function"]["Properties"]["ReservedConcurrentExecutions"]
        assert reserved == {"Ref": f"{stage}Concurrency"}
    assert distribution["ViewerCertificate"]["MinimumProtocolVersion"] == "TLSv1.2_2021"
    assert (distribution["Aliases"], distribution["WebACLId"]) == ([{"Ref": "Domain"}], {"Ref": "WebAcl"})
    mails = json.dumps(aws.template("budget", HasBudget=True)["Resources"])
    assert mails.count('"AlarmMail"') == 4
    held = ("HasMaxWrites", "HasMaxReads", "HasWarmWrites", "HasWarmReads", "IsWarm")
    table = aws.template("data", **dict.fromkeys(held, True))["Resources"]["Table"]["Properties"]
    assert table["WarmThroughput"] == {
        "WriteUnitsPerSecond": {"Ref": "WarmWriteUnits"},
        "ReadUnitsPerSecond": {"Ref": "WarmReadUnits"},
    }
    assert table["OnDemandThroughput"] == {
        "MaxWriteRequestUnits": {"Ref": "MaxWriteUnits"},
        "MaxReadRequestUnits": {"Ref": "MaxReadUnits"},
    }


def test_every_setting_is_a_parameter_of_its_template_and_documented():
    declared = {name: aws.template(name)["Parameters"] for name in ("data", "service", "budget")}
    text = (Path(bounds.__file__).parents[1] / "docs" / "serverless.md").read_text("utf-8")

    for setting in bounds.SETTINGS.values():
        assert setting.parameter in declared[setting.role]
        assert f"| `{setting.name}` |" in text


@pytest.fixture
def packages(tmp_path):
    return {stage: package(tmp_path, stage) for stage in ("api", "score")}


def deployment(folder, **options):
    return Deployment(NAME, DataDir(folder), boto3.Session(), known_to_moto, **options)


@pytest.mark.slow("a further deployment is applied")
def test_a_setting_stays_until_it_is_set_again(cloud, tmp_path, packages):
    deployment(tmp_path, settings={"PriceClass": "100"}).apply(packages, report=str)
    assert parameters()["PriceClass"] == "100"

    again = deployment(tmp_path)
    assert verbs(again.plan(packages)) == {"leave"}
    deployment(tmp_path, settings={"PriceClass": "200"}).apply(packages, report=str)
    assert parameters()["PriceClass"] == "200"


@pytest.mark.slow("applies stacks to moto")
def test_a_new_deployment_is_bounded_and_an_existing_one_left_as_it_is(cloud, tmp_path, packages):
    deployment(tmp_path).apply(packages, report=str)

    def units():
        (stack,) = boto3.client("cloudformation").describe_stacks(StackName=f"{NAME}-data")["Stacks"]
        return {one["ParameterKey"]: one["ParameterValue"] for one in stack["Parameters"]}

    others = {"WarmWriteUnits": "", "WarmReadUnits": "", "Origins": ""}
    assert units() == {"MaxWriteUnits": "1500", "MaxReadUnits": "2000", **others}
    deployment(tmp_path, settings={"MaxWriteUnits": "7"}).apply(packages, report=str)
    assert verbs(deployment(tmp_path).plan(packages)) == {"leave"}
    deployment(tmp_path, at_once=10_000).apply(packages, report=str)
    assert units() == {"MaxWriteUnits": "15000", "MaxReadUnits": "20000", **others}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"Domain": "a.b"}, "domain and certificate need each other"),
        ({"Certificate": ELSEWHERE}, "domain and certificate need each other"),
        ({"MonthlyBudget": "5"}, "monthly_budget needs alarm_mail"),
    ],
)
def test_a_setting_that_needs_another_is_refused_alone(cloud, tmp_path, packages, settings, message):
    with pytest.raises(InvalidInput, match=message):
        deployment(tmp_path, settings=settings).plan(packages)


BUDGET = {"MonthlyBudget": "5", "AlarmMail": "a@b.c"}
STORED = {**BUDGET, "Distribution": ""}


def with_a_budget(name):
    """Return a template; in that of the budget there is what moto knows in its place."""
    if name != "budget":
        return known_to_moto(name)
    parameters = {name: {"Type": "String"} for name in STORED}
    template = {"Parameters": parameters, "Resources": {"Budget": {"Type": "AWS::SNS::Topic"}}}
    return yaml.safe_dump(template, sort_keys=False)


def budgets():
    """Return the parameters of the budget's stack in us-east-1; None if it is not there."""
    stacks = boto3.client("cloudformation", region_name="us-east-1").describe_stacks()["Stacks"]
    if not stacks:
        return None
    assert [one["StackName"] for one in stacks] == [f"{NAME}-{aws.REGION}-budget"]
    return {one["ParameterKey"]: one["ParameterValue"] for one in stacks[0]["Parameters"]}


@pytest.mark.slow("applies stacks to moto")
def test_what_sends_mails_of_cloudfront_and_the_budget_is_a_stack_of_its_own_in_us_east_1(
    cloud, tmp_path, packages
):
    def with_budget(**settings):
        return Deployment(NAME, DataDir(tmp_path), boto3.Session(), with_a_budget, settings=settings)

    with_budget().apply(packages, report=str)
    assert budgets() is None
    with_budget(AlarmMail="a@b.c").apply(packages, report=str)
    assert budgets() == {**STORED, "MonthlyBudget": ""}
    with_budget(**BUDGET).apply(packages, report=str)
    assert budgets() == STORED
    assert verbs(with_budget().plan(packages)) == {"leave"}
    with_budget(AlarmMail="c@d.e").apply(packages, report=str)
    assert budgets() == {**STORED, "AlarmMail": "c@d.e"}
    gone = with_budget(MonthlyBudget="", AlarmMail="")
    assert any(change.verb == "remove" and "-budget: " in change.what for change in gone.plan(packages))
    gone.apply(packages, report=str)
    assert budgets() is None
    with_budget(**BUDGET).apply(packages, report=str)
    with_budget().remove(with_data=False, report=str)
    assert budgets() is None


@pytest.mark.slow("applies stacks to moto")
def test_the_budget_of_a_service_that_had_it_moves_to_its_own_stack(cloud, tmp_path, packages):
    def earlier(name):
        template = aws.known_to_moto(aws.template(name))
        if name == "service":
            template["Parameters"] |= {name: {"Type": "String", "Default": ""} for name in BUDGET}
        return json.dumps(template)

    old = Deployment(NAME, DataDir(tmp_path), boto3.Session(), earlier)
    old.apply(packages, report=str)
    values = {**parameters(), **BUDGET}
    given = [{"ParameterKey": key, "ParameterValue": value} for key, value in values.items()]
    boto3.client("cloudformation").update_stack(
        StackName=NAME, TemplateBody=earlier("service"), Parameters=given
    )

    def stored():
        return boto3.client("dynamodb").list_tables()["TableNames"], boto3.client("s3").list_buckets()[
            "Buckets"
        ]

    before = stored()
    Deployment(NAME, DataDir(tmp_path), boto3.Session(), with_a_budget).apply(packages, report=str)

    assert budgets() == STORED
    assert stored() == before


def test_the_command_refuses_a_wrong_setting_before_anything(cloud, tmp_path):
    done = CliRunner().invoke(main, ["deploy", NAME, "--set", "write_units=many", "--data", str(tmp_path)])

    assert done.exit_code != 0
    assert "write_units must be such as 1500" in str(done.output) + str(done.exception)


def bill(kind, parameters, count=10_000_000, hours=1.0):
    prices = costs.prices()
    (request,) = [one for one in costs.hostile_requests(prices["assumed"]) if one.kind.startswith(kind)]
    return costs.hostile_usd(request, count, hours, prices, parameters)


def test_what_a_stranger_costs_by_hand():
    # 10 million at 1 USD a million, 100 kB each at 0.085 USD a GB
    assert bill("a picture", {}) == pytest.approx(10 + 10e6 * 100e3 / 1e9 * 0.085)
    # the function's 0.03 s at 0.5 GB, its request, a read unit and a kB sent besides
    each = 1e-6 + 0.2e-6 + 0.03 * 0.5 * 16.6667e-6 + 0.125e-6 + 1e3 / 1e9 * 0.085
    assert bill("a study", {}) == pytest.approx(10e6 * each)
    # 60 at once let in 600 a second, though 0.03 s each would be 2,000; the others cost CloudFront's request
    served = 3600 * 60 * 10
    assert bill("a study", {"ApiConcurrency": "60"}) == pytest.approx(10 + served * (each - 1e-6))


def test_bounds_lower_every_bill_but_that_of_pictures_and_none_above_what_comes():
    parameters = bounds.defaults(1000, 10_000)
    for request in costs.hostile_requests(costs.prices()["assumed"]):
        without, within = bill(request.kind, {}), bill(request.kind, parameters)
        assert within < without or (within == without and request.is_cached)
        assert bill(request.kind, parameters, count=100) == pytest.approx(bill(request.kind, {}, count=100))


def test_the_page_of_costs_shows_what_the_command_says_of_strangers():
    said = CliRunner().invoke(main, ["costs", "--hostile"]).output

    assert said in (Path(bounds.__file__).parents[1] / "docs" / "costs.md").read_text("utf-8")
