"""A study's file: the line of each entry, and errors that name it."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.administration.study_file import read
from backend.foundation.errors import InvalidInput, NotFound


def file_of(tmp_path, text, name="study.toml"):
    (tmp_path / name).write_text(text, encoding="utf-8", newline="")
    return read(tmp_path / name)


EVERY_FORM = '''\
# a comment with [brackets] and a = sign
name = "faces"  # another = comment
text = """
line = "in the text"
[[not.a.table]]
"""
lone = \'\'\'it's
"quoted"\'\'\'
"a key" = 1979-05-27 07:32:00
list = [ # comment ]
  1,
  [2, "]"],

  {a = 1, b.c = "}"},
]

[settings]
images = 40
dotted.deep.key = -1e3

[[questions]]
name = "first"
if = { question = "x", is = ["a",
  "b"] }

[[questions]] # again
name = 'second'
[questions.if]
question = "first"
[ "models" . x ]
y = true
'''
LINES = {
    ("name",): 2,
    ("text",): 3,
    ("lone",): 7,
    ("a key",): 9,
    ("list",): 10,
    ("list", 0): 11,
    ("list", 1): 12,
    ("list", 1, 0): 12,
    ("list", 1, 1): 12,
    ("list", 2): 14,
    ("list", 2, "a"): 14,
    ("list", 2, "b"): 14,
    ("list", 2, "b", "c"): 14,
    ("settings",): 17,
    ("settings", "images"): 18,
    ("settings", "dotted"): 19,
    ("settings", "dotted", "deep"): 19,
    ("settings", "dotted", "deep", "key"): 19,
    ("questions",): 21,
    ("questions", 0): 21,
    ("questions", 0, "name"): 22,
    ("questions", 0, "if"): 23,
    ("questions", 0, "if", "question"): 23,
    ("questions", 0, "if", "is"): 23,
    ("questions", 0, "if", "is", 0): 23,
    ("questions", 0, "if", "is", 1): 24,
    ("questions", 1): 26,
    ("questions", 1, "name"): 27,
    ("questions", 1, "if"): 28,
    ("questions", 1, "if", "question"): 29,
    ("models",): 30,
    ("models", "x"): 30,
    ("models", "x", "y"): 31,
}
"""Counted by hand."""


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_every_entry_of_a_file_has_its_line(tmp_path, ending):
    found = file_of(tmp_path, EVERY_FORM.replace("\n", ending))

    assert found.lines == LINES


def test_an_entry_that_is_not_there_is_where_its_table_begins(tmp_path):
    found = file_of(tmp_path, EVERY_FORM)

    assert found.where("questions", 1, "kind") == f"{tmp_path}/study.toml line 26"
    assert found.where("panel") == f"{tmp_path}/study.toml"


names = st.one_of(st.from_regex(r"[A-Za-z0-9_-]{1,6}", fullmatch=True), st.text(max_size=4))
scalars = st.one_of(
    st.integers(-(2**60), 2**60),
    st.floats(),
    st.booleans(),
    st.text(),
    st.datetimes(),
    st.sampled_from("\"'#[]{}"),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(names, inner, max_size=3)),
    max_leaves=6,
)
tables = st.dictionaries(names, values, max_size=4)
documents = st.tuples(tables, st.lists(st.tuples(names, tables), max_size=3), st.lists(tables, max_size=3))


def escaped(text):
    return '"' + "".join(f"\\U{ord(c):08x}" if not c.isalnum() else c for c in text) + '"'


class Writer:
    """Writes TOML and notes the line on which it wrote each entry."""

    def __init__(self, draw):
        self.draw, self.text, self.lines = draw, "", {}

    def note(self, keys):
        self.lines.setdefault(keys, self.text.count("\n") + 1)

    def gap(self):
        self.text += self.draw(st.sampled_from(["", " ", "\n", " # ]}\"'\n\n"]))

    def value(self, keys, value):
        if isinstance(value, list):
            self.text += "["
            for i, each in enumerate(value):
                self.gap()
                self.note((*keys, i))
                self.value((*keys, i), each)
                self.gap()
                self.text += ","
            self.gap()
            self.text += "]"
        elif isinstance(value, dict):
            self.text += "{"
            for i, (name, each) in enumerate(value.items()):
                self.text += ", " if i else ""
                self.entry(keys, name, each)
            self.text += "}"
        elif isinstance(value, str):
            quoted = escaped(value)
            is_long = self.draw(st.booleans())
            self.text += f'""{quoted[:1]}\n{quoted[1:-1]}"""' if is_long else quoted
        elif isinstance(value, bool):
            self.text += str(value).lower()
        elif hasattr(value, "isoformat"):
            self.text += value.isoformat(self.draw(st.sampled_from("T ")))
        else:
            self.text += repr(value)

    def entry(self, keys, name, value):
        self.note((*keys, name))
        self.text += f"{escaped(name)} ="
        self.value((*keys, name), value)

    def table(self, keys, table):
        for name, value in table.items():
            self.entry(keys, name, value)
            self.text += self.draw(st.sampled_from(["\n", " # x = 'y'\n", "\n\n"]))


