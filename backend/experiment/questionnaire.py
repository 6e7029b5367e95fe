"""A study's own pages: instructions, and questions before and after the task.

What is asked is fixed with the study; what was answered is stored with a session's cursor, once for the
questions before the task and once for those after it. Every rule of `check` is one that a study file can
break; every rule of `checked_answers` is one that the page has checked too (`frontend/task/questions.js`).
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from backend.foundation.errors import InvalidInput, brief
from backend.foundation.frozen import dataclass
from backend.foundation.suggestions import did_you_mean

BEFORE, AFTER = "before", "after"
"""When questions are asked: after consent and before the instructions, or after the last trial."""
TIMES = (BEFORE, AFTER)
CHOICE, CHOICES, NUMBER, TEXT, SCALE = "choice", "choices", "number", "text", "scale"
KINDS = (CHOICE, CHOICES, NUMBER, TEXT, SCALE)
MOST_QUESTIONS, MOST_PAGES = 100, 50
MOST_CHARACTERS = {BEFORE: 2000, AFTER: 10_000}
"""Characters of all texts that may be answered; those before the task are stored with each trial's cursor."""
QUESTIONS_PER_PAGE = 5
"""Questions on a page of those that name no page."""

_MOST_CHOICES, _LONGEST_CHOICE, _LONGEST_TEXT, _LONGEST_PAGE = 100, 200, 2000, 20_000
_POINTS = (2, 11)
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_LARGEST = 1e15
_OWN_ENTRIES = {
    CHOICE: ("choices",),
    CHOICES: ("choices",),
    NUMBER: ("min", "max", "step"),
    TEXT: ("max_length",),
    SCALE: ("points", "low", "high"),
}
"""Entries that only questions of a kind have."""


class InvalidEntry(InvalidInput):
    """An entry of a page or of a question is not as it must be."""

    def __init__(self, entry: str | tuple[str | int, ...], message: str):
        super().__init__(message, keys=entry if isinstance(entry, tuple) else (entry,))


@dataclass(frozen=True)
class Page:
    """A page of instructions. Texts are shown as they are; empty lines separate paragraphs."""

    title: str
    text: str
    before_block: int = 1
    """The block (from 1) before which it is shown; 1: after consent."""

    def __post_init__(self) -> None:
        _check_text("title", self.title, _LONGEST_TEXT)
        _check_text("text", self.text, _LONGEST_PAGE, is_long=True)
        _check_range("before_block", self.before_block, 1, 50)


@dataclass(frozen=True)
class ShownIf:
    """Condition of a question: one of these choices, or points of a scale, answers an earlier question."""

    question: str
    answers: tuple[str | int, ...]

    def is_met(self, answers: Mapping[str, Any]) -> bool:
        """Return whether the condition is met by answers, by name, of questions that are shown."""
        given = answers.get(self.question)
        return any(each in self.answers for each in (given if isinstance(given, list) else [given]))


@dataclass(frozen=True)
class Question:
    """One question of a study."""

    name: str
    """Identifier in the data."""
    when: str
    kind: str
    text: str
    required: bool = True
    page: str = ""
    """Title of its page, on which its neighbours with the same title stand too; '' for an automatic page."""
    choices: tuple[str, ...] = ()
    min: int | float | None = None
    max: int | float | None = None
    step: int | float = 1
    """Difference of successive numbers from `min` (or 0) on; 0 for any."""
    points: int = 5
    """Points of a scale, answered as 1 to `points`."""
    low: str = ""
    """Label of the lowest point of a scale."""
    high: str = ""
    max_length: int = 500
    """Characters of a text at most."""
    shown_if: ShownIf | None = None

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise InvalidEntry(
                "name",
                "a question's name must be 1 to 40 lower-case letters, digits and _, starting with a letter, "
                f"not {brief(self.name)}",
            )
        _check_one_of("when", self.when, TIMES)
        _check_one_of("kind", self.kind, KINDS)
        _check_text("text", self.text, _LONGEST_TEXT, is_long=True)
        for entry in ("page", "low", "high"):
            if getattr(self, entry):
                _check_text(entry, getattr(self, entry), _LONGEST_CHOICE)
        self._check_choices()
        self._check_bounds()
        _check_range("points", self.points, *_POINTS)
        _check_range("max_length", self.max_length, 1, _LONGEST_TEXT)

    @property
    def possible(self) -> tuple[str | int, ...]:
        """The answers that a condition can name: choices, or points of a scale; () for other kinds."""
        return tuple(range(1, self.points + 1)) if self.kind == SCALE else self.choices

    def _check_choices(self) -> None:
        if self.kind not in (CHOICE, CHOICES):
            return
        if not 1 + (self.kind == CHOICE) <= len(self.choices) <= _MOST_CHOICES:
            raise InvalidEntry(
                "choices",
                f'a {self.kind} question needs choices = ["…", "…"], at most {_MOST_CHOICES}, '
                f"not {len(self.choices)}",
            )
        for i, choice in enumerate(self.choices):
            _check_text("choices", choice, _LONGEST_CHOICE, place=("choices", i))
            if choice in self.choices[:i]:
                raise InvalidEntry(("choices", i), f"two choices are called {choice!r}")

    def _check_bounds(self) -> None:
        for entry in ("min", "max", "step"):
            value = getattr(self, entry)
            if value is not None and not -_LARGEST <= value <= _LARGEST:
                raise InvalidEntry(entry, f"{entry} must be a number up to {_LARGEST:g}, not {brief(value)}")
        if self.step < 0:
            raise InvalidEntry("step", f"step must be a positive number, or 0 for any, not {self.step:g}")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise InvalidEntry("max", f"max must be at least min, {self.min:g}, not {self.max:g}")


