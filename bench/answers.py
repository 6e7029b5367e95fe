"""Stored responses per second against the floor, the cost of starting a session, and the page's size.

The floor is a Flask route that writes one row to the same kind of SQLite file (WAL, synchronous FULL),
one connection per thread, under the same waitress: once restricted to one core like our server, once on
all cores; the faster of the two is the floor. Server and clients run in separate processes.
"""

import json
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

from backend.commands.simulated_evaluators import Client
from backend.handlers import create_app
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store
from backend.web.server import listen, make_server, serve
from bench import visit
from tests.unit import sample_studies as studies

CLIENTS = 16
SECONDS = 3
ROUNDS = 5


def run() -> dict:
    rates: dict[str, list[float]] = {"ours": [], "floor": [], "floor on all cores": []}
    for _ in range(ROUNDS):
        for kind, measured in rates.items():
            with tempfile.TemporaryDirectory() as folder:
                measured.append(_rate(kind, folder))
    floor = max(median(rates["floor"]), median(rates["floor on all cores"]))
    start = _session_start_cost()
    loaded = visit.own_files()
    return {
        "stored answers a second at 16 clients, ours / floor": {
            "ratio": median(rates["ours"]) / floor, "goal": "at least 0.85", **rates,
        },
        "start of a HYPE-time session on 10,000 + 10,000 pictures, in answers": {
            "ratio": start, "goal": "at most 10",
        },
        "the page's own files of a HYPE-infinity visit, of 150 kB": {
            "ratio": sum(loaded.values()) / 150_000, "goal": "at most 1.1", "bytes": loaded,
        },
    }  # fmt: skip


def _rate(kind: str, folder: str) -> float:
    process = subprocess.Popen([sys.executable, "-m", "bench.answers", kind, folder], stdout=subprocess.PIPE)
    try:
        port = int(process.stdout.readline())
        stop = threading.Event()
        with ThreadPoolExecutor(CLIENTS) as pool:
            post = _post_answers if kind == "ours" else _post_rows
            counts = [pool.submit(post, f"http://127.0.0.1:{port}", stop) for _ in range(CLIENTS)]
            time.sleep(SECONDS)
            stop.set()
            return sum(count.result() for count in counts) / SECONDS
    finally:
        process.terminate()
        process.wait()


def _post_rows(url: str, stop: threading.Event) -> int:
    client, count = Client(url), 0
    while not stop.is_set():
        client.post("/row", {"trial_index": count, "response": "real", "rt": 400.0, "flags": []})
        count += 1
    client.close()
    return count


def _post_answers(url: str, stop: threading.Event) -> int:
    client, count = Client(url), 0
    while not stop.is_set():
        opened = client.post("/api/studies/faces/sessions", {"consent_version": "1"})
        path, token = f"/api/sessions/{opened['state']['session']}", opened["token"]
        block = client.post(f"{path}/blocks", {"lease": 1, "block": 0}, token)
        for trial, image in enumerate(block["images"]):
            name = image.rpartition("/")[2]
            answer = {"lease": 1, "trial_index": trial, "stimulus": name, "response": "real", "rt": 400.0}
            client.post(f"{path}/answers", answer, token)
            count += 1
            if stop.is_set():
                break
    client.close()
    return count


def _session_start_cost() -> float:
    """Return the time to open a session and begin its first block, divided by the time of one response."""
    with tempfile.TemporaryDirectory() as folder:
        store = open_store("sqlite:///a.db", Path(folder))
        study = studies.study(method="time", models=("gan",), evaluators=10**5, panel="link")
        store.add_study(study, studies.pool(study, each=10_000))
        data = DataDir(Path(folder))
        http = create_app(store, data, data.keys()).test_client()
        starts, answers = [], []
        for _ in range(20):
            began = time.perf_counter()
            opened = http.post("/api/studies/faces/sessions", json={"consent_version": "1"}).json
            path = f"/api/sessions/{opened['state']['session']}"
            headers = {"Authorization": f"Bearer {opened['token']}"}
            block = http.post(f"{path}/blocks", json={"lease": 1, "block": 0}, headers=headers).json
            starts.append(time.perf_counter() - began)
            following = block["next"]
            for image in block["images"][:20]:
                body = {
                    "lease": 1,
                    "trial_index": following["trial_index"],
                    "stimulus": image.rpartition("/")[2],
                    "response": "real",
                    "exposure_ms": following["exposure_ms"],
                }
                began = time.perf_counter()
                following = http.post(f"{path}/answers", json=body, headers=headers).json["next"]
                answers.append(time.perf_counter() - began)
        store.close()
        return median(starts) / median(answers)


def _floor_app(folder: str):
    from flask import Flask, request

    app, local = Flask("floor"), threading.local()
    path = Path(folder) / "floor.db"
    sqlite3.connect(path).execute("CREATE TABLE rows (id INTEGER PRIMARY KEY, record TEXT)")

    @app.post("/row")
    def row():
        db = getattr(local, "db", None)
        if db is None:
            db = local.db = sqlite3.connect(path, timeout=30, isolation_level=None)
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = FULL")
        db.execute("INSERT INTO rows (record) VALUES (?)", (json.dumps(request.get_json()),))
        return {"stored": True}

    return app


def _our_app(folder: str):
    store = open_store("sqlite:///a.db", Path(folder))
    study = studies.study(images=400, evaluators=10**5, panel="link")
    store.add_study(study, studies.pool(study, each=1000))
    data = DataDir(Path(folder))
    return create_app(store, data, data.keys())


if __name__ == "__main__":
    kind, folder = sys.argv[1:]
    app = _our_app(folder) if kind == "ours" else _floor_app(folder)
    server = make_server(app, listen("127.0.0.1", 0))
    print(server.effective_port, flush=True)  # noqa: T201
    server.run() if kind == "floor on all cores" else serve(server)
