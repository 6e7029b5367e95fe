"""The error of a response: 0 if it is right, 1 if it is wrong, and 1/2 if it is `not_sure`.

Half an error is what tossing a coin costs on average, so that an evaluator who cannot decide has the same
expected value whether they guess or say so: 50% stays the score of a model that cannot be told from real. It
is also half a right answer for pay, so that doubt costs nothing on average. Tests of two alternatives are
scored alike where questions may be left open: right answers less wrong ones (formula scoring; Lord, 1975,
Journal of Educational Measurement 12, 7-11) are a linear function of right answers and half of those open.
"""

NOT_SURE = "not_sure"
"""The third answer, beside two that are right or wrong, of studies whose setting of this name allows it."""


def error_of(response: str, truth: str) -> float:
    """Return the error of a response: 0, 0.5 or 1."""
    return 0.5 if response == NOT_SURE else float(response != truth)
