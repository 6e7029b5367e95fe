"""The researcher's questions: stored once, before the first block and after the last trial."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from backend.administration.copy import copy
from backend.commands.simulated_evaluators import simulate
from backend.experiment.questionnaire import Page, Question, ShownIf
from backend.responses import question_answers
from backend.responses.export import export
from backend.stores.opening import open_store
from backend.studies.withdrawals import sessions_of

from .. import sample_studies as studies
from .test_withdrawal import ask as withdraw

QUESTIONS = (
    Question("glasses", "before", "choice", "Do you wear glasses?", choices=("yes", "no")),
    Question(
        "strength",
        "before",
        "number",
        "How strong?",
        min=-20,
        max=20,
        step=0.25,
        shown_if=ShownIf("glasses", ("yes",)),
    ),
    Question("effort", "after", "scale", "How hard was it?", points=7, low="easy", high="hard"),
    Question("tools", "after", "choices", "Where?", required=False, choices=("eyes", "hair", "light")),
    Question("why", "after", "text", "Why?", False, max_length=40, shown_if=ShownIf("effort", (6, 7))),
)
PAGES = (Page("Welcome", "One.\n\nTwo."), Page("Half way", "Go on.", before_block=2))
BEFORE = {"glasses": "yes", "strength": -1.25}
AFTER = {"effort": 7, "tools": ["light", "eyes"], "why": "Too <b>fast</b>.\nReally."}


def asked_study(**settings):
    return studies.replaced(studies.study(images=4, **settings), pages=PAGES, questions=QUESTIONS)


@pytest.fixture
def player(world):
    world.add(asked_study())
    return world.player()


def post(player, when, answers, lease=None, **more):
    lease = player.lease if lease is None else lease
    return player.post("questions", {"lease": lease, "when": when, "answers": answers, **more})


def stored(world, player):
    return world.store.cursor(player.state["session"]).questions


def test_a_session_tells_its_pages_and_the_questions_that_are_open(player):
    assert [(page["title"], page["before_block"]) for page in player.state["pages"]] == [
        ("Welcome", 0),
        ("Half way", 1),
    ]
    asked = player.state["questions"]
    assert asked["when"] == "before"
    (page,) = asked["pages"]
    assert [question["name"] for question in page["questions"]] == ["glasses", "strength"]
    assert page["questions"][1]["shown_if"] == {"question": "glasses", "answers": ["yes"]}


def test_a_study_without_questions_tells_none(world):
    world.add(studies.study(images=4))

    assert not {"pages", "questions"} & set(world.player().state)


def test_a_whole_session_stores_what_was_answered_before_and_after(each_world):
    study = each_world.add(asked_study())
    player = each_world.player()

    before = post(player, "before", BEFORE).json
    done = player.play()
    last = post(player, "after", AFTER).json

    assert "questions" not in before
    assert (last["done"], "questions" in last) == (done, False)
    expected = {
        "before": {"at": "2026-01-01T00:00:00.000Z", "answers": BEFORE},
        "after": {"at": "2026-01-01T00:00:00.000Z", "answers": {**AFTER, "tools": ["eyes", "light"]}},
    }
    assert stored(each_world, player) == expected
    ((_, cursor),) = sessions_of(each_world.store, study)
    assert cursor.questions == expected
    ((_, cursor, responses),) = each_world.store.answered("faces")
    assert (cursor.questions, len(responses)) == (expected, 4)


def test_no_block_begins_before_the_questions_are_answered(player):
    begin = {"lease": player.lease, "block": 0, "display": {}}

    refused = player.post("blocks", begin)
    post(player, "before", BEFORE)

    assert (refused.status_code, refused.json["error"]["code"]) == (409, "questions_first")
    assert player.post("blocks", begin).status_code == 200


def test_the_last_answer_gives_the_completion_code_whatever_becomes_of_the_questions(world, player):
    post(player, "before", BEFORE)

    done = player.play()

    assert len(done["completion_code"]) == 10
    assert world.store.finished("faces")[0] == 1
    assert done["earned_usd_cents"] == 8
    again = player.post("resume", {}).json["state"]
    assert (again["stage"], again["questions"]["when"], again["done"]) == ("done", "after", done)
    assert again["questions"]["earlier"] == BEFORE


def test_the_last_answer_says_that_questions_follow_and_its_repetition_as_well(player):
    post(player, "before", BEFORE)
    player.begin()
    for _ in range(3):
        assert "questions" not in player.answer()
    body = player.body()

    first = player.post("answers", body).json
    again = player.post("answers", body).json

    assert first["questions"]["when"] == "after"
    assert again == first


@pytest.mark.parametrize("other", [{"glasses": "no"}, {}])
def test_the_first_stored_answers_count_however_often_they_are_sent(world, player, other):
    first = post(player, "before", BEFORE)
    kept = stored(world, player)

    again, changed = post(player, "before", BEFORE), post(player, "before", other)

    assert first.json == again.json == changed.json
    assert stored(world, player) == kept


def test_answers_that_arrive_at_once_are_stored_once(each_world):
    each_world.add(asked_study())
    player = each_world.player()

    with ThreadPoolExecutor(8) as pool:
        replies = list(
            pool.map(lambda i: post(player, "before", {"glasses": "yes", "strength": i}), range(8))
        )

    assert {reply.status_code for reply in replies} == {200}
    assert each_world.store.cursor(player.state["session"]).version == 1
    assert 0 <= stored(each_world, player)["before"]["answers"]["strength"] < 8


def test_only_the_tab_that_has_the_session_answers(world, player):
    lease = player.post("resume", {}).json["state"]["lease"]

    stale = post(player, "before", BEFORE)

    assert (stale.status_code, stale.json["error"]["code"]) == (409, "stale_lease")
    assert stored(world, player) == {}
    assert post(player, "before", BEFORE, lease=lease).status_code == 200


def test_questions_that_are_not_open_are_refused(player):
    assert post(player, "after", AFTER).json["error"]["code"] == "out_of_order"


def test_an_evaluator_may_decline_the_questions_after_the_task_and_no_others(world, player):
    assert post(player, "before", {}, declined=True).json["error"]["code"] == "unanswered_question"
    post(player, "before", BEFORE)
    player.play()

    last = post(player, "after", {}, declined=True)

    assert last.status_code == 200
    assert stored(world, player)["after"] == {
        "at": "2026-01-01T00:00:00.000Z", "answers": {}, "declined": True,
    }  # fmt: skip
    assert post(player, "after", AFTER).json == last.json


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({}, "question glasses must be answered"),
        ({"glasses": None}, "question glasses must be answered"),
        ({"glasses": "perhaps"}, "the answer to glasses must be one of its choices, not 'perhaps'"),
        ({"glasses": ["yes"]}, "must be one of its choices"),
        ({"glasses": 1}, "must be one of its choices"),
        ({"glasses": "yes"}, "question strength must be answered"),
        ({"glasses": "yes", "strength": "2"}, "the answer to strength must be a number from -20 up to 20"),
        ({"glasses": "yes", "strength": 20.25}, "a number from -20 up to 20 in steps of 0.25, not 20.25"),
        ({"glasses": "yes", "strength": 0.1}, "must be a number from -20 up to 20 in steps of 0.25, not 0.1"),
        ({"glasses": "yes", "strength": True}, "answers.strength must be a text, a finite number, or"),
        ({"glasses": "yes", "strength": 10**400}, "answers.strength must be a text, a finite number, or"),
        ({"glasses": "yes", "strength": 10**18}, "must be a number from"),
        ({"glasses": {"a": 1}}, "answers.glasses must be a text, a finite number, or a list of choices"),
        ({"glasses": [["yes"]]}, "answers.glasses must be a text, a finite number, or a list of choices"),
        ({"glasses": "x" * 2001}, "answers.glasses must be a text, a finite number, or a list of choices"),
        ({"glases": "yes"}, "no question before the task is called 'glases'"),
        ({"effort": 3}, "no question before the task is called 'effort'"),
    ],
)  # fmt: skip
def test_answers_that_are_not_valid_are_refused_and_nothing_is_stored(world, player, answers, message):
    reply = post(player, "before", answers)

    assert (reply.status_code, reply.json["error"]["message"].count(message)) == (400, 1), reply.json
    assert stored(world, player) == {}


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({"effort": 0}, "the answer to effort must be a whole number from 1 to 7, not 0"),
        ({"effort": 8}, "must be a whole number from 1 to 7"),
        ({"effort": 2.5}, "must be a whole number from 1 to 7"),
        ({"effort": "2"}, "must be a whole number from 1 to 7"),
        ({"effort": 2, "tools": "eyes"}, "the answer to tools must be a list of its choices, not 'eyes'"),
        ({"effort": 2, "tools": ["eyes", "eyes"]}, "must be a list of its choices"),
        ({"effort": 2, "tools": ["nose"]}, "must be a list of its choices"),
        ({"effort": 6, "why": "x" * 41}, "the answer to why must be a text of at most 40 characters"),
        ({"effort": 6, "why": "a\ud800"}, "texts must be of letters"),
        ({"effort": 6, "why": "a\x00"}, "texts must be of letters"),
    ],
)
def test_answers_after_the_task_are_checked_as_well(world, player, answers, message):
    post(player, "before", BEFORE)
    player.play()

    reply = post(player, "after", answers)

    assert (reply.status_code, reply.json["error"]["message"].count(message)) == (400, 1), reply.json
    assert "after" not in stored(world, player)


def test_nan_is_no_number(world, player):
    body = '{"lease": 1, "when": "before", "answers": {"glasses": "yes", "strength": NaN}}'
    headers = {"Authorization": f"Bearer {player.token}", "Content-Type": "application/json"}

    reply = world.http.post(f"/api/sessions/{player.state['session']}/questions", data=body, headers=headers)

    assert reply.status_code == 400


def test_a_question_that_is_not_shown_has_no_answer_and_nobody_needs_to_answer_it(world, player):
    post(player, "before", {"glasses": "no", "strength": 3})
    player.play()
    post(player, "after", {"effort": 3, "why": "hidden", "tools": []})

    answers = {when: each["answers"] for when, each in stored(world, player).items()}

    assert answers == {"before": {"glasses": "no"}, "after": {"effort": 3}}


def test_withdrawal_deletes_the_answers(world, player, tmp_path):
    post(player, "before", BEFORE)
    player.play()
    post(player, "after", AFTER)

    withdraw(world, player)

    assert list(question_answers.rows(world.store, world.store.study("faces"))) == []
    kept = json.dumps([entry.data for entry in world.store.entries("withdrawn")], default=str)
    assert "fast" not in kept
    files = export(world.store, world.store.study("faces"), tmp_path / "out")
    assert not any("Really" in path.read_text() for path in files)


def test_answers_are_in_a_copy_of_the_study_also_if_they_came_after_the_first_copy(each_world, tmp_path):
    each_world.add(asked_study())
    player = each_world.player()
    post(player, "before", BEFORE)
    player.play()
    target = open_store("sqlite:///other.db", tmp_path)
    copy(each_world.store, target, "faces")
    post(player, "after", AFTER)

    copy(each_world.store, target, "faces")

    assert target.cursor(player.state["session"]).questions == stored(each_world, player)
    assert target.study("faces").questions == QUESTIONS
    assert target.study("faces").pages == PAGES
    target.close()


def test_redacting_a_session_leaves_its_answers(world, player):
    post(player, "before", BEFORE)

    world.store.redact_session(player.state["session"], {}, {})

    assert stored(world, player)["before"]["answers"] == BEFORE


def test_simulated_evaluators_answer_the_questions(world):
    study = world.add(asked_study(evaluators=20))

    simulate(world.store, world.data, "faces", {"all": "0.7"})

    rows = list(question_answers.rows(world.store, study, simulated=True))
    assert len(rows) == 40
    assert all(row["before_at"] and row["after_at"] and row["q_effort"] for row in rows)
    assert {row["q_glasses"] for row in rows} == {"yes", "no"}
    assert {row.get("q_strength") is None for row in rows if row["q_glasses"] == "no"} == {True}
    assert list(question_answers.rows(world.store, study)) == []
