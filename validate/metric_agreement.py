"""Validation of rank correlations of scores with metrics: scipy's, and coverage of both intervals.

Over evaluators: models have true scores, of which a metric is a noisy copy; evaluators' values scatter about
the true scores so that the scores have a given reliability. The interval is to hold the correlation of the
metric with the true scores of these models. Over models: scores and metrics of each study are a new sample of
a normal copula, or of one that is not normal (Student's t with 3 degrees of freedom), and the interval is to
hold the correlation of the population.
"""

from collections.abc import Callable

import numpy as np
from scipy import stats

from backend.analysis.agreement.metric_agreement import metric_agreement
from backend.analysis.distributions.rank_intervals import over_models
from backend.analysis.distributions.ranks import kendall, spearman
from backend.analysis.score_resamples import ScoreResamples, resampled_means, widened

Row = dict[str, object]
_STUDIES, _NOISY_STUDIES = 400, 200
_NOISY_LEAST = 0.88
"""The least of many designs with few studies each is below their coverage, which is to be 0.9."""
_MODELS = (4, 6, 10, 20)
_TRUE = (0.0, 0.6, 0.95)
_PRECISE = (("normal", 0.8), ("normal", 0.95), ("clustered", 0.95), ("skewed", 0.99))
_NOISY = tuple((shape, each) for shape in ("normal", "clustered", "skewed") for each in (0.4, 0.6, 0.8))
_FEW, _MANY = 10, 30
"""Evaluators of a model."""
_NAMES = {"rho": ("evaluators_ci", "models_ci"), "tau": ("tau_evaluators_ci", "tau_models_ci")}


def run() -> dict[str, Row]:
    """Return the results by name."""
    return {**_against_scipy(), **_over_evaluators(), **_over_evaluators_of_noisy_studies(), **_over_models()}


def _against_scipy() -> dict[str, Row]:
    rng, largest = np.random.default_rng(19), 0.0
    for _ in range(500):
        models, values = rng.integers(3, 30), rng.integers(2, 40)
        x, y = rng.integers(values, size=(2, models)).astype(float)
        if len(np.unique(x)) == 1 or len(np.unique(y)) == 1:
            continue
        ours, theirs = (spearman(x, y), kendall(x, y)), (stats.spearmanr(x, y), stats.kendalltau(x, y))
        asymptotic = stats.kendalltau(x, y, method="asymptotic").pvalue
        found = [ours[0]["rho"], ours[1]["tau"], ours[1]["p"]]
        largest = max(largest, *np.abs(np.subtract(found, [*(one.statistic for one in theirs), asymptotic])))
    agrees = bool(largest <= 1e-12)
    row = {"value": float(largest), "agrees_if": "<= 1e-12 (500 grids with ties)", "agrees": agrees}
    return {"metric agreement: rho, tau-b and its p against scipy": row}


def normal(latent: np.ndarray) -> np.ndarray:
    return latent


def skewed(latent: np.ndarray) -> np.ndarray:
    """Return scores of which most are close to the lowest."""
    return np.exp(1.5 * latent)


def clustered(latent: np.ndarray) -> np.ndarray:
    """Return scores in two groups that are far apart."""
    return np.where(latent > -0.3, 3, 0) + 0.5 * latent


_SHAPES: dict[str, tuple[Callable[[np.ndarray], np.ndarray], float]] = {
    "normal": (normal, 1.0),
    "clustered": (clustered, 1.5),
    "skewed": (skewed, 8.97),
}
"""How true scores are distributed, and their SD."""


def study(
    models: int, reliability: float, r: float, shape: str, people: int, rng: np.random.Generator
) -> tuple[dict[str, float], dict[str, object]]:
    """Return the true correlations of a simulated study (rho, tau), and its row of `metric_agreement`."""
    form, sd = _SHAPES[shape]
    metric = rng.standard_normal(models)
    true = form(r * metric + np.sqrt(1 - r**2) * rng.standard_normal(models)) / sd
    noise = np.sqrt((1 - reliability) / reliability * people)
    values = true + noise * rng.standard_normal((people, models))
    columns = [resampled_means(values[:, [i]], None, rng, 400, people) for i in range(models)]
    scores = values.mean(axis=0)
    drawn = widened(scores, np.concatenate(columns, axis=1), np.array(people), 0.95)
    names = tuple(map(str, range(models)))
    resamples = ScoreResamples(names, drawn)
    (row,) = metric_agreement(
        dict(zip(names, scores.tolist(), strict=True)),
        {"m": dict(zip(names, metric.tolist(), strict=True))},
        resamples,
    )
    return {"rho": spearman(true, metric)["rho"], "tau": kendall(true, metric)["tau"]}, row


