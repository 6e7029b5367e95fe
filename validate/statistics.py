"""Validation of our statistics against scipy, statsmodels, pingouin and psignifit, on the same data.

Groups resemble HYPE-infinity's (shares of 100 images, unequal sizes and variances), from several seeds; each
value is the largest disagreement over all compared numbers, relative unless stated otherwise.
"""

import warnings
from collections.abc import Mapping, Sequence

import numpy as np
from scipy.special import expit, xlogy

from backend.analysis.comparisons.means import (
    Moments,
    anova,
    effect_sizes,
    equal_spread,
    games_howell,
    student,
    tukey,
    welch,
)
from backend.analysis.distributions.ranks import spearman
from backend.analysis.models.psychometric import Trials, fit

_LEVEL = 0.95
SEEDS = range(100, 112)
"""Seeds of further groups; the worst result of all is reported."""
Row = dict[str, object]


def run() -> dict[str, Row]:
    """Return the largest disagreements with each program."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found: dict[str, Row] = {}
        for groups in (_groups(), *map(_others, SEEDS)):
            for name, row in {**_scipy(groups), **_statsmodels(groups), **_pingouin(groups)}.items():
                if name not in found or row["value"] > found[name]["value"]:
                    found[name] = row
        return {**found, **_psignifit()}


def _groups() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(7)
    rates = {"a": (0.45, 30), "b": (0.40, 24), "c": (0.33, 30), "d": (0.12, 12)}
    return {
        name: 100 * rng.binomial(100, rng.beta(20 * rate, 20 * (1 - rate), count)) / 100
        for name, (rate, count) in rates.items()
    }


def _others(seed: int) -> dict[str, np.ndarray]:
    """Return 3 to 6 groups (models) of 5 to 60 evaluators, drawn with a seed."""
    rng = np.random.default_rng(seed)
    groups = {}
    for name in "abcdef"[: rng.integers(3, 7)]:
        rate, count = rng.uniform(0.05, 0.6), int(rng.integers(5, 61))
        groups[name] = 100 * rng.binomial(100, rng.beta(20 * rate, 20 * (1 - rate), count)) / 100
    return groups


def _row(ours: Sequence[float], theirs: Sequence[float], within: float, scale: float | None = None) -> Row:
    """Return the largest disagreement, relative to each number of theirs or to `scale`."""
    ours, theirs = np.ravel(np.asarray(ours, float)), np.ravel(np.asarray(theirs, float))
    assert ours.shape == theirs.shape
    worst = float(np.max(np.abs(ours - theirs) / (np.abs(theirs) if scale is None else scale)))
    return {"value": worst, "agrees_if": f"below {within:g}", "agrees": worst < within}


def _scipy(groups: Mapping[str, np.ndarray]) -> dict[str, Row]:
    from scipy import stats

    values, moments = [*groups.values()], Moments.of(groups)
    one_way, robust = stats.f_oneway(*values), stats.f_oneway(*values, equal_var=False)
    levene, two = stats.levene(*values, center="median"), {name: groups[name] for name in "ab"}
    t, welch_t = stats.ttest_ind(*two.values()), stats.ttest_ind(*two.values(), equal_var=False)
    ours = student(two, _LEVEL)
    x, y = moments.means, np.array([4.0, 1.0, 3.0, 1.5, 2.0, 5.0])[: len(values)]
    rank, hsd = stats.spearmanr(x, y), stats.tukey_hsd(*values)
    interval, (i, j) = hsd.confidence_interval(_LEVEL), np.triu_indices(len(values), 1)
    pairs = tukey(groups, _LEVEL)
    return {
        "scipy: F and p of ANOVA, Welch, Brown-Forsythe": _row(
            [test[key] for test in (anova(moments), welch(moments), equal_spread(groups)) for key in "Fp"],
            [*one_way, *robust, *levene],
            1e-9,
        ),
        "scipy: t, p, interval of Student and Welch": _row(
            [ours["t"], ours["p"], *ours["ci"], ours["welch"]["t"], ours["welch"]["p"], *ours["welch"]["ci"]],
            [*t, *t.confidence_interval(_LEVEL), *welch_t, *welch_t.confidence_interval(_LEVEL)],
            1e-9,
        ),
        "scipy: rho and p of Spearman": _row(
            [spearman(x, y)[key] for key in ("rho", "p")], [rank.statistic, rank.pvalue], 1e-9
        ),
        "scipy: intervals of Tukey": _row(
            [pair["ci"] for pair in pairs],
            np.stack([interval.low[i, j], interval.high[i, j]], axis=1),
            1e-6,
        ),
        "scipy: p of Tukey, absolute": _row([pair["p"] for pair in pairs], hsd.pvalue[i, j], 1e-7, scale=1),
    }


def _statsmodels(groups: Mapping[str, np.ndarray]) -> dict[str, Row]:
    from statsmodels.stats.multicomp import pairwise_tukeyhsd
    from statsmodels.stats.oneway import anova_oneway

    values, moments = [*groups.values()], Moments.of(groups)
    one_way = anova_oneway(values, use_var="equal")
    robust = anova_oneway(values, use_var="unequal", welch_correction=True)
    names = np.repeat([*groups], [len(group) for group in values])
    hsd = pairwise_tukeyhsd(np.concatenate(values), names, alpha=1 - _LEVEL)
    pairs, ours = tukey(groups, _LEVEL), welch(moments)
    return {
        "statsmodels: F, p and df of ANOVA and Welch": _row(
            [anova(moments)["F"], anova(moments)["p"], ours["F"], ours["p"], *ours["df"]],
            [one_way.statistic, one_way.pvalue, robust.statistic, robust.pvalue, *robust.df],
            1e-9,
        ),
        "statsmodels: intervals of Tukey": _row(
            # statsmodels reports b - a
            [[-end for end in reversed(pair["ci"])] for pair in pairs],
            hsd.confint,
            1e-6,
        ),
        "statsmodels: p of Tukey, absolute": _row([pair["p"] for pair in pairs], hsd.pvalues, 1e-7, scale=1),
    }


def _pingouin(groups: Mapping[str, np.ndarray]) -> dict[str, Row]:
    import pandas as pd
    import pingouin as pg

    frame = pd.DataFrame(
        [(name, value) for name, group in groups.items() for value in group], columns=["m", "v"]
    )
    moments = Moments.of(groups)
    effects, pairs = effect_sizes(moments), games_howell(groups, _LEVEL)
    table = pg.anova(frame, dv="v", between="m", detailed=True)
    robust = pg.welch_anova(frame, dv="v", between="m")
    theirs = pg.pairwise_gameshowell(frame, dv="v", between="m", effsize="hedges")
    p_name = next(name for name in theirs.columns if name.startswith("p"))
    two = {name: groups[name] for name in "ab"}
    p_robust = next(name for name in robust.columns if name.startswith("p"))
    return {
        "pingouin: F of ANOVA and Welch, eta squared": _row(
            [anova(moments)["F"], effects["eta_squared"], welch(moments)["F"], welch(moments)["p"]],
            [table["F"][0], table["np2"][0], robust["F"][0], robust[p_robust][0]],
            1e-9,
        ),
        "pingouin: p of Games-Howell, absolute": _row(
            [pair["p"] for pair in pairs], theirs[p_name], 1e-7, scale=1
        ),
        "pingouin: differences of Games-Howell": _row(
            [pair["difference"] for pair in pairs], theirs["diff"], 1e-9
        ),
        "pingouin: d and g of two models": _row(
            [student(two, _LEVEL)["effect"][key] for key in "dg"],
            [pg.compute_effsize(*two.values(), eftype=name) for name in ("cohen", "hedges")],
            # pingouin corrects g by an approximation of the gamma functions
            1e-4,
        ),
    }


def _psignifit() -> dict[str, Row]:
    """Compare fits of 20 data sets, each with eight exposures and 200 responses per exposure.

    Both programs fit the logistic of log exposure with a guess rate of 0.5 and a free lapse rate. psignifit
    returns the mode of a posterior with weak priors, ours is the maximum of the likelihood, so psignifit's
    likelihood cannot exceed ours. psignifit's width spans 5% to 95% of the sigmoid.
    """
    import psignifit

    rng = np.random.default_rng(11)
    exposures, totals = np.array([60.0, 90, 135, 200, 300, 450, 675, 1000]), np.full(8, 200)
    differences, less_likely = [], []
    for midpoint in np.linspace(150, 400, 20):
        accuracy = 0.5 + 0.47 / (1 + (midpoint / exposures) ** 3)
        right = rng.binomial(totals, accuracy)
        trials = Trials(exposures, right.astype(float), totals)
        ours = fit(trials, at=0.75, level=None)
        theirs = psignifit.psignifit(
            np.stack([np.log(exposures), right, totals], axis=1),
            sigmoid="logistic",
            experiment_type="2AFC",
            stimulus_range=(np.log(exposures[0]), np.log(exposures[-1])),
        )
        at = float(np.squeeze(theirs.threshold(0.75, return_ci=False)))
        differences.append(float(abs(np.log(ours.threshold_ms) - at)))
        found = theirs.parameter_estimate
        rise = expit(2 * np.log(19) / found["width"] * (np.log(exposures) - found["threshold"]))
        accuracy = 0.5 + (0.5 - found["lambda"]) * rise
        likelihood = (xlogy(right, accuracy) + xlogy(totals - right, 1 - accuracy)).sum()
        less_likely.append(float(ours.log_likelihood - likelihood))
    return {
        "psignifit: 75% thresholds of 20 data sets, median relative difference": {
            "value": float(np.median(differences)), "agrees_if": "below 0.01",
            "agrees": bool(np.median(differences) < 0.01),
        },
        "psignifit: 75% thresholds of 20 data sets, largest relative difference": {
            "value": max(differences), "agrees_if": "below 0.05", "agrees": max(differences) < 0.05,
        },
        "psignifit: log likelihood of our fit less that of theirs, least of 20": {
            "value": min(less_likely), "agrees_if": "not below 0", "agrees": min(less_likely) > -1e-6,
        },
        "psignifit: log likelihood of our fit less that of theirs, most of 20": {
            "value": max(less_likely), "agrees_if": "below 1", "agrees": max(less_likely) < 1,
        },
    }  # fmt: skip
