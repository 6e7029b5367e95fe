"""One picture's way: alike in all but what it shows, and nothing else left in the file."""

import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image, ImageCms

from backend.errors import InvalidInput
from backend.images import encode, pad_to, padded_length, parse_equalise, process, resolve_format


def saved(path, picture, **options):
    picture.save(path, **options)
    return path


def pixels(path):
    with Image.open(path) as picture:
        return np.asarray(picture)


def read(data):
    return Image.open(io.BytesIO(data))


def noise(size=(40, 40), seed=0):
    return Image.fromarray(np.random.default_rng(seed).integers(0, 256, (*size, 3)).astype("uint8"))


def test_orientation_is_applied_and_no_metadata_is_left(tmp_path):
    picture = Image.new("RGB", (40, 40), "blue")
    picture.paste("red", (0, 0, 40, 20))
    exif = Image.Exif()
    exif[0x0112] = 6  # to be shown turned by 90 degrees: its top is on the right
    exif[0x010E] = "a fake"
    path = saved(tmp_path / "a.jpg", picture, exif=exif, comment=b"a fake")

    data, _ = process(path, 32, "png")

    made = read(data)
    assert made.getpixel((28, 16))[0] > 200
    assert made.getpixel((3, 16))[2] > 200
    assert (made.info, dict(made.getexif())) == ({}, {})
    assert b"fake" not in data


def test_colours_are_brought_to_srgb(tmp_path):
    lab = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    same = saved(tmp_path / "a.png", Image.new("RGB", (20, 20), (10, 120, 200)), icc_profile=lab)

    data, _ = process(same, 20, "png")

    assert read(data).getpixel((5, 5)) == pytest.approx((10, 120, 200), abs=1)
    assert "icc_profile" not in read(data).info


def test_transparent_parts_are_white(tmp_path):
    path = saved(tmp_path / "a.png", Image.new("RGBA", (20, 20), (255, 0, 0, 0)))

    data, facts = process(path, 20, "png")

    assert read(data).getpixel((5, 5)) == (255, 255, 255)
    assert facts.has_alpha


def test_sixteen_bit_greys_keep_their_level(tmp_path):
    path = tmp_path / "a.png"
    Image.fromarray(np.full((20, 20), 257 * 100, dtype="uint16")).save(path)

    data, facts = process(path, 20, "png")

    assert read(data).getpixel((5, 5)) == (100, 100, 100)
    assert not facts.has_colour


@pytest.mark.parametrize("quality", [30, 75, 95])
def test_the_quality_of_a_jpeg_is_read_from_its_tables(tmp_path, quality):
    path = tmp_path / "a.jpg"
    read(encode(noise(), "png")).save(path, quality=quality, subsampling=2)

    _, facts = process(path, 32, "png")

    assert abs(facts.jpeg_quality - quality) <= 1
    assert not facts.has_full_chroma


def test_the_filling_does_not_compress(tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(encode(noise(), "png"))
    before = len(zlib.compress(path.read_bytes()))

    pad_to(path, path.stat().st_size + 20_000)

    assert len(zlib.compress(path.read_bytes())) >= before + 20_000


def test_the_middle_is_kept_when_a_picture_is_cropped(tmp_path):
    picture = Image.new("RGB", (60, 20), "blue")
    picture.paste("red", (20, 0, 40, 20))

    data, facts = process(saved(tmp_path / "a.png", picture), 16, "png")

    assert read(data).size == (16, 16)
    assert read(data).getpixel((8, 8)) == (255, 0, 0)
    assert max(read(data).getchannel("B").tobytes()) < 20  # of the blue beside, no more than ringing
    assert facts.short_side_px == 20


@pytest.mark.parametrize("image_format", ["png", "jpeg:95"])
@pytest.mark.parametrize("extra", [12, 13, 14, 100, 70_000, 200_003])
def test_a_padded_file_has_the_length_and_the_same_pixels(tmp_path, image_format, extra):
    path = tmp_path / ("a.png" if image_format == "png" else "a.jpg")
    path.write_bytes(encode(noise(), image_format))
    before, length = pixels(path), path.stat().st_size

    pad_to(path, length + extra)

    assert path.stat().st_size == length + extra
    assert np.array_equal(pixels(path), before)


def test_the_longest_file_can_be_padded_too(tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(encode(noise(), "png"))
    length = padded_length(path.stat().st_size)

    pad_to(path, length)

    assert path.stat().st_size == length


def test_equalising_puts_a_picture_through_the_loss(tmp_path):
    path = saved(tmp_path / "a.png", noise())

    lossless, _ = process(path, 40, "png")
    lossy, _ = process(path, 40, "png", parse_equalise(["jpeg:40"]))
    smooth, _ = process(path, 40, "png", parse_equalise(["size:10"]))

    assert len(smooth) < len(lossless)
    assert not np.array_equal(np.asarray(read(lossy)), np.asarray(read(lossless)))


def bomb(path, side):
    """Write a PNG that claims side x side pixels and has none."""
    header = b"IHDR" + struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    chunk = struct.pack(">I", 13) + header + struct.pack(">I", zlib.crc32(header))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk + b"\0\0\0\0IEND\xaeB`\x82")
    return path


@pytest.mark.parametrize("side", [20_000, 11_000])
def test_a_bomb_is_refused_before_it_is_decoded(tmp_path, side):
    with pytest.raises(InvalidInput, match=rf"a\.png claims {side} x {side} pixels"):
        process(bomb(tmp_path / "a.png", side), 64, "png")


def broken(path):
    whole = encode(noise((200, 200)), "jpeg:95")
    path.write_bytes(whole[: len(whole) // 2])
    return path


def text(path):
    path.write_text("not a picture")
    return path


@pytest.mark.parametrize(
    ("make", "message"),
    [(text, "is not an image"), (broken, "is broken"), (lambda path: path, "does not exist")],
)
def test_what_is_no_picture_is_named(tmp_path, make, message):
    with pytest.raises(InvalidInput, match=rf"x\.png {message}"):
        process(make(tmp_path / "x.png"), 64, "png")


@pytest.mark.parametrize("step", ["jpeg", "jpeg:0", "jpeg:101", "size:4", "blur:2", "jpeg:९"])
def test_a_loss_that_is_none_is_refused(step):
    with pytest.raises(InvalidInput, match="--equalise must be"):
        parse_equalise([step])


def test_the_format_follows_from_the_size():
    assert [resolve_format("auto", size) for size in (64, 256, 257)] == ["png", "png", "jpeg:95"]
    with pytest.raises(InvalidInput, match="image_format must be"):
        resolve_format("gif", 64)
