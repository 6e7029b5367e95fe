"""Browser engines: the precision of timing depends on the engine, which reveals less than the user agent.

Every browser on an iPhone or iPad uses Apple's engine, whatever its name.
"""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from backend.experiment.languages import LANGUAGES
from backend.experiment.session import Cursor

ENGINES = ("Chromium", "Firefox", "WebKit")
_MARKS = (
    ("CriOS/", "WebKit"),
    ("FxiOS/", "WebKit"),
    ("EdgiOS/", "WebKit"),
    ("Firefox/", "Firefox"),
    ("Chrome/", "Chromium"),
    ("Chromium/", "Chromium"),
    ("AppleWebKit/", "WebKit"),
)
"""Substrings of the user agent, each with the engine it indicates; the first match counts."""
_MOST_PEOPLE = 100000
_LANGUAGE_TAG = re.compile(r"unknown|[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8}){0,4}")


def engine_of(device: Mapping[str, Any]) -> str:
    """Return the engine of the browser that reported `device`; '' if it is unknown.

    After the retention period, a session stores only the engine of its device (`retained`).
    """
    kept_engine, name = device.get("engine"), device.get("user_agent")
    if kept_engine in ENGINES:
        return str(kept_engine)
    engines = (engine for mark, engine in _MARKS if isinstance(name, str) and mark in name)
    return next(engines, "")


def language_of(device: Mapping[str, Any]) -> str:
    """Return the language that the page was in; '' if it is unknown."""
    language = device.get("shown_language")
    return language if language in LANGUAGES else ""


def translated_to(device: Mapping[str, Any]) -> str:
    """Return what a machine had translated the page to when consent was given: BCP 47, `unknown`, or ''."""
    language = device.get("translated")
    return language if isinstance(language, str) and _LANGUAGE_TAG.fullmatch(language) else ""


def person_at_computer(device: Mapping[str, Any]) -> int | None:
    """Return which person this was at a shared computer, from 1; None in other studies."""
    number = device.get("person_at_computer")
    return number if isinstance(number, int) and 1 <= number <= _MOST_PEOPLE else None


def retained(device: Mapping[str, Any]) -> dict[str, Any]:
    """Return what remains of a device's data after its deletion, if known.

    That is the engine, and conditions of the experiment, of which there are few: the language of the page,
    what it was translated to, and which person it was at a shared computer.
    """
    facts = {
        "engine": engine_of(device),
        "shown_language": language_of(device),
        "person_at_computer": person_at_computer(device),
        "translated": translated_to(device),
    }
    return {name: value for name, value in facts.items() if value}


class MistimedFlashes:
    """Counts of sessions, answers, and answers to mistimed flashes, by engine."""

    def __init__(self) -> None:
        self._answers: Counter[str] = Counter()
        self._mistimed: Counter[str] = Counter()
        self._sessions: Counter[str] = Counter()

    def add(self, engine: str, cursor: Cursor) -> None:
        """Count a session's answers."""
        if cursor.trial_index or cursor.voided_answers:
            self._sessions[engine] += 1
            self._answers[engine] += cursor.trial_index
            self._mistimed[engine] += cursor.voided_answers

    @property
    def answers(self) -> int:
        """Number of answers that advanced a session to its next trial."""
        return self._answers.total()

    @property
    def mistimed(self) -> int:
        """Number of answers to mistimed flashes, which are not scored."""
        return self._mistimed.total()

    def rows(self) -> list[dict[str, Any]]:
        """Return `browser`, `sessions`, `responses`, `mistimed`, `share` by engine, most sessions first."""
        order = sorted(self._sessions, key=lambda engine: (-self._sessions[engine], engine))
        return [
            {
                "browser": engine,
                "sessions": self._sessions[engine],
                "responses": self._answers[engine],
                "mistimed": self._mistimed[engine],
                "share": self._mistimed[engine] / (self._answers[engine] + self._mistimed[engine]),
            }
            for engine in order
        ]
