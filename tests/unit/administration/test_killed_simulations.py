"""Simulations that were killed at any moment leave no unfinished session; all other sessions stay."""

import subprocess
import sys
import time
from contextlib import closing

import pytest

from backend.administration.killed_simulations import clear_killed, simulating
from backend.administration.simulated_sessions import Client, open_session
from backend.commands.simulated_evaluators import simulate
from backend.jobs import queue
from backend.jobs.worker import Worker

from .. import sample_studies as studies
from ..people import served


def states(world, name="faces"):
    return sorted(cursor.state for _, cursor in world.store.sessions(name, simulated=True))


def opened(world, device):
    """Open a session that counts as simulated, and leave it."""
    with served(world.store, world.data.root) as url, closing(Client(url)) as client:
        fields = {"device": device, "simulated": True}
        open_session(client, world.store.study("faces"), fields, world.data.keys().researcher)


def killed(world, after, name="faces"):
    """Have the command simulate many evaluators, and kill it once `after` returns true; wait 60 s at most."""
    command = [sys.executable, "-m", "backend", "simulate", name, "--evaluators", "200"]
    options = ["--data", str(world.data.root), "--store", world.store.url]
    with subprocess.Popen([*command, *options], stderr=subprocess.DEVNULL) as process:
        until = time.monotonic() + 60
        while not after() and time.monotonic() < until:
            time.sleep(0.01)
        process.kill()


def test_what_a_killed_simulation_left_is_erased_before_the_next(world):
    world.add(studies.study(images=8))
    opened(world, {"simulated": True})

    simulate(world.store, world.data, "faces", {}, evaluators=2)

    assert states(world) == ["finished", "finished"]


def test_sessions_of_people_who_try_a_study_out_stay(world):
    world.add(studies.study(images=8))
    opened(world, {"user_agent": "Firefox"})

    simulate(world.store, world.data, "faces", {}, evaluators=1)

    assert states(world) == ["active", "finished"]


def test_nothing_is_erased_while_evaluators_are_simulated(world):
    world.add(studies.study(images=8))

    with simulating(world.store, world.data, "faces"):
        opened(world, {"simulated": True})
        with simulating(world.store, world.data, "faces"):
            clear_killed(world.store, world.data)
        assert states(world) == ["active"]

    assert states(world) == []


def test_a_worker_that_starts_erases_what_a_killed_command_left(world):
    world.add(studies.study(images=100))
    killed(world, lambda: states(world).count("active") >= 3)
    assert "active" in states(world)

    Worker(world.store, world.data).clear_up()

    assert {*states(world)} <= {"finished"}
    assert not [path for path in (world.data.root / "simulations").iterdir() if path.stat().st_size]


def test_a_job_that_is_done_again_erases_what_its_killed_worker_left(world):
    study = world.add(studies.study(images=8))
    opened(world, {"simulated": True})
    args = {"created_at": study.created_at, "until": 2, "evaluators": 2, "observers": {}, "strengths": {}}
    more = {"sd": 0.0, "picture_sd": 0.0, "seed": 0}
    queue.enqueue(world.store, "simulate", "faces", "owner", {**args, **more}, world.clock())

    with served(world.store, world.data.root) as url:
        done = Worker(world.store, world.data, url=url, tick_s=0.02).run_once()

    assert (done.state, states(world)) == ("done", ["finished", "finished"])


def test_the_study_of_a_simulation_can_be_gone(world):
    with simulating(world.store, world.data, "gone"):
        pass

    clear_killed(world.store, world.data)


@pytest.mark.slow("kills processes at twelve moments")
@pytest.mark.parametrize("moment", range(12))
def test_a_simulation_killed_at_any_moment_leaves_nothing(world, moment):
    world.add(studies.study("test", kind="qualification", images=20))
    world.add(studies.study(images=30, qualification="test"))
    killed(world, lambda: len(states(world, "test")) + len(states(world)) > 3 * moment)

    clear_killed(world.store, world.data)

    assert {*states(world), *states(world, "test")} <= {"finished"}
    simulate(world.store, world.data, "faces", {}, evaluators=1)
    assert {*states(world), *states(world, "test")} == {"finished"}
