"""Processing of one image, from a researcher's file to the file that evaluators receive.

Reals and fakes are processed identically, so that nothing but the image can distinguish them: orientation
applied, colours converted to sRGB, transparency flattened, cropped to a square, resized, encoded in
one format with one setting, without metadata, and finally padded to one length.
"""

import io
import struct
import warnings
import zlib
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, Literal

from PIL import (
    ExifTags,
    GifImagePlugin,
    Image,
    JpegImagePlugin,
    TiffImagePlugin,
    UnidentifiedImageError,
)

from backend.foundation.errors import InvalidInput
from backend.foundation.printable import printable
from backend.stimuli import bmp_file, jp2_file, jpeg_file, png_file, tiff_file
from backend.stimuli.avif_file import coding_points
from backend.stimuli.file_formats import FORMATS, MIN_PADDING, FileFormat, format_of_file
from backend.stimuli.jp2_file import read_jp2
from backend.stimuli.jpeg_file import UnreadKind, check_whole, read_jpeg
from backend.stimuli.parallel import large_work
from backend.stimuli.png_colour import gamma_of
from backend.stimuli.png_file import PngFile, read_png
from backend.stimuli.png_levels import in_8_bits
from backend.stimuli.srgb import Treatment, has_alpha, to_srgb
from backend.stimuli.zeroed_parts import check_not_zeroed

