"""Kernel distance of two sides (KID; Bińkowski et al., 2018): the unbiased squared MMD of a cubic kernel.

k(x, y) = (x·y / dimensions + 1)³. The customary number is the mean over 100 random subsets of 1,000
pictures of each side; the subsets here are those of torch-fidelity with its default seed. The estimate of
all pictures has the same expectation and less noise. One pass over blocks of the kernel matrix yields all:
a sum over a subset is a product with the indicators of its pictures.
"""

from dataclasses import dataclass

import numpy as np

from backend.metrics.feature_blocks import Block, Side

TORCH_FIDELITY_SEED = 2020
"""torch-fidelity's default for `rng_seed`."""


@dataclass(frozen=True)
class KernelDistance:
    """The kernel distance by subsets, and of all pictures, and how its variance depends on it."""

    value: float
    """Mean of the unbiased estimates of all subsets."""
    sd: float
    """SD of the subsets' estimates (denominator: their number), as torch-fidelity prints it."""
    full: float
    """Unbiased estimate from all pictures."""
    slope: float
    constant: float
    """The variance of `full` is about slope x true distance + constant."""
    chance: float
    """Variance that the random choice of the subsets adds to `value`."""

    def interval(self, quantile: float) -> list[float]:
        """Return the interval around `value`; `quantile` is that of half the interval's level, such as
        1.96."""
        return _interval(self.value, self.slope, self.constant + self.chance, quantile)

    def full_interval(self, quantile: float) -> list[float]:
        """Return the interval around `full`."""
        return _interval(self.full, self.slope, self.constant, quantile)


def _interval(estimate: float, slope: float, constant: float, quantile: float) -> list[float]:
    """Return all distances t with (estimate - t)² <= quantile² (slope t + constant).

    The witness function, on which the variance depends, grows with the root of the distance. An interval of
    estimate ± quantile x standard error would be too short above where the estimate is too low by chance. The
    estimate itself is always in it, even if it is negative.
    """
    shift = quantile**2 * slope / 2
    half = float(np.sqrt(max(quantile**2 * (slope * estimate + constant) + shift**2, 0.0)))
    return [min(estimate, estimate + shift - half), estimate + shift + half]


def subset_indicators(
    reals: int, fakes: int, subsets: int, size: int, seed: int = TORCH_FIDELITY_SEED
) -> tuple[np.ndarray, np.ndarray]:
    """Return which pictures are in which subset, 1.0 or 0.0, shapes (reals, subsets) and (fakes, subsets).

    The draws are those of torch-fidelity with the fakes as its first input, and the reals as its second.
    """
    rng = np.random.RandomState(seed)
    of_reals, of_fakes = np.zeros((reals, subsets)), np.zeros((fakes, subsets))
    for i in range(subsets):
        of_fakes[rng.choice(fakes, size, replace=False), i] = 1.0
        of_reals[rng.choice(reals, size, replace=False), i] = 1.0
    return of_reals, of_fakes


class KernelSums:
    """Sums of the kernel over pairs of pictures of two sides, or of different pictures of one side."""

    def __init__(self, first: Side, second: Side, of_first: np.ndarray, of_second: np.ndarray):
        """Start with no block.

        Args:
            of_first: indicators of the subsets, shape (pictures, subsets).
        """
        self._factor = float(np.ldexp(1.0, 2 * first.exponent)) / first.dimensions
        self._of_first, self._of_second = of_first, of_second
        self.subsets = np.zeros(of_first.shape[1])
        """Sum over the pairs within each subset."""
        self.of_first, self.of_second = np.zeros(len(first)), np.zeros(len(second))
        """Sums over the pairs of each picture; of one side, only `of_first`."""
        self.squares = 0.0
        """Sum of the squared kernel."""
        self._is_one = first is second

    def add(self, block: Block) -> None:
        base = block.products() * self._factor + 1.0
        kernel = base * base * base
        if self._is_one and block.is_diagonal:
            np.fill_diagonal(kernel, 0.0)
        times = 1 if not self._is_one or block.is_diagonal else 2
        within = (self._of_first[block.first] * (kernel @ self._of_second[block.second])).sum(axis=0)
        self.subsets += times * within
        self.squares += times * float(np.vdot(kernel, kernel))
        self.of_first[block.first] += kernel.sum(axis=1)
        if times == 2:
            self.of_first[block.second] += kernel.sum(axis=0)
        if not self._is_one:
            self.of_second[block.second] += kernel.sum(axis=0)


def kernel_distance(reals: KernelSums, fakes: KernelSums, cross: KernelSums, size: int) -> KernelDistance:
    """Return the distance from the sums of all blocks; `size` is that of the subsets."""
    within, between = size * (size - 1), size * size
    subsets = (reals.subsets + fakes.subsets) / within - 2 * cross.subsets / between
    n, m = len(reals.of_first), len(fakes.of_first)
    full = (
        reals.of_first.sum() / (n * (n - 1))
        + fakes.of_first.sum() / (m * (m - 1))
        - 2 * cross.of_first.sum() / (n * m)
    )
    slope, constant = _variance(reals, fakes, cross, float(full))
    sd = float(subsets.std())
    return KernelDistance(float(subsets.mean()), sd, float(full), slope, constant, sd**2 / len(subsets))


def _variance(reals: KernelSums, fakes: KernelSums, cross: KernelSums, full: float) -> tuple[float, float]:
    """Return slope and constant of the variance of the estimate from all pictures (Hoeffding's
    decomposition).

    The linear part is the variance of the pictures' means of the kernel, less what their noise adds to it. It
    is proportional to the distance, with the norms of the centred kernel as the largest possible slope,
    which is taken where the estimate is not positive. The quadratic part, of the kernel without its row and
    column means, is all that is left where both sides have one distribution; a bootstrap of the sums would
    count it three times.
    """
    n, m = len(reals.of_first), len(fakes.of_first)
    of_reals = _centred_square(reals, reals.of_first, n - 1, n - 1, n * (n - 1))
    of_fakes = _centred_square(fakes, fakes.of_first, m - 1, m - 1, m * (m - 1))
    of_both = _centred_square(cross, cross.of_second, m, n, n * m)
    by_real = reals.of_first / (n - 1) - cross.of_first / m
    by_fake = fakes.of_first / (m - 1) - cross.of_second / n
    linear = (
        4 * (by_real.var(ddof=1) - of_reals / n - of_both / m) / n
        + 4 * (by_fake.var(ddof=1) - of_fakes / m - of_both / n) / m
    )
    quadratic = 2 * of_reals / n**2 + 2 * of_fakes / m**2 + 4 * of_both / (n * m)
    steepest = 4 * of_reals**0.5 / n + 4 * of_fakes**0.5 / m
    slope = min(linear / full, steepest) if linear > 0 and full > 0 else steepest
    return float(slope), float(quadratic)


def _centred_square(sums: KernelSums, of_second: np.ndarray, across: int, down: int, pairs: int) -> float:
    """Return the mean square of the kernel without its row and column means, at least 0."""
    mean = sums.of_first.sum() / pairs
    square = sums.squares / pairs - mean**2
    return max(square - (sums.of_first / across).var() - (of_second / down).var(), 0.0)
