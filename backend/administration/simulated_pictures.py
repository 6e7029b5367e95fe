"""How single pictures differ for simulated evaluators: some fool nearly everybody, and some nobody.

A picture shifts the probit of a right answer by its effect, the same for everybody. The effects of a model's
pictures (and of the reals, and in each class) are the quantiles of a normal distribution in random order, so
that their mean is 0 and the accuracy asked for stays the mean that is met, in small pools too.

The default SD is that of people's answers to faces by Lago and others (2022, IEEE Signal Processing Magazine
39): 600 people saw 28 of 300 pictures each, and pictures shared by them had that part in the variance of a
score (docs/statistics.md has the intervals).
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from random import Random
from statistics import NormalDist

from backend.experiment.observer import LOGITS, Observer
from backend.experiment.records import Stimulus

_NORMAL = NormalDist()


def picture_effects(stimuli: Iterable[Stimulus]) -> dict[str, float]:
    """Return the effect of each stimulus by its name, in SDs.

    They depend on the stimuli alone, so that all evaluators of a study find the same ones hard.
    """
    groups: dict[tuple[str, str | None, str], list[Stimulus]] = {}
    for stimulus in stimuli:
        if not stimulus.role:
            groups.setdefault((stimulus.truth, stimulus.model, stimulus.class_), []).append(stimulus)
    effects: dict[str, float] = {}
    for group, pictures in groups.items():
        count = len(pictures)
        quantiles = [_NORMAL.inv_cdf((i + 0.5) / count) for i in range(count)]
        sd = math.sqrt(math.fsum(each**2 for each in quantiles) / count) or 1.0
        Random(repr(group)).shuffle(quantiles)
        ordered = sorted(pictures, key=lambda picture: (picture.source, picture.name))
        effects |= {picture.name: each / sd for picture, each in zip(ordered, quantiles, strict=True)}
    return effects


def accuracy_at(observer: Observer, exposure_ms: float | None, effects: Sequence[float], sd: float) -> float:
    """Return the probability (0 to 1) of a right answer to pictures with these effects (in SDs).

    What an exposure is too short to show has no effect: at no exposure at all the pictures are alike.
    """
    p = observer.accuracy(exposure_ms)
    if not 0 < p < 1 or not sd:
        return p
    best, least = observer.accuracy(None), observer.accuracy(0)
    seen = 1.0 if best == least else min(max((p - least) / (best - least), 0.0), 1.0)
    own = seen * sd
    middle = _NORMAL.inv_cdf(p) * math.sqrt(1 + len(effects) * own**2)
    return _NORMAL.cdf(middle + own * sum(effects))


def strengths_of(
    shown: Sequence[Stimulus], of_models: Mapping[str, float], effects: Mapping[str, float], sd: float
) -> list[float]:
    """Return how real each of two pictures looks, in log-odds, from the strengths of their models.

    A picture that fools people looks more real, and a real one that is told does, too.

    Args:
        of_models: by the name of the contestant, `real` for the reals.
        effects: by stimulus, in SDs.
        sd: in probits.
    """
    scale = math.sqrt(1 + len(shown) * sd**2)
    return [
        scale * of_models.get(picture.model or picture.truth, 0.0)
        + LOGITS * sd * effects.get(picture.name, 0.0)
        for picture in shown
    ]
