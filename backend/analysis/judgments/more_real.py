"""Scores of a tournament: strengths by Bradley and Terry's model, which all answers together determine.

A model's score is its strength, in log-odds of looking more real than the mean model; the values
of evaluators (`MoreReal.value`) are not what it is computed from. Intervals are Student's with the standard
error of the bootstrap over evaluators and of the pictures that they share.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from backend.analysis import tournament_bootstrap as bootstrap
from backend.analysis.judgment_scores import JudgmentScores
from backend.analysis.paired_answers import OUTCOMES, PairedAnswers
from backend.analysis.rank_ranges import rank_ranges
from backend.analysis.response_table import Answers, Coded, Coder
from backend.analysis.score_resamples import ScoreResamples, widened
from backend.analysis.scores import Options
from backend.analysis.tournament import Strengths, checks, fit_strengths, strengths
from backend.experiment.judgment import pictures_of
from backend.experiment.judgments import method_named
from backend.foundation.errors import InvalidInput

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

    def resampled(self, answers: Answers, options: Options) -> ScoreResamples | None:
        paired = paired_of(answers)
        found = _fitted(paired, options, options.iterations or bootstrap.ITERATIONS)
        if found.drawings is None:
            return None
        people = np.array(len(paired.evaluators))
        scores = widened(found.fitted.strengths, found.drawings, people, options.level, found.df)
        return ScoreResamples(paired.contestants, scores)


def _fitted(paired: PairedAnswers, options: Options, iterations: int) -> Strengths:
    rng = np.random.default_rng(options.seed or 0)
    return fit_strengths(paired, rng, iterations, options.evaluators_drawn)


def _wider(row: Mapping[str, Any], factor: float) -> dict[str, Any]:
    """Return a row with its interval alone, which is `factor` times as far from the score."""
    ci, score = row.get("ci"), row["score"]
    return {**row, "interval": None, "ci": ci and [score + factor * (end - score) for end in ci]}


def paired_of(answers: Answers) -> PairedAnswers:
    """Return the responses as answers to pairs of contestants.

    Raises:
        InvalidInput: the responses do not say who stood where, or a contestant stood beside itself.
    """
    missing = [name for name in ("left", "right", "response") if name not in answers.texts]
    if missing:
        raise InvalidInput(
            f"responses of a tournament need the columns left, right and response; {missing[0]} is missing"
        )
    left, right = (answers.texts[name] for name in ("left", "right"))
    contestants = sorted({*_used(left), *_used(right)})
    if "" in contestants or None in contestants:
        raise InvalidInput("left and right must name a contestant in every response of a tournament")
    place = {name: i for i, name in enumerate(contestants)}
    lefts, rights = (_recoded(column, place) for column in (left, right))
    if (lefts == rights).any():
        whom = contestants[int(lefts[(lefts == rights).argmax()])]
        raise InvalidInput(f"left and right must be two contestants, not both {whom}")
    used = np.unique(answers.evaluator.codes, return_inverse=True)
    return PairedAnswers(
        tuple(contestants),
        tuple(str(answers.evaluator.names[code]) for code in used[0]),
        lefts,
        rights,
        _recoded(answers.texts["response"], OUTCOMES),
        used[1],
        _pictures(answers.texts.get("stimulus")),
    )


def _pictures(column: Coded | None) -> np.ndarray | None:
    """Return codes of the left and of the right picture of each response, -1 where it does not name two."""
    if column is None:
        return None
    codes = Coder()
    pairs = [pictures_of(str(name or "")) for name in column.names]
    codes.add([name for pair in pairs if len(pair) == 2 for name in pair])
    named = iter(codes.coded().codes.reshape(-1, 2).tolist())
    of_name = np.array([next(named) if len(pair) == 2 else (-1, -1) for pair in pairs], np.int64)
    result: np.ndarray = of_name.reshape(-1, 2)[column.codes]
    return result


def _used(column: Coded) -> list[str]:
    return [column.names[code] for code in np.unique(column.codes)]


def _recoded(column: Coded, codes: Mapping[str, int]) -> np.ndarray:
    """Return a column's texts as codes.

    Raises:
        InvalidInput: a text has none.
    """
    unknown = [name for name in _used(column) if name not in codes]
    if unknown:
        raise InvalidInput(f"response must be {', '.join(codes)}, not {unknown[0]!r}")
    result: np.ndarray = np.array([codes.get(name, -1) for name in column.names])[column.codes]
    return result


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
    if groups := found["penalised"]:
        chain = " > ".join(", ".join(group) for group in groups)
        warnings.append(
            f"some models won or lost everything against others ({chain}), so that their strengths have no "
            "finite estimate: half a win and half a loss were added to each, and such strengths say only who "
            "is ahead; more answers help"
        )
    if found["evaluators"] < 2:
        warnings.append("one evaluator does not show how people differ: no intervals")
    return warnings


SCORES = MoreRealScores()
