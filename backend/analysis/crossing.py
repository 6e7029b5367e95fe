"""The interval of a score whose images are a sample too, not only its evaluators.

Evaluators who see the same images err on the same ones, so that their mean is less sure than their
spread shows (Clark, 1973). With y_i the mean error of evaluator i, n evaluators, and c the mean
covariance between two of them, var(mean) = s^2 / n + c. An image j contributes to c by the products of
two evaluators' residuals on it: c = sum_j [(sum_i w_ij r_ij)^2 - sum_i (w_ij r_ij)^2] / (n (n - 1)),
where w_ij is 1 over the number of answers of i, and r_ij is the answer's error (0 or 1) less the mean
error on its side, real or fake. Where everybody saw other images, c is about 0.
An answer that does not name its image counts as one to an image that nobody else saw.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from backend.analysis.intervals import Spread, wilson
from backend.answers import Answers, distinct


@dataclass(frozen=True)
class Crossed:
    """What the evaluators and the images each add to the variance of a score (a share, 0 to 1)."""

    mean: float
    of_evaluators: float
    of_images: float
    evaluators: int
    images: int
    responses: int

    @property
    def spread(self) -> Spread:
        """The spread of the mean, with Satterthwaite's (1946) degrees of freedom."""
        variance = self.of_evaluators + self.of_images
        parts = self.of_evaluators**2 / (self.evaluators - 1)
        parts += self.of_images**2 / max(self.images - 1, 1)
        df = variance**2 / parts if parts else self.evaluators - 1
        return Spread(self.mean, variance, df, self.responses)


def crossed(answers: Answers, model: int) -> Crossed | None:
    """Return the parts of a model's variance; None with one evaluator, or where no image is named."""
    mine = answers.model.codes == model
    if not answers.has_image[mine].any():
        return None
    images, image = distinct(answers.texts["stimulus"].codes[mine], len(answers.texts["stimulus"].names))
    _, person = np.unique(answers.evaluator.codes[mine], return_inverse=True)
    wrong, is_fake = answers.was_wrong[mine].astype(float), answers.is_fake[mine]
    seen = np.bincount(person)
    count = len(seen)
    if count < 2:
        return None
    means = np.bincount(person, wrong) / seen
    side_errors = [wrong[is_fake == side].mean() if (is_fake == side).any() else 0.0 for side in (0, 1)]
    weighted = (wrong - np.where(is_fake, side_errors[1], side_errors[0])) / seen[person]
    has_image = answers.has_image[mine]
    image, person, weighted = image[has_image], person[has_image], weighted[has_image]
    own, pair = np.unique(image * count + person, return_inverse=True)
    own_sums = np.bincount(pair, weighted, len(own))
    together = np.bincount(image, weighted, len(images)) ** 2
    together -= np.bincount(own // count, own_sums**2, len(images))
    return Crossed(
        mean=float(means.mean()),
        of_evaluators=float(means.var(ddof=1)) / count,
        of_images=max(0.0, float(together.sum()) / (count * (count - 1))),
        evaluators=count,
        images=len(np.unique(image)),
        responses=len(wrong),
    )


def crossed_interval(answers: Answers, model: int, level: float) -> dict[str, Any] | None:
    """Return the interval (percent) over evaluators and images, and the images' share of its variance."""
    found = crossed(answers, model)
    if found is None:
        return None
    spread = found.spread
    return {
        "ci": [100 * end for end in wilson(spread, level)],
        "method": "wilson, evaluators and images crossed",
        "df": spread.df,
        "images": found.images,
        "share_of_images": found.of_images / spread.variance if spread.variance else None,
    }
