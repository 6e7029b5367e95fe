"""Clips: short videos without sound, in a study all of one size, rate, length in time and length of file."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from backend.stimuli.clips.clip_file import MEDIA_TYPE, STRIP_FRAMES, SUFFIX, content_of, pad, strip_of
from backend.stimuli.medium import Intake, Medium

_PICTURE = r"(?<![\w/.-])([Pp])icture(s?)(?![\w/-]|\.\w)"
"""The word, and no part of a path or an option; `frontend/console/clip_words.js` has the same."""


class Clip(Medium):
    """Short videos."""

    name = "clip"
    preview_frames = STRIP_FRAMES
    types: ClassVar = {SUFFIX: MEDIA_TYPE}

    def ingest(self, real: Path, models: Mapping[str, Path], out: Path, **options: Any) -> Intake:
        from backend.stimuli.clips.ingest import ingest

        return ingest(real, models, out, **options)

    def ingest_items(self, sets: Mapping[str, Path], out: Path, **options: Any) -> Intake:
        raise NotImplementedError("items are pictures")

    def stills(self, stimuli: Sequence[Path], out: Path) -> list[Path]:
        from backend.stimuli.clips.encoding import write_middle_frames

        return write_middle_frames(stimuli, out)

    def said(self, text: str, names: Iterable[str] = ()) -> str:
        kept = (rf"\b{re.escape(name)}\b" for name in sorted(names, key=len, reverse=True))
        return re.sub("|".join([*kept, _PICTURE]), _clip, text)

    def notes_on_partners(self, sides: Mapping[str, Mapping[str, Path]]) -> Iterator[str]:
        """Yield how alike the first frames are."""
        from backend.stimuli.clips.first_frames import notes

        return notes(sides)

    def preview(self, data: bytes) -> bytes:
        return strip_of(data)

    def content_key(self, path: Path) -> bytes:
        return hashlib.blake2b(content_of(path.read_bytes(), path.name), digest_size=16).digest()

    def pad(self, path: Path, length: int) -> None:
        pad(path, length)

    def salted(self, data: bytes, salt: bytes) -> bytes:
        """Return the file with the salt at its end, which readers ignore."""
        return data + salt


def _clip(match: re.Match) -> str:
    """Return the word for a clip, or a model's name as it is."""
    first, plural = match[1], match[2]
    return match[0] if first is None else f"{'C' if first == 'P' else 'c'}lip{plural}"


MEDIUM = Clip()
