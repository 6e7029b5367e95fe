"""Weighted sums of a model's scores in several runs of one study: the same stimuli, judged by other people.

A score differs from run to run since people do, and since what a stimulus does may depend on the run: on the
month, the panel, the country. With s_rj the effect of stimulus j on the score of run r, the variance of a
weighted sum with weights c_r, such as a difference, is

    sum_r c_r^2 V_r  +  sum_j sum_rs c_r c_s cov(s_rj, s_sj),

where V_r is that of the run's evaluators. The second term is summed over products of the residuals of two
evaluators on one stimulus, of one run or of two, centred as in `inference.py`. What a stimulus does alike in
both runs cancels in a difference, so that its interaction with the run remains; the effect of a stimulus that
only one run showed remains whole. Evaluators of two runs are different people.

Stimuli make a share skewed as evaluators do (`with_stimuli`); what they add to a weighted sum of shares is
that of its runs, in proportion to what they add to the variance of each.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from backend.analysis.distributions.inference import (
    Component,
    Estimate,
    Seen,
    df_of_parts,
    parts_between,
    parts_of_images,
    with_stimuli,
)


@dataclass(frozen=True)
class RunScore:
    """The score of one model in one run, and what is random in it."""

    estimate: Estimate
    """In the unit of the method; its `people` are used."""
    of_answers: Component = Component(0.0, math.inf)
    """That of the score if all answers were independent, below which evaluators cannot be; of 0 for none."""
    sides: Sequence[Seen] = ()
    """Answers to real and to fake stimuli; empty if none is named, or if their effects are in `people`."""
    names: Sequence[Sequence[str]] = ()
    """For each side, the names of the stimuli by their codes in `sides`."""
    scale: float = 1.0
    """By how much a residual of 1 of all answers moves the score."""
    share: float | None = None
    """A score that is a share of answers, over `scale`; None for others."""

    @property
    def shown(self) -> set[tuple[int, str]]:
        """The stimuli that were shown, as (side, name)."""
        return {
            (side, names[code])
            for side, (seen, names) in enumerate(zip(self.sides, self.names, strict=True))
            for code in np.unique(seen.image[seen.image >= 0]).tolist()
        }


def contrast(runs: Sequence[RunScore], weights: Sequence[float], level: float) -> Estimate:
    """Return the weighted sum of the scores of one model in several runs."""
    people = _sum([run.estimate.people for run in runs], weights)
    people = people.at_least(_sum([run.of_answers for run in runs], weights), level)
    value = math.fsum(c * run.estimate.value for run, c in zip(runs, weights, strict=True))
    pictures = _pictures(runs, weights) if all(run.sides for run in runs) else None
    return Estimate(value, people, pictures)


def _sum(components: Sequence[Component], weights: Sequence[float]) -> Component:
    """Return the component of a weighted sum of independent numbers."""
    total = Component(0.0, math.inf)
    for own, c in zip(components, weights, strict=True):
        total = total + own.times(c)
    return total


def _pictures(runs: Sequence[RunScore], weights: Sequence[float]) -> Component:
    """Return the component of stimuli: of what they do not do alike in all runs."""
    moved = [c * run.scale for run, c in zip(runs, weights, strict=True)]
    own = [[_own_parts(seen, c) for seen in run.sides] for run, c in zip(runs, moved, strict=True)]
    parts = np.concatenate([_parts(runs, side, [mine[side] for mine in own], moved) for side in (0, 1)])
    variance = max(0.0, float(parts.sum()))
    of_runs = [max(0.0, sum(float(part.sum()) for part in mine)) for mine in own]
    return Component(variance, df_of_parts(parts), _third(runs, moved, of_runs, variance))


def _third(
    runs: Sequence[RunScore], weights: Sequence[float], of_runs: Sequence[float], variance: float
) -> float:
    """Return the third cumulant that stimuli of a given variance add to a weighted sum of shares.

    Args:
        weights: times `scale`.
        of_runs: what stimuli add to the variance of each run.
    """
    third = 0.0
    for run, c, part in zip(runs, weights, of_runs, strict=True):
        if part and run.share is not None:
            stimuli = Component(variance * part / sum(of_runs) / c**2, math.inf)
            people, answers = (each.times(1 / run.scale) for each in (run.estimate.people, run.of_answers))
            third += with_stimuli(run.share, people, answers.variance, stimuli).times(c).third
    return third


def _own_parts(seen: Seen, weight: float) -> np.ndarray:
    """Return the part of each stimulus of one run in the variance of a weighted sum."""
    parts: np.ndarray = weight**2 * parts_of_images(seen) / (seen.people * (seen.people - 1))
    return parts


def _parts(
    runs: Sequence[RunScore], side: int, own: Sequence[np.ndarray], weights: Sequence[float]
) -> np.ndarray:
    """Return the part of each stimulus of one side in the variance of a weighted sum: shape (stimuli,).

    Args:
        own: that of each run's stimuli.
        weights: times `scale`.
    """
    sides, names = [run.sides[side] for run in runs], [run.names[side] for run in runs]
    every = {name: code for code, name in enumerate(sorted(set().union(*names)))}
    codes = [np.array([every[name] for name in each], int) for each in names]
    parts = np.zeros(len(every))
    for seen, code, mine in zip(sides, codes, own, strict=True):
        parts[code[np.unique(seen.image[seen.image >= 0])]] += mine
    for r, s in combinations(range(len(sides)), 2):
        covariance = parts_between((sides[r], codes[r]), (sides[s], codes[s]), len(every))
        parts += 2 * weights[r] * weights[s] * covariance / (sides[r].people * sides[s].people)
    shown_by_any = np.unique(
        np.concatenate([code[seen.image[seen.image >= 0]] for seen, code in zip(sides, codes, strict=True)])
    )
    result: np.ndarray = parts[shown_by_any]
    return result
