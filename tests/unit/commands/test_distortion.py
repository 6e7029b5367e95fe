"""`openhype distort` as people call it."""

import os
import resource
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from backend.cli import main
from tests.isolation import interruptible


@pytest.fixture(autouse=True)
def photographs(tmp_path, monkeypatch):
    """An empty folder but for photographs, as the working directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "photographs").mkdir()
    rng = np.random.default_rng(1)
    for i in range(4):
        pixels = Image.fromarray(rng.integers(0, 256, (12, 16, 3), "uint8"))
        pixels.resize((160, 120)).save(tmp_path / "photographs" / f"{i}.jpg")
    return tmp_path / "photographs"


def run(*arguments):
    return CliRunner().invoke(main, ["distort", *map(str, arguments)], prog_name="openhype")


@pytest.mark.slow("makes large sets of distorted pictures")
def test_photographs_alone_make_triplets_with_every_default(tmp_path):
    made = run("photographs", "-o", "set")

    assert made.exit_code == 0, made.output
    assert made.stdout.splitlines() == [
        "made 100 triplets of 64 px in set/traditional",
        "photographs: 4; different crops: 100, up to 25 of one, which may overlap",
        "every distortion and its parameters: set/traditional/distortions.csv",
    ]
    assert sorted(os.listdir("set/traditional/ref")) == [f"{i:06}.png" for i in range(100)]
    assert sorted(os.listdir(tmp_path)) == ["photographs", "set"]  # no data directory


@pytest.mark.slow("makes a set of distorted photographs and a study")
def test_pairs_stand_beside_triplets_under_another_name():
    run("photographs", "-o", "set", "--count", 4)
    made = run(
        "photographs", "-o", "set", "--count", 40, "--kind", "pairs", "--name", "noise", "--only", "noise"
    )

    assert made.stdout.splitlines()[2].startswith("subtle pairs: ")
    assert sorted(os.listdir("set")) == ["noise", "traditional"]
    assert sorted(os.listdir("set/noise")) == ["distortions.csv", "p0", "p1"]


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ([], 2, "Error: Missing option '-o' / '--out'."),
        (["-o", "set", "--size", "0"], 1, "openhype: size must be a whole number from 8 to 2,048, not 0"),
        (
            ["-o", "set", "--seed", "nan"],
            2,
            "Error: Invalid value for '--seed': 'nan' is not a valid integer",
        ),
        (["-o", "set", "--seed", "-1"], 2, "Error: Invalid value for '--seed': -1 is not in the range x>=0."),
        (
            ["-o", "set", "--subtle", "nan"],
            2,
            "Error: Invalid value for '--subtle': nan is not a finite number.",
        ),
        (
            ["-o", "set", "--count", "1" + "0" * 400],
            1,
            "openhype: count must be a whole number from 1 to 1,000,000,",
        ),
        (
            ["-o", "set", "--size", "121"],
            1,
            "openhype: 4 files cannot be used: 4 are too small (photographs/0.jpg",
        ),
        (
            ["-o", "set", "--only", "fog"],
            1,
            "openhype: there is no distortion 'fog'; there are the sub-types",
        ),
        (
            ["-o", "set", "--size", "119", "--count", "1000"],
            1,
            "openhype: 1,000 crops of 119 px were asked for, but",
        ),
        (
            ["-o", "photographs/set"],
            1,
            "openhype: photographs/set/traditional lies inside the folder of the photog",
        ),
        (
            ["-o", "photographs/0.jpg"],
            2,
            "Error: Invalid value for '-o' / '--out': Directory 'photographs/0.jpg'",
        ),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_is_stored(tmp_path, arguments, status, message):
    before = sorted(tmp_path.rglob("*"))

    done = run("photographs", *arguments)

    assert done.exit_code == status
    assert done.stderr.splitlines()[-1].startswith(message)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_second_run_refuses_the_full_folder_and_changes_nothing(tmp_path):
    run("photographs", "-o", "set", "--count", 3)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    again = run("photographs", "-o", "set", "--count", 3, "--seed", 1)

    assert again.exit_code == 1
    assert (
        again.stderr == "openhype: set/traditional is not empty; choose another folder, or another --name\n"
    )
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def process(*arguments, **options):
    command = [sys.executable, "-m", "backend", "distort", "photographs", "-o", "set", *arguments]
    with interruptible():
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    monkeypatch.setenv("PYTHONPATH", root)


def test_ctrl_c_in_the_middle_leaves_nothing(tmp_path):
    running = process("--count", "20000")
    until = time.monotonic() + 60
    while not [*tmp_path.glob("set/.*/ref/*.png")]:
        assert time.monotonic() < until
        time.sleep(0.05)

    running.send_signal(signal.SIGINT)

    assert running.communicate(timeout=60) == ("", "openhype: interrupted\n")
    assert sorted(os.listdir(tmp_path)) == ["photographs"]


@pytest.mark.slow("makes a set of distorted photographs and a study")
def test_a_file_that_is_too_large_for_the_disk_leaves_nothing(tmp_path):
    def little_room():
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    stdout, stderr = process("--count", "40", preexec_fn=little_room).communicate(timeout=60)

    assert stdout == ""
    assert stderr.startswith("openhype: ")
    assert "a fault" not in stderr
    assert sorted(os.listdir(tmp_path)) == ["photographs"]


@pytest.mark.slow("makes a set of distorted photographs and a study")
def test_a_study_starts_from_photographs_alone():
    run("photographs", "-o", "set")

    made = CliRunner().invoke(main, ["create", "closer", "--method", "2afc", "--items", "set"])

    assert made.exit_code == 0, made.output
    assert "made the study closer: 1 set" in made.output