@given(documents, st.data())
def test_lines_are_those_on_which_the_entries_were_written(tmp_path_factory, document, data):
    top, sections, rows = document
    writer = Writer(data.draw)
    writer.table((), top)
    used = set(top)
    for name, table in sections:
        if name not in used:
            used.add(name)
            writer.note((name,))
            writer.text += f"[{escaped(name)}]\n"
            writer.table((name,), table)
    for i, table in enumerate(rows if "rows" not in used else []):
        writer.note(("rows",))
        writer.note(("rows", i))
        writer.text += "[[rows]]\n"
        writer.table(("rows", i), table)

    found = file_of(tmp_path_factory.getbasetemp(), writer.text, "written.toml")

    assert tomllib.loads(writer.text) is not None
    assert found.lines == writer.lines


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("a = 1\nb = \n", 2, "invalid value"),
        ("a = 1\na = 2\n", 2, "cannot overwrite a value"),
        ("a = [1,\n2\n\n", 2, "unclosed array"),
        ('a = 1\n\nb = """\nopen\n', 4, "unterminated string"),
    ],
)
def test_a_file_that_is_not_toml_is_refused_with_its_line(tmp_path, text, line, problem):
    with pytest.raises(InvalidInput, match=rf"study.toml line {line}: the file must be TOML: {problem}"):
        file_of(tmp_path, text)


def test_numbers_and_lists_beyond_all_bounds_are_refused_without_a_fault(tmp_path):
    with pytest.raises(InvalidInput, match="must be TOML"):
        file_of(tmp_path, f"a = {'9' * 5000}\n")
    with pytest.raises(InvalidInput, match="of few levels"):
        file_of(tmp_path, f"a = {'[' * 5000}{']' * 5000}\n")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[t]\nimages = 1\nimgs = 3\n", r"line 3: no entry is called 'imgs'; did you mean `images`\?"),
        ("[t]\nzzz = 3\n", "line 2: no entry is called 'zzz'; t may have images, share, name"),
        ('[t]\n\nimages = "3"\n', "line 3: images must be a whole number, not '3'"),
        ("[t]\nimages = true\n", "line 2: images must be a whole number, not True"),
        ("[t]\nshare = nan\n", "line 2: share must be a number, not nan"),
        ("[t]\nshare = [1]\n", "line 2: share must be a number, not a list"),
        ("a = 1\n[t]\nshare = 1\n", "line 2: t lacks the entry name, a text in quotes"),
        ("a = 1\nt = 5\n", "line 2: t must be a table, not 5"),
    ],
)
def test_entries_of_a_table_are_checked_at_their_lines(tmp_path, text, problem):
    found = file_of(tmp_path, text)

    with pytest.raises(InvalidInput, match=problem):
        found.entries(("t",), {"images": int, "share": float, "name": str}, needed=("name",))


def test_errors_of_checks_name_the_line_of_their_entry(tmp_path):
    found = file_of(tmp_path, "a = 1\nfolder = 'x'\n")

    with pytest.raises(NotFound, match=r"^.*study.toml line 2: there is no folder$"), found.at("folder"):
        raise NotFound("there is no folder")
