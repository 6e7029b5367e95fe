"""Answers while the worker makes a study of 2 x 5,000 pictures: how long they take, and the worker's memory.

`openhype serve` runs with its worker, as anybody starts it. Evaluators answer at a pace of people while the
worker makes a study from two uploads. It is stopped and continued in turns of some seconds, so that answers
with and without it are of the same minutes, whatever else the machine does.
"""

import contextlib
import io
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from backend.foundation.timestamps import utc_now
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store
from backend.uploads.local_uploads import LocalUploads
from bench.uploads import evaluators, memory_kb, p95_ms
from tests.unit import sample_studies as studies
from tests.unit.uploads.streams import send

PICTURES = 5000
SIZE_PX = 64
_TURN_S = 5.0
_SETTLING_S = 0.5


def run() -> dict:
    """Return the ratio of the 95th percentiles, and the growth of the worker's memory."""
    with tempfile.TemporaryDirectory(prefix="openhype-bench-") as folder:
        return _measured(Path(folder))


def _measured(folder: Path) -> dict:
    data = DataDir(folder)
    store = open_store("sqlite:///openhype.db", folder)
    study = studies.study(images=400, evaluators=10**5, panel="link")
    store.add_study(study, studies.pool(study, each=1000))
    store.close()
    body = {
        "name": "made",
        "real": _uploaded(data, 0),
        "models": [{"model": "gan", "upload": _uploaded(data, 1)}],
        "settings": {"size_px": SIZE_PX},
    }
    with _server(folder) as (url, worker), evaluators(url) as times:
        time.sleep(3)  # the first replies of a process are slower
        memory, busy, quiet = _made(url, data.keys().researcher, body, worker, times)
    before, during = p95_ms(quiet), p95_ms(busy)
    early = memory[0][1]
    return {
        f"p95 of answers while a study of 2 x {PICTURES:,} pictures is made, of a quiet server's": {
            "ratio": during / before,
            "goal": "at most 2",
            "quiet ms": before,
            "busy ms": during,
            "answers": [len(quiet), len(busy)],
        },
        "memory of the worker at the end of that study, of what it had at the first pictures": {
            "ratio": memory[-1][1] / early,
            "goal": "at most 1.5",
            "MB": memory[-1][1] / 1024,
        },
    }  # fmt: skip


@contextlib.contextmanager
def _server(folder: Path) -> Iterator[tuple[str, int]]:
    """Run `openhype serve`; gives its address and the process of its worker."""
    command = [sys.executable, "-m", "backend", "serve", "--port", "0", "--data", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        url = re.search(r"http://[^/]+", process.stdout.readline())[0]
        time.sleep(2)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        yield url, int(children[0])
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


def _made(
    url: str, key: str, body: dict, worker: int, times: list[float]
) -> tuple[list[tuple[float, int]], list[float], list[float]]:
    """Have a study made.

    Returns the worker's memory (kB) by the share of pictures that were read, and the times of answers while
    it worked and while it was stopped.
    """
    job = _ask(url, key, "/api/studies", body)["job"]
    memory, busy, quiet = [], [], []
    while (state := _ask(url, key, f"/api/jobs/{job}"))["state"] in ("queued", "running"):
        if (progress := state["progress"]) and progress["what"] == "pictures":
            memory.append((progress["done"] / progress["total"], memory_kb(worker)))
        busy += _answers_of_a_turn(times)
        os.kill(worker, signal.SIGSTOP)
        try:
            quiet += _answers_of_a_turn(times)
        finally:
            os.kill(worker, signal.SIGCONT)
    if state["state"] != "done":
        raise RuntimeError(f"the study was not made: {state['reason']}")
    return [*memory, (1.0, memory_kb(worker))], busy, quiet


def _answers_of_a_turn(times: list[float]) -> list[float]:
    time.sleep(_SETTLING_S)
    before = len(times)
    time.sleep(_TURN_S)
    return times[before:]


def _ask(url: str, key: str, path: str, body: dict | None = None) -> dict:
    content = None if body is None else json.dumps(body).encode()
    headers = {"X-Openhype-Token": key, "Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(url + path, content, headers), timeout=60) as reply:
        return json.load(reply)


def _uploaded(data: DataDir, side: int) -> str:
    """Return the id of an upload of a side's pictures, stored without a server."""
    files = {f"{i:05}.png": _picture(side * PICTURES + i) for i in range(PICTURES)}
    return send(LocalUploads(data), "owner", files, utc_now()).id


def _picture(seed: int) -> bytes:
    """Return a PNG of soft noise, as hard to compress as a photograph."""
    import numpy as np
    from PIL import Image

    small = np.random.default_rng(seed).integers(0, 256, (SIZE_PX // 4, SIZE_PX // 4, 3)).astype("uint8")
    buffer = io.BytesIO()
    Image.fromarray(small).resize((SIZE_PX, SIZE_PX), Image.Resampling.BICUBIC).save(buffer, "PNG")
    return buffer.getvalue()
