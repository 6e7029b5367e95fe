"""What stimuli are made of: the seam between a kind of file and all that stores, sends and shows it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from backend.experiment.records import Stimulus
from backend.foundation.errors import InvalidInput


class Refused(InvalidInput):
    """Folders that are not as expected: the message says what, `everything` says it of every file."""

    def __init__(self, message: str, everything: Sequence[str]):
        super().__init__(message)
        self.everything = tuple(everything)


@dataclass(frozen=True)
class Intake:
    """What came of the folders."""

    stimuli: tuple[Stimulus, ...]
    classes: tuple[str, ...]
    image_format: str
    """Of pictures, masks included."""
    notes: tuple[str, ...]
    left_out: tuple[str, ...]
    """Every file that was left out, with the reason."""
    left_out_untold: tuple[str, ...] = ()
    """The same, where the notes do not name all of them."""


class Medium(ABC):
    """A kind of file; `frontend/medium_<name>.js` is its side of the page."""

    name: ClassVar[str]
    types: ClassVar[Mapping[str, str]]
    """The media type of a study's files, by their suffix."""

    @abstractmethod
    def take_in(self, real: Path, models: Mapping[str, Path], out: Path, **options: Any) -> Intake:
        """Bring all files of the folders into `out`, alike in all but what they show.

        Args:
            options: as `ingest.take_in` has them.

        Raises:
            Refused: names all folders and files that are not as expected, and what to do.
        """

    @abstractmethod
    def salted(self, data: bytes, salt: bytes) -> bytes:
        """Return a file with a salt that whoever decodes it skips; all become longer by the same length."""
