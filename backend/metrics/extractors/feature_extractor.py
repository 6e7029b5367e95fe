"""The interface of an extractor of features."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from backend.metrics.features import Extractor


class FeatureExtractor(ABC):
    """Turns pictures into features: rows of numbers of one length, which distances between sets compare."""

    identity: Extractor
    about: str
    """What the features are, in a sentence that stands beside numbers."""
    batch: ClassVar[int] = 1
    """Pictures of one size that `extract` gets at a time."""
    is_light: ClassVar[bool] = True
    """Whether it can be sent to other processes, each of which extracts; else this process extracts, and the
    others only decode pictures."""

    @abstractmethod
    def extract(self, pictures: Sequence[np.ndarray]) -> np.ndarray:
        """Return the features of pictures, float32 of shape (pictures, dimensions).

        Args:
            pictures: each of shape (height, width, 3), uint8, sRGB; all of one size.
        """
