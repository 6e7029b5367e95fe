"""The share of answers `not_sure`, by model, with the interval of a score.

It stands beside the score, in which such an answer is half an error: 50% may mean that everybody guessed, or
that nobody wanted to. It is formed as the score is, with `not_sure` in place of errors: the mean over
evaluators of their shares, and Wilson's interval over evaluators and the pictures that they share.
"""

from dataclasses import replace
from math import fsum
from typing import Any

from backend.analysis.score_intervals import score_details
from backend.analysis.table.evaluator_values import values_by_model
from backend.analysis.table.response_table import Answers


def not_sure_shares(answers: Answers, level: float) -> dict[str, dict[str, Any]]:
    """Return by model `not_sure` and `not_sure_ci`, in percent; {} if no answer is `not_sure`.

    The interval is None for a single evaluator.
    """
    if answers.not_sure is None:
        return {}
    counted = replace(answers, said_fake=answers.is_fake ^ answers.not_sure, not_sure=None)
    values = values_by_model(counted)
    shares = {}
    for model, details in score_details(counted, values, level).items():
        own, interval = values[model].numbers, details["interval"]
        shares[model] = {"not_sure": fsum(own) / len(own), "not_sure_ci": interval and interval["ci"]}
    return shares
