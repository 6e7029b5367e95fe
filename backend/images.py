"""One picture's way from a researcher's file to the file that evaluators get.

Reals and fakes take the same way, so that nothing but the picture can tell them apart: orientation
applied, colours brought to sRGB, transparency flattened, cropped to a square, resized, encoded in
one format with one setting, no metadata, and in the end padded to one length.
"""

import io
import struct
import warnings
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageCms, ImageOps, UnidentifiedImageError

from backend.errors import InvalidInput

MAX_PIXELS = 100_000_000
"""A larger picture is refused before it is decoded; a small file can claim any size."""
_PNG_LEVEL = 6
_PNG_END = 12
_PNG_CHUNK_OVERHEAD = 12
_JPEG_END = b"\xff\xd9"
_JPEG_SEGMENT = 65537
_SRGB = ImageCms.createProfile("sRGB")


@dataclass(frozen=True)
class SourceFacts:
    """What a file was before the pipeline, as far as it could give a side away."""

    format: str
    short_side_px: int
    has_colour: bool
    has_alpha: bool


@dataclass(frozen=True)
class Equalise:
    """Losses that both sides are put through: sizes to pass (px), JPEG qualities to pass."""

    sizes_px: tuple[int, ...] = ()
    jpeg_qualities: tuple[int, ...] = ()


def parse_equalise(steps: Sequence[str]) -> Equalise:
    """Return the losses that texts such as `jpeg:90` and `size:64` ask for.

    Raises:
        InvalidInput: neither `jpeg:1` to `jpeg:100` nor `size:8` to `size:2048`.
    """
    sizes, qualities = [], []
    for step in steps:
        kind, _, number = step.partition(":")
        value = int(number) if number.isascii() and number.isdigit() else 0
        if kind == "jpeg" and 1 <= value <= 100:
            qualities.append(value)
        elif kind == "size" and 8 <= value <= 2048:
            sizes.append(value)
        else:
            raise InvalidInput(f"--equalise must be jpeg:1 to jpeg:100 or size:8 to size:2048, not {step!r}")
    return Equalise(tuple(sizes), tuple(qualities))


def resolve_format(image_format: str, size_px: int) -> str:
    """Return `png` or `jpeg:QUALITY`; `auto` is png up to 256 px and jpeg:95 above.

    Raises:
        InvalidInput: no such format.
    """
    if image_format == "auto":
        return "png" if size_px <= 256 else "jpeg:95"
    kind, _, number = image_format.partition(":")
    if image_format == "png" or (kind == "jpeg" and number.isdigit() and 1 <= int(number) <= 100):
        return image_format
    raise InvalidInput(f"image_format must be auto, png, or jpeg:1 to jpeg:100, not {image_format!r}")


def suffix_of(image_format: str) -> str:
    """Return the ending of files in a resolved format."""
    return ".png" if image_format == "png" else ".jpg"


def process(
    path: Path, size_px: int, image_format: str, equalise: Equalise = Equalise()
) -> tuple[bytes, SourceFacts]:
    """Return the encoded picture, `size_px` square in RGB, and what its file was before.

    Raises:
        InvalidInput: the file cannot be read as a picture; names the file and why.
    """
    picture, facts = _load(path)
    square = ImageOps.fit(picture, (size_px, size_px), Image.Resampling.LANCZOS)
    for size in equalise.sizes_px:
        small = square.resize((size, size), Image.Resampling.LANCZOS)
        square = small.resize((size_px, size_px), Image.Resampling.LANCZOS)
    for quality in equalise.jpeg_qualities:
        with Image.open(io.BytesIO(encode(square, f"jpeg:{quality}"))) as lossy:
            square = lossy.convert("RGB")
    return encode(square, image_format), facts


def encode(picture: Image.Image, image_format: str) -> bytes:
    """Return an RGB picture in a resolved format, without metadata."""
    buffer = io.BytesIO()
    bare = picture.copy()
    bare.info.clear()  # or else Pillow would write the source's profile and comments again
    if image_format == "png":
        bare.save(buffer, "PNG", compress_level=_PNG_LEVEL)
    else:
        quality = int(image_format.partition(":")[2])
        bare.save(buffer, "JPEG", quality=quality, subsampling=0)
    return buffer.getvalue()


def padded_length(longest: int) -> int:
    """Return the length to which all files of a pool can be padded, the longest having `longest` bytes."""
    return longest + _PNG_CHUNK_OVERHEAD


