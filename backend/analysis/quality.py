"""Measures of each evaluator's data quality, which are reported but never used to exclude anyone.

For a model that fools everyone, a conscientious evaluator looks like one who guesses. So nothing here
excludes; it shows a researcher which evaluators to check.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from backend.analysis.distributions.binomial import at_least
from backend.analysis.table.evaluator_values import Values
from backend.analysis.table.response_table import Answers
from backend.experiment.judgments import judgment_of

FAST_MS = 300.0
"""Answers faster than this can hardly be based on the stimulus."""
NOTICE = "same_answer_notice"
"""The flag of the first answer after the page's notice of a run of equal answers (`task/trials.js`)."""
_NO_TIMES = {"rt_median_ms": None, "rt_total_ms": None, "fast": None}


def evaluator_table(
    answers: Answers, values: Mapping[str, Values], compared: Answers | None = None
) -> list[dict[str, Any]]:
    """Return a row for each evaluator of each model.

    Shares are 0 to 1, times in ms. `z` is the distance of the evaluator's value from the mean of the
    model's other evaluators, in units of their SD. `agreement` is the mean share of the others who gave the
    evaluator's answer to the same image, less its expectation if the evaluator's answers were shuffled.
    `guessing_p` is the probability of being right as often or more by guessing (of two answers, by tossing a
    coin), among the answers other than `not_sure`, whose share is `not_sure` (only if somebody gave one).
    `same_answer_notices` is the number of notices of a run of equal answers, by the flags. Unknown values are
    None, as are all that need right answers where there are none, and `value` where evaluators have none
    (tournaments).
    `said_fake` is named after the second answer of the judgment, such as `said_right`; only real or fake has
    `fakes_error` and `reals_error`.

    Args:
        compared: the same responses in a form in which equal answers to one stimulus are equal, whatever
            the order in which its pictures were shown; default, `answers`.
    """
    judges = answers.judges
    seen, right = judges.seen, judges.seen - judges.wrong
    said = np.bincount(judges.of_response, answers.said, len(seen))
    decided = np.bincount(judges.of_response, answers.is_decided, len(seen)).astype(int)
    decided_right = np.rint(right - (seen - decided) / 2).astype(int)
    words = judgment_of(answers.method).answers
    compared = answers if compared is None else compared
    no_truth = {} if answers.has_truth else dict.fromkeys(("accuracy", "guessing_p"))
    columns = {
        "responses": seen,
        "accuracy": right / seen,
        "fakes_error": _shares(judges.wrong_fakes, judges.fakes),
        "reals_error": _shares(judges.wrong_reals, judges.reals),
        "said": said / seen,
        "agreement": _agreement(compared) if compared.has_image.any() else np.full(len(seen), np.nan),
        "not_sure": (seen - decided) / seen,
        "guessing_p": at_least(decided_right, np.maximum(decided, 1), 1 / len(words)),
        "same_answer_notices": _notices(answers),
    }
    plain = {name: column.tolist() for name, column in columns.items()}
    times = _times(answers) if "rt" in answers.numbers else {}
    rows = []
    for code, model in enumerate(answers.model.names):
        mine = np.flatnonzero(judges.model == code).tolist()
        numbers: list[float | None] = [None] * len(mine)
        distances: Mapping[Any, float | None] = {None: None}
        if model in values:
            numbers = values[model].numbers.tolist()
            distances = _distances(values[model].numbers)
        for i, judge in enumerate(mine):
            of = {name: column[judge] for name, column in plain.items()}
            rows.append(
                {
                    "model": model,
                    "evaluator": answers.evaluator.names[judges.evaluator[judge]],
                    "responses": of["responses"],
                    "value": numbers[i],
                    "accuracy": of["accuracy"],
                    **({} if not answers.is_real_or_fake else _sides(of)),
                    f"said_{words[1]}": of["said"],
                    **({} if answers.not_sure is None else {"not_sure": of["not_sure"]}),
                    "z": distances[numbers[i]],
                    "agreement": _known(of["agreement"]),
                    "guessing_p": of["guessing_p"],
                    **times.get(judge, _NO_TIMES),
                    "same_answer_notices": of["same_answer_notices"],
                    **no_truth,
                }
            )
    return rows


def _sides(of: Mapping[str, float]) -> dict[str, float | None]:
    return {name: _known(of[name]) for name in ("fakes_error", "reals_error")}


def _shares(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Return shares; NaN where the denominator is 0."""
    return np.where(whole > 0, part / np.maximum(whole, 1), np.nan)


def _known(number: float) -> float | None:
    return None if number != number else number


def _distances(numbers: np.ndarray) -> dict[float, float | None]:
    """Return, by value, its distance from the mean of all others, in units of their SD."""
    found: dict[float, float | None] = {}
    for value, place in zip(*np.unique(numbers, return_index=True), strict=True):
        others = np.delete(numbers, place)
        # centred on one of them, so that equal values have no spread from rounding
        spread = (others - others[0]).std(ddof=1) if len(others) >= 2 else 0.0
        found[float(value)] = float((value - others.mean()) / spread) if spread > 0 else None
    return found


def _agreement(answers: Answers) -> np.ndarray:
    """Return each judge's agreement with the others of the model, beyond chance; NaN without others."""
    models = len(answers.model.names)
    images = answers.texts["stimulus"].codes.astype(np.int64) * models + answers.model.codes
    _, image = np.unique(images, return_inverse=True)
    judge, said = answers.judges.of_response, answers.said
    # answers of the others to an image: all answers to it, less those of the judge
    _, own = np.unique(image * len(answers.judges.model) + judge, return_inverse=True)
    seen = np.bincount(image)[image] - np.bincount(own)[own]
    fakes = np.bincount(image, said)[image] - np.bincount(own, said)[own]
    is_shared = (seen > 0) & answers.has_image
    judge, said = judge[is_shared], said[is_shared]
    of_others = fakes[is_shared] / seen[is_shared]
    size = len(answers.judges.model)
    with np.errstate(invalid="ignore", divide="ignore"):
        count = np.bincount(judge, minlength=size)
        mean, theirs = (np.bincount(judge, column, size) / count for column in (said, of_others))
        together = np.bincount(judge, said * of_others + (1 - said) * (1 - of_others), size) / count
    return together - (mean * theirs + (1 - mean) * (1 - theirs))


def _notices(answers: Answers) -> np.ndarray:
    """Return the number of notices of a run of equal answers that each judge was shown."""
    size, flags = len(answers.judges.model), answers.texts.get("flags")
    if flags is None:
        return np.zeros(size, int)
    is_notice = np.array([NOTICE in words.split() for words in flags.names])[flags.codes]
    return np.bincount(answers.judges.of_response[is_notice], minlength=size)


def _times(answers: Answers) -> dict[int, dict[str, float]]:
    """Return, by judge, the median and the total response time (ms), and the share of too fast answers."""
    judge, rt = answers.judges.of_response, answers.numbers["rt"]
    judge, rt = judge[~np.isnan(rt)], rt[~np.isnan(rt)]
    order = np.lexsort((rt, judge))
    judge, rt = judge[order], rt[order]
    found, first, count = np.unique(judge, return_index=True, return_counts=True)
    medians = (rt[first + (count - 1) // 2] + rt[first + count // 2]) / 2
    totals, fast = (np.add.reduceat(column, first) for column in (rt, (rt < FAST_MS).astype(float)))
    columns = (found, medians, totals, fast / count)
    return {
        judge: {"rt_median_ms": median, "rt_total_ms": total, "fast": share}
        for judge, median, total, share in zip(*(column.tolist() for column in columns), strict=True)
    }
