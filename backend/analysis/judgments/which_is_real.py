"""Scores of pairs: the share of pairs judged wrong, with accuracy and d' beside it.

50% is guessing, as in HYPE: the fake cannot be told from the real picture beside it.
"""

from typing import Any

import numpy as np

from backend.analysis.pairs import accuracy
from backend.analysis.scores import Options
from backend.analysis.share_scores import ShareScores, with_outcome
from backend.analysis.table.response_table import BESIDE, Answers, Coded
from backend.experiment.judgment import pictures_of


class WhichIsRealScores(ShareScores):
    """Shares of pairs judged wrong."""

    def counted(self, answers: Answers) -> Answers:
        return with_outcome(answers, answers.error == 1, _pictures(answers))

    def overall(self, answers: Answers, options: Options) -> dict[str, Any]:
        scores = super().overall(answers, options)
        models = [
            {**row, **accuracy(row["score"], row["interval"] and row["interval"]["ci"])}
            for row in scores["models"]
        ]
        return {**scores, "models": models}


def _pictures(answers: Answers) -> dict[str, Coded]:
    """Return the columns of the fake and of the real picture of each pair; none if a pair is not named."""
    column = answers.texts.get("stimulus")
    if column is None:
        return {}
    pairs = [pictures_of(name) for name in column.names]
    if any(len(pair) != 2 for pair in pairs):
        return {}
    sides = answers.is_fake.astype(int)  # of the real picture: 0 is left
    names = {name: code for code, name in enumerate(dict.fromkeys(name for pair in pairs for name in pair))}
    codes = np.array([[names[name] for name in pair] for pair in pairs], np.int32)[column.codes]
    rows = np.arange(len(answers))
    return {
        "stimulus": Coded(codes[rows, 1 - sides], [*names]),
        BESIDE: Coded(codes[rows, sides], [*names]),
    }


SCORES = WhichIsRealScores()
