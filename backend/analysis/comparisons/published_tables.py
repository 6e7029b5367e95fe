"""Which of the papers' printed tests and correlations follow from their printed tables.

A test of means is computed from values that have exactly the printed means and SDs, by the functions that
score a study. A bootstrap's SD is that of the mean of n values drawn from n: its square is the variance of
the evaluators with divisor n, over n (Efron and Tibshirani, 1993, section 5.2). So the variance with divisor
n - 1, which tests need, is std^2 n^2 / (n - 1). Ranges are over all means and SDs that round to the printed.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Any

import numpy as np
from scipy.optimize import brentq

from backend.analysis.comparisons.means import Groups, Moments, anova, student, tukey
from backend.analysis.distributions.ranks import p_of_rho, spearman
from backend.experiment.published import (
    BESSEL,
    CELEBA,
    CIFAR,
    CORRELATIONS,
    EVALUATORS,
    IMAGENET,
    MODELS,
    TABLES,
    TESTS,
    TIME_CELEBA,
    Printed,
    PublishedRow,
    PublishedTable,
    PublishedTest,
)

LEVEL = 0.95
_ALMOST = 1e-9
HALF = 0.05
"""Half a unit of the only digit that tables of scores print."""


@dataclass(frozen=True)
class Summary:
    """Printed means and bootstrap SDs of models, each within half a unit of its last digit."""

    models: tuple[str, ...]
    means: np.ndarray
    stds: np.ndarray
    half_std: float = HALF

    @classmethod
    def of(cls, table: PublishedTable) -> "Summary":
        """Return what a table of scores prints."""
        rows = table.rows
        return cls(
            tuple(row.model for row in rows),
            np.array([row.score for row in rows]),
            np.array([row.std for row in rows]),
        )

    def variances(self, rounding: int = 0) -> np.ndarray:
        """Return variances between evaluators, shape (models,), divisor n - 1.

        Args:
            rounding: -1 or 1 for the smallest or the largest SDs that round to the printed ones.
        """
        stds = np.maximum(self.stds + rounding * self.half_std, 0)
        return EVALUATORS * BESSEL * stds**2

    def groups(self, means: np.ndarray | None = None, rounding: int = 0) -> Groups:
        """Return values of 30 evaluators of each model with these means and variances."""
        return _groups(
            self.models, self.means if means is None else means, self.variances(rounding), EVALUATORS
        )

    def extremes(self) -> tuple[Groups, Groups]:
        """Return the values with the least and with the most F that round to what is printed.

        F falls with each SD. Its numerator is convex in the means: most in a corner of their box, least where
        all are as near to a common centre as they may be.
        """
        low, high = self.means - HALF, self.means + HALF
        centre = brentq(lambda at: float((np.clip(at, low, high) - at).sum()), low.min(), high.max())
        corners = (self.groups(np.array(corner), -1) for corner in product(*zip(low, high, strict=True)))
        return self.groups(np.clip(centre, low, high), 1), max(corners, key=_f)


def recomputed_tests() -> list[dict[str, Any]]:
    """Return each test of means: `value` and `p` with their ranges, and whether the printed ones follow.

    HYPE-infinity on CelebA-64 stands there with the SDs of W's table 6 as well, which have two digits.
    `follows` is None if no number is printed.
    """
    rows = [_recomputed(test, Summary.of(test.table)) for test in TESTS]
    return [rows[0], {**_recomputed(TESTS[0], table_6()), "table": "W 6"}, *rows[1:]]


def recomputed_pairs() -> list[dict[str, Any]]:
    """Return Tukey's `p` and its range `p_ends` for each pair of which the papers say whether it differs."""
    return [
        row for test in TESTS if test.inseparable is not None
        for row in _pairs(test, Summary.of(test.table), test.inseparable)
    ]  # fmt: skip


def recomputed_correlations() -> list[dict[str, Any]]:
    """Return each rank correlation; `p_of_printed` is the p-value that the printed rho has."""
    rows = []
    for printed in CORRELATIONS:
        columns = _columns(printed.models)
        rank = spearman(columns[printed.score], columns[printed.other])
        assert rank is not None, "the tables have three models or more, which differ"
        rows.append(
            {
                "printed": printed,
                **rank,
                "p_of_printed": p_of_rho(float(printed.rho.text), rank["models"]),
                "follows": _meets(printed.rho, rank["rho"], rank["rho"])
                and _meets(printed.p, rank["p"], rank["p"]),
            }
        )
    return rows


def checked_scores() -> list[dict[str, Any]]:
    """Return for each row whether the score is the mean of both errors, and inside its interval."""
    return [
        {
            "table": table.where,
            "data": table.data,
            "model": row.model,
            "is_mean": row.errors and abs(sum(row.errors) / 2 - row.score) <= 2 * HALF + _ALMOST,
            "is_inside": row.ci[0] <= row.score <= row.ci[1],
        }
        for table in TABLES
        for row in table.rows
    ]


