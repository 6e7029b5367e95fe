"""`openhype deploy` after `members new-key`: killed, by two at once, and from an earlier copy of the data."""

import json
import shutil

import boto3
import pytest

from backend.foundation.errors import Conflict
from backend.stores.datadir import DataDir
from deploy.deployment import Deployment
from tests import aws

from ..commands.test_deployment import NAME, applied_once, deployment, packages_in, verbs
from .test_deployed_panel import parameters

PARAMETER = f"/openhype/{NAME}/keys"


@pytest.fixture(scope="module")
def applied(moto_url, tmp_path_factory):
    folder = tmp_path_factory.mktemp("applied")
    with applied_once(moto_url, folder, deployment, packages_in(folder)) as applied:
        yield applied


@pytest.fixture
def packages(tmp_path):
    return packages_in(tmp_path)


@pytest.fixture
def deployed(applied, cloud, tmp_path):
    (tmp_path / "keys.json").write_text(applied.keys)
    return deployment(tmp_path)


def in_force():
    found = boto3.client("ssm").get_parameter(Name=PARAMETER, WithDecryption=True)["Parameter"]
    return json.loads(found["Value"])["researcher"], found["Version"]


def variables(stage):
    found = boto3.client("lambda").get_function(FunctionName=f"{NAME}-{stage}")["Configuration"]
    return found["Environment"]["Variables"]


def copy_of(folder, name):
    copy = folder.parent / f"{folder.name}-{name}"
    copy.mkdir()
    shutil.copy(folder / "keys.json", copy)
    return copy


def changed(plan):
    return {change.what for change in plan if change.verb != "leave"}


def test_a_plan_says_that_the_key_is_replaced_and_shows_none(deployed, tmp_path, packages):
    DataDir(tmp_path).replace_researcher_key()

    plan = deployed.plan(packages)

    text = "\n".join(change.what for change in plan)
    assert f"the researcher's key, in the secure parameter {PARAMETER}" in changed(plan)
    assert deployed._parameters(packages, {}, {})["KeysVersion"] == "2"
    assert DataDir(tmp_path).keys().researcher not in text
    assert in_force()[1] == 1


def test_an_earlier_copy_of_the_data_directory_does_not_bring_the_key_back(deployed, tmp_path, packages):
    earlier = copy_of(tmp_path, "earlier")
    for _ in range(2):  # the deployment does not know the one between
        DataDir(tmp_path).replace_researcher_key()
    deployed._put_keys()
    new = DataDir(tmp_path).keys().researcher

    stale = deployment(earlier)
    for work in (
        stale.check,
        stale._put_keys,
        lambda: stale.plan(packages),
        lambda: stale.remove(False, str),
    ):
        with pytest.raises(Conflict, match=r"is not in force .* replaced by one made elsewhere"):
            work()
    assert in_force() == (new, 2)


def test_of_two_keys_that_replace_one_at_the_same_time_one_counts_and_the_other_hears_of_it(
    deployed,
    tmp_path,
):
    other = copy_of(tmp_path, "other")
    for folder in (tmp_path, other):
        DataDir(folder).replace_researcher_key()
    both = [deployment(tmp_path), deployment(other)]
    assert [one._is_key_replaced() for one in both] == [True, True]

    both[0]._put_keys()

    with pytest.raises(Conflict, match="aws ssm get-parameter --with-decryption --name"):
        both[1]._put_keys()
    assert in_force() == (DataDir(tmp_path).keys().researcher, 2)


@pytest.mark.slow("applies stacks to moto")
def test_who_loses_between_looking_and_storing_hears_of_it_at_the_end(
    deployed, tmp_path, packages, monkeypatch
):
    other = copy_of(tmp_path, "other")
    for folder in (tmp_path, other):
        DataDir(folder).replace_researcher_key()
    first, second = deployment(tmp_path), deployment(other)
    put = second._ssm.put_parameter
    first_put = first._ssm.put_parameter

    def after_the_other(**values):
        first_put(**values)
        put(**{**values, "Value": (other / "keys.json").read_text()})

    monkeypatch.setattr(first._ssm, "put_parameter", after_the_other)
    with pytest.raises(Conflict, match="is not in force"):
        first.apply(packages, report=str)

    assert in_force() == (DataDir(other).keys().researcher, 3)
    second.apply(packages, report=str)
    assert parameters()["KeysVersion"] == "3"


@pytest.mark.slow("applies stacks to moto")
def test_a_new_key_starts_new_instances_also_where_the_first_try_was_killed(
    deployed,
    tmp_path,
    packages,
    monkeypatch,
):
    DataDir(tmp_path).replace_researcher_key()
    monkeypatch.setattr(deployed._service, "apply", None)  # killed once the key is stored
    with pytest.raises(TypeError):
        deployed.apply(packages, report=str)
    assert (in_force()[1], variables("api")["OPENHYPE_KEYS_VERSION"]) == (2, "1")

    again = deployment(tmp_path)
    assert again._parameters(packages, {}, {})["KeysVersion"] == "2"
    again.apply(packages, report=str)

    assert in_force() == (DataDir(tmp_path).keys().researcher, 2)
    assert {variables(stage)["OPENHYPE_KEYS_VERSION"] for stage in ("api", "score")} == {"2"}
    assert verbs(deployment(tmp_path).plan(packages)) == {"leave"}


def test_a_key_that_was_changed_by_hand_is_refused_with_what_to_do(deployed, tmp_path):
    path = tmp_path / "keys.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "researcher": "mine"}))

    with pytest.raises(Conflict, match=r"or changed by hand; copy keys\.json"):
        deployed.check()


def test_a_key_of_the_environment_neither_hides_a_replaced_one_nor_looks_like_one(
    deployed, tmp_path, monkeypatch
):
    monkeypatch.setenv("OPENHYPE_KEY", "mine")
    assert not deployed._is_key_replaced()

    monkeypatch.delenv("OPENHYPE_KEY")
    DataDir(tmp_path).replace_researcher_key()
    monkeypatch.setenv("OPENHYPE_KEY", "mine")

    assert deployed._is_key_replaced()


def test_another_hashing_key_is_refused_whatever_the_researchers(deployed, tmp_path):
    path = tmp_path / "keys.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "hashing": "00" * 32}))

    with pytest.raises(Conflict, match="other keys are in force"):
        Deployment(NAME, DataDir(tmp_path), boto3.Session(region_name=aws.REGION))._is_key_replaced()
