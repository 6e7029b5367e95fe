"""The worker: what becomes of a job that is done, fails, is cancelled, or loses its worker."""

import contextlib
import json
import os
import sqlite3
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime, timedelta

import pytest

from backend.administration.backup import back_up, restore
from backend.foundation.errors import InvalidInput, StoreFailed
from backend.jobs import job_turns, queue
from backend.jobs.locks import lock_of
from backend.jobs.work import KINDS, Failed, runner
from backend.jobs.worker import Stopped, Worker
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store
from backend.studies import lifecycle
from backend.uploads.limits import Quota
from backend.uploads.local_uploads import LocalUploads

from .. import sample_studies as studies
from ..uploads.streams import checksums

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def store(tmp_path):
    made = open_store("sqlite:///jobs.db", tmp_path)
    yield made
    made.close()


@pytest.fixture
def worker(store, tmp_path):
    """Return a function that makes a worker for jobs that are done by a function."""

    def make(run, **options):
        return Worker(store, DataDir(tmp_path), find=lambda _: run, tick_s=0.02, **options)

    return make


def add(store, **args):
    return queue.enqueue(store, "create", None, "ana", args, NOW)


def test_jobs_are_done_oldest_first_in_folders_of_their_own(store, worker, tmp_path):
    def run(work, job):
        (work.folder / "file").write_text("half made")
        return {"n": job.args["n"], "folder": work.folder.name}

    for n in (1, 2):
        queue.enqueue(store, "create", None, "ana", {"n": n}, NOW.replace(second=n))
    ours = worker(run)

    done = [ours.run_once(), ours.run_once(), ours.run_once()]

    assert [queue.job(store, each.id).result["n"] for each in done[:2]] == [1, 2]
    assert done[2] is None
    assert [path.name for path in (tmp_path / "jobs").iterdir()] == [".place"]


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (InvalidInput("gan has 49 pictures, and 50 are needed"), "gan has 49 pictures, and 50 are needed"),
        (OSError(28, "No space left"), "a file could not be read or written on the server: the disk is full"),
        (MemoryError(), "there is not enough memory for this; try it with fewer or smaller files"),
        (KeyError("x"), "something went wrong here (fault "),
    ],
)
def test_a_failure_has_a_reason_in_words(store, worker, error, reason):
    def run(work, job):
        raise error

    add(store)

    failed = worker(run).run_once()

    assert failed.state == "failed"
    assert failed.reason.startswith(reason)


def test_a_result_that_cannot_be_stored_fails_its_job_and_no_worker(store, worker):
    add(store)

    failed = worker(lambda work, job: {"rho": float("nan")}).run_once()

    assert failed.state == "failed"
    assert failed.reason.startswith("something went wrong here (fault ")
    assert [path.name for path in worker(None)._folder.iterdir()] == [".place"]


def test_a_claimed_job_is_done_though_its_turn_cannot_be_stored(store, worker, monkeypatch):
    def unavailable(*_):
        raise StoreFailed("the disk is full")

    monkeypatch.setattr(job_turns, "note", unavailable)
    add(store)

    assert worker(lambda work, job: {}).run_once().state == "done"


def test_a_failure_may_have_details(store, worker):
    def run(work, job):
        raise Failed("two files are broken", {"refused": ["a", "b"]})

    add(store)

    assert queue.job(store, worker(run).run_once().id).result == {"refused": ["a", "b"]}


def test_progress_of_a_running_job_is_stored_now_and_then_only(store, worker):
    seen = []

    def run(work, job):
        for i in work.progress(range(3000), 3000, "pictures"):
            time.sleep(0.0001)
            if i == 2900:
                seen.append(store.entry(queue.JOBS, job.id))
        return {}

    add(store)

    worker(run).run_once()

    assert seen[0].data["progress"]["what"] == "pictures"
    assert 0 < seen[0].data["progress"]["done"] <= 2900
    assert seen[0].version < 100


def test_a_running_job_is_cancelled(store, worker, tmp_path):
    added, begun = add(store), threading.Event()

    def run(work, job):
        for _ in work.progress(iter(int, 1), None, "for ever"):
            begun.set()
            time.sleep(0.001)

    ours = worker(run)
    thread = threading.Thread(target=ours.run_once)
    thread.start()
    begun.wait(60)
    queue.cancel(store, added.id, NOW)
    thread.join(60)

    assert queue.job(store, added.id).state == "cancelled"
    assert [path.name for path in (tmp_path / "jobs").iterdir()] == [".place"]


def test_a_job_whose_worker_is_stopped_goes_back_to_the_queue(store, worker, tmp_path):
    def run(work, job):
        raise KeyboardInterrupt

    added = add(store)

    with pytest.raises(KeyboardInterrupt):
        worker(run).run_once()

    assert (queue.job(store, added.id).state, queue.job(store, added.id).tries) == ("queued", 0)
    assert [path.name for path in (tmp_path / "jobs").iterdir()] == [".place"]


