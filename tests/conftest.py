"""The environment of all tests, and an AWS of this machine's own for whatever test asks for one."""

import os
import secrets
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import botocore.loaders
import botocore.session
import pytest

from tests import isolation

isolation.clear(os.environ)
isolation.guard_data(isolation.ROOT, Path.cwd())

from backend.stores.dynamodb.store import create_table  # noqa: E402
from tests import aws, dynamodb  # noqa: E402
from tests.markers import pytest_collection_modifyitems  # noqa: E402, F401


@pytest.fixture(scope="session", autouse=True)
def descriptions_of_aws():
    """Have the clients of all sessions share the descriptions of AWS' services, which take 0.1 s to read."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(botocore.session, "create_loader", cache(botocore.loaders.create_loader))
        yield


@pytest.fixture(scope="session")
def moto_url():
    with aws.moto_server() as url:
        yield url


@pytest.fixture
def cloud(moto_url, request, monkeypatch):
    """An AWS that boto3 finds by the environment; gives its URL.

    It is empty, or where a test takes a fixture `applied` a copy of the AWS that this one gives the URL of.
    """
    with ExitStack() as stack:
        if "applied" in request.fixturenames:
            url = stack.enter_context(aws.copied(request.getfixturevalue("applied").url))
        else:
            aws.reset(url := moto_url)
        for name, value in aws.environment(url).items():
            monkeypatch.setenv(name, value)
        yield url


@pytest.fixture(scope="session")
def dynalite():
    """dynalite, in memory, one for all tests of a process."""
    emulator = dynamodb.dynalite()
    yield emulator
    emulator.stop()


@pytest.fixture(scope="session")
def dynamodb_local():
    emulator = dynamodb.dynamodb_local()
    if emulator is None:
        pytest.skip("DynamoDB Local is not here (tests/dynamodb.py)")
    yield emulator
    emulator.stop()


@pytest.fixture
def table(dynalite):
    """The URL of a fresh table in dynalite."""
    url = dynalite.url(f"t{secrets.token_hex(6)}")
    create_table(url)
    return url
