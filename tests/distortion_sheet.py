"""The figure of docs/distortions.md: every distortion at four strengths, on crops of photographs.

`python -m tests.distortion_sheet` writes docs/distortions.jpg.
"""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from backend.stimuli.distortions import TRADITIONAL, apply

OUT = Path(__file__).resolve().parent.parent / "docs" / "distortions.jpg"
POSITIONS = (0, 1 / 3, 2 / 3, 1)
SOURCES = (("chelsea.png", 180, 80), ("astronaut.png", 190, 80), ("coffee.png", 250, 180))
"""Photographs of scikit-image, with left and top of the crop."""
SIDE_PX, GAP_PX, LABEL_PX, COLUMNS = 64, 3, 118, 2
QUALITY = 88


def main() -> None:
    """Write the figure."""
    pictures = [_crop(*source) for source in SOURCES]
    rows = -(-len(TRADITIONAL) // COLUMNS)
    step = SIDE_PX + GAP_PX
    width = LABEL_PX + step * (len(POSITIONS) + 1) + 2 * GAP_PX
    sheet = Image.new("RGB", (COLUMNS * width, rows * step - GAP_PX), "white")
    draw = ImageDraw.Draw(sheet)
    for number, (name, one) in enumerate(TRADITIONAL.items()):
        column, row = divmod(number, rows)
        picture = pictures[row % len(pictures)]
        made = [apply(picture, [one.draw(at, np.random.default_rng(3))]) for at in POSITIONS]
        left, top = column * width, row * step
        draw.text((left + 2, top + SIDE_PX // 2 - 6), name.replace("_", " "), fill="black", font_size=10)
        for place, tile in enumerate([picture, *made]):
            sheet.paste(Image.fromarray(tile), (left + LABEL_PX + place * step, top))
    sheet.save(OUT, quality=QUALITY, subsampling=0, optimize=True)


def _crop(file: str, left: int, top: int) -> np.ndarray:
    data = Path(find_spec("skimage").submodule_search_locations[0]) / "data"
    with Image.open(data / file) as opened:
        return np.asarray(opened.convert("RGB"))[top : top + SIDE_PX, left : left + SIDE_PX]


if __name__ == "__main__":
    main()
