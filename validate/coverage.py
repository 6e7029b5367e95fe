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

IMAGES = 100
STUDIES = 10_000
LEVEL = 0.95
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
    return {name: count / studies for name, count in holds.items()}


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
