"""`openhype deploy` against a moto server: a plan, done once, undone whole, with rights that suffice."""

import ast
import io
import json
import os
import zipfile
from contextlib import contextmanager
from dataclasses import dataclass

import boto3
import pytest
import yaml
from botocore.exceptions import ClientError
from click.testing import CliRunner
from PIL import Image

from backend.cli import main
from backend.foundation.errors import Conflict, InvalidInput, StoreFailed
from backend.jobs.work import runner
from backend.jobs.worker import Worker
from backend.stores.datadir import DataDir
from backend.stores.dynamodb.store import create_table
from backend.stores.opening import open_store
from backend.stores.served_address import address_of, deployed_at, note_deployment
from backend.web import assets
from deploy.api import from_environment
from deploy.bucket_jobs import with_pictures
from deploy.deployment import Deployment
from deploy.package import Package
from deploy.s3_upload import Place, upload_pictures
from deploy.stacks import Change, Stack
from tests import aws, function

from .. import sample_studies as studies
from ..deploy.test_package import Caller, play

NAME = "openhype-test"


def known_to_moto(name):
    """Return a template without what moto does not know."""
    return yaml.safe_dump(aws.known_to_moto(aws.template(name)), sort_keys=False)


def package(folder, stage, content="1"):
    path = folder / f"{stage}-{content}.zip"
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("deploy/entry_point.py", f"# {stage} {content}")
    path.write_bytes(buffer.getvalue())
    return Package(path, stage, path.stat().st_size, 10, f"{stage}{content}".ljust(64, "0"))


def packages_in(folder, *stages):
    return {stage: package(folder, stage) for stage in ("api", "score", *stages)}


@pytest.fixture
def packages(tmp_path):
    return packages_in(tmp_path)


def deployment(data, name=NAME, text_of=known_to_moto):
    return Deployment(name, DataDir(data), boto3.Session(), text_of)


@dataclass(frozen=True)
class Applied:
    """The AWS in which a deployment was applied, and what came of it."""

    url: str
    outputs: dict[str, str]
    keys: str
    """The file of the data directory's keys."""


@contextmanager
def applied_once(moto_url, folder, one, packages):
    """Apply a deployment to a copy of an empty AWS; gives what tests make copies of in their turn."""
    aws.reset(moto_url)
    with aws.copied(moto_url) as url:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in aws.environment(url).items():
                patch.setenv(name, value)
            outputs = one(folder).apply(packages, report=str)
        yield Applied(url, outputs, (folder / "keys.json").read_text())


@pytest.fixture(scope="session")
def applied(moto_url, tmp_path_factory):
    folder = tmp_path_factory.mktemp("applied")
    with applied_once(moto_url, folder, deployment, packages_in(folder)) as applied:
        yield applied


@pytest.fixture
def deployed(applied, cloud, tmp_path):
    (tmp_path / "keys.json").write_text(applied.keys)
    one = deployment(tmp_path)
    one.outputs = applied.outputs
    return one


def verbs(changes):
    return {change.verb for change in changes}


@pytest.mark.slow("applies a stack of its own to moto")
def test_the_bucket_takes_uploads_from_pages_of_this_deployment_alone(cloud, tmp_path, packages):
    def with_addresses(name):
        template = aws.known_to_moto(aws.template(name, HasOrigins=True))
        if name == "service":
            values = {"Url": "https://hype.lab.example", "Address": "d1.cloudfront.net"}
            template["Outputs"] = {key: {"Value": value} for key, value in values.items()}
        return yaml.safe_dump(template, sort_keys=False)

    one = deployment(tmp_path, text_of=with_addresses)

    one.apply(packages, report=str)

    # moto's CloudFormation sets no CORS rules; test_template.py checks that they take the parameter
    assert one._stored.parameters()["Origins"] == "https://d1.cloudfront.net,https://hype.lab.example"
    variables = boto3.client("lambda").get_function(FunctionName=f"{NAME}-score")["Configuration"]
    assert variables["Environment"]["Variables"]["OPENHYPE_URL"] == "https://d1.cloudfront.net"
    assert verbs(one.plan(packages)) == {"leave"}