_TAKES_AND_HANGS = """
import sys, time
from pathlib import Path
from backend.jobs.worker import Worker
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store

def run(work, job):
    (work.folder / "half").write_text("made")
    print("begun", flush=True)
    time.sleep(60)

root = Path(sys.argv[1])
Worker(open_store("sqlite:///jobs.db", root), DataDir(root), find=lambda _: run).run_once()
"""


def test_a_job_of_a_killed_worker_is_done_by_the_next_at_once_and_by_one_only(store, worker, tmp_path):
    added = add(store)
    command = [sys.executable, "-c", _TAKES_AND_HANGS, str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    process.stdout.readline()
    ours = worker(lambda work, job: {"left": os.listdir(work.folder)})

    while_it_lives = ours.run_once()
    process.kill()
    process.wait()
    process.stdout.close()
    done = ours.run_once()

    assert while_it_lives is None
    assert (done.id, done.state, queue.job(store, done.id).result) == (added.id, "done", {"left": []})


def test_what_killed_workers_left_is_removed(store, worker, tmp_path):
    (tmp_path / "jobs" / "dead").mkdir(parents=True)
    (tmp_path / "jobs" / "alive").mkdir()

    with lock_of(tmp_path / "jobs", "alive"):
        subprocess.run(
            [
                sys.executable,
                "-c",
                "import sys; from pathlib import Path; from backend.stores.datadir import DataDir;"
                "from backend.jobs.worker import Worker; Worker(None, DataDir(Path(sys.argv[1]))).clear_up()",
                str(tmp_path),
            ],
            check=True,
        )

    assert [each.name for each in (tmp_path / "jobs").iterdir()] == ["alive"]


def test_every_kind_has_a_function():
    for kind in KINDS:
        assert callable(runner(kind))


def test_a_job_of_an_unknown_kind_fails(store, tmp_path):
    queue.enqueue(store, "fly", None, "ana", {}, NOW)

    assert "no job is of the kind 'fly'" in Worker(store, DataDir(tmp_path)).run_once().reason


@pytest.mark.parametrize("hours", [-48, 0, 48])
def test_a_job_from_before_a_restore_is_not_run_and_later_ones_are(tmp_path, hours):
    """It may have been done since the backup, and paying is such a job; the clock may have been wrong."""
    place = tmp_path / "data"
    with contextlib.closing(open_store("sqlite:///openhype.db", place)) as store:
        waiting, running = add(store), add(store)
        queue.claim(store, running.id, "w", "here", NOW)
        back_up(place / "openhype.db", DataDir(place), tmp_path / "backup", NOW)
    at, restored = NOW + timedelta(hours=hours), DataDir(tmp_path / "restored")

    restore(tmp_path / "backup", restored, at, prepare=lambda store: queue.void_open(store, at))

    with contextlib.closing(open_store("sqlite:///openhype.db", restored.root)) as store:
        after = add(store)
        assert Worker(store, restored, find=lambda _: lambda work, job: {}).run_once().id == after.id
        for before in (waiting, running):
            assert "were restored from a backup" in queue.job(store, before.id).reason
        assert queue.open_jobs(store) == []


def test_uploads_that_nobody_used_are_deleted_though_nobody_sends_others(store, tmp_path):
    """A server that gets no more uploads kept the last ones for ever."""
    data, stop = DataDir(tmp_path), threading.Event()
    uploads = LocalUploads(data, Quota(free=0))
    uploads.begin("ana", "files", 4, checksums([b"1234"]), NOW)
    ours = Worker(store, data, uploads, clock=lambda: NOW + timedelta(days=8))
    ours.run_once = stop.set

    ours.run(stop, 0.01)

    assert [each.name for each in (tmp_path / "uploads").iterdir()] == ["looked"]


def other_machine(store, tmp_path, run, **options):
    root = tmp_path / "other"
    root.mkdir(exist_ok=True)
    return Worker(store, DataDir(root), find=lambda _: run, tick_s=0.02, **options)


def test_a_job_of_a_killed_worker_elsewhere_is_done_when_its_lease_was_not_renewed(store, worker, tmp_path):
    """By the time that passes here: the clock of this machine is an hour behind."""
    added, elapsed = add(store), [0.0]
    queue.claim(store, added.id, "dead", "elsewhere", NOW)
    ours = worker(lambda work, job: {}, clock=lambda: NOW.replace(year=2025), elapsed_s=lambda: elapsed[0])

    at_first = ours.run_once()
    elapsed[0] = queue.LEASE_S + 1

    assert at_first is None
    assert ours.run_once().id == added.id


def test_a_job_that_is_done_elsewhere_is_not_taken_by_a_worker_whose_clock_is_ahead(store, worker):
    added, elapsed = add(store), [0.0]
    queue.claim(store, added.id, "alive", "elsewhere", NOW)
    ahead = NOW.replace(hour=1)
    ours = worker(lambda work, job: {}, clock=lambda: ahead, elapsed_s=lambda: elapsed[0])

    for second in range(0, 120, 10):
        elapsed[0] = float(second)
        queue.renew(store, added.id, "alive", None, NOW.replace(minute=second // 60, second=second % 60))
        assert ours.run_once() is None


def test_a_worker_whose_job_another_has_by_now_stops_it(store, worker):
    added = add(store)

    def run(work, job):
        queue.claim(store, job.id, "thief", "elsewhere", NOW, queue.job(store, job.id).lease)
        for _ in work.progress(iter(int, 1), None, "for ever"):
            time.sleep(0.001)

    after = worker(run, clock=lambda: NOW).run_once()

    assert (after.id, after.state, after.lease.worker) == (added.id, "running", "thief")


def test_two_machines_of_one_name_are_two_places(store, worker, tmp_path):
    ours, same, other = worker(dict), worker(dict), other_machine(store, tmp_path, dict)

    assert ours._place == same._place != other._place


def test_a_worker_goes_on_when_the_disk_is_full(store, worker, caplog):
    stop, tries = threading.Event(), []
    ours = worker(lambda work, job: {})

    def full():
        tries.append(1)
        if len(tries) == 2:
            stop.set()
        raise OSError(28, "No space left on device")

    ours.run_once = full
    ours.run(stop, 0.01)

    assert len(tries) == 2
    assert "no job could be taken: the disk is full" in caplog.text


def test_members_take_turns(store, worker):
    for second, member in enumerate(("ana", "ana", "bob")):
        queue.enqueue(store, "create", None, member, {}, NOW.replace(second=second))
    ours = worker(lambda work, job: {})

    assert [ours.run_once().member for _ in range(3)] == ["ana", "bob", "ana"]


@pytest.mark.parametrize("error", [None, Stopped(), InvalidInput("no"), KeyboardInterrupt()])
def test_files_are_gone_before_a_job_is_said_to_have_ended(store, worker, tmp_path, error):
    there = []

    def clock():
        there.append([path.name for path in (tmp_path / "jobs").glob("[!.]*")])
        return NOW

    def run(work, job):
        (work.folder / "half").write_text("made")
        if error:
            raise error
        return {}

    add(store)
    with contextlib.suppress(KeyboardInterrupt):
        worker(run, clock=clock).run_once()

    assert there[-1] == []


def test_a_cancelled_job_whose_worker_was_killed_leaves_no_files(store, worker, tmp_path):
    added, ours = add(store), worker(dict)
    queue.claim(store, added.id, "dead", ours._place, NOW)
    (tmp_path / "jobs" / added.id).mkdir()
    (tmp_path / "images" / ".partial-faces-0123").mkdir(parents=True)
    queue.cancel(store, added.id, NOW)

    ours.run_once()
    ours.clear_up()

    assert queue.job(store, added.id).state == "cancelled"
    assert [path.name for path in (tmp_path / "jobs").iterdir()] == [".place"]
    assert [*(tmp_path / "images").iterdir()] == []


def test_pictures_of_a_join_that_was_killed_are_removed_by_the_next_worker(store, worker, tmp_path):
    study = studies.study()
    store.add_study(study, studies.pool(study, each=3))
    images = tmp_path / "images"
    (images / "faces").mkdir(parents=True)
    for name in ("old.png", "new.png"):
        (images / "faces" / name).write_text("picture")
    mark = images / ".joining-faces.json"
    attempt = lifecycle.new_attempt(store, "faces")
    mark.write_text(json.dumps({"model": "newcomer", "names": ["new.png"], "attempt": attempt}))

    worker(dict).clear_up()

    assert [path.name for path in (images / "faces").iterdir()] == ["old.png"]
    assert not mark.exists()


class Minutes:
    """Time that passes by ten seconds each time it is asked for."""

    def __init__(self, store, renewed=None):
        self.store, self.renewed, self.now = store, renewed, 0.0

    def __call__(self):
        self.now += 10
        if self.renewed:
            queue.renew(self.store, self.renewed, "w", None, NOW)
        return self.now


def test_a_run_until_idle_takes_over_what_was_left_elsewhere_and_leaves_what_is_done(store, worker):
    left = add(store)
    queue.claim(store, left.id, "w", "elsewhere", NOW)
    alive = worker(lambda work, job: {}, elapsed_s=Minutes(store, renewed=left.id))
    dead = worker(lambda work, job: {}, elapsed_s=Minutes(store))

    assert [*alive.run_until_idle()] == []
    assert [job.id for job in dead.run_until_idle()] == [left.id]


@pytest.mark.parametrize("error", [KeyError("x"), MemoryError(), sqlite3.OperationalError("unable to open")])
def test_the_lease_is_renewed_again_after_any_kind_of_error(store, worker, monkeypatch, error):
    renew, failed = queue.renew, threading.Event()

    def failing_once(*given):
        if not failed.is_set():
            failed.set()
            raise error
        return renew(*given)

    def run(work, job):
        renewed = []
        for _ in work.progress(range(3000), 3000, "waiting"):
            time.sleep(0.02)
            renewed = [each.lease.renewals for each in queue.jobs(store)]
            if failed.is_set() and renewed[0] > 0:
                break
        return {"renewals": renewed[0]}

    monkeypatch.setattr(queue, "renew", failing_once)
    add(store)

    done = worker(run).run_once()

    assert queue.job(store, done.id).result["renewals"] > 0
