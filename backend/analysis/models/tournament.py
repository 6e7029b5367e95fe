"""The results of a tournament as plain data: strengths, intervals, ranks, the win matrix, and checks."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from backend.analysis.distributions.inference import Estimate
from backend.analysis.models import first_place
from backend.analysis.models import tournament_bootstrap as bootstrap
from backend.analysis.models.bradley_terry import (
    LEFT_WINS,
    RIGHT_WINS,
    TIE,
    Fit,
    centred,
    components,
    covariance,
    fit,
    unbeaten,
)
from backend.analysis.models.paired_answers import PairedAnswers
from backend.analysis.models.tournament_checks import cycles, goodness_of_fit, side_bias
from backend.analysis.models.tournament_pictures import picture_variance
from backend.experiment.records import REAL
from backend.foundation.counted_nouns import MOST_NAMED, some_of
from backend.foundation.errors import InvalidInput

_ROUNDING = 1e-9


def check_comparable(answers: PairedAnswers) -> None:
    """Check that answers compare all contestants, directly or through others.

    Raises:
        InvalidInput: names the groups between which there is no answer.
    """
    groups = components(answers.games, answers.counts)
    if len(groups) > 1:
        more = "; …" if len(groups) > MOST_NAMED else ""
        named = "; ".join(_named(answers, group) for group in groups[:MOST_NAMED])
        raise InvalidInput(
            "strengths need answers that connect all models, and between these groups there are none: "
            f"{named}{more}; collect answers to pairs across them, or score each group by itself"
        )


@dataclass(frozen=True)
class Strengths:
    """Fitted strengths, and those of resamples of the evaluators."""

    fitted: Fit
    """The fit, its strengths with mean 0 over the models `reference`."""
    reference: np.ndarray
    """The models (a mask) whose mean strength is 0: those with an estimate, if there are two or more."""
    is_estimated: np.ndarray
    """Whether a contestant's strength is finite beside that of others: the largest group of such."""
    drawings: np.ndarray | None
    """Shape (resamples, contestants), pictures included; None with one evaluator."""
    df: float
    """Degrees of freedom of their deviations."""
    share_of_pictures: float | None
    """The pictures' share (0 to 1) of the variance of strengths; None if answers name none."""


def fit_strengths(
    answers: PairedAnswers,
    rng: np.random.Generator,
    iterations: int = bootstrap.ITERATIONS,
    drawn: int | None = None,
) -> Strengths:
    """Return strengths in log-odds, their mean 0 over the models; the reals do not count in that mean.

    Nor do models that lost or won everything, of which it is only known who is ahead: resamples of evaluators
    cannot vary what no answer contradicts, so that they vary by the information of the fit instead.

    Raises:
        InvalidInput: fewer than two models, or groups of them that no answer connects.
    """
    reference = np.array([name != REAL for name in answers.contestants])
    if reference.sum() < 2:
        raise InvalidInput(
            f"a tournament needs answers on two models or more, not on {', '.join(answers.contestants)}"
        )
    check_comparable(answers)
    whole = fit(answers.games, answers.counts, ties=answers.has_ties)
    is_estimated = _estimated(answers, whole)
    if (reference & is_estimated).sum() > 1:
        reference &= is_estimated
    fitted, people = centred(whole, reference), len(answers.evaluators)
    if people < 2:
        return Strengths(fitted, reference, is_estimated, None, 0, None)
    drawings = bootstrap.resampled(answers, fitted, reference, iterations, rng, drawn)
    unknown = 0 if is_estimated.all() else _unknown(answers, whole, is_estimated, iterations, rng)
    pictures = picture_variance(answers, fitted, reference)
    if pictures is None:
        share = None if answers.pictures is None else 0.0
        return Strengths(fitted, reference, is_estimated, drawings + unknown, people - 1, share)
    both, df = bootstrap.with_pictures(drawings, pictures, people, rng)
    share = pictures.total / (bootstrap.total_variance(drawings, people) + pictures.total)
    return Strengths(fitted, reference, is_estimated, both + unknown, df, share)


def _estimated(answers: PairedAnswers, whole: Fit) -> np.ndarray:
    """Return which contestants have finite strengths beside each other: the largest such group, or none."""
    size = len(answers.contestants)
    if not whole.is_penalised:
        return np.full(size, True)
    largest = max(unbeaten(answers.games, answers.counts), key=len)
    return np.isin(np.arange(size), largest if len(largest) > 1 else [])


def _unknown(
    answers: PairedAnswers, whole: Fit, is_estimated: np.ndarray, iterations: int, rng: np.random.Generator
) -> np.ndarray:
    """Return deviations of strengths without an estimate, normal with the variance of the penalised fit."""
    variances = np.diag(covariance(answers.games, answers.counts.sum(axis=-1), whole, answers.has_ties))
    spread = np.sqrt(np.where(is_estimated, 0, variances[: len(is_estimated)]))
    return rng.normal(size=(iterations, len(spread))) * spread


def strengths(answers: PairedAnswers, found: Strengths, level: float) -> dict[str, Any]:
    """Return strengths, ranks and differences.

    Strengths are log-odds of being preferred to the mean model; the reals, if they take part, do not count in
    that mean. A strength without a finite estimate, and its differences, have no interval.
    """
    order = np.argsort(-found.fitted.strengths, kind="stable")
    return {
        "contestants": _contestants(answers, found, level, order),
        "differences": _differences(answers, found, level, order),
        "penalised": _penalised(answers, found.fitted),
        "share_of_pictures": found.share_of_pictures,
        "evaluators": len(answers.evaluators),
        "answers": len(answers),
    }


