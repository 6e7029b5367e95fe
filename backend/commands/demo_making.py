"""Creates the sample studies next to the server, in a separate process that reports its progress.

The server responds meanwhile, and does not share the interpreter with the work. The process reports on its
standard output, one JSON object per line, and ends when its standard input closes: however the server ends,
the work ends too. The next start reuses the pictures made so far.
"""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from backend.commands import demo_studies as demo
from backend.foundation.errors import OpenhypeError, reason
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store
from backend.stores.store import Store

_STEP = 0.01
"""Smallest increase of the share that is reported."""
_NICENESS = 5
_STOP_TIMEOUT_SECONDS = 10


class Making:
    """Progress of the sample studies, as server and terminal report it. Safe to use from many threads."""

    def __init__(self, store: Store, url: str, data: DataDir, tell: Callable[[str, float], Any]):
        """`tell` is called in a thread, with the name of a sample study and its completed share (0 to 1)."""
        self._url, self._data, self._tell = url, data, tell
        self._samples = demo.wanted(store)
        self._shares = {sample.name: 1.0 for sample in self._samples}
        self._shares |= {sample.name: 0.0 for sample in demo.missing(store)}
        self._problem = ""
        self._process: subprocess.Popen | None = None
        self._listener: threading.Thread | None = None

    @property
    def is_needed(self) -> bool:
        """Whether a study or an example is still missing."""
        examples = [demo.example(self._data, number) for number in range(len(demo.EXAMPLES))]
        return min(self._shares.values(), default=1.0) < 1 or not all(path.exists() for path in examples)

    def is_ready(self, name: str) -> bool:
        """Return whether a study may be opened; always True unless it is a sample study."""
        return self._shares.get(name, 1.0) >= 1

    def status(self, root: str = "") -> dict[str, Any]:
        """Return each study's progress, the existing examples, and the problem, if any."""
        examples = [
            {"url": f"{root}/demo/{number}.png", "shows": subject, "is_real": model is None}
            for number, (subject, model) in enumerate(demo.EXAMPLES)
            if demo.example(self._data, number).exists()
        ]
        studies = [
            {
                "study": sample.name,
                "method": sample.method,
                "medium": sample.medium,
                "images": sample.settings["images"],
                "minutes": sample.settings["minutes"],
                "share": self._shares[sample.name],
                "is_ready": self.is_ready(sample.name),
            }
            for sample in self._samples
        ]
        return {"studies": studies, "examples": examples, "problem": self._problem or None}

    def start(self) -> None:
        """Start to create what is missing; do nothing if all is complete."""
        if not self.is_needed:
            return
        command = [sys.executable, "-m", "backend.commands.demo_making", self._url, str(self._data.root)]
        one_thread = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}  # there is one process per core
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,  # Ctrl-C goes to the server only, which then ends the work
            env={**os.environ, **one_thread},
        )
        self._listener = threading.Thread(target=self._listen, args=(self._process,), daemon=True)
        self._listener.start()

    def stop(self) -> None:
        """End the work, if it is running."""
        if self._process is None:
            return
        with suppress(BrokenPipeError):
            _pipe(self._process.stdin).close()
        try:
            self._process.wait(_STOP_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        if self._listener is not None and self._listener.is_alive():
            self._listener.join()

    def _listen(self, process: subprocess.Popen[str]) -> None:
        with _pipe(process.stdout) as lines:
            for line in lines:
                message = json.loads(line)
                self._problem = message.get("problem", "")
                if "study" in message:
                    self._shares[message["study"]] = message["share"]
                    self._tell(message["study"], message["share"])
        if process.wait() and not self._problem:
            self._problem = f"the process that makes them ended with status {process.returncode}"


def _pipe(stream: IO[str] | None) -> IO[str]:
    """Return a stream of a process that was started with a pipe for it."""
    assert stream is not None
    return stream


def main(url: str, root: str) -> int:
    """Create what is missing and report it on standard output; return the exit status."""
    _end_with_input()
    os.nice(_NICENESS)
    data = DataDir(Path(root))
    reported: dict[str, float] = {}

    def report(name: str, share: float) -> None:
        if share >= 1 or share - reported.get(name, 0) >= _STEP:
            reported[name] = share
            _write_message({"study": name, "share": round(share, 3)})

    try:
        store = open_store(url, data.root)
        demo.make_missing(store, data, report)
        store.close()
    except (OpenhypeError, OSError) as error:
        why = reason(error) if isinstance(error, OSError) else str(error)
        _write_message({"problem": data.named_within(why)})
        sys.stderr.write(f"openhype: the sample studies could not be made: {error}\n")
        return 1
    return 0


def _write_message(message: dict[str, Any]) -> None:
    with suppress(BrokenPipeError):  # the server is gone, and so is this process in a moment
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


def _end_with_input() -> None:
    """End this process and its worker processes once its standard input is closed."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))

    def wait() -> None:
        sys.stdin.read()
        if os.getpgrp() == os.getpid():
            os.killpg(os.getpid(), signal.SIGTERM)
        else:
            os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, daemon=True).start()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
