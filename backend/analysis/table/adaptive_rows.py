"""Which responses scores are computed from, where a study drew a part of its pictures by need.

Pictures drawn by need are not a random sample: those that few people saw, or that divide them. Scores, tests
and intervals use the responses to pictures drawn at random; the crossed model, which estimates each picture's
difficulty, uses all.
"""

from dataclasses import replace

import numpy as np

from backend.analysis.table.response_table import Answers, filter_rows
from backend.experiment.groups.stimuli import ADAPTIVE_SAMPLING
from backend.foundation.errors import InvalidInput


def random_share(answers: Answers) -> Answers:
    """Return the answers to pictures drawn at random, with a note on how many others there are.

    Raises:
        InvalidInput: there are no others.
    """
    column = answers.texts.get("sampling")
    if column is None or not any(name in ADAPTIVE_SAMPLING for name in column.names):
        return answers
    by_need = np.array([name in ADAPTIVE_SAMPLING for name in column.names])[column.codes]
    if by_need.all():
        raise InvalidInput(
            "all pictures are from adaptive sampling (column `sampling`), so that there is no score"
        )
    left = filter_rows(answers, ~by_need)
    count = answers.given - left.given
    note = (
        f"{count:,} of {answers.given:,} responses are to pictures of adaptive sampling; scores are "
        "from the others, the crossed model from all"
    )
    return replace(left, notes=(*left.notes, note))
