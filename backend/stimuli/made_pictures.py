"""Changes of a reference that make items of known answers: weak or heavy noise, a subtle distortion."""

import numpy as np
from PIL import Image

from backend.stimuli.distortions.sentinels import heavy_noise, subtle, weak_noise

_CHANGES = {
    "none": lambda picture, rng: picture,
    "weak_noise": weak_noise,
    "heavy_noise": heavy_noise,
    "subtle": subtle,
}


def changed(picture: Image.Image, change: str, seed: int) -> Image.Image:
    """Return a picture after a change (`made_items.Change`), the same for the same seed."""
    made = _CHANGES[change](np.asarray(picture), np.random.default_rng(seed))
    return Image.fromarray(made)
