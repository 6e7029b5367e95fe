"""Validation of the crossed model: an independent sampler of its posterior, probit regression, and coverage.

The sampler draws latent normal responses (Albert and Chib, 1993), and all other quantities given them; it
shares the model's priors and nothing else with `analysis/crossed_model.py`.
"""

import numpy as np
from scipy.special import ndtr, ndtri

from backend.analysis.crossed_model import EFFECTS, Design, Fit, _Posterior, fit

Row = dict[str, object]
_SIDE_SD, _SCALE = 5.0, 1.0
SDS = (0.3, 0.4, 0.4, 0.5)
SENSITIVITIES = (1.5, 1.0, 0.2)
_DRAWS, _BURN_IN = 12_000, 2_000
_STUDIES = 400


def run() -> dict[str, Row]:
    """Return the results by name."""
    return {**_against_sampler(), **_against_probit(), **_coverage()}


def simulated(
    rng: np.random.Generator,
    is_mixed: bool,
    people: int,
    trials: int = 100,
    pool: int = 200,
    sds: tuple[float, ...] = SDS,
) -> Design:
    """Return responses of `people` evaluators, of all models (mixed) or of each.

    Criteria are drawn about 0.1; a session of one model is centred on it.
    """
    models, half = len(SENSITIVITIES), trials // 2
    of_reals, of_fakes = rng.normal(0, sds[2], pool), rng.normal(0, sds[3], (models, pool))
    sides = [*((f"m{m}", True) for m in range(models)), *((f"m{m}", False) for m in range(models))]
    if is_mixed:
        sides = [*sides[:models], ("", False)]
    columns: list[tuple[int, int, int, bool, bool]] = []
    for person in range(people if is_mixed else people * models):
        readiness, skill = rng.normal(0, sds[0]), rng.normal(0, sds[1])
        judged = range(models) if is_mixed else [person // people]
        reals = -0.1 - np.mean([SENSITIVITIES[m] for m in judged]) / 2
        side = models if is_mixed else models + judged[0]
        for i in rng.permutation(pool)[:half]:
            chance = ndtr(reals + readiness - skill / 2 + of_reals[i])
            columns.append((side, person, int(i), False, rng.random() < chance))
        for k, i in enumerate(rng.permutation(pool)[:half]):
            m = judged[k % len(judged)]
            chance = ndtr(reals + SENSITIVITIES[m] + readiness + skill / 2 + of_fakes[m, i])
            columns.append((m, person, int((m + 1) * pool + i), True, rng.random() < chance))
    side, evaluator, picture, is_fake, said_fake = map(np.array, zip(*columns, strict=True))
    _, picture = np.unique(picture, return_inverse=True)
    return Design(
        sides, side, evaluator, picture, is_fake, said_fake, int(evaluator.max()) + 1, int(picture.max()) + 1
    )


def sampled(design: Design, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return draws of the sides, shape (draws, sides), and of the logarithms of the SDs, (draws, 4)."""
    sides, people = len(design.sides), design.evaluators
    fixed = np.zeros((len(design.side), sides + 2 * people))
    rows = np.arange(len(design.side))
    fixed[rows, design.side] = 1
    fixed[rows, sides + design.evaluator] = 1
    fixed[rows, sides + people + design.evaluator] = np.where(design.is_fake, 0.5, -0.5)
    gram, fakes = fixed.T @ fixed, design.is_fake_picture
    seen = np.bincount(design.picture, minlength=design.pictures)
    effects, pictures, log_sds = np.zeros(fixed.shape[1]), np.zeros(design.pictures), np.log(np.full(4, 0.5))
    kept_sides, kept_sds = [], []
    for draw in range(_DRAWS):
        predictor = fixed @ effects + pictures[design.picture]
        below = ndtr(-predictor)
        uniform = rng.random(len(rows))
        chance = np.where(design.said_fake, below + uniform * (1 - below), uniform * below)
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
        if draw >= _BURN_IN:
            kept_sides.append(effects[:sides])
            kept_sds.append(log_sds.copy())
    return np.array(kept_sides), np.array(kept_sds)


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
    shift = ratio = spread = 0.0
    for is_mixed, people in ((True, 24), (False, 10)):
        design = simulated(np.random.default_rng(11), is_mixed, people, trials=80, pool=100)
        sides, log_sds = sampled(design, np.random.default_rng(12))
        found = fit(design)
        for m in range(len(SENSITIVITIES)):
            fakes = design.sides.index((f"m{m}", True))
            reals = design.sides.index(("", False) if is_mixed else (f"m{m}", False))
            draws, ours = sides[:, fakes] - sides[:, reals], found.sensitivity(f"m{m}")
            shift = max(shift, abs(draws.mean() - ours.mean) / draws.std())
            ratio = max(ratio, abs(ours.sd / draws.std() - 1))
        spread = max(spread, *(abs(log_sds.mean(axis=0) - found.log_sds[0]) / log_sds.std(axis=0)))
    return {
        "crossed model: mean of d' less that of a sampler, largest, in SDs": _row(shift, 0.15, "<= 0.15"),
        "crossed model: SD of d' over that of a sampler, less 1, largest": _row(ratio, 0.1, "<= 0.1"),
        "crossed model: mean log SD of effects less that of a sampler, largest, in SDs": _row(
            spread, 0.25, "<= 0.25"
        ),
    }


def _against_probit() -> dict[str, Row]:
    import statsmodels.api as sm

    design = simulated(np.random.default_rng(13), True, 30, sds=(0.0,) * 4)
    theirs = sm.Probit(design.said_fake.astype(float), np.eye(len(design.sides))[design.side]).fit(disp=0)
    state = _Posterior(design).at(np.full(4, np.log(0.001)))
    sides = len(design.sides)
    apart = np.abs(state.mean[:sides] - theirs.params) / theirs.bse
    spread = np.abs(np.sqrt(np.diagonal(state.cov)[:sides]) / theirs.bse - 1)
    return {
        "statsmodels: probit without random effects, largest difference, in SEs": _row(
            apart.max(), 0.02, "<= 0.02"
        ),
        "statsmodels: SE of probit without random effects, relative": _row(spread.max(), 0.02, "<= 0.02"),
    }


def _coverage() -> dict[str, Row]:
    found: dict[str, Row] = {}
    for name, options in {
        "30 evaluators of three models": {"is_mixed": True, "people": 30},
        "10 evaluators a model, 60 pictures a side": {"is_mixed": False, "people": 10, "pool": 60},
        "30 evaluators a model": {"is_mixed": False, "people": 30},
    }.items():
        fits = [fit(simulated(np.random.default_rng(1000 + i), **options)) for i in range(_STUDIES)]
        of_d_prime = np.mean(
            [
                _holds(one.sensitivity(f"m{m}").interval(0.95), true)
                for one in fits
                for m, true in enumerate(SENSITIVITIES)
            ]
        )
        bias = np.abs(
            np.mean([[one.sensitivity(f"m{m}").mean for m in range(3)] for one in fits], axis=0)
            - SENSITIVITIES
        ).max()
        of_pair = np.mean([_holds(one.difference("m0", "m1").interval(0.95), 0.5) for one in fits])
        found |= {
            f"crossed model: coverage of d', {name}": _between(of_d_prime),
            f"crossed model: coverage of a difference of d', {name}": _between(of_pair),
            f"crossed model: coverage of the effects' SDs, least, {name}": _between(_least_of_sds(fits)),
            f"crossed model: bias of d', largest, {name}": _row(bias, 0.03, "<= 0.03"),
        }
    return found


def _least_of_sds(fits: list[Fit]) -> float:
    held = [
        [
            _holds(one.standard_deviation(effect, 0.95)[1:], true)
            for effect, true in zip(EFFECTS, SDS, strict=True)
        ]
        for one in fits
    ]
    return float(np.mean(held, axis=0).min())


def _holds(interval: tuple[float, ...], true: float) -> bool:
    return interval[0] <= true <= interval[1]


def _between(value: float) -> Row:
    agrees_if = f"0.92 to 0.98 ({_STUDIES} studies, SE 1.1%)"
    return {"value": float(value), "agrees_if": agrees_if, "agrees": bool(0.92 <= value <= 0.98)}


def _row(value: float, most: float, agrees_if: str) -> Row:
    return {"value": float(value), "agrees_if": agrees_if, "agrees": bool(value <= most)}