def objects(bucket):
    found = boto3.client("s3").list_objects_v2(Bucket=bucket).get("Contents", [])
    return {entry["Key"] for entry in found}


def test_a_plan_tells_all_that_would_be_made_and_makes_nothing(cloud, tmp_path, packages):
    plan = deployment(tmp_path).plan(packages)

    text = "\n".join(change.what for change in plan)
    assert verbs(plan) == {"create"}
    for what in (
        "Table (AWS::DynamoDB::Table)",
        "Bucket (",
        "ApiRole (",
        "ScoreFunction (",
        "the page",
        "keys",
    ):
        assert what in text
    assert boto3.client("cloudformation").describe_stacks()["Stacks"] == []
    assert boto3.client("ssm").describe_parameters()["Parameters"] == []


def test_deploying_makes_what_the_plan_says(deployed, tmp_path):
    outputs = deployed.outputs

    table = boto3.client("dynamodb").describe_table(TableName=outputs["Table"])["Table"]
    keys = boto3.client("ssm").get_parameter(Name=f"/openhype/{NAME}/keys", WithDecryption=True)["Parameter"]
    variables = boto3.client("lambda").get_function(FunctionName=f"{NAME}-api")["Configuration"]
    assert table["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    assert keys["Type"] == "SecureString"
    assert json.loads(keys["Value"])["researcher"] == DataDir(tmp_path).keys().researcher
    assert variables["Handler"] == "deploy.entry_point.handle"
    assert variables["Environment"]["Variables"]["OPENHYPE_STORE"] == (
        f"dynamodb://{outputs['Table']}?region={aws.REGION}&expire_days=30"
    )
    assert f"public/assets/{assets.version()}/task/main.js" in objects(outputs["Bucket"])


@pytest.mark.slow("applies a stack of its own to moto")
def test_deploying_again_changes_nothing(deployed, packages):
    before = objects(deployed.outputs["Bucket"])

    plan = deployed.plan(packages)
    deployed.apply(packages, report=str)

    assert verbs(plan) == {"leave"}
    assert objects(deployed.outputs["Bucket"]) == before


@pytest.mark.slow("applies a stack of its own to moto")
def test_new_code_changes_one_package_and_its_function(deployed, packages, tmp_path):
    packages = {**packages, "api": package(tmp_path, "api", "2")}

    plan = deployed.plan(packages)
    deployed.apply(packages, report=str)

    assert [change.what for change in plan if change.verb == "create"] == ["package of api, 0.0 MiB"]
    (stack,) = boto3.client("cloudformation").describe_stacks(StackName=NAME)["Stacks"]
    given = {p["ParameterKey"]: p["ParameterValue"] for p in stack["Parameters"]}
    assert given["ApiPackage"] == "packages/api-api2000000000000.zip"
    assert verbs(deployed.plan(packages)) == {"leave"}


@pytest.mark.slow("applies a stack of its own to moto")
def test_packages_of_earlier_versions_are_removed_once_the_new_ones_run(deployed, packages, tmp_path):
    bucket = deployed.outputs["Bucket"]
    before = {key for key in objects(bucket) if key.startswith("packages/")}
    newer = {stage: package(tmp_path, stage, "2") for stage in packages}

    plan = deployed.plan(newer)
    deployed.apply(newer, report=str)

    after = {key for key in objects(bucket) if key.startswith("packages/")}
    assert [c.what for c in plan if c.verb == "remove"] == ["packages of earlier versions, 2"]
    assert (len(before), len(after), before & after) == (2, 2, set())
    assert verbs(deployed.plan(newer)) == {"leave"}


@pytest.mark.slow("applies a stack of its own to moto")
def test_packages_stay_where_the_new_ones_could_not_be_put_to_work(deployed, packages, tmp_path, monkeypatch):
    bucket = deployed.outputs["Bucket"]
    before = {key for key in objects(bucket) if key.startswith("packages/")}

    def fail(self, parameters):
        raise StoreFailed("refused")

    monkeypatch.setattr(deployed._service, "apply", fail.__get__(deployed._service))
    with pytest.raises(StoreFailed, match="refused"):
        deployed.apply({stage: package(tmp_path, stage, "2") for stage in packages}, report=str)

    assert before <= objects(bucket)


def test_an_aws_that_cannot_be_reached_is_not_taken_for_wrong_credentials(cloud, tmp_path, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")

    with pytest.raises(StoreFailed, match=r"AWS could not be reached: .* check the network"):
        deployment(tmp_path).check()


@pytest.mark.slow("applies a stack of its own to moto")
def test_a_lost_file_of_the_page_is_brought_back(deployed, packages):
    lost = f"public/assets/{assets.version()}/task/main.js"
    boto3.client("s3").delete_object(Bucket=deployed.outputs["Bucket"], Key=lost)

    (change,) = [change for change in deployed.plan(packages) if change.verb != "leave"]
    deployed.apply(packages, report=str)

    assert change.what.startswith("the page, 1 of ")
    assert lost in objects(deployed.outputs["Bucket"])


def everything():
    stacks = {stack["StackName"] for stack in boto3.client("cloudformation").describe_stacks()["Stacks"]}
    buckets = {bucket["Name"] for bucket in boto3.client("s3").list_buckets()["Buckets"]}
    tables = set(boto3.client("dynamodb").list_tables()["TableNames"])
    roles = {role["RoleName"] for role in boto3.client("iam").list_roles()["Roles"]}
    functions = {f["FunctionName"] for f in boto3.client("lambda").list_functions()["Functions"]}
    parameters = {p["Name"] for p in boto3.client("ssm").describe_parameters()["Parameters"]}
    return stacks | buckets | tables | roles | functions | parameters


def test_destroying_takes_the_service_and_leaves_the_data(deployed, packages):
    bucket = deployed.outputs["Bucket"]
    kept = {"public/i/faces/00.png", "uploads/4f1c/1"}
    for key in kept:
        boto3.client("s3").put_object(Bucket=bucket, Key=key, Body=b"picture")

    plan = deployed.planned_removal(with_data=False)
    deployed.remove(with_data=False, report=str)

    assert {c.what for c in plan if c.verb == "leave"} >= {
        "pictures and uploads",
        f"keys in /openhype/{NAME}/keys",
    }
    assert objects(bucket) == kept
    assert everything() == {f"{NAME}-data", bucket, deployed.outputs["Table"], f"/openhype/{NAME}/keys"}
    again = deployed.apply(packages, report=str)
    assert (again["Table"], again["Bucket"]) == (deployed.outputs["Table"], bucket)


@pytest.mark.slow("applies a stack of its own to moto")
def test_destroying_with_the_data_leaves_nothing_of_ours_and_all_of_others(cloud, tmp_path, packages):
    client = boto3.client("s3")
    client.create_bucket(Bucket="theirs", CreateBucketConfiguration={"LocationConstraint": aws.REGION})
    boto3.client("ssm").put_parameter(Name="/theirs", Value="x", Type="String")
    other = deployment(tmp_path, "another")
    other.apply(packages, report=str)
    before = everything()
    one = deployment(tmp_path)
    bucket = one.apply(packages, report=str)["Bucket"]
    client.put_object(Bucket=bucket, Key="public/i/faces/00.png", Body=b"picture")

    one.remove(with_data=True, report=str)

    assert everything() == before
    assert one.planned_removal(with_data=True) == []


@pytest.mark.slow("applies a stack of its own to moto")
def test_a_deletion_that_broke_off_is_finished(deployed, monkeypatch):
    bucket, table = (deployed.outputs[name] for name in ("Bucket", "Table"))
    for key in objects(bucket):
        boto3.client("s3").delete_object(Bucket=bucket, Key=key)
    boto3.client("s3").delete_bucket(Bucket=bucket)
    client = boto3.client("dynamodb")
    client.update_table(TableName=table, DeletionProtectionEnabled=False)
    client.delete_table(TableName=table)
    removed = []  # moto, unlike CloudFormation, cannot delete a stack whose parts are gone
    monkeypatch.setattr(Stack, "remove", lambda self: removed.append(self.name))

    deployed.remove(with_data=True, report=str)

    assert removed == [NAME, f"{NAME}-eu-central-1-budget", f"{NAME}-data"]


def test_a_stack_of_somebody_else_is_left_alone(cloud, tmp_path):
    body = json.dumps({"Resources": {"T": {"Type": "AWS::SNS::Topic"}}})
    boto3.client("cloudformation").create_stack(StackName=NAME, TemplateBody=body)

    with pytest.raises(Conflict, match=f"there is a stack {NAME} that is not this deployment's"):
        deployment(tmp_path).check()
    with pytest.raises(Conflict, match="deploy under another name"):
        deployment(tmp_path).remove(with_data=True, report=str)


@pytest.mark.parametrize(
    "name",
    [
        "another-data",
        "a-budget",
        "",
        "-a",
        "a-",
        "1a",
        "a_b",
        "a.b",
        "a/b",
        "a b",
        "ä",
        "a" * 41,
        "a\n",
        "..",
        "--yes",
    ],
)
def test_a_name_that_cannot_be_a_deployments_is_refused_before_anything(cloud, tmp_path, name):
    with pytest.raises(InvalidInput, match="a deployment's name must"):
        deployment(tmp_path, name)


@pytest.mark.slow("two whole deployments are applied")
def test_nothing_that_is_called_by_the_name_of_one_touches_the_other(cloud, tmp_path, packages, command):
    for name in ("one", "one-more"):
        deployment(tmp_path, name).apply(packages, report=str)
    before = everything()

    for arguments in (["--destroy", "--with-data"], ["--destroy"], []):
        more = [*arguments, "one-data"] if "--with-data" in arguments else arguments
        done = command("one-data", *more, "--yes")
        assert (done.exit_code, done.stderr.count("\n")) == (1, 1), done.output
        assert "must not end in -data" in done.stderr
    assert everything() == before
    deployment(tmp_path, "one").remove(with_data=True, report=str)
    assert {what for what in before if "one-more" in what} == {what for what in everything() if "one" in what}


COMMANDS = [
    [],
    ["--panel", "none"],
    ["--panel", "prolific"],
    ["--set", "write_units=10"],
    ["--at-once", "50"],
    ["--destroy"],
    ["--destroy", "--with-data", "one"],
]


@pytest.mark.slow("applies a stack of its own to moto")
@pytest.mark.parametrize("has_keys", [True, False])
def test_a_command_for_the_deployment_of_another_data_directory_changes_nothing(
    cloud, tmp_path, packages, command, monkeypatch, has_keys
):
    monkeypatch.setenv("PROLIFIC_TOKEN", "t" * 40)
    theirs, ours = DataDir(tmp_path / "theirs"), DataDir(tmp_path / "ours")
    Deployment("one", theirs, boto3.Session(), known_to_moto).apply(packages, report=str)
    if has_keys:
        ours.keys()
    before = states()

    for arguments in COMMANDS:
        done = command("one", *arguments, "--yes", "--data", str(ours.root))
        assert (done.exit_code, done.stderr.splitlines()[-1].count("other keys are in force")) == (1, 1), (
            done.output
        )
        assert states() == before


def states():
    """Return everything there is, and when and how it was changed last."""
    stacks = boto3.client("cloudformation").describe_stacks()["Stacks"]
    found = {stack["StackName"]: (stack["StackStatus"], stack.get("Parameters")) for stack in stacks}
    parameters = {
        name: boto3.client("ssm").get_parameter(Name=name)["Parameter"]["Version"]
        for name in everything()
        if name.startswith("/")
    }
    return everything(), found, parameters


@pytest.mark.parametrize(
    ("stack", "tags"),
    [
        ("openhype-test", {"openhype": "another"}),
        ("openhype-test", {"openhype": NAME, "openhype-role": "data"}),
        ("openhype-test-data", {"openhype": "another"}),
        ("openhype-test-data", {"openhype": NAME, "openhype-role": "service"}),
        (f"openhype-test-{aws.REGION}-budget", {"openhype": NAME, "openhype-role": "service"}),
    ],
)
def test_a_stack_of_another_deployment_or_role_is_left_alone(cloud, tmp_path, stack, tags):
    body = json.dumps({"Resources": {"T": {"Type": "AWS::SNS::Topic"}}})
    given = [{"Key": key, "Value": value} for key, value in tags.items()]
    region = "us-east-1" if stack.endswith("-budget") else aws.REGION
    client = boto3.client("cloudformation", region_name=region)
    client.create_stack(StackName=stack, TemplateBody=body, Tags=given)

    for work in ("check", "remove"):
        with pytest.raises(Conflict, match=f"there is a stack {stack} that is not this deployment's"):
            getattr(deployment(tmp_path), work)(*([True, str] if work == "remove" else []))
    assert client.describe_stacks(StackName=stack)["Stacks"]


def test_other_keys_are_not_overwritten(deployed, packages, tmp_path):
    with pytest.raises(Conflict, match="other keys are in force"):
        deployment(tmp_path / "elsewhere").plan(packages)


def test_without_a_region_nothing_begins(cloud, tmp_path, monkeypatch):
    monkeypatch.delenv("AWS_DEFAULT_REGION")

    with pytest.raises(InvalidInput, match="no AWS region is set"):
        deployment(tmp_path)


@pytest.mark.parametrize(
    "region", ["eu-south-2", "eu-central-2", "il-central-1", "cn-north-1", "us-gov-west-1", "x"]
)
def test_a_region_without_function_urls_is_refused_before_anything(cloud, command, region):
    done = command(NAME, "--yes", "--region", region)

    assert (done.exit_code, done.stderr.count("\n")) == (1, 1), done.output
    assert f"the region {region} does not have all that a deployment needs" in done.stderr
    assert "eu-central-1, eu-north-1" in done.stderr
    assert "package of" not in done.output


def test_what_an_earlier_version_left_in_such_a_region_can_be_removed(cloud, command):
    done = command(NAME, "--destroy", "--yes", "--region", "eu-south-2")

    assert (done.exit_code, done.output.splitlines()[-1]) == (0, "nothing to do")


def test_without_credentials_nothing_begins(cloud, tmp_path, monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)

    with pytest.raises(InvalidInput, match="no AWS credentials found"):
        deployment(tmp_path).check()


def test_a_check_tells_whose_account_it_is(cloud, tmp_path):
    checked = deployment(tmp_path).check()

    assert (checked.account, checked.region) == (aws.ACCOUNT, aws.REGION)
    assert "could not be read" in checked.notes[0]  # moto has no account settings


def role_of(logical):
    parts = boto3.client("cloudformation").describe_stack_resources(StackName=NAME)["StackResources"]
    (role,) = [part["PhysicalResourceId"] for part in parts if part["LogicalResourceId"] == logical]
    return role


def policy_of(role):
    policy = boto3.client("iam").get_role_policy(RoleName=role, PolicyName="openhype")["PolicyDocument"]
    return ast.literal_eval(policy) if isinstance(policy, str) else policy  # moto sends Python's own text


@pytest.fixture
def as_role(deployed, cloud, monkeypatch):
    """Become a role of the service, and have every request checked.

    Moto compares resources for S3 alone, and takes those of other services for `*`.
    """

    def become(logical):
        iam, role = boto3.client("iam"), role_of(logical)
        policy = policy_of(role)
        for statement in policy["Statement"]:
            statement["Resource"] = "*"
        iam.put_role_policy(RoleName=role, PolicyName="openhype", PolicyDocument=json.dumps(policy))
        arn = iam.get_role(RoleName=role)["Role"]["Arn"]
        got = boto3.client("sts").assume_role(RoleArn=arn, RoleSessionName="test")["Credentials"]
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", got["AccessKeyId"])
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", got["SecretAccessKey"])
        monkeypatch.setenv("AWS_SESSION_TOKEN", got["SessionToken"])
        monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
        aws.enforce_permissions(cloud)

    return become


@pytest.mark.parametrize("stage", ["Api", "Score", "Work"])
def test_the_rights_of_a_function_are_for_its_own_table_keys_and_log(deployed, stage):
    table = boto3.client("dynamodb").describe_table(TableName=deployed.outputs["Table"])["Table"]
    keys = boto3.client("ssm").get_parameter(Name=deployed.keys_name)["Parameter"]
    (log,) = boto3.client("logs").describe_log_groups(
        logGroupNamePrefix=f"/aws/lambda/{NAME}-{stage.lower()}"
    )["logGroups"]

    resources = {statement["Resource"] for statement in policy_of(role_of(f"{stage}Role"))["Statement"]}

    bucket = f"arn:aws:s3:::{deployed.outputs['Bucket']}"
    folders = ("public/i", "uploads", "downloads")
    used = {bucket, *(f"{bucket}/{folder}/*" for folder in folders)}
    besides = {
        "Api": set(),
        "Score": {*used, f"arn:aws:lambda:{aws.REGION}:{aws.ACCOUNT}:function:{NAME}-work"},
        "Work": used,
    }
    assert resources == {table["TableArn"], keys["ARN"], log["arn"], *besides[stage]}


def test_the_role_of_evaluators_reads_its_keys_and_nothing_in_the_bucket(deployed, as_role, tmp_path):
    environment = {
        "OPENHYPE_STORE": f"sqlite:///{tmp_path}/a.db",
        "OPENHYPE_KEYS": f"ssm:{deployed.keys_name}",
    }
    as_role("ApiRole")

    app = from_environment(environment, frozenset({"sessions"}))

    key = DataDir(tmp_path).keys().researcher
    status = app.test_client().get("/api/studies/x/status", headers={"Authorization": f"Bearer {key}"})
    assert (status.status_code, status.json["error"]["code"]) == (404, "unknown_study")
    with pytest.raises(ClientError, match="AccessDenied"):
        boto3.client("s3").list_objects_v2(Bucket=deployed.outputs["Bucket"])


def variables():
    """Return what the functions are told by the environment."""
    found = boto3.client("lambda").get_function(FunctionName=f"{NAME}-api")["Configuration"]
    return found["Environment"]["Variables"]


def credentials():
    return {name: value for name, value in os.environ.items() if name.startswith("AWS_")}


@pytest.mark.slow("packages are built by pip")
def test_the_packaged_functions_play_and_score_with_the_rights_they_have(
    deployed, as_role, tmp_path, cloud, monkeypatch
):
    told = variables()
    store = open_store(told["OPENHYPE_STORE"], tmp_path)
    study = studies.study(images=8)
    store.add_study(study, studies.pool(study))
    key = DataDir(tmp_path).keys().researcher
    as_role("ApiRole")
    running = function.Function("api", {**credentials(), **told, "AWS_REGION": aws.REGION})
    call = Caller(running, function.function_url_event)

    for i in range(6):
        done = play(call, "faces", f"p{i}")
    status, progress = call("GET", "/api/studies/faces/status", token=key)
    running.close()

    assert (done["complete"], status, progress["responses"]) == (True, 200, 48)

    aws.enforce_nothing(cloud)
    for name, value in aws.environment(cloud).items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_SESSION_TOKEN")
    as_role("ScoreRole")
    running = function.Function("score", {**credentials(), **told, "AWS_REGION": aws.REGION})
    status, scores = Caller(running, function.function_url_event)(
        "GET", "/api/studies/faces/scores", token=key
    )
    log = running.log()
    running.close()
    store.close()

    assert (status, sum(model["evaluators"] for model in scores["models"])) == (200, 6), log


@pytest.fixture
def as_researcher(deployed, cloud, monkeypatch):
    """Become a colleague with the policy for researchers, and have every request checked."""

    def become():
        iam = boto3.client("iam")
        iam.create_user(UserName="researcher")
        iam.attach_user_policy(UserName="researcher", PolicyArn=deployed.outputs["ResearcherPolicy"])
        key = iam.create_access_key(UserName="researcher")["AccessKey"]
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", key["AccessKeyId"])
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", key["SecretAccessKey"])
        monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
        aws.enforce_permissions(cloud)

    return become


def pictures_in(folder):
    folder.mkdir(parents=True)
    for i in range(5):
        (folder / f"{i:032x}.png").write_bytes(b"picture %d" % i)
    return folder


class OnTable:
    """A study `faces` in a table of its own, its pictures in the deployment's bucket; used by a colleague."""

    def __init__(self, deployed, table, folder):
        self.table, self.place = table, Place(deployed.outputs["Bucket"], "public/")
        self.folder, self.store = folder / "colleague", open_store(table, folder)
        study = studies.study("faces", images=8)
        self.store.add_study(study, studies.pool(study))
        upload_pictures(self.place, "faces", pictures_in(folder / "faces"))

    def run(self, *arguments):
        return CliRunner().invoke(main, [*arguments, "--store", self.table, "--data", str(self.folder)])

    def pictures(self):
        return [key for key in objects(self.place.bucket) if key.startswith("public/i/faces/")]


@pytest.fixture
def on_table(deployed, table, tmp_path):
    shared = OnTable(deployed, table, tmp_path)
    yield shared
    shared.store.close()


@pytest.mark.parametrize("names_bucket", [True, False])
def test_the_worker_removes_the_pictures_of_a_study_that_a_colleague_deletes(
    on_table, as_researcher, cloud, tmp_path, monkeypatch, names_bucket
):
    note_deployment(on_table.store, "https://d1.cloudfront.net")
    as_researcher()

    place = ["--images", str(on_table.place)] if names_bucket else []
    said = on_table.run("delete", "faces", "--yes", "faces", *place)
    left = on_table.run("status", "faces")

    assert said.exit_code == 0, said.output
    assert "faces is deleted but for its pictures" in said.output
    assert "the deployment's function `work` removes these" in said.output
    assert "there is no study 'faces'" in left.output
    aws.enforce_nothing(cloud)
    assert len(on_table.pictures()) == 5
    worker = Worker(
        on_table.store,
        DataDir(tmp_path / "instance"),
        find=lambda kind: with_pictures(kind, runner(kind), on_table.place),
    )
    assert [job.state for job in worker.run_until_idle()] == ["done"]
    assert (on_table.pictures(), [*on_table.store.studies()]) == ([], [])


def test_a_colleague_is_told_who_must_delete_pictures_where_there_is_no_deployment(on_table, as_researcher):
    as_researcher()

    said = on_table.run("delete", "faces", "--yes", "faces", "--images", str(on_table.place))

    assert said.exit_code == 1
    assert "who may delete in the bucket finishes it with: openhype delete faces --images" in said.output


def test_create_prints_the_deployments_link_on_every_machine(table, tmp_path):
    """The table knows it: a colleague's data directory has no address."""
    for name in ("real", "gan"):
        (tmp_path / name).mkdir()
        for i in range(12):
            Image.effect_noise((16, 16), 50 + i).convert("RGB").save(tmp_path / name / f"{i}.png")
    store = open_store(table, tmp_path)
    note_deployment(store, "https://old.example")
    note_deployment(store, "https://d1.cloudfront.net")
    folders = ["--real", str(tmp_path / "real"), "--model", f"gan={tmp_path / 'gan'}", "--size", "16"]
    command = ["create", "faces", *folders, "--set", "images=10", "--store", table]

    said = CliRunner().invoke(main, [*command, "--data", str(tmp_path / "colleague")])
    note_deployment(store, None)

    assert "next: open https://d1.cloudfront.net/s/faces" in said.output
    assert deployed_at(store) is None
    store.close()


def test_the_researchers_policy_is_enough_to_upload_and_for_no_more(deployed, as_researcher, tmp_path):
    folder = pictures_in(tmp_path / "faces")
    as_researcher()
    bucket = deployed.outputs["Bucket"]

    assert upload_pictures(Place(bucket, "public/"), "faces", folder) == 5
    assert upload_pictures(Place(bucket, "public/"), "faces", folder) == 0
    with pytest.raises(StoreFailed, match="AccessDenied"):
        upload_pictures(Place(bucket, "packages/"), "faces", folder)
    with pytest.raises(ClientError, match="AccessDenied"):
        boto3.client("s3").delete_object(Bucket=bucket, Key=f"public/i/faces/{0:032x}.png")


@pytest.fixture
def built():
    for stage in ("api", "score"):
        function.built(stage)


@pytest.fixture
def command(cloud, tmp_path):
    """Run `openhype deploy` on the packages of the other tests; a test that needs them takes `built`."""
    function.BUILT.mkdir(parents=True, exist_ok=True)
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "packages").symlink_to(function.BUILT)

    def run(*arguments):
        return CliRunner().invoke(main, ["deploy", *arguments, "--data", str(tmp_path)])

    return run


@pytest.mark.slow("packages are built by pip")
def test_the_command_shows_the_plan_and_does_nothing_without_yes(built, command):
    done = command(NAME)

    assert done.exit_code == 0, done.output
    assert f"{NAME} in {aws.REGION}, account {aws.ACCOUNT}" in done.output
    assert f" create  {NAME}: Distribution (AWS::CloudFront::Distribution)" in done.output
    assert "costs: $0.21 a HYPE-time study of 30 evaluators" in done.output
    assert done.output.endswith("nothing was changed; do it with --yes\n")
    assert boto3.client("cloudformation").describe_stacks()["Stacks"] == []


@pytest.mark.slow("packages are built by pip")
def test_the_command_changes_nothing_where_the_plan_is_empty(built, command, monkeypatch):
    outputs = {"Url": "https://d1.cloudfront.net", "Table": "t", "Bucket": "b", "Region": aws.REGION}
    monkeypatch.setattr(Deployment, "plan", lambda self, packages: [Change("leave", "everything")])
    monkeypatch.setattr(Deployment, "current", lambda self: outputs)
    monkeypatch.setattr(Deployment, "apply", None)  # a call would fail

    done = command(NAME)

    assert done.exit_code == 0, done.output
    assert "nothing to do\nthe page is at https://d1.cloudfront.net/s/STUDY" in done.output
    assert "the console is at https://d1.cloudfront.net/console: sign in" in done.output


def test_other_commands_know_the_address_of_a_deployment(command, monkeypatch, tmp_path):
    outputs = {"Url": "https://d1.cloudfront.net", "Table": "t", "Bucket": "b", "Region": aws.REGION}
    monkeypatch.setattr("deploy.deployment.build_packages", lambda *_, **__: {})
    monkeypatch.setattr(Deployment, "plan", lambda self, packages: [Change("leave", "everything")])
    monkeypatch.setattr(Deployment, "current", lambda self: outputs)

    command(NAME)

    known = address_of(DataDir(tmp_path), f"dynamodb://t?region={aws.REGION}")
    assert known == "https://d1.cloudfront.net"


def test_a_deployments_table_knows_its_address_until_it_is_destroyed(command, monkeypatch, tmp_path):
    outputs = {"Url": "https://d1.cloudfront.net", "Table": "table", "Bucket": "b", "Region": aws.REGION}
    change = [Change("create", "everything")]
    monkeypatch.setattr("deploy.deployment.build_packages", lambda *_, **__: {})
    monkeypatch.setattr(Deployment, "plan", lambda self, packages: change)
    monkeypatch.setattr(Deployment, "apply", lambda self, packages, report: outputs)
    monkeypatch.setattr(Deployment, "current", lambda self: outputs)
    monkeypatch.setattr(Deployment, "planned_removal", lambda self, with_data: [Change("remove", "all")])
    monkeypatch.setattr(Deployment, "remove", lambda self, with_data, report: None)
    url = f"dynamodb://table?region={aws.REGION}"
    create_table(url)
    store = open_store(url, tmp_path)

    deployed = command(NAME, "--yes").exit_code, deployed_at(store)
    destroyed = command(NAME, "--destroy", "--yes").exit_code, deployed_at(store)

    assert (deployed, destroyed) == ((0, "https://d1.cloudfront.net"), (0, None))
    store.close()


def test_the_command_has_nothing_to_destroy_where_nothing_is(command):
    done = command(NAME, "--destroy", "--yes")

    assert (done.exit_code, done.output.splitlines()[-1]) == (0, "nothing to do")


@pytest.mark.parametrize("arguments", [["--with-data", NAME], ["--destroy", "--with-data", "another"]])
def test_data_are_only_destroyed_by_name(command, arguments):
    done = command(NAME, *arguments)

    assert done.exit_code == 2
    assert f"--with-data {NAME}" in done.output


def test_what_aws_refuses_is_one_line(command, cloud):
    aws.enforce_permissions(cloud)

    done = command(NAME)

    assert (done.exit_code, done.stderr.count("\n")) == (1, 1)
    assert "AWS does not accept the credentials" in done.stderr
