"""Simulated evaluators: their accuracy as a function of the exposure.

Accuracy is the probability of a right answer, for reals and fakes alike. There are three kinds: constant
accuracy; accuracy that rises from chance as 1 - exp(-t / tau), as in the simulations of
`analysis/models/convergence.py`; and a psychometric function, the logistic on the logarithm of the exposure.
"""

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from backend.experiment.records import TRUTHS
from backend.foundation.errors import InvalidInput, brief

if TYPE_CHECKING:
    from random import Random

LOWEST, HIGHEST = 0.3, 0.995
"""Range to which an evaluator's accuracy is clipped if accuracies vary between evaluators."""
CHANCE = 0.5
PICTURE_SD = 0.35
"""SD of the effects of pictures on the probit of a right answer; in log-odds, `LOGITS` times as much."""
LOGITS = 1.7
"""Log-odds of a probit, nearly (Camilli, 1994)."""


class Observer(ABC):
    """A simulated evaluator; accuracies are probabilities, 0 to 1."""

    @abstractmethod
    def accuracy(self, exposure_ms: float | None) -> float:
        """Return the probability (0 to 1) of a right answer; an exposure of None means no time limit."""

    @abstractmethod
    def with_best(self, best: float) -> Self:
        """Return a copy of this observer that has accuracy `best` without a time limit."""

    def answer(
        self, truth: str, exposure_ms: float | None, rng: "Random", answers: Sequence[str] = TRUTHS
    ) -> str:
        """Return this observer's answer to a trial; a wrong answer is drawn from the other `answers`."""
        if rng.random() < self.accuracy(exposure_ms):
            return truth
        wrong = [each for each in answers if each != truth]
        return wrong[0] if len(wrong) == 1 else rng.choice(wrong)

    def varied(self, sd: float, rng: "Random") -> Self:
        """Return a copy whose accuracy without a time limit is Normal around this one's, and clipped."""
        return self.with_best(min(max(rng.gauss(self.accuracy(None), sd), LOWEST), HIGHEST))


@dataclass(frozen=True)
class ConstantObserver(Observer):
    """An observer with the same accuracy at every exposure."""

    best: float

    def __post_init__(self) -> None:
        _check_share("accuracy", self.best)

    def accuracy(self, exposure_ms: float | None) -> float:
        return self.best

    def with_best(self, best: float) -> Self:
        return dataclasses.replace(self, best=best)


@dataclass(frozen=True)
class PsychometricObserver(Observer):
    """An observer whose accuracy rises from `guess` at zero exposure to 1 - `lapse`.

    With slope s, accuracy(t) = guess + (1 - lapse - guess) / (1 + (threshold_ms / t)**s), so that
    `threshold_ms` is the exposure at which accuracy is midway between guess and 1 - lapse.
    """

    threshold_ms: float
    slope: float = 3.0
    lapse: float = 0.0
    guess: float = CHANCE

    def __post_init__(self) -> None:
        _check_share("guess", self.guess)
        _check_share("lapse", self.lapse)
        _check_above_0("threshold", self.threshold_ms)
        _check_above_0("slope", self.slope)

    def accuracy(self, exposure_ms: float | None) -> float:
        best = 1 - self.lapse
        if exposure_ms is None:
            return best
        if exposure_ms <= 0:
            return self.guess
        half = self.slope / 2 * (math.log(exposure_ms) - math.log(self.threshold_ms))
        return self.guess + (best - self.guess) * (1 + math.tanh(half)) / 2

    def with_best(self, best: float) -> Self:
        return dataclasses.replace(self, lapse=1 - best)


_NAMES = {"threshold": "threshold_ms", "slope": "slope", "lapse": "lapse", "guess": "guess"}


def accuracy_of(d_prime: float, divisor: float) -> float:
    """Return the share of right answers (0 to 1) without a bias at sensitivity d', Phi(d' / divisor).

    Args:
        divisor: 2 for one stimulus, real or fake; sqrt(2) for a real one beside a fake (Macmillan and
            Creelman, 2005, chapter 7).
    """
    return math.erfc(-d_prime / divisor / math.sqrt(2)) / 2


def parse_observer(text: str, divisor: float | None = None) -> Observer:
    """Return the observer described by `0.81` or `threshold=250,slope=3,lapse=0.02,guess=0.5`.

    Only the threshold (ms) is required; the defaults are slope 3, lapse 0 and guess 0.5.

    Args:
        divisor: that of the judgment for `accuracy_of`, by which `dprime=1.2` is an accuracy too.

    Raises:
        InvalidInput: the text has another form, or a number is out of range.
    """
    name, equals, number = (part.strip() for part in text.partition("="))
    if equals and name == "dprime" and divisor is not None:
        return ConstantObserver(accuracy_of(_d_prime(number), divisor))
    try:
        accuracy = float(text)
    except ValueError:
        accuracy = None
    if accuracy is not None:
        return ConstantObserver(accuracy)
    values: dict[str, float] = {}
    for pair in text.split(","):
        name, _, number = (part.strip() for part in pair.partition("="))
        if name not in _NAMES or _NAMES[name] in values:
            raise _not_an_observer(text)
        try:
            values[_NAMES[name]] = float(number)
        except ValueError:
            raise _not_an_observer(text) from None
    if "threshold_ms" not in values:
        raise _not_an_observer(text)
    return PsychometricObserver(**values)


def _d_prime(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InvalidInput(f"an observer's dprime must be a finite number, such as 1.2, not {brief(text)}")
    return value


def _not_an_observer(text: str) -> InvalidInput:
    return InvalidInput(
        "an observer must be an accuracy such as 0.81, or "
        f"threshold=250,slope=3,lapse=0.02,guess=0.5 with each name once, not {text!r}"
    )


def _check_share(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise InvalidInput(f"an observer's {name} must be from 0 to 1, not {value}")


def _check_above_0(name: str, value: float) -> None:
    if not 0 < value < math.inf:
        raise InvalidInput(f"an observer's {name} must be above 0, not {value}")