def without_bessel() -> dict[str, Any]:
    """Return the test of HYPE-infinity on CelebA-64 if evaluators' variance were n std^2."""
    summary = table_6()
    scale = 1 / math.sqrt(BESSEL)
    return _recomputed(
        TESTS[0], replace(summary, stds=summary.stds * scale, half_std=summary.half_std * scale)
    )


def with_modes_as_inputs() -> dict[str, float]:
    """Return the correlation `r` of an evaluator's blocks at which HYPE-time's F on CelebA-64 is as printed.

    The inputs would be the modes of all 90 blocks of a model, not the means of its 30 evaluators: with r
    between the blocks of an evaluator, the variance of a mode is 3 / (1 + 2 r) times that of a mean of three.
    `F` and `p` (Tukey, of the two best models) are computed at this r.
    """
    test = next(test for test in TESTS if test.table is TIME_CELEBA)
    assert test.value is not None
    summary = Summary.of(TIME_CELEBA)
    r = (float(test.value.text) / _f(summary.groups()) - 1) / 2
    modes = _groups(summary.models, summary.means, summary.variances() * 3 / (1 + 2 * r), 3 * EVALUATORS)
    return {"r": r, "F": _f(modes), "p": tukey(modes, LEVEL)[0]["p"]}


def table_6() -> Summary:
    """Return HYPE-infinity on CelebA-64 with the SDs of 30 evaluators from W's table 6."""
    stds = np.array([model.percent_stds[EVALUATORS] for model in MODELS[: len(CELEBA.rows)]])
    return replace(Summary.of(CELEBA), stds=stds, half_std=0.005)


def _recomputed(test: PublishedTest, summary: Summary) -> dict[str, Any]:
    least, most = map(_of_means, summary.extremes())
    recomputed = _of_means(summary.groups())
    says = [_meets(test.value, least["value"], most["value"]), _meets(test.p, most["p"], least["p"])]
    return {
        "printed": test,
        "table": test.table.where,
        **recomputed,
        "ends": [least["value"], most["value"]],
        "p_ends": [most["p"], least["p"]],
        "follows": all(says) if test.value or test.p else None,
    }


def _of_means(groups: Groups) -> dict[str, Any]:
    """Return the t-test of two models, or the ANOVA of more."""
    if len(groups) == 2:
        found = student(groups, LEVEL)
        return {"statistic": "t", "value": found["t"], "df": [found["df"]], "p": found["p"]}
    found = anova(Moments.of(groups))
    return {"statistic": "F", "value": found["F"], "df": found["df"], "p": found["p"]}


def _pairs(
    test: PublishedTest, summary: Summary, inseparable: frozenset[frozenset[str]]
) -> list[dict[str, Any]]:
    rows = []
    for place, (i, j) in enumerate(combinations(range(len(summary.models)), 2)):
        towards = np.zeros(len(summary.models))
        towards[i], towards[j] = -1, 1
        gap = summary.means[i] - summary.means[j]
        towards *= np.sign(gap)
        near = summary.groups(summary.means + towards * min(HALF, abs(gap) / 2), 1)
        apart = summary.groups(summary.means - towards * HALF, -1)
        p, most, least = (tukey(groups, LEVEL)[place]["p"] for groups in (summary.groups(), near, apart))
        pair = (summary.models[i], summary.models[j])
        said = Printed("> 0.05" if frozenset(pair) in inseparable else "< 0.05")
        rows.append(
            {
                "printed": test,
                "said": said,
                "pair": pair,
                "p": p,
                "p_ends": [least, most],
                "follows": _meets(said, least, most),
            }
        )
    return rows


def _columns(models: str) -> Mapping[str, Sequence[float]]:
    """Return scores and metrics of the models over which a correlation is, by name."""
    if models == "faces":
        return {"time": [model.ms for model in MODELS], **_metrics([model.infinity for model in MODELS])}
    if models == "CIFAR-10":
        return _metrics(CIFAR.rows)
    rows = [row for table in IMAGENET for row in table.rows]
    return _metrics([row for row in rows if models == "ImageNet-5" or row.model.startswith(models)])


def _metrics(rows: Sequence[PublishedRow]) -> dict[str, list[float]]:
    return {
        "infinity": [row.score for row in rows],
        "KID": [row.kid for row in rows],
        "FID": [row.fid for row in rows],
        "precision": [row.precision for row in rows],
    }


def _groups(models: Sequence[str], means: np.ndarray, variances: np.ndarray, count: int) -> Groups:
    z = np.linspace(-1, 1, count)
    z /= z.std(ddof=1)
    rows = zip(models, means, variances, strict=True)
    return {model: mean + math.sqrt(variance) * z for model, mean, variance in rows}


def _f(groups: Groups) -> float:
    f: float = anova(Moments.of(groups))["F"]
    return f


def _meets(printed: Printed | None, low: float, high: float) -> bool:
    """Return whether a number from `low` to `high` can be printed so; nothing printed is met by any."""
    if printed is None:
        return True
    least, most = printed.ends
    return low <= most + _ALMOST and high >= least - _ALMOST
