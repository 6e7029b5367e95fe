"""One picture's way: alike in all but what it shows, and nothing else left in the file."""

import io
import struct
import zlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from PIL import GifImagePlugin, Image, ImageCms, TiffImagePlugin

from backend.foundation.errors import InvalidInput
from backend.stimuli import images, parallel, srgb
from backend.stimuli.images import (
    BadPicture,
    encode,
    pad_to,
    padded_length,
    parse_preprocessing,
    process,
    resolve_format,
    suffix_of,
)


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


def display_p3():
    """Return a matrix profile with the primaries of Display P3 and the curve of sRGB (ICC.1:2022, 7 to 10).

    Colorants are those of Apple's profile, adapted to D50.
    """
    xyz = lambda x, y, z: b"XYZ \0\0\0\0" + struct.pack(">3i", *(round(v * 65536) for v in (x, y, z)))  # noqa: E731
    curve = [((i / 255 + 0.055) / 1.055) ** 2.4 if i > 10 else i / 255 / 12.92 for i in range(256)]
    text = "Display P3"
    tags = {
        b"desc": b"mluc\0\0\0\0" + struct.pack(">II", 1, 12) + b"enUS" + struct.pack(">II", 2 * len(text), 28)
        + text.encode("utf-16-be"),
        b"wtpt": xyz(0.9642, 1, 0.8249),
        b"rXYZ": xyz(0.51512, 0.24120, -0.00105),
        b"gXYZ": xyz(0.29198, 0.69225, 0.04189),
        b"bXYZ": xyz(0.15710, 0.06657, 0.78407),
        **dict.fromkeys(
            (b"rTRC", b"gTRC", b"bTRC"),
            b"curv\0\0\0\0" + struct.pack(">I256H", 256, *(round(65535 * v) for v in curve)),
        ),
    }  # fmt: skip
    table, body = struct.pack(">I", len(tags)), b""
    start = 128 + 4 + 12 * len(tags)
    for name, data in tags.items():
        data += b"\0" * (-len(data) % 4)
        table += name + struct.pack(">II", start + len(body), len(data))
        body += data
    size = start + len(body)
    head = struct.pack(">I4sI4s4s4s", size, b"\0\0\0\0", 0x04000000, b"mntr", b"RGB ", b"XYZ ")
    head += bytes(12) + b"acsp" + bytes(28) + struct.pack(">3i", 63190, 65536, 54061)
    return head.ljust(128, b"\0") + table + body


def test_colours_are_brought_to_srgb(tmp_path):
    srgb = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    same = saved(tmp_path / "a.png", Image.new("RGB", (20, 20), (10, 120, 200)), icc_profile=srgb)

    data, facts = process(same, 20, "png")

    assert read(data).getpixel((5, 5)) == pytest.approx((10, 120, 200), abs=1)
    assert "icc_profile" not in read(data).info
    assert facts.treatments == ()


def test_wide_colours_are_brought_to_srgb(tmp_path):
    wide = saved(tmp_path / "a.png", Image.new("RGB", (20, 20), (200, 100, 50)), icc_profile=display_p3())

    data, facts = process(wide, 20, "png")

    # by hand: light of 0.578, 0.127, 0.032 through the matrix of CSS Color 4 from P3 to sRGB
    assert read(data).getpixel((5, 5)) == pytest.approx((215, 93, 31), abs=1)
    assert facts.treatments == ("profile",)


def test_a_profile_that_does_not_fit_is_left_aside(tmp_path):
    gray = saved(tmp_path / "a.png", Image.new("L", (20, 20), 90), icc_profile=display_p3())
    broken = saved(tmp_path / "b.png", Image.new("RGB", (20, 20), (90, 80, 70)), icc_profile=b"no profile")

    made = [process(path, 20, "png") for path in (gray, broken)]

    assert [facts.treatments for _, facts in made] == [("profile",), ("odd profile",)]
    assert read(made[1][0]).getpixel((5, 5)) == (90, 80, 70)


def test_cmyk_without_a_profile_is_converted_ink_by_ink(tmp_path):
    for suffix in ("jpg", "tif"):
        path = saved(tmp_path / f"a.{suffix}", Image.new("CMYK", (24, 24), (0, 128, 255, 0)))

        data, facts = process(path, 24, "png")

        assert read(data).getpixel((5, 5)) == pytest.approx((255, 127, 0), abs=2)
        assert facts.treatments == ("CMYK",)


