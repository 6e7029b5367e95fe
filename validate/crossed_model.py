"""Validation of the crossed model: an independent sampler of its posterior, probit regression, and coverage.

The sampler draws latent normal responses (Albert and Chib, 1993), and all other quantities given them; it
shares the model's priors and nothing else with `analysis/models/crossed_fit.py`.
`python -m validate.crossed_model N [CASE]` simulates N studies of each case, or of the cases whose names
contain CASE: a minute is some 300.
"""

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from backend.analysis.models.crossed_fit import EFFECTS, Fit, fit
from backend.analysis.models.crossed_posterior import Design, Posterior

Row = dict[str, object]
_SIDE_SD, _SCALE = 5.0, 1.0
SDS = (0.3, 0.4, 0.4, 0.5)
SENSITIVITIES = (1.5, 1.0, 0.2)
_DRAWS, _BURN_IN = 12_000, 2_000
_STUDIES = 600
_CASES: dict[str, dict[str, Any]] = {
    "30 evaluators of three models": {"is_mixed": True, "people": 30},
    "8 evaluators of three models, 100 pictures a side": {"is_mixed": True, "people": 8, "pool": 100},
    "10 evaluators a model, 60 pictures a side": {"is_mixed": False, "people": 10, "pool": 60},
    "30 evaluators a model": {"is_mixed": False, "people": 30},
    "10 evaluators a model, SDs of 0.05 and 0.1": {
        "is_mixed": False,
        "people": 10,
        "pool": 60,
        "sds": (0.1, 0.05, 0.05, 0.1),
    },
}


def run() -> dict[str, Row]:
    """Return the results by name."""
    return {**_against_sampler(), **_against_statsmodels(), **coverage(_STUDIES)}


@dataclass(frozen=True)
class Simulated:
    """Responses, and what they were drawn from."""

    design: Design
    sensitivities: np.ndarray
    """d' of each evaluator."""
    criteria: np.ndarray
    pictures: np.ndarray
    """Predictor of each picture, for an average evaluator."""


