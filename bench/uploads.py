"""Answers while 2 x 5,000 pictures are uploaded: how long they take, and the memory of the server.

`openhype serve` runs in a process of its own. Evaluators answer at a pace of people, first on a quiet
server, then while a client uploads two folders in parts over several connections, cutting some of them. A
reply's time is measured by the evaluator, in another process than that of the uploading client. Server,
evaluators and client share the machine's cores, so that the ratio also has what the client takes.
"""

import contextlib
import hashlib
import http.client
import json
import multiprocessing
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import quantiles
from urllib.parse import urlsplit

from backend.client.file_stream import checksum, list_of, part_ranges
from backend.commands.simulated_evaluators import Client
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store
from backend.uploads.archives import unpack
from backend.uploads.limits import Limits
from backend.uploads.local_uploads import LocalUploads
from backend.web.server import listen, make_server, serve
from tests.unit import sample_studies as studies

PICTURES = 5000
PICTURE_BYTES = 60_000
EVALUATORS = 16
ANSWERS_A_SECOND = 2.0
"""Of each evaluator; HYPE-infinity takes a person about 2 s a picture."""
QUIET_S = 20
SENDERS = 2
CUTS = 10


def run() -> dict:
    """Return the ratio of the 95th percentiles, and the growth of the server's memory."""
    with tempfile.TemporaryDirectory(prefix="openhype-bench-") as folder:
        return _measured(Path(folder))


def _measured(folder: Path) -> dict:
    process = subprocess.Popen([sys.executable, "-m", "bench.uploads", folder], stdout=subprocess.PIPE)
    try:
        url = f"http://127.0.0.1:{int(process.stdout.readline())}"
        key = DataDir(folder).keys().researcher
        with evaluators(url) as times:
            time.sleep(3)  # the first replies of a process are slower
            times.clear()
            time.sleep(QUIET_S)
            quiet = [*times]
            memory = memory_kb(process.pid)
            times.clear()
            began = time.monotonic()
            with multiprocessing.get_context("spawn").Pool(1) as uploader:
                uploads = uploader.starmap(_upload, [(url, key, side) for side in ("real", "fake")])
            seconds = time.monotonic() - began
            busy = [*times]
            grown = memory_kb(process.pid) - memory
    finally:
        process.terminate()
        process.wait()
    for side, upload in zip(("real", "fake"), uploads, strict=True):
        _check(folder, side, upload)
    before, during = p95_ms(quiet), p95_ms(busy)
    return {
        f"p95 of answers while 2 x {PICTURES:,} pictures are uploaded, of a quiet server's": {
            "ratio": during / before,
            "goal": "at most 2",
            "quiet ms": before,
            "busy ms": during,
            "answers": [len(quiet), len(busy)],
            "uploaded MB/s": 2 * PICTURES * PICTURE_BYTES / 1e6 / seconds,
            "connections cut": 2 * CUTS,
        },
        "growth of the server's memory by the upload, of its 600 MB": {
            "ratio": max(0, grown) * 1024 / (2 * PICTURES * PICTURE_BYTES),
            "goal": "at most 0.1",
            "MB": grown / 1024,
        },
    }  # fmt: skip


@contextlib.contextmanager
def evaluators(url: str) -> Iterator[list[float]]:
    """Have evaluators answer; gives the times (s) of replies, which grow."""
    times: list[float] = []
    stop = threading.Event()
    with ThreadPoolExecutor(EVALUATORS) as pool:
        answering = [pool.submit(_answer, url, number, times, stop) for number in range(EVALUATORS)]
        try:
            yield times
        finally:
            stop.set()
        for each in answering:
            each.result()


