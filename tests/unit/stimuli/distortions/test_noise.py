from itertools import pairwise

import numpy as np
import pytest

from backend.stimuli.distortions.noise import (
    checkerboard_artifact,
    coloured_noise,
    gaussian_blue_noise,
    gaussian_colored_noise,
    gaussian_pink_noise,
    gaussian_white_noise,
    uniform_white_noise,
)

GREY = np.full((128, 128, 3), 100.0)


def slope(noise):
    """Return the slope of the logarithm of the power over that of the radial frequency, of (n, n, …) noise.

    Power is averaged in rings of equal logarithmic width below the Nyquist frequency of the axes.
    """
    side = len(noise)
    power = (abs(np.fft.fft2(noise, axes=(0, 1))) ** 2).reshape(side, side, -1).mean(axis=-1)
    frequency = np.hypot(np.fft.fftfreq(side)[:, None], np.fft.fftfreq(side))
    edges = np.geomspace(3 / side, 0.5, 12)
    rings = [(frequency >= low) & (frequency < high) for low, high in pairwise(edges)]
    x = [np.log(frequency[ring]).mean() for ring in rings]
    y = [np.log(power[ring].mean()) for ring in rings]
    return np.polyfit(x, y, 1)[0]


@pytest.mark.parametrize("exponent", [-2, -1, -0.5, 0, 0.7, 1, 2])
def test_coloured_noise_has_the_slope_of_its_exponent(exponent):
    noise = coloured_noise((128, 128, 12), 10, exponent, np.random.default_rng(1))

    assert slope(noise) == pytest.approx(exponent, abs=0.1)


@pytest.mark.parametrize(
    ("make", "exponent"),
    [
        (gaussian_white_noise, 0),
        (gaussian_pink_noise, -1),
        (gaussian_blue_noise, 1),
        (uniform_white_noise, 0),
    ],
)
def test_noise_has_the_colour_of_its_name(make, exponent):
    noise = np.concatenate([make(GREY, 10, seed) - GREY for seed in range(5)], axis=-1)

    assert slope(noise) == pytest.approx(exponent, abs=0.1)


def test_colored_noise_is_between_brown_and_violet():
    noise = [gaussian_colored_noise(GREY, 10, exponent, 1) - GREY for exponent in (-2, 2)]

    assert [round(slope(one)) for one in noise] == [-2, 2]


@pytest.mark.parametrize("exponent", [-2, -1, 0, 1, 2])
def test_noise_of_every_colour_has_the_standard_deviation_asked_for(exponent):
    squares = [
        (coloured_noise((64, 64, 3), 7, exponent, np.random.default_rng(seed)) ** 2).mean()
        for seed in range(200)
    ]

    standard_error = np.std(squares) / np.sqrt(len(squares))
    assert np.mean(squares) == pytest.approx(49, abs=4 * standard_error)
    assert standard_error < 1


def test_noise_of_channels_is_independent():
    noise = gaussian_pink_noise(GREY, 10, 3) - GREY

    correlations = np.corrcoef(noise.reshape(-1, 3).T)
    assert abs(correlations[np.triu_indices(3, 1)]).max() < 0.15  # pink noise has few independent values


def test_gaussian_noise_is_normal_and_uniform_noise_uniform():
    gaussian = gaussian_white_noise(GREY, 10, 1) - GREY
    uniform = uniform_white_noise(GREY, 10, 1) - GREY

    for noise, kurtosis in ((gaussian, 3), (uniform, 1.8)):
        assert noise.mean() == pytest.approx(0, abs=0.2)
        assert (noise**4).mean() / (noise**2).mean() ** 2 == pytest.approx(kurtosis, abs=0.15)
    assert gaussian.std() == pytest.approx(10, rel=0.02)
    assert abs(uniform).max() == pytest.approx(10, rel=0.01)
    assert uniform.std() == pytest.approx(10 / np.sqrt(3), rel=0.02)


@pytest.mark.parametrize("make", [gaussian_white_noise, gaussian_pink_noise, uniform_white_noise])
def test_a_seed_decides_the_noise(make):
    assert (make(GREY, 10, 5) == make(GREY, 10, 5)).all()
    assert (make(GREY, 10, 5) != make(GREY, 10, 6)).any()


@pytest.mark.parametrize("period_px", [2, 4, 8])
def test_the_checkerboard_repeats_after_its_period_and_not_before(period_px):
    pattern = checkerboard_artifact(GREY, 6, period_px) - GREY

    assert set(np.unique(pattern)) == {-6, 6}
    assert pattern.mean() == 0
    for axis in (0, 1):
        assert (np.roll(pattern, period_px, axis) == pattern).all()
        assert (np.roll(pattern, period_px // 2, axis) == -pattern).all()
