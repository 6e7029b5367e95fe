"""Where a store is served, as its data directory knows."""

import socket
import stat

import pytest

from backend.stores.datadir import DataDir
from backend.stores.served_address import address_of, served, write_address

STORE, OTHER = "sqlite:///openhype.db", "dynamodb://faces?region=eu-central-1"
BASE = "https://study.lab.edu"


@pytest.fixture
def data(tmp_path):
    return DataDir(tmp_path / "data")


@pytest.fixture
def port():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()


def test_looking_makes_nothing(data):
    assert address_of(data, STORE) is None
    assert not data.root.exists()


def test_a_server_is_known_while_it_runs(data, port):
    with served(data, STORE, BASE, port):
        during = address_of(data, STORE), address_of(data, OTHER)

    assert during == (BASE, None)
    assert address_of(data, STORE) is None
    assert stat.S_IMODE((data.root / "addresses.json").stat().st_mode) == 0o600


def test_a_server_that_was_killed_is_not_known(data, port):
    write_address(data, STORE, BASE, port)
    with socket.create_server(("127.0.0.1", 0)) as gone:
        write_address(data, OTHER, BASE, gone.getsockname())

    assert (address_of(data, STORE), address_of(data, OTHER)) == (BASE, None)


def test_a_later_server_stays_known_when_an_earlier_one_ends(data, port):
    with served(data, STORE, "http://127.0.0.1:1", port):
        write_address(data, STORE, BASE, port)

    assert address_of(data, STORE) == BASE


def test_a_deployment_stays_known_and_goes_before_a_server_of_this_machine(data, port):
    write_address(data, OTHER, BASE, None)

    with served(data, OTHER, "http://127.0.0.1:1", port):
        during = address_of(data, OTHER)

    assert during == address_of(data, OTHER) == BASE
    write_address(data, OTHER, None, None)
    assert address_of(data, OTHER) is None


def test_a_file_that_is_cut_off_says_nothing(data):
    data.keys()
    (data.root / "addresses.json").write_text('{"sqlite')

    assert address_of(data, STORE) is None
