"""A replaced researcher's key ends in every instance, however old and warm it is."""

import json

import boto3
import pytest

from backend.foundation.errors import StoreFailed
from backend.stores.datadir import Keys
from deploy import secure_parameters
from deploy.api import from_environment
from deploy.secure_parameters import FRESH_S, CurrentKeys

NAME = "/openhype/pilot/keys"


class Parameter:
    """A parameter that is read, and a time of day that is set."""

    def __init__(self):
        self.key, self.at, self.reads, self.error = "old", 1000.0, 0, None

    def read(self):
        self.reads += 1
        if self.error:
            raise self.error
        return Keys(self.key, b"hashing")


@pytest.fixture
def parameter():
    return Parameter()


@pytest.fixture
def keys(parameter):
    return CurrentKeys(parameter.read, lambda: parameter.at)


def test_the_earlier_key_ends_within_a_minute_in_an_instance_that_runs_on(parameter, keys):
    parameter.key = "new"

    parameter.at += FRESH_S - 1
    assert (keys.researcher, parameter.reads) == ("old", 1)
    parameter.at += 1
    assert (keys.researcher, keys.hashing, parameter.reads) == ("new", b"hashing", 2)


@pytest.mark.parametrize("seconds", [-3600, 24 * 3600])
def test_a_process_that_was_frozen_or_whose_clock_was_put_back_reads_the_key_again(parameter, keys, seconds):
    parameter.key = "new"
    parameter.at += seconds

    assert keys.researcher == "new"


def test_where_the_key_cannot_be_read_the_earlier_one_opens_nothing(parameter, keys):
    parameter.error = StoreFailed("throttled")
    parameter.at += FRESH_S

    for _ in range(2):
        with pytest.raises(StoreFailed, match="throttled"):
            keys.researcher  # noqa: B018 - it reads
    assert keys.hashing == b"hashing"  # evaluators do not notice
    parameter.error = None
    assert keys.researcher == "old"


def test_a_slow_reading_of_the_earlier_key_does_not_prolong_it(parameter):
    def slow():
        key = parameter.key
        parameter.at += 50
        return Keys(key, b"")

    keys = CurrentKeys(slow, lambda: parameter.at)  # which took 50 s
    parameter.key = "new"
    parameter.at += FRESH_S - 50

    assert keys.researcher == "new"


def store_keys(researcher):
    value = json.dumps({"researcher": researcher, "hashing": "00ff"})
    boto3.client("ssm").put_parameter(Name=NAME, Type="SecureString", Value=value, Overwrite=True)


@pytest.fixture
def http(cloud, tmp_path):
    store_keys("old")
    environment = {"OPENHYPE_STORE": f"sqlite:///{tmp_path}/a.db", "OPENHYPE_KEYS": f"ssm:{NAME}"}
    return from_environment(environment, frozenset({"scores", "results"})).test_client()


def status(http, key):
    return http.get("/api/members", headers={"X-Openhype-Token": key}).status_code


def test_a_warm_instance_refuses_the_earlier_key_and_sign_ins_by_it(http, monkeypatch):
    assert http.post("/api/sign-in", json={"token": "old"}).status_code == 200
    assert http.get("/api/members").status_code == 200  # by the cookie
    store_keys("new")
    monkeypatch.setattr(secure_parameters, "FRESH_S", 0.0)  # as after a minute

    assert (status(http, "old"), status(http, "new")) == (403, 200)
    assert http.get("/api/members").status_code == 403


def test_strangers_hear_nothing_of_why_the_keys_could_not_be_read(http, monkeypatch):
    boto3.client("ssm").delete_parameter(Name=NAME)
    monkeypatch.setattr(secure_parameters, "FRESH_S", 0.0)

    reply = http.get("/api/members", headers={"X-Openhype-Token": "old"})

    assert reply.status_code == 503
    assert NAME not in reply.text


def test_a_cold_start_waits_shortly_for_keys_and_tries_again(cloud):
    config = secure_parameters._client().meta.config

    # a try lasts until the read timeout; standard mode pauses up to 1 and 2 s between three tries
    tries = config.retries["total_max_attempts"]
    assert tries == 3
    assert tries * config.read_timeout + 1 + 2 < 10  # Lambda's time to initialise
    assert config.connect_timeout <= 1
