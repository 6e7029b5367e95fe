"""Colours are those that Chromium 156 shows; values without a formula were read from its canvas."""

import struct
import zlib

import numpy as np
import pytest
from PIL import Image, TiffImagePlugin

from backend.stimuli.images import BadPicture, load

GAMMA_1, GAMMA_35, GAMMA_22 = ((b"gAMA", struct.pack(">I", value)) for value in (100_000, 35_000, 45_455))
LAMPS_OF_SRGB = (b"cHRM", struct.pack(">8I", 31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000))
LAMPS_OF_P3 = (b"cHRM", struct.pack(">8I", 31270, 32900, 68000, 32000, 26500, 69000, 15000, 6000))
SRGB = (b"sRGB", b"\0")
LEVELS = (0, 5, 20, 64, 128, 200, 255)


def png(path, pixels, bits, colour_type, *chunks):
    """Write rows of bytes as a PNG file with chunks before the pixels."""
    height, width = len(pixels), len(pixels[0]) * 8 // bits // {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour_type]
    header = (b"IHDR", struct.pack(">IIBBBBB", width, height, bits, colour_type, 0, 0, 0))
    data = (b"IDAT", zlib.compress(b"".join(b"\0" + row for row in pixels)))
    body = b"".join(
        struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
        for name, content in (header, *chunks, data, (b"IEND", b""))
    )
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + body)
    return path


def row_of(path):
    return np.asarray(load(path)[0])[0].tolist()


@pytest.mark.parametrize("kind", ["gray", "RGB", "palette", "gray 16", "RGB 16", "gray and alpha 16"])
@pytest.mark.parametrize(
    ("chunks", "shown"),
    [
        ([], LEVELS),
        ([GAMMA_22], LEVELS),
        ([GAMMA_1, SRGB], LEVELS),
        ([(b"gAMA", bytes(4))], LEVELS),
        ([LAMPS_OF_P3], LEVELS),
        ([GAMMA_1], (0, 38, 79, 137, 188, 229, 255)),
        ([GAMMA_35], (0, 0, 2, 38, 104, 187, 255)),
        ([GAMMA_22, LAMPS_OF_SRGB], (0, 1, 12, 62, 129, 201, 255)),
        ([GAMMA_1, LAMPS_OF_P3], (0, 38, 79, 137, 188, 229, 255)),
    ],
)
def test_grays_of_a_png_with_a_gamma_are_those_that_chromium_shows(tmp_path, kind, chunks, shown):
    gray = np.repeat(np.array(LEVELS, np.uint8), 2)
    pixels = {
        "gray": (gray.tobytes(), 8, 0),
        "RGB": (np.repeat(gray, 3).tobytes(), 8, 2),
        "palette": (gray.tobytes(), 8, 3, (b"PLTE", bytes(np.repeat(np.arange(256, dtype=np.uint8), 3)))),
        "gray 16": (np.repeat(gray, 2).tobytes(), 16, 0),
        "RGB 16": (np.repeat(gray, 6).tobytes(), 16, 2),
        "gray and alpha 16": (np.stack([gray, gray, gray * 0 + 255, gray * 0 + 255], 1).tobytes(), 16, 4),
    }
    row, bits, colour_type, *palette = pixels[kind]

    made = row_of(png(tmp_path / "a.png", [row] * 14, bits, colour_type, *chunks, *palette))

    assert np.abs(np.array(made[::2]) - np.array(shown)[:, None]).max() <= 1


def test_colours_of_a_png_with_lamps_are_converted(tmp_path):
    row = bytes([200, 100, 50] * 10)

    made = row_of(png(tmp_path / "a.png", [row] * 10, 8, 2, GAMMA_22, LAMPS_OF_P3))

    # by hand: light of .586, .128, .028 through the matrix of CSS Color 4 from P3 to sRGB: .689, .108, .009
    assert made[0] == pytest.approx([216, 93, 24], abs=1)


def cicp(primaries, transfer):
    return (b"cICP", bytes([primaries, transfer, 0, 1]))


@pytest.mark.parametrize(
    ("chunks", "shown"),
    [
        ([cicp(1, 13)], (200, 100, 50)),
        ([cicp(1, 13), GAMMA_1], (200, 100, 50)),
        ([cicp(1, 1)], (197, 91, 39)),
        ([cicp(1, 6), SRGB], (197, 91, 39)),
        ([cicp(1, 4)], (200, 100, 45)),
        ([cicp(1, 8)], (229, 168, 122)),
        ([cicp(1, 2), GAMMA_1], (229, 168, 122)),
        ([cicp(1, 9), GAMMA_1], (229, 168, 122)),
    ],
)
def test_the_transfer_function_that_a_png_states_goes_before_all_else(tmp_path, chunks, shown):
    made = row_of(png(tmp_path / "a.png", [bytes([200, 100, 50] * 10)] * 10, 8, 2, *chunks))

    assert made[0] == pytest.approx(shown, abs=1)