def other_kinds_entries(kind: str) -> dict[str, str]:
    """Return the entries that questions of this kind do not have, each with the kinds that have it."""
    others: dict[str, str] = {}
    for other, entries in _OWN_ENTRIES.items():
        for entry in entries:
            if entry not in _OWN_ENTRIES[kind]:
                others[entry] = f"{others[entry]} or {other}" if entry in others else other
    return others


def check_pages(pages: Sequence[Page], blocks: int) -> Iterator[tuple[int, InvalidEntry]]:
    """Yield the problems of a study's pages, each with the index of the page.

    Args:
        blocks: blocks a session.
    """
    for i, page in enumerate(pages):
        if i >= MOST_PAGES:
            yield i, InvalidEntry("title", f"a study has at most {MOST_PAGES} pages of instructions")
        if page.before_block > blocks:
            message = f"before_block must be at most {blocks}, the blocks a session, not {page.before_block}"
            yield i, InvalidEntry("before_block", message)


def check_questions(questions: Sequence[Question]) -> Iterator[tuple[int, InvalidEntry]]:
    """Yield the problems of a study's questions with each other, each with the index of the question."""
    place: dict[str, int] = {}
    characters = dict.fromkeys(TIMES, 0)
    for i, question in enumerate(questions):
        if i >= MOST_QUESTIONS:
            yield i, InvalidEntry("name", f"a study has at most {MOST_QUESTIONS} questions")
        if question.name in place:
            message = (
                f"two questions are called {question.name!r}, the {_th(place[question.name])} and the "
                f"{_th(i)}; each needs a name of its own"
            )
            yield i, InvalidEntry("name", message)
        place.setdefault(question.name, i)
        if question.kind == TEXT:
            characters[question.when] += question.max_length
            if characters[question.when] > MOST_CHARACTERS[question.when]:
                message = (
                    f"the texts asked {question.when} the task may have "
                    f"{MOST_CHARACTERS[question.when]} characters together, and up to here have "
                    f"{characters[question.when]}; set a smaller max_length"
                )
                yield i, InvalidEntry("max_length", message)
    for i, question in enumerate(questions):
        if question.shown_if is not None:
            problems = _condition_problems(questions, question.shown_if, place, i)
            yield from ((i, problem) for problem in problems)


def _condition_problems(
    questions: Sequence[Question], condition: ShownIf, place: Mapping[str, int], i: int
) -> Iterator[InvalidEntry]:
    if condition.question not in place:
        hint = did_you_mean(condition.question, place)
        yield InvalidEntry(("if", "question"), f"no question is called {brief(condition.question)}{hint}")
        return
    earlier = questions[place[condition.question]]
    if _turn(questions, place[condition.question]) >= _turn(questions, i):
        how = "itself" if earlier is questions[i] else f"{earlier.name}, which is asked later"
        yield InvalidEntry(
            ("if", "question"),
            f"question {questions[i].name} depends on {how}; a condition is on a question asked before",
        )
        return
    if earlier.kind not in (CHOICE, CHOICES, SCALE):
        yield InvalidEntry(
            ("if", "question"),
            f"question {earlier.name} is a {earlier.kind}; a condition is on a choice, choices or scale",
        )
        return
    if not condition.answers:
        yield InvalidEntry(("if", "is"), "is must be an answer, or a list of some")
    for k, answer in enumerate(condition.answers):
        if isinstance(answer, bool) or answer not in earlier.possible:
            options = ", ".join(repr(option) for option in earlier.possible[:8])
            hint = (
                did_you_mean(answer, [option for option in earlier.possible if isinstance(option, str)])
                if isinstance(answer, str)
                else ""
            )
            more = ", …" if len(earlier.possible) > 8 else ""
            yield InvalidEntry(
                ("if", "is", k),
                f"{brief(answer)} is no answer of question {earlier.name}; "
                f"its answers are {options}{more}{hint}",
            )


def _turn(questions: Sequence[Question], i: int) -> tuple[bool, int]:
    """Return what orders questions by when they are asked."""
    return questions[i].when == AFTER, i


