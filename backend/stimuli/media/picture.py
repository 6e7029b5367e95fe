"""Pictures: WebP, PNG and JPEG files, in a study all of one size, format and length."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from backend.stimuli.file_formats import FORMATS, format_of_content
from backend.stimuli.medium import Intake, Medium


class Picture(Medium):
    """Still images."""

    name = "picture"
    types: ClassVar = {one.suffix: one.media_type for one in FORMATS.values()}

    def ingest(self, real: Path, models: Mapping[str, Path], out: Path, **options: Any) -> Intake:
        from backend.stimuli.ingest import ingest

        return ingest(real, models, out, **options)

    def ingest_items(self, sets: Mapping[str, Path], out: Path, **options: Any) -> Intake:
        from backend.stimuli.ingest_items import ingest_items

        return ingest_items(sets, out, **options)

    def stills(self, stimuli: Sequence[Path], out: Path) -> list[Path]:
        return [*stimuli]

    def preview(self, data: bytes) -> bytes:
        return data

    def content_key(self, path: Path) -> bytes:
        from PIL import Image

        with Image.open(path) as picture:
            return hashlib.blake2b(picture.convert("RGB").tobytes(), digest_size=16).digest()

    def pad(self, path: Path, length: int) -> None:
        from backend.stimuli.images import pad_to

        pad_to(path, length)

    def salted(self, data: bytes, salt: bytes) -> bytes:
        """Return the file with an added chunk or comment; a file of another format unchanged."""
        file_format = format_of_content(data)
        return file_format.salted(data, salt) if file_format else data


MEDIUM = Picture()
