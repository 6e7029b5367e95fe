"""A thousand evaluators at once on the deployment packages: replies, and the share that finishes.

Functions run from their zips behind CloudFront's routing (`tests/cloudfront.py`), with dynalite for the
table. The functions, the table and the evaluators share the cores of one machine, so only shares and
counts are reported, not times.
"""

import math
import os
import tempfile
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from backend.commands.simulated_evaluators import Client
from backend.foundation.errors import OpenhypeError
from backend.stores.datadir import DataDir
from backend.stores.dynamodb.store import create_table
from backend.stores.opening import open_store
from tests.cloudfront import Cloudfront, serving
from tests.dynamodb import REGION, dynalite
from tests.function import Function
from tests.unit import sample_studies as studies
from tests.unit.whole_sessions import take_part

EVALUATORS = 1000
INSTANCES = 4
IMAGES = 10
_PATIENCE_S = 900


class _Counted(Client):
    """A client that counts replies by class of status."""

    def __init__(self, url: str, seen: Counter, lock: threading.Lock):
        super().__init__(url, _PATIENCE_S)
        self._seen, self._lock = seen, lock

    def _send(self, verb: str, path: str, body: dict | None, token: str | None) -> tuple[int, dict]:
        status, reply = super()._send(verb, path, body, token)
        with self._lock:
            self._seen[f"{status // 100}xx"] += 1
        return status, reply


def run() -> dict:
    """Return the share of evaluators who finished their session, and the counts of replies by status."""
    emulator = dynalite()
    try:
        with tempfile.TemporaryDirectory(prefix="openhype-bench-") as folder:
            return _measured(emulator, Path(folder))
    finally:
        emulator.stop()


def _measured(emulator: Any, folder: Path) -> dict:
    url = emulator.url("crowd")
    aws = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "AWS_DEFAULT_REGION": REGION}
    os.environ.update(aws)
    create_table(url)
    store = open_store(url, folder)
    study = studies.study(images=IMAGES, evaluators=EVALUATORS)
    store.add_study(study, studies.pool(study, each=200))
    pictures = {each.name: each for each in store.stimuli(study.name)}
    DataDir(folder).keys()
    environment = {**aws, "OPENHYPE_STORE": url, "OPENHYPE_DATA": str(folder)}
    functions = [Function("api", environment) for _ in range(INSTANCES)]
    seen, lock = Counter(), threading.Lock()

    def come(number: int) -> bool:
        client = _Counted(base, seen, lock)
        try:
            panel = {"PROLIFIC_PID": f"p{number}"}
            return take_part(client, study, pictures, lambda truth, *_: truth, panel)["complete"]
        except OpenhypeError as error:
            print(f"evaluator {number}: {error}", flush=True)  # noqa: T201
            return False
        finally:
            client.close()

    try:
        with (
            serving(Cloudfront("none", {"api": functions, "score": []}, most_a_second=math.inf)) as base,
            ThreadPoolExecutor(EVALUATORS) as all_at_once,
        ):
            through = sum(all_at_once.map(come, range(EVALUATORS)))
        stored = sum(len(responses) for _, _, responses in store.answered(study.name))
    finally:
        for function in functions:
            function.close()
        store.close()
    return {
        f"{EVALUATORS:,} evaluators at once on the packages, share that got through": {
            "ratio": through / EVALUATORS,
            "goal": "1",
            "answers stored": stored,
            "answers given": EVALUATORS * IMAGES,
            "replies": dict(sorted(seen.items())),
            "requests an answer": sum(seen.values()) / (EVALUATORS * IMAGES),
        }
    }
