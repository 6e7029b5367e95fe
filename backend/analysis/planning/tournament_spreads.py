"""Spreads of strengths of a tournament, from which it is planned: assumed ones, and those of a pilot.

Of K contestants that meet equally often, with the information w in each answer (1/4 between equal ones, less
with ties), a strength by itself varies by (K - 1) / K over w times the answers to it. Evaluators and pictures
add the variance of what they think of a model, and of how real pictures look, over their numbers, as all
answers together show them (`as_answered`). With mean 0 over M models strengths vary by 1 - 1 / M of that, and
differences by twice that of a strength by itself.
"""

import math
from dataclasses import replace

import numpy as np
from scipy.special import expit

from backend.analysis.crossing import shared_weight
from backend.analysis.distributions.inference import Seen
from backend.analysis.models.bradley_terry import Fit, centred, covariance, fit
from backend.analysis.models.paired_answers import PairedAnswers
from backend.analysis.models.tournament import check_comparable
from backend.analysis.models.tournament_pictures import influences, picture_covariance
from backend.analysis.planning.spread import PRIOR_DF, Spread
from backend.experiment.observer import LOGITS, PICTURE_SD
from backend.experiment.published import POOL
from backend.experiment.records import REAL

PEOPLE_SD = 0.3
"""SD (log-odds) between evaluators of what they think of a model, as tournaments are validated with."""
_BOUNDS, _OWN_SIDE = (-math.inf, math.inf), (0.0, 1.0)


def assumed(models: int, pairs: float, has_reals: bool = False, tie_parameter: float = 0.0) -> Spread:
    """Return the spread of equal models that are judged as simulated evaluators judge them.

    Args:
        pairs: of a session.
        has_reals: whether the reals are a contestant too.
        tie_parameter: Davidson's.
    """
    people, pictures = as_answered(PEOPLE_SD, LOGITS * PICTURE_SD)
    contestants, decided = models + has_reals, 2 / (2 + tie_parameter)
    spread = Spread(
        "equal models", 0.0, pairs, 0.0, people, (1 - 1 / contestants) * 4 / decided, 0.0, 0.0, PRIOR_DF,
        _BOUNDS, _OWN_SIDE, (math.inf, POOL), pictures, scale="log-odds", models=contestants,
        centred=1 / models,
    )  # fmt: skip
    sampled = spread.sampling(pairs)
    return replace(spread, sampled=sampled, observed=people + sampled)


def as_answered(people_sd: float, picture_sd: float) -> tuple[float, float]:
    """Return the variances between evaluators and between pictures of strengths as all answers show them.

    An effect e of one side moves the answers to equal contestants by the mean of the logistic curve at e over
    all other effects, less 1/2; divided by the curve's slope, that is less than e.

    Args:
        people_sd, picture_sd: SDs of the effects on an answer, in log-odds, on each of the two sides.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(41)
    weights = weights / weights.sum()
    whole = 2 * (people_sd**2 + picture_sd**2)

    def variance(sd: float) -> float:
        others = math.sqrt(whole - sd**2) * nodes
        moved = 4 * (expit(sd * nodes[:, None] + others) @ weights - 0.5)
        return float(weights @ moved**2)

    return variance(people_sd), variance(picture_sd)


def spreads_of_strengths(paired: PairedAnswers) -> list[Spread]:
    """Return the spread of each model of a pilot; [] with one evaluator.

    What evaluators and pictures add is pooled over models.
    """
    people, size = len(paired.evaluators), len(paired.contestants)
    is_model = np.array([name != REAL for name in paired.contestants])
    models = int(is_model.sum())
    check_comparable(paired)
    if people < 2 or models < 2:
        return []
    fitted = centred(fit(paired.games, paired.counts, ties=paired.has_ties), is_model)
    by_itself = 1 / (models - 1)  # of the sum over models, per model and not centred
    moved = influences(paired, fitted, is_model).of_evaluators(paired)[:, is_model]
    observed = by_itself * float(((moved - moved.mean(axis=0)) ** 2).sum()) * people**2 / (people - 1)
    single = covariance(paired.games, paired.counts.sum(axis=1), fitted, paired.has_ties)[:size, :size]
    turn = np.eye(size) - is_model / models
    of_answers = np.diag(turn @ single @ turn.T)[is_model] * people * models * by_itself
    answer, pairs = float(of_answers.mean()), len(paired) / people
    pooled = replace(
        assumed(models, pairs, size > models),
        sampled=answer,
        observed=observed,
        df=float((people - 1) * (models - 1)),
    )
    pooled = replace(_with_pictures(pooled, paired, fitted, is_model), between=max(observed - answer, 0.0))
    pooled = replace(pooled, between=max(observed - answer + pooled.covariance, 0.0))
    names = [name for name, is_one in zip(paired.contestants, is_model, strict=True) if is_one]
    return [
        replace(
            pooled,
            model=name,
            score=float(strength),
            within=float(own) * pooled.shown(pairs)[1],
            sampled=float(own) - pooled.covariance,
            observed=max(observed - answer, -pooled.covariance) + float(own),
        )
        for name, strength, own in zip(names, fitted.strengths[is_model], of_answers, strict=True)
    ]


def _with_pictures(spread: Spread, paired: PairedAnswers, fitted: Fit, is_model: np.ndarray) -> Spread:
    found = picture_covariance(paired, fitted, is_model)
    same, count = _same_picture(paired)
    spread = replace(spread, pictures=(math.inf, 1 / same if same else math.inf))
    if found is None or not same:
        return spread
    models = int(is_model.sum())
    variance = float(np.trace(found[0][np.ix_(is_model, is_model)])) / (models - 1) / same
    # each model's pictures tell of the variance between pictures
    return spread.with_found(variance, spread.sampled, count * models, same * models, len(paired.evaluators))


def _same_picture(paired: PairedAnswers) -> tuple[float, float]:
    """Return the probability that two evaluators' answers to a contestant are to one picture; and 1 over it.

    The second is about how many pictures a contestant has.
    """
    if paired.pictures is None:
        return 0.0, math.inf
    contestant = np.concatenate([paired.left, paired.right])
    evaluator, picture = np.tile(paired.evaluator, 2), paired.pictures.T.ravel()
    shares = []
    for code in range(len(paired.contestants)):
        mine = contestant == code
        who, weight = evaluator[mine], np.ones(mine.sum())
        every, same = shared_weight(Seen(who, who, picture[mine], weight, weight, len(paired.evaluators)))
        shares.append(same / every if every else 0.0)
    mean = float(np.mean(shares))
    return mean, 1 / mean if mean else math.inf
