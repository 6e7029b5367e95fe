"""The results that the two papers print for their models; no other module contains them.

N is "HYPE: A Benchmark for Human eYe Perceptual Evaluation of Generative Models" (NeurIPS 2019), with
tables 1, 2 and 3 on pages 5 and 6, tables 4 and 5 in section 5. W is "HYPE: Human eYe Perceptual Evaluation
of generative models" (workshop on deep generative models for highly structured data, ICLR 2019), with tables
1 to 5 in section 4, tables 6 and 7 in appendix A.

An SD between evaluators is the bootstrap SD times the square root of the number of evaluators drawn. It has
the divisor n; `BESSEL` makes it the one with n - 1. What follows from these tables and
what does not is in docs/published.md. The papers contradict themselves in three cases:

- StyleGAN on CelebA-64 has 439.4 ms in W's table 1, table 5 and section 1, and 439.3 ms in section 4.1
  of both. The value here is the one printed with its SD.
- W's table 7 resamples HYPE-time about other means than the tables of scores (StyleGAN 369 for 439,
  ProGAN 335 for 364, BEGAN 107 for 111 ms), and the upper ends of its intervals are the means. So the SDs
  of HYPE-time are from the tables of scores (12 to 50% more variance), not from table 7.
- W's table 6 has the means of the tables of scores. Its SDs for 30 evaluators are those of N's tables 2
  and 3, except for WGAN-GP: 0.49, while N and W print 0.6 beside the score. All seven rows of table 6
  agree on an SD of 2.7 between evaluators; 0.6 would imply 3.3.
"""

import math
from typing import Any

from backend.foundation.frozen import dataclass

EVALUATORS = 30
"""Evaluators of each model, and drawn for the SDs of the tables of scores (N 3; W 3, "Metrics")."""
BESSEL = EVALUATORS / (EVALUATORS - 1)
"""The variance of evaluators over that of a bootstrap, which has n for their n - 1."""
IMAGES = {"infinity": 100, "time": 450}
"""Number of images that an evaluator judges (N 2.1, 2.2)."""


@dataclass(frozen=True)
class Printed:
    """A number as printed, which stands for all numbers that round to it; `< 0.05` or `> 0.05` is a bound."""

    text: str

    @property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest number it stands for; p-values for bounds, so from 0 to 1."""
        if self.text[0] in "<>":
            bound = float(self.text[1:])
            return (0.0, bound) if self.text[0] == "<" else (bound, 1.0)
        half = 0.5 * 10.0 ** -len(self.text.partition(".")[2])
        return float(self.text) - half, float(self.text) + half


@dataclass(frozen=True)
class PublishedRow:
    """A model's row in a table of scores, each number with one digit: percent, or ms for HYPE-time."""

    model: str
    """StyleGAN on CelebA-64 and CIFAR-10 is truncated too (N 3; W 3)."""
    score: float
    std: float
    """Bootstrap SD of 30 evaluators."""
    ci: tuple[float, float]
    errors: tuple[float, float] | None = None
    """On fakes and on reals, percent; HYPE-infinity only."""
    kid: float = math.nan
    fid: float = math.nan
    precision: float = math.nan


@dataclass(frozen=True)
class PublishedTable:
    """A table of scores, or the part of it on one class of ImageNet-5."""

    where: str
    data: str
    method: str
    rows: tuple[PublishedRow, ...]


def _table(where: str, data: str, method: str, *rows: tuple[Any, ...]) -> PublishedTable:
    return PublishedTable(where, data, method, tuple(PublishedRow(*row) for row in rows))


