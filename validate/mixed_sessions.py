"""Validation of comparisons between models if sessions show fakes of several models beside the same reals.

Each simulated session shows 50 reals and 50 fakes in equal parts of its models. The probability of an error
is Phi(m + a + b side + i + v), where a is the evaluator's leniency, b their bias to "real" (side is +1 for
fakes, -1 for reals), i their leniency with one model, and v the stimulus's difficulty, all normal. `table`
returns, for differences of scores, the coverage of the true difference by the intervals and how often equal
models are found to differ: by the comparison within evaluators, and by the deciding one, which is that over
pictures too where it is advised. Intervals of several pairs are simultaneous.
`python -m validate.mixed_sessions [STUDIES]` prints the table.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt

import numpy as np
from scipy.special import ndtr, ndtri

from backend.analysis.table.recognition import recognised
from backend.analysis.table.response_table import Answers, Coded
from backend.experiment.model_groups import model_groups
from backend.scoring import score_answers
from validate.studies import deviations

LEVEL = 0.95
SHOWN = 50
"""Number of fakes, and of reals, in a session."""
STUDIES = 400
REALS_RATE = 0.3
PEOPLE, BIAS, OF_MODEL, _PICTURES = 0.3, 0.3, 0.15, 0.6
"""SDs of effects in probits."""


@dataclass(frozen=True)
class Kind:
    """A kind of study."""

    rates: tuple[float, ...]
    """Error rate (0 to 1) on the fakes of each model, over people and stimuli."""
    evaluators: int
    """Evaluators of each model."""
    size: int
    """Models in a session."""
    pool: int | None
    """Number of reals, and of fakes of each model, from which sessions are drawn; None: nobody shares any."""
    reals: float = REALS_RATE
    """Error rate on the reals."""
    people: float = PEOPLE
    pictures: float = _PICTURES
    """SDs of evaluators' leniency, and of the difficulty of stimuli, in probits."""
    shape: str = "normal"
    """Distribution of evaluators' leniency, as in `studies.deviations`."""
    shown: int = SHOWN
    """Number of fakes, and of reals, in a session; fewer if the pool has fewer."""

    @property
    def differences(self) -> dict[tuple[str, str], float]:
        """True differences of scores, by pair; half of that of the errors on fakes, as reals are the same."""
        names = [f"m{i}" for i in range(len(self.rates))]
        return {
            (a, b): 50 * (self.rates[int(a[1:])] - self.rates[int(b[1:])]) for a, b in combinations(names, 2)
        }


KINDS = tuple(
    Kind(rates, evaluators, size, pool)
    for rates, size in (((0.4, 0.4), 2), ((0.1, 0.5), 2), ((0.3,) * 4, 4), ((0.3,) * 5, 2))
    for evaluators in (10, 30)
    for pool in (60, 5000)
)


def scales(kind: Kind) -> tuple[float, float]:
    """Return the SD of all effects and the noise of an answer in probits, to a fake and to a real."""
    of_reals = 1 + kind.people**2 + BIAS**2 + kind.pictures**2
    return sqrt(of_reals + OF_MODEL**2), sqrt(of_reals)


