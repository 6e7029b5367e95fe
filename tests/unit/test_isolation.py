"""The tests leave alone what whoever runs them has: their studies, their accounts, their settings."""

import os
import re
import signal
import subprocess
import sys

import pytest

from tests import isolation
from tests.isolation import ROOT
from tests.switches import PREFIX, SWITCHES

from . import sample_studies as studies

ACTING = (
    "administration/test_delete.py::TestCommands::test_clear_removes_simulated_sessions_once_told_to",
    "administration/test_delete.py::TestCommands::test_delete_in_a_script_repeats_the_name",
    "commands/test_members.py::test_from_a_new_member_to_a_revoked_token",
    "commands/test_scores.py::test_an_empty_study_is_refused",
    "commands/test_simulated_evaluators.py::test_a_model_that_the_study_does_not_have_is_named",
    "panels/test_prolific.py::test_the_token_comes_from_the_environment_or_a_file",
    "test_cli.py::test_what_stands_after_the_command_goes_first_and_the_environment_last",
)
"""Tests that act on a study `faces`, or on what the environment names, each in another way."""


def product_variables():
    """Return the names of all environment variables that the product or its documentation has."""
    files = [ROOT / "README.md", ROOT / "zappa_settings.json"]
    for folder in ("backend", "deploy", "docs", "examples"):
        files += [path for path in (ROOT / folder).rglob("*") if path.suffix in (".py", ".md", ".yaml")]
    found = set()
    for file in files:
        found |= set(re.findall(r"\b(?:OPENHYPE|PROLIFIC|AWS)_[A-Z_]*[A-Z]\b", file.read_text("utf-8")))
    return found


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def mine(world, tmp_path):
    """The folder of somebody whose default data directory has a study `faces` with answers."""
    world.add(studies.study(images=8))
    for _ in range(2):
        world.player().play()
    world.store.close()
    folder = tmp_path / "mine"
    data = folder / isolation.DATA
    data.mkdir(parents=True)
    for path in tmp_path.glob("*"):
        if path.is_file():
            path.rename(data / path.name)
    return folder


def test_nothing_is_done_to_a_study_that_the_environment_names(mine, tmp_path):
    data = mine / isolation.DATA
    theirs = dict.fromkeys(product_variables(), str(data)) | {
        "OPENHYPE_STORE": f"sqlite:///{data / 'openhype.db'}",
        "OPENHYPE_KEY": "the-key-of-somebody",
        "PROLIFIC_TOKEN": "the-token-of-somebody",
        "AWS_PROFILE": "nobody",
    }
    before = contents(mine)
    command = [sys.executable, "-m", "pytest", "-n", "0", "-p", "no:cacheprovider", "-o", "addopts="]
    command += ["--basetemp", str(tmp_path / "theirs"), f"--rootdir={ROOT}", f"-c{ROOT / 'pyproject.toml'}"]

    done = subprocess.run(
        [*command, *(str(ROOT / "tests" / "unit" / name) for name in ACTING)],
        cwd=mine,
        env={**os.environ, **theirs},
        capture_output=True,
        text=True,
    )

    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert f" {len(ACTING)} passed" in done.stdout
    assert contents(mine) == before
    assert before.keys() >= {data / "openhype.db", data / "keys.json"}


def test_of_a_full_environment_only_what_the_tests_need_is_left():
    kept = {"HOME": "/home/somebody", "PATH": "/bin", "PIP_INDEX_URL": "https://packages.example"}
    theirs = dict.fromkeys(product_variables(), "x") | dict.fromkeys(isolation.REMOVED, "x")
    environment = {**kept, **theirs, "SUITE_RACES": "3", "no_proxy": "a.example"}

    isolation.clear(environment)

    assert environment == {
        **kept,
        **isolation.NO_AWS_ACCOUNT,
        "SUITE_RACES": "3",
        "no_proxy": "a.example,127.0.0.1,localhost,::1",
        "NO_PROXY": "127.0.0.1,localhost,::1",
    }
    assert {"OPENHYPE_STORE", "OPENHYPE_DATA", "PROLIFIC_TOKEN", "AWS_PROFILE"} <= theirs.keys()


@pytest.mark.parametrize(
    "act",
    [
        "sqlite3.connect('openhype-data/openhype.db')",
        "open('openhype-data/keys.json')",
        "os.mkdir('openhype-data')",
        "os.listdir('openhype-data')",
        "shutil.rmtree('openhype-data')",
    ],
)
def test_what_touches_the_default_data_directory_of_whoever_runs_the_tests_fails(tmp_path, act):
    """The tests' own processes are watched; this is a process of its own, since a hook stays."""
    program = (
        "import os, shutil, sqlite3, sys; from pathlib import Path; "
        f"sys.path.insert(0, {str(ROOT)!r}); from tests import isolation; "
        f"isolation.guard_data(Path()); Path('elsewhere/openhype-data').mkdir(parents=True); {act}"
    )

    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)

    assert done.returncode == 1
    assert "RuntimeError: a test touches the data of whoever runs it: " in done.stderr
    assert (tmp_path / "elsewhere" / "openhype-data").is_dir()
    assert not (tmp_path / "openhype-data").exists()


def test_a_folder_elsewhere_that_has_a_data_directory_can_be_removed(tmp_path):
    (tmp_path / "elsewhere" / isolation.DATA / "images").mkdir(parents=True)
    program = (
        f"import shutil, sys; from pathlib import Path; sys.path.insert(0, {str(ROOT)!r}); "
        "from tests import isolation; isolation.guard_data(Path()); shutil.rmtree('elsewhere')"
    )

    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True)

    assert not (tmp_path / "elsewhere").exists()


def test_a_process_of_a_background_job_ends_at_a_ctrl_c():
    command = [sys.executable, "-c", "import time; print('on', flush=True); time.sleep(600)"]
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with isolation.interruptible():
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
    with process:
        process.stdout.readline()
        process.send_signal(signal.SIGINT)

        assert process.wait() != 0


# Switches


def sources():
    files = (ROOT / "tests").rglob("*.py")
    return {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in files}


def test_the_environment_of_whoever_runs_the_tests_is_asked_for_switches_alone():
    asked = re.compile(r"""environ(?:\.get\(|\[)\s*["']((?:OPENHYPE|PROLIFIC|AWS|SUITE)_\w*)""")

    found = {(path, name) for path, text in sources().items() for name in asked.findall(text)}

    assert found == set()
    assert asked.findall("os.environ.get(" + '"OPENHYPE_RACES", "2")') == ["OPENHYPE_RACES"]


def test_every_switch_is_used_and_documented():
    used = {
        name
        for path, text in sources().items()
        for name in re.findall(rf'(?:switch|number)\("({PREFIX}\w+)"', text)
    }
    documented = set(re.findall(rf"{PREFIX}[A-Z_]*[A-Z]", (ROOT / "CONTRIBUTING.md").read_text("utf-8")))

    assert used == documented == SWITCHES.keys()
    assert not any(name.startswith(isolation.REMOVED_PREFIXES) for name in SWITCHES)
