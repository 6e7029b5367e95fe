"""L2, PSNR, SSIM and MS-SSIM against scikit-image and against numbers of another program."""

import tracemalloc

import numpy as np
import pytest
from skimage.metrics import peak_signal_noise_ratio, structural_similarity

from backend.foundation.errors import InvalidInput
from backend.metrics.pairs.pixels import IDENTICAL_DB, l2, minus_psnr
from backend.metrics.pairs.structure import one_minus_ms_ssim, one_minus_ssim

MS_SSIM = 0.10136300805653009
ALL = pytest.mark.parametrize("distance", [l2, minus_psnr, one_minus_ssim, one_minus_ms_ssim])


def pair(height, width, seed=11, sd=40):
    """Return a random picture, and the same with noise."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 256, (height, width, 3), dtype=np.uint8)
    return first, np.clip(first + rng.normal(0, sd, first.shape), 0, 255).astype(np.uint8)


@pytest.mark.parametrize("size", [(11, 11), (64, 64), (37, 90), (12, 200), (150, 2100)])
@pytest.mark.parametrize("sd", [1, 40, 300])
def test_ssim_is_that_of_scikit_image_with_the_window_of_the_paper(size, sd):
    first, second = pair(*size, sd=sd)
    expected = structural_similarity(
        first, second, data_range=255, channel_axis=-1,
        gaussian_weights=True, sigma=1.5, use_sample_covariance=False,
    )  # fmt: skip

    assert one_minus_ssim(first, second) == pytest.approx(1 - expected, abs=1e-13)


@pytest.mark.parametrize("sd", [1, 40, 300])
def test_psnr_is_that_of_scikit_image(sd):
    first, second = pair(37, 90, sd=sd)

    assert minus_psnr(first, second) == pytest.approx(
        -peak_signal_noise_ratio(first, second, data_range=255), abs=1e-12
    )


def test_ms_ssim_is_that_of_another_program():
    # pytorch-msssim 1.0.0: ms_ssim(..., data_range=255, win=) with the Gaussian window in 64-bit floats
    assert one_minus_ms_ssim(*pair(176, 208)) == pytest.approx(MS_SSIM, abs=1e-13)


def test_ms_ssim_leaves_out_an_odd_last_row_and_column():
    first, second = pair(177, 209)
    inverted = 255 - first

    assert np.isfinite(one_minus_ms_ssim(first, second))
    assert one_minus_ms_ssim(first, inverted) == 1  # contrast and structure are negative at every scale


@pytest.mark.parametrize("distance", [one_minus_ssim, one_minus_ms_ssim])
def test_memory_is_that_of_a_strip_and_not_of_the_picture(distance):
    first, second = pair(1200, 1200)
    tracemalloc.start()

    distance(first, second)

    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * first.size * 8  # two pictures in 64-bit floats; the whole computation needs a dozen


def test_l2_is_the_root_of_the_mean_square():
    black, white = np.zeros((8, 8, 3), np.uint8), np.full((8, 8, 3), 255, np.uint8)
    one_level = black.copy()
    one_level[0, 0, 0] = 51  # a fifth of the range in one of 192 values

    assert l2(black, white) == 1
    assert l2(black, one_level) == pytest.approx(0.2 / 192**0.5, rel=1e-15)


@ALL
def test_equal_pictures_are_closest_and_order_does_not_matter(distance):
    first, second = pair(176, 176, sd=0.6)

    assert distance(first, first) == (-IDENTICAL_DB if distance is minus_psnr else 0)
    assert distance(first, second) == distance(second, first) > distance(first, first)


def test_equal_pictures_have_less_than_the_least_difference_of_the_largest_pictures():
    assert 10 * np.log10(255**2 * 3 * 100_000_000) < IDENTICAL_DB


@ALL
def test_stronger_noise_is_farther(distance):
    found = [distance(*pair(176, 176, sd=sd)) for sd in (2, 10, 40)]

    assert found == sorted(found)
    assert len({*found}) == 3


def test_pictures_that_are_too_small_are_refused_with_the_reason():
    with pytest.raises(InvalidInput, match="SSIM needs pictures of 11 px or more on each side, not 30 x 10"):
        one_minus_ssim(*pair(10, 30))
    with pytest.raises(
        InvalidInput, match=r"MS-SSIM needs .* 176 px .*, not 400 x 175: the window of 11 px must"
    ):
        one_minus_ms_ssim(*pair(175, 400))
