"""The levels of a PNG file in 8 bits and sRGB: all 16 bits of it are used, of which Pillow gives 8."""

from collections.abc import Callable
from typing import cast

import numpy as np
from PIL import Image, PngImagePlugin

from backend.stimuli.png_colour import Gamma, gamma_of, in_srgb
from backend.stimuli.png_file import PngFile

_GRAY, _PALETTE, _GRAY_AND_ALPHA = 0, 3, 4
STRIP_PIXELS = 1_000_000
"""Levels and colours are converted in strips of as many pixels: a conversion takes several copies."""


def in_8_bits(opened: Image.Image, png: PngFile) -> Image.Image:
    """Return an opened PNG with 8 bits a channel and its profile; in sRGB, if the file states a gamma."""
    gamma, profile = gamma_of(png.colour), png.profile
    picture = opened
    if png.colour_type == _PALETTE:
        _check_indices(opened)
    if png.bits in (2, 4) and "transparency" in opened.info and png.colour_type == _GRAY:
        opened.info["transparency"] *= 255 // (2**png.bits - 1)  # Pillow scales the levels only
    if png.bits == 16:
        picture = _from_16_bits(opened, png, gamma)
    elif gamma:
        picture = _from_8_bits(opened, gamma)
    if profile is not None:
        picture.info["icc_profile"] = profile
    return picture


def _check_indices(opened: Image.Image) -> None:
    """Check that the palette has every colour that the pixels name, as programs show others differently.

    Raises:
        ValueError: it has fewer.
    """
    _, last = cast("tuple[int, int]", opened.getextrema())
    count = len(opened.palette.palette) // 3 if opened.palette else 0
    if last >= count:
        raise ValueError(f"its pixels name colour {last + 1} of a palette of {count}")


def scaled(levels: np.ndarray) -> np.ndarray:
    """Return levels of uint16 rounded to uint8; those of uint8 as they are."""
    return levels if levels.dtype == np.uint8 else ((levels.astype(np.uint32) + 128) // 257).astype(np.uint8)


def _from_8_bits(opened: Image.Image, gamma: Gamma) -> Image.Image:
    has_alpha = "transparency" in opened.info or opened.mode in ("LA", "RGBA")
    is_gray = opened.mode in ("1", "L", "LA") and "transparency" not in opened.info
    channels = ("L" if is_gray else "RGB") + ("A" if has_alpha else "")
    levels = np.array(opened.convert(channels))
    return _in_strips(levels, lambda strip: _converted(strip, gamma, has_alpha=has_alpha))


def _from_16_bits(opened: Image.Image, png: PngFile, gamma: Gamma | None) -> Image.Image:
    """Return a PNG of 16 bits a channel with 8; its transparent level or colour is found among the 16."""
    transparent = opened.info.get("transparency")
    levels = _all_16_bits(opened, png)
    has_alpha = levels.ndim == 3 and levels.shape[2] in (2, 4)

    def converted(strip: np.ndarray) -> np.ndarray:
        if transparent is None:
            return _converted(strip, gamma, has_alpha=has_alpha)
        is_shown = strip != np.array(transparent, np.uint16)
        alpha = (is_shown if strip.ndim == 2 else is_shown.any(axis=2)) * np.uint16(65535)
        return _converted(np.dstack([strip, alpha]), gamma, has_alpha=True)

    return _in_strips(levels, converted)


def _in_strips(levels: np.ndarray, convert: Callable[[np.ndarray], np.ndarray]) -> Image.Image:
    """Return the image of levels that are converted some rows at a time."""
    rows = max(STRIP_PIXELS // levels.shape[1], 1)
    strips = [convert(levels[top : top + rows]) for top in range(0, len(levels), rows)]
    return Image.fromarray(np.concatenate(strips))


def _all_16_bits(opened: Image.Image, png: PngFile) -> np.ndarray:
    """Return levels (height, width[, channels]) as uint16; Pillow decodes one byte of each at a time."""
    if opened.mode.startswith("I"):
        return np.array(opened).astype(np.uint16)
    assert isinstance(opened, PngImagePlugin.PngImageFile)
    tile = opened.tile[0]
    if png.colour_type == _GRAY_AND_ALPHA:
        opened._mode, opened.tile = "RGBA", [tile._replace(args="RGBA")]
        return np.array(opened).view(">u2").astype(np.uint16)
    high = np.array(opened).astype(np.uint16)
    png.stream.seek(0)
    with Image.open(png.stream, formats=["PNG"]) as again:
        again.tile = [tile._replace(args=f"{opened.mode};16L")]
        high <<= 8
        high |= np.array(again)
        return high


def _converted(levels: np.ndarray, gamma: Gamma | None, *, has_alpha: bool) -> np.ndarray:
    """Return levels in 8 bits and sRGB, with the alpha channel as it is."""
    colours = levels[..., :-1] if has_alpha else levels
    if colours.shape[2:] == (1,):
        colours = colours[..., 0]
    made = in_srgb(colours, gamma) if gamma else scaled(colours)
    return np.dstack([made, scaled(levels[..., -1])]) if has_alpha else made
