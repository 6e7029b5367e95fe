"""An AWS of this machine's own, for whatever test asks for one."""

import os

import pytest

from tests import aws


@pytest.fixture(scope="session")
def moto_url():
    with aws.moto_server() as url:
        yield url


@pytest.fixture
def cloud(moto_url, monkeypatch):
    """An empty AWS that boto3 finds by the environment; gives its URL."""
    aws.reset(moto_url)
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in aws.environment(moto_url).items():
        monkeypatch.setenv(name, value)
    return moto_url
