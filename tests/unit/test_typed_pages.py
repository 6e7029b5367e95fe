"""Pages that are typed along, in an empty folder: the tutorial, and the script for assistants."""

import json
import re
import resource
from pathlib import Path

import pytest

from tests.e2e.stranger import ROOT, Stranger, documented_commands
from tests.e2e.test_readme import alike

TUTORIAL, ASSISTANTS = (
    (ROOT / "docs" / name).read_text("utf-8") for name in ("tutorial.md", "assistants.md")
)
WORDS_A_MINUTE = 200
"""Somewhat slower than adults read, 238 a minute (Brysbaert, 2019)."""
JUDGING_MINUTES = 3
"""What the tutorial's third step takes."""


def cpu_seconds():
    """Return the processor's time that commands took so far; other work on the machine does not change it."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.fixture
def newcomer(tmp_path):
    for name in ("home", "empty"):
        (tmp_path / name).mkdir()
    someone = Stranger(tmp_path / "empty", tmp_path / "home")
    yield someone
    someone.leave()


@pytest.mark.slow("makes the demo's pictures, and plays 20 sessions")
def test_the_tutorial_ends_in_a_score_and_a_report_within_fifteen_minutes(newcomer):
    began, printed = cpu_seconds(), {}

    for command in documented_commands(TUTORIAL):
        if command == "openhype serve":
            assert f"study faces: {newcomer.serve(command)}/s/faces" in newcomer.served()
            newcomer.stop()
        else:
            printed[command] = newcomer.run(command)
    minutes = (cpu_seconds() - began) / 60

    score = "openhype score faces --simulated"
    shown = re.search(rf"^{score}\n```\n\n```\n(.*?)```", TUTORIAL, re.M | re.S)[1]
    assert alike(printed[score]) == alike(shown)
    assert printed["openhype score out"] == printed[score]
    assert "<h1" in (newcomer.folder / "report" / "index.html").read_text("utf-8")
    prose = re.sub(r"^```.*?^```", "", TUTORIAL, flags=re.M | re.S)
    assert minutes + len(prose.split()) / WORDS_A_MINUTE + JUDGING_MINUTES < 15


@pytest.mark.slow("makes the demo's pictures, and plays 8 sessions")
def test_the_script_for_assistants_scores_a_study(newcomer):
    script = re.search(r"^```sh\n(.*?)^```", ASSISTANTS, re.M | re.S)[1]

    for line in script.splitlines():
        command, _, file = line.partition(" > ")
        output = newcomer.run(command)
        if file:
            (newcomer.folder / file).write_text(output)

    read = {
        name: json.loads((newcomer.folder / f"{name}.json").read_text())
        for name in ("status", "scores", "again")
    }
    assert read["scores"] == read["again"]
    assert read["scores"]["simulated"] is True
    described = re.findall(r"^\| `(\w+)", ASSISTANTS, re.M)
    assert {*described} <= {*read["scores"]}
    assert {"score", "interval"} <= {*read["scores"]["models"][0]}
    assert {"ci", "of", "method"} <= {*read["scores"]["models"][0]["interval"]}
    assert (newcomer.folder / Path("report/index.html")).exists()
