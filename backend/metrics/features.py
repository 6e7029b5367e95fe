"""Features of pictures: what an extractor made of them, checked, with the extractor's identity."""

import re
from dataclasses import dataclass

import numpy as np

from backend.foundation.errors import InvalidInput

_HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Extractor:
    """The identity of an extractor. Features of different extractors cannot be compared."""

    name: str
    """For example `layout-1`, `torch-fidelity:inception-v3-compat`, or what a file of features says."""
    hash: str
    """SHA-256 (64 hexadecimal digits) of all that determines the features: code version, weights, options."""
    size: str = ""
    """Size at which the extractor sees a picture and the filter of the resize, as text; '' if unknown."""

    def __post_init__(self) -> None:
        if not self.name or not _HASH.fullmatch(self.hash):
            raise InvalidInput(
                f"an extractor needs a name and a SHA-256 as 64 hexadecimal digits, not {self.name!r} and "
                f"{self.hash!r}"
            )

    @property
    def short_hash(self) -> str:
        """The first digits of the hash, as printed beside numbers."""
        return self.hash[:12]


@dataclass(frozen=True)
class Features:
    """Features of the pictures of one side: the reals, or one model."""

    values: np.ndarray
    """Shape (pictures, dimensions); float32 or float64."""
    extractor: Extractor
    classes: tuple[str, ...] = ()
    """The class of each picture; () if there are none."""
    source: str = ""
    """The file or folder that they come from, for messages."""

    def __post_init__(self) -> None:
        where, values = self.source or "features", self.values
        if values.ndim != 2 or 0 in values.shape or values.dtype.kind != "f":
            raise InvalidInput(
                f"{where}: expected an array of floating-point numbers of shape (pictures, dimensions), got "
                f"{values.dtype} of shape {values.shape}"
            )
        is_finite = np.isfinite(values).all(axis=1)
        if not is_finite.all():
            count, first = int((~is_finite).sum()), int(np.argmin(is_finite))
            raise InvalidInput(
                f"{where}: every feature must be a finite number; {count:,} of {len(values):,} pictures have "
                f"NaN or infinity, the first in row {first} (rows are counted from 0)"
            )
        if self.classes and len(self.classes) != len(values):
            raise InvalidInput(
                f"{where}: expected a class for each of {len(values):,} pictures, got {len(self.classes):,}"
            )

    def __len__(self) -> int:
        return len(self.values)

    def of_class(self, name: str) -> "Features | None":
        """Return the features of one class; None if it has no pictures."""
        rows = [i for i, each in enumerate(self.classes) if each == name]
        return Features(self.values[rows], self.extractor, (), self.source) if rows else None


def check_comparable(reals: Features, fakes: Features) -> None:
    """Raise InvalidInput unless both sides are of one extractor and width."""
    if reals.extractor.hash != fakes.extractor.hash:
        raise InvalidInput(
            f"{fakes.source or 'the model'} has features of {_named(fakes.extractor)}, "
            f"{reals.source or 'the reals'} of {_named(reals.extractor)}; features of different extractors "
            "cannot be compared, so extract both sides with one"
        )
    ours, theirs = reals.values.shape[1], fakes.values.shape[1]
    if ours != theirs:
        raise InvalidInput(
            f"{fakes.source or 'the model'} has {theirs:,} features a picture, "
            f"{reals.source or 'the reals'} {ours:,}; extract both sides with one extractor"
        )


def _named(extractor: Extractor) -> str:
    return f"{extractor.name} ({extractor.short_hash})"
