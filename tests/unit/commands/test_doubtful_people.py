"""Every command that reads who answered says where a spreadsheet may have made two people one, or one two."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from backend.cli import main

NAMES = ("3", "3.0", "5.97E+23", "ann")
SAID = ("1 of 4 evaluators have names such as '5.97E+23'", "2 evaluators have names that are 1 as numbers")


def responses():
    lines = [
        f"g,{name},{truth},{('real', 'fake')[(i + k) % 3 == 0]}"
        for i, name in enumerate(NAMES)
        for k, truth in enumerate(["real", "fake"] * 4)
    ]
    return "\n".join(["model,evaluator,truth,response", *lines, ""])


def votes():
    lines = [f"s/{k},s,{name},{('left', 'right')[k % 2]},p0,p1" for name in NAMES for k in range(4)]
    return "\n".join(["item,model,evaluator,response,left,right", *lines, ""])


@pytest.mark.parametrize(
    "command",
    [
        "score r.csv",
        "score r.csv --json",
        "score r.csv --json --full",
        "report r.csv -o out",
        "leaderboard r.csv -o out",
        "plan --width 5 --pilot r.csv",
        "plan --width 5 --pilot r.csv --json",
        "agree v.csv",
        "agree v.csv --json",
        "agree v.csv -o out",
    ],
)
def test_each_command_says_who_is_in_doubt(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("r.csv").write_text(responses(), "utf-8")
    Path("v.csv").write_text(votes(), "utf-8")

    found = CliRunner().invoke(main, command.split())

    assert found.exit_code == 0, found.output
    printed = Path("out/index.html").read_text("utf-8") if "out" in command.split() else found.stdout
    text = " ".join(printed.replace("&#x27;", "'").replace("&#39;", "'").split())
    assert [said for said in SAID if said not in text] == []
