"""The package of the `api` stage against one of Flask and boto3 alone, both packed by the same method.

Compares size, and the processor's time from the start of a process to its first reply, on an interpreter
without other packages and with dynalite as the table, from which each reads one item. Ours also reads its
keys from SSM (moto), as on AWS. Both are started in turn; `elapsed_s` is real time, emulators included.
"""

import json
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from statistics import median

import boto3

from backend.stores.datadir import DataDir
from backend.stores.dynamodb.store import create_table
from backend.stores.opening import open_store
from deploy import package
from tests import aws, function
from tests.dynamodb import REGION, Emulator, dynalite
from tests.unit import sample_studies as studies

STARTS = 21
_HANDLER = "deploy.entry_point.handle"
"""What Lambda calls in both packages."""
_KEYS = "/openhype/bench/keys"
_COLD_START = """
import json, sys, time
from importlib import import_module
sys.path.insert(0, sys.argv[1])
replies, sys.stdout = sys.stdout, sys.stderr
module, _, name = sys.argv[2].rpartition(".")
event = json.loads(sys.stdin.readline())
class Context:
    get_remaining_time_in_millis = staticmethod(lambda: 600_000)
reply = getattr(import_module(module), name)(event, Context)
replies.write(json.dumps([reply, time.process_time()]) + "\\n")
replies.flush()
"""
"""A process that has imported nothing yet, as an instance of Lambda; those of `tests.function` are forked."""

_FLOOR = """
import os

import boto3
from flask import Flask

sessions = Flask(__name__)
table = boto3.client("dynamodb", endpoint_url=os.environ["FLOOR_ENDPOINT"])


@sessions.get("/api/studies/<name>")
def study(name):
    key = {"p": {"S": "studies"}, "s": {"S": name}}
    found = table.get_item(TableName=os.environ["FLOOR_TABLE"], Key=key, ConsistentRead=True)
    return {"bytes": len(found["Item"]["j"]["B"])}
"""


def run() -> dict:
    with tempfile.TemporaryDirectory(prefix="openhype-bench-") as name:
        folder = Path(name)
        ours = package.build("api", folder / "built")
        floor = _floor(ours.path, folder)
        emulator = dynalite()
        times: dict[str, list[tuple[float, float]]] = {"ours": [], "floor": []}
        try:
            with aws.moto_server() as cloud:
                environment = _environment(emulator, cloud, folder)
                unpacked = {
                    "ours": _unpacked(ours.path, folder / "ours"),
                    "floor": _unpacked(floor, folder / "floor"),
                }
                for i in range(STARTS + 1):
                    for kind, task in unpacked.items():
                        taken = _first_reply_s(task, environment)
                        if i:  # the first start is discarded: it reads the files from the disk
                            times[kind].append(taken)
        finally:
            emulator.stop()
        processor_s, elapsed_s = (
            {kind: round(median(taken[i] for taken in runs), 3) for kind, runs in times.items()}
            for i in (0, 1)
        )
        return {
            "first reply of the api package, ours / Flask and boto3 alone": {
                "ratio": processor_s["ours"] / processor_s["floor"],
                "goal": "at most 1.1",
                "median_s": processor_s,
                "elapsed_s": elapsed_s,
            },
            "size of the api package, ours / Flask and boto3 alone": {
                "ratio": ours.size / floor.stat().st_size,
                "bytes": {"ours": ours.size, "floor": floor.stat().st_size},
            },
        }


def _environment(emulator: Emulator, cloud: str, folder: Path) -> dict[str, str]:
    """Create a table that contains a study, and keys in SSM; return the environment for both packages."""
    url = emulator.url("bench")
    create_table(url)
    DataDir(folder).keys()
    account = {"aws_access_key_id": "none", "aws_secret_access_key": "none", "region_name": REGION}
    ssm = boto3.client("ssm", endpoint_url=cloud, **account)
    ssm.put_parameter(Name=_KEYS, Type="SecureString", Value=(folder / "keys.json").read_text())
    store = open_store(url, folder)
    study = studies.study(images=8)
    store.add_study(study, studies.pool(study))
    store.close()
    return {
        "OPENHYPE_STORE": url,
        "OPENHYPE_KEYS": f"ssm:{_KEYS}",
        "AWS_ENDPOINT_URL_SSM": cloud,
        "INSTANTIATE_LAMBDA_HANDLER_ON_IMPORT": "1",
        "FLOOR_ENDPOINT": emulator.endpoint,
        "FLOOR_TABLE": "bench",
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_ACCESS_KEY_ID": "none",
        "AWS_SECRET_ACCESS_KEY": "none",
    }


def _floor(ours: Path, folder: Path) -> Path:
    """Return our package with our application replaced by one of a few lines."""
    path = folder / "floor.zip"
    with zipfile.ZipFile(ours) as source, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        for entry in source.infolist():
            if not entry.filename.startswith(("backend/", "deploy/")):
                target.writestr(entry, source.read(entry), zipfile.ZIP_DEFLATED)
        target.writestr("deploy/__init__.py", "")
        target.writestr("deploy/api.py", _FLOOR)
        target.writestr("deploy/entry_point.py", "from zappa.handler import lambda_handler as handle\n")
    return path


def _unpacked(path: Path, folder: Path) -> Path:
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder)
    mode = [sys.executable, "-m", "compileall", "-qq", "--invalidation-mode", "unchecked-hash"]
    subprocess.run([*mode, str(folder)], check=False)  # compiles files without byte code
    return folder


def _first_reply_s(task: Path, environment: dict[str, str]) -> tuple[float, float]:
    """Return the seconds of the processor, and the real ones, that the first reply of a new process takes."""
    event = function.function_url_event("GET", "/api/studies/faces", {}, b"")
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-S", "-I", "-c", _COLD_START, str(task), _HANDLER],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        text=True, cwd=task, env=environment,
    )  # fmt: skip
    process.stdin.write(json.dumps(event) + "\n")
    process.stdin.flush()
    reply, processor_s = json.loads(process.stdout.readline())
    elapsed_s = time.perf_counter() - began
    process.stdin.close()
    process.wait()
    process.stdout.close()
    if reply["statusCode"] != 200:
        raise RuntimeError(f"the package answered {reply}")
    return processor_s, elapsed_s