def test_transparent_parts_are_white(tmp_path):
    path = saved(tmp_path / "a.png", Image.new("RGBA", (20, 20), (255, 0, 0, 0)))

    data, facts = process(path, 20, "png")

    assert read(data).getpixel((5, 5)) == (255, 255, 255)
    assert facts.treatments == ("transparency",)


@pytest.mark.parametrize("suffix", ["png", "tif"])
def test_sixteen_bit_greys_keep_their_level(tmp_path, suffix):
    path = tmp_path / f"a.{suffix}"
    Image.fromarray(np.full((20, 20), 257 * 100, dtype="uint16")).save(path)

    data, facts = process(path, 20, "png")

    assert read(data).getpixel((5, 5)) == (100, 100, 100)
    assert (facts.has_colour, facts.treatments) == (False, ("16 bits",))


def sixteen_bits(path, levels, *chunks):
    """Write a PNG of 16 bits a channel, which Pillow cannot: gray, gray and alpha, RGB, or RGBA."""
    side = 20
    colour = {1: 0, 2: 4, 3: 2, 4: 6}[len(levels)]
    rows = (b"\0" + struct.pack(f">{len(levels)}H", *levels) * side) * side
    header = struct.pack(">IIBBBBB", side, side, 16, colour, 0, 0, 0)
    parts = [(b"IHDR", header), *chunks, (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    body = b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in parts
    )
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + body)
    return path


@pytest.mark.parametrize(
    ("levels", "pixel", "treatments"),
    [
        ((257 * 100,), (100, 100, 100), ("16 bits",)),
        ((257 * 10, 257 * 120, 257 * 200), (10, 120, 200), ("16 bits",)),
        ((257 * 10, 257 * 120, 257 * 200, 0), (255, 255, 255), ("16 bits", "transparency")),
        ((257 * 50, 65535), (50, 50, 50), ("16 bits", "transparency")),
    ],
)
def test_sixteen_bits_a_channel_are_scaled(tmp_path, levels, pixel, treatments):
    data, facts = process(sixteen_bits(tmp_path / "a.png", levels), 20, "png")

    assert read(data).getpixel((5, 5)) == pixel
    assert (facts.has_colour, facts.treatments) == (len(levels) > 2, treatments)


@pytest.mark.parametrize("suffix", ["gif", "png", "webp", "avif", "tif"])
def test_of_several_frames_the_first_is_shown(tmp_path, suffix):
    frames = [Image.new("RGB", (24, 24), colour) for colour in ("red", "lime", "blue")]
    path = saved(tmp_path / f"a.{suffix}", frames[0], save_all=True, append_images=frames[1:])

    data, facts = process(path, 24, "png")

    assert read(data).getpixel((5, 5)) == pytest.approx((255, 0, 0), abs=6)
    assert facts.treatments == ("frames",)


@pytest.mark.parametrize("suffix", ["jpg", "png", "tif", "avif"])
@pytest.mark.parametrize(("orientation", "red"), [(1, "top"), (3, "bottom"), (6, "right"), (8, "left")])
def test_pictures_are_turned_upright(tmp_path, suffix, orientation, red):
    picture = Image.new("RGB", (40, 40), "blue")
    picture.paste("red", (0, 0, 40, 20))
    exif = Image.Exif()
    exif[0x0112] = orientation

    data, facts = process(saved(tmp_path / f"a.{suffix}", picture, exif=exif), 40, "png")

    sides = {"top": (20, 4), "bottom": (20, 36), "left": (4, 20), "right": (36, 20)}
    there = {side for side, at in sides.items() if read(data).getpixel(at)[0] > 200}
    opposite = {"top": "bottom", "bottom": "top", "left": "right", "right": "left"}[red]
    assert {red, opposite} & there == {red}
    assert ("turned" in facts.treatments) == (orientation != 1)


def light(path):
    Image.fromarray(np.full((20, 20), 0.5, np.float32)).save(path, "TIFF")


def thirty_two_bits(path):
    Image.fromarray(np.full((20, 20), 70_000, np.int32)).save(path, "TIFF")


def lab(path):
    Image.new("LAB", (24, 24), (137, 128, 128)).save(path, "TIFF")


def in_pq(path):
    sixteen_bits(path, (9, 9, 9), (b"cICP", bytes([9, 16, 0, 1])))


