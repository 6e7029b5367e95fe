"""Scores that are shares of answers: pairs judged wrong, answers for `p1`, pairs called the same.

The share has everything that the share of wrong answers has in real or fake: intervals over evaluators and
stimuli, tests between models, looks at a running study. For that the responses are written in a form in
which `Answers.error` is what is counted, and `stimulus` is what was judged, in whatever order its
pictures were shown.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from backend.analysis.comparisons.run_contrasts import RunScore
from backend.analysis.confidence_sequence import score_by_evaluators
from backend.analysis.judgment_scores import JudgmentScores
from backend.analysis.planning.share_spreads import spreads_of_shares
from backend.analysis.planning.spread import Spread
from backend.analysis.run_scores import run_scores
from backend.analysis.scores import Options, overall_scores, score_models
from backend.analysis.table.evaluator_values import Values, values_by_model
from backend.analysis.table.response_table import Answers, Coded, Coder
from backend.experiment.judgment import item_key

_REAL_OR_FAKE = {"fakes_error", "reals_error", "plain_score", "balanced_score"}


class ShareScores(JudgmentScores):
    """Shares of answers; a judgment says by `counted` which responses count."""

    def counted(self, answers: Answers) -> Answers:
        """Return the responses with those that count as wrong answers, and with what was judged."""
        raise NotImplementedError

    def compared(self, answers: Answers) -> Answers:
        return self.counted(answers)

    def values(self, answers: Answers) -> dict[str, Values]:
        return values_by_model(self.counted(answers))

    def run_scores(self, answers: Answers, level: float) -> dict[str, RunScore]:
        return run_scores(self.counted(answers), level)

    def spreads(self, answers: Answers) -> list[Spread]:
        return spreads_of_shares(self.counted(answers), self.values(answers))

    def overall(self, answers: Answers, options: Options) -> dict[str, Any]:
        scores = overall_scores(self.counted(answers), **asdict(options))
        del scores["balanced"]
        return {**scores, "models": _of_shares(scores["models"])}

    def model_rows(self, answers: Answers, options: Options) -> list[dict[str, Any]]:
        return _of_shares(score_models(self.counted(answers), **asdict(options)))

    def narrowing(self, answers: Answers, model: str, ended: Mapping[Any, str]) -> list[dict[str, Any]]:
        answers = self.counted(answers)
        names = values_by_model(answers)[model].evaluators
        order = sorted(names, key=lambda name: ended.get(name, ""))
        return score_by_evaluators(answers, model, order)


def _of_shares(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return models without what is said of real or fake only."""
    return [{name: cell for name, cell in row.items() if name not in _REAL_OR_FAKE} for row in rows]


def with_outcome(answers: Answers, counts: np.ndarray, stimuli: Mapping[str, Coded]) -> Answers:
    """Return responses of which those that count are wrong answers.

    Args:
        counts: whether each response counts, of shape (responses,).
        stimuli: columns that replace those of the responses, such as `stimulus`.
    """
    none = np.zeros(len(answers), bool)
    return replace(answers, is_fake=none, said_fake=counts, texts={**answers.texts, **stimuli})


def renamed(column: Coded, rename: Callable[[str], str]) -> Coded:
    """Return a column with each of its names replaced; names that become equal are one."""
    coder = Coder()
    coder.add([rename(name) for name in column.names])
    names = coder.coded()
    return Coded(names.codes[column.codes], names.names)


def items_of(answers: Answers) -> dict[str, Coded]:
    """Return the column `stimulus` with the items' names, or else with their pictures in one order."""
    if "item" in answers.texts:
        return {"stimulus": answers.texts["item"]}
    if "stimulus" not in answers.texts:
        return {}
    return {"stimulus": renamed(answers.texts["stimulus"], item_key)}


def word_is(answers: Answers, column: str, word: str) -> np.ndarray:
    """Return whether each response has a word in a column of texts; all False without the column."""
    texts = answers.texts.get(column)
    if texts is None:
        return np.zeros(len(answers), bool)
    result: np.ndarray = np.array([name == word for name in texts.names], bool)[texts.codes]
    return result
