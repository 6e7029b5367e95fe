"""Clips: short videos without sound, in a study all of one size, rate, length in time and length of file."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from backend.stimuli.clips.clip_file import MEDIA_TYPE, SUFFIX
from backend.stimuli.medium import Intake, Medium


class Clip(Medium):
    """Short videos."""

    name = "clip"
    types: ClassVar = {SUFFIX: MEDIA_TYPE}

    def ingest(self, real: Path, models: Mapping[str, Path], out: Path, **options: Any) -> Intake:
        from backend.stimuli.clips.ingest import ingest

        return ingest(real, models, out, **options)

    def ingest_items(self, sets: Mapping[str, Path], out: Path, **options: Any) -> Intake:
        raise NotImplementedError("items are pictures")

    def stills(self, stimuli: Sequence[Path], out: Path) -> list[Path]:
        """Return the middle frame of each clip."""
        from backend.stimuli.clips.encoding import write_middle_frames

        return write_middle_frames(stimuli, out)

    def salted(self, data: bytes, salt: bytes) -> bytes:
        """Return the file with the salt at its end, which readers ignore."""
        return data + salt


MEDIUM = Clip()
