"""Sensitivity and response bias, separated: d-prime and the criterion of signal detection theory.

An error rate confounds how well fakes are discriminated from reals with the bias to answer "fake". With H
the share of fakes called fake and F the share of reals called fake, d' = z(H) - z(F) and
c = -(z(H) + z(F)) / 2 (Green and Swets, 1966). Shares of 0 and 1 have no z, so every count is raised by 0.5
and every number of trials by 1, for all evaluators (the log-linear correction: Hautus, 1995). An answer
`not_sure` is half an answer "fake".
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import bdtr, ndtri

from backend.analysis.distributions.inference import Component, Estimate, Seen, mean_of, shared_pictures
from backend.analysis.table.response_table import Answers


def sensitivity(
    hits: np.ndarray, fakes: np.ndarray, false_alarms: np.ndarray, reals: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return (d', c) of each evaluator, from the numbers of fakes and reals seen and of those called fake."""
    z_hits = ndtri((hits + 0.5) / (fakes + 1))
    z_false = ndtri((false_alarms + 0.5) / (reals + 1))
    return z_hits - z_false, -(z_hits + z_false) / 2


def detection(
    answers: Answers, model: int, level: float, pictures: Sequence[np.ndarray] = ()
) -> dict[str, Any] | None:
    """Return mean d' and c over a model's evaluators who saw both sides, with their intervals.

    A positive c is a bias to "real". None if nobody saw both sides. Intervals are Student's over evaluators
    and the stimuli that they share: an answer moves z of its evaluator's side by 1 / ((n + 1) phi(z)).
    What they would vary by chance, if each erred with the share of all, gives the least variance. There is
    none if all of them gave one answer on a side: values are then those of the correction alone.

    Args:
        model: code of `answers.model`.
        pictures: codes of what each response showed, -1 if that is not known; default, its stimulus.
    """
    judges = answers.judges
    is_used = (judges.model == model) & (judges.fakes > 0) & (judges.reals > 0)
    if not is_used.any():
        return None
    own = np.flatnonzero(is_used[judges.of_response])
    is_fake, judge = answers.is_fake[own], judges.of_response[own]
    hits = judges.fakes - judges.wrong_fakes
    slope, influences, by_chance = np.empty(len(own)), np.empty(len(own)), 0.0
    for side, said, seen in ((True, hits, judges.fakes), (False, judges.wrong_reals, judges.reals)):
        here, z = is_fake == side, ndtri((said + 0.5) / (seen + 1))
        slope[here] = (math.sqrt(2 * math.pi) * np.exp(z**2 / 2) / (seen + 1))[judge[here]]
        influences[here] = answers.residuals(own[here])
        by_chance += _by_chance(said[is_used], seen[is_used])
    influences *= slope
    _, person = np.unique(judge, return_inverse=True)
    shown = [(np.ones(len(own), bool), each[own]) for each in pictures]
    shown = shown or [(is_fake == side, answers.image_ranks[own]) for side in (False, True)]
    d_prime, criterion = (
        each[is_used] for each in sensitivity(hits, judges.fakes, judges.wrong_reals, judges.reals)
    )
    strata = answers.strata_of(np.flatnonzero(is_used))
    row: dict[str, Any] = {}
    for name, values, turned, least in (
        ("d_prime", d_prime, -influences, by_chance),
        ("criterion", criterion, np.where(is_fake, influences, -influences) / 2, by_chance / 4),
    ):
        ci = None
        if len(values) > 1 and are_both_given(answers, own):
            sides = [
                Seen(person[here], person[here], picture[here], turned[here], slope[here], len(values))
                for here, picture in shown
            ]
            people = mean_of(values, strata).people.at_least(Component(least, math.inf), level)
            ci = Estimate(float(values.mean()), people, shared_pictures(sides)).interval(level)
        row |= {name: float(values.mean()), f"{name}_ci": ci}
    return {**row, "evaluators": int(is_used.sum())}


def are_both_given(answers: Answers, own: np.ndarray) -> bool:
    """Return whether, of some responses, both answers were given to fakes, and both to reals.

    Otherwise d' and c have no finite estimate, and nothing bounds them on one side but a correction or prior.
    """
    wrong, is_fake = answers.error[own], answers.is_fake[own]
    return all(0 < wrong[is_fake == side].sum() < (is_fake == side).sum() for side in (True, False))


def _by_chance(said: np.ndarray, seen: np.ndarray) -> float:
    """Return the variance of the mean z of evaluators who call a stimulus fake with the share of all of them.

    Args:
        said, seen: shape (evaluators,): stimuli of one side called fake, and seen.
    """
    share = (said.sum() + 0.5) / (seen.sum() + 1)
    total = 0.0
    for n, people in zip(*np.unique(seen, return_counts=True), strict=True):
        counts = np.arange(n + 1)
        z, chance = ndtri((counts + 0.5) / (n + 1)), np.diff(bdtr(counts, n, share), prepend=0.0)
        total += people * float(chance @ z**2 - (chance @ z) ** 2)
    return total / len(seen) ** 2
