"""The command line as a stranger meets it: help, slips of the pen, and where things lie."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from backend import cli
from backend.cli import HOMES, main
from backend.experiment import protocol
from backend.stores.opening import open_store
from tests.isolation import interruptible


@pytest.fixture(autouse=True)
def empty_folder(tmp_path, monkeypatch):
    """A folder with nothing in it."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def images(tmp_path):
    rng = np.random.default_rng(1)
    for name in ("real", "gan"):
        (tmp_path / "images" / name).mkdir(parents=True)
        for i in range(12):
            picture = Image.fromarray(rng.integers(0, 256, (16, 16, 3), "uint8"))
            picture.save(tmp_path / "images" / name / f"{i}.png")
    return ["--real", "images/real", "--model", "gan=images/gan", "--size", "16", "--set", "images=10"]


def run(*arguments, **more):
    result = CliRunner().invoke(main, [*map(str, arguments)], prog_name="openhype", **more)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def last_line(result):
    return result.stderr.splitlines()[-1]


# Help


def test_the_help_has_every_command_under_a_heading_in_a_line_and_examples_that_parse():
    text = run("--help").stdout

    listed = re.findall(r"^  ([a-z][a-z-]*)  +\S", text, re.M)
    assert sorted(listed) == sorted(HOMES)
    assert re.findall(r"^(\w.*):$", text, re.M)[1:] == [*cli._GROUPS, "Examples"]
    assert max(map(len, text.splitlines())) <= 80
    examples = re.findall(r"^  openhype (.+)$", text, re.M)
    assert len(examples) >= 4
    for example in examples:
        name, *arguments = example.split()
        main.get_command(None, name).make_context(name, arguments)


def test_a_mistyped_command_is_guessed():
    assert last_line(run("craete")) == "Error: there is no command 'craete'; did you mean `create`?"
    assert last_line(run("xyzzy")).endswith("'xyzzy'; `openhype --help` lists all")


def test_a_mistyped_setting_is_guessed(images):
    made = run("create", "faces", *images, "--set", "image=3")

    assert last_line(made) == "openhype: no setting is called 'image'; did you mean `images`?"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["create", "x", "--model", "images/blur"],
            "must be `--model NAME=DIR`, for example `--model blur=images/blur`, not 'images/blur'",
        ),
        (
            ["create", "x", "--set", "images"],
            "must be `--set KEY=VALUE`, for example `--set images=40`, not 'images'",
        ),
        (
            ["simulate", "x", "--accuracy", "0.8"],
            "must be `--accuracy MODEL=OBSERVER`, for example `--accuracy gan=0.8`, not '0.8'",
        ),
    ],
)
def test_an_option_that_lacks_its_equals_sign_is_shown_by_example(arguments, message):
    result = run(*arguments)

    assert (result.exit_code, message in result.stderr) == (2, True)


def test_a_file_that_is_not_there_is_said_without_a_number():
    assert last_line(run("create", "nofile.toml")) == "openhype: there is no file nofile.toml"


# Settings


def test_settings_are_listed_with_the_defaults_of_a_method():
    every, of_time = (run("settings", *method).stdout for method in ([], ["time"]))

    assert "images = 100 (time: 150, 2afc: 90, tournament: 60, jnd: 160, pair: 50)\n" in every
    assert "images = 150\n    trials a block" in of_time
    assert run("settings", "space").exit_code == 2


def test_a_text_is_taken_from_a_file(images, tmp_path):
    (tmp_path / "consent.txt").write_text("Grüß Gott.\n\nDo you agree?\n", "utf-8")
    (tmp_path / "faces.toml").write_text(
        'name = "two"\nreal = "images/real"\nmodels = { gan = "images/gan" }\n'
        '[settings]\nimages = 10\nsize_px = 16\nconsent_text = "@consent.txt"\ntitle = "@@home"\n'
    )

    run("create", "one", *images, "--set", "consent_text=@consent.txt")
    run("create", tmp_path / "faces.toml", "--data", "elsewhere")

    assert stored("openhype-data", "one")["consent_text"] == "Grüß Gott.\n\nDo you agree?"
    assert stored("elsewhere", "two")["consent_text"] == "Grüß Gott.\n\nDo you agree?"
    assert stored("elsewhere", "two")["title"] == "@home"
    missing = run("create", "three", *images, "--set", "consent_text=@nothing.txt")
    assert last_line(missing) == "openhype: there is no file nothing.txt"