TIME_CELEBA = _table(
    "W 1", "CelebA-64", "time",
    ("StyleGAN (truncated)", 439.4, 35.7, (306.7, 400.8)),
    ("ProGAN", 363.7, 29.6, (227.0, 304.7)),
    ("BEGAN", 111.1, 8.7, (100.0, 130.3)),
    ("WGAN-GP", 100.0, 0.0, (100.0, 100.0)),
)  # fmt: skip
TIME_FFHQ = _table(
    "N 1", "FFHQ-1024", "time",
    ("StyleGAN (truncated)", 363.2, 32.1, (300.0, 424.3)),
    ("StyleGAN", 240.7, 29.9, (184.7, 302.7)),
)  # fmt: skip
"""The same as W's table 2."""
CELEBA = _table(
    "N 2", "CelebA-64", "infinity",
    ("StyleGAN (truncated)", 50.7, 1.3, (48.2, 53.1), (62.2, 39.3), 0.005, 131.7, 0.982),
    ("ProGAN", 40.3, 0.9, (38.5, 42.0), (46.2, 34.4), 0.001, 2.5, 0.990),
    ("BEGAN", 10.0, 1.6, (7.2, 13.3), (6.2, 13.8), 0.056, 67.7, 0.326),
    ("WGAN-GP", 3.8, 0.6, (3.2, 5.7), (1.7, 5.9), 0.046, 43.6, 0.654),
)  # fmt: skip
"""Scores, errors, SDs, intervals are those of W's table 3."""
FFHQ = _table(
    "N 3", "FFHQ-1024", "infinity",
    ("StyleGAN (truncated)", 27.6, 2.4, (22.9, 32.4), (28.4, 26.8), 0.007, 13.8, 0.976),
    ("StyleGAN", 19.0, 1.8, (15.5, 22.4), (18.5, 19.5), 0.001, 4.4, 0.983),
)  # fmt: skip
"""Scores, errors, SDs, intervals are those of W's table 4."""
IMAGENET = (
    _table(
        "N 4", "ImageNet-5 lemon", "infinity",
        ("BigGAN (truncated)", 18.4, 2.3, (14.2, 23.1), (21.9, 14.9), 0.043, 94.22, 0.784),
        ("BigGAN", 20.2, 2.2, (16.0, 24.8), (22.2, 18.1), 0.036, 87.54, 0.774),
        ("SN-GAN", 12.0, 1.6, (9.0, 15.3), (10.8, 13.3), 0.053, 117.90, 0.656),
    ),
    _table(
        "N 4", "ImageNet-5 Samoyed", "infinity",
        ("BigGAN (truncated)", 19.9, 2.6, (15.0, 25.1), (23.5, 16.2), 0.027, 56.94, 0.794),
        ("BigGAN", 19.7, 2.2, (15.5, 24.1), (23.2, 16.1), 0.014, 46.14, 0.906),
        ("SN-GAN", 5.8, 0.9, (4.1, 7.8), (3.4, 8.2), 0.046, 88.68, 0.785),
    ),
    _table(
        "N 4", "ImageNet-5 library", "infinity",
        ("BigGAN (truncated)", 17.4, 2.1, (13.3, 21.6), (22.0, 12.8), 0.049, 98.45, 0.695),
        ("BigGAN", 22.9, 2.1, (18.9, 27.2), (28.1, 17.6), 0.029, 78.49, 0.814),
        ("SN-GAN", 13.6, 1.9, (10.0, 17.5), (15.1, 12.1), 0.043, 94.89, 0.814),
    ),
    _table(
        "N 4", "ImageNet-5 French horn", "infinity",
        ("BigGAN (truncated)", 7.3, 1.8, (4.0, 11.2), (9.0, 5.5), 0.031, 78.21, 0.732),
        ("BigGAN", 6.9, 1.4, (4.3, 9.9), (8.6, 5.2), 0.042, 96.18, 0.757),
        ("SN-GAN", 3.6, 1.0, (1.8, 5.9), (5.0, 2.2), 0.156, 196.12, 0.674),
    ),
    _table(
        "N 4", "ImageNet-5 baseball", "infinity",
        ("BigGAN (truncated)", 1.9, 0.7, (0.8, 3.5), (1.9, 1.9), 0.049, 91.31, 0.853),
        ("BigGAN", 2.2, 0.6, (1.3, 3.5), (3.3, 1.2), 0.026, 76.71, 0.838),
        ("SN-GAN", 2.8, 1.5, (0.8, 6.2), (3.6, 1.9), 0.052, 105.82, 0.785),
    ),
)  # fmt: skip
CIFAR = _table(
    "N 5", "CIFAR-10", "infinity",
    ("StyleGAN (truncated)", 23.3, 1.6, (20.1, 26.4), (28.2, 18.5), 0.005, 62.9, 0.982),
    ("ProGAN", 14.8, 1.6, (11.9, 18.0), (18.5, 11.0), 0.001, 53.2, 0.990),
    ("BEGAN", 14.5, 1.7, (11.3, 18.1), (14.6, 14.5), 0.056, 96.2, 0.326),
    ("WGAN-GP", 13.2, 2.3, (9.1, 18.1), (15.3, 11.1), 0.046, 104.0, 0.654),
)  # fmt: skip
TABLES = (TIME_CELEBA, TIME_FFHQ, CELEBA, FFHQ, *IMAGENET, CIFAR)


