"""Valid answers to a study's questions, drawn at random, for simulated evaluators."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from backend.experiment.questionnaire import CHOICE, CHOICES, NUMBER, SCALE, Question, asked

if TYPE_CHECKING:
    from random import Random

_SKIPPED = 0.1
"""Share of the optional questions that are left unanswered."""
_USUAL_RANGE = 100
_TEXT = "A simulated answer."


def random_answers(
    questions: Sequence[Question], when: str, earlier: Mapping[str, Any], rng: "Random"
) -> dict[str, Any]:
    """Return answers to the questions of a time, each valid and about equally likely, by name.

    Args:
        earlier: answers to the questions before the task.
    """
    answers: dict[str, Any] = {}
    for question in asked(questions, when):
        is_shown = question.shown_if is None or question.shown_if.is_met({**earlier, **answers})
        if is_shown and (question.required or rng.random() >= _SKIPPED):
            answers[question.name] = _answer(question, rng)
    return answers


def _answer(question: Question, rng: "Random") -> Any:
    if question.kind == CHOICE:
        return rng.choice(question.choices)
    if question.kind == CHOICES:
        chosen = {rng.choice(question.choices)}
        return [each for each in question.choices if each in chosen or rng.random() < 0.3]
    if question.kind == SCALE:
        return rng.randint(1, question.points)
    return _number(question, rng) if question.kind == NUMBER else _TEXT[: question.max_length]


def _number(question: Question, rng: "Random") -> float:
    low = question.min if question.min is not None else min(0, question.max or 0)
    high = question.max if question.max is not None else low + _USUAL_RANGE
    if not question.step:
        return rng.uniform(low, high)
    start = question.min or 0
    first, last = -(-(low - start) // question.step), (high - start) // question.step
    return start + question.step * rng.randint(int(first), int(max(first, last)))
