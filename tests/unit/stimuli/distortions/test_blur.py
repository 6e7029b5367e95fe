import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from backend.stimuli.distortions.blur import bilateral_filtering, gaussian_blur
from tests.unit.stimuli.distortions.pictures import photograph


@pytest.mark.parametrize("sd_px", [0.4, 1, 2.3, 4])
def test_gaussian_blur_is_that_of_scipy(sd_px):
    picture = photograph().astype(np.float64)

    expected = gaussian_filter(picture, (sd_px, sd_px, 0), mode="reflect", truncate=4)

    assert gaussian_blur(picture, sd_px) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("cycles", [2, 4, 8])
def test_gaussian_blur_has_the_transfer_function_of_a_gaussian(cycles):
    side, sd_px = 64, 1.5
    wave = np.cos(2 * np.pi * cycles * (np.arange(side) + 0.5) / side)  # its mirror image goes on as itself
    picture = np.broadcast_to(wave[:, None, None], (side, side, 3))

    gain = gaussian_blur(picture, sd_px)[:, 0, 0] @ wave / (wave @ wave)

    assert gain == pytest.approx(np.exp(-2 * (np.pi * sd_px * cycles / side) ** 2), abs=2e-4)


def test_bilateral_filtering_is_its_definition():
    picture = np.random.default_rng(1).uniform(0, 255, (7, 9, 3))
    sd_levels, sd_px = 60, 1.2
    expected = np.zeros_like(picture)
    padded = np.pad(picture, ((3, 3), (3, 3), (0, 0)), mode="symmetric")
    for y in range(7):
        for x in range(9):
            total, weights = np.zeros(3), 0.0
            for v in range(-3, 4):
                for u in range(-3, 4):
                    if np.hypot(u, v) <= 2 * sd_px:
                        neighbour = padded[y + 3 + v, x + 3 + u]
                        apart = ((neighbour - picture[y, x]) ** 2).sum()
                        weight = np.exp(-(u * u + v * v) / (2 * sd_px**2) - apart / (2 * sd_levels**2))
                        total, weights = total + weight * neighbour, weights + weight
            expected[y, x] = total / weights

    assert bilateral_filtering(picture, sd_levels, sd_px) == pytest.approx(expected, abs=1e-3)


def test_bilateral_filtering_smooths_and_keeps_edges():
    rng = np.random.default_rng(2)
    step = np.where(np.arange(64) < 32, 60.0, 180.0)[None, :, None] * np.ones((64, 64, 3))
    picture = step + rng.normal(0, 5, step.shape)

    made, blurred = bilateral_filtering(picture, 30, 2), gaussian_blur(picture, 2)

    assert made[:, :28].std() < picture[:, :28].std() / 2
    edge = made[:, 32].mean() - made[:, 31].mean()
    assert edge == pytest.approx(120, abs=2)
    assert blurred[:, 32].mean() - blurred[:, 31].mean() < 30
