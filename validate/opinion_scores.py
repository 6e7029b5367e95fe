"""Coverage of intervals of rank correlations with mean opinion scores, over stimuli and over references.

A stimulus' quality is that of its reference and its own; scores and metric are the quality with noise, of
which the stimuli of a reference share a part. The true correlations are those of 400,000 independent stimuli.
`python -m validate.opinion_scores [STUDIES]` prints the table of docs/agreement.md.
"""

import sys

import numpy as np

from backend.analysis.agreement.opinion_scores import OpinionScores, opinion_agreement
from backend.analysis.distributions.ranks import rho_of, tau_of

DESIGNS = ((0, 20), (0, 200), (5, 24), (10, 12), (25, 12), (25, 120))
"""Number of references (0: stimuli are independent) and of stimuli each (or in all)."""
SHARED = 0.5
"""SD of what the stimuli of a reference share, in the metric and in the scores, of 1 within references."""
NOISES = {"strong": 0.3, "weak": 1.5, "useless": None}
_MANY = 400_000


def drawn(
    references: int, each: int, noise: float | None, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return scores, values of a metric, and the reference of each stimulus."""
    count = (references or 1) * each
    group = np.repeat(np.arange(references), each) if references else np.arange(count)
    shared = SHARED * rng.standard_normal((2, group.max() + 1))[:, group]
    quality = rng.standard_normal(count)
    scores = quality + shared[0] + 0.3 * rng.standard_normal(count)
    base = rng.standard_normal(count) if noise is None else quality + noise * rng.standard_normal(count)
    return scores, base + shared[1], group


def coverage(studies: int, seed: int = 1) -> dict[tuple[int, int, str], tuple[float, float]]:
    """Return the shares of studies whose intervals of rho and of tau hold the true ones."""
    rng, found = np.random.default_rng(seed), {}
    for name, noise in NOISES.items():
        scores, values, _ = drawn(0, _MANY, noise, rng)
        true = {"rho": rho_of(scores, values), "tau": tau_of(scores, values)}
        for references, each in DESIGNS:
            held = dict.fromkeys(true, 0)
            for _ in range(studies):
                scores, values, group = drawn(references, each, noise, rng)
                names = tuple(map(str, group)) if references else None
                stimuli = tuple(map(str, range(len(scores))))
                data = opinion_agreement(OpinionScores(stimuli, scores, references=names), {"metric": values})
                (row,) = data["metrics"]
                for key, value in true.items():
                    low, high = row[f"{key}_ci"]
                    held[key] += low <= value <= high
            found[references, each, name] = (held["rho"] / studies, held["tau"] / studies)
    return found


if __name__ == "__main__":
    for (references, each, name), (rho, tau) in coverage(int(sys.argv[1]) if sys.argv[1:] else 1000).items():
        design = f"{references} references of {each}" if references else f"{each} independent stimuli"
        print(f"| {design} | {name} | {rho:.1%} | {tau:.1%} |", flush=True)  # noqa: T201
