"""Thumbnails of stimuli as `data:` URIs, for a self-contained page."""

import base64
import io
from collections.abc import Iterable
from pathlib import Path

SIZE_PX = 112


def thumbnails(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """Return the stimuli that exist in `folder`, by name, as JPEG of at most 112 x 112 px."""
    return {name: _small(folder / name) for name in names if (folder / name).is_file()}


def _small(path: Path) -> str:
    from PIL import Image

    with Image.open(path) as picture:
        small = picture.convert("RGB")
        small.thumbnail((SIZE_PX, SIZE_PX))
        file = io.BytesIO()
        small.save(file, "JPEG", quality=85)
    return f"data:image/jpeg;base64,{base64.b64encode(file.getvalue()).decode()}"