def pad_to(path: Path, length: int) -> None:
    """Make an encoded file exactly `length` bytes long; its pixels stay as they are.

    The length of a file tells how well its picture compresses, and fakes compress better. PNG
    takes an ancillary chunk before its end, JPEG comments.
    """
    missing = length - path.stat().st_size
    if missing < _PNG_CHUNK_OVERHEAD:
        raise ValueError(
            f"{path} can only be padded by {_PNG_CHUNK_OVERHEAD} bytes or more, not by {missing}"
        )
    filler = _png_chunk(missing) if path.suffix == ".png" else _jpeg_comments(missing)
    end = _PNG_END if path.suffix == ".png" else len(_JPEG_END)
    with path.open("r+b") as file:
        file.seek(-end, io.SEEK_END)
        closing = file.read(end)
        file.seek(-end, io.SEEK_END)
        file.write(filler + closing)


def _load(path: Path) -> tuple[Image.Image, SourceFacts]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Pillow warns of odd metadata, which is dropped anyway
            with Image.open(path) as opened:
                _check_size(path, opened.size)
                facts = _facts(opened)
                opened.load()
                upright = ImageOps.exif_transpose(opened)
                return _to_srgb(upright), facts
    except InvalidInput:
        raise
    except UnidentifiedImageError:
        raise InvalidInput(f"{path} is not an image that can be read") from None
    except Image.DecompressionBombError:
        raise InvalidInput(f"{path} claims more pixels than the limit of {MAX_PIXELS:,}") from None
    except (OSError, ValueError, SyntaxError, EOFError, struct.error, zlib.error, MemoryError) as error:
        raise InvalidInput(f"{path} is broken: {str(error) or type(error).__name__}") from None


def _check_size(path: Path, size: tuple[int, int]) -> None:
    width, height = size
    if width * height > MAX_PIXELS:
        raise InvalidInput(
            f"{path} claims {width} x {height} pixels, more than the limit of {MAX_PIXELS:,}; "
            "bring it to a smaller size first"
        )


def _facts(opened: Image.Image) -> SourceFacts:
    has_alpha = "A" in opened.getbands() or "transparency" in opened.info
    has_colour = opened.mode not in ("1", "L", "LA", "I", "F") and not opened.mode.startswith("I;16")
    return SourceFacts(opened.format or "?", min(opened.size), has_colour, has_alpha)


def _to_srgb(picture: Image.Image) -> Image.Image:
    """Return the picture in sRGB, its transparent parts on white."""
    profile = picture.info.get("icc_profile")
    picture = _to_8_bit(picture)
    has_alpha = "A" in picture.getbands() or "transparency" in picture.info
    if has_alpha:
        picture = picture.convert("RGBA")
        alpha = picture.getchannel("A")
    if profile:
        picture = _convert_profile(picture, profile)
    picture = picture.convert("RGB")
    if has_alpha:
        white = Image.new("RGB", picture.size, "white")
        picture = Image.composite(picture, white, alpha)
    return picture


def _to_8_bit(picture: Image.Image) -> Image.Image:
    """Return 16-bit and float greys in 8 bits; other modes as they are."""
    if picture.mode.startswith("I;16") or picture.mode == "I":
        return picture.convert("I").point(lambda level: level / 257).convert("L")
    if picture.mode == "F":
        return picture.point(lambda level: level * 255 + 0).convert("L")
    return picture


def _convert_profile(picture: Image.Image, profile: bytes) -> Image.Image:
    """Return the picture converted from its embedded profile; a broken profile is left aside."""
    if picture.mode not in ("RGB", "L", "CMYK"):
        picture = picture.convert("RGB")
    try:
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        return ImageCms.profileToProfile(picture, source, _SRGB, outputMode="RGB")
    except (ImageCms.PyCMSError, OSError):
        return picture


def _png_chunk(length: int) -> bytes:
    """Return a private ancillary chunk of `length` bytes in all."""
    body = b"opPd" + bytes(length - _PNG_CHUNK_OVERHEAD)
    return struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))


def _jpeg_comments(length: int) -> bytes:
    """Return comment segments of `length` bytes in all, each at least 4 long."""
    segments = []
    while length:
        size = length if length <= _JPEG_SEGMENT else min(_JPEG_SEGMENT, length - 4)
        segments.append(b"\xff\xfe" + struct.pack(">H", size - 2) + bytes(size - 4))
        length -= size
    return b"".join(segments)
