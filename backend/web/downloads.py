"""Downloads: files that the job `download` makes, kept for some minutes and then removed.

Any worker of this data directory makes them. So that none waits for a study that is being made, the server
starts workers that do downloads only, and end when there is none left, or with the server. Files are kept no
longer than for some minutes, since they have answers of people who may withdraw.
"""

import hashlib
import json
import math
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import closing, suppress
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from flask import Response, send_file

from backend.experiment.records import Study
from backend.foundation import errors
from backend.foundation.child_processes import bound_memory, environment_of_child, lower_priority
from backend.foundation.errors import Conflict, OpenhypeError, Unavailable
from backend.foundation.timestamps import stamp
from backend.jobs import queue, work, worker_process
from backend.jobs.locks import place_of
from backend.jobs.queue import Job
from backend.jobs.worker import Worker
from backend.stores.datadir import DOWNLOADS_KEPT_S, DataDir
from backend.stores.store import Store
from backend.web import download_files

KIND = "download"
WAIT_S = 50.0
"""Longest wait of a request; web servers in front give up after a minute."""
_LOOK_S = 0.2
_AGAIN_AFTER = timedelta(minutes=1)
"""Whoever asks within this time is told why a file could not be made; then it is tried again."""
_MOST_WORKERS = 2
_MOST_WAITING = 4
"""Of the server's 16 threads, those that may wait for files; evaluators' requests need the others."""
_OTHER_KINDS = frozenset(work.KINDS) - {KIND}


class Downloads:
    """The downloads of a server. Safe to use from many threads.

    A server that keeps none of its files, such as a function on AWS, has a class of its own for `_place` to
    `sent` (`deploy.bucket_downloads`).
    """

    kinds: Collection[str] = download_files.KINDS
    """The files that are offered."""
    longest_wait_s = WAIT_S
    most_bytes = math.inf
    """Longest reply; in place of a longer one, clients are sent to the file."""
    is_elsewhere = False
    """Whether what takes long is made elsewhere: scores and pages of results, too."""

    def __init__(self, store: Store, data: DataDir, clock: Callable[[], datetime]):
        self._store, self._data, self._clock = store, data, clock
        self._lock = threading.Lock()  # requests at once would start more workers than `_MOST_WORKERS`
        self._waiting = threading.BoundedSemaphore(_MOST_WAITING)
        self._workers: list[threading.Thread] = []

    def get(
        self,
        study: Study,
        kind: str,
        options: Mapping[str, Any],
        version: str,
        member: str,
        wait_s: float = WAIT_S,
    ) -> Path:
        """Return the file of a kind, one of `download_files.KINDS`, for `sent` or `content`.

        Args:
            options: of the file, plain data.
            version: changes whenever the file's content may.
            member: who asks for it.
            wait_s: longest time to wait for it.

        Raises:
            Unavailable: `being_made`: it is not ready yet; the keys have the id of the job.
            Conflict: `cancelled`, or `not_made`: the worker failed.
            OpenhypeError: as for `download_files.KINDS`.
        """
        facts = json.dumps([study.created_at, study.version, kind, options, version], sort_keys=True)
        path = self._data.downloads(study.name) / f"{_digest(facts)}-{kind}"
        self._data.expire_downloads()
        if self._is_there(path):
            return path
        args = {"created_at": study.created_at, "kind": kind, "options": options, "file": path.name}
        job = self._ended(self._enqueued(study.name, member, args), min(wait_s, self.longest_wait_s))
        if job.is_open:
            raise Unavailable(
                f"{kind} of study {study.name} is being made; ask again", code="being_made", keys=(job.id,)
            )
        if job.state != "done":
            raise _refusal(job)
        self._expire_later()
        return path

    def sent(self, path: Path, media: str, name: str) -> Response:
        """Return the reply that gives the client a file, under this name.

        Raises:
            FileNotFoundError: it was removed just now.
        """
        return send_file(
            path,
            mimetype=media,
            as_attachment=True,
            download_name=name,
            etag=False,
            conditional=True,
            last_modified=None,
        )

    def content(self, path: Path) -> bytes:
        """Return the content of a file.

        Raises:
            FileNotFoundError: it was removed just now.
        """
        return path.read_bytes()

    def remove(self, study: str) -> None:
        """Remove the files of a study, for example since somebody withdrew."""
        self._data.remove_downloads(study)

    def _place(self) -> str:
        """Return what names the files' place to those workers that leave files there."""
        return place_of(self._data)

    def _is_there(self, path: Path) -> bool:
        return path.exists()

    def _expire_later(self) -> None:
        removal = threading.Timer(DOWNLOADS_KEPT_S + 1, self._data.expire_downloads)
        removal.daemon = True
        removal.start()

    def _enqueued(self, study: str, member: str, args: Mapping[str, Any]) -> Job:
        now, place = self._clock(), self._place()
        key = f"{place} {study} {args['file']}"
        facts = {**args, "place": place}
        return queue.enqueue(
            self._store, KIND, study, member, facts, now, key, partial(_is_outdated, now=now)
        )

    def _ended(self, job: Job, wait_s: float) -> Job:
        """Return a job as it is when it has ended, or after some time; start a worker where none does it."""
        until = time.monotonic() + wait_s
        is_waiting = self._waiting.acquire(blocking=False)
        try:
            while True:
                if job.state == "queued":
                    self.start_worker()
                job = queue.job(self._store, job.id)
                if not job.is_open or not is_waiting or time.monotonic() >= until:
                    return job
                time.sleep(_LOOK_S)
        finally:
            if is_waiting:
                self._waiting.release()

    def start_worker(self) -> None:
        """Have the jobs done that wait."""
        if self._store.url is None:  # no other process can open it
            return _work(self._store, self._data)
        with self._lock:
            self._workers = [each for each in self._workers if each.is_alive()]
            if len(self._workers) < _MOST_WORKERS:
                target = partial(_worker_process, self._store.url, self._data)
                self._workers.append(threading.Thread(target=target, name="openhype-downloads", daemon=True))
                self._workers[-1].start()


