"""The pictures or clips that a caller gives, as files to send: a folder, or an iterable in any form.

Pictures of an iterable are written to a temporary folder one by one, so that a generator of ten thousand
pictures needs no more memory than one; they are numbered in their order, on which the digest depends.
"""

import contextlib
import io
import os
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backend.client.png import png_of_rgb
from backend.foundation.errors import InvalidInput, NotFound, brief
from backend.foundation.names import is_set_aside

_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", ".png"),
    (b"\xff\xd8\xff", ".jpg"),
    (b"GIF8", ".gif"),
    (b"BM", ".bmp"),
    (b"II*\0", ".tif"),
    (b"MM\0*", ".tif"),
    (b"OHCLIP1\n", ".clip"),
    (b"\x1a\x45\xdf\xa3", ".webm"),
)
"""First bytes of files that hold a picture or a clip, and the ending of their name."""
_LATER_MAGIC = ((8, b"WEBP", ".webp"), (8, b"AVI ", ".avi"), (4, b"ftyp", ".mp4"))
"""The same, of files that say so some bytes later."""


@dataclass(frozen=True)
class PictureFile:
    """A file to send: its path in the archive, and where it lies."""

    name: str
    path: Path
    size: int


@contextlib.contextmanager
def picture_files(images: Any) -> Iterator[tuple[PictureFile, ...]]:
    """Give the files of a folder, or of an iterable of pictures for as long as the context lasts.

    A picture is a PIL image, a numpy array (uint8, height x width x 3), the bytes of a picture file, or the
    path of one.

    Raises:
        InvalidInput: no pictures, or something that is none. NotFound: a path leads nowhere.
    """
    if isinstance(images, (str, os.PathLike)):
        yield _of_folder(Path(images))
        return
    if isinstance(images, (bytes, bytearray)) or not isinstance(images, Iterable):
        raise InvalidInput(f"images must be a folder or an iterable of pictures, not {type(images).__name__}")
    with tempfile.TemporaryDirectory(prefix="openhype-") as folder:
        files = tuple(_written(image, index, Path(folder)) for index, image in enumerate(images))
        if not files:
            raise InvalidInput("images is empty; there is nothing to send")
        yield files


def _of_folder(folder: Path) -> tuple[PictureFile, ...]:
    if not folder.is_dir():
        what = "a file, not a folder" if folder.exists() else "not there"
        raise NotFound(f"images must be a folder or an iterable of pictures; {folder} is {what}")
    files = [
        PictureFile(path.relative_to(folder).as_posix(), path, size) for path, size in _files_in(folder, ())
    ]
    if not files:
        raise InvalidInput(f"there are no files in {folder}")
    return tuple(files)


def _files_in(folder: Path, above: tuple[Path, ...]) -> Iterator[tuple[Path, int]]:
    """Yield the files of a folder and their lengths (bytes); links are followed, as `openhype create` does.

    Args:
        above: the folders that it is in, without links.

    Raises:
        InvalidInput: something would be left out without a word, such as a folder that cannot be read.
    """
    try:
        here = folder.resolve()
        if here in above:
            raise InvalidInput(f"{folder} is a link back to a folder that it is in")
        for name in os.listdir(folder):
            path = folder / name
            if is_set_aside(name):
                continue
            if path.is_dir():
                yield from _files_in(path, (*above, here))
            elif path.is_file():
                yield path, path.stat().st_size
            elif path.is_symlink() and not path.exists():
                raise InvalidInput(f"{path} is a link that leads nowhere; mend it, or remove it")
    except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle
        raise InvalidInput(f"{folder} cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _written(image: Any, index: int, folder: Path) -> PictureFile:
    """Return a picture as a file; a path is sent as it lies there, all else is written into `folder`."""
    if isinstance(image, (str, os.PathLike)):
        path = Path(image)
        if not path.is_file():
            raise NotFound(f"picture {index}: there is no file {path}")
        return PictureFile(f"{index:06d}{path.suffix.lower()}", path, path.stat().st_size)
    content, suffix = _encoded(image, index)
    path = folder / f"{index:06d}{suffix}"
    path.write_bytes(content)
    return PictureFile(path.name, path, len(content))


def _encoded(image: Any, index: int) -> tuple[bytes, str]:
    """Return the bytes of a picture's file, and the ending of its name."""
    if isinstance(image, (bytes, bytearray, memoryview)):
        content = bytes(image)
        return content, _suffix(content, index)
    if callable(getattr(image, "save", None)) and isinstance(getattr(image, "mode", None), str):
        return _png_of_pil(image, index), ".png"
    shape, kind = getattr(image, "shape", None), str(getattr(image, "dtype", ""))
    if shape is not None:
        return _png_of_array(image, tuple(shape), kind, index), ".png"
    raise InvalidInput(
        f"picture {index} must be a PIL image, a numpy array, the bytes of a picture file or the path of "
        f"one, not {type(image).__name__}"
    )


def _suffix(content: bytes, index: int) -> str:
    for at, start, suffix in (*((0, *one) for one in _MAGIC), *_LATER_MAGIC):
        if content.startswith(start, at):
            return suffix
    raise InvalidInput(
        f"picture {index}: these {len(content)} bytes are no PNG, JPEG, WebP, GIF, BMP or TIFF file, and no "
        f"MP4, WebM, AVI or .clip; they begin with {brief(content[:8])}"
    )


def _png_of_pil(image: Any, index: int) -> bytes:
    buffer = io.BytesIO()
    try:
        image.save(buffer, "PNG")
    except (OSError, ValueError) as error:  # such as mode CMYK or F
        raise InvalidInput(
            f"picture {index}: an image of mode {image.mode} cannot be written as PNG ({error}); convert it "
            "with .convert('RGB')"
        ) from None
    return buffer.getvalue()


def _png_of_array(image: Any, shape: tuple[int, ...], kind: str, index: int) -> bytes:
    if kind != "uint8" or len(shape) != 3 or shape[2] != 3 or 0 in shape:
        raise InvalidInput(
            f"picture {index} must be an array of uint8, height x width x 3, not {kind or 'of no type'} of "
            f"{' x '.join(map(str, shape)) or 'no dimensions'}; of a tensor from 0 to 1: "
            "(255 * x).round().byte().permute(1, 2, 0).cpu().numpy()"
        )
    height, width, _ = shape
    pixels = image.tobytes()
    try:
        from PIL import Image
    except ImportError:
        return png_of_rgb(width, height, pixels)
    buffer = io.BytesIO()
    Image.frombytes("RGB", (width, height), pixels).save(buffer, "PNG")
    return buffer.getvalue()
