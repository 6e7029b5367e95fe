"""Answers counted once where a statistic is over all models, which may share answers to reals."""

import numpy as np

from backend.analysis.response_table import Answers


def counted_once(answers: Answers) -> np.ndarray:
    """Return whether each response is the first of those that repeat one original response."""
    if answers.source is None:
        return np.ones(len(answers), bool)
    first = np.zeros(len(answers), bool)
    first[np.unique(answers.source, return_index=True)[1]] = True
    return first
