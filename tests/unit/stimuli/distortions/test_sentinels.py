import numpy as np
import pytest

from backend.stimuli.distortions import heavy_noise, subtle, weak_noise
from backend.stimuli.distortions.lab import colour_difference
from backend.stimuli.distortions.sentinels import VISIBLE_DIFFERENCE

SIDE = 64


def ramp():
    y, x = np.mgrid[:SIDE, :SIDE]
    return np.stack([60 + 2 * x, 60 + 2 * y, 120 + x - y], axis=-1).astype(np.uint8)


def flat(level):
    return np.full((SIDE, SIDE, 3), level, np.uint8)


PICTURES = {"ramp": ramp(), "black": flat(0), "grey": flat(128), "white": flat(255)}


def difference(first, second):
    return colour_difference(first, second).mean()


@pytest.mark.parametrize("name", PICTURES)
def test_heavy_noise_is_far_from_the_picture_and_weak_noise_is_near(name):
    picture = PICTURES[name]

    weak, heavy = (
        weak_noise(picture, np.random.default_rng(1)),
        heavy_noise(picture, np.random.default_rng(2)),
    )

    assert 0 < difference(picture, weak) < 7
    assert difference(picture, heavy) > 20
    assert difference(picture, heavy) > 5 * difference(picture, weak)


def test_noise_has_the_standard_deviation_that_the_docs_state():
    picture = flat(128)

    weak = weak_noise(picture, np.random.default_rng(1)).astype(float)

    assert weak.std() == pytest.approx(6, rel=0.03)  # the SE of an SD from 12,288 levels is 0.6%


@pytest.mark.parametrize("name", PICTURES)
def test_subtle_differs_visibly_and_less_than_heavy_noise(name):
    picture, rng = PICTURES[name], np.random.default_rng(3)

    differences = [difference(picture, subtle(picture, rng)) for _ in range(25)]

    assert min(differences) >= VISIBLE_DIFFERENCE
    assert np.median(differences) < difference(picture, heavy_noise(picture, rng)) / 2


@pytest.mark.parametrize("make", [weak_noise, heavy_noise, subtle])
def test_the_same_generator_gives_the_same_picture_and_leaves_the_source_alone(make):
    picture = ramp()

    first, second = (make(picture, np.random.default_rng(7)) for _ in range(2))
    other = make(picture, np.random.default_rng(8))

    assert first.dtype == np.uint8
    assert first.shape == picture.shape
    assert (first == second).all()
    assert (first != other).any()
    assert (picture == ramp()).all()


@pytest.mark.parametrize("make", [weak_noise, heavy_noise, subtle])
@pytest.mark.parametrize(
    "wrong",
    [
        np.zeros((8, 8, 3)),
        np.zeros((8, 8), np.uint8),
        np.zeros((8, 8, 4), np.uint8),
        np.zeros((0, 8, 3), np.uint8),
    ],
)
def test_what_is_no_picture_is_refused(make, wrong):
    with pytest.raises(ValueError, match="a picture must be uint8 of"):
        make(wrong, np.random.default_rng(1))


@pytest.mark.parametrize("make", [weak_noise, heavy_noise, subtle])
def test_pictures_need_not_be_square(make):
    assert make(ramp()[:40, :17], np.random.default_rng(1)).shape == (40, 17, 3)
