"""Media: the interface between a kind of stimulus file and the code that stores, sends and shows it."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from backend.experiment.records import ClipForm, Stimulus
from backend.foundation.errors import InvalidInput, Keys
from backend.foundation.frozen import dataclass


class Refused(InvalidInput):
    """Folders are not as expected: the message summarizes the problems, `everything` lists every file's."""

    def __init__(self, message: str, everything: Sequence[str], keys: Keys = (), also: Iterable[Keys] = ()):
        super().__init__(message, keys=keys, also=also)
        self.everything = tuple(everything)


@dataclass(frozen=True)
class Intake:
    """The result of an ingest."""

    stimuli: tuple[Stimulus, ...]
    classes: tuple[str, ...]
    image_format: str
    """Format of the images, including masks."""
    notes: tuple[str, ...]
    left_out: tuple[str, ...]
    """Every file that was left out, with the reason."""
    left_out_untold: tuple[str, ...] = ()
    """The same list if the notes do not name all of these files, else empty."""
    size_px: int = 0
    """Width and height to which pictures were brought."""
    reals: tuple[Any, ...] = ()
    """The `SourceFacts` of the reals' files, or of a sample of them."""
    unusable: tuple[Any, ...] = ()
    """Of items, the `folders.Finding` of each that was left out."""
    clip: ClipForm | None = None
    """Of clips, the form to which they were brought."""


class Medium(ABC):
    """A kind of file; `frontend/task/medium_<name>.js` implements it in the page."""

    name: ClassVar[str]
    types: ClassVar[Mapping[str, str]]
    """The media type of a study's files, by file extension."""

    preview_frames: ClassVar[int] = 1
    """Pictures that a `preview` has side by side."""

    @abstractmethod
    def ingest(self, real: Path, models: Mapping[str, Path], out: Path, **options: Any) -> Intake:
        """Process all files of the folders into `out`, uniform in everything but what they show.

        Args:
            options: those of `ingest.ingest`.

        Raises:
            Refused: names all folders and files that are not as expected, and what to do.
        """

    @abstractmethod
    def ingest_items(self, sets: Mapping[str, Path], out: Path, **options: Any) -> Intake:
        """Process the items of all sets into `out`; those of `ingest_items.ingest_items` are the options.

        Raises:
            Refused: names all folders and items that are not as expected, and what to do.
        """

    @abstractmethod
    def stills(self, stimuli: Sequence[Path], out: Path) -> list[Path]:
        """Return a picture of each stimulus, for what is made of pictures; new files are written to `out`."""

    def said(self, text: str, names: Iterable[str] = ()) -> str:
        """Return a text that was written of pictures in words for these stimuli.

        Args:
            names: of models, which stay as they are.
        """
        return text

    def notes_on_partners(self, sides: Mapping[str, Mapping[str, Path]]) -> Iterator[str]:
        """Yield what is said of stimuli that stand side by side since they have one source.

        Args:
            sides: by what each is called, the file of each source; all have the same sources, in one order.
        """
        return iter(())

    @abstractmethod
    def preview(self, data: bytes) -> bytes:
        """Return an image file that shows what a file shows, for people who read about it."""

    @abstractmethod
    def content_key(self, path: Path) -> bytes:
        """Return a hash of what a file shows, whatever it is padded with.

        Raises:
            FileNotFoundError: there is no such file.
        """

    @abstractmethod
    def pad(self, path: Path, length: int) -> None:
        """Lengthen a file to `length` bytes, in a way that decoders ignore."""

    @abstractmethod
    def salted(self, data: bytes, salt: bytes) -> bytes:
        """Return a file with a salt that decoders ignore; all files grow by the same length."""
