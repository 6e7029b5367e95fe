"""Thumbnails of stimuli as `data:` URIs, for a self-contained page."""

import base64
import io
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

SIZE_PX = 112
_AT_ONCE = 8
Read = Callable[[str, str], bytes | None]
"""From a study and the name of a stimulus to its file's content; None if there is no such file."""


def thumbnails(read: Read, study: str, names: Iterable[str]) -> dict[str, str]:
    """Return those stimuli of a study that can be read, by name, as JPEG of at most 112 x 112 px."""

    def made(name: str) -> tuple[str, str | None]:
        content = read(study, name)
        return name, None if content is None else _small(content)

    with ThreadPoolExecutor(_AT_ONCE) as threads:
        return {name: small for name, small in threads.map(made, names) if small is not None}


def _small(content: bytes) -> str:
    from PIL import Image

    with Image.open(io.BytesIO(content)) as picture:
        small = picture.convert("RGB")
        small.thumbnail((SIZE_PX, SIZE_PX))
        file = io.BytesIO()
        small.save(file, "JPEG", quality=85)
    return f"data:image/jpeg;base64,{base64.b64encode(file.getvalue()).decode()}"
