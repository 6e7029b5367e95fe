"""SSIM (Wang et al., 2004) and MS-SSIM (Wang et al., 2003), as distances, in 64-bit floats.

Local means, variances and covariance are weighted by a Gaussian of 1.5 px in a window of 11 x 11 px, at the
positions where the window lies within the picture; K1 = 0.01, K2 = 0.03, values from 0 to 255. The papers
treat gray pictures; here the index of each of the channels red, green and blue is averaged. Strips of rows
are treated one after the other, so that large pictures take little memory.
"""

import numpy as np

from backend.foundation.errors import InvalidInput

_SIGMA_PX = 1.5  # Wang et al. (2004): a Gaussian window of 11 x 11 px
_RADIUS_PX = 5
WINDOW_PX = 2 * _RADIUS_PX + 1
_C1, _C2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2  # Wang et al. (2004): K1 = 0.01, K2 = 0.03, of 8-bit levels
_EXPONENTS = np.array([0.0448, 0.2856, 0.3001, 0.2363, 0.1333])
"""By scale, from the finest: those of Wang et al. (2003), section 3.2."""
MS_SIDE_PX = WINDOW_PX << (len(_EXPONENTS) - 1)
"""The shortest side of which the coarsest scale, a sixteenth, has a window."""
_STRIP_PIXELS = 1 << 17
_STRIP_ROWS = 64
"""A strip has at least so many rows; each is computed with the 10 rows of its windows beyond it."""


def one_minus_ssim(first: np.ndarray, second: np.ndarray) -> float:
    """Return 1 - SSIM of two pictures, shape (height, width, 3).

    Raises:
        InvalidInput: they have less than 11 px on a side.
    """
    if min(first.shape[:2]) < WINDOW_PX:
        raise InvalidInput(f"SSIM needs pictures of {WINDOW_PX} px or more on each side, {_not(first)}")
    index, _ = _means(first, second)
    return 1 - float(index.mean())


def one_minus_ms_ssim(first: np.ndarray, second: np.ndarray) -> float:
    """Return 1 - MS-SSIM of two pictures, shape (height, width, 3), over five scales.

    Each scale halves the one before by means of 2 x 2 px; an odd last row or column is left out. A negative
    mean of contrast and structure counts as 0, since its power is not a number.

    Raises:
        InvalidInput: they have less than 176 px on a side.
    """
    if min(first.shape[:2]) < MS_SIDE_PX:
        raise InvalidInput(
            f"MS-SSIM needs pictures of {MS_SIDE_PX} px or more on each side, {_not(first)}: the "
            f"window of {WINDOW_PX} px must fit in the coarsest of five scales"
        )
    pair = first, second
    indices = []
    for scale in range(len(_EXPONENTS)):
        if scale:
            pair = _halved(pair[0]), _halved(pair[1])
        index, structure = _means(*pair)
        indices.append(index if scale == len(_EXPONENTS) - 1 else structure)
    powers = np.maximum(indices, 0) ** _EXPONENTS[:, None]
    return 1 - float(powers.prod(axis=0).mean())


def _means(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return means over positions by channel, shape (2, 3): of the index, and of contrast and structure."""
    height, width = (length - 2 * _RADIUS_PX for length in first.shape[:2])
    rows = max(_STRIP_ROWS, _STRIP_PIXELS // width)
    sums = np.zeros((2, first.shape[2]))
    for top in range(0, height, rows):
        strip = slice(top, top + rows + 2 * _RADIUS_PX)
        luminance, structure = _maps(first[strip].astype(np.float64), second[strip].astype(np.float64))
        sums += (luminance * structure).sum(axis=(0, 1)), structure.sum(axis=(0, 1))
    return sums / (height * width)


def _maps(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return, by position and channel, the comparison of luminance, and that of contrast and structure."""
    mean1, mean2 = _local_mean(first), _local_mean(second)
    both, square1, square2 = mean1 * mean2, mean1 * mean1, mean2 * mean2
    covariance = _local_mean(first * second) - both
    variance1, variance2 = _local_mean(first * first) - square1, _local_mean(second * second) - square2
    luminance = (2 * both + _C1) / (square1 + square2 + _C1)
    return luminance, (2 * covariance + _C2) / (variance1 + variance2 + _C2)


def _local_mean(values: np.ndarray) -> np.ndarray:
    """Return means weighted by the Gaussian, where the window lies within the picture."""
    from scipy.ndimage import gaussian_filter

    filtered = gaussian_filter(values, _SIGMA_PX, axes=(0, 1), radius=_RADIUS_PX)
    return filtered[_RADIUS_PX:-_RADIUS_PX, _RADIUS_PX:-_RADIUS_PX]


def _halved(picture: np.ndarray) -> np.ndarray:
    height, width = (length // 2 * 2 for length in picture.shape[:2])
    even = picture[:height, :width]
    made = even[::2, ::2].astype(np.float64)
    for down, across in ((1, 0), (0, 1), (1, 1)):
        made += even[down::2, across::2]
    made /= 4
    return made


def _not(picture: np.ndarray) -> str:
    return f"not {picture.shape[1]} x {picture.shape[0]}"
