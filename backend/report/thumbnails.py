"""Thumbnails of stimuli as `data:` URIs, for a self-contained page."""

import base64
import io
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

SIZE_PX = 112
_AT_ONCE = 8
_PREFIX = "data:image/jpeg;base64,"
Read = Callable[[str, str], bytes | None]
"""From a study and the name of a stimulus to its file's content; None if there is no such file."""


def thumbnails(read: Read, study: str, names: Iterable[str], size_px: int = SIZE_PX) -> dict[str, str]:
    """Return those stimuli of a study that can be read, by name, as JPEG of at most `size_px` squared."""

    def made(name: str) -> tuple[str, str | None]:
        content = read(study, name)
        return name, None if content is None else _small(name, content, size_px)

    with ThreadPoolExecutor(_AT_ONCE) as threads:
        return {name: small for name, small in threads.map(made, names) if small is not None}


def _small(name: str, content: bytes, size_px: int) -> str:
    from PIL import Image

    from backend.stimuli.media import medium_of_file

    medium = medium_of_file(name)
    with Image.open(io.BytesIO(medium.preview(content))) as picture:
        small = picture.convert("RGB")
        small.thumbnail((size_px * medium.preview_frames, size_px))
        file = io.BytesIO()
        small.save(file, "JPEG", quality=85)
    return data_uri(file.getvalue())


def data_uri(jpeg: bytes) -> str:
    """Return a JPEG as a `data:` URI."""
    return f"{_PREFIX}{base64.b64encode(jpeg).decode()}"


def content_of(uri: str) -> bytes:
    """Return the JPEG of a `data:` URI made by `data_uri`."""
    return base64.b64decode(uri.removeprefix(_PREFIX))
