"""Pictures of test suites look as in Chromium, or in libtiff where it shows none, or are refused in words.

`SUITE_PICTURES` names folders, divided by colons, such as PngSuite and `Tests/images` of Pillow's sources;
the pictures of installed packages are compared too. OpenCV, where it is installed, is a second reader of PNG
and JPEG files without a profile or a gamma.
"""

import base64
import importlib.util
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from backend.stimuli.images import MIN_SIDE_PX, SUFFIXES, BadPicture, load, upright_size
from backend.stimuli.png_colour import gamma_of
from backend.stimuli.png_file import SIGNATURE, read_png
from tests.switches import switch

PACKAGES = ("skimage", "matplotlib", "sklearn", "imageio")
FOLDERS = [Path(name) for name in switch("SUITE_PICTURES").split(":") if name]
DIFFERENT = {
    "badrle.bmp mmap_error.bmp pal8_offset.bmp": "damaged on purpose, and shown shifted by Chromium",
    "pal4rletrns.bmp pal8rletrns.bmp": "pixels that RLE leaves out have the first colour of the palette",
    "issue_2811.gif": "an animation, whose later frame Chromium shows",
    "icc_profile_big.jpg": "colours outside sRGB, which lcms and Skia clip differently",
    "fox.profile2.8bpc.yuv422.avif fox.profile2.10bpc.yuv422.avif fox.profile2.12bpc.yuv422.avif "
    "fox.profile2.12bpc.yuv420.avif": "OpenCV shows what is read; Chromium converts 4:2:2 otherwise",
    "crash-74d2a78403a5a59db1fb0a2b8735ac068a75f6e3.tif": "a fax with a wrong code word",
}
REFUSED = {
    "xcsn0g01.png broken_data_stream.png truncated_end_chunk.png truncated_image.png x_interlaced_chck.png "
    "x_consecutive_idat.png x_image-issue#1075.png "
    "invalid_palette_index.png": "damaged, and shown by Chromium in part",
    "truncated_jpeg.jpg ultrahdr.jpg hopper_bad_exif.jpg": "Chromium shows a part or rubbish",
    "pyramid_pymd.avif": "a pyramid of pictures, which Pillow does not read",
}
"""Besides BMP files: damaged ones, and rare kinds that Pillow does not read."""
TYPES = {".png": "png", ".apng": "png", ".webp": "webp", ".gif": "gif", ".bmp": "bmp", ".avif": "avif"}
SHOWN = """async ([data, type]) => {
  const image = new Image();
  image.src = `data:${type};base64,${data}`;
  if (!(await image.decode().then(() => true, () => false))) return null;
  const canvas = new OffscreenCanvas(image.width, image.height);
  const context = canvas.getContext('2d');
  context.fillStyle = 'white';
  context.fillRect(0, 0, image.width, image.height);
  context.drawImage(image, 0, 0);
  const pixels = context.getImageData(0, 0, image.width, image.height).data;
  let text = '';
  for (let i = 0; i < pixels.length; i += 8192) text += String.fromCharCode(...pixels.subarray(i, i + 8192));
  return [image.width, image.height, btoa(text)];
}"""


def names(table):
    return {name for line in table for name in line.split()}


def pictures():
    specs = [importlib.util.find_spec(name) for name in PACKAGES]
    installed = [Path(spec.origin).parent for spec in specs if spec and spec.origin]
    files = (path for folder in (*FOLDERS, *installed) for path in sorted(folder.rglob("*")))
    return [path for path in files if path.suffix.lower() in SUFFIXES and path.is_file()]


def in_chromium(page, path):
    kind = TYPES.get(path.suffix.lower(), "jpeg")
    shown = page.evaluate(SHOWN, [base64.b64encode(path.read_bytes()).decode(), f"image/{kind}"])
    if shown is None:
        return None
    width, height, pixels = shown
    return np.frombuffer(base64.b64decode(pixels), np.uint8).reshape(height, width, 4)[..., :3]


def in_libtiff(path, folder):
    """Return the pixels that libtiff's own `tiff2rgba` writes, if it is installed and they are opaque."""
    made = folder / "made.tif"
    made.unlink(missing_ok=True)
    if path.suffix.lower() not in (".tif", ".tiff") or not shutil.which("tiff2rgba"):
        return None
    done = subprocess.run(["tiff2rgba", "-c", "none", path, made], capture_output=True, timeout=60)
    if done.returncode:
        return None
    try:
        with Image.open(made) as picture:
            pixels = np.asarray(picture)
    except OSError:  # of a broken file, nothing or a part is written
        return None
    return pixels[..., :3] if (pixels[..., 3:] == 255).all() else None


def is_png(path):
    return path.read_bytes().startswith(SIGNATURE)


def has_gamma(path):
    return is_png(path) and gamma_of(read_png(path, with_pixels=False).colour) is not None


def has_profile(path):
    data = path.read_bytes()
    return b"iCCP" in data or b"ICC_PROFILE" in data


def is_shown_otherwise(path, picture_facts):
    """Return whether Chromium shows a file otherwise, as it does with three kinds.

    It rounds 16 bits of PNG to 8 before it applies a gamma or profile, takes the transparency of AVIF for
    one of limited range, and shows a later frame of animations.
    """
    treatments = picture_facts.treatments
    return (
        "frames" in treatments
        or path.parent.name == "apng"
        or (picture_facts.format == "AVIF" and "transparency" in treatments)
        or ("16 bits" in treatments and is_png(path) and (has_gamma(path) or "profile" in treatments))
    )


def in_opencv(path, facts):
    """Return the pixels that OpenCV reads, if it is installed; it converts no colours."""
    if not importlib.util.find_spec("cv2") or facts.format not in ("PNG", "JPEG") or has_gamma(path):
        return None
    if {*facts.treatments} - {"turned", "frames"} or has_profile(path):
        return None
    import cv2

    pixels = cv2.imread(str(path), cv2.IMREAD_COLOR)
    return None if pixels is None else pixels[..., ::-1]


def problem(page, path, folder):
    """Return what is wrong with a file as it is read, or None."""
    shown = in_chromium(page, path)
    try:
        picture, facts = load(path)
    except BadPicture as error:
        is_good = shown is not None and min(shown.shape[:2]) >= MIN_SIDE_PX and error.kind != "unsupported"
        is_expected = path.name in names(REFUSED) or path.suffix.lower() == ".bmp"
        return f"refused: {error.why}" if is_good and not is_expected else None
    if upright_size(path) != picture.size:
        return f"has a size of {upright_size(path)}, and {picture.size} when it is loaded"
    if shown is None and not {"turned", "profile"} & {*facts.treatments}:
        shown = in_libtiff(path, folder)
    if path.name in names(DIFFERENT):
        return None
    seen = {
        "Chromium": None if is_shown_otherwise(path, facts) else shown,
        "OpenCV": in_opencv(path, facts),
    }
    return next(filter(None, (difference(picture, pixels, reader) for reader, pixels in seen.items())), None)


def difference(picture, pixels, reader):
    if pixels is None:
        return None
    if pixels.shape != (picture.height, picture.width, 3):
        return f"has the size {pixels.shape} in {reader}"
    levels = np.abs(np.asarray(picture).astype(int) - pixels).max()
    return f"differs by {levels} levels from {reader}" if levels > 3 else None


@pytest.mark.slow("hundreds of pictures in a browser")
def test_pictures_of_test_suites_look_as_in_a_browser_or_are_refused(page, tmp_path):
    compared = pictures()
    problems = {str(path): problem(page, path, tmp_path) for path in compared}

    assert compared
    assert {path: what for path, what in problems.items() if what} == {}
