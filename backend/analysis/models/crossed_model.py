"""A signal-detection model with crossed random effects of evaluators and pictures (HYPE-infinity).

    P("fake") = Phi(b_side + e_j + f_j x + u_i),  x = 1/2 for a fake, -1/2 for a real picture.

b_side is the mean of one side: the fakes of a model, or the reals. Where each evaluator judged one model,
the reals of each model's evaluators have a mean of their own, since people judge reals otherwise beside
better fakes. e_j is the evaluator's readiness to say "fake" (the negative criterion), f_j what the
evaluator's sensitivity differs from the mean, u_i what the picture differs from its side; all are normal
with mean 0, and their four standard deviations are estimated (`crossed_fit.py`). Priors: normal with SD 5
for the sides, half-normal with SD 1 for the standard deviations.

A model's sensitivity is d' = b_fakes - b_reals, its criterion c = -(b_fakes + b_reals) / 2: for an average
evaluator and an average picture. An evaluator's are those of the models that they judged, with e_j and f_j:
shrunk to the group, the more the fewer their responses. A picture's difficulty is Phi(b_side + u_i), the
probability that an average evaluator calls it fake, shrunk to those of its side. A model of whose fakes or
reals all answers are the same has no interval: only the prior would bound it.

An answer `not_sure` is half an answer "fake" and half an answer "real": its likelihood is the square root of
that of both.

Rouder and Lu (2005) propose this model, without the parts for models, for recognition memory.
"""

import math
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from backend.analysis.detection import are_both_given
from backend.analysis.models.crossed_fit import EFFECTS, Fit, fit
from backend.analysis.models.crossed_posterior import Design
from backend.analysis.table.response_table import Answers

MOST_EVALUATORS = 600
"""Of more the model is not fitted: the time, 12 s for these, grows with the third power of their number."""
UNDECIDED_WIDTH = 0.3
"""A picture needs more evaluators if the interval of its difficulty includes 1/2 and is wider than this."""


def crossed_model(answers: Answers, level: float) -> dict[str, Any] | None:
    """Return the model's estimates with their intervals, as plain data.

    Returns:
        `models` and `pairs` with `d_prime`, `criterion` and differences of d', `sds` of the effects,
        `by_picture`, `unseen` (of pictures that nobody judged) and `by_evaluator`; None for a method other
        than HYPE-infinity, for responses that do not name pictures, for fewer than two evaluators, where only
        reals or only fakes were judged, and where `crossed_model_note` says why.
    """
    if not _applies(answers) or crossed_model_note(answers):
        return None
    design, kept = _design(answers)
    posterior = fit(design)
    return {
        **_of_models(posterior, answers, level),
        "sds": {effect: _sd(posterior, effect, level) for effect in EFFECTS},
        "evaluators": design.evaluators,
        "pictures": design.pictures,
        "responses": len(design.side),
        "by_picture": _by_picture(posterior, answers, kept, level),
        "unseen": _unseen(posterior, level),
        "by_evaluator": _by_evaluator(posterior, answers, kept, level),
    }


def crossed_model_note(answers: Answers) -> str | None:
    """Return why the model is not fitted to responses that it applies to; None if it is."""
    people = len(np.unique(answers.evaluator.codes))
    if people <= MOST_EVALUATORS or not _applies(answers):
        return None
    return (
        f"the crossed model is not fitted: there are {people:,} evaluators, and it is fitted to at most "
        f"{MOST_EVALUATORS:,}"
    )


def _applies(answers: Answers) -> bool:
    return bool(
        not answers.has_exposures
        and answers.has_image.any()
        and len(np.unique(answers.evaluator.codes)) >= 2
        and answers.is_fake.any()
        and not answers.is_fake.all()
    )


def _of_models(fit: Fit, answers: Answers, level: float) -> dict[str, list[dict[str, Any]]]:
    judged = np.unique(answers.model.codes[answers.is_fake])
    models = sorted(
        (answers.model.names[code] for code in judged if fit.has_reals(answers.model.names[code])),
        key=lambda model: (fit.sensitivity(model).mean, model),
    )
    codes = {name: code for code, name in enumerate(answers.model.names)}
    is_bounded = {name: are_both_given(answers, answers.of_model[codes[name]]) for name in models}
    rows, pairs = [], []
    for model in models:
        sensitivity, criterion = fit.sensitivity(model), fit.criterion(model)
        rows.append(
            {
                "model": model,
                "d_prime": sensitivity.mean,
                "d_prime_ci": [*sensitivity.interval(level)] if is_bounded[model] else None,
                "criterion": criterion.mean,
                "criterion_ci": [*criterion.interval(level)] if is_bounded[model] else None,
            }
        )
    for a, b in combinations(models, 2):
        difference = fit.difference(b, a)
        ci = [*difference.interval(level)] if is_bounded[a] and is_bounded[b] else None
        pairs.append({"a": b, "b": a, "difference": difference.mean, "ci": ci})
    return {"models": rows, "pairs": pairs}


def _sd(fit: Fit, effect: str, level: float) -> dict[str, Any]:
    sd, *ci = fit.standard_deviation(effect, level)
    return {"sd": sd, "ci": ci}


