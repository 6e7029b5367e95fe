"""A study.toml: what it declares, and errors that name its file and line, through the command."""

import re

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from backend.administration.study_spec import read_spec
from backend.cli import main
from backend.experiment.questionnaire import Page, Question, ShownIf

RNG = np.random.default_rng(4)
STUDY = """\
name = "faces"
method = "infinity"
real = "real"

[models]
gan = "gan"

[settings]
images = 20
size_px = 16
title = "Faces"

[[pages]]
title = "Before you begin"
text = '''
Sit comfortably.

<b>This is no markup.</b>'''

[[questions]]
name = "glasses"
when = "before"
kind = "choice"
text = "Do you wear glasses?"
choices = ["yes", "no", "prefer not to say"]

[[questions]]
name = "strength"
when = "before"
kind = "number"
text = "How strong are they, in dioptres?"
required = false
min = -20
max = 20
step = 0.25
if = { question = "glasses", is = "yes" }

[[questions]]
name = "effort"
when = "after"
kind = "scale"
text = "How hard was it?"
points = 7
low = "very easy"
high = "very hard"
"""


@pytest.fixture
def folders(tmp_path, monkeypatch):
    for side in ("real", "gan"):
        (tmp_path / side).mkdir()
        for i in range(30):
            pixels = RNG.integers(0, 256, (16, 16, 3)).astype("uint8")
            Image.fromarray(pixels).save(tmp_path / side / f"{i}.png")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def create(folders, text):
    (folders / "study.toml").write_text(text, encoding="utf-8")
    return CliRunner().invoke(main, ["create", "study.toml"])


def test_pages_and_questions_are_read_as_they_are_written(folders):
    (folders / "study.toml").write_text(STUDY)

    spec = read_spec(folders / "study.toml")

    assert spec.pages == (Page("Before you begin", "Sit comfortably.\n\n<b>This is no markup.</b>"),)
    assert spec.questions == (
        Question(
            "glasses", "before", "choice", "Do you wear glasses?", choices=("yes", "no", "prefer not to say")
        ),
        Question(
            "strength",
            "before",
            "number",
            "How strong are they, in dioptres?",
            required=False,
            min=-20,
            max=20,
            step=0.25,
            shown_if=ShownIf("glasses", ("yes",)),
        ),
        Question("effort", "after", "scale", "How hard was it?", points=7, low="very easy", high="very hard"),
    )


def test_a_study_with_pages_and_questions_is_made(folders):
    made = create(folders, STUDY)

    assert made.exit_code == 0, made.stderr
    assert "made the study faces" in made.output


def changed(old, new):
    assert STUDY.count(old) == 1, old
    return STUDY.replace(old, new)


def refused(folders, text):
    """Return the message about a refused file, after checking that nothing is left of it."""
    result = create(folders, text)

    assert result.exit_code == 1
    assert not list((folders / "openhype-data").glob("images/*"))
    return result.stderr.strip().splitlines()[-1].removeprefix("openhype: ")


