"""Masks keep a picture's light and frequencies, and none of its shapes; their files say nothing."""

from random import Random

import numpy as np
import pytest
from PIL import Image

from backend.errors import InvalidInput
from backend.masks import make_phase_masks, take_in_masks
from backend.masks.phase import scramble


def shape(side=64):
    picture = np.full((side, side, 3), 40, dtype=np.uint8)
    picture[side // 4 : side // 2, side // 3 :] = (240, 180, 60)
    return picture


@pytest.mark.parametrize("side", [31, 64])
def test_a_mask_has_the_mean_of_its_picture(side):
    picture = shape(side)

    mask = scramble(picture, np.random.default_rng(1))

    assert mask.mean(axis=(0, 1)) == pytest.approx(picture.mean(axis=(0, 1)), abs=1)


def test_a_mask_keeps_the_frequencies_and_loses_the_shapes():
    rng = np.random.default_rng(2)
    picture = (128 + 30 * np.cumsum(rng.standard_normal((64, 64, 3)), axis=0).clip(-3, 3)).astype(np.uint8)

    mask = scramble(picture, rng)

    before, after = (np.abs(np.fft.rfft2(x.mean(axis=2) - x.mean())).ravel() for x in (picture, mask))
    assert np.corrcoef(before, after)[0, 1] > 0.9
    assert abs(np.corrcoef(picture.mean(axis=2).ravel(), mask.mean(axis=2).ravel())[0, 1]) < 0.3


def test_masks_of_a_study_are_reproducible_and_their_names_say_nothing(tmp_path):
    Image.fromarray(shape()).save(tmp_path / "a.png")
    for name in ("one", "two"):
        (tmp_path / name).mkdir()

    made = [
        make_phase_masks([tmp_path / "a.png"], tmp_path / name, 3, rng=Random(5), image_format="png")
        for name in ("one", "two")
    ]

    assert made[0] == made[1]
    assert all(len(name) == 36 for name in made[0])
    assert len({(tmp_path / "one" / name).read_bytes() for name in made[0]}) == 3


def test_own_masks_go_through_the_pictures_pipeline(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "out").mkdir()
    Image.fromarray(shape(90)).save(tmp_path / "mine" / "m.jpg")

    (name,) = take_in_masks(tmp_path / "mine", tmp_path / "out", size_px=32, image_format="png")

    with Image.open(tmp_path / "out" / name) as made:
        assert made.size == (32, 32)


def test_a_missing_folder_of_masks_is_named(tmp_path):
    with pytest.raises(InvalidInput, match=r"the folder of masks, .*none, does not exist"):
        take_in_masks(tmp_path / "none", tmp_path, size_px=32, image_format="png")
