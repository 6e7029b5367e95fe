"""What people read has no word that they have to translate; docs/glossary.md has those that are names."""

import ast
import re
from pathlib import Path

import pytest

from backend.cli import HOMES, main

ROOT = Path(__file__).resolve().parents[2]

OURS = re.compile(
    r"\b(standing (?:stud(?:y|ies)|ones?)|equalis(?:e[sd]?|ing)|settl(?:e[sd]?|ing)|(?:re)?draws?|drawn|drew"
    r"|(?:a|an|the|this|that|each|one|next|last|first|second|which) calls?|purses?|leases?|books?|medium"
    r"|places?|claims?)\b",
    re.I,
)
NAMES = re.compile(
    r"--[a-z-]+|\b\w+=\S*|\bopenhype [a-z]+|signature\.claims|particular place|calls them places", re.I
)
"""Options, settings with their values, commands, an entry of panels, and two phrases that everybody knows."""


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


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.name)
def test_pages_need_no_translation(page):
    lines = [line for line in prose(page).splitlines() if ours(line)]

    explained = ("| claim", "| draw ", "| entry, book", "| equalise", "| lease", "| participant slot")
    names = (*explained, "| medium", "| purse", "| settling") if page.name == "glossary.md" else ()
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