TITLE = 'title = "Faces"'
CHOICES = 'choices = ["yes", "no", "prefer not to say"]'
IF = 'if = { question = "glasses", is = "yes" }'
BAD_LINES = [
    (TITLE, "title = Faces", "the file must be TOML: invalid value"),
    ("[models]", 'modles = "x"', "no entry is called 'modles'; did you mean `models`"),
    ("images = 20", "imags = 20", "no setting is called 'imags'; did you mean `images`"),
    ("images = 20", "images = 21", "images must be even"),
    ("images = 20", 'images = "many"', "images must be a whole number, not 'many'"),
    ("images = 20", f"images = {'9' * 400}", "images must be from 2 to 5000, not 9999"),
    ("images = 20", "images = [20]", "images must be a text, a number, true or false, not a list"),
    (TITLE, "start_exposure_ms = 3", "exposure bounds go with method 'time'"),
    (TITLE, 'consent_text = "@no.txt"', "there is no file no.txt"),
    (TITLE, 'qualification = "q"', "a study's qualification must be"),
    (TITLE, 'currency = "EUR"', "currency must be"),
    (TITLE, "min_refresh_hz = 2000", "min_refresh_hz must be from 1 to 1000"),
    (TITLE, "models_per_session = 1\nblocks = 51", "blocks must be from 1 to 50"),
    ('real = "real"', 'real = "reals"', "there is no folder 'reals' in "),
    ('real = "real"', 'real = "study.toml"', "there is no folder 'study.toml' in "),
    ('real = "real"', 'real = "\\u0000"', "there is no folder '.x00' in "),
    ('gan = "gan"', 'gan = "gan"\nvae = "v"', "there is no folder 'v' in "),
    ('gan = "gan"', "gan = 5", "gan must be a folder in quotes, not 5"),
    ('gan = "gan"', 'gan = "gan"\n"GAN" = "gan"', "two models differ by case only"),
    ('name = "faces"', "name = 5", "name must be a text in quotes, not 5"),
    ('name = "faces"', 'name = "Faces"', "a study's name must be"),
    ('method = "infinity"', 'method = "infinit"', "method must be one of .*did you mean `infinity`"),
    ('method = "infinity"', 'panel = "prolifik"', "panel must be"),
    ('method = "infinity"', 'kind = "sturdy"', "kind must be .*did you mean `study`"),
    ('title = "Before you begin"', 'titel = "x"', "no entry is called 'titel'; did you mean `title`"),
    ('title = "Before you begin"', 'title = " "', "title must be a line of text of 1 to"),
    ('title = "Before you begin"', 'title = "a\\u0007"', "title must be a line of text of 1 to"),
    ('title = "Before you begin"', 'title = "T"\nbefore_block = 2', "before_block must be at most 1, the"),
    ('name = "strength"', 'name = "glasses"', "two questions are called 'glasses', the 1st and the 2nd"),
    ('name = "strength"', 'name = "Str"', "a question's name must be 1 to 40 lower-case letters"),
    ('kind = "scale"', 'kind = "scales"', "kind must be 'choice'.*did you mean `scale`"),
    ('when = "after"', 'when = "later"', "when must be 'before' or 'after', not 'later'"),
    ("required = false", "required = 0", "required must be true or false, not 0"),
    ("max = 20", "max = -30", "max must be at least min, -20, not -30"),
    ("max = 20", "max = 1e300", "max must be a number up to"),
    ("step = 0.25", "step = -1", "step must be a positive number, or 0"),
    ("step = 0.25", "step = nan", "step must be a number, not nan"),
    ("step = 0.25", "max_length = 5", "max_length is for text, and this question is number"),
    ("points = 7", "points = 1", "points must be from 2 to 11, not 1"),
    ("points = 7", "points = true", "points must be a whole number, not True"),
    (CHOICES, 'choices = ["yes"]', "a choice question needs choices"),
    (CHOICES, 'choices = ["yes", "no",\n"yes"]', "two choices are called 'yes'"),
    (CHOICES, "choices = ['yes',\n3]", "choices must be a list of texts in quotes, not of 3"),
    (IF, 'if.question = "glases"', "questions 2 if lacks the entry is, a text in quotes or"),
    (IF, 'if = { is = "yes", question = "glases" }', "no question is called 'glases'; did you mean `"),
    (IF, 'if = { is = "yes", question = "effort" }', "question strength depends on effort, which is asked"),
    (IF, 'if = { is = "yes", question = "strength" }', "question strength depends on itself"),
    (IF, 'if = { question = "glasses", is = "ja" }', "'ja' is no answer of question glasses; its answers"),
    (IF, 'if = { question = "glasses", is = ["yes",\n"ja"] }', "'ja' is no answer of question glasses"),
    (IF, 'if = { question = "glasses", is = true }', "is must be a text in quotes or a whole"),
    (IF, 'if = { question = "glasses", is = [] }', "is must be an answer, or a list of some"),
    (IF, 'if = { question = "glasses", iss = 1 }', "no entry is called 'iss'"),
    ("points = 7", 'if = { question = "strength", is = "1" }', "question strength is a number; a"),
]  # fmt: skip
"""What is replaced, by what, and what is said of the last line of that."""


