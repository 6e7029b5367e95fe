"""A picture takes at most some 500 MB while it is read, at the most pixels that its format may have."""

import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from backend.stimuli import images
from backend.stimuli.images import BadPicture, upright_size

from .test_picture_colours import png

ROOT = Path(__file__).resolve().parents[3]
MOST_MB = 520
"""With the 40 MB of the process."""
READ = """
import sys
from pathlib import Path
from backend.stimuli.images import process
process(Path(sys.argv[1]), 64, "webp")
print(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])
"""
KINDS = {
    "jp2": ("RGBA", 20_000_000, {}),
    "webp": ("RGBA", 25_000_000, {"method": 0}),
    "avif": ("RGBA", 30_000_000, {"speed": 10}),
    "png": ("RGBA", 50_000_000, {"compress_level": 1}),
    "jpg": ("CMYK", 50_000_000, {}),
    "tif": ("RGBA", 50_000_000, {"compression": "tiff_lzw"}),
    "gif": ("P", 50_000_000, {}),
}
"""By ending: the mode that takes most, and the most pixels."""


def sides(pixels):
    """Return width and height of nearly a square, whose crop takes most."""
    height = int((pixels / 1.01) ** 0.5)
    return pixels // height, height


def of_kind(folder, suffix, pixels):
    mode, _, options = KINDS[suffix]
    path = folder / f"a.{suffix}"
    Image.new(mode, sides(pixels)).save(path, **options)
    return path


def of_16_bits(folder, pixels, channels):
    width, height = sides(pixels)
    rows = [bytes(2 * channels * width)] * height
    return png(folder / "a.png", rows, 16, {1: 0, 2: 4, 3: 2, 4: 6}[channels])


def peak_mb(path):
    done = subprocess.run(
        [sys.executable, "-c", READ, path], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return int(done.stdout) // 1024


@pytest.mark.slow("reads the largest picture of each format")
@pytest.mark.parametrize("suffix", KINDS)
def test_the_largest_picture_of_a_format_takes_bounded_memory(tmp_path, suffix):
    path = of_kind(tmp_path, suffix, KINDS[suffix][1])

    assert peak_mb(path) < MOST_MB


@pytest.mark.slow("reads the largest picture of each format")
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_the_largest_png_of_16_bits_takes_bounded_memory(tmp_path, channels):
    assert peak_mb(of_16_bits(tmp_path, 20_000_000, channels)) < MOST_MB


@pytest.mark.parametrize(("suffix", "kind"), [("jp2", "JPEG2000"), ("webp", "WEBP"), ("avif", "AVIF")])
def test_a_larger_picture_of_such_a_format_is_refused_from_its_header(tmp_path, monkeypatch, suffix, kind):
    assert images._FEWER_PIXELS[kind] == KINDS[suffix][1]
    path = of_kind(tmp_path, suffix, 2000)
    monkeypatch.setitem(images._FEWER_PIXELS, kind, 1500)

    with pytest.raises(BadPicture, match="more than the limit of 1,500 in its format; bring it to a smaller"):
        upright_size(path)


@pytest.mark.parametrize(("bits", "chunks"), [(16, []), (8, [(b"gAMA", bytes([0, 1, 134, 160]))])])
def test_a_larger_png_that_takes_more_is_refused_from_its_header(tmp_path, monkeypatch, bits, chunks):
    monkeypatch.setattr(images, "_MOST_PNG_PIXELS", 1500)
    path = png(tmp_path / "a.png", [bytes(40 * 3 * bits // 8)] * 40, bits, 2, *chunks)

    with pytest.raises(BadPicture, match="more than the limit of 1,500 in its format"):
        upright_size(path)