MAX_PIXELS = 50_000_000
"""A larger image is refused before it is decoded; a small file can claim any size."""
_FEWER_PIXELS = {"JPEG2000": 20_000_000, "WEBP": 25_000_000, "AVIF": 30_000_000}
_MOST_PNG_PIXELS = 20_000_000
"""With 16 bits or a gamma. Decoding takes up to 24 bytes a pixel of these, and 8 of others."""
_LARGE_PIXELS = 8_000_000
"""Of larger images one is decoded at a time, however many processes work."""
_MOST_SCANS = 100
"""A progressive JPEG of three colours has 10, optimised ones some dozens; each is a pass over all pixels."""
MIN_SIDE_PX = 8
"""A smaller image cannot be judged; the smallest data sets in use have 28 px."""
SUFFIXES = frozenset(
    [
        *(".png", ".apng", ".jpg", ".jpeg", ".jpe", ".jfif", ".mpo", ".webp", ".avif", ".jp2", ".j2k"),
        *(".bmp", ".dib", ".gif", ".tif", ".tiff", ".ppm", ".pgm", ".pbm", ".pnm"),
    ]
)
"""File extensions that `process` reads."""
OTHER_PICTURES = frozenset(
    [
        *(
            ".heic",
            ".heif",
            ".hif",
            ".jxl",
            ".svg",
            ".eps",
            ".ps",
            ".pdf",
            ".psd",
            ".psb",
            ".xcf",
            ".tga",
            ".ico",
        ),
        *(".exr", ".hdr", ".rgbe", ".pfm", ".dng", ".raw", ".cr2", ".cr3", ".nef", ".arw", ".orf", ".rw2"),
    ]
)
"""File extensions of image formats that it does not read."""
ENDINGS = SUFFIXES | OTHER_PICTURES
"""File extensions of image formats."""
_READABLE = ("PNG", "JPEG", "WEBP", "AVIF", "BMP", "GIF", "TIFF", "PPM", "JPEG2000")
"""JPEG includes MPO. Some of Pillow's other formats start external programs (EPS: Ghostscript)."""
_IJG_LUMINANCE_SUM = 3685
"""Sum of the luminance table of the JPEG standard (ITU-T T.81, table K.1), which quality scales."""
_HDR_TRANSFERS = (16, 18)
"""PQ and HLG, by ITU-T H.273: light levels above any white."""
_SRGB_PRIMARIES = (1, 2)
"""sRGB and unspecified, by ITU-T H.273."""
_UNREAD_TRANSFERS = {"PNG": (7, 17), "AVIF": (4, 5, 7, 8, 9, 10, 12, 17)}
"""Those that are not applied and differ from sRGB's; Chromium shows that of BT.709 in AVIF as sRGB's."""
_ON_ITS_SIDE = range(5, 9)
"""Orientations of EXIF in which width and height are exchanged."""
_TURNED_BY_EXIF = ("JPEG", "MPO", "PNG", "AVIF")
"""Formats that browsers turn; Pillow writes the rotation of AVIF's own boxes into its EXIF."""
_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
"""What brings a picture upright, by its orientation in EXIF."""
_STARTS = {
    "TIFF": (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"),
    "JPEG": (b"\xff\xd8\xff",),
    "PNG": (b"\x89PNG",),
    "GIF": (b"GIF8",),
}
"""First bytes of formats of which Pillow does not read every kind, such as 12 bits."""
_UNREADABLE = (
    OSError, ValueError, SyntaxError, EOFError, ArithmeticError, LookupError, TypeError, RuntimeError,
    AttributeError, MemoryError, struct.error, zlib.error,
)  # fmt: skip
"""Exceptions that Pillow's decoders raise for broken files; they differ between decoders."""


BadKind = (
    Literal["gone", "forbidden", "empty", "no picture", "still", "broken", "large", "small", "unsupported"]
    | Literal["short", "codec"]
)


class BadPicture(InvalidInput):
    """A file cannot be used as an image; `kind` classifies the problem, and `why` describes it."""

    def __init__(self, path: Path, kind: BadKind, message: str):
        super().__init__(f"{printable(path)} {message}")
        self.kind, self.why = kind, message


@dataclass(frozen=True)
class SourceFacts:
    """Properties of a file before processing that could reveal its side."""

    format: str
    short_side_px: int
    has_colour: bool
    jpeg_quality: int | None = None
    """Estimated from the quantisation table; None for other formats."""
    has_full_chroma: bool = True
    """False for a JPEG whose colours are stored at a lower resolution."""
    treatments: tuple[Treatment, ...] = ()
    """Conversions that the image needed to become upright, opaque 8-bit sRGB."""
    is_square: bool = True
    """False for an image that was cropped to a square."""


@dataclass(frozen=True)
class Preprocessing:
    """Losses that both sides are put through: intermediate sizes (px) and JPEG qualities."""

    sizes_px: tuple[int, ...] = ()
    jpeg_qualities: tuple[int, ...] = ()


def parse_preprocessing(steps: Sequence[str]) -> Preprocessing:
    """Return the losses described by texts such as `jpeg:90` and `size:64`.

    Raises:
        InvalidInput: a text is neither `jpeg:1` to `jpeg:100` nor `size:8` to `size:2048`.
    """
    sizes, qualities = [], []
    for i, step in enumerate(steps):
        kind, _, number = step.partition(":")
        value = int(number) if number.isascii() and number.isdigit() else 0
        if kind == "jpeg" and 1 <= value <= 100:
            qualities.append(value)
        elif kind == "size" and 8 <= value <= 2048:
            sizes.append(value)
        else:
            raise InvalidInput(
                f"--preprocess must be jpeg:1 to jpeg:100 or size:8 to size:2048, not {step!r}",
                keys=("preprocess", i),
            )
    return Preprocessing(tuple(sizes), tuple(qualities))


def resolve_format(image_format: str, size_px: int) -> str:
    """Return `webp`, `png` or `jpeg:QUALITY`; `auto` is webp up to 256 px and jpeg:95 above.

    Raises:
        InvalidInput: there is no such format.
    """
    if image_format == "auto":
        return "webp" if size_px <= 256 else "jpeg:95"
    kind, _, number = image_format.partition(":")
    is_quality = number.isascii() and number.isdigit() and 1 <= int(number) <= 100
    if image_format in ("webp", "png") or (kind == "jpeg" and is_quality):
        return image_format
    raise InvalidInput(
        f"image_format must be auto, webp, png, or jpeg:1 to jpeg:100, not {image_format!r}",
        keys=("settings", "image_format"),
    )


def suffix_of(image_format: str) -> str:
    """Return the extension of files in a resolved format."""
    return _file_format(image_format).suffix


def process(
    path: Path, size_px: int, image_format: str, preprocess: Preprocessing = Preprocessing()
) -> tuple[bytes, SourceFacts]:
    """Return the encoded image, `size_px` square in RGB, and the properties of its source file.

    Raises:
        BadPicture: the file cannot be read as an image; names the file and the reason.
    """
    square, facts = loaded(path, size_px)
    return encode(lossy(square, preprocess), image_format), facts


def lossy(picture: Image.Image, losses: Preprocessing) -> Image.Image:
    """Return an RGB picture after the losses, in its size."""
    for size in losses.sizes_px:
        small = picture.resize((size, size), Image.Resampling.LANCZOS)
        picture = small.resize(picture.size, Image.Resampling.LANCZOS)
    for quality in losses.jpeg_qualities:
        with Image.open(io.BytesIO(encode(picture, f"jpeg:{quality}"))) as coded:
            picture = coded.convert("RGB")
    return picture


def loaded(path: Path, size_px: int) -> tuple[Image.Image, SourceFacts]:
    """Return an image, `size_px` square in RGB, and the properties of its source file.

    A picture is cropped at both ends to whole pixels; one whose short side has this size keeps its pixels.

    Raises:
        BadPicture: as for `process`.
    """
    with _reading(path, with_pixels=True) as (opened, png), _turn_of(opened):
        picture, facts = _upright(opened, png)
        return square_of(picture, size_px), facts


def square_of(picture: Image.Image, size_px: int) -> Image.Image:
    """Return the middle of an image, `size_px` square; of an odd excess one pixel more goes at the end."""
    side = min(picture.size)
    left, top = ((length - side) // 2 for length in picture.size)
    is_square = picture.width == picture.height
    square = picture if is_square else picture.crop((left, top, left + side, top + side))
    return square if side == size_px else square.resize((size_px, size_px), Image.Resampling.LANCZOS)


def encode(picture: Image.Image, image_format: str) -> bytes:
    """Return an RGB image encoded in a resolved format, without metadata; equal pixels give equal bytes."""
    chosen = _file_format(image_format)
    buffer = io.BytesIO()
    bare = picture.copy()
    bare.info.clear()  # otherwise Pillow would write the source's profile and comments again
    bare.save(buffer, **chosen.settings(int(image_format.partition(":")[2] or 100)))
    return chosen.finished(buffer.getvalue())


def padded_length(longest: int) -> int:
    """Return the length to which all files of a pool can be padded if the longest has `longest` bytes."""
    return longest + MIN_PADDING


def pad_to(path: Path, length: int) -> None:
    """Pad an encoded file to exactly `length` bytes; its pixels do not change.

    The length of a file reveals how well its image compresses, and fakes compress better.

    Raises:
        ValueError: the file is already too long; see `padded_length`.
    """
    missing = length - path.stat().st_size
    if missing < MIN_PADDING:
        raise ValueError(f"{path} can only be padded by {MIN_PADDING} bytes or more, not by {missing}")
    with path.open("r+b") as file:
        format_of_file(path.name).pad(file, missing)


def _file_format(image_format: str) -> FileFormat:
    """Return the file format of a resolved format."""
    return FORMATS[image_format.partition(":")[0]]


def load(path: Path) -> tuple[Image.Image, SourceFacts]:
    """Return the image upright in RGB (sRGB), in its own size, and the properties of its file.

    Raises:
        BadPicture: the file cannot be read as an image; names the file and the reason.
    """
    with _reading(path, with_pixels=True) as (opened, png), _turn_of(opened):
        return _upright(opened, png)


def _upright(opened: Image.Image, png: PngFile | None) -> tuple[Image.Image, SourceFacts]:
    facts, orientation = _facts(opened), _orientation(opened)
    is_negative = isinstance(opened, TiffImagePlugin.TiffImageFile) and tiff_file.is_negative(opened)
    frame = _frame(opened)
    shown = in_8_bits(opened, png) if png else opened
    shown.load()
    if shown.format != "TIFF" and orientation in _TURNS:  # Pillow turns TIFF itself
        shown = _turned(shown, orientation)
    made, of_colours = to_srgb(shown, is_negative=is_negative)
    if made is not shown:
        shown.close()  # its pixels are as many again
    if frame:
        made, whole = Image.new("RGB", made.size, "white"), made
        made.paste(whole.crop(frame), frame)
    return made, replace(facts, treatments=(*facts.treatments, *of_colours))


def _turn_of(opened: Image.Image) -> AbstractContextManager[Any]:
    """Return what is held while an image is decoded and made smaller."""
    return large_work() if opened.width * opened.height > _LARGE_PIXELS else nullcontext()


def upright_size(path: Path) -> tuple[int, int]:
    """Return width and height (px) of the image that `load` returns, from the file's header.

    Raises:
        BadPicture: the header shows that `load` would fail.
    """
    with _reading(path, with_pixels=False) as (picture, _):
        width, height = _stored_size(picture)
        return (height, width) if _orientation(picture) in _ON_ITS_SIDE else (width, height)


def _stored_size(opened: Image.Image) -> tuple[int, int]:
    """Return width and height (px) before turning."""
    if isinstance(opened, TiffImagePlugin.TiffImageFile):
        return tiff_file.stored_size(opened)
    return opened.size


def _orientation(opened: Image.Image) -> int:
    """Return the orientation (1 to 8, EXIF 2.3) in which browsers show a file; 1 where they ignore it."""
    if isinstance(opened, TiffImagePlugin.TiffImageFile):
        return tiff_file.orientation(opened)
    if opened.format not in _TURNED_BY_EXIF:
        return 1
    exif = Image.Exif()  # `getexif` would also take what XMP says
    try:
        exif.load(opened.info.get("exif") or b"")
        return exif.get(ExifTags.Base.Orientation, 1)
    except _UNREADABLE:
        return 1


def _frame(opened: Image.Image) -> tuple[int, int, int, int] | None:
    """Return the box (px) of a GIF's first frame if it leaves a part of the picture transparent, or None."""
    if not isinstance(opened, GifImagePlugin.GifImageFile) or not opened.tile:
        return None
    left, top, right, bottom = opened.tile[0].extents or (0, 0, *opened.size)
    box = (left, top, right, bottom)
    return None if box == (0, 0, *opened.size) else box


def _turned(picture: Image.Image, orientation: int) -> Image.Image:
    turned = picture.transpose(_TURNS[orientation])
    turned.info = picture.info
    return turned


def stated_pixels(path: Path) -> int:
    """Return the number of pixels of an image by its header.

    Raises:
        BadPicture: the header shows that `load` would fail.
    """
    with _reading(path, with_pixels=False) as (picture, _):
        return picture.width * picture.height


def is_picture(path: str | Path) -> bool:
    """Return whether a file is in a format that is read, by its structure, whatever its name ends in."""
    try:
        with _opened(Path(path)):
            return True
    except _UNREADABLE:
        return False


@contextmanager
def _reading(path: Path, *, with_pixels: bool) -> Iterator[tuple[Image.Image, PngFile | None]]:
    """Yield the opened image; raise BadPicture if it is unfit, or if decoding it in the block fails."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Pillow warns about odd metadata, which is dropped anyway
            start = _start_of(path)
            png = read_png(path, with_pixels=with_pixels) if start.startswith(png_file.SIGNATURE) else None
            jpeg = read_jpeg(path) if with_pixels and start.startswith(jpeg_file.START) else None
            bare = read_jp2(path) if with_pixels and start.startswith(jp2_file.SIGNATURE) else jpeg
            with _opened(png.stream if png else io.BytesIO(bare) if bare else path) as picture:
                _check_size(path, picture.size, _most_pixels(picture, png))
                _check_light(path, picture, png)
                _check_scans(path, picture, jpeg)
                if with_pixels:
                    with _turn_of(picture):
                        _check_whole(path, picture, jpeg)
                if picture.format == "BMP" and (profile := bmp_file.profile_of(path)):
                    picture.info["icc_profile"] = profile
                yield picture, png
    except InvalidInput:
        raise
    except FileNotFoundError:
        raise BadPicture(path, "gone", "does not exist") from None
    except PermissionError:
        raise BadPicture(path, "forbidden", "may not be read: there is no permission") from None
    except UnidentifiedImageError:
        raise _unidentified(path) from None
    except Image.DecompressionBombError:
        raise BadPicture(path, "large", f"states more pixels than the limit of {MAX_PIXELS:,}") from None
    except UnreadKind as error:
        raise BadPicture(path, "unsupported", f"{error}; save it as PNG") from None
    except _UNREADABLE as error:
        why = (error.strerror if isinstance(error, OSError) else "") or str(error) or type(error).__name__
        raise BadPicture(path, "broken", f"is broken: {' '.join(why.split())}") from None


def _start_of(path: Path) -> bytes:
    """Return as many bytes as tell a format."""
    with path.open("rb") as file:
        return file.read(8)


def _unidentified(path: Path) -> BadPicture:
    if not (start := _start_of(path)):
        return BadPicture(path, "empty", "is empty")
    name = next((name for name, starts in _STARTS.items() if start.startswith(starts)), None)
    if name:
        why = (
            f"is a {name} file of a kind that is not read, or damaged; save it with 8 bits a channel, as PNG"
        )
        return BadPicture(path, "unsupported", why)
    return BadPicture(path, "no picture", "is not an image that can be read")


@contextmanager
def _opened(file: Path | BinaryIO) -> Iterator[Image.Image]:
    """Yield the image without decoding it, whatever size it claims, so that the size can be reported."""
    # A stream: of a path Pillow maps the pixels of some TIFF files, by the sides that they have once turned.
    with file.open("rb") if isinstance(file, Path) else nullcontext(file) as stream:
        limit = Image.MAX_IMAGE_PIXELS
        Image.MAX_IMAGE_PIXELS = None
        try:
            picture = Image.open(stream, formats=_READABLE)
        finally:
            Image.MAX_IMAGE_PIXELS = limit
        with picture:
            yield picture


def _most_pixels(opened: Image.Image, png: PngFile | None) -> int:
    """Return how many pixels an image may have in its format, so that decoding takes at most 500 MB."""
    if png:
        return _MOST_PNG_PIXELS if png.bits == 16 or gamma_of(png.colour) else MAX_PIXELS
    return _FEWER_PIXELS.get(opened.format or "", MAX_PIXELS)


def _check_size(path: Path, size: tuple[int, int], most_pixels: int) -> None:
    width, height = size
    if width * height > most_pixels:
        raise BadPicture(
            path,
            "large",
            f"states {width} x {height} pixels, more than the limit of {most_pixels:,} in its format; "
            "bring it to a smaller size first",
        )
    if min(size) < MIN_SIDE_PX:
        raise BadPicture(
            path, "small", f"has {width} x {height} pixels, and needs {MIN_SIDE_PX} or more on each side"
        )


def _check_light(path: Path, opened: Image.Image, png: PngFile | None) -> None:
    """Refuse levels without a white (HDR), and colours that would be mistaken for sRGB."""
    if opened.mode == "F":
        raise BadPicture(
            path,
            "unsupported",
            "has floating-point levels (HDR), of which none is white; tone-map it to 8 or 16 bits",
        )
    if isinstance(opened, TiffImagePlugin.TiffImageFile) and (why := tiff_file.why_misread(opened)):
        raise BadPicture(path, "unsupported", why)
    if opened.format == "BMP" and bmp_file.states_transparency(path) and opened.mode != "RGBA":
        raise BadPicture(path, "unsupported", "has transparency of a rare kind; save it as PNG")
    primaries, transfer = _coding_points(path, opened, png) or (1, 1)
    if transfer in _HDR_TRANSFERS:
        raise BadPicture(path, "unsupported", "is in HDR (PQ or HLG); tone-map it to sRGB")
    if transfer in _UNREAD_TRANSFERS.get(opened.format or "", ()) and not opened.info.get("icc_profile"):
        raise BadPicture(
            path, "unsupported", f"has levels of a rare kind (CICP transfer {transfer}); convert it to sRGB"
        )
    if primaries not in _SRGB_PRIMARIES and not opened.info.get("icc_profile"):
        raise BadPicture(
            path,
            "unsupported",
            f"is in wide-gamut colours (CICP primaries {primaries}), with no ICC profile; convert it to sRGB",
        )


def _check_scans(path: Path, opened: Image.Image, data: bytes | None) -> None:
    """Refuse a JPEG of so many scans that a small file takes minutes."""
    if not opened.info.get("progressive"):
        return
    count = (data or path.read_bytes()).count(b"\xff\xda")
    if count > _MOST_SCANS:
        raise BadPicture(
            path, "unsupported", f"has {count:,} scans, more than {_MOST_SCANS}; save it as a baseline JPEG"
        )


def _check_whole(path: Path, opened: Image.Image, jpeg: bytes | None) -> None:
    """Check what decoders pass over: the data of a JPEG, a TIFF's strips, zeros where others have none."""
    if jpeg:
        check_whole(jpeg)
    elif isinstance(opened, TiffImagePlugin.TiffImageFile):
        tiff_file.check_parts(path, opened)
    else:
        check_not_zeroed(path, opened.format or "", opened.width * opened.height)


def _coding_points(path: Path, opened: Image.Image, png: PngFile | None) -> tuple[int, int] | None:
    """Return colour primaries and transfer function by ITU-T H.273, if a PNG or AVIF file contains them."""
    if png:
        primaries, transfer, *_ = png.colour.get(b"cICP", b"").ljust(2, b"\2")
        return primaries, transfer
    return coding_points(path) if opened.format == "AVIF" else None


def _facts(opened: Image.Image) -> SourceFacts:
    is_jpeg = opened.format in ("JPEG", "MPO")
    has_colour = opened.mode not in ("1", "L", "LA", "I") and not opened.mode.startswith("I;16")
    return SourceFacts(
        format=opened.format or "?",
        short_side_px=min(opened.size),
        has_colour=has_colour and not _raw_mode(opened).startswith("LA"),
        jpeg_quality=_jpeg_quality(opened.quantization)
        if isinstance(opened, JpegImagePlugin.JpegImageFile)
        else None,
        has_full_chroma=not is_jpeg or JpegImagePlugin.get_sampling(opened) in (-1, 0),
        treatments=tuple(_treatments(opened)),
        is_square=opened.width == opened.height,
    )


def _treatments(opened: Image.Image) -> Iterator[Treatment]:
    """Yield the conversions that an opened file needs according to its header."""
    if opened.mode.startswith("I") or "16" in _raw_mode(opened):
        yield "16 bits"
    if opened.mode == "CMYK":
        yield "CMYK"
    if has_alpha(opened) or _frame(opened):
        yield "transparency"
    if getattr(opened, "is_animated", False) and opened.format != "MPO":  # the others of MPO are previews
        yield "frames"
    if _orientation(opened) in _TURNS:
        yield "turned"


def _raw_mode(opened: Image.Image) -> str:
    """Return Pillow's name for the stored form of the samples, such as `RGB;16B`."""
    tiles = getattr(opened, "tile", None)
    arguments = tiles[0].args if tiles else ""
    first = arguments[0] if isinstance(arguments, tuple) and arguments else arguments
    return first if isinstance(first, str) else ""


def _jpeg_quality(tables: dict[int, Any]) -> int | None:
    """Return the quality (1 to 100) that scales the standard's luminance table to the file's, or None."""
    if 0 not in tables:
        return None
    percent = max(100 * sum(tables[0]) / _IJG_LUMINANCE_SUM, 1)
    quality = (200 - percent) / 2 if percent <= 100 else 5000 / percent
    return min(max(round(quality), 1), 100)