@dataclass(frozen=True)
class PublishedModel:
    """One of the six models of faces, with both scores: HYPE-infinity in percent, HYPE-time in ms."""

    label: str
    """Short name, for our own tables."""
    data: str
    infinity: PublishedRow
    time: PublishedRow
    percent_stds: dict[int, float]
    """Bootstrap SD by number of evaluators drawn: W, table 6."""

    @property
    def name(self) -> str:
        return self.infinity.model

    @property
    def percent(self) -> float:
        """N, tables 2 and 3; W, tables 3 and 4."""
        return self.infinity.score

    @property
    def ms(self) -> float:
        """W, tables 1 and 2; N, table 1 and section 4.1."""
        return self.time.score

    @property
    def ms_std(self) -> float:
        """Bootstrap SD of 30 evaluators, in the same tables."""
        return self.time.std

    @property
    def percent_sd(self) -> float:
        """SD between evaluators (HYPE-infinity), percentage points, to the digit on which the rows agree."""
        read_off = [std * math.sqrt(drawn) for drawn, std in self.percent_stds.items()]
        return round(sum(read_off) / len(read_off), 1)

    @property
    def ms_sd(self) -> float:
        """SD between evaluators (HYPE-time), ms."""
        return self.ms_std * math.sqrt(EVALUATORS)


_DRAWN = (10, 15, 20, 25, 30, 35, 40)


def _models(
    infinity: PublishedTable, time: PublishedTable, stds: dict[str, tuple[float, ...]]
) -> tuple[PublishedModel, ...]:
    """Return the models of a data set; `stds` are the rows of W's table 6 by label."""
    return tuple(
        PublishedModel(label, infinity.data, row, time_row, dict(zip(_DRAWN, drawn, strict=True)))
        for (label, drawn), row, time_row in zip(stds.items(), infinity.rows, time.rows, strict=True)
    )


MODELS = (
    *_models(CELEBA, TIME_CELEBA, {
        "StyleGAN CelebA-64": (2.19, 1.79, 1.57, 1.38, 1.27, 1.16, 1.09),
        "ProGAN CelebA-64": (1.53, 1.24, 1.08, 0.97, 0.87, 0.83, 0.76),
        "BEGAN CelebA-64": (2.65, 2.20, 1.86, 1.67, 1.55, 1.42, 1.33),
        "WGAN-GP CelebA-64": (0.84, 0.69, 0.61, 0.54, 0.49, 0.45, 0.43),
    }),
    *_models(FFHQ, TIME_FFHQ, {
        "StyleGAN trunc FFHQ": (4.21, 3.46, 2.95, 2.69, 2.44, 2.25, 2.13),
        "StyleGAN no-trunc FFHQ": (3.04, 2.50, 2.17, 1.96, 1.77, 1.62, 1.52),
    }),
)  # fmt: skip
"""CelebA-64, then FFHQ-1024, each with the best model first."""
POOL = 5000.0
"""Real images, and images of each model, from which they are drawn (N 3)."""


@dataclass(frozen=True)
class PublishedTest:
    """A test of the means of a table, and which pairs of its models are said to differ."""

    where: str
    table: PublishedTable
    statistic: str = ""
    """With the degrees of freedom as printed; "" if no test is printed."""
    value: Printed | None = None
    p: Printed | None = None
    inseparable: frozenset[frozenset[str]] | None = frozenset()
    """Pairs said not to differ (p < 0.05), all others being said to; None if nothing is said of pairs."""


def _pairs(*names: tuple[str, str]) -> frozenset[frozenset[str]]:
    return frozenset(map(frozenset, names))