def simulated(
    rng: np.random.Generator,
    is_mixed: bool,
    people: int,
    trials: int = 100,
    pool: int = 200,
    sds: tuple[float, ...] = SDS,
) -> Simulated:
    """Return responses of `people` evaluators, of all models (mixed) or of each.

    Criteria are drawn about 0.1; a session of one model is centred on it.
    """
    models, half, d_primes = len(SENSITIVITIES), trials // 2, np.array(SENSITIVITIES)
    of_reals, of_fakes = rng.normal(0, 1, pool) * sds[2], rng.normal(0, 1, (models, pool)) * sds[3]
    count = people if is_mixed else people * models
    readiness, skill = rng.normal(0, 1, count) * sds[0], rng.normal(0, 1, count) * sds[1]
    parts, sensitivities = [], np.empty(count)
    base = np.full(models, -0.1 - d_primes.mean() / 2) if is_mixed else -0.1 - d_primes / 2
    for person in range(count):
        judged = np.arange(models) if is_mixed else np.array([person // people])
        shown, model = rng.permutation(pool)[:half], judged[np.arange(half) % len(judged)]
        reals = rng.permutation(pool)[:half]
        below = base[judged[0]] + readiness[person]
        predictor = np.concatenate(
            [
                below - skill[person] / 2 + of_reals[reals],
                below + d_primes[model] + skill[person] / 2 + of_fakes[model, shown],
            ]
        )
        side = np.concatenate([np.full(half, models + (0 if is_mixed else judged[0])), model])
        picture = np.concatenate([reals, (model + 1) * pool + shown])
        parts.append(np.stack([side, np.full(2 * half, person), picture, predictor]))
        sensitivities[person] = d_primes[model].mean() + skill[person]
    side, evaluator, picture, predictor = np.concatenate(parts, axis=1)
    side, evaluator = side.astype(int), evaluator.astype(int)
    shown, picture = np.unique(picture.astype(int), return_inverse=True)
    sides = [(f"m{m}", True) for m in range(models)]
    sides += [("", False)] if is_mixed else [(f"m{m}", False) for m in range(models)]
    design = Design(
        sides,
        side,
        evaluator,
        picture,
        side < models,
        rng.random(len(side)) < ndtr(predictor),
        count,
        len(shown),
    )
    means = np.concatenate([base + d_primes, base[:1] if is_mixed else base])
    average = np.bincount(picture, means[side]) / np.bincount(picture)
    effects = np.concatenate([of_reals, of_fakes.ravel()])[shown]
    of_person = base[0] if is_mixed else np.repeat(base, people)
    criteria = -(of_person + (sensitivities - skill) / 2 + readiness)
    return Simulated(design, sensitivities, criteria, average + effects)


def sampled(design: Design, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return draws of the sides, of the logarithms of the SDs, and of evaluators' f. Shape (draws, …)."""
    sides, people = len(design.sides), design.evaluators
    fixed = np.zeros((len(design.side), sides + 2 * people))
    rows = np.arange(len(design.side))
    fixed[rows, design.side] = 1
    fixed[rows, sides + design.evaluator] = 1
    fixed[rows, sides + people + design.evaluator] = np.where(design.is_fake, 0.5, -0.5)
    gram, fakes = fixed.T @ fixed, design.is_fake_picture
    seen = np.bincount(design.picture, minlength=design.pictures)
    effects, pictures, log_sds = np.zeros(fixed.shape[1]), np.zeros(design.pictures), np.log(np.full(4, 0.5))
    kept_sides, kept_sds, kept_people = [], [], []
    places = (slice(sides, sides + people), slice(sides + people, None), ~fakes, fakes)
    for draw in range(_DRAWS):
        predictor = fixed @ effects + pictures[design.picture]
        below = ndtr(-predictor)
        uniform = rng.random(len(rows))
        chance = np.where(design.said == 1, below + uniform * (1 - below), uniform * below)
        latent = predictor + ndtri(np.clip(chance, 1e-15, 1 - 1e-15))
        sds = np.exp(log_sds)
        prior = np.concatenate(
            [np.full(sides, _SIDE_SD**-2), np.full(people, sds[0] ** -2), np.full(people, sds[1] ** -2)]
        )
        lower = np.linalg.cholesky(gram + np.diag(prior))
        towards = fixed.T @ (latent - pictures[design.picture])
        mean = np.linalg.solve(lower.T, np.linalg.solve(lower, towards))
        effects = mean + np.linalg.solve(lower.T, rng.normal(size=len(mean)))
        precision = seen + np.where(fakes, sds[3] ** -2, sds[2] ** -2)
        rest = np.bincount(design.picture, latent - fixed @ effects, design.pictures)
        pictures = rest / precision + rng.normal(size=design.pictures) / np.sqrt(precision)
        parts = (
            effects[sides : sides + people],
            effects[sides + people :],
            pictures[~fakes],
            pictures[fakes],
        )
        for k, part in enumerate(parts):
            log_sds[k] = _next_log_sd(log_sds[k], part, rng)
        for k, where in enumerate(places):
            _rescale(effects, pictures, log_sds, k, where, (fixed, design, latent), rng)
        if draw >= _BURN_IN:
            kept_sides.append(effects[:sides])
            kept_sds.append(log_sds.copy())
            kept_people.append(effects[sides + people :])
    return np.array(kept_sides), np.array(kept_sds), np.array(kept_people)


def _rescale(
    effects: np.ndarray,
    pictures: np.ndarray,
    log_sds: np.ndarray,
    k: int,
    where: slice | np.ndarray,
    data: tuple[np.ndarray, Design, np.ndarray],
    rng: np.random.Generator,
) -> None:
    """Draw an SD and its effects together, given the effects in units of their SD (Yu and Meng, 2011).

    The random walk alone hardly moves where effects are near 0.
    """
    fixed, design, latent = data
    units = pictures if k > 1 else effects
    part = np.zeros_like(units)
    part[where] = units[where] / np.exp(log_sds[k])
    x = part[design.picture] if k > 1 else fixed @ part
    rest = latent - fixed @ effects - pictures[design.picture] + x * np.exp(log_sds[k])
    precision = x @ x + _SCALE**-2
    sd = x @ rest / precision + rng.normal() / np.sqrt(precision)  # its sign goes with that of the units
    units[where] = part[where] * sd
    log_sds[k] = np.log(max(abs(sd), 1e-6))


def _next_log_sd(now: float, effects: np.ndarray, rng: np.random.Generator) -> float:
    """Return the next state of a random walk (Metropolis) over the logarithm of a standard deviation."""

    def log_density(log_sd: float) -> float:
        squares = float(effects @ effects) / np.exp(2 * log_sd)
        return -len(effects) * log_sd - squares / 2 - np.exp(2 * log_sd) / (2 * _SCALE**2) + log_sd

    for _ in range(5):
        other = now + rng.normal(0, 1.5 / np.sqrt(len(effects)))
        if np.log(rng.random()) < log_density(other) - log_density(now):
            now = other
    return now


def _against_sampler() -> dict[str, Row]:
    shift = ratio = spread = ability = 0.0
    for is_mixed, people in ((True, 24), (False, 10)):
        one = simulated(np.random.default_rng(11), is_mixed, people, trials=80, pool=100)
        sides, log_sds, skills = sampled(one.design, np.random.default_rng(12))
        found, names = fit(one.design), one.design.sides
        for m in range(len(SENSITIVITIES)):
            fakes = names.index((f"m{m}", True))
            reals = names.index(("", False) if is_mixed else (f"m{m}", False))
            draws, ours = sides[:, fakes] - sides[:, reals], found.sensitivity(f"m{m}")
            shift = max(shift, abs(draws.mean() - ours.mean) / draws.std())
            ratio = max(ratio, abs(ours.sd / draws.std() - 1))
            if not is_mixed:
                mine = slice(m * people, (m + 1) * people)
                of_people = draws[:, None] + skills[:, mine]
                far = np.abs(of_people.mean(axis=0) - found.sensitivities[0, mine]) / of_people.std(axis=0)
                ability = max(ability, float(far.max()))
        middle, ours = np.median(log_sds, axis=0), np.log(np.median(found.sds, axis=0))
        spread = max(spread, *(np.abs(middle - ours) / log_sds.std(axis=0)))
    return {
        "crossed model: mean of d' less that of a sampler, largest, in SDs": _row(shift, 0.15, "<= 0.15"),
        "crossed model: SD of d' over that of a sampler, less 1, largest": _row(ratio, 0.1, "<= 0.1"),
        "crossed model: evaluators' d' less that of a sampler, largest, in SDs": _row(
            ability, 0.15, "<= 0.15"
        ),
        "crossed model: median SD of effects less that of a sampler, largest, in SDs": _row(
            spread, 0.25, "<= 0.25"
        ),
    }


def _against_statsmodels() -> dict[str, Row]:
    import statsmodels.api as sm
    from scipy.sparse import csr_array, hstack
    from statsmodels.genmod.bayes_mixed_glm import BinomialBayesMixedGLM

    design = simulated(np.random.default_rng(13), True, 30, sds=(0.0,) * 4).design
    theirs = sm.Probit(design.said, np.eye(len(design.sides))[design.side]).fit(disp=0)
    state = Posterior(design).at(np.full(4, np.log(0.001)))
    sides = len(design.sides)
    apart = np.abs(state.mean[:sides] - theirs.params) / theirs.bse
    spread = np.abs(np.sqrt(np.diagonal(state.cov)[:sides]) / theirs.bse - 1)

    design = simulated(np.random.default_rng(14), True, 30).design
    rows, ones = np.arange(len(design.side)), np.ones(len(design.side))
    people = csr_array((ones, (rows, design.evaluator)))
    skills = csr_array((np.where(design.is_fake, 0.5, -0.5), (rows, design.evaluator)))
    pictures = csr_array((ones, (rows, design.picture)))
    kinds = np.concatenate([[0] * people.shape[1], [1] * skills.shape[1], 2 + design.is_fake_picture])
    logistic = BinomialBayesMixedGLM(
        design.said,
        np.eye(sides)[design.side],
        hstack([people, skills, pictures]).tocsr(),
        kinds.astype(int),
        vcp_p=1,
        fe_p=5,
    ).fit_vb()
    ours = fit(design)
    scale = logistic.fe_mean / ours.sides
    effects = logistic.vc_mean[-design.pictures :]
    mine = ours.pictures[0] - ours.sides[design.side[np.unique(design.picture, return_index=True)[1]]]
    return {
        "statsmodels: probit without random effects, largest difference, in SEs": _row(
            apart.max(), 0.02, "<= 0.02"
        ),
        "statsmodels: SE of probit without random effects, relative": _row(spread.max(), 0.02, "<= 0.02"),
        "statsmodels: logistic mixed model (variational), its sides over ours, mean": _inside(
            float(scale.mean()), 1.5, 1.9, "1.5 to 1.9: the logistic distribution is about 1.7 times as wide"
        ),
        "statsmodels: its effects of pictures, correlation with ours": _inside(
            float(np.corrcoef(effects, mine)[0, 1]), 0.98, 1.0, ">= 0.98"
        ),
    }


def coverage(studies: int, part: str = "") -> dict[str, Row]:
    """Return coverage of 95% intervals, and bias, over so many simulated studies of each case."""
    found: dict[str, Row] = {}
    for name, options in _CASES.items():
        if part not in name:
            continue
        held: dict[str, list[float]] = {}
        errors = []
        for seed in range(studies):
            one = simulated(np.random.default_rng(1000 + seed), **options)
            ours = fit(one.design)
            for what, share in _held(one, ours, options.get("sds", SDS)):
                held.setdefault(what, []).append(share)
            errors.append([ours.sensitivity(f"m{m}").mean - true for m, true in enumerate(SENSITIVITIES)])
        is_near_0 = min(options.get("sds", SDS)) < 0.2
        for what, shares in held.items():
            found[f"crossed model: coverage of {what}, {name}"] = _covers(shares, is_near_0)
        bias, se = np.abs(np.mean(errors, axis=0)).max(), np.std(errors, axis=0).max() / studies**0.5
        most = 0.03 + 2 * se
        found[f"crossed model: bias of d', largest, {name}"] = _row(
            bias, most, f"<= 0.03 and 2 SE ({se:.3f})"
        )
    return found


def _held(one: Simulated, found: Fit, sds: tuple[float, ...]) -> Iterable[tuple[str, float]]:
    """Yield what is estimated, and the share of a study's intervals that hold the true value."""
    true = enumerate(SENSITIVITIES)
    yield "d'", np.mean([_holds(found.sensitivity(f"m{m}").interval(0.95), value) for m, value in true])
    pairs = [(0, 1), (0, 2), (1, 2)]
    yield (
        "differences of d'",
        np.mean(
            [
                _holds(found.difference(f"m{a}", f"m{b}").interval(0.95), SENSITIVITIES[a] - SENSITIVITIES[b])
                for a, b in pairs
            ]
        ),
    )
    for effect, sd in zip(EFFECTS, sds, strict=True):
        yield f"the SD of {effect}", _holds(found.standard_deviation(effect, 0.95)[1:], sd)
    for what, ours, values in (
        ("evaluators' d'", found.sensitivities, one.sensitivities),
        ("evaluators' c", found.criteria, one.criteria),
        ("pictures' difficulties", found.pictures, one.pictures),
    ):
        yield what, np.mean(np.abs(ours[0] - values) <= ndtri(0.975) * ours[1])


def _holds(interval: tuple[float, ...], true: float) -> bool:
    return interval[0] <= true <= interval[1]


def _covers(shares: list[float], is_near_0: bool) -> Row:
    """Return whether intervals cover 94 to 96%, but for twice the standard error of the simulation.

    Where SDs are near 0, which their prior is not, intervals may be too wide.
    """
    spread = 0.05**0.5 * 0.95**0.5 if {*shares} <= {0.0, 1.0} else float(np.std(shares))
    value, se = float(np.mean(shares)), spread / len(shares) ** 0.5
    low, high = 0.94 - 2 * se, 1.0 if is_near_0 else 0.96 + 2 * se
    which = "0.94 or more" if is_near_0 else "0.94 to 0.96"
    return _inside(value, low, high, f"{which}, or within 2 SE ({se:.4f}) of it; {len(shares)} studies")


def _row(value: float, most: float, agrees_if: str) -> Row:
    return {"value": float(value), "agrees_if": agrees_if, "agrees": bool(value <= most)}


def _inside(value: float, low: float, high: float, agrees_if: str) -> Row:
    return {"value": value, "agrees_if": agrees_if, "agrees": bool(low <= value <= high)}


if __name__ == "__main__":
    for name, result in coverage(int(sys.argv[1]), *sys.argv[2:]).items():
        mark = "" if result["agrees"] else "DISAGREES "
        print(f"{mark}{name}: {result['value']:.4f} ({result['agrees_if']})")  # noqa: T201
