"""Every command shows on a terminal that it works, or has a reason to show nothing."""

import inspect
import io
import os
import pty
import sys
import time

import numpy as np
import pytest
from PIL import Image

from backend.cli import HOMES, main
from backend.commands.setup import elapsed_time, progress_bar

_SIDES = "--real reals --model gan=gan --size 16"
_ONE = "--set blocks=1 --set spare_images=2"
_FEW = "--set images=4 --set picture_checks=0 --set exclude_checks_below=0 --set practice_images=0"
_TRIPLETS = f"create triplets --method 2afc --items sets/traditional --size 16 {_FEW}"
SHOWN = {
    "agree": [("agree triplets --distance ssim --simulated", "agreement")],
    "backup": [("backup copies", "database", "files")],
    "clear": [("clear cleared --simulated --yes", "sessions")],
    "copy": [("copy faces --from sqlite:///openhype.db --to sqlite:///other.db", "sessions")],
    "create": [
        (f"create made {_SIDES} --set images=8", "pictures"),
        (f"create flashes --method time {_SIDES} --set images=8 --set masks=phase {_ONE}", "phase masks"),
    ],
    "delete": [("delete deleted --yes deleted", "sessions")],
    "distances": [("distances sets -o distances.csv --distance ssim", "distances")],
    "distort": [("distort reals -o other-sets --size 16 --count 4", "photographs")],
    "update-sampling": [("update-sampling drawn --simulated", "answers")],
    "export": [("export faces -o export --simulated", "scored sessions")],
    "join": [("join faces --model vae=vae", "pictures")],
    "leaderboard": [("leaderboard faces --simulated -o board", "findings")],
    "looks": [("looks faces --plan 5,6 --aim half-width=9 --simulated", "looks")],
    "masks": [("masks reals --kind phase --size 16 --count 2 -o masks.png", "phase masks")],
    "metrics": [("metrics --real reals --model gan=gan --replicates 3", "distances")],
    "plan": [("plan --width 5", "plan")],
    "qualification": [(f"qualification gate {_SIDES} --set images=8", "pictures")],
    "rerun": [("rerun faces --as rerun", "pictures")],
    "replicate": [("replicate faces other --simulated", "runs")],
    "report": [("report faces --simulated -o report", "findings", "report")],
    "restore": [("restore backup --data restored", "files")],
    "retention": [("retention --keep-days 1", "sessions")],
    "score": [("score faces --simulated", "scores"), ("score faces --simulated --full", "findings")],
    "set": [("set cleared images=6", "settings")],
    "convergence": [("convergence --evaluators 2", "staircases")],
    "simulate": [("simulate faces --evaluators 2", "evaluators")],
    "site": [("site faces -o site", "pictures")],
}  # fmt: skip
"""By command: arguments, and the labels of the bars that they show."""
NOT_RUN_HERE = {
    "calibrate": "progress_bar",  # needs torch
    "pay": "progress_bar",  # needs Prolific
    "submit": "progress=True",  # needs another server
    "upload": "progress_bar",  # needs a bucket
}
"""By command: what its code has that shows a bar."""
WITHOUT = {
    "admit-waiting": "writes one record",
    "costs": "prints from a table",
    "demo": "tells what it makes while it serves (`test_demo_making.py`)",
    "deploy": "prints a line for every step",
    "links": "prints a line for every link",
    "members": "writes one record",
    "pause": "writes one record",
    "published": "computes from 12 rows of the papers",
    "preregister": "prints from a record",
    "recruit": "prints a line for every step; asks the panel a few times",
    "resume": "writes one record",
    "preview": "serves until it is stopped, and prints what it does",
    "serve": "serves until it is stopped, and prints what it does",
    "settings": "prints from a table",
    "competition": "reads and writes one record",
    "status": "reads counts",
    "work": "prints a line for every job",
}


class Terminal(io.StringIO):
    """What is written to a terminal."""

    def isatty(self):
        return True


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with pictures, and studies with simulated sessions."""
    folder, rng = tmp_path_factory.mktemp("bars"), np.random.default_rng(1)
    for side in ("reals", "gan", "vae"):
        (folder / side).mkdir()
        for i in range(24):
            Image.fromarray(rng.integers(0, 256, (16, 16, 3)).astype("uint8")).save(
                folder / side / f"{i}.png"
            )
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for study in ("faces", "again", "cleared", "deleted", "drawn"):
            draw = "least-seen" if study == "drawn" else "random"
            run(f"create {study} {_SIDES} --set images=8 --set sampling={draw} --evaluators 2")
            run(f"simulate {study}")
        run("rerun faces --as other")
        run("simulate other")
        run("distort reals -o sets --size 16 --count 8")
        run(_TRIPLETS)
        run("simulate triplets --evaluators 2")
        run("backup backup")
    return folder


def run(arguments):
    """Run a command of openhype in this process."""
    main.main(arguments.split(), standalone_mode=False)


def test_every_command_is_in_one_of_the_lists():
    assert sorted([*SHOWN, *NOT_RUN_HERE, *WITHOUT]) == sorted(HOMES)


@pytest.mark.slow("runs most commands")
@pytest.mark.parametrize(("arguments", "labels"), [(a, b) for case in SHOWN.values() for a, *b in case])
def test_a_command_shows_on_a_terminal_that_it_works(folder, monkeypatch, arguments, labels):
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())

    run(arguments)

    assert [label for label in labels if f"\r{label}: " in terminal.getvalue()] == labels


@pytest.mark.parametrize(("command", "code"), NOT_RUN_HERE.items())
def test_a_command_that_needs_others_has_a_bar_too(command, code):
    assert code in inspect.getsource(inspect.getmodule(main.get_command(None, command).callback))


def test_nothing_is_shown_in_a_pipe(capsys):
    with elapsed_time("scores"):
        rows = list(progress_bar([1, 2, 3], 3, "rows"))

    assert rows == [1, 2, 3]
    assert capsys.readouterr().err == ""


def test_work_without_steps_shows_how_long_it_has_taken(monkeypatch):
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    monkeypatch.setattr("backend.commands.setup._REDRAWN_S", 0.01)

    with elapsed_time("scores"):
        time.sleep(0.1)

    drawn = terminal.getvalue().split("\r")
    assert drawn.count("scores: 00:00") > 1
    assert drawn[-2].strip() == drawn[-1] == ""


def test_a_terminal_that_does_not_say_its_size_shows_a_bar():
    child, terminal = pty.fork()  # its size is 0 by 0, as in a container
    if child == 0:
        code = "from backend.commands.setup import progress_bar; list(progress_bar('ab', 2, 'rows'))"
        os.execv(sys.executable, [sys.executable, "-c", code])

    shown = b""
    with os.fdopen(terminal, "rb", buffering=0) as screen:
        while data := _read(screen):
            shown += data
    os.waitpid(child, 0)

    assert b"rows:   0%" in shown


def _read(screen):
    try:
        return screen.read(4096)
    except OSError:  # the process has ended
        return b""
