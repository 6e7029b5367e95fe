"""Simulated evaluators: how often they are right, by the exposure.

Accuracy is the chance of a right answer, for reals and fakes alike. `threshold_ms` is the exposure
at which accuracy is midway between the guess rate and 1 - lapse; `slope` is the logistic's steepness
on the logarithm of the exposure.
"""

import dataclasses
import math
from dataclasses import dataclass
from random import Random

from backend.errors import InvalidInput
from backend.records import FAKE, REAL, Truth

LOWEST, HIGHEST = 0.3, 0.995
"""To which an evaluator's own accuracy is clipped when accuracies vary between evaluators."""


@dataclass(frozen=True)
class Observer:
    """Someone whose accuracy is `guess` at no exposure, rising to 1 - `lapse`; shares 0 to 1.

    Without a threshold the accuracy is 1 - `lapse` at every exposure.
    """

    guess: float = 0.5
    lapse: float = 0.0
    threshold_ms: float | None = None
    slope: float = 3.0

    def accuracy(self, exposure_ms: float | None) -> float:
        """Return the chance (0 to 1) of a right answer; None is no time limit."""
        top = 1 - self.lapse
        if self.threshold_ms is None or exposure_ms is None:
            return top
        return self.guess + (top - self.guess) / (1 + (self.threshold_ms / exposure_ms) ** self.slope)

    def answer(self, truth: Truth, exposure_ms: float | None, rng: Random) -> Truth:
        """Return what this evaluator answers to a picture."""
        is_right = rng.random() < self.accuracy(exposure_ms)
        return truth if is_right else {REAL: FAKE, FAKE: REAL}[truth]

    def varied(self, sd: float, rng: Random) -> "Observer":
        """Return one evaluator of many, whose best accuracy is Normal around this one's."""
        own = min(max(rng.gauss(1 - self.lapse, sd), LOWEST), HIGHEST)
        return dataclasses.replace(self, lapse=1 - own)


def parse_observer(text: str) -> Observer:
    """Return the observer that `0.81` or `threshold=250,slope=3,lapse=0.02,guess=0.5` describes.

    Raises:
        InvalidInput: not such a text, or a number out of range.
    """
    try:
        return _checked(text, Observer(lapse=1 - float(text)))
    except ValueError:
        pass
    names = {"threshold": "threshold_ms", "slope": "slope", "lapse": "lapse", "guess": "guess"}
    values = {}
    for pair in text.split(","):
        name, _, number = pair.partition("=")
        try:
            values[names[name.strip()]] = float(number)
        except (KeyError, ValueError):
            raise InvalidInput(
                "an observer must be an accuracy such as 0.81, or "
                f"threshold=250,slope=3,lapse=0.02,guess=0.5, not {text!r}"
            ) from None
    return _checked(text, Observer(**values))


def _checked(text: str, observer: Observer) -> Observer:
    shares = 0 <= observer.guess <= 1 and 0 <= observer.lapse <= 1
    threshold = observer.threshold_ms is None or (0 < observer.threshold_ms < math.inf)
    if not (shares and threshold and 0 < observer.slope < math.inf):
        raise InvalidInput(f"an observer's shares must be from 0 to 1, times and slope above 0, not {text!r}")
    return observer