def _by_picture(fit: Fit, answers: Answers, kept: np.ndarray, level: float) -> list[dict[str, Any]]:
    """Return a row for each picture that is named: fakes by model, then reals, the most difficult first."""
    design, names = fit.design, answers.texts["stimulus"]
    guesses = np.bincount(design.picture, minlength=design.pictures)
    said_fake = np.bincount(design.picture, design.said, design.pictures)
    first = kept[np.unique(design.picture, return_index=True)[1]]
    chance, low, high = ndtr(_ends(fit.pictures, level))
    wrong = np.where(design.is_fake_picture, 1 - chance, chance)
    rows = []
    for i in np.lexsort((names.ranks[names.codes[first]], -wrong)):
        if not answers.has_image[first[i]]:
            continue
        is_fake = bool(design.is_fake_picture[i])
        rows.append(
            {
                "model": answers.model.names[answers.model.codes[first[i]]] if is_fake else "",
                "generated": is_fake,
                "image_path": names.names[names.codes[first[i]]],
                "number_guesses": int(guesses[i]),
                "number_guesses_generated": float(said_fake[i]) if said_fake[i] % 1 else int(said_fake[i]),
                "called_fake": float(chance[i]),
                "called_fake_ci": [float(low[i]), float(high[i])],
                "needs_evaluators": needs_evaluators(float(low[i]), float(high[i])),
            }
        )
    return sorted(rows, key=lambda row: (not row["generated"], row["model"]))


def needs_evaluators(low: float, high: float) -> bool:
    """Return whether more answers to a picture would tell what most people call it, by its interval."""
    return low <= 0.5 <= high and high - low > UNDECIDED_WIDTH


def _unseen(fit: Fit, level: float) -> list[dict[str, Any]]:
    """Return, for each model and for the reals, the interval of a picture that nobody judged."""
    sides = fit.design.sides
    models = [*dict.fromkeys(model if is_fake else "" for model, is_fake in sides)]
    rows = []
    for model in models:
        mine = [side for side in sides if side[1] == bool(model) and (side[0] == model or not model)]
        side = fit.contrast({one: 1 / len(mine) for one in mine})
        sd, _, _ = fit.standard_deviation("fakes" if model else "reals", level)
        chance, low, high = ndtr(_ends(np.array([side.mean, math.hypot(side.sd, sd)]), level))
        rows.append(
            {
                "model": model,
                "generated": bool(model),
                "called_fake": float(chance),
                "called_fake_ci": [float(low), float(high)],
            }
        )
    return rows


def _by_evaluator(fit: Fit, answers: Answers, kept: np.ndarray, level: float) -> list[dict[str, Any]]:
    """Return a row for each evaluator who judged reals and fakes, the most sensitive first."""
    design = fit.design
    people, models = answers.evaluator.codes[kept], answers.model.codes[kept]
    codes = np.unique(people)
    judged = np.unique(np.stack([people, models])[:, design.is_fake], axis=1)
    of_person: dict[int, list[str]] = {}
    for person, model in judged.T.tolist():
        of_person.setdefault(person, []).append(answers.model.names[model])
    responses = np.bincount(design.evaluator, minlength=design.evaluators)
    sensitivity, criterion = _ends(fit.sensitivities, level), _ends(fit.criteria, level)
    rows = [
        {
            "evaluator": answers.evaluator.names[code],
            "models": sorted(of_person[code]),
            "responses": int(responses[i]),
            "d_prime": float(sensitivity[0, i]),
            "d_prime_ci": sensitivity[1:, i].tolist(),
            "criterion": float(criterion[0, i]),
            "criterion_ci": criterion[1:, i].tolist(),
        }
        for i, code in enumerate(codes.tolist())
        if np.isfinite(sensitivity[0, i])
    ]
    return sorted(rows, key=lambda row: (-row["d_prime"], str(row["evaluator"])))


def _ends(found: np.ndarray, level: float) -> np.ndarray:
    """Return means and the ends of their intervals, from means and SDs. Shape (3, ...)."""
    mean, far = found[0], found[1] * ndtri((1 + level) / 2)
    return np.stack([mean, mean - far, mean + far])


def design_of(answers: Answers) -> Design:
    """Return which effects each response has. A response that names no picture has one of its own."""
    return _design(answers)[0]


def _design(answers: Answers) -> tuple[Design, np.ndarray]:
    """Return the design, and the index of each of its responses among the answers."""
    kept = answers.first_of_source
    people, models = answers.evaluator.codes[kept], answers.model.codes[kept]
    is_fake = np.asarray(answers.is_fake, bool)[kept]
    judged = np.unique(np.stack([people, models]), axis=1)
    is_between = len(np.unique(judged[0])) == judged.shape[1]
    codes = np.where(is_fake, 2 * models, 2 * models + 1 if is_between else 1)
    cells, side = np.unique(codes, return_inverse=True)
    names = answers.model.names
    sides = [(names[code // 2] if code % 2 == 0 or is_between else "", code % 2 == 0) for code in cells]
    pictures = np.where(answers.has_image, answers.image_ranks, -1 - np.arange(len(answers)))[kept]
    _, evaluator = np.unique(people, return_inverse=True)
    # models may have named their fakes alike
    _, picture = np.unique(
        pictures * (len(names) + 1) + np.where(is_fake, models + 1, 0), return_inverse=True
    )
    made = Design(
        sides=sides,
        side=side,
        evaluator=evaluator,
        picture=picture,
        is_fake=is_fake,
        said=answers.said[kept],
        evaluators=int(evaluator.max()) + 1,
        pictures=int(picture.max()) + 1,
    )
    return made, kept
