"""Findings with the look-ups that every section makes, and what is known besides them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from backend.report import formatting


@dataclass(frozen=True)
class About:
    """What a report says that the responses do not tell."""

    title: str
    source: str
    """The study, or the file, that was scored."""
    date: str
    """Of the report: YYYY-MM-DD."""
    version: str
    collected: str = ""
    """When the answers were given, in words."""
    study: Sequence[tuple[str, str]] = ()
    """The settings of the study, as name and value."""
    notes: Sequence[str] = ()
    metrics: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Automatic metrics: by metric, then by model."""
    thumbnails: Mapping[str, str] = field(default_factory=dict)
    """By image: a small picture as a `data:` URI."""


@dataclass(frozen=True)
class Found:
    """The JSON of `findings.findings`."""

    data: Mapping[str, Any]

    @property
    def unit(self) -> str:
        return self.data["unit"]

    @property
    def points(self) -> str:
        """The unit of differences and widths: percentage points, or ms."""
        return "points" if self.unit == "percent" else "ms"

    @property
    def is_percent(self) -> bool:
        return self.unit == "percent"

    @property
    def alpha(self) -> float:
        return 1 - self.data["settings"]["level"]

    @property
    def level(self) -> str:
        """Of the intervals, as `95%`."""
        return formatting.level(self.data["settings"]["level"])

    @property
    def findings(self) -> Mapping[str, Any]:
        return self.data["findings"]

    @cached_property
    def models(self) -> list[dict[str, Any]]:
        """The models best first: their scores and what was found of each."""
        more = {row["model"]: row for row in self.findings["models"]}
        return [
            {**more[row["model"]], **row, "interval_ci": row["interval"] and row["interval"]["ci"]}
            for row in self.data["models"]
        ]

    @property
    def names(self) -> list[str]:
        return [row["model"] for row in self.models]

    @property
    def design(self) -> str:
        """`between`: different people each; `within`: all people all models; or `mixed`."""
        return self.data["design"]

    @property
    def is_balanced(self) -> bool:
        """Whether the score weighs errors on fakes and on reals alike, however many there were of each."""
        return bool(self.data["balanced"])

    @property
    def is_unequal(self) -> bool:
        """Whether evaluators of some models differ more among themselves than those of others."""
        test = self.findings.get("equal_spread")
        return bool(test) and test["p"] < self.alpha

    @property
    def over_pictures(self) -> Mapping[str, Any] | None:
        """The test over people and pictures, where it is to be read before the others."""
        test = self.data.get("over_pictures")
        return test if test and test["advised"] else None

    @cached_property
    def pairs(self) -> list[dict[str, Any]]:
        """Tukey's pairs, those of the test that decides beside them where it is another, and the verdict.

        Over people and pictures where pictures are not negligible; else Games and Howell's where
        spreads differ.
        """
        over = self.over_pictures["pairs"] if self.over_pictures else []
        howell = self.findings.get("games_howell") or [] if self.is_unequal else []
        others = {(row["a"], row["b"]): row for row in over or howell}
        rows = []
        for pair in self.data["pairs"]:
            other = others.get((pair["a"], pair["b"]))
            extra = {"deciding_ci": other["ci"], "deciding_p": other["p"]} if other else {}
            decides = other["p"] if other else pair["p"]
            rows.append({**pair, **extra, "is_apart": decides < self.alpha})
        return rows

    @property
    def deciding(self) -> str | None:
        """The name of the pairs that decide, where they are not Tukey's."""
        if self.over_pictures:
            return "over pictures too"
        return "Games–Howell" if self.is_unequal else None

    def score(self, row: Mapping[str, Any]) -> str:
        """Return a model's score with its interval, in words."""
        text = formatting.amount(row["score"], self.unit)
        ci = row["interval_ci"]
        return f"{text} ({self.level} interval {formatting.interval(ci, self.unit)})" if ci else text
