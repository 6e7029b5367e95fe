"""A study with pages and questions of its own, from study.toml through a browser to the exported answers."""

import csv
import itertools
import json
import re

import pytest
from click.testing import CliRunner

from backend.cli import main
from backend.responses.export import export

from .conftest import Player
from .test_accessibility import look, violations, violations_in_looks

STUDY = """\
name = "faces"
real = "{folders}/real"

[models]
gan = "{folders}/gan"

[settings]
images = 4
size_px = 64
feedback_ms = 50
base_usd_cents = 100

[[pages]]
title = "Welcome to our laboratory"
text = '''
Please sit comfortably, and keep the room as it is.

<b>Nothing</b> here is markup: <img src=x onerror=alert(1)>'''

[[pages]]
title = "One more thing"
text = "Some pictures are small."

[[questions]]
name = "glasses"
when = "before"
kind = "choice"
page = "About you"
text = "Do you wear glasses or contact lenses now?"
choices = ["Yes", "No", "I prefer not to say"]

[[questions]]
name = "strength"
when = "before"
kind = "number"
page = "About you"
text = "How strong are they, in dioptres?"
min = -20
max = 20
step = 0.25
if = {{ question = "glasses", is = "Yes" }}

[[questions]]
name = "devices"
when = "before"
kind = "choices"
page = "Your devices"
text = "What do you look at pictures on?"
choices = ["A phone", "A computer", "<i>Other</i>"]

[[questions]]
name = "effort"
when = "after"
kind = "scale"
text = "How hard was it to tell real from fake?"
points = 7
low = "Very easy"
high = "Very hard"

[[questions]]
name = "why"
when = "after"
kind = "text"
required = false
text = "What gave the fake pictures away?"
max_length = 300
"""
CSV = "data/study-faces_description-questions_data.csv"


@pytest.fixture
def study(site, tmp_path, monkeypatch):
    """The study, made by the documented command in an empty folder."""
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    (tmp_path / "empty" / "study.toml").write_text(STUDY.format(folders=site.folders))
    made = CliRunner().invoke(main, ["create", "study.toml", "--data", str(site.data.root)])
    assert made.exit_code == 0, made.output
    return site


def answers_of(study):
    ((_, cursor),) = study.store.sessions("faces")
    return {when: each["answers"] for when, each in cursor.questions.items()}


def choose(page, label):
    page.get_by_label(label, exact=True).check()


def go_on(player):
    player.page.get_by_role("button", name="Continue").click()


def wait_heading(player, heading):
    player.page.wait_for_selector(f"h1:text-is({json.dumps(heading)})")


def answer_before(player):
    player.wait("questions")
    choose(player.page, "No")
    go_on(player)
    wait_heading(player, "Your devices")
    choose(player.page, "A phone")
    go_on(player)
    player.wait("instructions")


def play(player):
    for _ in range(3):
        player.press("instructions")
        player.page.wait_for_timeout(50)
    for _ in range(4):
        player.answer("r")


@pytest.mark.core
def test_a_study_with_pages_and_questions_is_played_and_exported(player, study, tmp_path):
    page = player.page
    dialogs = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    player.visit("faces")
    player.press("consent")

    player.wait("questions")
    assert player.heading() == "About you"
    assert page.get_by_label("How strong").is_hidden()
    page.keyboard.press("Enter")  # nothing is chosen yet
    assert page.inner_text(".problems").startswith("Please look at these questions again:")
    assert page.evaluate("document.activeElement.id") == "q0-0-0"
    found = violations(page)
    page.keyboard.press("Space")  # the focus is on the first choice
    page.wait_for_selector("#q0-1")
    assert page.inner_text("[role=status].unseen") == "There is a further question below."
    page.get_by_label("How strong").fill("-1.3")
    page.keyboard.press("Enter")
    assert player.heading() == "About you"
    assert page.inner_text("#q0-1-error") == ""  # Enter submits nothing
    go_on(player)
    told = re.sub("[\u2068\u2069]", "", page.inner_text("#q0-1-error"))
    assert told == "Please enter a number in steps of 0.25, such as -19.75."
    assert page.evaluate("document.activeElement.id") == "q0-1"
    page.get_by_label("How strong").fill("\u22121,25")  # a minus sign and a comma, as typed in much of Europe
    go_on(player)

    wait_heading(player, "Your devices")
    choose(page, "<i>Other</i>")
    choose(page, "A computer")
    page.get_by_role("button", name="Back").click()
    wait_heading(player, "About you")
    assert page.get_by_label("Yes", exact=True).is_checked()
    assert page.get_by_label("How strong").input_value() == "-1.25"
    go_on(player)
    wait_heading(player, "Your devices")
    go_on(player)

    wait_heading(player, "Welcome to our laboratory")
    assert "<b>Nothing</b> here is markup: <img src=x" in page.inner_text("main")
    found += violations(page)
    play(player)

    player.wait("questions")
    assert player.heading() == "Before you finish"
    assert study.store.finished("faces")[0] == 1  # counted and paid whatever follows
    found += violations(page)
    choose(page, "6")
    page.get_by_label("What gave").fill("The eyes.\nAnd <b>hair</b>.")
    go_on(player)
    player.wait("done")

    assert (found, dialogs) == ([], [])
    assert answers_of(study) == {
        "before": {"glasses": "Yes", "strength": -1.25, "devices": ["A computer", "<i>Other</i>"]},
        "after": {"effort": 6, "why": "The eyes.\nAnd <b>hair</b>."},
    }
    export(study.store, study.store.study("faces"), tmp_path / "out")
    with (tmp_path / "out" / CSV).open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["q_strength"], row["q_why"]) == ("-1.25", "The eyes.\nAnd <b>hair</b>.")
    assert json.loads(row["q_devices"]) == ["A computer", "<i>Other</i>"]