@pytest.mark.parametrize("transfer", [7, 17])
def test_a_png_with_a_rare_transfer_function_is_refused(tmp_path, transfer):
    with pytest.raises(BadPicture, match=f"CICP transfer {transfer}.; convert it to sRGB"):
        load(png(tmp_path / "a.png", [bytes(30)] * 10, 8, 2, cicp(1, transfer)))


@pytest.mark.parametrize("channels", [1, 3])
def test_a_transparent_level_of_16_bits_is_found_exactly(tmp_path, channels):
    levels = np.full((10, 10, channels), 0x1234, ">u2")
    levels[0, 0] = 0x1235
    chunk = (b"tRNS", struct.pack(">H", 0x1235) * channels)

    made = np.asarray(
        load(png(tmp_path / "a.png", [row.tobytes() for row in levels], 16, channels - 1, chunk))[0]
    )

    assert made[0, 0].tolist() == [255, 255, 255]
    assert (made.reshape(-1, 3)[1:] == 0x12).all()


@pytest.mark.parametrize("bits", [1, 2, 4])
@pytest.mark.parametrize("chunks", [[], [GAMMA_1]])
def test_a_transparent_level_of_few_bits_is_white(tmp_path, bits, chunks):
    row = bytes(range(0, 256, 17)) if bits == 4 else bytes([0b00011011] * 4)
    transparent = 2 if bits > 1 else 0

    made = row_of(png(tmp_path / "a.png", [row] * 8, bits, 0, *chunks, (b"tRNS", bytes([0, transparent]))))

    levels = np.unpackbits(np.frombuffer(row, np.uint8)).reshape(-1, bits) @ (1 << np.arange(bits)[::-1])
    peak = (1 << bits) - 1
    assert [pixel == [255, 255, 255] for pixel in made] == [
        level in (transparent, peak) for level in levels.tolist()
    ]


def test_pixels_whose_colour_the_palette_lacks_are_refused(tmp_path):
    palette = (b"PLTE", bytes(range(30)))

    assert row_of(png(tmp_path / "a.png", [bytes(range(10))] * 8, 8, 3, palette))[9] == [27, 28, 29]
    with pytest.raises(BadPicture, match="its pixels name colour 11 of a palette of 10"):
        load(png(tmp_path / "a.png", [bytes(range(1, 11))] * 8, 8, 3, palette))


def test_dark_levels_of_16_bits_are_not_rounded_before_they_are_converted(tmp_path):
    row = (np.full(30, 128, ">u2")).tobytes()  # half a level of 8 bits

    # IEC 61966-2-1: 255 * 12.92 * 128 / 65535
    assert row_of(png(tmp_path / "a.png", [row] * 10, 16, 2, GAMMA_1))[0] == [6, 6, 6]


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("is_white_zero", [True, False])
def test_the_lowest_level_of_a_tiff_is_white_if_the_file_says_so(tmp_path, bits, is_white_zero):
    levels = np.full((10, 10), 200 if bits == 8 else 200 * 257, f"uint{bits}")
    picture = Image.fromarray(255 - levels if is_white_zero and bits == 8 else levels)
    picture.save(tmp_path / "a.tif", tiffinfo={262: 0 if is_white_zero else 1})
    with Image.open(tmp_path / "a.tif") as written:
        assert written.tag_v2[262] == (0 if is_white_zero else 1)

    # TIFF 6.0, PhotometricInterpretation; Pillow inverts 8 bits when it writes them, and not 16
    assert row_of(tmp_path / "a.tif")[0][0] in ((55,) if is_white_zero else (200,))


def test_what_a_gif_leaves_out_is_white(tmp_path):
    path = tmp_path / "a.gif"
    Image.new("RGB", (16, 16), "red").save(path)
    data = path.read_bytes()
    at = data.index(b"\x2c\0\0\0\0")
    moved = (
        data[:6] + struct.pack("<HH", 40, 40) + data[10 : at + 1] + struct.pack("<HH", 8, 4) + data[at + 5 :]
    )
    path.write_bytes(moved)

    picture, facts = load(path)

    made = np.asarray(picture)
    assert (made[4:20, 8:24] == (255, 0, 0)).all()
    assert (made.reshape(-1, 3) == 255).all(axis=1).sum() == 40 * 40 - 16 * 16
    assert facts.treatments == ("transparency",)


