"""A study in a terminal: in place on a screen, a line for each change in a pipe, and a clean end."""

import contextlib
import os
import pty
import signal
import subprocess
import sys
import time

from backend.commands.live import follow
from tests.isolation import interruptible

from .. import sample_studies as studies


def seen(finished=0, paused=False, ci=None, simulated=0):
    interval = ci and {"ci": ci}
    model = {"model": "gan", "score": 50.66, "ci": None, "interval": interval}
    scores = {"unit": "percent", "models": [model]} if finished else None
    return {
        "study": "faces", "kind": "study", "method": "infinity", "title": "HYPE-infinity",
        "paused": paused, "evaluators_wanted": 2,
        "models": [
            {"model": "gan", "wanted": 2, "active": 1, "abandoned": 0, "ended": 0, "returned": 0,
             "finished": finished},
        ],
        "responses": 8, "mistimed": {"responses": 0, "share": 0, "by_browser": []},
        "withdrawn": {"sessions": 0},
        "currency": "USD", "owed_usd_cents": 16 * finished,
        "median_wage_usd_cents_an_hour": None, "warnings": [], "notes": [],
        "scores": scores, "simulated": simulated,
    }  # fmt: skip


def written(looks, columns=None):
    """Return what is written over several looks, the last of which is interrupted."""
    texts, left = [], iter(looks)

    def wait():
        if wait.left == 0:
            raise KeyboardInterrupt
        wait.left -= 1

    wait.left = len(looks) - 1
    follow(lambda: [next(left)], texts.append, wait, columns)
    return texts


def test_a_pipe_gets_a_line_when_something_changes():
    looks = [seen(), seen(), seen(1), seen(1), seen(2, True, [48.2, 53.14], simulated=6)]

    assert written(looks) == [
        "faces: 0 of 2 finished, 1 active, owed $0.00\n",
        "faces: 1 of 2 finished, 1 active, owed $0.16, gan 50.7%\n",
        "faces: 2 of 2 finished, 1 active, owed $0.32, paused, 6 simulated, gan 50.7% [48.2, 53.1]\n",
    ]


def test_a_screen_is_written_over_in_place():
    first, second = written([seen(), seen(), seen(1)], columns=40)

    lines = first.splitlines()
    assert "\x1b" not in first
    assert second.startswith(f"\x1b[{len(lines)}F\x1b[J")
    assert all(len(line) < 40 for line in lines)


def test_ctrl_c_ends_it_cleanly_on_a_terminal(world, tmp_path):
    world.add(studies.study(images=8))
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "backend", "status", "faces", "--watch", "--data", str(tmp_path)]
    with interruptible():
        process = subprocess.Popen(command, stdout=theirs, stderr=subprocess.PIPE)
    os.close(theirs)
    text = b""
    until = time.monotonic() + 60
    while b"Ctrl-C" not in text:
        assert time.monotonic() < until
        text += os.read(ours, 4096)
    process.send_signal(signal.SIGINT)
    with contextlib.suppress(OSError):
        while os.read(ours, 4096):
            pass
    errors = process.communicate(timeout=60)[1]
    os.close(ours)

    assert (process.returncode, errors) == (0, b"")
    assert text.startswith(b"study faces (HYPE-infinity), 0 responses")
