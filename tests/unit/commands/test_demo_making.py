"""The sample studies made beside the server: how far they are, and that nothing is left running."""

import subprocess
import threading
import time
from datetime import UTC, datetime

import pytest

from backend.administration.delete import delete
from backend.commands import demo_studies as demo
from backend.commands.demo_making import Making
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store
from backend.studies import lifecycle

from .. import sample_studies as studies

URL = "sqlite:///openhype.db"


@pytest.fixture
def data(tmp_path):
    return DataDir(tmp_path)


@pytest.fixture
def store(tmp_path):
    store = open_store(URL, tmp_path)
    yield store
    store.close()


def nothing(*_):
    pass


def working_in(group):
    """Return what the processes of a group are, but for those that ended and wait to be reaped."""
    listed = subprocess.run(["ps", "-eo", "pgid=,stat=,args="], capture_output=True, text=True, check=True)
    rows = [line.split(maxsplit=2) for line in listed.stdout.splitlines()]
    return [args for pgid, stat, *args in rows if int(pgid) == group and not stat.startswith("Z")]


def test_what_is_missing_is_not_ready_and_other_studies_always_are(store, data):
    faces = studies.study("photos")
    store.add_study(faces, studies.pool(faces))

    making = Making(store, URL, data, nothing)

    standing = making.status()
    assert [(row["study"], row["is_ready"], row["share"]) for row in standing["studies"]] == [
        ("photos", True, 1.0),
        ("flashes", False, 0.0),
        ("clips", False, 0.0),
    ]
    assert (standing["examples"], standing["problem"]) == ([], None)
    assert (making.is_ready("photos"), making.is_ready("flashes"), making.is_ready("faces")) == (
        True,
        False,
        True,
    )


def test_nothing_is_begun_where_all_is_there(store, data):
    for sample in demo.SAMPLES:
        study = studies.study(sample.name)
        store.add_study(study, studies.pool(study))
    for number in range(len(demo.EXAMPLES)):
        path = demo.example(data, number)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")

    making = Making(store, URL, data, nothing)
    making.start()
    making.stop()

    assert not making.is_needed


def test_a_sample_study_that_was_played_and_deleted_is_neither_made_again_nor_offered(store, data):
    for sample in demo.SAMPLES:
        study = studies.study(sample.name)
        store.add_study(study, studies.pool(study))
    lifecycle.begin(store, store.study("photos"), "2026-01-01T00:00:00.000Z")
    delete(store, data, store.study("photos"), datetime(2026, 1, 2, tzinfo=UTC))

    making = Making(store, URL, data, nothing)

    assert [row["study"] for row in making.status()["studies"]] == ["flashes", "clips"]
    assert demo.missing(store) == []


@pytest.mark.slow("starts the demo and its processes")
def test_the_work_ends_with_the_server_and_all_its_processes(store, data):
    has_begun = threading.Event()
    making = Making(store, URL, data, lambda *_: has_begun.set())

    making.start()
    group = making._process.pid
    assert has_begun.wait(60)
    making.stop()

    assert making._process.returncode is not None
    until = time.monotonic() + 20  # the interpreter's own resource tracker goes a moment later
    while working_in(group):
        assert time.monotonic() < until, working_in(group)
        time.sleep(0.05)
    assert demo.missing(store) == list(demo.SAMPLES)


def test_what_went_wrong_is_told(store, data):
    data.cache("demo").parent.mkdir(parents=True)
    data.cache("demo").write_text("a file where a folder is to be")
    making = Making(store, URL, data, nothing)

    making.start()
    making._process.wait(60)
    making._listener.join(10)

    assert making.status()["problem"] == "a part of its path is a file, not a folder"
    making.stop()
