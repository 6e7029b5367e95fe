"""Downloads: files that a process of their own makes, kept for some minutes and then removed.

A request waits for its file. One that would wait for too long is asked to come back, and finds the file made
meanwhile. Files are kept no longer, since they have answers of people who may withdraw.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from backend.experiment.records import Study
from backend.foundation import errors
from backend.foundation.child_processes import environment_of_child
from backend.foundation.errors import OpenhypeError, Unavailable
from backend.foundation.permissions import make_folder
from backend.stores.datadir import DataDir
from backend.stores.store import Store

KEPT_S = 900.0
"""Seconds for which a file is kept after it was made."""
_WAIT_S = 50.0
"""Longest wait of a request; web servers in front give up after a minute."""
_GIVEN_UP_S = 24 * 3600
_AT_ONCE = 2
_MOST_WAITING = 4
"""Of the server's 16 threads, those that may wait for files; evaluators' requests need the others."""


class Downloads:
    """The downloads of a server. Safe to use from many threads."""

    def __init__(self, store: Store, data: DataDir, wait_s: float = _WAIT_S):
        self._store, self._data, self._wait_s = store, data, wait_s
        self._folder = data.cache("downloads")
        self._lock = threading.Lock()
        self._places = threading.BoundedSemaphore(_MOST_WAITING)
        self._made: dict[Path, _Making] = {}
        self._later: threading.Timer | None = None

    def get(self, study: Study, kind: str, options: Mapping[str, Any], version: str) -> Path:
        """Return the file of a kind, one of `download_files.KINDS`.

        Args:
            options: of the file, plain data.
            version: changes whenever the file's content may.

        Raises:
            Unavailable: `being_made`: it is not ready yet; `busy`: too many are being made.
            OpenhypeError: as for `download_files.write`.
        """
        facts = json.dumps([study.created_at, study.version, kind, options, version], sort_keys=True)
        name = hashlib.blake2b(facts.encode(), digest_size=16).hexdigest()
        path = self._data.downloads(study.name) / f"{name}-{kind}"
        with self._lock:
            self._sweep()
            if path.exists():
                if (over := self._made.pop(path, None)) is not None:
                    over.wait(_WAIT_S)  # it has ended, or is about to
                return path
            making = self._made.get(path)
            if making is None:
                making = self._made[path] = self._begin(study, kind, options, path)
        try:
            with self._place():
                making.wait(self._wait_s)
        except (
            subprocess.TimeoutExpired
        ):  # what became of it is read by whoever asks next, even if it has ended
            raise Unavailable(
                f"{kind} of study {study.name} is being made; ask again", code="being_made"
            ) from None
        except OpenhypeError:
            self._end(path, making)
            raise
        self._end(path, making)
        self._sweep_later()
        return path

    def _end(self, path: Path, making: "_Making") -> None:
        with self._lock:
            if self._made.get(path) is making:
                del self._made[path]

    @contextmanager
    def _place(self) -> Iterator[None]:
        """Occupy one of the threads that may wait.

        Raises:
            subprocess.TimeoutExpired: there is none, so that there is no time to wait.
        """
        if not self._places.acquire(blocking=False):
            raise subprocess.TimeoutExpired("", 0)
        try:
            yield
        finally:
            self._places.release()

    def _begin(self, study: Study, kind: str, options: Mapping[str, Any], path: Path) -> "_Making":
        if sum(not making.is_over for making in self._made.values()) >= _AT_ONCE:
            raise Unavailable(f"{_AT_ONCE} other files are being made at this moment; ask again", code="busy")
        make_folder(path.parent)
        if self._store.url is None:
            return _Here(self._store, self._data, study, kind, options, path)
        asked = {
            "store": self._store.url,
            "data": str(self._data.root),
            "study": study.name,
            "kind": kind,
            "options": dict(options),
            "out": str(path),
            "server": os.getpid(),
        }
        return _Process(asked)

    def _sweep_later(self) -> None:
        """Have a file that was just made removed in its time, also if nobody asks for another one."""
        with self._lock:
            if self._later is None:
                self._later = threading.Timer(KEPT_S + 1, self._sweep_now)
                self._later.daemon = True
                self._later.start()

    def _sweep_now(self) -> None:
        with self._lock:
            self._sweep()
            self._later = None
        if any(path.is_file() for path in self._folder.glob("*/*")):
            self._sweep_later()

    def _sweep(self) -> None:
        """Remove files that were kept for long enough, and folders of processes that were killed."""
        now = time.time()
        for path in self._folder.glob("*/*"):
            with suppress(OSError):
                age_s = now - path.stat().st_mtime
                if path.is_file() and age_s > KEPT_S:
                    path.unlink()
                elif path.is_dir() and age_s > _GIVEN_UP_S:
                    shutil.rmtree(path)


class _Making:
    """A file that is being made."""

    @property
    def is_over(self) -> bool:
        """Whether the file is there, or cannot be made."""
        raise NotImplementedError

    def wait(self, timeout_s: float) -> None:
        """Wait until the file is there.

        Raises:
            subprocess.TimeoutExpired: it is not yet.
            OpenhypeError: it cannot be made.
        """
        raise NotImplementedError


class _Process(_Making):
    """A file that a process makes."""

    def __init__(self, asked: Mapping[str, Any]):
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "backend.web.download_files"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env=environment_of_child(os.environ),
            text=True,
        )
        stdin, self._process.stdin = self._process.stdin, None
        assert stdin is not None  # a pipe, as asked for
        with suppress(OSError):  # it ended at once; what it said is read below
            stdin.write(json.dumps(dict(asked)))
            stdin.close()
        self._lock, self._said = threading.Lock(), ("", "")

    @property
    def is_over(self) -> bool:
        return self._process.poll() is not None

    def wait(self, timeout_s: float) -> None:
        until = time.monotonic() + timeout_s
        if not self._lock.acquire(timeout=timeout_s):
            raise subprocess.TimeoutExpired("", timeout_s)
        try:
            if self._process.returncode is None or self._said == ("", ""):
                self._said = self._process.communicate(timeout=max(until - time.monotonic(), 0.01))
        finally:
            self._lock.release()
        if self._process.returncode:
            raise _refusal(*self._said)


class _Here(_Making):
    """A file that is made in this process, where no other can open the store."""

    is_over = True

    def __init__(self, *asked: Any):
        self._asked = asked

    def wait(self, timeout_s: float) -> None:
        from backend.web.download_files import write

        write(*self._asked)


def _refusal(said: str, fault: str) -> Exception:
    """Return the error that a process ended with."""
    try:
        stated = json.loads(said)
    except ValueError:
        return RuntimeError(f"a process that made a file failed: {fault[-4000:]}")
    kind = getattr(errors, stated["error"], errors.InvalidInput)
    return kind(stated["message"], stated["code"]) if issubclass(kind, OpenhypeError) else RuntimeError(said)
