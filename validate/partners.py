"""Coverage of the intervals of pairs of one source: the real clip whose first frame each model was given.

An evaluator's probit of being wrong has parts of their own, of the source, which all models' pairs of it have
in common, and of the pair. Each evaluator judges all pairs of one of two models, or 20 of them.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from backend.analysis.judgment_scores import scores_of
from backend.analysis.table.response_table import Answers, Coded
from validate.judged import scored

Row = dict[str, object]
_STUDIES, _PEOPLE, _PEOPLE_SD, _RATES = 600, 30, 0.3, (0.35, 0.45)


@dataclass(frozen=True)
class Partners:
    """A study of two models, whose pairs have the same sources."""

    sources: int
    shown: int
    sd: float
    """Of sources and pairs together, one half of the variance each."""

    def study(self, rng: np.random.Generator) -> Answers:
        """Return the responses, of 30 people a model."""
        of_source = self.sd * np.sqrt(0.5) * rng.standard_normal(self.sources)
        of_pair = of_source + self.sd * np.sqrt(0.5) * rng.standard_normal((2, self.sources))
        people = 2 * _PEOPLE
        model = np.repeat(np.arange(2, dtype=np.int32), _PEOPLE * self.shown)
        person = np.repeat(np.arange(people, dtype=np.int32), self.shown)
        source = np.concatenate([rng.permutation(self.sources)[: self.shown] for _ in range(people)])
        whole = np.sqrt(1 + _PEOPLE_SD**2 + self.sd**2)
        own = rng.normal(0, _PEOPLE_SD, people)[person] + of_pair[model, source]
        wrong = rng.random(len(model)) < ndtr(whole * ndtri(np.array(_RATES))[model] + own)
        is_right = rng.random(len(model)) < 0.5
        real = [f"r{number:03}" for number in range(self.sources)]
        names = [
            f"f{which}{name} {name}" if right else f"{name} f{which}{name}"
            for which in (0, 1)
            for name in real
            for right in (False, True)
        ]
        code = (2 * (model * self.sources + source) + is_right).astype(np.int32)
        return Answers(
            "pair", Coded(model, ["m0", "m1"]), Coded(person, [*range(people)]), is_right, is_right != wrong,
            texts={"stimulus": Coded(code, names)},
        )  # fmt: skip


CELLS = [
    Partners(count, shown, sd)
    for count, shown in ((20, 20), (30, 30), (50, 50), (50, 20))
    for sd in (0.4, 0.8)
]


def run() -> dict[str, Row]:
    """Return the results by name."""
    found = {}
    for cell in CELLS:
        name = f"partners: {cell.shown} of {cell.sources} pairs, SD {cell.sd:g}"
        for what, (covered, width) in covered_by(cell, np.random.default_rng(1)).items():
            found[f"{name}: coverage of the {what} (%)"] = {
                "value": covered,
                "agrees_if": "92 to 98",
                "agrees": 92 <= covered <= 98,
                "mean_width": width,
            }
    return found


def covered_by(
    cell: Partners, rng: np.random.Generator, studies: int = _STUDIES
) -> dict[str, tuple[float, float]]:
    """Return the percentage of intervals that cover, and their mean width (points)."""
    truths = 100 * np.array([*_RATES, _RATES[1] - _RATES[0]])
    ends = np.empty((studies, 3, 2))
    for number in range(studies):
        scores = scored(scores_of("pair").counted(cell.study(rng)))
        (pair,) = scores["over_pictures"]["pairs"]
        low, high = pair["ci"] if pair["a"] == "m1" else (-pair["ci"][1], -pair["ci"][0])
        ends[number] = [*(row["interval"]["ci"] for row in scores["models"]), (low, high)]
    holds = 100 * ((ends[..., 0] <= truths) & (truths <= ends[..., 1])).mean(axis=0)
    widths = (ends[..., 1] - ends[..., 0]).mean(axis=0)
    return {
        "scores": (float(holds[:2].mean()), float(widths[:2].mean())),
        "difference": (float(holds[2]), float(widths[2])),
    }