def test_the_colours_of_an_avif_are_read_from_its_boxes(tmp_path):
    path = tmp_path / "a.avif"
    Image.new("RGB", (16, 16), "red").save(path, xmp=b"colrnclx\0\x09\0\x10\0\x09")

    assert load(path)[0].size == (16, 16)

    data = path.read_bytes()
    at = data.index(b"colrnclx") + 8  # of the box, which stands before the metadata
    path.write_bytes(data[:at] + struct.pack(">HH", 9, 16) + data[at + 4 :])
    with pytest.raises(BadPicture, match="is in HDR"):
        load(path)

    path.write_bytes(data[:at] + struct.pack(">HH", 1, 8) + data[at + 4 :])
    with pytest.raises(BadPicture, match="CICP transfer 8"):
        load(path)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (np.int16, "has signed levels of 16 bits, of which programs take different ones for white"),
        (np.int32, "has signed levels of 32 bits"),
        (np.float32, "has floating-point levels"),
    ],
)
def test_levels_of_which_none_is_white_for_all_programs_are_refused(tmp_path, kind, message):
    info = TiffImagePlugin.ImageFileDirectory_v2()
    if kind == np.int16:
        info[339] = 2
    picture = Image.fromarray(np.full((10, 10), 9, np.uint16 if kind == np.int16 else kind))
    picture.save(tmp_path / "a.tif", tiffinfo=info)

    with pytest.raises(BadPicture, match=message):
        load(tmp_path / "a.tif")


@pytest.mark.parametrize("size", [(33, 32), (32, 33), (43, 32), (32, 32), (32, 57)])
def test_a_picture_whose_short_side_fits_keeps_its_pixels(tmp_path, size):
    from backend.stimuli.images import process

    noise = np.random.default_rng(1).integers(0, 256, (size[1], size[0], 3)).astype("uint8")
    Image.fromarray(noise).save(tmp_path / "a.png")

    data, _ = process(tmp_path / "a.png", 32, "png")

    left, top = (size[0] - 32) // 2, (size[1] - 32) // 2
    (tmp_path / "b.png").write_bytes(data)
    with Image.open(tmp_path / "b.png") as made:
        assert np.array_equal(np.asarray(made), noise[top : top + 32, left : left + 32])


