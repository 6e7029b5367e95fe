"""What a distortion is: a name, a function, and the parameters that are drawn for it.

Every distortion has one magnitude, which says how strong it is, and parameters that do not (directions,
numbers of cells, seeds). A position of 0 within the magnitude's range is the mildest, 1 the strongest.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

Value = float | int
SubType = Literal["photometric", "noise", "blur", "spatial", "compression"]
_DIGITS = 4
"""Significant digits of drawn parameters, so that a table can state them exactly."""
_SEEDS = 2**32


@dataclass(frozen=True)
class Magnitude:
    """The parameter that says how strong a distortion is, from mildest to strongest."""

    name: str
    mildest: Value
    strongest: Value
    unit: str
    is_whole: bool = False

    def at(self, position: float) -> Value:
        """Return the magnitude at a position (0 to 1): geometric in the range, linear for whole numbers."""
        if self.is_whole:
            return round(self.mildest + (self.strongest - self.mildest) * position)
        return _rounded(self.mildest * (self.strongest / self.mildest) ** position)


@dataclass(frozen=True)
class Uniform:
    """A parameter that is uniform between two numbers."""

    name: str
    low: float
    high: float
    unit: str

    def draw(self, rng: np.random.Generator) -> Value:
        return _rounded(rng.uniform(self.low, self.high))


@dataclass(frozen=True)
class Choice:
    """A parameter that is one of a few numbers, each equally probable."""

    name: str
    values: tuple[int, ...]
    unit: str

    def draw(self, rng: np.random.Generator) -> Value:
        return self.values[rng.integers(len(self.values))]


@dataclass(frozen=True)
class Seed:
    """The seed of what is random in the distortion itself: the noise, or the directions of a warp."""

    name: str = "seed"
    unit: str = ""

    def draw(self, rng: np.random.Generator) -> Value:
        return int(rng.integers(_SEEDS))


@dataclass(frozen=True)
class Distortion:
    """One kind of distortion, as table 2 of Zhang et al. (CVPR 2018) names it."""

    name: str
    sub_type: SubType
    function: Callable[..., np.ndarray]
    """Takes levels, (height, width, 3) float64 from 0 to 255, and the parameters by name; returns levels,
    which may lie beyond 0 and 255."""
    magnitude: Magnitude
    others: tuple[Uniform | Choice | Seed, ...] = ()

    def draw(self, position: float, rng: np.random.Generator) -> "Step":
        """Return this distortion with a magnitude at `position` (0 to 1) and its other parameters random."""
        values = {self.magnitude.name: self.magnitude.at(position)}
        return Step(self.name, values | {other.name: other.draw(rng) for other in self.others})

    def apply(self, picture: np.ndarray, values: Mapping[str, Value]) -> np.ndarray:
        """Return the distorted picture; (height, width, 3) uint8, as `picture` is."""
        return to_uint8(self.function(picture.astype(np.float64), **values))


@dataclass(frozen=True)
class Step:
    """A distortion with all its parameters: applied to the same picture it gives the same result."""

    name: str
    values: Mapping[str, Value]


def to_uint8(levels: np.ndarray) -> np.ndarray:
    return np.rint(np.clip(levels, 0, 255)).astype(np.uint8)


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")
