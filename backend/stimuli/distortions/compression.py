"""Compression: JPEG (ITU-T T.81), with colours at half the resolution as most programs write it."""

import io

import numpy as np
from PIL import Image

from backend.stimuli.distortions.distortion import Distortion, Magnitude, to_uint8

_HALF_CHROMA = "4:2:0"


def jpeg(levels: np.ndarray, quality: int) -> np.ndarray:
    """Return the picture after encoding and decoding with a quality of 1 to 100 (libjpeg's scale)."""
    buffer = io.BytesIO()
    Image.fromarray(to_uint8(levels)).save(buffer, "JPEG", quality=quality, subsampling=_HALF_CHROMA)
    with Image.open(buffer) as decoded:
        return np.asarray(decoded, np.float64)


COMPRESSION = (
    Distortion("jpeg", "compression", jpeg, Magnitude("quality", 95, 5, "quality", is_whole=True)),
)