def _digest(facts: str) -> str:
    return hashlib.blake2b(facts.encode(), digest_size=16).hexdigest()


def _is_outdated(before: Job, now: datetime) -> bool:
    """Return whether a file is made again: it was removed meanwhile, or could not be made some time ago."""
    return before.state in ("done", "cancelled") or (
        before.state == "failed" and before.updated_at < stamp(now - _AGAIN_AFTER)
    )


def _refusal(job: Job) -> OpenhypeError:
    if job.state == "cancelled":
        return Conflict("the download was cancelled", code="cancelled")
    stated = job.result or {"error": "Conflict", "code": "not_made"}
    return getattr(errors, stated["error"])(job.reason, stated["code"])


def _worker_process(url: str, data: DataDir) -> None:
    """Run a worker in a process of its own until it has ended; its standard input ends with this process."""
    command = [sys.executable, "-P", "-m", "backend.web.downloads", url, str(data.root), str(os.getpid())]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
        env=environment_of_child(os.environ),
    ) as process:
        process.wait()


def _work(store: Store, data: DataDir, before_job: Callable[[], Any] = lambda: None) -> None:
    worker = Worker(store, data, leaves=_OTHER_KINDS, before_job=before_job)
    while worker.run_once():
        continue


def main() -> None:
    """Do the downloads that wait in a store and a data directory, off the core of the server."""
    url, root, server = sys.argv[1:]
    worker_process.interrupt_once()
    lower_priority()
    bound_memory()
    from backend.stores.opening import open_store

    data = DataDir(Path(root))
    with suppress(KeyboardInterrupt), closing(open_store(url, data.root)) as store:
        worker_process.end_with_input()
        _work(store, data, worker_process.keeping_off(int(server)))


if __name__ == "__main__":
    main()
