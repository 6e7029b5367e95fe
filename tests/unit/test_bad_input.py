"""Every command with bad input of every kind: it may refuse, and then in words."""

import re
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from backend.cli import HOMES, main
from tests.switches import switch

NUMBERS = ["", "-1", "0", "1e400", "-1e400", "nan", "inf", "1" + "0" * 400, "x", "१", "1_0", "0x10"]
TEXTS = [
    "",
    " ",
    "no/such/study",
    "../faces",
    "\udcff",
    "a\nb",
    "x" * 5000,
    "-",
    "@",
    "=",
    "a=",
    "=a",
    "a=b=c",
]
FILES = [
    "nothing.csv", "nothing.toml", "no/such.csv", "folder.csv", "folder.toml", "garbage.csv", "garbage.jsonl",
    "garbage.toml", "garbage.png", "empty.csv", "empty.jsonl", "empty.toml", "unreadable.csv", "images",
    "garbage.csv/below", "/dev/full/below", "/proc/nothing/below", "bad\udcff", "e" * 300,
    "@nothing",
]  # fmt: skip
FULL = ["/dev/full"]
"""A disk without space, to write to; who reads it reads for ever."""
STORES = [
    "nonsense", "sqlite://", "sqlite:///", "sqlite:///garbage.csv", "sqlite:////dev/full", "sqlite:///../images",
    "sqlite:////proc/a.db", "sqlite:///\udcff.db", "mysql://x", "dynamodb://", "dynamodb://[", "dynamodb://t",
    "dynamodb://t?region=%00", "dynamodb://t?region=eu-central-1&endpoint=zzz", "dynamodb://t?expire_days=x",
]  # fmt: skip
URLS = [
    "nonsense",
    "http://",
    "https://[",
    "http://127.0.0.1:1",
    "http://127.0.0.1:99999",
    "ftp://x/",
    "s3://",
    "s3://b b/p",
]
VALUES = [*NUMBERS, *TEXTS, *FILES]

USUAL = {
    "admit-waiting": ["faces"],
    "copy": ["faces", "--from", "sqlite:///openhype.db", "--to", "sqlite:///other.db"],
    "create": [
        "made",
        "--real",
        "images/real",
        "--model",
        "gan=images/gan",
        "--size",
        "16",
        "--set",
        "images=2000",
    ],
    "demo": ["--no-browser", "--port", "99999"],
    "deploy": ["faces", "--region", "eu-central-1"],
    "distort": ["images/real", "-o", "sets", "--size", "8", "--count", "3"],
    "export": ["faces", "-o", "out"],
    "leaderboard": ["faces", "nothing.csv", "-o", "out"],
    "links": ["faces", "--count", "1"],
    "masks": ["garbage.csv", "-o", "m.png"],
    "pause": ["faces"],
    "pay": ["faces", "--panel", "link"],
    "published": [],
    "qualification": ["made", "--real", "images/real", "--model", "gan=images/gan", "--set", "images=2000"],
    "recruit": ["faces"],
    "report": ["garbage.csv", "-o", "out"],
    "resume": ["faces"],
    "retention": ["faces"],
    "score": ["faces"],
    "serve": ["--host", "999.1.1.1"],
    "convergence": ["--evaluators", "2"],
    "simulate": ["faces", "--evaluators", "1"],
    "site": ["faces", "-o", "www"],
    "status": ["faces"],
    "upload": ["faces", "--images", "s3://bucket/p"],
    "work": ["--until-idle"],
}
"""What a command is called with besides the bad value; it ends soon, whatever the value."""
EACH = 11
"""Of so many calls one is made, unless all are asked for; prime, so that no value is left out throughout."""
ENDLESS = {"watch"}
"""Flags that go on until they are interrupted."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a finished study, and files of every bad kind."""
    here = tmp_path_factory.mktemp("bad")
    rng = np.random.default_rng(1)
    for name in ("real", "gan"):
        (here / "images" / name).mkdir(parents=True)
        for i in range(10):
            picture = Image.fromarray(rng.integers(0, 256, (16, 16, 3), "uint8"))
            picture.save(here / "images" / name / f"{i}.png")
    for suffix in ("csv", "jsonl", "toml", "png"):
        (here / f"garbage.{suffix}").write_bytes(rng.bytes(3000))
        (here / f"empty.{suffix}").touch()
    for name in ("folder.csv", "folder.toml"):
        (here / name).mkdir()
    (here / "unreadable.csv").touch(mode=0)
    sides = ["--real", here / "images/real", "--model", f"gan={here / 'images/gan'}", "--size", 16]
    settings = ["--set", "images=4", "--set", "base_usd_cents=200", "--evaluators", 2]
    for command in (["create", "faces", *sides, *settings], ["simulate", "faces"]):
        done = CliRunner().invoke(main, [*map(str, command), "--data", str(here / "openhype-data")])
        assert done.exit_code == 0, done.output
    return here


