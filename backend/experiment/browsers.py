"""Which engine a browser has: what its exactness hangs on, told without the browser's whole name.

Every browser of an iPhone or iPad has Apple's engine, whatever it is called.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

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
"""What the name that a browser gives itself contains, and the engine then; the first counts."""


def engine_of(device: Mapping[str, Any]) -> str:
    """Return the engine from what a browser told of its device; '' where that does not tell.

    A session whose device was deleted in time keeps the engine alone (`kept`).
    """
    kept_engine, name = device.get("engine"), device.get("user_agent")
    if kept_engine in ENGINES:
        return kept_engine
    found = (engine for mark, engine in _MARKS if isinstance(name, str) and mark in name)
    return next(found, "")


def retained(device: Mapping[str, Any]) -> dict[str, str]:
    """Return what stays of a device once its facts are deleted."""
    engine = engine_of(device)
    return {"engine": engine} if engine else {}


class MistimedFlashes:
    """Counts of answers, and of those to mistimed flashes, by engine."""

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
        """Answers that move a session on."""
        return self._answers.total()

    @property
    def mistimed(self) -> int:
        """Answers to mistimed flashes, for which others stand."""
        return self._mistimed.total()

    def rows(self) -> list[dict[str, Any]]:
        """Return `browser`, `sessions`, `responses`, `mistimed` and `share`, the most used engine first."""
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