def study(kind: Kind, rng: np.random.Generator, of_pictures: np.random.Generator | None = None) -> Answers:
    """Return the responses of one study; `of_pictures` draws the difficulties of shared stimuli, if given."""
    names = tuple(f"m{i}" for i in range(len(kind.rates)))
    groups = model_groups(names, kind.size, kind.evaluators)
    repeats = -(-kind.evaluators // (len(groups) * kind.size // len(names)))
    spread, of_reals = scales(kind)
    people = len(groups) * repeats
    pool, shown = kind.pool or people * SHOWN, min(kind.shown, kind.pool or SHOWN)
    source = of_pictures if of_pictures and kind.pool else rng
    hardness = kind.pictures * source.standard_normal((len(names) + 1, pool))
    rows: list[tuple[np.ndarray, ...]] = []
    for person, group in enumerate(group for group in groups for _ in range(repeats)):
        leniency, bias = kind.people * deviations(kind.shape, None, rng), BIAS * rng.standard_normal()
        shares = [shown // kind.size + ((place - person) % kind.size < shown % kind.size)
                  for place in range(kind.size)]  # fmt: skip
        parts = [(len(names), shown, ndtri(kind.reals) * of_reals - bias)]
        for model, share in zip(group, shares, strict=True):
            code = names.index(model)
            leaning = bias + OF_MODEL * rng.standard_normal()
            parts.append((code, share, ndtri(kind.rates[code]) * spread + leaning))
        for code, count, middle in parts:
            own = person * SHOWN + np.arange(count)
            image = own if kind.pool is None else rng.choice(pool, count, replace=False)
            wrong = rng.random(count) < ndtr(middle + leniency + hardness[code, image])
            column = np.full(count, code)
            rows.append((column, np.full(count, person), column * pool + image, wrong))
    model, person, image, wrong = map(np.concatenate, zip(*rows, strict=True))
    is_fake = model < len(names)
    return recognised(
        Answers(
            "infinity",
            Coded(model.astype(np.int32), [*names, ""]),
            Coded(person.astype(np.int32), list(range(int(person.max()) + 1))),
            is_fake,
            is_fake != wrong,
            texts={"stimulus": Coded(image.astype(np.int32), list(map(str, range((len(names) + 1) * pool))))},
        )
    )


def outcome(kind: Kind, rng: np.random.Generator, studies: int) -> dict[str, float]:
    """Return shares of simulated studies: coverage, and rejections of the test of all models."""
    counts = dict.fromkeys(("within_covers", "decides_covers", "within_rejects", "decides_rejects"), 0)
    for _ in range(studies):
        scores = score_answers(study(kind, rng))
        over = scores["over_pictures"]
        is_over = over is not None and over["advised"]
        for name, found in (("within", scores), ("decides", over if is_over else scores)):
            counts[f"{name}_covers"] += _covers(found["pairs"], kind.differences)
            test = found["anova"] if found is scores else found
            p = min(pair["p"] for pair in found["pairs"]) if len(kind.rates) == 2 else test["p"]
            counts[f"{name}_rejects"] += p is not None and p < 1 - LEVEL
    return {name: count / studies for name, count in counts.items()}


def _covers(pairs: Sequence[dict], differences: dict[tuple[str, str], float]) -> bool:
    """Return whether all intervals contain the true differences."""
    for pair in pairs:
        a, b = pair["a"], pair["b"]
        truth = differences[a, b] if (a, b) in differences else -differences[b, a]
        if not pair["ci"][0] <= truth <= pair["ci"][1]:
            return False
    return True


def table(studies: int = STUDIES, seed: int = 1) -> Iterator[dict]:
    """Yield the outcome of each kind of study."""
    rng = np.random.default_rng(seed)
    for kind in KINDS:
        yield {"kind": kind, **outcome(kind, rng, studies)}


def run() -> dict:
    """Return the furthest coverage and false-positive rate of the deciding comparison."""
    rows = [*table()]
    covers = [row["decides_covers"] for row in rows]
    rejects = [row["decides_rejects"] for row in rows if len(set(row["kind"].rates)) == 1]
    error = sqrt(LEVEL * (1 - LEVEL) / STUDIES)
    least, most = LEVEL - 3 * error, 1 - LEVEL + 3 * error
    return {
        "mixed sessions: coverage of true differences by the deciding comparison, least of all kinds": {
            "value": min(covers),
            "agrees_if": f"at least {least:.3f}",
            "agrees": min(covers) >= least,
        },
        "mixed sessions: how often equal models differ by the deciding test at 5%, most of all kinds": {
            "value": max(rejects),
            "agrees_if": f"at most {most:.3f}",
            "agrees": max(rejects) <= most,
        },
    }


def main() -> None:
    studies = int(sys.argv[1]) if len(sys.argv) > 1 else STUDIES
    for row in table(studies):
        kind = row.pop("kind")
        print(kind, {name: round(value, 3) for name, value in row.items()}, flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
