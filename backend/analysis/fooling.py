"""How often each image fooled people: one row an image and model, in the shape others publish.

Columns: model, generated, image_path, number_guesses, number_guesses_generated, soft_label, and after
them the share of wrong answers with its interval. `soft_label` is the share of people who called the
image generated. The table is counted from the same answers as the evaluators', so that both reconcile.
"""

from typing import Any

import numpy as np
from scipy.special import betaincinv

from backend.answers import Answers, distinct, some_of

COLUMNS = ("model", "generated", "image_path", "number_guesses", "number_guesses_generated", "soft_label",
           "error", "ci")  # fmt: skip


def image_table(answers: Answers, level: float = 0.95) -> list[dict[str, Any]]:
    """Return a row for each image that was named, the most fooling first within its model and side.

    `error` and `ci` are shares (0 to 1); the interval is Clopper and Pearson's (1934) for one image's
    judgements. The share regresses to the mean: of many images judged by few, the extremes are partly luck.
    """
    if not answers.has_image.all():
        answers = some_of(answers, answers.has_image)
    if not len(answers):
        return []
    stimulus = answers.texts["stimulus"]
    models = len(answers.model.names)
    codes = (stimulus.codes.astype(np.int64) * models + answers.model.codes) * 2 + answers.is_fake
    found, image = distinct(codes, len(stimulus.names) * models * 2)
    guesses = np.bincount(image, minlength=len(found))
    said_fake = np.bincount(image, answers.said_fake, minlength=len(found)).astype(int)
    is_fake, model, name = found % 2 == 1, found // 2 % models, found // 2 // models
    wrong = np.where(is_fake, guesses - said_fake, said_fake)
    tail = (1 - level) / 2
    low = np.where(wrong > 0, betaincinv(np.maximum(wrong, 1), guesses - wrong + 1, tail), 0.0)
    high = np.where(wrong < guesses, betaincinv(wrong + 1, np.maximum(guesses - wrong, 1), 1 - tail), 1.0)
    order = np.lexsort((name, -guesses, -(wrong / guesses), ~is_fake, model))
    return [
        {
            "model": answers.model.names[model[i]],
            "generated": bool(is_fake[i]),
            "image_path": stimulus.names[name[i]],
            "number_guesses": int(guesses[i]),
            "number_guesses_generated": int(said_fake[i]),
            "soft_label": float(said_fake[i] / guesses[i]),
            "error": float(wrong[i] / guesses[i]),
            "ci": [float(low[i]), float(high[i])],
        }
        for i in order
    ]
