"""Pictures: PNG and JPEG files, all of one size, format and length."""

import struct
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from backend.stimuli.medium import Intake, Medium

_PNG_START = b"\x89PNG\r\n\x1a\n"
_PNG_HEAD = 33
"""Bytes of a PNG before its second chunk: signature and IHDR."""
_JPEG_START = b"\xff\xd8"


class Picture(Medium):
    """Still images."""

    name = "picture"
    types: ClassVar = {".png": "image/png", ".jpg": "image/jpeg"}

    def ingest(self, real: Path, models: Mapping[str, Path], out: Path, **options: Any) -> Intake:
        from backend.stimuli.ingest import ingest

        return ingest(real, models, out, **options)

    def salted(self, data: bytes, salt: bytes) -> bytes:
        """Return the file with an added chunk or comment; a file that is neither PNG nor JPEG unchanged."""
        if data.startswith(_PNG_START):
            body = b"opSt" + salt
            chunk = struct.pack(">I", len(salt)) + body + struct.pack(">I", zlib.crc32(body))
            return b"".join((data[:_PNG_HEAD], chunk, memoryview(data)[_PNG_HEAD:]))
        if data.startswith(_JPEG_START):
            comment = b"\xff\xfe" + struct.pack(">H", len(salt) + 2) + salt
            return b"".join((_JPEG_START, comment, memoryview(data)[len(_JPEG_START) :]))
        return data


MEDIUM = Picture()