def bmp(path, bits, masks, *, compression=3, profile=b"", alpha=128):
    """Write 10 x 10 px of (200, 100, 50) with a header of version 5 (BITMAPV5HEADER) and a profile."""
    pixel = bytes([50, 100, 200, alpha])[: bits // 8]
    rows = pixel * 100 if bits == 32 else (pixel * 10 + bytes(2)) * 10
    space, at = (b"DEBM", 124 + len(rows)) if profile else (b"BGRs", 0)
    header = struct.pack("<IiiHHIIiiII4I", 124, 10, 10, 1, bits, compression, 0, 0, 0, 0, 0, *masks)
    header += space + bytes(48) + struct.pack("<4I", 4, at, len(profile), 0)
    path.write_bytes(
        b"BM" + struct.pack("<IHHI", 138 + len(rows) + len(profile), 0, 0, 138) + header + rows + profile
    )
    return path


RED, GREEN, BLUE, ALPHA = 0xFF0000, 0xFF00, 0xFF, 0xFF000000


def test_the_transparency_of_a_bmp_is_laid_on_white_or_refused(tmp_path):
    path = bmp(tmp_path / "a.bmp", 32, (RED, GREEN, BLUE, ALPHA))
    assert row_of(path)[0] == pytest.approx([227, 177, 152], abs=1)  # 128 / 255 of it, by hand

    opaque = bmp(tmp_path / "b.bmp", 32, (RED, GREEN, BLUE, 0))
    assert row_of(opaque)[0] == [200, 100, 50]

    for odd in (
        bmp(tmp_path / "c.bmp", 32, (RED, GREEN, BLUE, ALPHA), compression=0),
        bmp(tmp_path / "d.bmp", 16, (0x7C00, 0x3E0, 0x1F, 0x8000)),
    ):
        with pytest.raises(BadPicture, match="has transparency of a rare kind; save it as PNG"):
            load(odd)


def matrix_profile(kind, power):
    """Return a profile of power-law levels: gray, or RGB with the lamps of sRGB exchanged (ICC.1:2001-04)."""
    number = lambda value: struct.pack(">i", round(value * 65536))  # noqa: E731
    xyz = lambda *values: b"XYZ " + bytes(4) + b"".join(map(number, values))  # noqa: E731
    curve = b"curv" + struct.pack(">IIH", 0, 1, round(power * 256)) + bytes(2)
    text = b"desc" + struct.pack(">II", 0, 5) + b"test\0" + bytes(78)
    tags = {b"desc": text + bytes(-len(text) % 4), b"wtpt": xyz(0.9642, 1, 0.8249)}
    if kind == b"GRAY":
        tags[b"kTRC"] = curve
    else:
        lamps = {
            b"b": (0.4361, 0.2225, 0.0139),
            b"g": (0.3851, 0.7169, 0.0971),
            b"r": (0.1431, 0.0606, 0.7141),
        }
        tags |= {name + b"XYZ": xyz(*values) for name, values in lamps.items()}
        tags |= {name + b"TRC": curve for name in lamps}
    at, table, data = 132 + 12 * len(tags), b"", b""
    for name, content in tags.items():
        table += name + struct.pack(">II", at + len(data), len(content))
        data += content
    head = bytes(8) + b"\x02\x10\0\0mntr" + kind + b"XYZ " + bytes(12) + b"acsp" + bytes(28)
    head += number(0.9642) + number(1) + number(0.8249) + bytes(48)
    return struct.pack(">I", at + len(data)) + head[4:] + struct.pack(">I", len(tags)) + table + data


def test_the_profile_of_a_bmp_is_applied(tmp_path):
    path = bmp(tmp_path / "a.bmp", 24, (0, 0, 0, 0), compression=0, profile=matrix_profile(b"RGB ", 2.2))

    # red and blue exchanged; Chromium 156 shows the same
    assert row_of(path)[0] == pytest.approx([48, 100, 200], abs=3)
    assert load(path)[1].treatments == ("profile",)


@pytest.mark.parametrize("suffix", ["png", "jpg", "tif"])
def test_dark_grays_with_a_profile_are_converted_exactly(tmp_path, suffix):
    levels = np.repeat(np.array([0, 2, 4, 12, 20, 60, 130, 255], np.uint8), 8)[None].repeat(16, 0)
    path = tmp_path / f"a.{suffix}"
    lossless = {"quality": 100} if suffix == "jpg" else {}
    Image.fromarray(levels).save(path, icc_profile=matrix_profile(b"GRAY", 1.0), **lossless)

    light = levels[0, 4::8] / 255  # by the profile; encoded by IEC 61966-2-1
    srgb = np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055) * 255
    assert [gray for gray, _, _ in row_of(path)[4::8]] == pytest.approx(srgb, abs=2)


def test_the_palette_of_a_tiff_in_8_bits_is_refused(tmp_path):
    picture = Image.new("P", (10, 10), 1)
    picture.putpalette([0, 0, 0, 200, 100, 50])
    picture.save(tmp_path / "a.tif")
    assert row_of(tmp_path / "a.tif")[0] == [200, 100, 50]

    data = (tmp_path / "a.tif").read_bytes()
    with Image.open(tmp_path / "a.tif") as written:
        palette = written.tag_v2[320]
    (tmp_path / "a.tif").write_bytes(
        data.replace(struct.pack("<768H", *palette), struct.pack("<768H", *(level >> 8 for level in palette)))
    )
    with pytest.raises(BadPicture, match="has a palette of 8 bits"):
        load(tmp_path / "a.tif")


def test_a_tiff_in_ycbcr_without_compression_is_refused(tmp_path):
    Image.new("YCbCr", (10, 10)).save(tmp_path / "a.tif")

    with pytest.raises(BadPicture, match="is in YCbCr without compression"):
        load(tmp_path / "a.tif")


def test_kinds_of_known_formats_that_are_not_read_are_named(tmp_path):
    tall = tmp_path / "a.tif"
    Image.new("RGB", (10, 10)).save(tall, tiffinfo={339: (3, 3, 3)})  # floating-point levels
    twelve = tmp_path / "a.jpg"
    Image.new("L", (10, 10)).save(twelve)
    data = twelve.read_bytes()
    at = data.index(b"\xff\xc0") + 4
    twelve.write_bytes(data[:at] + b"\x0c" + data[at + 1 :])  # of 12 bits

    for path, name in ((tall, "TIFF"), (twelve, "JPEG")):
        with pytest.raises(BadPicture, match=f"is a {name} file of a kind that is not read") as caught:
            load(path)
        assert caught.value.kind == "unsupported"
