"""Items that are made when a study is created, whose right answer is known by construction."""

from typing import Literal

from backend.experiment.records import Stimulus
from backend.foundation.frozen import dataclass

Change = Literal["none", "weak_noise", "heavy_noise", "subtle"]
"""What is done to a reference; `stimuli/made_pictures.py` does it."""


@dataclass(frozen=True)
class MadeItems:
    """A number of items of one kind, each made from a reference of the study's own."""

    role: str
    """`check` or `practice`."""
    truth: str
    """The right answer, in terms of the parts."""
    changes: tuple[Change, ...]
    """What is done to the reference for each part."""
    count: int

    @property
    def stimuli(self) -> list[Stimulus]:
        """As many stimuli as are made, without names."""
        return [Stimulus("", self.truth, "", role=self.role)] * self.count
