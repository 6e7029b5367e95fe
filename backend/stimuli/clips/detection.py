"""Which medium the folders of an order hold."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from backend.experiment.records import CLIPS, PICTURES
from backend.foundation.names import VIDEO_ENDINGS, is_set_aside
from backend.stimuli.clips.clip_file import SUFFIX
from backend.stimuli.clips.sources import ANIMATED_ENDINGS, is_animated
from backend.stimuli.images import ENDINGS


def medium_of(folders: Iterable[Path]) -> str:
    """Return the medium of the files in folders, by their names, and of animations by their content.

    Folders hold clips if any file is a video, or if all pictures are animated; else pictures, of which an
    animated one shows its first frame.
    """
    pictures = []
    for path in _files(folders):
        suffix = path.suffix.lower()
        if suffix in VIDEO_ENDINGS or suffix == SUFFIX:
            return CLIPS
        if suffix in ENDINGS:
            pictures.append(path)
    may_be = bool(pictures) and all(path.suffix.lower() in ANIMATED_ENDINGS for path in pictures)
    return CLIPS if may_be and all(map(is_animated, pictures)) else PICTURES


def _files(folders: Iterable[Path]) -> Iterator[Path]:
    for folder in folders:
        for path in folder.rglob("*"):
            if not is_set_aside(path.name) and path.is_file():
                yield path