def stored(data, name):
    with closing(open_store("sqlite:///openhype.db", Path(data))) as store:
        return protocol.to_json(store.study(name).protocol)


# Where studies lie


@pytest.mark.parametrize("before", [True, False])
def test_data_and_store_stand_before_or_after_the_command(images, tmp_path, before):
    where = ["--data", "d", "--store", "sqlite:///own.db"]
    made = run(*where, "create", "faces", *images) if before else run("create", "faces", *images, *where)

    assert made.exit_code == 0
    assert (tmp_path / "d" / "own.db").exists()
    assert (tmp_path / "d" / "images" / "faces").is_dir()
    assert not (tmp_path / "openhype-data").exists()


def test_what_stands_after_the_command_goes_first_and_the_environment_last(images, tmp_path):
    run("--data", "one", "create", "faces", *images, "--data", "two", env={"OPENHYPE_DATA": "three"})
    run("--data", "one", "create", "faces", *images, env={"OPENHYPE_DATA": "three"})
    run("create", "faces", *images, env={"OPENHYPE_DATA": "four"})

    made = {path.parent.name for path in tmp_path.glob("*/openhype.db")}
    assert made == {"one", "two", "four"}


def test_an_empty_name_of_the_data_directory_is_refused():
    assert "must name a folder, not ''" in run("status", "--data", "").stderr


def test_looking_makes_nothing(tmp_path):
    status, score = run("status"), run("score", "faces")

    assert status.stdout.startswith("no study yet")
    assert "there is no study 'faces'" in score.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_study_that_is_not_there_is_guessed_or_the_others_are_named(images, tmp_path):
    run("create", "faces", *images)

    where = tmp_path / "openhype-data"
    assert last_line(run("score", "face")) == (
        f"openhype: there is no study 'face' in {where}; did you mean `faces`?"
    )
    assert last_line(run("score", "x")) == f"openhype: there is no study 'x' in {where}; there are faces"


def test_the_folder_of_an_export_is_scored_like_its_file(images, tmp_path):
    run("create", "faces", *images, "--evaluators", 2)
    run("simulate", "faces")
    run("export", "faces", "--simulated", "-o", "out")
    (tmp_path / "nothing").mkdir()
    own = run("score", "faces", "--simulated", "--json")

    places = ("out", "out/", "out/data", tmp_path / "out")
    found = [run("score", what, "--simulated", "--json") for what in places]

    assert own.exit_code == 0
    assert {one.stdout for one in found} == {own.stdout}
    assert "simulated" in run("plan", "--pilot", "out").stdout
    assert "nothing is a folder without responses" in run("score", "nothing").stderr


def test_looks_decide_the_same_from_a_study_and_from_its_export(images):
    run("create", "faces", *images, "--evaluators", 6)
    run("simulate", "faces", "--accuracy", "gan=0.9")
    run("export", "faces", "--simulated", "-o", "out")
    options = ("--plan", "5,6", "--aim", "half-width=60", "--simulated", "--json")

    found = [run("looks", what, *options) for what in ("faces", "out", "faces")]

    assert [one.exit_code for one in found] == [0, 0, 0], found[0].stderr
    assert len({one.stdout for one in found}) == 1
    assert json.loads(found[0].stdout)["looks"][0]["decision"] == "stop"


# Serving


@pytest.fixture
def taken():
    with socket.create_server(("127.0.0.1", 0)) as other:
        yield other.getsockname()[1]


@pytest.mark.parametrize(
    ("host", "message"),
    [
        ("999.1.1.1", "cannot listen on 999.1.1.1: not an address of this machine"),
        ("203.0.113.7", "cannot listen on 203.0.113.7: not an address of this machine"),
        ("", "cannot listen on '': not an address of this machine"),
        ("a" * 300, "not an address of this machine"),
        ("\udcff", "not an address of this machine"),
    ],
)
def test_an_address_that_is_not_this_machines_is_said(host, message, tmp_path):
    served = run("serve", "--host", host)

    assert served.exit_code == 1
    assert message in served.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", [["serve"], ["demo", "--no-browser"]])
def test_a_port_that_is_taken_is_said_before_any_work(command, taken, tmp_path):
    served = run(*command, "--port", taken)

    assert served.exit_code == 1
    assert last_line(served) == (
        f"openhype: cannot listen on 127.0.0.1:{taken}: another program does so; "
        "choose another with --port (0 takes a free one)"
    )
    assert list(tmp_path.iterdir()) == []