def in_p3(path):
    sixteen_bits(path, (9, 9, 9), (b"cICP", bytes([12, 13, 0, 1])))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (light, r"has floating-point levels \(HDR\), of which none is white; tone-map it"),
        (thirty_two_bits, "has signed levels of 32 bits, of which programs take different ones for white"),
        (lab, "is in Lab, which programs convert differently; save it in RGB"),
        (in_pq, r"is in HDR \(PQ or HLG\); tone-map it to sRGB"),
        (in_p3, r"is in wide-gamut colours \(CICP primaries 12\), with no ICC profile; convert it"),
    ],
)
def test_light_that_has_no_white_is_refused_with_the_reason(tmp_path, make, message):
    make(tmp_path / "a.png")

    with pytest.raises(BadPicture, match=message) as refused:
        process(tmp_path / "a.png", 20, "png")

    assert refused.value.kind == "unsupported"


def test_colours_told_as_those_of_srgb_are_taken(tmp_path):
    path = sixteen_bits(tmp_path / "a.png", (257 * 9, 257 * 8, 257 * 7), (b"cICP", bytes([1, 13, 0, 1])))

    assert read(process(path, 20, "png")[0]).getpixel((5, 5)) == (9, 8, 7)


@pytest.mark.parametrize("quality", [30, 75, 95])
def test_the_quality_of_a_jpeg_is_read_from_its_tables(tmp_path, quality):
    path = tmp_path / "a.jpg"
    read(encode(noise(), "png")).save(path, quality=quality, subsampling=2)

    _, facts = process(path, 32, "png")

    assert abs(facts.jpeg_quality - quality) <= 1
    assert not facts.has_full_chroma


@pytest.mark.parametrize("image_format", ["webp", "png", "jpeg:95"])
def test_the_filling_does_not_compress(tmp_path, image_format):
    path = tmp_path / f"a{suffix_of(image_format)}"
    path.write_bytes(encode(noise(), image_format))
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


@pytest.mark.parametrize("image_format", ["webp", "png", "jpeg:95"])
@pytest.mark.parametrize("extra", [12, 14, 15, 100, 70_000, 200_003])
def test_a_padded_file_has_the_length_and_the_same_pixels(tmp_path, image_format, extra):
    extra += extra % 2 if image_format == "webp" else 0  # all WebP files have an even length
    path = tmp_path / f"a{suffix_of(image_format)}"
    path.write_bytes(encode(noise(), image_format))
    before, length = pixels(path), path.stat().st_size

    pad_to(path, length + extra)

    assert path.stat().st_size == length + extra
    assert np.array_equal(pixels(path), before)


def flat(size=(40, 40)):
    return Image.new("RGB", size, (1, 2, 3))


@pytest.mark.parametrize(
    "picture", [noise(), noise((8, 8)), noise((256, 256), 1), flat(), flat((2048, 2048))]
)
@pytest.mark.parametrize("image_format", ["webp", "png"])
def test_lossless_formats_keep_every_pixel(picture, image_format):
    assert np.array_equal(np.asarray(read(encode(picture, image_format))), np.asarray(picture))


@pytest.mark.parametrize("extra", [12, 14, 70_000])
def test_a_webp_file_holds_the_picture_and_padding_and_nothing_else(tmp_path, extra):
    """By RFC 9649: sizes are those of the file, unknown chunks come last, no flag promises metadata."""
    path = tmp_path / "a.webp"
    picture = noise((40, 24))
    picture.info |= {"exif": b"Exif\0\0fake", "icc_profile": b"fake", "xmp": b"fake", "comment": b"fake"}
    path.write_bytes(encode(picture, "webp"))
    pad_to(path, path.stat().st_size + extra)

    data = path.read_bytes()
    riff, size, webp = struct.unpack("<4sI4s", data[:12])
    chunks, at = [], 12
    while at < len(data):
        kind, length = struct.unpack("<4sI", data[at : at + 8])
        chunks.append((kind, data[at + 8 : at + 8 + length]))
        at += 8 + length + length % 2

    assert (riff, size, webp, at) == (b"RIFF", len(data) - 8, b"WEBP", len(data))
    assert [kind for kind, _ in chunks] == [b"VP8X", b"VP8L", b"opPd"]
    assert chunks[0][1] == bytes(4) + (23).to_bytes(3, "little") + (39).to_bytes(3, "little")
    assert b"fake" not in data


@pytest.mark.parametrize("image_format", ["webp", "png", "jpeg:95"])
def test_the_longest_file_can_be_padded_too(tmp_path, image_format):
    path = tmp_path / f"a{suffix_of(image_format)}"
    path.write_bytes(encode(noise(), image_format))
    length = padded_length(path.stat().st_size)

    pad_to(path, length)

    assert path.stat().st_size == length