def _over_evaluators() -> dict[str, Row]:
    found: dict[str, Row] = {}
    for models in _MODELS:
        for shape, reliability in _PRECISE:
            what = f"over evaluators, {models} models, {shape}, reliability {reliability}"
            shares, widths = _held(models, shape, reliability, _MANY, _STUDIES)
            for name, held in shares.items():
                row = _at_least(min(held), held, {"width": widths[name]})
                found[f"metric agreement: least coverage of {name} {what}"] = row
    return found


def _over_evaluators_of_noisy_studies() -> dict[str, Row]:
    """Return the least coverage over reliabilities, evaluators a model, and correlations."""
    found: dict[str, Row] = {}
    for models in _MODELS:
        held: dict[str, list[float]] = {"rho": [], "tau": []}
        for i, (shape, reliability) in enumerate(_NOISY):
            people = (_FEW, _MANY)[i % 2]
            shares, _ = _held(models, shape, reliability, people, _NOISY_STUDIES)
            for name in held:
                held[name] += shares[name]
        for name, shares in held.items():
            row = _at_least(min(shares), shares, {}, _NOISY_LEAST, _NOISY_STUDIES)
            what = f"{name} over evaluators, {models} models, reliability 0.4 to 0.8"
            found[f"metric agreement: least coverage of {what}"] = row
    return found


def _held(
    models: int, shape: str, reliability: float, people: int, studies: int
) -> tuple[dict[str, list[float]], dict[str, float]]:
    """Return the share of studies whose interval holds the true value, by r, and its mean width."""
    shares: dict[str, list[float]] = {name: [] for name in _NAMES}
    widths: dict[str, list[float]] = {name: [] for name in _NAMES}
    for r in _TRUE:
        inside: dict[str, list[bool]] = {name: [] for name in _NAMES}
        for seed in range(studies):
            design = [models, int(100 * reliability), int(100 * r), people, [*_SHAPES].index(shape)]
            rng = np.random.default_rng([19, *design, seed])
            true, row = study(models, reliability, r, shape, people, rng)
            for name, (key, _) in _NAMES.items():
                low, high = row[key]
                inside[name].append(low - 1e-9 <= true[name] <= high + 1e-9)
                widths[name].append(high - low)
        for name in shares:
            shares[name].append(float(np.mean(inside[name])))
    return shares, {name: float(np.mean(each)) for name, each in widths.items()}


def _over_models() -> dict[str, Row]:
    found: dict[str, Row] = {}
    for copula in ("normal", "t3"):
        for models in _MODELS:
            held: dict[str, list[float]] = {"rho": [], "tau": []}
            for r in _TRUE:
                inside: dict[str, list[bool]] = {"rho": [], "tau": []}
                true = _population(copula, r)
                rng = np.random.default_rng([20, models, int(100 * r)])
                for _ in range(_STUDIES):
                    x, y = _pairs(copula, r, models, rng)
                    cis = over_models(spearman(x, y)["rho"], kendall(x, y)["tau"], models, 0.95)
                    for name, (low, high) in cis.items():
                        inside[name].append(low <= true[name] <= high)
                for name in held:
                    held[name].append(float(np.mean(inside[name])))
            for name, shares in held.items():
                what = f"{name} over models, {models} models, {copula} copula"
                least = 0.9 if copula == "normal" else 0.85
                row = _at_least(min(shares), shares, {}, least)
                found[f"metric agreement: least coverage of {what}"] = row
    return found


def _pairs(copula: str, r: float, count: int, rng: np.random.Generator) -> np.ndarray:
    x, noise = rng.standard_normal((2, count))
    both = np.array([x, r * x + np.sqrt(1 - r**2) * noise])
    return both if copula == "normal" else both / np.sqrt(rng.chisquare(3, count) / 3)


def _population(copula: str, r: float) -> dict[str, float]:
    """Return rho and tau; tau is 2/pi asin(r) for every elliptical copula."""
    tau = 2 / np.pi * np.arcsin(r)
    if copula == "normal":
        return {"rho": 6 / np.pi * np.arcsin(r / 2), "tau": tau}
    x, y = _pairs(copula, r, 1_000_000, np.random.default_rng(1))
    return {"rho": float(stats.spearmanr(x, y).statistic), "tau": tau}


def _at_least(
    value: float, shares: list[float], more: dict[str, float], least: float = 0.9, studies: int = _STUDIES
) -> Row:
    se = 100 * np.sqrt(0.95 * 0.05 / studies)
    agrees_if = f">= {least} (the least of {len(shares)} designs, {studies} studies each, SE {se:.1f}%)"
    table = {"shares": shares, **more}
    return {"value": value, "agrees_if": agrees_if, "agrees": bool(value >= least), "table": table}
