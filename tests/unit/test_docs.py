"""The docs tell what is there: every command and option, and links that lead somewhere."""

import csv
import re
import shlex
from importlib.metadata import requires
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from PIL import Image

from backend import __version__
from backend.administration import study_spec
from backend.cli import HOMES, main
from backend.responses.codebook import COLUMNS, FILES
from tests import licences

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "llms.txt",
    *sorted((ROOT / "docs").glob("*.md")),
]
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

    local = [link for link in links if "://" not in link and not link.startswith("built:")]
    assert [link for link in local if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_that_pages_name_exist(page):
    named = set(
        re.findall(
            r"openhype ([a-z]+(?:-[a-z]+)*)\b", re.sub(r"import openhype\b.*", "", page.read_text("utf-8"))
        )
    )

    in_code = {
        name
        for name in named
        if re.search(rf"(`|^|\$ ){re.escape('openhype ' + name)}", page.read_text("utf-8"), re.MULTILINE)
    }
    assert in_code - set(HOMES) == set()


def test_every_page_says_first_who_reads_it():
    opened = {page.name: page.read_text("utf-8").split("\n\n")[1] for page in (ROOT / "docs").glob("*.md")}

    assert [name for name, who in opened.items() if not re.fullmatch(r"\*For [^*]+\.\*", who)] == []


def test_every_page_stands_once_in_the_navigation():
    front = (ROOT / "docs" / "index.md").read_text("utf-8")

    trees = re.findall(r"^```\{toctree\}\n:hidden:\n:caption: ([^\n]+)\n\n(.*?)^```", front, re.M | re.S)
    assert [kind for kind, _ in trees] == ["Tutorial", "How to", "Reference", "Explanation"]
    listed = sorted(name for _, names in trees for name in names.split())
    assert listed == sorted({page.stem for page in (ROOT / "docs").glob("*.md")} - {"index"})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_anchors_of_links_between_pages_are_headings(page):
    text = page.read_text("utf-8")

    anchors = re.findall(r"\]\(([^):]*\.md)?#([^)]+)\)", text)
    assert [
        (file, name) for file, name in anchors if name not in anchors_of(page.parent / (file or page.name))
    ] == []


def anchors_of(page):
    """Return the anchors of a page's headings, as forges write them."""
    heads = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def test_the_readme_is_a_screen_and_a_half():
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 120


def test_the_citation_names_this_version():
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text("utf-8")


def test_the_page_on_licences_lists_every_package_that_is_installed():
    text = licences.PAGE.read_text("utf-8")

    listed = {name for name, _ in re.findall(r"^\| ([\w-]+) \| \S.* \| (\S.*) \|$", text, re.M)}
    direct = {canonicalize_name(Requirement(line).name) for line in requires("openhype")} - {"openhype"}
    assert direct <= {*licences.needed()} <= listed
    assert [name for name in licences.needed() if not licences.licence(name)] == []


def outputs_of(page):
    """Yield each command that a page shows at a prompt, with the output that it shows."""
    for command, output in re.findall(
        r"^```\n\$ openhype ([^\n]+)\n(.*?)^```", page.read_text("utf-8"), re.M | re.S
    ):
        yield pytest.param(command, output, id=f"{page.stem}: {command}")


@pytest.mark.parametrize(("command", "output"), [shown for page in PAGES for shown in outputs_of(page)])
def test_outputs_that_pages_show_are_what_the_commands_print(command, output):
    assert CliRunner().invoke(main, shlex.split(command)).output == output


def test_every_figure_on_the_papers_tables_is_printed_by_the_command():
    text = (ROOT / "docs" / "published.md").read_text("utf-8")
    prose = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    prose, output = (" ".join(part.split()) for part in (prose, run("published").output))

    figure = r"(?<![\d.])−?\d*\.\d+"
    named = re.findall(figure, re.sub(r"\b[NW] \d\.\d", "", prose))
    ranges = re.findall(r"\S+ \[[^]]+, [^]]+\](?!\()", prose)
    assert len(named) > 50
    assert len(ranges) > 8
    assert [found for found in ranges if found not in output] == []
    assert set(named) - set(re.findall(figure, output)) == set()


def test_the_page_on_data_explains_every_column_and_file_of_an_export():
    page = (ROOT / "docs" / "data.md").read_text("utf-8")

    explained = re.findall(r"^\| `(\w+)` \| (.+) \| (.+) \|$", page, re.M)
    assert explained == [(name, column.description, column.unit) for name, column in COLUMNS.items()]
    listed = re.findall(r"^\| `study-faces(?:_description-(\w+))?_data.csv` \| (.+) \|$", page, re.M)
    assert listed == [(which, what) for which, (_, what) in FILES.items()]


STUDY_FILE = (ROOT / "docs" / "study-file.md").read_text("utf-8")


@pytest.fixture
def declared(tmp_path, monkeypatch):
    """The study of docs/study-file.md, with the folders that it names."""
    rng = np.random.default_rng(5)
    for side in ("real", "stylegan", "began"):
        (tmp_path / "images" / side).mkdir(parents=True)
        for i in range(30):
            pixels = rng.integers(0, 256, (32, 32, 3)).astype("uint8")
            Image.fromarray(pixels).save(tmp_path / "images" / side / f"{i}.png")
    text = re.search(r"^```toml\n(.*?)^```", STUDY_FILE, re.M | re.S)[1]
    (tmp_path / "faces.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "faces.toml"


def run(*arguments):
    return CliRunner().invoke(main, [*map(str, arguments)])


def test_the_study_file_of_the_docs_is_made_simulated_and_exported(declared):
    made = run("create", declared)
    played = run("simulate", "faces", "--evaluators", 4)
    exported = run("export", "faces", "-o", "out", "--simulated")

    assert (made.exit_code, played.exit_code, exported.exit_code) == (0, 0, 0), made.output + played.output
    text = Path("out/data/study-faces_description-questions_data.csv").read_text("utf-8")
    rows = [*csv.DictReader(text.splitlines())]
    assert len(rows) == 4
    assert {"q_glasses", "q_strength", "q_clues", "q_other_clues", "q_effort"} < set(rows[0])


def test_the_error_that_the_docs_show_is_what_the_command_says(declared):
    text = declared.read_text("utf-8")
    declared.write_text(text.replace('is = "Yes"', 'is = "yes"'))

    refused = run("create", "faces.toml")

    assert refused.stderr in STUDY_FILE


def test_every_entry_of_a_study_file_is_explained():
    for entries in (study_spec.ENTRIES, study_spec.PAGE, study_spec.QUESTION):
        assert [name for name in entries if not re.search(rf"^\|[^|]*`{name}`", STUDY_FILE, re.M)] == []
