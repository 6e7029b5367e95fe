"""Studies that are made again on a schedule: when, how often, and by whom it is noticed."""

from dataclasses import replace
from datetime import timedelta

import pytest
from click.testing import CliRunner

from backend.cli import main
from backend.foundation.errors import InvalidInput
from backend.foundation.timestamps import stamp, utc_now
from backend.jobs import queue
from backend.jobs.rerun_schedule import BOOK, enqueue_due, schedule, schedule_of, unschedule
from backend.jobs.worker import Worker

from .. import sample_studies as studies
from .test_replication import me  # noqa: F401

DAYS = 30


@pytest.fixture
def faces(world):
    """The study, made again every thirty days from now on."""
    study = world.add(studies.study())
    schedule(world.store, study, DAYS, world.clock())
    return study


def after(world, days):
    """Return the names of the studies whose making is due so many days after the schedule was set."""
    return [job.study for job in enqueue_due(world.store, world.clock() + timedelta(days=days))]


def test_a_run_is_due_once_each_period(world, faces):
    assert after(world, 29.9) == []
    assert after(world, 30) == ["faces-2"]
    assert after(world, 59) == []
    assert after(world, 60) == ["faces-3"]  # nothing has made the first one yet


def test_a_clock_that_was_ahead_makes_one_run_too_early_and_the_next_ones_come(world, faces):
    assert after(world, 3650) == ["faces-2"]
    assert after(world, 31) == []
    assert after(world, 60) == ["faces-3"]
    assert after(world, 59.9) == []  # set back by some minutes
    assert {job.id for job in enqueue_due(world.store, world.clock() + timedelta(days=60))} <= {
        job.id for job in queue.open_jobs(world.store)
    }
    assert len(queue.open_jobs(world.store)) == 2


def test_no_run_is_given_a_name_that_another_order_has(world):
    """Names are cut to 60 letters before their number, and orders of a person wait as well."""
    for end in "ab":
        schedule(world.store, world.add(studies.study("x" * 60 + end)), DAYS, world.clock())
    queue.enqueue(world.store, "rerun", "x" * 60 + "-2", "ana", {}, world.clock())

    assert sorted(after(world, 30)) == ["x" * 60 + "-3", "x" * 60 + "-4"]


def test_periods_in_which_nothing_looked_are_made_up_for_once(world, faces):
    assert len(after(world, 100)) == 1
    assert after(world, 119) == []
    assert len(after(world, 120)) == 1


def test_workers_that_look_at_once_enqueue_one_job(world, faces):
    entry = world.store.entry(BOOK, "faces")
    first = enqueue_due(world.store, world.clock() + timedelta(days=31))
    now = world.store.entry(BOOK, "faces")
    world.store.write_entry(BOOK, "faces", now.version, entry.data)  # as the other one read it
    second = enqueue_due(world.store, world.clock() + timedelta(days=31))

    assert [job.id for job in first] == [job.id for job in second]
    assert len(queue.jobs(world.store, "faces-2")) == 1


def test_a_schedule_ends_with_its_study_or_when_it_is_told_to(world, faces):
    other = world.add(studies.study("cars"))
    schedule(world.store, other, DAYS, world.clock())

    assert (unschedule(world.store, other), unschedule(world.store, other)) == (True, False)
    world.store.remove_study("faces")

    assert after(world, 30) == []
    assert [*world.store.entries(BOOK)] == []


def test_a_schedule_is_seen_set_and_ended_by_the_api(me):  # noqa: F811
    path, none = "studies/faces/rerun-schedule", {"days": None, "next_at": None}
    before, now = me.get(path), me.world.clock()

    made = me.post(path, {"days": 10})
    enqueue_due(me.world.store, now + timedelta(days=25))
    later = me.get(path)
    ended = me.post(path, {"days": 0})

    assert (before, ended, me.get(path)) == (none, none, none)
    assert made == {"days": 10, "next_at": stamp(now + timedelta(days=10))}
    assert later == {"days": 10, "next_at": stamp(now + timedelta(days=30))}
    for days in (-1, 4000, 1.5, None):
        me.refused(path, {"days": days}, 400, "invalid")


def test_the_schedule_of_a_deleted_study_is_not_that_of_another_one_of_its_name(world, faces):
    other = replace(faces, created_at="2031-01-01T00:00:00.000Z")

    assert schedule_of(world.store, faces).days == DAYS
    assert schedule_of(world.store, other) is None


def test_a_qualification_has_no_schedule(world):
    gate = world.add(studies.study("gate", kind="qualification", panel="link"))

    with pytest.raises(InvalidInput, match="gate is a qualification"):
        schedule(world.store, gate, DAYS, world.clock())


class _Twice:
    """An event that is set once a worker has waited twice."""

    def __init__(self):
        self.waits = 0

    def is_set(self):
        return self.waits > 1

    def wait(self, _seconds):
        self.waits += 1


def test_the_worker_makes_the_run_that_is_due(me):  # noqa: F811
    said = [
        CliRunner().invoke(main, ["rerun", "faces", "--every", days]).stdout for days in ("30", "0", "0", "7")
    ]
    status = CliRunner().invoke(main, ["status", "faces"]).stdout

    Worker(me.world.store, me.world.data, clock=lambda: utc_now() + timedelta(days=8)).run(_Twice())

    assert me.world.store.study("faces-2").models == ("gan", "vae")
    assert said[0].startswith("faces is made again every 30 days, first on ")
    assert "  made again every 7 days, next on 2" in status
    assert said[1:3] == [
        "faces is no longer made again on a schedule\n",
        "faces was not made again on a schedule\n",
    ]
    assert CliRunner().invoke(main, ["rerun", "faces", "--every", "7", "--as", "x"]).exit_code == 2
