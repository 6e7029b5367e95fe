import numpy as np
import pytest
from skimage.color import rgb2lab

from backend.stimuli.distortions.lab import colour_difference, from_lab, to_lab


def test_colours_have_the_coordinates_that_are_published():
    # Lindbloom, "CIE Color Calculator" for sRGB, D65, no adaptation
    known = {
        (255, 255, 255): (100, 0, 0),
        (0, 0, 0): (0, 0, 0),
        (255, 0, 0): (53.24, 80.09, 67.20),
        (0, 0, 255): (32.30, 79.19, -107.86),
        (119, 119, 119): (50.03, 0, 0),
    }

    found = to_lab(np.array([*known], np.float64))

    assert found == pytest.approx(np.array([*known.values()], np.float64), abs=0.01)


def test_they_agree_with_scikit_image():
    levels = np.random.default_rng(1).integers(0, 256, (500, 3)).astype(np.float64)

    # its matrix has other digits, which are up to 0.01 apart
    assert to_lab(levels) == pytest.approx(rgb2lab(levels / 255), abs=0.03)


def test_there_and_back_gives_the_same_levels():
    levels = np.random.default_rng(2).integers(0, 256, (2000, 3)).astype(np.float64)

    assert from_lab(to_lab(levels)) == pytest.approx(levels, abs=1e-6)


def test_a_colour_that_srgb_lacks_is_clipped():
    made = from_lab(np.array([[50.0, 200, 0], [150, 0, 0], [-20, 0, 0]]))

    assert made[0, :2] == pytest.approx([255, 0])  # redder than the red of sRGB
    assert made[1:] == pytest.approx(np.array([[255, 255, 255], [0, 0, 0]]))


def test_the_difference_is_the_distance_in_lab():
    assert colour_difference(
        from_lab(np.array([50.0, 3, 4])), from_lab(np.array([50.0, 0, 0]))
    ) == pytest.approx(5)
