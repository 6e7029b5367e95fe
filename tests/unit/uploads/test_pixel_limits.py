"""Pictures of an upload: small files of many pixels are refused from their headers, honest ones are not."""

import struct
import zlib

import pytest

from backend.foundation.errors import InvalidInput
from backend.uploads import pixel_limits
from backend.uploads.pixel_limits import check_pixels


def png(width, height, length=10_000):
    """Return a PNG file of some bytes that states a size; its pixels are not to be read."""

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", b"\0" * length) + chunk(b"IEND", b"")


def put(folder, files):
    for i, content in enumerate(files):
        (folder / f"{i}.png").write_bytes(content)


@pytest.mark.parametrize(("width", "height"), [(7000, 7000), (8, 6_000_000), (3000, 3000)])
def test_few_bytes_with_many_pixels_are_refused(tmp_path, width, height):
    bomb = png(width, height)
    put(tmp_path, [bomb] * (2_000_000_000 // (width * height) + 1))

    with pytest.raises(InvalidInput, match="that files of so few bytes may have"):
        check_pixels(tmp_path)


def test_small_pictures_beside_them_allow_no_more(tmp_path):
    put(tmp_path, [png(7000, 7000)] * 21)
    check_pixels(tmp_path)

    put(tmp_path, [png(7000, 7000)] * 30 + [png(8, 8, 10)] * 500)
    with pytest.raises(InvalidInput, match="1,470,032,000 pixels"):
        check_pixels(tmp_path)


def test_pixels_that_come_with_their_bytes_are_taken(tmp_path):
    put(tmp_path, [png(7000, 7000, length=500_000)] * 50)

    check_pixels(tmp_path)


def test_ten_thousand_even_pictures_of_1024_px_are_taken(tmp_path, monkeypatch):
    monkeypatch.setattr(pixel_limits, "_sizes", lambda folder: [(1024 * 1024, 3500)] * 10_000)

    check_pixels(tmp_path)


def test_pictures_that_are_not_read_anyway_are_not_counted(tmp_path):
    put(tmp_path, [png(9999, 9999)] * 30)
    (tmp_path / "notes.txt").write_text("no picture")

    check_pixels(tmp_path)
