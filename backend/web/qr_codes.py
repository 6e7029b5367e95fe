"""QR codes of links, for the camera of a phone."""

from functools import lru_cache
from io import StringIO
from typing import Any

_WHITE_ON_BLACK, _AS_BEFORE = "\x1b[38;5;231;48;5;16m", "\x1b[0m"
"""ECMA-48, with colours 231 and 16 of 256, which no theme of a terminal changes."""


@lru_cache(maxsize=256)
def as_image(link: str) -> str:
    """Return a link's QR code as the data URI of an SVG, black on white, with its quiet zone."""
    return _code(link).svg_data_uri(border=4, light="white", omitsize=True)


def as_text(link: str) -> str:
    """Return a link's QR code as lines for a terminal of any colours, two rows of modules in each."""
    text = StringIO()
    _code(link).terminal(text, border=2, compact=True)  # its blocks are the light modules
    return "\n".join(f"{_WHITE_ON_BLACK}{line}{_AS_BEFORE}" for line in text.getvalue().splitlines())


def _code(link: str) -> Any:
    import segno

    return segno.make(link, micro=False)
