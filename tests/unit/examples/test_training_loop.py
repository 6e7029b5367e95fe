"""The training loop of the examples, as it stands there, against a server that is killed in between.

torch is a stand-in (`stand_ins/`), since it is too large to install for this; the example was also run with
torch 2.13.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import openhype

from ..client.served import SOON_S, Served, write_pictures

ROOT = Path(__file__).resolve().parents[3]
STEPS = (20, 40, 60)


def until(is_so):
    """Wait until something is so; return it."""
    deadline = time.monotonic() + SOON_S
    while not (found := is_so()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return found


@pytest.fixture
def served(tmp_path):
    """Return a server of a leaderboard study of two evaluators a model, started."""
    served = Served(tmp_path)
    write_pictures(tmp_path / "real", 12, seed=1)
    write_pictures(tmp_path / "gan", 12, seed=2)
    served.run(
        *("create", "faces", "--real", "real", "--model", "gan=gan"),
        *("--set", "images=10", "--set", "spare_images=0", "--set", "evaluators=2"),
    )
    served.start()
    served.post("/api/studies/faces/competition", {"title": "Faces"})
    served.post("/api/members", {"member": "ada", "role": "submitter"})
    yield served
    served.kill()


def started(served, token):
    """Start the training loop in the background; its scores go to a pipe."""
    return subprocess.Popen(
        [
            *(sys.executable, str(ROOT / "examples" / "pytorch_loop.py"), "--study", "faces", "--rehearse"),
            *(
                "--steps",
                "60",
                "--every",
                "20",
                "--samples",
                "12",
                "--look-every",
                "0.3",
                "--wait",
                str(SOON_S),
            ),
        ],
        cwd=served.folder,
        env={
            **os.environ,
            "PYTHONPATH": f"{ROOT}{os.pathsep}{Path(__file__).parent / 'stand_ins'}",
            "OPENHYPE_URL": served.url,
            "OPENHYPE_TOKEN": token,
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow("a process is killed again and again")
def test_nothing_is_lost_or_doubled_when_the_server_is_killed(served):
    token = served.post("/api/members/ada/tokens", {"label": "loop", "days": 1})["secret"]
    client = openhype.Client(served.url, served.key, simulated=True)
    book = served.folder / "samples" / "submissions.json"

    loop = started(served, token)
    until(lambda: book.exists() and json.loads(book.read_text())["20"]["submission"])
    loop.send_signal(signal.SIGSTOP)
    served.kill()
    loop.send_signal(signal.SIGCONT)
    until(lambda: "60" in json.loads(book.read_text()))
    assert json.loads(book.read_text())["60"]["submission"] is None  # it found no server
    served.start()
    until(lambda: [one.state for one in client.submissions("faces")] == ["collecting"] * 3)
    served.run("simulate", "faces", "--evaluators", "8", "--url", served.url)
    served.kill()
    served.start()
    scores, complaints = loop.communicate(timeout=SOON_S)

    assert loop.returncode == 0, complaints
    logged = [json.loads(line) for line in scores.splitlines()]
    assert sorted(row["step"] for row in logged) == [*STEPS]
    found = {one.model: one.status()["result"] for one in client.submissions("faces")}
    assert {f"gan@{row['step']}": row["human/score"] for row in logged} == {
        model: result["score"] for model, result in found.items()
    }
    assert token not in scores + complaints

    # all that was remembered is lost: the same pictures are the same submissions
    before = [one.id for one in client.submissions("faces")]
    book.unlink()
    scores, complaints = started(served, token).communicate(timeout=SOON_S)

    assert [json.loads(line) for line in scores.splitlines()] == sorted(logged, key=lambda row: row["step"])
    assert [one.id for one in client.submissions("faces")] == before
    models = [row["model"] for row in client.status("faces")["models"]]
    assert sorted(models) == ["ada gan@20", "ada gan@40", "ada gan@60", "gan"]
