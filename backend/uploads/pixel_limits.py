"""How many pixels the pictures of an upload may have together, since their decoding takes time for each.

They are counted in the headers of the files. A photograph has 1 to 30 pixels for each byte of its file, an
even area up to 8,000, so that a few megabytes could hold the worker for hours: beyond an allowance for each
file, which has room for generated pictures of any content, pixels have to come with bytes.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from backend.uploads.archive_entries import bad_archive

FREE_PIXELS = 1_000_000_000
"""Decoded within about 20 s on one core (50 million in a second)."""
PIXELS_A_FILE, FILES = 2 * 1024 * 1024, 10_000
"""Allowance for each of the largest pictures."""
PIXELS_A_BYTE = 100


def check_pixels(folder: Path) -> None:
    """Check that the pictures in a folder have not many more pixels than pictures of their size in bytes.

    Files that are refused when they are read, such as damaged ones, are not counted.

    Raises:
        InvalidInput: `bad_archive`.
    """
    sizes = sorted(_sizes(folder), reverse=True)
    pixels, length = (sum(size[part] for size in sizes) for part in (0, 1))
    allowed = (
        FREE_PIXELS + PIXELS_A_BYTE * length + sum(min(each, PIXELS_A_FILE) for each, _ in sizes[:FILES])
    )
    if pixels > allowed:
        raise bad_archive(
            f"its pictures have {pixels:,} pixels, more than the {allowed:,} that files of so few bytes may "
            "have; bring them to a smaller size first"
        )


def _sizes(folder: Path) -> Iterator[tuple[int, int]]:
    """Yield pixels and bytes of each picture that can be read."""
    from backend.stimuli.images import BadPicture, stated_pixels

    for parent, _, names in os.walk(folder):
        for path in (Path(parent, name) for name in names):
            with suppress(BadPicture):
                yield stated_pixels(path), path.stat().st_size
