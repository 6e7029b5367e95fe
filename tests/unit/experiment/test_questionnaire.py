"""Which questions are shown and which answers are valid, as in the page; what simulated evaluators answer."""

import json
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.experiment.questionnaire import (
    QUESTIONS_PER_PAGE,
    Question,
    ShownIf,
    checked_answers,
    pages_of,
)
from backend.experiment.random_answers import random_answers
from backend.foundation.errors import InvalidInput

VECTORS = json.loads((Path(__file__).parents[1] / "question_vectors.json").read_text("utf-8"))


def question(name, kind, choices=(), **more):
    condition = more.pop("if", None)
    shown_if = condition and ShownIf(condition["question"], tuple(condition["answers"]))
    return Question(name, "before", kind, "?", choices=tuple(choices), shown_if=shown_if, **more)


QUESTIONS = [question(**each) for each in VECTORS["questions"]]


def alone(name):
    """Return a question of the vectors without its condition."""
    (found,) = (each for each in VECTORS["questions"] if each["name"] == name)
    return question(**{key: value for key, value in found.items() if key != "if"})


@pytest.mark.parametrize(("name", "answer"), VECTORS["valid"])
def test_valid_answers_are_taken(name, answer):
    taken = checked_answers([alone(name)], "before", {name: answer}, {})

    in_order = sorted(answer) if isinstance(answer, list) else answer
    assert taken == ({} if answer in (None, []) else {name: in_order})


@pytest.mark.parametrize(("name", "answer"), VECTORS["invalid"])
def test_invalid_answers_are_refused(name, answer):
    with pytest.raises(InvalidInput, match=f"{name} must be"):
        checked_answers([alone(name)], "before", {name: answer}, {})


@pytest.mark.parametrize(("given", "names"), VECTORS["shown"])
def test_questions_are_shown_by_earlier_answers(given, names):
    optional = [question(**{**each, "required": False}) for each in VECTORS["questions"]]
    answers = {"deep": "x", "quarter": 1, "odd": 1, "tenth": 1, "any": 1, **given}

    taken = checked_answers(optional, "before", answers, {})

    assert list(taken) == [name for name in names if name in answers]


def test_questions_of_a_title_share_a_page_and_others_make_pages_of_a_few():
    titles = ["", *["A"] * 7, "B", *[""] * 6, "A"]
    questions = [
        Question(f"q{i}", "before", "text", "?", page=title, max_length=10) for i, title in enumerate(titles)
    ]

    pages = pages_of(questions)

    assert [(title, len(each)) for title, each in pages] == [
        ("", 1), ("A", 7), ("B", 1), ("", QUESTIONS_PER_PAGE), ("", 1), ("A", 1),
    ]  # fmt: skip


def test_a_conditional_question_stays_on_the_page_of_the_one_before_it():
    questions = [Question(f"q{i}", "before", "scale", "?") for i in range(QUESTIONS_PER_PAGE)]
    questions += [Question("more", "before", "scale", "?", shown_if=ShownIf("q4", (1,)))]

    assert len(pages_of(questions)) == 1


numbers = st.builds(
    lambda low, width, step: {"min": low, "max": None if width is None else low + width, "step": step},
    st.integers(-50, 50),
    st.none() | st.integers(0, 100),
    st.sampled_from([0, 0.1, 0.25, 1, 3]),
)


@given(numbers, st.integers(0, 2**32))
def test_answers_of_simulated_evaluators_are_valid(bounds, seed):
    questions = [*QUESTIONS, Question("n", "before", "number", "?", **bounds)]

    drawn = random_answers(questions, "before", {}, Random(seed))

    assert checked_answers(questions, "before", drawn, {}) == drawn