def pages_of(questions: Sequence[Question]) -> list[tuple[str, list[Question]]]:
    """Return questions of one time in pages, each with its title; '' for automatic pages."""
    pages: list[tuple[str, list[Question]]] = []
    for question in questions:
        is_full = not question.page and pages and len(pages[-1][1]) >= QUESTIONS_PER_PAGE
        if not pages or pages[-1][0] != question.page or (is_full and question.shown_if is None):
            pages.append((question.page, []))
        pages[-1][1].append(question)
    return pages


def asked(questions: Sequence[Question], when: str) -> list[Question]:
    """Return the questions of a time, in their order."""
    return [question for question in questions if question.when == when]


def checked_answers(
    questions: Sequence[Question], when: str, given: Mapping[str, Any], earlier: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the valid answers to the questions of a time, by name, in their order.

    A question that is not shown has no answer, whatever was given; nor has an optional one without any.

    Args:
        given: answers as posted, by name.
        earlier: stored answers to the questions before the task.

    Raises:
        InvalidInput: names the question that is unknown, unanswered, or not answered as it must be.
    """
    wanted = asked(questions, when)
    for name in given:
        if name not in {question.name for question in wanted}:
            raise InvalidInput(
                f"no question {when} the task is called {brief(name)}", code="unknown_question"
            )
    answers: dict[str, Any] = {}
    for question in wanted:
        if question.shown_if is not None and not question.shown_if.is_met({**earlier, **answers}):
            continue
        value = given.get(question.name)
        value = value.strip() if isinstance(value, str) and question.kind == TEXT else value
        if value is None or value in ("", []):
            if question.required:
                raise InvalidInput(f"question {question.name} must be answered", code="unanswered_question")
            continue
        answers[question.name] = _checked_answer(question, value)
    return answers


def _checked_answer(question: Question, value: Any) -> Any:
    match question.kind:
        case "choice":
            is_valid, expected = value in question.choices, "one of its choices"
        case "choices":
            is_list = isinstance(value, list) and all(each in question.choices for each in value)
            is_valid, expected = is_list and len(set(value)) == len(value), "a list of its choices"
            value = [choice for choice in question.choices if choice in value] if is_valid else value
        case "scale":
            is_valid, expected = _is_whole(value), f"a whole number from 1 to {question.points}"
            is_valid = is_valid and 1 <= value <= question.points
            value = int(value) if is_valid else value
        case "number":
            is_valid, expected = _is_number_of(question, value), _number_expected(question)
            value = int(value) if is_valid and value == int(value) else value
        case _:
            is_valid = isinstance(value, str) and len(value) <= question.max_length
            expected = f"a text of at most {question.max_length} characters"
    if not is_valid:
        raise InvalidInput(
            f"the answer to {question.name} must be {expected}, not {brief(value)}", code="invalid_answer"
        )
    return value


def _is_whole(value: Any) -> bool:
    return _is_number(value) and value == math.floor(value)


def _is_number(value: Any) -> bool:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and -_LARGEST <= value <= _LARGEST


def _is_number_of(question: Question, value: Any) -> bool:
    if not _is_number(value):
        return False
    low = -_LARGEST if question.min is None else question.min
    high = _LARGEST if question.max is None else question.max
    if not low <= value <= high:
        return False
    steps = (value - (question.min or 0)) / question.step if question.step else 0
    return bool(abs(steps - round(steps)) <= 1e-9 * max(1, abs(steps)))


def _number_expected(question: Question) -> str:
    low = "" if question.min is None else f" from {question.min:g}"
    high = "" if question.max is None else f" up to {question.max:g}"
    step = f" in steps of {question.step:g}" if question.step not in (0, 1) else ""
    return f"a {'whole ' if _has_whole_steps(question) else ''}number{low}{high}{step}"


def _has_whole_steps(question: Question) -> bool:
    return question.step != 0 and all(value == int(value) for value in (question.step, question.min or 0))


def _check_text(
    entry: str, value: str, longest: int, is_long: bool = False, place: tuple[str | int, ...] = ()
) -> None:
    """Raise InvalidEntry unless a text can be stored and shown."""
    lines = value.replace("\n", " ").replace("\t", " ") if is_long else value
    if not value.strip() or not _is_printable(lines) or len(value) > longest:
        what = "a text" if is_long else "a line of text"
        message = f"{entry} must be {what} of 1 to {longest} characters, not {brief(value)}"
        raise InvalidEntry(place or entry, message)


def _is_printable(text: str) -> bool:
    """Return whether a text has no control characters and can be encoded; joiners and marks may be in it."""
    return not any(c < " " or "\x7f" <= c <= "\x9f" or "\ud800" <= c <= "\udfff" for c in text)


def _check_one_of(entry: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        options = ", ".join(f"'{each}'" for each in known[:-1])
        hint = did_you_mean(value, known)
        raise InvalidEntry(entry, f"{entry} must be {options} or '{known[-1]}', not {brief(value)}{hint}")


def _check_range(entry: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise InvalidEntry(entry, f"{entry} must be from {low} to {high}, not {brief(value)}")


def _th(index: int) -> str:
    number = index + 1
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
