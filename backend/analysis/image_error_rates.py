"""How often each image fooled evaluators: one row for each image and model, in a published format.

Columns: model, generated, image_path, number_guesses, number_guesses_generated, soft_label, then
the share of wrong answers with its interval. `soft_label` is the share of evaluators who called the
image generated; one who was `not_sure` is half of one who did. The table is counted from the same answers
as the evaluators' table, so that both agree.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from backend.analysis.distributions.binomial import clopper_pearson
from backend.analysis.table.response_table import Answers, distinct, filter_rows
from backend.foundation.column_rows import ColumnRows, Part

COLUMNS = ("model", "generated", "image_path", "number_guesses", "number_guesses_generated", "soft_label",
           "error", "ci")  # fmt: skip


def image_table(answers: Answers, level: float = 0.95) -> Sequence[dict[str, Any]]:
    """Return a row for each named image, the most fooling first within its model and side.

    A real image that counts for several models has one row, whose model is ''.
    `error` and `ci` are shares (0 to 1); the interval is Clopper and Pearson's (1934) for the answers to one
    image, continued to half counts where answers are `not_sure`: errors of 0, 1/2 and 1 vary less than those
    of 0 and 1 with the same mean, so that it covers more rather than less. Shares regress to the mean: among
    many images judged by few evaluators, extremes are partly chance.
    """
    if not answers.has_image.all():
        answers = filter_rows(answers, answers.has_image)
    if not len(answers):
        return []
    answers, model_codes, model_names = _by_model(answers)
    stimulus = answers.texts["stimulus"]
    models = len(model_names)
    codes = (stimulus.codes.astype(np.int64) * models + model_codes) * 2 + answers.is_fake
    images, image = distinct(codes, len(stimulus.names) * models * 2)
    guesses = np.bincount(image, minlength=len(images))
    said_fake = np.bincount(image, answers.said, minlength=len(images))
    is_fake, model, name = images % 2 == 1, images // 2 % models, images // 2 // models
    wrong = np.where(is_fake, guesses - said_fake, said_fake)
    error = wrong / guesses
    order = np.lexsort((name, -guesses, -error, ~is_fake, model))
    sides = [{"model": model, "generated": generated} for model in model_names for generated in (False, True)]
    counts, count = _counts(is_fake, guesses, np.rint(2 * said_fake).astype(int), level)
    return ColumnRows(
        (
            Part((2 * model + is_fake)[order], sides),
            Part(name[order], stimulus.names, "image_path"),
            Part(count[order], counts),
        )
    )


def _by_model(answers: Answers) -> tuple[Answers, np.ndarray, list[Any]]:
    """Return answers, each once, with the code of the model of each, and the models' names.

    A real image that counts for several models is of none, whose name is ''.
    """
    codes, names = answers.model.codes, [*answers.model.names]
    if answers.source is None:
        return answers, codes, names
    is_shared = np.bincount(answers.source)[answers.source] > 1
    first = answers.is_first
    return filter_rows(answers, first), np.where(is_shared, len(names), codes)[first], [*names, ""]


def _counts(
    is_fake: np.ndarray, guesses: np.ndarray, said_halves: np.ndarray, level: float
) -> tuple[list[dict[str, Any]], np.ndarray]:
    """Return the row of each distinct pair of counts, and the index of each image's row.

    Many images share their counts, so each row is computed once.

    Args:
        said_halves: twice the number of answers "fake".
    """
    most = 2 * int(guesses.max()) + 1
    cells, place = np.unique((guesses * most + said_halves) * 2 + is_fake, return_inverse=True)
    is_fake, (guesses, said_halves) = cells % 2 == 1, np.divmod(cells // 2, most)
    said_fake = said_halves // 2 if not (said_halves % 2).any() else said_halves / 2
    wrong = np.where(is_fake, guesses - said_fake, said_fake)
    columns = {
        "number_guesses": guesses.tolist(),
        "number_guesses_generated": said_fake.tolist(),
        "soft_label": (said_fake / guesses).tolist(),
        "error": (wrong / guesses).tolist(),
        "ci": clopper_pearson(wrong, guesses, level),
    }
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)], place
