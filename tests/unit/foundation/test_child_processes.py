"""Processes beside a server: one that takes too much memory fails, and neither the machine nor the server."""

import subprocess
import sys

from backend.foundation import child_processes

JOBS = """
import sys
from datetime import UTC, datetime
from pathlib import Path

from backend.foundation import child_processes
from backend.jobs import queue
from backend.jobs.worker import Worker
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store

child_processes.memory = lambda: 10**9
child_processes.bound_memory()
root = Path(sys.argv[1])
store = open_store("sqlite:///jobs.db", root)
for second, size in enumerate((10**9, 10**6)):
    at = datetime(2026, 1, 1, 0, 0, second, tzinfo=UTC)
    queue.enqueue(store, "create", None, "ana", {"size": size}, at)
run = lambda work, job: {"bytes": len(bytearray(job.args["size"]))}
for job in Worker(store, DataDir(root), find=lambda _: run, tick_s=0.02).run_until_idle():
    print(job.state, job.reason)
print(Path("/proc/self/oom_score_adj").read_text().strip())
"""


def test_a_job_that_takes_too_much_memory_fails_and_the_next_one_is_done(tmp_path):
    done = subprocess.run([sys.executable, "-c", JOBS, tmp_path], capture_output=True, text=True, timeout=60)

    assert done.stdout.splitlines() == [
        "failed there is not enough memory for this; try it with fewer or smaller files",
        "done None",
        "1000",
    ], done.stderr


def test_the_memory_is_that_of_the_container_where_it_has_less(tmp_path, monkeypatch):
    unlimited, limited = tmp_path / "max", tmp_path / "bytes"
    unlimited.write_text("max\n")
    monkeypatch.setattr(child_processes, "_OF_CONTAINER", (unlimited, limited))
    of_machine = child_processes.memory()
    limited.write_text("1000000\n")

    assert of_machine > 10**8
    assert child_processes.memory() == 1_000_000