def _answer(url: str, number: int, times: list[float], stop: threading.Event) -> None:
    client, pause = Client(url), random.Random(number)
    while not stop.is_set():
        opened = client.post("/api/studies/faces/sessions", {"consent_version": "1"})
        path, token = f"/api/sessions/{opened['state']['session']}", opened["token"]
        block = client.post(f"{path}/blocks", {"lease": 1, "block": 0}, token)
        for trial, image in enumerate(block["images"]):
            if stop.wait(pause.expovariate(ANSWERS_A_SECOND)):
                break
            body = {
                "lease": 1,
                "trial_index": trial,
                "stimulus": image.rpartition("/")[2],
                "response": "real",
            }
            began = time.perf_counter()
            client.post(f"{path}/answers", {**body, "rt": 400.0}, token)
            times.append(time.perf_counter() - began)
    client.close()


def _upload(url: str, key: str, side: str) -> str:
    """Upload one side, cutting connections; return the upload's id."""
    stream = _stream(side)
    ranges = part_ranges(len(stream))
    parts = [checksum(stream[start:stop]) for start, stop in ranges]
    begun = _ask(url, key, "POST", "/api/uploads", {"format": "files", "bytes": len(stream), "parts": parts})
    path = f"/api/uploads/{begun['upload']}"
    cut = set(random.Random(side).sample(range(len(parts)), min(CUTS, len(parts))))

    def send(number: int) -> None:
        content = stream[slice(*ranges[number])]
        if number in cut:
            _ask(url, key, "PUT", f"{path}/parts/{number}", content, is_cut=True)
        _ask(url, key, "PUT", f"{path}/parts/{number}", content)

    with ThreadPoolExecutor(SENDERS) as pool:
        list(pool.map(send, begun["missing"]))
    return _ask(url, key, "POST", f"{path}/complete", {})["upload"]


def _ask(url: str, key: str, verb: str, path: str, body: dict | bytes, is_cut: bool = False) -> dict:
    place = urlsplit(url)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=60)
    is_bytes = isinstance(body, bytes)
    content = body if is_bytes else json.dumps(body).encode()
    with contextlib.closing(connection):
        connection.putrequest(verb, path)
        connection.putheader("X-Openhype-Token", key)
        connection.putheader("Content-Type", "application/octet-stream" if is_bytes else "application/json")
        connection.putheader("Content-Length", str(len(content)))
        connection.endheaders()
        connection.send(content[: len(content) // 2] if is_cut else content)
        if is_cut:
            return {}
        reply = connection.getresponse()
        data = json.loads(reply.read())
        if reply.status >= 300:
            raise RuntimeError(f"{verb} {path}: {reply.status} {data}")
        return data


def _stream(side: str) -> bytes:
    """Return the pictures of a side as they are sent."""
    names = [f"{side}/{number:05}.png" for number in range(PICTURES)]
    return list_of((name, PICTURE_BYTES) for name in names) + b"".join(_picture(side, name) for name in names)


def _picture(side: str, name: str) -> bytes:
    """Return bytes in place of a picture, of which nobody but the ingestion would know."""
    seed = hashlib.sha256(f"{side} {name}".encode()).digest()
    return seed * (PICTURE_BYTES // len(seed))


def _check(folder: Path, side: str, upload: str) -> None:
    """Check that what was received is what was sent."""
    with LocalUploads(DataDir(folder)).archive(upload) as archive:
        made = unpack(archive, "files", folder / side, Limits(free=0))
    received = {path.name: path.read_bytes() for path in (folder / side).iterdir()}
    expected = {f"{n:05}.png": _picture(side, f"{side}/{n:05}.png") for n in range(PICTURES)}
    if made.files != PICTURES or received != expected:
        raise RuntimeError(f"the pictures of {side} did not arrive as they were sent")


def memory_kb(pid: int) -> int:
    """Return the largest memory (kB) that a process has had resident."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


def p95_ms(times: list[float]) -> float:
    return 1000 * quantiles(times, n=20)[-1]


if __name__ == "__main__":
    from backend.handlers import create_app

    root = Path(sys.argv[1])
    store = open_store("sqlite:///a.db", root)
    study = studies.study(images=400, evaluators=10**5, panel="link")
    store.add_study(study, studies.pool(study, each=1000))
    data = DataDir(root)
    server = make_server(create_app(store, data, data.keys()), listen("127.0.0.1", 0))
    print(server.effective_port, flush=True)  # noqa: T201
    serve(server)
