"""Scores of pairs: the share of pairs judged wrong, with accuracy and d' beside it.

Where each fake stands beside the one real picture of its source, a pair is one item: what both have in common
is random once, not once on either side.

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
        shown = _pictures(answers)
        if "partner" in shown:  # the real one: fakes of other models stood beside it too
            shown = {"stimulus": shown["partner"]}
        return with_outcome(answers, answers.error == 1, shown)

    def compared(self, answers: Answers) -> Answers:
        """Return the responses with the fake as what was judged, as `counted` has it but for partners."""
        shown = {name: column for name, column in _pictures(answers).items() if name != "partner"}
        return with_outcome(answers, answers.error == 1, shown)

    def overall(self, answers: Answers, options: Options) -> dict[str, Any]:
        scores = super().overall(answers, options)
        models = [
            {**row, **accuracy(row["score"], row["interval"] and row["interval"]["ci"])}
            for row in scores["models"]
        ]
        return {**scores, "models": models}


def _pictures(answers: Answers) -> dict[str, Coded]:
    """Return the columns of the fake and of the real picture of each pair; none if a pair is not named.

    Where pairs are items, the column of the real picture is called `partner`.
    """
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
    real, fake = Coded(codes[rows, sides], [*names]), Coded(codes[rows, 1 - sides], [*names])
    is_item = _are_items(answers.model.codes, real.codes, fake.codes)
    return {"stimulus": fake, "partner" if is_item else BESIDE: real}


def _are_items(model: np.ndarray, real: np.ndarray, fake: np.ndarray) -> bool:
    """Return whether every fake, and within a model every real picture, stood in one pair only."""
    columns = ((model, real, fake), (model, real), (model, fake))
    pairs, of_real, of_fake = (np.unique(np.stack(keys), axis=1).shape[1] for keys in columns)
    return bool(pairs == of_real == of_fake < len(fake))


SCORES = WhichIsRealScores()
