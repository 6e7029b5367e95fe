"""What botocore knows of AWS in a package: all that the stage's functions call, and nothing else."""

import re
import shutil
from pathlib import Path

import botocore.session
import pytest
from botocore.exceptions import UnknownServiceError
from botocore.loaders import Loader

from deploy import aws_models, package
from tests import aws

STAGES = list(package.STAGES)
INSTALLED = Path(botocore.__file__).with_name("data")
CLIENT = re.compile(r'client\(\s*"(\w+)"')


@pytest.fixture(params=STAGES)
def trimmed(request, tmp_path):
    """A stage, and a session whose botocore has the data of its package."""
    for service in (*aws_models.SERVICES["score"], "sqs"):
        shutil.copytree(INSTALLED / service, tmp_path / service)
    for file in INSTALLED.glob("*.json"):
        shutil.copyfile(file, tmp_path / file.name)
    aws_models.trim(tmp_path, request.param)
    session = botocore.session.Session()
    loader = Loader(extra_search_paths=[str(tmp_path)], include_default_search_paths=False)
    session.register_component("data_loader", loader)
    return request.param, session


def described(operation):
    """Return an operation's input, output and errors as data."""
    shapes = [each for each in (operation.input_shape, operation.output_shape) if each]
    return [structure(each) for each in shapes], [each.name for each in operation.error_shapes]


def structure(shape):
    """Return a shape as data, with those that it consists of."""
    if shape.name == "AttributeValue":  # it contains itself
        return shape.name, [*shape.members]
    parts = {name: structure(part) for name, part in getattr(shape, "members", {}).items()}
    inner = [structure(getattr(shape, name)) for name in ("member", "key", "value") if hasattr(shape, name)]
    return shape.type_name, shape.serialization, parts, inner


@pytest.mark.parametrize("stage", STAGES)
def test_a_package_knows_the_services_that_its_sources_call(stage):
    """`work`, which removes CloudFront's copies of pictures, has the package of `score`."""
    called = {
        name
        for path in package.sources(stage)
        if path.suffix == ".py"
        for name in CLIENT.findall(path.read_text())
    }

    assert called == set(aws_models.SERVICES[stage])


def test_the_roles_allow_the_operations_that_the_packages_know():
    resources = aws.template("service", has_panel=True)["Resources"]
    roles = [resources[f"{name}Role"] for name in ("Api", "Score", "Work", "Panel")]
    statements = [s for r in roles for s in r["Properties"]["Policies"][0]["PolicyDocument"]["Statement"]]

    allowed = {action for statement in statements for action in statement["Action"]}
    known = {f"{service}:{name}" for service, names in aws_models.OPERATIONS.items() for name in names}
    assert known - {"lambda:Invoke"} | {"lambda:InvokeFunction"} == {
        action for action in allowed if not action.startswith(("s3:", "logs:"))
    }


def test_a_trimmed_model_describes_its_operations_as_the_whole_one(trimmed):
    stage, session = trimmed
    whole = botocore.session.Session()

    for service in aws_models.SERVICES[stage]:
        model, full = (each.get_service_model(service) for each in (session, whole))
        names = aws_models.OPERATIONS.get(service, full.operation_names)
        assert sorted(model.operation_names) == sorted(names)
        for name in names:
            assert described(model.operation_model(name)) == described(full.operation_model(name))


def test_clients_are_made_for_every_region_as_with_all_data(trimmed):
    stage, session = trimmed
    for service in aws_models.SERVICES[stage]:
        regions = botocore.session.Session().get_available_regions(service)
        assert session.get_available_regions(service) == regions
    client = session.create_client("ssm", "cn-north-1", aws_access_key_id="a", aws_secret_access_key="b")
    assert client.meta.endpoint_url == "https://ssm.cn-north-1.amazonaws.com.cn"
    with pytest.raises(UnknownServiceError):
        session.create_client("sqs", "eu-central-1")
