"""What people read has no word that they have to translate; docs/glossary.md has those that are names."""

import ast
import json
import re
from pathlib import Path

import pytest

from backend.cli import HOMES, main
from backend.experiment import response_columns
from backend.experiment.settings import documented_settings
from backend.web import openapi

ROOT = Path(__file__).resolve().parents[2]

OURS = re.compile(
    r"\b(standing (?:stud(?:y|ies)|ones?)|equalis(?:e[sd]?|ing)|settl(?:e[sd]?|ing)|(?:re)?draws?|drawn|drew"
    r"|(?:a|an|the|this|that|each|one|next|last|first|second|which) calls?|purses?|leases?|books?|medium"
    r"|places?|claims?)\b",
    re.I,
)
NAMES = re.compile(
    r"--[a-z-]+|\b\w+=\S*|\bopenhype [a-z-]+|signature\.claims|particular place|calls them places", re.I
)
"""Options, settings with their values, commands, an entry of panels, and two phrases that everybody knows."""

UNCLEAR = {
    "beside", "book", "call", "called", "coin", "desk", "dice", "draw", "equalise", "fooling", "hindrance",
    "kept", "purse", "redraws", "settle", "settling", "stand", "standing", "takes", "tells", "told",
    "trouble", "world",
}  # fmt: skip
"""Words that no name of a command, option, route, field or column has as a part."""


def unclear(names):
    """Return the names that have an unclear word as a part."""
    return sorted(name for name in names if UNCLEAR & set(re.split(r"[^a-z]+", name.lower())))


def ours(text: str) -> list[str]:
    """Return the words of ours in a text, outside its code spans and names."""
    return OURS.findall(NAMES.sub("", re.sub(r"`[^`]*`", "", text)))


def prose(page: Path) -> str:
    """Return a page without blocks of code, headings (their anchors stay), and targets of links."""
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.M | re.S)
    return re.sub(r"^#.*|^ {4}.*|(?<=\])\([^)]*\)", "", text, flags=re.M)


def raised(tree: ast.AST) -> list[str]:
    """Return the texts within the statements of a module that raise errors."""
    within = (part for node in ast.walk(tree) if isinstance(node, ast.Raise) for part in ast.walk(node))
    return [part.value for part in within if isinstance(part, ast.Constant) and isinstance(part.value, str)]


def shown(script: str) -> list[str]:
    """Return the texts of a module of the console: strings and templates of several words, line by line."""
    code = re.sub(r"^ *(?://|\*|/\*\*).*|^import .*|\$\{[^{}]*\}", "", script, flags=re.M)
    texts = [plain or template for plain, template in re.findall(r'"([^"\n]*)"|`([^`\n]*)`', code)]
    return [text for text in texts if " " in text and "/" not in text]


def test_modules_and_classes_need_no_translation():
    source = [*(ROOT / "backend").rglob("*.py"), *(ROOT / "deploy").rglob("*.py")]
    trees = [ast.parse(path.read_text("utf-8")) for path in source]
    classes = [node.name for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)]
    assert len(classes) > 100
    assert (
        unclear(
            [*(path.stem for path in source), *(re.sub(r"(?<!^)(?=[A-Z])", "_", name) for name in classes)]
        )
        == []
    )


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.name)
def test_pages_need_no_translation(page):
    lines = [line for line in prose(page).splitlines() if ours(line)]

    explained = ("| claim", "| entry, book", "| lease", "| participant slot")
    names = (*explained, "| medium") if page.name == "glossary.md" else ()
    assert [line for line in lines if not line.startswith(names or ("\0",))] == []


@pytest.mark.parametrize("name", HOMES)
def test_help_texts_need_no_translation(name):
    command = main.get_command(None, name)

    texts = [command.help or "", *(getattr(param, "help", "") or "" for param in command.params)]
    assert [text for text in texts if ours(text)] == []


def test_errors_need_no_translation():
    found = {
        f"{path.relative_to(ROOT)}: {text}"
        for path in (ROOT / "backend").rglob("*.py")
        for text in raised(ast.parse(path.read_text("utf-8")))
        if " " in text and ours(text)
    }

    assert found == set()


def test_the_consoles_texts_need_no_translation():
    found = {
        f"{path.name}: {text}"
        for path in (ROOT / "frontend" / "console").glob("*.js")
        for text in shown(path.read_text("utf-8"))
        if ours(text)
    }

    assert found == set()


def test_commands_and_options_have_plain_names():
    commands = {name: main.get_command(None, name) for name in HOMES}

    options = {
        option
        for command in commands.values()
        for param in command.params
        if not getattr(param, "hidden", False)
        for option in param.opts
    }
    assert unclear({*commands, *options}) == []


def test_the_api_has_plain_names():
    api = json.loads(openapi.document())

    fields = {
        field for schema in api["components"]["schemas"].values() for field in schema.get("properties", {})
    }
    assert "obstacles" in fields
    assert unclear({*api["paths"], *fields}) == []


def test_settings_and_columns_of_responses_have_plain_names():
    names = {*documented_settings(), *response_columns.COLUMNS}

    assert {"evaluators", "sampling"} <= names
    assert unclear(names) == []


def test_an_unclear_name_is_found_in_its_parts():
    assert unclear({"--settle-hours", "/api/studies/{study}/call", "recall", "evaluators_drawn"}) == [
        "--settle-hours",
        "/api/studies/{study}/call",
    ]