_F = "F(2, 29)"
_BIGGANS = _pairs(("BigGAN (truncated)", "BigGAN"))
TESTS = (
    PublishedTest("N 4.2", CELEBA, "F(3, 29)", Printed("404.4"), Printed("< 0.001")),
    PublishedTest("N 4.2", FFHQ, "t(58)", Printed("8.3"), Printed("< 0.001"), None),
    PublishedTest("N 5.1", IMAGENET[0], _F, Printed("4.2"), Printed("0.017"), _BIGGANS),
    PublishedTest("N 5.1", IMAGENET[1], _F, Printed("15.0"), Printed("< 0.001"), _BIGGANS),
    PublishedTest("N 5.1", IMAGENET[2], _F, Printed("4.9"), Printed("0.009"), _BIGGANS),
    PublishedTest("N 5.1", IMAGENET[3], p=Printed("> 0.05"), inseparable=None),
    PublishedTest("N 5.1", IMAGENET[4], p=Printed("> 0.05"), inseparable=None),
    PublishedTest(
        "N 5.2", CIFAR, inseparable=_pairs(("ProGAN", "BEGAN"), ("ProGAN", "WGAN-GP"), ("BEGAN", "WGAN-GP"))
    ),
    PublishedTest("N 4.1", TIME_CELEBA, "F(3, 29)", Printed("83.5"), Printed("< 0.0001"),
                  _pairs(("BEGAN", "WGAN-GP"))),
    PublishedTest("N 4.1", TIME_FFHQ, "t(58)", Printed("2.3"), Printed("0.02"), None),
)  # fmt: skip
"""Of the two hard classes of ImageNet-5, N says only that the other three are separable."""


@dataclass(frozen=True)
class PublishedCorrelation:
    """A rank correlation (Spearman) of a score with a metric, or of both scores."""

    where: str
    models: str
    """`faces`, `ImageNet-5`, `SN-GAN`, `BigGAN` (both, on ImageNet-5), or `CIFAR-10`."""
    score: str
    other: str
    """`FID`, `KID`, `precision` or `infinity`."""
    rho: Printed
    p: Printed | None = None


CORRELATIONS = tuple(
    PublishedCorrelation(where, models, score, other, Printed(rho), Printed(p) if p else None)
    for where, models, score, other, rho, p in (
        ("N 4.4", "faces", "time", "infinity", "1.0", "0.0"),
        ("N 4.4", "faces", "infinity", "FID", "-0.029", "0.96"),
        ("N 4.4", "faces", "infinity", "KID", "-0.609", "0.20"),
        ("N 4.4", "faces", "infinity", "precision", "0.657", "0.16"),
        ("W 4.4", "faces", "time", "infinity", "0.9429", ""),
        ("W 4.4", "faces", "infinity", "FID", "-0.0857", ""),
        ("W 4.4", "faces", "time", "FID", "-0.0286", ""),
        ("N 5.1", "ImageNet-5", "infinity", "KID", "-0.377", "0.02"),
        ("N 5.1", "ImageNet-5", "infinity", "FID", "-0.282", "0.01"),
        ("N 5.1", "ImageNet-5", "infinity", "precision", "-0.067", "0.81"),
        ("N 5.1", "SN-GAN", "infinity", "KID", "-0.500", "0.39"),
        ("N 5.1", "SN-GAN", "infinity", "FID", "-0.300", "0.62"),
        ("N 5.1", "SN-GAN", "infinity", "precision", "-0.205", "0.74"),
        ("N 5.1", "BigGAN", "infinity", "KID", "-0.151", "0.68"),
        ("N 5.1", "BigGAN", "infinity", "FID", "-0.067", "0.85"),
        ("N 5.1", "BigGAN", "infinity", "precision", "-0.164", "0.65"),
        ("N 5.2", "CIFAR-10", "infinity", "KID", "-0.600", "0.40"),
        ("N 5.2", "CIFAR-10", "infinity", "FID", "0.600", "0.40"),
        ("N 5.2", "CIFAR-10", "infinity", "precision", "-0.800", "0.20"),
    )
)


def published_scores(method: str) -> list[dict[str, Any]]:
    """Return the published scores of a method, highest first: model, data, score in percent or ms.

    [] for a method other than the papers'.
    """
    if method not in IMAGES:
        return []
    rows = [
        {
            "model": model.name,
            "data": model.data,
            "score": model.percent if method == "infinity" else model.ms,
        }
        for model in MODELS
    ]
    return sorted(rows, key=lambda row: -row["score"])
