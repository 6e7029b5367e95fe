"""Conversion of a decoded picture to opaque sRGB of 8 bits: levels, transparency, colour profile."""

import io
from functools import lru_cache
from typing import Literal, cast

import numpy as np
from PIL import Image, ImageCms

from backend.stimuli.png_levels import STRIP_PIXELS, scaled

Treatment = Literal["16 bits", "CMYK", "profile", "odd profile", "transparency", "frames", "turned"]
_BRIGHTEST = 65535


def has_alpha(picture: Image.Image) -> bool:
    """Return whether a picture has transparent parts, by its channels or by one transparent colour."""
    return "A" in picture.getbands() or "a" in picture.getbands() or "transparency" in picture.info


def to_srgb(picture: Image.Image, *, is_negative: bool) -> tuple[Image.Image, tuple[Treatment, ...]]:
    """Return the image in sRGB, with transparent parts on white, and the treatment of its profile."""
    rows, (width, height) = max(STRIP_PIXELS // picture.width, 1), picture.size
    is_ready = picture.mode == "RGB" and not has_alpha(picture) and "icc_profile" not in picture.info
    if is_ready or height <= rows:
        return _strip_to_srgb(picture, is_negative)
    whole = Image.new("RGB", picture.size)
    for top in range(0, height, rows):
        part = picture.crop((0, top, width, min(top + rows, height)))
        strip, treatments = _strip_to_srgb(part, is_negative)
        whole.paste(strip, (0, top))
    return whole, treatments


def _strip_to_srgb(picture: Image.Image, is_negative: bool) -> tuple[Image.Image, tuple[Treatment, ...]]:
    profile = picture.info.get("icc_profile")
    picture = _to_8_bit(picture, is_negative=is_negative)
    alpha: Image.Image | None = None
    treatments: tuple[Treatment, ...] = ()
    if has_alpha(picture):
        picture = _straight(picture)
        alpha = picture.getchannel("A")
    if profile is not None:
        picture, treatments = _from_profile(picture, profile)
    if picture.mode != "RGB":
        picture = picture.convert("RGB")
    if alpha is not None:
        picture = Image.composite(picture, Image.new("RGB", picture.size, "white"), alpha)
    return picture, treatments


def _transformed(picture: Image.Image, transform: ImageCms.ImageCmsTransform) -> Image.Image:
    """Return a new image converted by a transform; Pillow returns None only for one changed in place."""
    return cast("Image.Image", ImageCms.applyTransform(picture, transform))


def _to_8_bit(picture: Image.Image, *, is_negative: bool) -> Image.Image:
    """Return a gray image of 16 bits in 8 bits; images of other modes unchanged."""
    if not picture.mode.startswith("I"):
        return picture
    levels = scaled(np.array(picture).clip(0, _BRIGHTEST).astype(np.uint16))
    return Image.fromarray(255 - levels if is_negative else levels)


def _straight(picture: Image.Image) -> Image.Image:
    """Return an image with transparency as LA or RGBA, its colours not premultiplied by alpha."""
    if picture.mode in ("La", "RGBa"):
        return picture.convert("LA" if picture.mode == "La" else "RGBA")
    return picture if picture.mode in ("LA", "RGBA") else picture.convert("RGBA")


def _from_profile(picture: Image.Image, profile: bytes) -> tuple[Image.Image, tuple[Treatment, ...]]:
    """Return the image converted from its embedded profile; a profile that does not fit is ignored."""
    try:
        space, _ = _profile(profile)
        mode = _mode_for(picture.mode, space)
        if mode is None:
            return picture, ("odd profile",)
        made = _transformed(
            picture if picture.mode == mode else picture.convert(mode), _to_srgb_from(profile, mode)
        )
        return made, () if _is_srgb(profile) else ("profile",)
    except (ImageCms.PyCMSError, OSError, ValueError):
        return picture, ("odd profile",)


def _mode_for(mode: str, space: str) -> str | None:
    """Return the mode in which a profile of `space` can convert an image of `mode`, or None."""
    is_grey = mode in ("1", "L", "LA")
    if space == "GRAY" and is_grey:
        return "L"
    if space == "CMYK" and mode == "CMYK":
        return "CMYK"
    return "RGB" if space == "RGB" and mode != "CMYK" else None


@lru_cache(maxsize=8)
def _profile(profile: bytes) -> tuple[str, ImageCms.ImageCmsProfile]:
    opened = ImageCms.ImageCmsProfile(io.BytesIO(profile))
    return opened.profile.xcolor_space.strip(), opened


@lru_cache(maxsize=8)
def _is_srgb(profile: bytes) -> bool:
    return "sRGB" in ImageCms.getProfileDescription(_profile(profile)[1])


@lru_cache(maxsize=8)
def _to_srgb_from(profile: bytes, mode: str) -> ImageCms.ImageCmsTransform:
    """Return the transform, cached because the images of a folder mostly share one profile.

    The perceptual intent would lighten a printer's black; optimised, gray is up to 10 levels off.
    """
    return ImageCms.buildTransform(
        _profile(profile)[1],
        ImageCms.createProfile("sRGB"),
        mode,
        "RGB",
        renderingIntent=ImageCms.Intent.RELATIVE_COLORIMETRIC,
        flags=ImageCms.Flags.NOOPTIMIZE if mode == "L" else ImageCms.Flags.NONE,
    )
