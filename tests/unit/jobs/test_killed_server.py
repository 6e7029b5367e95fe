"""`kill -9` of a server whose worker makes a study or a file: nothing half made, the next ends the work."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

import pytest

from backend.foundation.timestamps import utc_now
from backend.jobs import queue
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store
from tests.ports import free_port

from .. import sample_studies as studies
from ..test_crash import server
from .ordered import Orders, noise

CHILDREN = Path(f"/proc/self/task/{os.getpid()}/children")


class Served:
    """A served data directory."""

    def __init__(self, root, port):
        self.data, self.port = DataDir(root), port
        self.store = open_store("sqlite:///openhype.db", root)
        self.clock = utc_now

    def ask(self, path, body=None):
        content = None if body is None else json.dumps(body).encode()
        headers = {"X-Openhype-Token": self.data.keys().researcher, "Content-Type": "application/json"}
        url = f"http://127.0.0.1:{self.port}/api{path}"
        with urllib.request.urlopen(urllib.request.Request(url, content, headers), timeout=30) as reply:
            return json.load(reply)

    def refused(self, path):
        """Return why a file is not sent at once; None if it is."""
        headers = {"X-Openhype-Token": self.data.keys().researcher, "Prefer": "wait=0"}
        url = f"http://127.0.0.1:{self.port}/api{path}"
        try:
            urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=30).close()
        except urllib.error.HTTPError as reply:
            with reply:
                return json.load(reply)["error"]
        return None

    def until(self, holds):
        """Wait until a condition holds; the worker has the lowest priority, and takes its time."""
        end = time.monotonic() + 180
        while not (found := holds()):
            assert time.monotonic() < end
            time.sleep(0.05)
        return found


def children_of(process):
    threads = Path(f"/proc/{process.pid}/task").iterdir()
    return [int(child) for each in threads for child in (each / "children").read_text().split()]


def worker_of(process):
    return children_of(process)[0]


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not CHILDREN.exists(), reason="this system does not list the children of processes")
@pytest.mark.slow("a process is killed again and again")
def test_a_study_is_made_though_its_server_is_killed(tmp_path):
    served = Served(tmp_path, free_port())
    orders = Orders(served)
    body = orders.faces(
        real=orders.sent(noise(0, 150, size=(64, 64))),
        models=[{"model": "gan", "upload": orders.sent(noise(1000, 150, size=(64, 64)))}],
        settings={"images": 20, "size_px": 128},
    )
    with server(tmp_path, served.port) as process:
        job = served.until(lambda: served.ask("/studies", body))["job"]
        served.until(lambda: [*tmp_path.glob("images/.partial-*/pictures/*")])
        worker = worker_of(process)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        served.until(lambda: not is_alive(worker))
    with server(tmp_path, served.port):
        served.until(lambda: served.ask(f"/jobs/{job}")["state"] not in ("queued", "running"))
        found = served.ask(f"/jobs/{job}")

    assert (found["state"], found["reason"]) == ("done", None)
    assert [study.name for study in served.store.studies()] == ["faces"]
    assert {path.name for path in (tmp_path / "images").iterdir()} == {"faces"}
    assert [path.name for path in (tmp_path / "jobs").iterdir()] == [".place"]
    served.store.close()


@pytest.mark.skipif(not CHILDREN.exists(), reason="this system does not list the children of processes")
@pytest.mark.slow("draws a whole report, twice")
@pytest.mark.parametrize("killed", ["server", "workers"])
def test_a_download_outlives_whoever_is_killed_and_nothing_is_left_of_it(world, killed):
    world.add(studies.study(images=8, blocks=1, evaluators=6))
    for _ in range(6):
        world.player().play(lambda truth: truth == "real")
    served, report = Served(world.data.root, free_port()), "/studies/faces/report.zip"

    def remains():
        return [path.name for path in (world.data.root / "jobs").iterdir()]

    with server(world.data.root, served.port) as process:
        job = served.until(lambda: served.refused(report))["keys"][0]
        (partial,) = served.until(lambda: [*world.data.downloads("faces").glob(f".{job}")])
        children = children_of(process)
        for each in [process.pid] if killed == "server" else children:
            os.kill(each, signal.SIGKILL)
        if killed == "server":
            process.wait()
            served.until(lambda: not any(map(is_alive, children)))
            left = [*world.data.downloads("faces").iterdir()]
            with server(world.data.root, served.port):
                served.until(lambda: served.ask(f"/jobs/{job}")["state"] == "done")
                assert served.refused(report) is None
                served.until(lambda: remains() == [".place"])
        else:
            served.until(lambda: served.ask(f"/jobs/{job}")["state"] == "done")
            assert served.refused(report) is None
            left = []

    (made,) = world.data.downloads("faces").iterdir()
    assert (left, zipfile.is_zipfile(made), partial.exists()) == ([], True, False)
    assert remains() == [".place"]
    served.store.close()


def test_the_command_does_what_waits_and_says_what_became_of_it(tmp_path):
    store = open_store("sqlite:///openhype.db", tmp_path)
    queue.enqueue(store, "fly", None, "ana", {}, utc_now())
    command = [sys.executable, "-m", "backend", "work", "--until-idle", "--data", str(tmp_path)]

    runs = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(2)]

    assert "(fly): failed: no job is of the kind 'fly'; update openhype" in runs[0].stdout
    assert (runs[1].stdout, runs[1].stderr) == ("", "")
    store.close()
