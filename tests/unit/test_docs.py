"""The docs tell what is there: every command and option, and links that lead somewhere."""

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from backend.cli import HOMES, main
from backend.responses.codebook import COLUMNS, FILES

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
COMMANDS = (ROOT / "docs" / "commands.md").read_text("utf-8")


@pytest.mark.parametrize("name", HOMES)
def test_every_command_and_option_is_documented(name):
    command = main.get_command(None, name)

    options = {opt for param in command.params for opt in param.opts if opt.startswith("--")}
    assert f"`openhype {name}" in COMMANDS
    assert {option for option in options if option not in COMMANDS and option != "--model"} - {
        "--out"
    } == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#]+)", page.read_text("utf-8"))

    local = [link for link in links if "://" not in link]
    assert [link for link in local if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_that_pages_name_exist(page):
    named = set(
        re.findall(r"openhype ([a-z]+)\b", re.sub(r"import openhype\b.*", "", page.read_text("utf-8")))
    )

    in_code = {
        name
        for name in named
        if re.search(rf"(`|^|\$ ){re.escape('openhype ' + name)}", page.read_text("utf-8"), re.MULTILINE)
    }
    assert in_code - set(HOMES) == set()


def outputs_of(page):
    """Yield each command that a page shows at a prompt, with the output that it shows."""
    for command, output in re.findall(
        r"^```\n\$ openhype ([^\n]+)\n(.*?)^```", page.read_text("utf-8"), re.M | re.S
    ):
        yield pytest.param(command, output, id=f"{page.stem}: {command}")


@pytest.mark.parametrize(("command", "output"), [shown for page in PAGES for shown in outputs_of(page)])
def test_outputs_that_pages_show_are_what_the_commands_print(command, output):
    assert CliRunner().invoke(main, shlex.split(command)).output == output


def test_the_page_on_data_explains_every_column_and_file_of_an_export():
    page = (ROOT / "docs" / "data.md").read_text("utf-8")

    explained = re.findall(r"^\| `(\w+)` \| (.+) \| (.+) \|$", page, re.M)
    assert explained == [(name, column.description, column.unit) for name, column in COLUMNS.items()]
    listed = re.findall(r"^\| `study-faces(?:_description-(\w+))?_data.csv` \| (.+) \|$", page, re.M)
    assert listed == [(which, what) for which, (_, what) in FILES.items()]
