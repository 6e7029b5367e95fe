"""What is served of a script or a style sheet: the same program without its comments."""

import json
import subprocess
from pathlib import Path

import pytest

from backend.web import assets
from backend.web.comments import without_comments
from backend.web.embedded_texts import with_texts
from tests import node

SAME_SYNTAX = Path(__file__).with_name("same_syntax.js")


def differing(folder, other):
    """Return the names of scripts that TypeScript does not parse as the same program in both folders."""
    done = subprocess.run(
        [*node.node(), str(SAME_SYNTAX), str(folder), str(other)], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def test_every_script_is_the_same_program_with_every_token_on_its_line(tmp_path):
    for path in assets.files():
        source, served = (tmp_path / folder / assets.name(path) for folder in ("sources", "served"))
        source.parent.mkdir(parents=True, exist_ok=True)
        served.parent.mkdir(parents=True, exist_ok=True)
        source.write_text(with_texts(path.read_text("utf-8")), "utf-8")
        served.write_bytes(assets.served(path))

    assert differing(tmp_path / "sources", tmp_path / "served") == []


@pytest.mark.parametrize(
    ("source", "damaged"),
    [
        ('say("a // b");\n', 'say("a");\n'),
        ("say(`a /* b */`);\n", "say(`a `);\n"),
        ("a = b /* c */ / d;\n", "a = b;\n"),
        ("a;\n\nb;\n", "a;\nb;\n"),
        ("return_(/[/*]/g);\n", "return_(/[]/g);\n"),
        ("a = (b) + -c;\n", "a = (b) - -c;\n"),
    ],
)
def test_a_program_that_was_damaged_is_noticed(tmp_path, source, damaged):
    for name, text in (("source", source), ("served", damaged)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.js").write_text(text)

    assert differing(tmp_path / "source", tmp_path / "served") == ["a.js"]


@pytest.mark.parametrize(
    ("source", "served"),
    [
        ("// @ts-check\n/** One.\n * Two. */\n\nlet a;  // three\n", "\n\n\n\nlet a;\n"),
        ("let a = /** @type {A} */ (b);", "let a = (b);"),
        ("return/* one */a", "return a"),
        ("a = b/**/+/**/+c", "a = b + +c"),
        ("    if (a) {\n      b;\n    }\n", "if (a) {\nb;\n}\n"),
        ('a = "// b" + \'/* c */\' + "\\"//";', 'a = "// b" + \'/* c */\' + "\\"//";'),
        ("`// b\n  ${c /* d */ + `/* ${{ e: 1 }} */`}  //`;", "`// b\n  ${c + `/* ${{ e: 1 }} */`}  //`;"),
        ("a = `\\`  // \\${b}  /* $ $`; // c", "a = `\\`  // \\${b}  /* $ $`; "),
        ("a = /[/\"'`]  \\/\\*/u; // b", "a = /[/\"'`]  \\/\\*/u; "),
        ("return /'/.test(a) // b", "return /'/.test(a) "),
        ("a = (b + c) / d; // '/", "a = (b + c) / d; "),
        ("a = b[0] / 2 / c /* d */", "a = b[0] / 2 / c "),
        ("const isA = (a) => /\\/\\/ \"/.test(a);", "const isA = (a) => /\\/\\/ \"/.test(a);"),
    ],
)  # fmt: skip
def test_what_a_script_becomes(source, served):
    assert without_comments(source, ".js") == served


@pytest.mark.parametrize(
    ("source", "served"),
    [
        ("/* one\n two */\n.a {\n  color: red; /* b */\n}\n", "\n\n.a {\ncolor: red;\n}\n"),
        ('.a::after { content: "/*  b  */"; }', '.a::after { content: "/*  b  */"; }'),
        (".a { background: url(data:image/*,a  ) }", ".a { background: url(data:image/*,a  ) }"),
        (".a/* one */.b .c", ".a/**/.b .c"),
        (".a/* one\n*/.b", ".a/*\n*/.b"),
        (".a /* one */.b", ".a .b"),
    ],
)
def test_what_a_style_sheet_becomes(source, served):
    assert without_comments(source, ".css") == served


def test_other_files_are_served_as_they_are():
    assert without_comments("<svg>  /* a */ </svg>", ".svg") == "<svg>  /* a */ </svg>"


def test_a_template_literal_without_end_is_refused():
    with pytest.raises(ValueError, match="a template literal at character 4 has no end"):
        without_comments("a = `b", ".js")
