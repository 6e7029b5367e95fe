"""Validation of tests between runs of one study, over the cells of `grid.py`.

Two runs of each study show the same stimuli to other people. Without a change, the share of studies in which
one is found (`p` below .05) has to be at most 6%; where scores differ by just the margin of equivalence, some
5 points, so does the share in which they are called equivalent, while the interval covers that difference in
93% or more. In every other cell half of the variance of stimuli is the run's own: their interaction with it.
`python -m validate.replication [STUDIES [JUDGMENT]]` prints the table, and writes that of all judgments to
docs/replication.md.
"""

import math
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from backend.analysis.comparisons.run_contrasts import RunScore, contrast
from backend.analysis.distributions.inference import Component, Estimate, Seen, as_of_share, mean_of
from backend.analysis.judgment_scores import scores_of
from backend.analysis.judgments.more_real import strength_scores
from backend.analysis.table.response_table import Answers, Coded
from validate.grid import cells
from validate.inferences import DOCS, put
from validate.judged import JUDGED, RESAMPLES, Cell, dealt, time_study
from validate.mixed_sessions import BIAS
from validate.studies import deviations

LEVEL, MARGIN, STUDIES = 0.95, 5.0, 1000
OTHERS = {"pair": 600, "exposures": 300, "tournament": 200}
"""Studies of a cell of the other judgments, in which nothing changed."""
CHANGED = {"2AFC": (600, 3), "JND": (600, 4), "time": (300, 3)}
"""Studies of a cell, and seed, of judgments of which a changed run is simulated as well."""
LONGER = 1.2
_ITEMS = 40
"""Items that a person judges, at most."""
_MANY = 400_000
PAGE = DOCS.with_name("replication.md")
MARKS = ("<!-- replication: python -m validate.replication -->", "<!-- end of replication -->")
Row = dict[str, Any]


def of_shares(cell: Cell, studies: int, rng: np.random.Generator) -> Row:
    """Return the rates of false verdicts of runs of real or fake, and the coverage of a difference of 5."""
    own = 0.5 if cell.seed % 2 else 0.0
    counts = dict.fromkeys(("false_change", "found_equal", "false_equal", "covers", "found_change"), 0)
    shares = cell.share, cell.share + MARGIN / 100
    apart = true_score(cell, shares[1]) - true_score(cell, shares[0])
    for _ in range(studies):
        for other in shares:
            seed = int(rng.integers(2**60))
            pair = [_run(cell, share, seed, own, rng) for share in (cell.share, other)]
            _count(counts, contrast(pair, (-1.0, 1.0), LEVEL), apart if other > cell.share else 0.0)
    return {name: count / studies for name, count in counts.items()}


def true_score(cell: Cell, share: float) -> float:
    """Return the mean score (percent) over people and stimuli, which is not `share` if people are skewed."""
    spread = np.sqrt(1 + cell.people_sd**2 + BIAS**2 + cell.pictures_sd**2)
    able = cell.people_sd * deviations(cell.shape, _MANY, np.random.default_rng(0))
    return float(
        100 * ndtr((ndtri(share) * spread + able) / np.hypot(np.hypot(1, BIAS), cell.pictures_sd)).mean()
    )


