"""How often intervals of a score cover the true score, by simulation.

`python -m validate.coverage [--studies N]` prints the table. A study is n evaluators of 100 images each.
An evaluator's own rate of wrong answers is a draw from a beta distribution about the model's rate (or
the rate itself), the answers are binomial. The papers' spreads are their SDs between evaluators
(of the workshop paper's table 6), from which the binomial part is taken off.
"""

import argparse
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from backend.analysis.bootstrap import Lattice, exact_on_lattice
from backend.analysis.intervals import better_interval
from backend.analysis.psychometric import Trials, fit, interval_over_evaluators

IMAGES = 100
STUDIES = 10_000
THRESHOLDS = 300
LEVEL = 0.95
SLOPE = 3.0
PUBLISHED = {
    "WGAN-GP": (0.038, 0.027),
    "BEGAN": (0.100, 0.084),
    "ProGAN": (0.403, 0.048),
    "StyleGAN": (0.507, 0.069),
    "StyleGAN trunc": (0.276, 0.134),
    "StyleGAN no-trunc": (0.190, 0.097),
}
"""Mean and SD between evaluators of HYPE-infinity: tables 1 and 6 of the workshop paper, as shares."""


@dataclass(frozen=True)
class Population:
    """Evaluators of one model: the rate of wrong answers, and its SD between evaluators, images apart."""

    name: str
    rate: float
    spread: float = 0.0

    @classmethod
    def published(cls, name: str) -> "Population":
        rate, sd = PUBLISHED[name]
        return cls(name, rate, math.sqrt(max(0.0, sd**2 - rate * (1 - rate) / IMAGES)))

    def wrong(self, size: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
        """Return wrong answers of `IMAGES`, shape (studies, evaluators)."""
        if not self.spread:
            return rng.binomial(IMAGES, self.rate, size)
        both = self.rate * (1 - self.rate) / self.spread**2 - 1
        return rng.binomial(IMAGES, rng.beta(self.rate * both, (1 - self.rate) * both, size))


BINOMIAL = [Population("binomial", rate) for rate in (0.01, 0.02, 0.05, 0.1, 0.3, 0.5)]
SPREAD = [Population(f"SD of 8 points, rate {rate:g}", rate, 0.08) for rate in (0.1, 0.3, 0.5)]
PAPERS = [Population.published(name) for name in PUBLISHED]


def coverage(of: Population, evaluators: int, studies: int, rng: np.random.Generator) -> dict[str, float]:
    """Return the shares of studies whose percentile, and whose better, interval holds the true rate."""
    truth, drawn = 100 * of.rate, of.wrong((studies, evaluators), rng)
    holds = {"percentile": 0, "better": 0, "printed": 0, "advised": 0, "above": 0, "below": 0}
    for wrong in drawn:
        found = exact_on_lattice(Lattice(wrong, Fraction(100, IMAGES)), evaluators, LEVEL)
        better = better_interval(100 * wrong / IMAGES, IMAGES * evaluators, "infinity", LEVEL)
        low, high = better["ci"]
        is_percentile = found.low - 1e-9 <= truth <= found.high + 1e-9
        holds["percentile"] += is_percentile
        holds["better"] += low <= truth <= high
        holds["advised"] += better["advised"]
        holds["printed"] += (low <= truth <= high) if better["advised"] else is_percentile
        holds["above"] += truth > high
        holds["below"] += truth < low
    return {name: float(count) / studies for name, count in holds.items()}


def table(studies: int, seed: int = 1) -> Iterator[dict]:
    """Yield a row for each population and number of evaluators."""
    rng = np.random.default_rng(seed)
    for population in [*BINOMIAL, *SPREAD, *PAPERS]:
        for evaluators in (5, 10, 20, 30):
            yield {
                "population": population.name,
                "rate": population.rate,
                "evaluators": evaluators,
                **coverage(population, evaluators, studies, rng),
            }


def threshold_coverage(studies: int, seed: int = 2) -> dict[str, float]:
    """Return how often intervals of the 75% threshold hold it, by how it was measured.

    Evaluators have a slope of 3 and a lapse rate of 0.03; one has a midpoint of 300 ms, many are
    lognormal about it, with an SD of 0.3. The pooled truth is the fit to 3,000 of them.
    """
    rng = np.random.default_rng(seed)
    truth = 300 * (0.25 / (0.47 - 0.25)) ** (1 / SLOPE)
    constant = np.tile(np.geomspace(80, 1000, 10), (studies, 45))
    plain = (constant, rng.random(constant.shape) < accuracy(constant, 300))
    alone = staircases(np.full(studies, 300.0), rng)
    crowd = staircases(300 * np.exp(rng.normal(0, 0.3, 3000)), rng)
    population = fit(Trials.of(crowd[0].ravel(), crowd[1].ravel()), level=None).threshold_ms
    held = {"pooled": 0, "pooled_answers": 0}
    for _ in range(studies):
        shown, was_right = staircases(300 * np.exp(rng.normal(0, 0.3, 30)), rng)
        found = fit(Trials.of(shown.ravel(), was_right.ravel()))
        people = [Trials.of(*one) for one in zip(shown, was_right, strict=True)]
        held["pooled"] += _holds(interval_over_evaluators(found, people, LEVEL), population)
        held["pooled_answers"] += _holds(found.ci, population)
    return {
        "constant": _share(plain, truth),
        "staircase": _share(alone, truth),
        **{name: float(count) / studies for name, count in held.items()},
    }


def accuracy(exposure_ms: np.ndarray, midpoint_ms: np.ndarray | float) -> np.ndarray:
    return 0.5 + 0.47 / (1 + (midpoint_ms / exposure_ms) ** SLOPE)


def staircases(midpoint_ms: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return exposures and right answers, (evaluators, 450): three blocks of `hype-2019` each."""
    shown, was_right = [], []
    for _ in range(3):
        ms, in_a_row = np.full(len(midpoint_ms), 500.0), np.zeros(len(midpoint_ms), int)
        for _ in range(150):
            right = rng.random(len(ms)) < accuracy(ms, midpoint_ms)
            shown.append(ms)
            was_right.append(right)
            in_a_row = np.where(right, in_a_row + 1, 0)
            does_fall = in_a_row == 3
            ms = np.clip(np.where(right, ms - 30 * does_fall, ms + 10), 100, 1000)
            in_a_row[does_fall] = 0
    return np.array(shown).T, np.array(was_right).T


def _share(answers: tuple[np.ndarray, np.ndarray], truth: float) -> float:
    """Return the share of evaluators whose own interval holds the truth."""
    return float(np.mean([_holds(fit(Trials.of(*one)).ci, truth) for one in zip(*answers, strict=True)]))


def _holds(interval: tuple[float | None, float | None] | None, truth: float) -> bool:
    if interval is None:
        return True
    low, high = interval
    return (low is None or low <= truth) and (high is None or truth <= high)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m validate.coverage", description=__doc__.split("\n")[0])
    parser.add_argument("--studies", type=int, default=STUDIES)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    names = ("percentile", "better", "printed", "advised", "above", "below")
    print(f"{'population':28} {'rate':>6} {'n':>3} " + " ".join(f"{name:>10}" for name in names))  # noqa: T201
    for row in table(chosen.studies, chosen.seed):
        cells = " ".join(f"{row[name]:>10.4f}" for name in names)
        print(f"{row['population']:28} {row['rate']:>6g} {row['evaluators']:>3} {cells}", flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
