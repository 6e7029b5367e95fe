"""Sessions in which evaluators drift or repeat answers, and what `analysis/drift.py` finds in them.

An evaluator recognises a picture with some probability and otherwise guesses, "fake" with a probability of
their own. In HYPE-time recognition is a logistic function of log exposure, with a staircase of three blocks
of 150; in HYPE-infinity it is constant, in one session of 100. Evaluators differ in threshold (SD of 0.5) or
error (8 points), and in the log odds of guessing "fake" (SD of 1).

`python -m validate.drift [STUDIES]` prints the table of docs/statistics.md.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit, logit

from backend.analysis.drift import drift
from backend.analysis.models.simulated_staircase import step
from backend.analysis.table.response_table import Answers, Coded
from backend.experiment.staircase import NAMED_RULES, StaircaseRule, equilibrium_accuracy

STUDIES = 1000
"""Studies of each of the first four populations; of others there are three tenths as many."""
EVALUATORS = (10, 30)
_LAPSE = 0.02


@dataclass(frozen=True)
class Sessions:
    """A population of evaluators."""

    threshold_ms: float | None = 250
    """That of the typical evaluator in the middle of the session; None: HYPE-infinity."""
    error: float = 0.3
    """HYPE-infinity: the mean share of wrong answers (0 to 1) in the middle of the session."""
    change: float = 0.0
    """From the session's beginning to its end: of thresholds, as a ratio less 1; of the share of errors."""
    repeats: float = 0.0
    """Probability of repeating the previous answer whatever the picture; below 0, of alternating."""
    leaning: float = 0.0
    """Mean log odds of guessing "fake"."""
    slope: float = 2.0
    rule: StaircaseRule = NAMED_RULES["hype-2019"]

    @property
    def blocks(self) -> tuple[int, int]:
        """Number of blocks, and trials of each."""
        return (1, 100) if self.threshold_ms is None else (3, 150)

    def studies(self, count: int, evaluators: int, rng: np.random.Generator) -> list[Answers]:
        """Return the responses of `count` studies, simulated together."""
        columns = self._played(count * evaluators, rng)
        parts = (slice(i * evaluators, (i + 1) * evaluators) for i in range(count))
        return [self._answers(*(column[part] for column in columns)) for part in parts]

    def _played(self, people: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return truths, answers and exposures (ms), of shape (people, trials of the session)."""
        blocks, trials = self.blocks
        shape = people, blocks * trials
        fake, said, shown = np.empty(shape, bool), np.empty(shape, bool), np.empty(shape)
        own, leaning = rng.standard_normal(people), expit(self.leaning + rng.standard_normal(people))
        halves = np.arange(trials) % 2 == 1
        for trial in range(shape[1]):
            if trial % trials == 0:
                deck = halves[rng.random((people, trials)).argsort(axis=1)]
                ms, in_a_row = np.full(people, float(self.rule.start_ms)), np.zeros(people, int)
            truth = deck[:, trial % trials]
            is_seen = rng.random(people) < self._recognition(ms, own, (trial + 0.5) / shape[1] - 0.5)
            answer = np.where(is_seen, truth, rng.random(people) < leaning)
            if trial % trials:
                previous = said[:, trial - 1] == (self.repeats > 0)
                answer = np.where(rng.random(people) < abs(self.repeats), previous, answer)
            fake[:, trial], said[:, trial], shown[:, trial] = truth, answer, ms
            ms, in_a_row = step(self.rule, ms, in_a_row, answer == truth)
        return fake, said, shown

    def _recognition(self, ms: np.ndarray, own: np.ndarray, time: float) -> np.ndarray:
        """Return probabilities of recognising a picture; `time` is from -0.5 to 0.5."""
        if self.threshold_ms is None:
            return np.clip(1 - 2 * (self.error + 0.08 * own + self.change * time), 0, 1)
        seen = 2 * equilibrium_accuracy(self.rule) - 1
        middle = np.log(self.threshold_ms) + 0.5 * own + np.log1p(self.change) * time
        middle -= logit(seen / (1 - 2 * _LAPSE)) / self.slope
        return (1 - 2 * _LAPSE) * expit(self.slope * (np.log(ms) - middle))

    def _answers(self, fake: np.ndarray, said: np.ndarray, shown: np.ndarray) -> Answers:
        people, trials = fake.shape
        trial, is_timed = np.tile(np.arange(trials), people), self.threshold_ms is not None
        return Answers(
            "time" if is_timed else "infinity",
            Coded(np.zeros(fake.size, np.int32), ["m"]),
            Coded(np.repeat(np.arange(people, dtype=np.int32), trials), [f"e{i}" for i in range(people)]),
            fake.ravel(),
            said.ravel(),
            block=(trial // self.blocks[1]).astype(np.int32) if is_timed else None,
            exposure_ms=shown.ravel() if is_timed else None,
            numbers={"trial_index": trial.astype(float)},
        )


TIMED, UNTIMED = Sessions(), Sessions(None)
STEADY = {
    "HYPE-time, 40 ms": replace(TIMED, threshold_ms=40),
    "HYPE-time, 250 ms": TIMED,
    "HYPE-time, 250 ms, leaning to “real”, slope 4": replace(TIMED, leaning=-1, slope=4),
    "HYPE-time, 250 ms, `weighted-75`": replace(TIMED, rule=NAMED_RULES["weighted-75"], leaning=-1),
    "HYPE-time, 1500 ms, leaning to “real”": replace(TIMED, threshold_ms=1500, leaning=-1),
    "HYPE-infinity, 10% wrong": replace(UNTIMED, error=0.1),
    "HYPE-infinity, 50% wrong, leaning to “real”": replace(UNTIMED, error=0.5, leaning=-1),
}
CHANGING = {
    "HYPE-time, 250 ms, thresholds −20%": replace(TIMED, change=-0.2),
    "HYPE-time, 250 ms, thresholds +20%": replace(TIMED, change=0.2),
    "HYPE-time, 100 ms, thresholds +20%": replace(TIMED, threshold_ms=100, change=0.2),
    "HYPE-infinity, 30% wrong, +10 points": replace(UNTIMED, change=0.1),
}
REPEATING = {
    "HYPE-time, 250 ms, 3 of 100 answers repeated": replace(TIMED, repeats=0.03),
    "HYPE-infinity, 30% wrong, 5 of 100 answers alternated": replace(UNTIMED, repeats=-0.05),
}


def rates(of: Sessions, evaluators: int, studies: int, rng: np.random.Generator) -> dict[str, float]:
    """Return the share of studies in which each of the two is found at .05, and the mean estimates."""
    found = [drift(answers, 0.95) for answers in of.studies(studies, evaluators, rng)]
    return {
        f"{name}{key}": float(np.mean([statistic(one[name]) for one in found]))
        for name in ("change", "previous")
        for key, statistic in (("", lambda one: one["p"] < 0.05), ("_mean", lambda one: one["estimate"]))
    }


def table(studies: int = STUDIES, seed: int = 1) -> Iterator[str]:
    """Yield the table in Markdown: change, previous answer, by number of evaluators."""
    yield f"| sessions | {' | '.join(f'{n} evaluators' for n in EVALUATORS)} | mean estimates |"
    yield f"| --- {'| --- ' * (len(EVALUATORS) + 1)}|"
    for i, (name, of) in enumerate({**STEADY, **CHANGING, **REPEATING}.items()):
        rng = np.random.default_rng([seed, i])
        count = studies if i < 4 else 3 * studies // 10
        rows = [rates(of, evaluators, count, rng) for evaluators in EVALUATORS]
        cells = [f"{100 * row['change']:.1f}%, {100 * row['previous']:.1f}%" for row in rows]
        unit = " points" if of.threshold_ms is None else "%"
        means = f"{rows[-1]['change_mean']:.1f}{unit}, {rows[-1]['previous_mean']:.1f} points"
        yield f"| {name} | {' | '.join(cells)} | {means.replace('-0.0', '0.0').replace('-', '−')} |"


if __name__ == "__main__":
    for line in table(*map(int, sys.argv[1:])):
        print(line, flush=True)  # noqa: T201
