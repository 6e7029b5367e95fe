"""A picture is turned where browsers turn it, and its size is that of the picture that is loaded."""

import numpy as np
import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from backend.stimuli.images import load, upright_size

TURNED = {"jpg", "png", "avif", "tif"}
"""Chromium 156 turns the first three by EXIF (AVIF by its own boxes) and shows no TIFF."""
STORED = {"webp", "gif", "bmp", "jp2", "ppm"}
ON_ITS_SIDE = """<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF
xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about=""
xmlns:tiff="http://ns.adobe.com/tiff/1.0/" tiff:Orientation="6"/></rdf:RDF></x:xmpmeta>"""
TURNS = {
    1: lambda a: a,
    2: lambda a: a[:, ::-1],
    3: lambda a: a[::-1, ::-1],
    4: lambda a: a[::-1],
    5: lambda a: a.transpose(1, 0, 2),
    6: lambda a: np.rot90(a, -1),
    7: lambda a: a[::-1, ::-1].transpose(1, 0, 2),
    8: lambda a: np.rot90(a),
}
"""What EXIF 2.3 means by each orientation: where the stored first row and column are shown."""


def blocks():
    return np.kron(np.random.default_rng(4).integers(0, 256, (2, 3, 3)), np.ones((16, 16, 1))).astype("uint8")


@pytest.mark.parametrize("orientation", TURNS)
@pytest.mark.parametrize("suffix", sorted(TURNED | STORED))
def test_what_is_loaded_has_the_size_that_was_read_and_stands_as_in_browsers(tmp_path, suffix, orientation):
    path = tmp_path / f"a.{suffix}"
    exif = Image.Exif()
    exif[274] = orientation
    options = {"tiffinfo": {274: orientation}} if suffix == "tif" else {"exif": exif}
    fine = {"quality": 100, "subsampling": "4:4:4"} if suffix in ("jpg", "avif") else {}
    Image.fromarray(blocks()).save(path, **options, **fine)

    picture, facts = load(path)

    expected = TURNS[orientation](blocks()) if suffix in TURNED else blocks()
    assert upright_size(path) == picture.size == expected.shape[1::-1]
    assert np.abs(np.asarray(picture)[8::16, 8::16].astype(int) - expected[8::16, 8::16]).max() <= 48
    assert ("turned" in facts.treatments) == (suffix in TURNED and orientation != 1)


@pytest.mark.parametrize("suffix", ["png", "webp", "jpg", "avif"])
def test_the_orientation_that_xmp_states_is_ignored_as_in_browsers(tmp_path, suffix):
    path, text = tmp_path / f"a.{suffix}", PngInfo()
    text.add_itxt("XML:com.adobe.xmp", ON_ITS_SIDE)
    Image.fromarray(blocks()).save(
        path, **({"pnginfo": text} if suffix == "png" else {"xmp": ON_ITS_SIDE.encode()})
    )

    assert upright_size(path) == load(path)[0].size == (48, 32)


@pytest.mark.parametrize("orientation", TURNS)
@pytest.mark.parametrize("compression", ["raw", "tiff_lzw", "jpeg"])
@pytest.mark.parametrize("mode", ["1", "L", "P", "I;16", "RGB", "LA", "RGBA", "CMYK"])
def test_a_tiff_of_every_kind_of_pixels_is_turned(tmp_path, mode, compression, orientation):
    if compression == "jpeg" and mode not in ("L", "RGB", "CMYK"):
        pytest.skip("JPEG has no such pixels")
    stored = Image.fromarray(blocks())
    if mode == "I;16":
        stored = Image.fromarray(np.asarray(stored.convert("L")).astype("u2") * 257)
    for name, turn in (("a", orientation), ("upright", 1)):
        stored.convert(mode).save(tmp_path / f"{name}.tif", tiffinfo={274: turn}, compression=compression)

    picture, _ = load(tmp_path / "a.tif")

    expected = TURNS[orientation](np.asarray(load(tmp_path / "upright.tif")[0]))
    assert upright_size(tmp_path / "a.tif") == picture.size
    assert np.array_equal(np.asarray(picture), expected)
