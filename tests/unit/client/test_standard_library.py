"""The client on a machine that has nothing but Python: `pip install --no-deps openhype`."""

import hashlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from PIL import Image

from .scripted_server import Answer, scripted

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = """
import sys, types
sys.path.insert(0, sys.argv[1])
for name in ("PIL", "numpy", "msgspec", "flask", "tqdm", "click", "requests"):
    try:
        __import__(name)
        raise SystemExit(f"{name} is installed; this test would show nothing")
    except ImportError:
        pass
import openhype
client = openhype.Client(sys.argv[2])
array = types.SimpleNamespace(shape=(2, 3, 3), dtype="uint8", tobytes=lambda: bytes(range(18)))
submission = client.submit("faces", model="gan@1", images=[array], progress=True)
print(submission.state, submission.result(timeout=60).score)
assert issubclass(openhype.LimitReached, openhype.Conflict)
"""


def submission(state, result=None, needs_pictures=False):
    return Answer(
        body={
            "submission": "s1",
            "study": "faces",
            "model": "gan@1",
            "member": "ada",
            "digest": "d",
            "state": state,
            "reason": None,
            "result": result,
            "needs_pictures": needs_pictures,
        }
    )


class Uploading:
    """Answers of an upload, of which the first depends on what was asked."""

    status, headers, cut = 200, {}, False

    def __init__(self, server):
        self.server = server

    @property
    def body(self):
        asked = json.loads(self.server.seen[-1][3])
        digest = hashlib.sha256(b"".join(map(bytes.fromhex, asked["parts"]))).hexdigest()
        return {"upload": "u1", "digest": digest, "state": "receiving", "part_bytes": 5242880, "missing": [0]}


def test_it_imports_submits_and_waits_with_the_standard_library_alone():
    scored = {"score": 41.5, "ci": [30.0, 50.0], "unit": "percent", "evaluators": 30, "wanted": 30}
    with scripted() as server:
        server.answers += [
            submission("awaiting_pictures", needs_pictures=True),
            Uploading(server),
            Answer(body={"urls": [{"part": 0, "url": "/api/uploads/u1/parts/0", "headers": {}}]}),
            Answer(),
            Answer(),
            submission("queued"),
            submission("scored", scored),
        ]
        found = subprocess.run(
            [sys.executable, "-I", "-S", "-c", PROGRAM, str(ROOT), server.url],
            env={**os.environ, "OPENHYPE_TOKEN": "oh_1_secret"},
            capture_output=True,
            text=True,
            timeout=60,
        )

    assert found.stderr == ""
    assert found.stdout == "queued 41.5\n"
    assert [f"{verb} {path}" for verb, path, _, _ in server.seen] == [
        "POST /api/studies/faces/submissions",
        "POST /api/uploads",
        "POST /api/uploads/u1/urls",
        "PUT /api/uploads/u1/parts/0",
        "POST /api/uploads/u1/complete",
        "POST /api/submissions/s1/pictures",
        "GET /api/submissions/s1",
    ]
    listed, _, content = server.seen[3][3].partition(b"\n\n")
    picture = Image.open(io.BytesIO(content))
    assert listed == b"%d 000000.png" % len(content)
    assert np.asarray(picture).tobytes() == bytes(range(18))


def test_the_command_says_what_it_needs_besides():
    program = "import sys; sys.path.insert(0, sys.argv.pop(1)); from backend.__main__ import run; run()"

    found = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, str(ROOT), "submit"],
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert found.returncode == 1
    assert found.stderr.startswith("openhype: the command needs click, which is not installed; run: ")
    assert found.stderr.count("\n") == 1
