"""`openhype deploy --panel`: the token is stored, changed and taken away, and is shown nowhere."""

import json
from functools import partial

import boto3
import pytest
import yaml
from click.testing import CliRunner

from backend.cli import main
from backend.stores.datadir import DataDir
from deploy.deployment import Deployment
from tests import aws

from ..commands.test_deployment import (
    NAME,
    applied_once,
    packages_in,
    policy_of,
    role_of,
    verbs,
)

SECRET = {"token": "secret-token-1", "webhook_secret": "secret-of-events"}


def with_panel(name):
    return yaml.safe_dump(aws.known_to_moto(aws.template(name, has_panel=True)), sort_keys=False)


def without_panel(name):
    return yaml.safe_dump(aws.known_to_moto(aws.template(name)), sort_keys=False)


def deployment(folder, text_of=with_panel, **panel):
    return Deployment(NAME, DataDir(folder), boto3.Session(), text_of, **panel)


@pytest.fixture
def packages(tmp_path):
    return packages_in(tmp_path, "panel")


@pytest.fixture(scope="module")
def applied(moto_url, tmp_path_factory):
    folder = tmp_path_factory.mktemp("applied")
    of_panel = partial(deployment, panel=SECRET)
    with applied_once(moto_url, folder, of_panel, packages_in(folder, "panel")) as applied:
        yield applied


@pytest.fixture
def deployed(applied, cloud, tmp_path):
    (tmp_path / "keys.json").write_text(applied.keys)
    return deployment(tmp_path, panel=SECRET)


def stored():
    found = boto3.client("ssm").get_parameter(Name=f"/openhype/{NAME}/panel", WithDecryption=True)
    return found["Parameter"]


def text_of(plan):
    return "\n".join(f"{change.verb} {change.what}" for change in plan)


def parameters():
    (stack,) = boto3.client("cloudformation").describe_stacks(StackName=NAME)["Stacks"]
    return {one["ParameterKey"]: one["ParameterValue"] for one in stack["Parameters"]}


def test_without_a_token_there_is_no_function_for_it(cloud, tmp_path):
    assert deployment(tmp_path, without_panel).stages() == ["api", "score"]
    assert deployment(tmp_path, panel=SECRET).stages() == ["api", "score", "panel"]


def test_a_plan_tells_of_the_token_and_does_not_show_it(cloud, tmp_path, packages):
    plan = text_of(deployment(tmp_path, panel=SECRET).plan(packages))

    assert f"create the panel's token, in the secure parameter /openhype/{NAME}/panel" in plan
    assert "PanelFunction (" in plan
    assert not any(secret in plan for secret in SECRET.values())
    assert boto3.client("ssm").describe_parameters()["Parameters"] == []


def test_the_token_is_encrypted_and_in_no_stack_and_no_variable(deployed):
    assert (stored()["Type"], json.loads(stored()["Value"])) == ("SecureString", SECRET)
    variables = boto3.client("lambda").get_function(FunctionName=f"{NAME}-panel")["Configuration"][
        "Environment"
    ]
    assert variables["Variables"]["OPENHYPE_PANEL"] == f"ssm:/openhype/{NAME}/panel"
    shown = json.dumps([parameters(), variables])
    assert not any(secret in shown for secret in SECRET.values())


@pytest.mark.slow("a further deployment is applied")
def test_deploying_again_without_the_option_leaves_it(deployed, tmp_path, packages):
    again = deployment(tmp_path)

    assert again.stages() == ["api", "score", "panel"]
    assert verbs(again.plan(packages)) == {"leave"}
    assert verbs(deployment(tmp_path, panel=SECRET).plan(packages)) == {"leave"}


@pytest.mark.slow("applies a stack to moto")
def test_a_new_token_reaches_the_function(deployed, tmp_path, packages):
    changed = deployment(tmp_path, panel={**SECRET, "token": "secret-token-2"})

    plan = changed.plan(packages)
    changed.apply(packages, report=str)

    assert "change the panel's token" in text_of(plan)
    assert "PanelVersion" in text_of(plan) or "change" in verbs(plan)
    assert (stored()["Version"], parameters()["PanelVersion"]) == (2, "2")
    assert verbs(deployment(tmp_path).plan(packages)) == {"leave"}


@pytest.mark.slow("a further deployment is applied")
def test_the_token_is_taken_away_with_the_function(deployed, tmp_path, packages):
    removing = deployment(tmp_path, without_panel, removes_panel=True)
    del packages["panel"]

    plan = removing.plan(packages)
    removing.apply(packages, report=str)

    assert removing.stages() == ["api", "score"]
    assert "remove the panel's token" in text_of(plan)
    assert boto3.client("ssm").describe_parameters()["Parameters"][0]["Name"].endswith("/keys")
    assert verbs(deployment(tmp_path, without_panel, removes_panel=True).plan(packages)) == {"leave"}


def test_the_token_goes_with_the_service(deployed, tmp_path):
    plan = deployed.planned_removal(with_data=False)
    deployed.remove(with_data=False, report=str)

    assert f"remove the panel's token in /openhype/{NAME}/panel" in text_of(plan)
    assert [one["Name"] for one in boto3.client("ssm").describe_parameters()["Parameters"]] == [
        f"/openhype/{NAME}/keys"
    ]


def test_the_role_of_the_panels_function_reads_the_token_and_that_of_the_api_does_not(deployed):
    def readable(role):
        return json.dumps([s["Resource"] for s in policy_of(role_of(role))["Statement"]])

    assert f"/openhype/{NAME}/panel" in readable("PanelRole")
    assert f"/openhype/{NAME}/panel" not in readable("ApiRole")
    assert f"function:{NAME}-panel" in readable("ApiRole")


def test_without_a_token_in_the_environment_the_option_says_what_to_do(cloud, tmp_path):
    done = CliRunner().invoke(main, ["deploy", NAME, "--panel", "prolific", "--data", str(tmp_path)])

    assert done.exit_code != 0
    assert "there is no Prolific token; put it into PROLIFIC_TOKEN" in str(done.output) + str(done.exception)