def _run(cell: Cell, share: float, seed: int, own: float, rng: np.random.Generator) -> RunScore:
    """Return the score of a run of real or fake, as `run_scores` has it; drawn as in `mixed_sessions.py`.

    Args:
        seed: of the effects of stimuli that all runs have in common.
        own: the run's own share (0 to 1) of the variance of these effects.
    """
    people, shown = cell.people, cell.shown
    pool = cell.pool or people * shown
    spread = np.sqrt(1 + cell.people_sd**2 + BIAS**2 + cell.pictures_sd**2)
    able = ndtri(share) * spread + cell.people_sd * deviations(cell.shape, people, rng)
    bias, common = BIAS * rng.standard_normal(people), np.random.default_rng(seed)
    wrong = np.empty((2, people, shown))
    images = np.empty((2, people, shown), int)
    for side in range(2):
        alike, apart = (each.standard_normal(pool) for each in (common, rng))
        hard = cell.pictures_sd * (np.sqrt(1 - own) * alike + np.sqrt(own) * apart)
        images[side] = dealt(people, shown, cell.pool, rng)
        middle = able + (bias if side else -bias)
        wrong[side] = rng.random((people, shown)) < ndtr(middle[:, None] + hard[images[side]])
    names = [str(image) for image in range(pool)]
    person, weight = np.repeat(np.arange(people), shown), np.full(people * shown, 1 / (2 * shown))
    sides = [
        Seen(
            person,
            person,
            images[side].ravel(),
            (own_side - own_side.mean()).ravel() * weight,
            weight,
            people,
        )
        for side, own_side in enumerate(wrong)
    ]
    values = mean_of(wrong.mean(axis=(0, 2)))
    independent = Component(values.value * (1 - values.value) / wrong.size, math.inf)
    over_people, alone = (
        as_of_share(each, values.value, wrong.size).times(100) for each in (values.people, independent)
    )
    return RunScore(
        Estimate(100 * values.value, over_people), alone, sides, [names, names], 100.0, values.value
    )


def _count(counts: dict[str, int], found: Any, true: float, margin: float = MARGIN) -> None:
    if not found.total.variance > 0:
        return
    if not true:
        counts["false_change"] += found.p() < 1 - LEVEL
        counts["found_equal"] += found.p_within(margin) < 1 - LEVEL
        return
    low, high = found.interval(LEVEL)
    counts["false_equal"] += found.p_within(abs(true)) < 1 - LEVEL
    counts["found_change"] += found.p() < 1 - LEVEL
    counts["covers"] += low <= true <= high


def of_changes(cell: Cell, studies: int, rng: np.random.Generator) -> Row:
    """Return the rates as of `of_shares`, of runs of 2AFC, JND or HYPE-time.

    In the changed run `share` is 5 points higher; of HYPE-time, thresholds are a fifth longer. The mean of
    the differences is taken for true.
    """
    counts = dict.fromkeys(("false_change", "found_equal", "false_equal", "covers", "found_change"), 0)
    pairs = []
    for _ in range(studies):
        own = replace(cell, seed=int(rng.integers(2**31)), is_mixed=False)
        runs = [_changing_run(own, rng, is_changed, cell.seed % 2) for is_changed in (False, False, True)]
        if all(runs):
            pairs.append([contrast((runs[0], other), (-1.0, 1.0), LEVEL) for other in runs[1:]])
    true = float(np.mean([moved.value for _, moved in pairs]))
    for same, moved in pairs:
        _count(counts, same, 0.0, abs(true))
        _count(counts, moved, true)
    return {**{name: count / len(pairs) for name, count in counts.items()}, "change": true}


def _changing_run(cell: Cell, rng: np.random.Generator, is_changed: bool, is_own: int) -> RunScore | None:
    if cell.judgment == "time":
        answers = time_study(cell, cell.people, rng, True, LONGER if is_changed else 1.0)
    else:
        share = cell.share + is_changed * MARGIN / 100
        answers = votes(replace(cell, share=share), rng, 0.5 if is_own else 0.0)
    return next(iter(_scores(answers).values()), None)


