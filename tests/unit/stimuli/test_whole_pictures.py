"""Files that lost a part of their picture are refused; others are read whatever metadata they have."""

import io
import re
import struct
import zlib

import numpy as np
import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from backend.stimuli.images import BadPicture, load

END = b"\xff\xd9"
KINDS = {
    "baseline": {},
    "progressive": {"progressive": True},
    "restarts": {"restart_marker_rows": 1},
    "full chroma": {"subsampling": 0, "quality": 95},
}


def photograph(mode="RGB"):
    """Return 320 x 240 px with gradients and noise, of which no two blocks are alike."""
    y, x = np.mgrid[:240, :320]
    noise = np.random.default_rng(0).normal(0, 6, (240, 320))
    rgb = np.stack([x * 0.7 + noise, y + noise, 128 + 60 * np.sin(x / 9) * np.cos(y / 13)], axis=-1)
    return Image.fromarray(rgb.clip(0, 255).astype("uint8")).convert(mode)


def encoded(image_format, mode="RGB", **options):
    buffer = io.BytesIO()
    photograph(mode).save(buffer, image_format, **options)
    return buffer.getvalue()


def is_read(path, data):
    path.write_bytes(data)
    try:
        load(path)
    except BadPicture:
        return False
    return True


def places(data, count=10):
    """Return positions in the coded data, from its beginning to shortly before its end."""
    return [700 + (len(data) - 760) * i // count for i in range(count)]


@pytest.mark.parametrize("mode", ["RGB", "L", "CMYK"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_jpeg_that_lost_something_is_refused(tmp_path, kind, mode):
    whole = encoded("JPEG", mode, **KINDS[kind])
    lossy = [
        damaged
        for at in places(whole)
        for damaged in (
            whole[:at],
            whole[:at] + END,
            whole[:at] + bytes(4000)[: len(whole) - at - 2] + whole[at + 4000 :],
            whole[:at] + bytes(len(whole) - at - 2) + END,
        )
    ]

    assert is_read(tmp_path / "a.jpg", whole)
    assert [len(each) for each in lossy if is_read(tmp_path / "a.jpg", each)] == []


@pytest.mark.parametrize("mode", ["RGB", "L", "CMYK"])
def test_a_progressive_jpeg_that_lost_scans_is_refused(tmp_path, mode):
    whole = encoded("JPEG", mode, progressive=True)
    scans = [found.start() for found in re.finditer(b"\xff\xda", whole)]

    cut = [whole[:at] + END for at in scans[1:]]

    assert len(cut) > 4
    assert [each for each in cut if is_read(tmp_path / "a.jpg", each)] == []


def test_the_refusal_says_what_is_wrong_with_the_file(tmp_path):
    whole = encoded("JPEG")
    path = tmp_path / "a.jpg"
    path.write_bytes(whole[: len(whole) // 2] + END)

    with pytest.raises(BadPicture, match=r"a\.jpg is broken: it is cut off or damaged \(Corrupt JPEG data"):
        load(path)


@pytest.mark.parametrize(
    "odd",
    [
        lambda whole: whole[:-2],  # without an end marker
        lambda whole: whole + b"what other programs append",
        lambda whole: whole[:-2] + bytes(40) + END,
        lambda whole: whole[:20] + b"junk" + whole[20:],  # before a marker, about which libjpeg warns
        lambda whole: whole[:20] + b"\xff\xe2\0\x13ICC_PROFILE\0\5\1bad" + whole[20:],
    ],
)
def test_an_odd_jpeg_that_is_whole_is_read(tmp_path, odd):
    path = tmp_path / "a.jpg"
    path.write_bytes(odd(encoded("JPEG")))

    picture, _ = load(path)

    with Image.open(io.BytesIO(encoded("JPEG"))) as expected:
        assert np.array_equal(np.asarray(picture), np.asarray(expected))


def test_a_progressive_jpeg_without_its_first_scan_is_refused(tmp_path):
    whole = encoded("JPEG", progressive=True)
    first = whole.find(b"\xff\xda")
    tables = whole.find(b"\xff\xc4", first)

    assert not is_read(tmp_path / "a.jpg", whole[:first] + whole[tables:])


@pytest.mark.parametrize("mode", ["RGB", "L", "CMYK"])
def test_a_short_part_of_zeros_is_found_where_the_blocks_seem_complete(tmp_path, mode):
    whole = encoded("JPEG", mode, quality=95)

    lossy = [whole[:at] + bytes(150) + whole[at + 150 :] for at in places(whole[:-150], 60)]

    assert [at for at, damaged in enumerate(lossy) if is_read(tmp_path / "a.jpg", damaged)] == []


def test_zeros_behind_a_jpeg_and_padding_after_its_thumbnail_do_no_harm(tmp_path):
    whole = encoded("JPEG")
    thumbnail = b"\xff\xe1\0\x0cExif\0\0" + END + END

    assert is_read(tmp_path / "a.jpg", whole + bytes(4096))
    assert is_read(tmp_path / "a.jpg", whole[:2] + thumbnail + whole[2:-2] + bytes(20) + END)


def lossless_jpeg():
    """Return 512 x 512 gray pixels of one level: a code of one bit for no difference (ITU-T T.81, H)."""
    frame = b"\xff\xc3" + struct.pack(">HBHHBBBB", 11, 8, 512, 512, 1, 1, 0x11, 0)
    table = b"\xff\xc4" + struct.pack(">HB16BB", 20, 0, 1, *bytes(15), 0)
    scan = b"\xff\xda" + struct.pack(">HBBBBBB", 8, 1, 1, 0, 1, 0, 0)
    return END[:1] + b"\xd8" + frame + table + scan + bytes(512 * 512 // 8) + END


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (lossless_jpeg(), "arithmetic or lossless coding"),  # its check wrote beyond a buffer, and killed
        (encoded("JPEG").replace(b"\xff\xc0", b"\xff\xc9", 1), "arithmetic or lossless coding"),
        (encoded("JPEG", "CMYK", subsampling=2), "colours have a rare resolution"),
    ],
)
def test_a_jpeg_that_cannot_be_checked_is_refused(tmp_path, data, message):
    path = tmp_path / "a.jpg"
    path.write_bytes(data)

    with pytest.raises(BadPicture, match=rf"a\.jpg is a JPEG .*{message}.*; save it as PNG$"):
        load(path)


CODED = {"lossy": ("WEBP", {}), "lossless": ("WEBP", {"lossless": True}), "jp2": ("JPEG2000", {})}


@pytest.mark.parametrize("kind", CODED)
def test_coded_data_with_a_part_of_zeros_are_refused(tmp_path, kind):
    image_format, options = CODED[kind]
    whole = encoded(image_format, **options)

    lossy = [whole[:at] + bytes(500) + whole[at + 500 :] for at in places(whole[:-500])]

    assert is_read(tmp_path / "a", whole)
    assert [at for at, damaged in enumerate(lossy) if is_read(tmp_path / "a", damaged)] == []


@pytest.mark.parametrize("kind", [*CODED, "avif"])
def test_a_file_that_ends_in_zeros_is_refused(tmp_path, kind):
    image_format, options = {**CODED, "avif": ("AVIF", {})}[kind]
    whole = encoded(image_format, **options)

    assert [
        at
        for at in places(whole)
        if is_read(tmp_path / "a", whole[: at - 100] + bytes(len(whole) + 100 - at))
    ] == []


@pytest.mark.parametrize("colour", ["black", "white", "gray"])
@pytest.mark.parametrize("kind", [*CODED, "avif"])
def test_a_picture_of_one_colour_is_read(tmp_path, kind, colour):
    image_format, options = {**CODED, "avif": ("AVIF", {"speed": 10})}[kind]
    Image.new("RGB", (1600, 1600), colour).save(tmp_path / "a", image_format, **options)

    assert load(tmp_path / "a")[0].size == (1600, 1600)


@pytest.mark.parametrize("image_format", ["PNG", "WEBP", "GIF", "TIFF", "BMP", "PPM", "AVIF"])
def test_a_file_that_is_cut_off_is_refused(tmp_path, image_format):
    whole = encoded(image_format)

    assert [at for at in places(whole) if is_read(tmp_path / "a", whole[:at])] == []


@pytest.mark.parametrize("compression", ["tiff_adobe_deflate", "tiff_deflate", "jpeg"])
def test_a_tiff_whose_strips_were_overwritten_is_refused(tmp_path, compression):
    whole = encoded("TIFF", compression=compression, strip_size=40_000)
    lossy = [
        whole[:at] + part[: len(whole) - at] + whole[at + len(part) :]
        for at in places(whole)
        for part in (bytes(800), whole[-1000:-200])
    ]

    assert is_read(tmp_path / "a.tif", whole)
    assert [at for at, damaged in enumerate(lossy) if is_read(tmp_path / "a.tif", damaged)] == []


@pytest.mark.parametrize("mode", ["L", "RGB", "CMYK"])
@pytest.mark.parametrize("compression", ["tiff_adobe_deflate", "jpeg", "tiff_lzw", "packbits", "raw"])
def test_a_tiff_that_is_whole_is_read(tmp_path, compression, mode):
    assert is_read(tmp_path / "a.tif", encoded("TIFF", mode, compression=compression))


IEND = struct.pack(">I", 0) + b"IEND" + struct.pack(">I", zlib.crc32(b"IEND"))


def test_a_png_that_lost_something_is_refused(tmp_path):
    whole = encoded("PNG")
    lossy = [
        damaged
        for at in places(whole)
        for damaged in (whole[:at] + IEND, whole[:at] + bytes(30) + whole[at + 30 :])
    ]

    assert [len(each) for each in lossy if is_read(tmp_path / "a.png", each)] == []


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


@pytest.mark.parametrize(
    "metadata",
    [
        chunk(b"zTXt", b"workflow\0\0" + zlib.compress(bytes(3_000_000))),
        chunk(b"iTXt", b"workflow\0\1\0\0\0" + zlib.compress(b"{}" * 2_000_000)),
        chunk(b"tEXt", b"workflow\0" + b"x" * 3_000_000),
        chunk(b"iCCP", b"long\0\0" + zlib.compress(bytes(3_000_000))),
        chunk(b"iCCP", b"bomb\0\0" + zlib.compress(bytes(200_000_000), 9)),
        chunk(b"zTXt", b"no end\0\1x"),
        chunk(b"eXIf", b"no EXIF"),
        chunk(b"gAMA", b"1"),
        chunk(b"tEXt", b"")[:-4] + b"bad!",
    ],
)
@pytest.mark.parametrize("is_before", [True, False])
def test_the_metadata_of_a_png_is_dropped_whatever_it_is(tmp_path, metadata, is_before):
    whole = encoded("PNG", pnginfo=PngInfo())
    at = whole.index(b"IDAT") - 4 if is_before else len(whole) - 12
    (tmp_path / "a.png").write_bytes(whole[:at] + metadata + whole[at:])

    picture, _ = load(tmp_path / "a.png")

    assert np.array_equal(np.asarray(picture), np.asarray(photograph()))


LONG = np.random.default_rng(2).bytes(1_500_000)
"""Metadata that cannot be compressed, longer than any buffer."""


def with_segments(whole, marker):
    part = b"\xff" + marker + struct.pack(">H", 60_002) + LONG[:60_000]
    return whole[:2] + 25 * part + whole[2:]


def with_box(whole, name, *, at_end=False):
    at = len(whole) if at_end else whole.index(b"jp2c") - 4
    return whole[:at] + struct.pack(">I", 8 + len(LONG)) + name + LONG + whole[at:]


@pytest.mark.parametrize(
    ("image_format", "options", "changed"),
    [
        ("JPEG", {}, lambda whole: with_segments(whole, b"\xe1")),
        ("JPEG", {}, lambda whole: with_segments(whole, b"\xfe")),
        ("WEBP", {"xmp": LONG, "exif": b"Exif\0\0" + LONG, "lossless": True}, None),
        ("WEBP", {"icc_profile": LONG, "lossless": True}, None),
        ("AVIF", {"xmp": LONG, "icc_profile": LONG}, None),
        ("TIFF", {"tiffinfo": {700: LONG, 270: "text" * 400_000}, "compression": "raw"}, None),
        ("TIFF", {"icc_profile": LONG, "compression": "tiff_lzw"}, None),
        ("GIF", {"comment": LONG}, None),
        ("JPEG2000", {}, lambda whole: with_box(whole, b"uuid")),
        ("JPEG2000", {}, lambda whole: with_box(whole, b"xml ")),
        ("JPEG2000", {}, lambda whole: with_box(whole, b"uuid", at_end=True)),
        ("PPM", {}, lambda whole: whole.replace(b"\n", b"\n#" + 400_000 * b"text" + b"\n", 1)),
        ("BMP", {}, lambda whole: whole + LONG),
    ],
)
def test_the_metadata_of_other_formats_is_dropped_whatever_its_length(
    tmp_path, image_format, options, changed
):
    path, bare = tmp_path / "a", tmp_path / "b"
    bare.write_bytes(encoded(image_format, **{"lossless": True} if image_format == "WEBP" else {}))
    path.write_bytes(changed(encoded(image_format)) if changed else encoded(image_format, **options))

    assert path.stat().st_size > 1_500_000
    assert np.array_equal(np.asarray(load(path)[0]), np.asarray(load(bare)[0]))