def served(*arguments):
    """Serve until the researcher's key was told; return what was printed, and the status after a Ctrl-C."""
    command = [sys.executable, "-m", "backend", "serve", "--port", "0", *arguments]
    with interruptible():
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    lines = []
    while not lines or "stop with Ctrl-C" not in lines[-1]:
        lines.append(process.stdout.readline())
        assert lines[-1], process.stderr.read()
    port = re.search(r"console: http://.+:(\d+)/", "".join(lines))[1]
    urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=30).close()  # so that it runs
    process.send_signal(signal.SIGINT)
    _, faults = process.communicate(timeout=30)
    return "".join(lines), process.returncode, faults


def test_serve_tells_its_studies_or_how_to_make_one(images):
    nothing, status, faults = served()
    run("create", "faces", *images)
    something, _, _ = served("--host", "0.0.0.0")

    assert "or with `openhype create`, or try `openhype demo`" in nothing
    assert (status, faults) == (0, "")
    assert re.search(r"study faces: http://\S+:\d+/s/faces\n", something)


# How it ends


def test_what_nobody_thought_of_ends_in_one_line_with_the_details_in_a_file(images, monkeypatch, tmp_path):
    def fail(*_, **__):
        raise ZeroDivisionError("by\nnothing")

    monkeypatch.setattr("backend.administration.create.create", fail)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    result = run("create", "faces", *images)

    line = last_line(result)
    assert (result.exit_code, len(result.stderr.splitlines())) == (1, 1)
    assert line.startswith("openhype: a fault in openhype: ZeroDivisionError: by nothing; please report it")
    (file,) = tmp_path.glob("openhype-fault-*.txt")
    assert str(file) in line
    assert "Traceback" in file.read_text()


def test_a_package_that_is_missing_is_named_with_the_command_that_brings_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "skimage", None)
    monkeypatch.setattr("backend.commands.demonstration.check_installed", lambda: __import__("skimage"))

    result = run("demo", "--no-browser", "--port", 0)

    assert last_line(result).startswith("openhype: this command needs skimage, which is not installed; run: ")
    assert "-m pip install 'scikit-image>=" in last_line(result)


def test_a_ctrl_c_ends_in_one_line_and_status_130(images):
    command = [sys.executable, "-m", "backend", "score", "r.csv", "--iterations", "10000000"]
    os.mkfifo("r.csv")
    with interruptible():
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with open("r.csv", "w", encoding="utf-8") as file:  # which waits for who reads it
        file.write("model,evaluator,truth,response\n")
        file.writelines(f"m{i % 9},e{i % 700},fake,{'real' if i % 3 else 'fake'}\n" for i in range(20_000))

    process.send_signal(signal.SIGINT)

    assert process.communicate(timeout=60) == ("", "openhype: interrupted\n")
    assert process.returncode in (130, -signal.SIGINT)  # a shell calls both 130


@pytest.mark.parametrize("arguments", [["settings"], ["--help"], ["plan", "--json"]])
def test_a_full_disk_and_a_reader_that_went_away_end_quietly(arguments):
    command = [sys.executable, "-m", "backend", *arguments]
    with open("/dev/full", "w") as full:
        filled = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    gone = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    gone.stdout.close()

    assert (filled.returncode, filled.stderr) == (1, "openhype: the disk is full\n")
    with gone.stderr:
        assert gone.stderr.read() == ""
    assert gone.wait(timeout=30) in (0, 1)


def test_names_that_no_terminal_can_show_are_printed_escaped(images, tmp_path):
    run("create", "faces", *images, "--evaluators", 1)
    run("simulate", "faces")
    folder = "out-\udcff"
    command = [sys.executable, "-m", "backend", "export", "faces", "--simulated", "-o", folder]

    strict = os.environ | {"PYTHONIOENCODING": "utf-8:strict"}
    done = subprocess.run(command, capture_output=True, text=True, env=strict)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("out-\\udcff/data/study-faces_data.csv\n")
    assert json.loads((tmp_path / folder / "dataset_description.json").read_text())


@pytest.mark.parametrize(
    "url", ["", "nonsense", "ftp://x/", "http://", "https://[", "http://127.0.0.1:99999"]
)
def test_the_address_of_a_server_is_checked(url):
    result = run("simulate", "faces", "--url", url)

    assert result.exit_code == 2
    assert f"must be like http://127.0.0.1:8000, not {url!r}" in last_line(result)