@pytest.mark.parametrize(("old", "new", "problem"), BAD_LINES)
def test_every_error_names_the_file_and_the_line_and_leaves_nothing(folders, old, new, problem):
    text = changed(old, new)
    line = text.count("\n", 0, text.rindex(new) + len(new)) + 1

    message = refused(folders, text)

    assert re.match(rf"study\.toml line {line}: ({problem})", message), message


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        (changed('title = "Before you begin"\n', ""), "[[pages]]", "pages 1 lacks the entry title, a text"),
        (changed("images = 20", "images = 400"), 'gan = "gan"', "study faces lacks .* 30 of 200 fakes"),
        (changed('gan = "gan"\n', ""), "[models]", "models must name at least one model"),
        (changed(CHOICES, ""), 'name = "glasses"', "a choice question needs choices"),
        (STUDY + "[questions.more]\n", "[questions.more]", "no entry is called 'more'; questions 3 may"),
        (changed(TITLE, "min_refresh_hz = 90\nmax_refresh_hz = 80"), "min_refresh", "min_refresh_hz must"),
        (STUDY.replace("[[pages]]", "[pages]"), "[pages]", "pages must be a list"),
        (STUDY.replace("[[pages]]", "[[page]]"), "[[page]]", "no entry is called 'page'; did you mean `pa"),
    ],
)  # fmt: skip
def test_what_concerns_a_whole_table_names_the_line_where_it_begins(folders, text, line, problem):
    at = next(i for i, each in enumerate(text.splitlines(), 1) if each.startswith(line))

    message = refused(folders, text)

    assert re.match(rf"study\.toml line {at - line.startswith('name')}: {problem}", message), message


def test_texts_that_would_make_each_trial_s_storage_large_are_refused(folders):
    long = '\n[[questions]]\nname = "{}"\nwhen = "before"\nkind = "text"\ntext = "Why?"\nmax_length = 1500\n'

    result = create(folders, STUDY + long.format("one") + long.format("two"))

    assert (
        "study.toml line 59: the texts asked before the task may have 2000 characters together"
        in result.stderr
    )


def test_instructions_are_not_left_out_without_pages_in_their_place(folders):
    start, end = STUDY.index("[[pages]]"), STUDY.index("[[questions]]")
    text = STUDY[:start] + STUDY[end:]

    result = create(folders, text.replace('title = "Faces"', "builtin_instructions = false"))

    assert "study.toml line 11: builtin_instructions=false leaves evaluators without" in result.stderr


def test_a_name_that_is_taken_is_refused_with_its_line(folders):
    create(folders, STUDY)

    again = create(folders, STUDY)

    assert re.search(r"study.toml line 1: a study faces exists already", again.stderr)


OWN_TEXTS = """
[texts]
"answer.fake" = "AI"
"block.earned" = "{money} so far"

[texts.de]
"answer.fake" = "KI"
"""


def test_own_texts_of_the_page_are_taken(folders):
    made = create(folders, STUDY + OWN_TEXTS)

    assert made.exit_code == 0, made.stderr


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            '"answer.fake" = "AI"',
            '"answer.fke" = "AI"',
            "texts: no text is called 'answer.fke'; did you mean",
        ),
        ('"answer.fake" = "KI"', '"answer.fak" = "KI"', "texts.de: no text is called 'answer.fak'"),
        ('"{money} so far"', '"so far"', "texts: the text 'block.earned' must contain {money}"),
        ('"answer.fake" = "KI"', '"answer.fake" = 5', "the text 'answer.fake' must be text, not 5"),
    ],
)
def test_own_texts_are_checked_at_their_lines(folders, old, new, problem):
    text = STUDY + OWN_TEXTS.replace(old, new)
    line = text.count("\n", 0, text.index(new)) + 1

    message = refused(folders, text)

    assert re.match(rf"study\.toml line {line}: {re.escape(problem)}", message), message
