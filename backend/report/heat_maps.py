"""Heat maps of marks, drawn over a picture: bright where many evaluators marked it.

The picture is shown in grey under colours whose lightness rises with the density of marks (those of
matplotlib's inferno, which colour-blind people can read), with each mark on top. Maps are images with
a background of their own, so they look the same on light and dark pages.
"""

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

from backend.analysis.marks import Mark, heat_map
from backend.report import thumbnails

if TYPE_CHECKING:
    import numpy as np
    from PIL.Image import Image

SIZE_PX = 240
"""Size of the pictures on which marks are drawn."""
STOPS = ((0, 0, 4), (66, 10, 104), (147, 38, 103), (221, 81, 58), (252, 165, 10), (252, 255, 164))
"""Colours (RGB) at equal steps from no marks to the highest density."""
_NO_PICTURE = 72
"""Grey level of a map without its picture."""
_MARK_PX = 2
_STAMP = "simulated sessions"


def drawn(marks: Sequence[Mark], picture: str | None, is_simulated: bool = False) -> str:
    """Return the heat map of marks as a `data:` URI.

    Args:
        picture: the picture as a `data:` URI of `thumbnails`; None if there is none.
        is_simulated: whether to write on the map that the marks are of simulated sessions.
    """
    import numpy as np
    from PIL import Image, ImageDraw

    base = _base(picture)
    heat = heat_map(marks)
    level = Image.fromarray(heat / heat.max()).resize(base.size, Image.Resampling.BICUBIC)
    density = np.clip(np.asarray(level), 0, 1)[..., None]
    grey = np.asarray(base.convert("L"), float)[..., None]
    strength = 0.75 * np.minimum(1, 1.6 * density)
    mixed = (1 - strength) * grey + strength * coloured(density[..., 0])
    image = Image.fromarray(mixed.round().astype("uint8"))
    _draw_marks(ImageDraw.Draw(image), marks, image.size)
    if is_simulated:
        ImageDraw.Draw(image).text((4, 2), _STAMP, fill="white", stroke_width=1, stroke_fill="black")
    file = io.BytesIO()
    image.save(file, "JPEG", quality=82)
    return thumbnails.data_uri(file.getvalue())


def coloured(density: "np.ndarray") -> "np.ndarray":
    """Return the colours (0 to 255, last axis RGB) of densities from 0 to 1."""
    import numpy as np

    steps = np.linspace(0, 1, len(STOPS))
    return np.stack([np.interp(density, steps, channel) for channel in np.array(STOPS).T], axis=-1)


def _base(picture: str | None) -> "Image":
    from PIL import Image

    if picture is None:
        return Image.new("L", (SIZE_PX, SIZE_PX), _NO_PICTURE)
    return Image.open(io.BytesIO(thumbnails.content_of(picture)))


def _draw_marks(pen, marks: Sequence[Mark], size: tuple[int, int]) -> None:
    across, down = ((length - 1) / 1000 for length in size)
    for mark in marks:
        x, y = mark.x * across, mark.y * down
        if mark.width or mark.height:
            ends = (x, y, x + mark.width * across, y + mark.height * down)
            pen.rectangle(ends, outline="white")
        else:
            box = (x - _MARK_PX, y - _MARK_PX, x + _MARK_PX, y + _MARK_PX)
            pen.ellipse(box, fill="white", outline="black")
