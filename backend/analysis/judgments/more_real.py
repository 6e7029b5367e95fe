"""Scores of a tournament: strengths by Bradley and Terry's model, which all answers together determine.

A model's score is its strength, in log-odds of looking more real than the mean model; the values
of evaluators (`MoreReal.value`) are not what it is computed from. Intervals are Student's with the standard
error of the bootstrap over evaluators and of the pictures that they share.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from backend.analysis.comparisons.run_contrasts import RunScore
from backend.analysis.distributions.inference import Component, Estimate
from backend.analysis.distributions.rank_ranges import rank_ranges
from backend.analysis.judgment_scores import JudgmentScores
from backend.analysis.models import tournament_bootstrap as bootstrap
from backend.analysis.models.paired_answers import PairedAnswers, paired_of
from backend.analysis.models.tournament import Strengths, checks, fit_strengths, strengths
from backend.analysis.planning.spread import Spread
from backend.analysis.planning.tournament_spreads import assumed, spreads_of_strengths
from backend.analysis.score_resamples import ScoreResamples, widened
from backend.analysis.scores import Options
from backend.analysis.table.response_table import Answers
from backend.experiment.judgments import method_named
from backend.experiment.judgments.more_real import SIMULATED_TIES, settings_of
from backend.experiment.protocol import Protocol
from backend.foundation.counted_nouns import MOST_NAMED, some_of

_ITERATIONS_WHILE_RUNNING = 400


class MoreRealScores(JudgmentScores):
    """Strengths of models."""

    def overall(self, answers: Answers, options: Options) -> dict[str, Any]:
        """Return strengths and their differences, without what takes long while a study runs."""
        paired, times = paired_of(answers), options.iterations or _ITERATIONS_WHILE_RUNNING
        found = strengths(paired, _fitted(paired, options, times), options.level)
        return _as_scores(answers, options, found, times)

    def rank_ranges(
        self, rows: Sequence[Mapping[str, Any]], level: float, chosen_of: int, scored: int
    ) -> Sequence[Sequence[int] | None]:
        """Return ranges of ranks in a tournament: its own if all contestants are shown.

        Strengths sum to 0, so that they vary against each other, and the variance of a difference is up to
        K / (K - 2) times the sum of the two variances among K contestants.
        """
        if len(rows) == scored:
            return [row.get("ranks") for row in rows]
        wider = (scored / max(scored - 2, 1)) ** 0.5
        return rank_ranges([_wider(row, wider) for row in rows], level, scored)

    def scores(self, answers: Answers, options: Options) -> dict[str, Any]:
        paired, times = paired_of(answers), options.iterations or bootstrap.ITERATIONS
        found = _fitted(paired, options, times)
        return {
            **_as_scores(answers, options, strengths(paired, found, options.level), times),
            "tournament": checks(paired, found.fitted, options.level),
        }

    def run_scores(self, answers: Answers, level: float) -> dict[str, RunScore]:
        return strength_scores(paired_of(answers))

    def spreads(self, answers: Answers) -> list[Spread]:
        return spreads_of_strengths(paired_of(answers))

    def expected_spreads(self, protocol: Protocol, models: int, images: int | None = None) -> list[Spread]:
        """Return the spread of equal models, as simulated evaluators judge them."""
        own = settings_of(protocol)
        ties = SIMULATED_TIES if own.ties else 0.0
        return [assumed(models, images or protocol.stimuli.trials, own.real_contestant, ties)]

    def resampled(self, answers: Answers, options: Options) -> ScoreResamples | None:
        paired = paired_of(answers)
        found = _fitted(paired, options, options.iterations or bootstrap.ITERATIONS)
        if found.drawings is None:
            return None
        people = np.array(len(paired.evaluators))
        scores = widened(found.fitted.strengths, found.drawings, people, options.level, found.df)
        return ScoreResamples(paired.contestants, scores)


def strength_scores(paired: PairedAnswers, iterations: int = bootstrap.ITERATIONS) -> dict[str, RunScore]:
    """Return models' strengths, with the variance of their resamples; none if some strength is not finite."""
    fitted = _fitted(paired, Options(), iterations)
    if fitted.drawings is None or not (fitted.reference <= fitted.is_estimated).all():
        return {}
    people, names = len(paired.evaluators), paired.contestants
    of_all = bootstrap.estimates(fitted.fitted.strengths, fitted.drawings, people, fitted.df)
    return {
        names[i]: RunScore(
            Estimate(float(of_all.value[i]), Component(float(of_all.people.variance[i]), fitted.df))
        )
        for i in np.flatnonzero(fitted.is_estimated & fitted.reference).tolist()
    }


def _fitted(paired: PairedAnswers, options: Options, iterations: int) -> Strengths:
    rng = np.random.default_rng(options.seed or 0)
    return fit_strengths(paired, rng, iterations, options.evaluators_drawn)


def _wider(row: Mapping[str, Any], factor: float) -> dict[str, Any]:
    """Return a row with its interval alone, which is `factor` times as far from the score."""
    ci, score = row.get("ci"), row["score"]
    return {**row, "interval": None, "ci": ci and [score + factor * (end - score) for end in ci]}


def _as_scores(
    answers: Answers, options: Options, found: Mapping[str, Any], iterations: int
) -> dict[str, Any]:
    models = [
        {
            "model": row["model"],
            "score": row["strength"],
            **{name: value for name, value in row.items() if name not in ("model", "strength", "answers")},
            "responses": row["answers"],
            "interval": None,
        }
        for row in found["contestants"]
    ]
    return {
        "method": answers.method,
        "unit": method_named(answers.method).unit,
        "simulated": answers.is_simulated,
        "models": models,
        "anova": None,
        "pairs": found["differences"],
        "pairs_method": "clustered",
        "over_pictures": None,
        "balanced": None,
        "design": "within",
        "people": found["evaluators"],
        "responses": answers.given,
        "settings": {
            "bootstrap": "monte-carlo",
            "iterations": iterations,
            "seed": options.seed or 0,
            "level": options.level,
            "evaluators_drawn": options.evaluators_drawn or found["evaluators"],
        },
        "warnings": [*_warnings(found)],
        "notes": [*answers.notes],
    }


def _warnings(found: Mapping[str, Any]) -> list[str]:
    warnings = []
    if len(groups := found["penalised"]) == 1:
        warnings.append("all answers are ties, so that no strength has an interval; more answers help")
    elif groups:
        more = ["…"] if len(groups) > MOST_NAMED else []
        chain = " > ".join([*map(some_of, groups[:MOST_NAMED]), *more])
        warnings.append(
            f"some models won or lost everything against others ({chain}), so that their strengths have no "
            "finite estimate and no interval: half a win and half a loss were added to each, and such "
            "strengths say only who is ahead; more answers help"
        )
    if found["evaluators"] < 2:
        warnings.append("one evaluator does not show how people differ: no intervals")
    return warnings


SCORES = MoreRealScores()
