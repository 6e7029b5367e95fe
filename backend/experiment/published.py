"""The results that the two papers report for their six models of faces; no other module contains them.

N is "HYPE: A Benchmark for Human eYe Perceptual Evaluation of Generative Models" (NeurIPS 2019), with
tables 1, 2 and 3 on pages 5 and 6. W is "HYPE: Human eYe Perceptual Evaluation of generative models"
(workshop on deep generative models for highly structured data, ICLR 2019), with tables 1 to 4 in
section 4, tables 6 and 7 in appendix A.

An SD between evaluators is the bootstrap SD times the square root of the number of evaluators drawn.
The papers contradict themselves in three cases:

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
from dataclasses import dataclass
from typing import Any

EVALUATORS = 30
"""Evaluators of each model, and drawn for the SDs of the tables of scores (N 3; W 3, "Metrics")."""


@dataclass(frozen=True)
class PublishedModel:
    """A model's scores: HYPE-infinity in percent, HYPE-time in ms."""

    label: str
    """Short name, for our own tables."""
    name: str
    """StyleGAN on CelebA-64 is truncated too (N 3; W 3)."""
    data: str
    percent: float
    """N, tables 2 and 3; W, tables 3 and 4."""
    percent_stds: dict[int, float]
    """Bootstrap SD by number of evaluators drawn: W, table 6."""
    ms: float
    """W, tables 1 and 2; N, table 1 and section 4.1."""
    ms_std: float
    """Bootstrap SD of 30 evaluators, in the same tables."""

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


def _table6(*stds: float) -> dict[int, float]:
    return dict(zip(_DRAWN, stds, strict=True))


MODELS = (
    PublishedModel(
        "StyleGAN CelebA-64", "StyleGAN (truncated)", "CelebA-64",
        50.7, _table6(2.19, 1.79, 1.57, 1.38, 1.27, 1.16, 1.09),
        439.4, 35.7,
    ),
    PublishedModel(
        "ProGAN CelebA-64", "ProGAN", "CelebA-64",
        40.3, _table6(1.53, 1.24, 1.08, 0.97, 0.87, 0.83, 0.76),
        363.7, 29.6,
    ),
    PublishedModel(
        "BEGAN CelebA-64", "BEGAN", "CelebA-64",
        10.0, _table6(2.65, 2.20, 1.86, 1.67, 1.55, 1.42, 1.33),
        111.1, 8.7,
    ),
    PublishedModel(
        "WGAN-GP CelebA-64", "WGAN-GP", "CelebA-64",
        3.8, _table6(0.84, 0.69, 0.61, 0.54, 0.49, 0.45, 0.43),
        100.0, 0.0,
    ),
    PublishedModel(
        "StyleGAN trunc FFHQ", "StyleGAN (truncated)", "FFHQ-1024",
        27.6, _table6(4.21, 3.46, 2.95, 2.69, 2.44, 2.25, 2.13),
        363.2, 32.1,
    ),
    PublishedModel(
        "StyleGAN no-trunc FFHQ", "StyleGAN", "FFHQ-1024",
        19.0, _table6(3.04, 2.50, 2.17, 1.96, 1.77, 1.62, 1.52),
        240.7, 29.9,
    ),
)  # fmt: skip
"""CelebA-64, then FFHQ-1024, each with the best model first."""
IMAGES = {"infinity": 100, "time": 450}
"""Number of images that an evaluator judges (N 2.1, 2.2)."""
POOL = 5000.0
"""Real images, and images of each model, from which they are drawn (N 3)."""


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
