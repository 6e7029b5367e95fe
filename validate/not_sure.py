"""Coverage of the interval of a score, and of the share of answers `not_sure`, where people may be not sure.

What an evaluator sees of a picture speaks for the truth by a normal signal: of mean `signal`, with parts of
the evaluator's and of the picture's own. Between -c and c the evaluator is not sure, c being log-normal over
people; further down the answer is wrong. What is true of the population follows by quadrature over c.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from backend.analysis.scores import score_models
from backend.analysis.table.response_table import Answers, Coded

Row = dict[str, object]
_STUDIES = 1000
_PEOPLE_SD, _PICTURE_SD, _DOUBT_SD = 0.3, 0.5, 0.8
"""SDs of evaluators' and pictures' parts in the signal, and of the logarithm of c."""
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(61)


@dataclass(frozen=True)
class Doubters:
    """A study of people who may be not sure."""

    signal: float
    doubt: float
    """The median of c, in SDs of the signal's noise."""
    people: int
    answers: int
    """Of each evaluator, half of them to fakes."""
    pictures: int
    """Of which each evaluator is shown some, drawn at random."""

    def truth(self) -> tuple[float, float]:
        """Return the expected score and share of answers `not_sure`, in percent."""
        sd = np.sqrt(1 + _PEOPLE_SD**2 + _PICTURE_SD**2)
        doubt = self.doubt * np.exp(_DOUBT_SD * _NODES)
        wrong, up_to_doubt = (ndtr((sign * doubt - self.signal) / sd) for sign in (-1, 1))
        weights = 100 * _WEIGHTS / _WEIGHTS.sum()
        return float(weights @ (wrong + up_to_doubt) / 2), float(weights @ (up_to_doubt - wrong))

    def study(self, rng: np.random.Generator) -> Answers:
        """Return the responses of one study of one model."""
        half = self.answers // 2
        shown = np.stack(
            [
                np.concatenate([start + rng.permutation(self.pictures // 2)[:half] for start in (0, 1)])
                for _ in range(self.people)
            ]
        )
        is_fake = np.tile(np.repeat([False, True], half), (self.people, 1))
        picture = 2 * shown + is_fake  # distinct numbers for reals and fakes
        own = rng.normal(0, _PICTURE_SD, 2 * self.pictures + 4)[picture]
        own = own + rng.normal(0, _PEOPLE_SD, (self.people, 1)) + rng.standard_normal(picture.shape)
        doubt = self.doubt * np.exp(rng.normal(0, _DOUBT_SD, (self.people, 1)))
        evidence = self.signal + own
        names = [f"p{i:05}" for i in range(2 * self.pictures + 4)]
        codes = np.repeat(np.arange(self.people), self.answers).astype(np.int32)
        return Answers(
            "infinity",
            Coded(np.zeros(codes.size, np.int32), ["m"]),
            Coded(codes, [f"e{i}" for i in range(self.people)]),
            is_fake.ravel(),
            (is_fake == (evidence > 0)).ravel(),
            texts={"stimulus": Coded(picture.ravel().astype(np.int32), names)},
            not_sure=(np.abs(evidence) < doubt).ravel(),
        )


CELLS = {
    "30 people, 100 shared pictures": Doubters(0.5, 0.25, 30, 100, 100),
    "10 people, 50 shared pictures": Doubters(0.5, 0.25, 10, 50, 50),
    "30 people, 100 of 1,000 pictures, at 50%": Doubters(0.0, 0.25, 30, 100, 1000),
    "30 people, hardly any doubt": Doubters(0.8, 0.03, 30, 100, 100),
    "30 people, mostly doubt": Doubters(0.5, 1.0, 30, 100, 100),
}


def run() -> dict[str, Row]:
    """Return the results by name."""
    found = {}
    for name, cell in CELLS.items():
        for what, (covered, width) in _covered(cell, np.random.default_rng(1)).items():
            found[f"not sure: {name}: coverage of the {what} (%)"] = {
                "value": covered,
                "agrees_if": "92 to 98.5",
                "agrees": 92 <= covered <= 98.5,
                "mean_width": width,
            }
    return found


def _covered(cell: Doubters, rng: np.random.Generator) -> dict[str, tuple[float, float]]:
    """Return the percentage of studies whose intervals cover, and the mean width of these (points)."""
    score, unsure = cell.truth()
    ends: list[tuple[list[float], list[float]]] = []
    for _ in range(_STUDIES):
        (row,) = score_models(cell.study(rng))
        ends.append((row["interval"]["ci"], row.get("not_sure_ci", [0.0, 0.0])))
    low, high = np.moveaxis(np.array(ends), 2, 0)
    holds = (low <= [score, unsure]) & ([score, unsure] <= high)
    covered, width = 100 * holds.mean(axis=0), (high - low).mean(axis=0)
    parts = zip(covered.tolist(), width.tolist(), strict=True)
    return dict(zip(("score", "share of `not_sure`"), parts, strict=True))
