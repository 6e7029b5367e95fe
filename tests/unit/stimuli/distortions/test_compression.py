import io

import numpy as np
from PIL import Image

from backend.stimuli.distortions.compression import jpeg
from tests.unit.stimuli.distortions.pictures import photograph


def test_a_lower_quality_is_farther_from_the_picture():
    picture = photograph().astype(np.float64)

    errors = [((jpeg(picture, quality) - picture) ** 2).mean() for quality in range(95, 4, -10)]

    assert errors == sorted(errors)
    assert errors[-1] > 10 * errors[0]


def test_it_is_what_a_decoder_makes_of_the_file():
    picture = photograph()
    file = io.BytesIO()
    Image.fromarray(picture).save(file, "JPEG", quality=30, subsampling=2)

    with Image.open(file) as decoded:
        assert (jpeg(picture.astype(np.float64), 30) == np.asarray(decoded)).all()


def test_a_low_quality_shows_blocks_of_8_pixels():
    made = jpeg(photograph().astype(np.float64), 5)

    steps = abs(np.diff(made, axis=1)).mean(axis=(0, 2))
    between = steps[7::8].mean()
    assert between > 1.5 * np.delete(steps, np.s_[7::8]).mean()