def votes(cell: Cell, rng: np.random.Generator, own: float) -> Answers:
    """Return answers of 2AFC or JND: for `p1`, or `same`, with Phi(m + a + v), of person a and item v.

    Args:
        own: as in `_run`.
    """
    people, shown = cell.people, min(_ITEMS, cell.shown)
    pool = cell.pool or people * shown
    item_sd = 2 * cell.pictures_sd
    alike, apart = (each.standard_normal(pool) for each in (np.random.default_rng(cell.seed), rng))
    item = item_sd * (np.sqrt(1 - own) * alike + np.sqrt(own) * apart)
    able = cell.people_sd * deviations(cell.shape, people, rng)
    images = dealt(people, shown, cell.pool, rng)
    middle = ndtri(cell.share) * math.sqrt(1 + item_sd**2 + cell.people_sd**2) + able[:, None]
    chosen = (rng.random(images.shape) < ndtr(middle + item[images])).ravel().astype(np.int32)
    person = np.repeat(np.arange(people, dtype=np.int32), shown)
    none, zeros = np.zeros(len(person), bool), np.zeros(len(person), np.int32)
    texts = {"item": Coded(images.ravel().astype(np.int32), [f"m/{image}" for image in range(pool)])}
    if cell.judgment == "2AFC":
        texts |= {"left": Coded(zeros, ["p0"]), "right": Coded(zeros, ["p1"])}
    words = ["left", "right"] if cell.judgment == "2AFC" else ["different", "same"]
    texts["response"] = Coded(chosen, words)
    method = cell.judgment.lower()
    return Answers(method, Coded(zeros, ["m"]), Coded(person, [*range(people)]), none, none, texts=texts)


def of_judgment(cell: Cell, studies: int, rng: np.random.Generator) -> Row:
    """Return the rate of false changes of runs of any judgment, over models."""
    judged, false, tested = JUDGED[cell.judgment], 0, 0
    for _ in range(studies):
        same = replace(cell, seed=int(rng.integers(2**31)), is_mixed=False)
        one, other = (_scores(judged.draw(same, cell.people, rng, True)) for _ in range(2))
        for model in one.keys() & other.keys():
            found = contrast((one[model], other[model]), (-1.0, 1.0), LEVEL)
            if found.total.variance > 0:
                tested += 1
                false += found.p() < 1 - LEVEL
    return {"false_change": false / max(tested, 1), "tested": tested}


def _scores(answers: Any) -> dict[str, RunScore]:
    if isinstance(answers, Answers):
        return scores_of(answers.method).run_scores(answers, LEVEL)
    return strength_scores(answers, RESAMPLES)


def table(studies: int = STUDIES, seed: int = 3, only: str = "") -> Iterator[tuple[Cell, Row]]:
    """Yield the results of each cell, or of those of one judgment."""
    rng = np.random.default_rng(seed)
    for cell in cells("infinity") if only in ("", "infinity") else ():
        yield replace(cell, is_mixed=False, step=0.0), of_shares(cell, studies, rng)
    for judgment, (most, own_seed) in CHANGED.items():
        own = np.random.default_rng(own_seed)
        for cell in cells(judgment) if only in ("", judgment) else ():
            yield cell, of_changes(cell, min(studies, most), own)
    for judgment, most in OTHERS.items():
        for cell in cells(judgment) if only in ("", judgment) else ():
            yield cell, of_judgment(cell, min(studies, most), rng)


def as_markdown(found: list[tuple[Cell, Row]]) -> str:
    """Return the table: for each judgment the least, median and most of the cells, and their mean."""
    lines = [
        "| judgment | share of pairs of runs in which | least | median | most | all |",
        "| --- " * 6 + "|",
    ]
    words = {
        "false_change": "a change is found without one",
        "false_equal": "runs are equivalent within as much as scores differ",
        "covers": "the interval holds the difference",
        "found_change": "the change is found",
    }
    for judgment in dict.fromkeys(cell.judgment for cell, _ in found):
        mine = [row for cell, row in found if cell.judgment == judgment]
        for name, text in words.items():
            if name in mine[0]:
                shares = np.array([100 * row[name] for row in mine])
                ends = (*np.quantile(shares, [0, 0.5, 1]), shares.mean())
                told = " | ".join(f"{end:.1f}%" for end in ends)
                lines.append(f"| {judgment}, {len(mine)} cells | {text} | {told} |")
    return "\n".join(lines)


def main() -> None:
    found = []
    studies, only = int((*sys.argv, STUDIES)[1]), (*sys.argv, "", "")[2]
    for cell, row in table(studies, only=only):
        print(cell, {name: round(value, 3) for name, value in row.items()}, flush=True)  # noqa: T201
        found.append((cell, row))
    text = as_markdown(found)
    print(text)  # noqa: T201
    if not only:
        put(PAGE, MARKS, text)


if __name__ == "__main__":
    main()
