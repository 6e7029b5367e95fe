"""The package of the `api` stage against one of Flask and boto3 alone, both packed the same lean way.

Size, and the time from the start of a process to its first reply, on an interpreter that has nothing else.
Both are started in turn, so that what else the machine does falls on both.
"""

import json
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from statistics import median

from backend.datadir import DataDir
from backend.stores import open_store
from deploy import package
from tests import function
from tests.unit import studies

STARTS = 21

_FLOOR = """
import boto3
from flask import Flask

sessions = Flask(__name__)


@sessions.get("/api/studies/<name>")
def study(name):
    return {"study": name}
"""


def run() -> dict:
    """Return the ratios."""
    with tempfile.TemporaryDirectory(prefix="openhype-bench-") as name:
        folder = Path(name)
        ours = package.build("api", folder / "built")
        floor = _floor(ours.path, folder)
        url = f"sqlite:///{folder}/a.db"
        store, data = open_store(url, folder), DataDir(folder)
        data.keys()
        study = studies.study(images=8)
        store.add_study(study, studies.pool(study))
        environment = {"OPENHYPE_STORE": url, "OPENHYPE_DATA": str(folder), "AWS_REGION": "eu-central-1"}
        times: dict[str, list[float]] = {"ours": [], "floor": []}
        unpacked = {
            "ours": _unpacked(ours.path, folder / "ours"),
            "floor": _unpacked(floor, folder / "floor"),
        }
        for i in range(STARTS + 1):
            for kind, task in unpacked.items():
                taken = _first_reply_s(task, environment)
                if i:  # the first reads the files from the disk
                    times[kind].append(taken)
        store.close()
        return {
            "first reply of the api package, ours / Flask and boto3 alone": {
                "ratio": median(times["ours"]) / median(times["floor"]),
                "goal": "at most 1.3",
                "median_s": {kind: round(median(found), 3) for kind, found in times.items()},
            },
            "size of the api package, ours / Flask and boto3 alone": {
                "ratio": ours.size / floor.stat().st_size,
                "bytes": {"ours": ours.size, "floor": floor.stat().st_size},
            },
        }


def _floor(ours: Path, folder: Path) -> Path:
    """Return our package with an application of a few lines in the place of ours."""
    path = folder / "floor.zip"
    with zipfile.ZipFile(ours) as source, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        for entry in source.infolist():
            if not entry.filename.startswith(("backend/", "deploy/")):
                target.writestr(entry, source.read(entry), zipfile.ZIP_DEFLATED)
        target.writestr("deploy/__init__.py", "")
        target.writestr("deploy/api.py", _FLOOR)
        target.writestr("deploy/door.py", "from handler import lambda_handler as handle\n")
    return path


def _unpacked(path: Path, folder: Path) -> Path:
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder)
    mode = [sys.executable, "-m", "compileall", "-qq", "--invalidation-mode", "unchecked-hash"]
    subprocess.run([*mode, str(folder)], check=False)  # compiles what has no byte code yet
    return folder


def _first_reply_s(task: Path, environment: dict[str, str]) -> float:
    event = function.function_url_event("GET", "/api/studies/faces", {}, b"")
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-S", "-I", "-c", function.RUNTIME, str(task)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        text=True, cwd=task, env=environment,
    )  # fmt: skip
    process.stdin.write(json.dumps(event) + "\n")
    process.stdin.flush()
    reply = json.loads(process.stdout.readline())
    taken = time.perf_counter() - began
    process.stdin.close()
    process.wait()
    process.stdout.close()
    if reply["statusCode"] != 200:
        raise RuntimeError(f"the package answered {reply}")
    return taken