def checks(answers: PairedAnswers, fitted: Fit, level: float) -> dict[str, Any]:
    """Return what strengths rest on, and whether the model fits."""
    return {
        "ties": _ties(answers, fitted),
        "first_place": _first_place(answers, fitted),
        "sides": side_bias(answers, fitted, level),
        "fit": goodness_of_fit(answers, fitted),
        "cycles": cycles(answers),
    }


def _contestants(
    answers: PairedAnswers, strengths: Strengths, level: float, order: np.ndarray
) -> list[dict[str, Any]]:
    people, fitted, drawings = len(answers.evaluators), strengths.fitted, strengths.drawings
    is_known = strengths.is_estimated & (strengths.reference <= strengths.is_estimated).all()
    cis: list[Any] = [None] * len(order)
    ranks = stds = first = None
    if drawings is not None:
        stds = drawings.std(axis=0, ddof=1)
        cis = _intervals(
            bootstrap.estimates(fitted.strengths, drawings, people, strengths.df), is_known, level
        )
        ranks = bootstrap.rank_ranges(fitted.strengths, drawings, level, people, strengths.df)
        first = np.bincount(drawings.argmax(axis=1), minlength=len(order)) / len(drawings)
    rows = []
    for place, i in enumerate(order, 1):
        wins, ties, losses = _record(answers, int(i))
        ci = cis[i]
        rows.append(
            {
                "model": answers.contestants[i],
                "is_real": answers.contestants[i] == REAL,
                "strength": float(fitted.strengths[i]),
                "std": None if stds is None or ci is None else float(stds[i]),
                "ci": ci,
                "win_percent": _percent(fitted.strengths[i]),
                "win_percent_ci": ci and [*map(_percent, ci)],
                "rank": place,
                "ranks": None if ranks is None else [*ranks[i]],
                "first_share": None if first is None else float(first[i]),
                "wins": wins,
                "ties": ties,
                "losses": losses,
                "answers": wins + ties + losses,
                "evaluators": _judges(answers, int(i)),
            }
        )
    return rows


def _percent(strength: float) -> float:
    """Return the percentage of decided answers that prefer a contestant to the mean model."""
    return 100 * float(expit(strength))


def _record(answers: PairedAnswers, contestant: int) -> tuple[int, int, int]:
    games, counts = answers.games, answers.counts
    left, right = games.left == contestant, games.right == contestant
    wins = counts[left, LEFT_WINS].sum() + counts[right, RIGHT_WINS].sum()
    losses = counts[left, RIGHT_WINS].sum() + counts[right, LEFT_WINS].sum()
    return int(wins), int(counts[left | right, TIE].sum()), int(losses)


def _judges(answers: PairedAnswers, contestant: int) -> int:
    met = (answers.left == contestant) | (answers.right == contestant)
    return len(np.unique(answers.evaluator[met]))


def _differences(
    answers: PairedAnswers, strengths: Strengths, level: float, order: np.ndarray
) -> list[dict[str, Any]]:
    """Return each pair, the stronger first, with the interval and the p-value of its difference alone."""
    names, drawings = answers.contestants, strengths.drawings
    i, j = np.triu_indices(len(order), 1)
    a, b = order[i], order[j]
    differences = strengths.fitted.strengths[a] - strengths.fitted.strengths[b]
    cis: list[Any] = [None] * len(a)
    ps = cis
    if drawings is not None:
        drawn = drawings[:, a] - drawings[:, b]
        apart = bootstrap.estimates(differences, drawn, len(answers.evaluators), strengths.df)
        cis = _intervals(apart, strengths.is_estimated[a] & strengths.is_estimated[b], level)
        ps = [None if np.isnan(p) else p for p in apart.p().tolist()]
    return [
        {
            "a": names[first],
            "b": names[second],
            "difference": difference,
            "ci": ci,
            "p": p,
            "df": strengths.df,
        }
        for first, second, difference, ci, p in zip(a, b, differences.tolist(), cis, ps, strict=True)
    ]


def _intervals(found: Estimate, is_known: np.ndarray, level: float) -> list[Any]:
    """Return the ends of each interval; None where a number is not known or does not vary."""
    has_any = is_known & (np.sqrt(found.total.variance) > _ROUNDING)
    return [ci if has else None for ci, has in zip(found.interval(level), has_any, strict=True)]


def _ties(answers: PairedAnswers, fitted: Fit) -> dict[str, Any]:
    return {
        "share": float((answers.outcome == TIE).mean()),
        "parameter": float(np.exp(fitted.log_ties)),
    }


def _first_place(answers: PairedAnswers, fitted: Fit) -> dict[str, Any]:
    changes = {
        "removed": first_place.without_answers(answers, fitted),
        "turned": first_place.without_answers(answers, fitted, turned=True),
        "evaluators": first_place.without_evaluators(answers, fitted),
    }
    return {
        "leader": next(
            answers.contestants[i] for i in np.argsort(-fitted.strengths) if answers.contestants[i] != REAL
        ),
        **{what: None if found is None else vars(found) for what, found in changes.items()},
    }


def _penalised(answers: PairedAnswers, fitted: Fit) -> list[list[str]]:
    """Return the groups that strengths could not be compared across without half a win and half a loss each.

    [] if the maximum of the likelihood is finite, so that nothing was added.
    """
    if not fitted.is_penalised:
        return []
    return [[answers.contestants[i] for i in group] for group in unbeaten(answers.games, answers.counts)]


def _named(answers: PairedAnswers, group: list[int]) -> str:
    return some_of([answers.contestants[i] for i in group])