def test_equalising_puts_a_picture_through_the_loss(tmp_path):
    path = saved(tmp_path / "a.png", noise())

    lossless, _ = process(path, 40, "png")
    lossy, _ = process(path, 40, "png", parse_preprocessing(["jpeg:40"]))
    smooth, _ = process(path, 40, "png", parse_preprocessing(["size:10"]))

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
    with pytest.raises(InvalidInput, match=rf"a\.png states {side} x {side} pixels"):
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
    [
        (text, "is not an image"),
        (broken, "is broken"),
        (lambda path: path, "does not exist"),
        (lambda path: path.touch() or path, "is empty"),
        (lambda path: path.mkdir() or path, "is broken: Is a directory"),
        (lambda path: saved(path, Image.new("RGB", (7, 60))), "has 7 x 60 pixels, and needs 8 or more"),
    ],
)
def test_what_is_no_picture_is_named(tmp_path, make, message):
    with pytest.raises(InvalidInput, match=rf"x\.png {message}"):
        process(make(tmp_path / "x.png"), 64, "png")


@pytest.mark.parametrize("step", ["jpeg", "jpeg:0", "jpeg:101", "size:4", "blur:2", "jpeg:९"])
def test_a_loss_that_is_none_is_refused(step):
    with pytest.raises(InvalidInput, match="--preprocess must be"):
        parse_preprocessing([step])


def test_the_format_follows_from_the_size():
    assert [resolve_format("auto", size) for size in (64, 256, 257)] == ["webp", "webp", "jpeg:95"]
    with pytest.raises(InvalidInput, match="image_format must be"):
        resolve_format("gif", 64)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "I;16"])
def test_colours_converted_in_strips_are_those_of_the_whole_picture(mode, tmp_path, monkeypatch):
    levels = np.random.default_rng(1).integers(0, 2**16, (50, 60)).astype("uint16")
    source = Image.fromarray(levels) if mode == "I;16" else noise((50, 60)).convert(mode)
    path = saved(tmp_path / "a.tif", source)

    whole, _ = images.load(path)
    monkeypatch.setattr(srgb, "STRIP_PIXELS", 7 * 60)
    strips, _ = images.load(path)

    assert strips.tobytes() == whole.tobytes()


def test_a_profile_is_applied_in_strips_as_to_the_whole_picture(tmp_path, monkeypatch):
    path = saved(tmp_path / "a.png", noise((50, 60)), icc_profile=display_p3())

    whole, facts = images.load(path)
    monkeypatch.setattr(srgb, "STRIP_PIXELS", 7 * 60)

    assert (images.load(path)[0].tobytes(), images.load(path)[1]) == (whole.tobytes(), facts)


def test_a_picture_of_more_than_50_million_pixels_is_refused_by_its_header(tmp_path):
    path = tmp_path / "a.pgm"
    path.write_bytes(b"P5 7072 7072 255\n")

    with pytest.raises(BadPicture, match="states 7072 x 7072 pixels, more than the limit of 50,000,000"):
        process(path, 32, "png")


def test_a_progressive_jpeg_of_many_scans_is_refused_before_it_is_decoded(tmp_path):
    path = saved(tmp_path / "a.jpg", noise((64, 64)), progressive=True)
    process(path, 32, "png")
    data = path.read_bytes()
    scan = data[data.rindex(b"\xff\xda") : -2]

    path.write_bytes(data[:-2] + 100 * scan + data[-2:])

    with pytest.raises(BadPicture, match="has 110 scans, more than 100; save it as a baseline JPEG"):
        process(path, 32, "png")


@pytest.mark.parametrize("plugin", [GifImagePlugin.GifImageFile, TiffImagePlugin.TiffImageFile])
def test_frames_are_not_counted_one_by_one(plugin, tmp_path, monkeypatch):
    frames = [Image.new("L", (9, 9), level) for level in range(50)]
    path = saved(tmp_path / f"a.{plugin.format}", frames[0], save_all=True, append_images=frames[1:])
    seek, visited = plugin._seek, []
    monkeypatch.setattr(plugin, "_seek", lambda self, *at: visited.append(at) or seek(self, *at))

    _, facts = process(path, 8, "png")

    assert "frames" in facts.treatments
    assert len(visited) < 5


def test_a_large_picture_waits_until_another_process_has_made_its_own_smaller(tmp_path, monkeypatch):
    path = saved(tmp_path / "a.png", noise((64, 64)))
    monkeypatch.setattr(images, "_LARGE_PIXELS", 1000)

    with ThreadPoolExecutor() as pool:
        with parallel.large_work():
            waits = pool.submit(process, path, 32, "png")
            with pytest.raises(TimeoutError):
                waits.result(0.2)
        assert waits.result()[0]