@pytest.fixture(autouse=True)
def environment(folder, tmp_path, monkeypatch):
    """A folder with a study, and no wait for a server that is not there."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr("backend.administration.simulated_sessions._SECONDS_TO_RETRY", 0.2)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


def tried(parameter):
    """Return the bad values that an option or argument is given."""
    kind = parameter.type
    if parameter.name == "port":
        return [text for text in NUMBERS if not _is_port(text)]  # at one of those it would serve, for ever
    if isinstance(kind, (click.IntRange, click.FloatRange)) or kind in (click.INT, click.FLOAT):
        return NUMBERS
    if isinstance(kind, click.Choice):
        return TEXTS[:4]
    if isinstance(kind, click.Path):
        return [*FILES, *TEXTS, *(FULL if "-o" in parameter.opts else [])]
    if parameter.name in ("store", "source", "target"):
        return STORES
    if parameter.name in ("url", "place"):
        return [*URLS, *TEXTS]
    return VALUES


def _is_port(text):
    try:
        return 0 <= int(text) < 2**16
    except ValueError:
        return False


def calls(name):
    """Yield the arguments of each call of a command with one bad value."""
    command = main.get_command(None, name)
    usual = USUAL.get(name, [])
    for parameter in command.params:
        if getattr(parameter, "hidden", False):  # between processes of ours
            continue
        if isinstance(parameter, click.Argument):
            rest = usual[1:] if usual and not usual[0].startswith("-") else usual
            for value in tried(parameter):
                yield [*rest, "--", value]
        elif parameter.is_flag:
            if not {parameter.name, parameter.opts[0]} & {*ENDLESS, "--watch", *usual}:
                yield [*usual, parameter.opts[0]]
        else:
            for value in tried(parameter):
                yield [*usual, parameter.opts[-1], value]
                if parameter.metavar and "=" in parameter.metavar:
                    yield [*usual, parameter.opts[-1], f"gan={value}"]


def problem(name, arguments):
    """Return what is wrong with how a call ended; nothing if it did its work or said why not."""
    done = CliRunner().invoke(main, [name, *arguments], prog_name="openhype")
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        return f"{name} {arguments}: {done.exception!r}"
    said = done.stdout + done.stderr
    if re.search(r"Traceback|\[Errno|a fault in openhype", said):
        return f"{name} {arguments}: {said[-500:]}"
    told = [line for line in done.stderr.splitlines() if line.startswith(("openhype: ", "Error: "))]
    if done.exit_code == 0 or (done.exit_code in (1, 2) and told):
        return None
    return f"{name} {arguments}: status {done.exit_code}, {said[-500:]!r}"


def some(calls, first):
    """Return every so many of the calls, all where SUITE_BAD_INPUT asks for it: they take minutes."""
    each = 1 if switch("SUITE_BAD_INPUT") else EACH
    return list(calls)[first % each :: each]


@pytest.mark.parametrize("name", HOMES)
def test_no_command_ends_with_a_traceback_or_an_error_number(name):
    problems = [problem(name, arguments) for arguments in some(calls(name), list(HOMES).index(name))]

    assert [text for text in problems if text] == []


@pytest.mark.parametrize("value", VALUES)
def test_no_setting_ends_so(value):
    from backend.experiment.settings import documented_settings

    usual = [*USUAL["create"], "--method", "time"]
    names = some(documented_settings(), VALUES.index(value))
    problems = [problem("create", [*usual, "--set", f"{name}={value}"]) for name in names]

    assert [text for text in problems if text] == []


def test_the_usual_calls_are_of_commands_that_there_are():
    assert set(USUAL) <= set(HOMES)
    assert Path("openhype-data/openhype.db").exists()
