"""Context of a report's sections: the findings with common look-ups, and facts about their source."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from backend.experiment.judgments import judgment_of, method_named
from backend.report import formatting


@dataclass(frozen=True)
class SourceInfo:
    """Facts for a report that are not in the responses."""

    title: str
    source: str
    """Name of the study or file that was scored."""
    date: str
    """Date of the report, YYYY-MM-DD."""
    version: str
    collected: str = ""
    """Dates of data collection, as a text."""
    study: Sequence[tuple[str, str]] = ()
    """The settings of the study, as name and value."""
    notes: Sequence[str] = ()
    looks: Mapping[str, Any] | None = None
    """The plan of looks and its decisions (`study_looks.exported`), with what was saved; None without any."""
    metrics: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Automatic metrics, by metric and then by model."""
    picture_metrics: Sequence[Mapping[str, Any]] = ()
    """The metrics that are kept with the study (`metrics.stored.stored_runs`)."""
    texts: Sequence[Mapping[str, Any]] = ()
    """What evaluators wrote, by question and evaluator."""
    thumbnails: Mapping[str, str] = field(default_factory=dict)
    """Thumbnails as `data:` URIs, by name of the stimulus."""
    are_clips: bool = False
    """Whether the stimuli are clips, of which the thumbnails are film strips."""
    marked: Mapping[str, str] = field(default_factory=dict)
    """Larger versions, of the stimuli on which marks are drawn."""


@dataclass(frozen=True)
class FindingsView:
    """The JSON of `findings.findings`."""

    data: Mapping[str, Any]

    @property
    def unit(self) -> str:
        return self.data["unit"]

    @property
    def method(self) -> str:
        """Name of the method for display, such as `HYPE-infinity`."""
        return method_named(self.data["method"]).title

    @property
    def has_fixed_exposures(self) -> bool:
        """Whether exposures are those of constant stimuli."""
        return method_named(self.data["method"]).has_fixed_exposures

    @property
    def has_exposures(self) -> bool:
        """Whether exposures follow from a staircase, or are fixed beforehand."""
        return method_named(self.data["method"]).has_exposures

    @property
    def noun(self) -> str:
        """What is scored: `model`, or `set` of items."""
        return "set" if judgment_of(self.data["method"]).has_items else "model"

    @property
    def answers(self) -> int:
        """Number of the judgment's answers."""
        return len(judgment_of(self.data["method"]).answers)

    @property
    def second(self) -> str:
        """The second answer of the judgment, such as `fake`."""
        return judgment_of(self.data["method"]).answers[1]

    @property
    def points(self) -> str:
        """The unit of differences and widths: percentage points, ms, or log-odds."""
        return "points" if self.unit == "percent" else self.unit

    @property
    def axis_unit(self) -> str:
        """The unit of scores, for the heads of columns: `%`, `ms`, or `log-odds`."""
        return "%" if self.unit == "percent" else self.unit

    @property
    def is_percent(self) -> bool:
        return self.unit == "percent"

    @property
    def alpha(self) -> float:
        return 1 - self.data["settings"]["level"]

    @property
    def level(self) -> str:
        """Confidence level of the intervals, such as `95%`."""
        return formatting.level(self.data["settings"]["level"])

    @property
    def findings(self) -> Mapping[str, Any]:
        return self.data["findings"]

    @cached_property
    def models(self) -> list[dict[str, Any]]:
        """The models, best first, with their scores and findings."""
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
        """`between` (each evaluator judged one model), `within` (each judged all models) or `mixed`."""
        return self.data["design"]

    @property
    def is_balanced(self) -> bool:
        """Whether the score weights errors on fakes and on reals equally, whatever their numbers."""
        return bool(self.data["balanced"])

    @property
    def alone(self) -> str:
        """`all` if no score's interval has a part of the pictures, which are then not known; else empty."""
        intervals = [row["interval"] for row in self.data["models"] if row["interval"]]
        return "" if any(one["of"] != "evaluators" for one in intervals) or not intervals else "all"

    @property
    def sampled(self) -> str:
        """What intervals over evaluators and pictures are over, given what the responses name."""
        return "evaluators alone" if self.alone else "evaluators and the pictures that they share"

    @property
    def is_unequal(self) -> bool:
        """Whether the variances between evaluators differ significantly by model (Brown–Forsythe)."""
        test = self.findings.get("equal_spread")
        return bool(test and test["p"] < self.alpha)

    @property
    def over_pictures(self) -> Mapping[str, Any] | None:
        """The test over evaluators and stimuli, if it is advised in place of the others; else None."""
        test = self.data.get("over_pictures")
        return test if test and test["advised"] else None

    @cached_property
    def pairs(self) -> list[dict[str, Any]]:
        """The pairwise tests, with interval and p of the deciding test, if it is another, and the verdicts.

        The deciding test is the one over evaluators and stimuli if it is advised, else Games and Howell's if
        variances differ, else the first test itself. `equivalence` and `effect` are those over evaluators and
        stimuli, advised or not, or None; `is_within` is None for a pair without a test of equivalence.
        """
        over = self.over_pictures["pairs"] if self.over_pictures else []
        howell = self.findings.get("games_howell") or [] if self.is_unequal else []
        others = {(row["a"], row["b"]): row for row in over or howell}
        both = {(row["a"], row["b"]): row for row in (self.data.get("over_pictures") or {}).get("pairs", ())}
        rows = []
        for pair in self.data["pairs"]:
            other = others.get((pair["a"], pair["b"]))
            extra = {"deciding_ci": other["ci"], "deciding_p": other["p"]} if other else {}
            decides = other["p"] if other else pair["p"]
            sizes = {key: both.get((pair["a"], pair["b"]), {}).get(key) for key in ("equivalence", "effect")}
            p = sizes["equivalence"] and sizes["equivalence"]["p_holm"]
            is_within = None if p is None else p < self.alpha
            rows.append({**pair, **extra, **sizes, "is_apart": decides < self.alpha, "is_within": is_within})
        return rows

    @property
    def margin(self) -> str | None:
        """The margin of equivalence of two models, such as `5 points`; None if no pair is tested for it."""
        tested = [row["equivalence"]["margin"] for row in self.pairs if row["is_within"] is not None]
        return f"{tested[0]:g} points" if tested else None

    @property
    def deciding(self) -> str | None:
        """Name of the deciding pairwise test; None if it is the first one."""
        if self.over_pictures:
            return "over pictures too"
        return "Games–Howell" if self.is_unequal else None

    def score(self, row: Mapping[str, Any]) -> str:
        """Return a model's score with its interval, as a text."""
        text = formatting.amount(row["score"], self.unit)
        ci = row["interval_ci"]
        return f"{text} ({self.level} interval {formatting.interval(ci, self.unit)})" if ci else text