def test_a_reload_loses_nothing_and_goes_on_where_one_stopped(player, study):
    page = player.page
    player.visit("faces")
    player.press("consent")
    player.wait("questions")
    choose(page, "Yes")
    page.get_by_label("How strong").fill("2")

    page.reload()
    player.wait("questions")
    assert page.get_by_label("Yes", exact=True).is_checked()
    assert page.get_by_label("How strong").input_value() == "2"
    assert answers_of(study) == {}
    answer_before(player)
    page.reload()
    wait_heading(player, "Welcome to our laboratory")
    play(player)
    player.wait("questions")
    page.reload()
    player.wait("questions")
    assert player.heading() == "Before you finish"
    choose(page, "1")
    go_on(player)
    player.wait("done")
    page.reload()
    player.wait("done")

    assert answers_of(study)["before"] == {"glasses": "No", "devices": ["A phone"]}
    assert answers_of(study)["after"] == {"effort": 1}
    assert page.inner_text("#code")


def test_answers_are_sent_until_they_are_confirmed_and_stored_once(player, study):
    page = player.page
    tried = []

    def lose_first_replies(route):
        tried.append(route.request.post_data)
        if len(tried) == 1:
            return route.abort("connectionreset")  # never arrived
        if len(tried) == 2:
            route.fetch()  # stored, but the reply is lost
            return route.abort("connectionreset")
        return route.continue_()

    page.route("**/questions", lose_first_replies)
    player.visit("faces")
    player.press("consent")
    answer_before(player)

    assert len(tried) == 3
    assert len(set(tried)) == 1
    ((_, cursor),) = study.store.sessions("faces")
    assert (cursor.version, [*cursor.questions]) == (1, ["before"])


def test_the_second_of_two_tabs_goes_on_and_the_first_stores_nothing_more(context, study):
    first, second = (Player(context.new_page(), study) for _ in range(2))
    first.visit("faces")
    first.press("consent")
    first.wait("questions")
    second.visit("faces")
    second.wait("error")
    second.page.keyboard.press("Enter")  # continue here
    answer_before(second)

    first.wait("error")

    assert first.heading() == "The task goes on in another tab"
    assert answers_of(study)["before"] == {"glasses": "No", "devices": ["A phone"]}


def test_an_evaluator_may_leave_the_last_questions_and_gets_the_code(player, study):
    player.visit("faces")
    player.press("consent")
    answer_before(player)
    play(player)
    player.wait("questions")

    player.page.get_by_role("button", name="Finish without answering").click()
    player.wait("done")

    ((session, cursor),) = study.store.sessions("faces")
    assert player.page.inner_text("#code") == session.completion_code
    assert (cursor.questions["after"]["declined"], cursor.questions["after"]["answers"]) == (True, {})


def test_questions_of_an_arabic_study_stand_from_right_to_left(player, study, tmp_path):
    text = STUDY.replace('name = "faces"', 'name = "arabic"').replace(
        "[settings]", '[settings]\nlanguage = "ar"'
    )
    (tmp_path / "empty" / "study.toml").write_text(text.format(folders=study.folders))
    made = CliRunner().invoke(main, ["create", "study.toml", "--data", str(study.data.root)])
    assert made.exit_code == 0, made.output
    page = player.page
    page.set_viewport_size({"width": 390, "height": 844})
    player.visit("arabic")
    player.press("consent")
    player.wait("questions")
    choose(page, "Yes")
    page.get_by_label("How strong").fill("٢٫٥")
    page.screenshot(path=tmp_path / "arabic.png", full_page=True)
    page.locator("main .primary").click()
    wait_heading(player, "Your devices")
    found = violations(page)
    choose(page, "A phone")
    page.locator("main .primary").click()
    player.wait("instructions")

    ((_, cursor),) = study.store.sessions("arabic")
    assert cursor.questions["before"]["answers"]["strength"] == 2.5
    assert (page.evaluate("document.documentElement.dir"), found) == ("rtl", [])


def test_questions_are_accessible_and_fit_the_window(player, study):
    page, found, too_wide = player.page, [], []
    looks = [*itertools.product((390, 1280), ("light", "dark"))]

    def check():
        found.append(violations_in_looks(page, looks))
        for width, scheme in looks:
            look(page, width, scheme)
            if page.evaluate("document.documentElement.scrollWidth") > width:
                too_wide.append((page.inner_text("h1"), width))

    player.visit("faces")
    player.press("consent")
    player.wait("questions")
    choose(page, "Yes")
    go_on(player)
    check()
    choose(page, "No")
    answer_before(player)
    play(player)
    player.wait("questions")
    check()

    assert (found, too_wide) == ([{}, {}], [])
