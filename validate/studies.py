"""Simulated studies for `coverage.py`, with random evaluators and stimuli, shared pools, real displays.

HYPE-infinity: the probability of an error is Phi(m + a + b side + v), where a is the evaluator's leniency
(more errors on both sides), b their bias to "real" (side is +1 for fakes, -1 for reals), and v the
stimulus's difficulty, all normal; m sets the mean share over people and stimuli. A session shows 50 fakes
and 50 reals, or as many as the pool has.

HYPE-time: an evaluator's accuracy is a logistic function of log exposure, with a lapse rate; log thresholds
are normal, and so are the additional effects of stimuli. The staircase requests exposures in ms; the
display shows the nearest whole number of refreshes, at least one.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import expit, logit, ndtr, ndtri

from backend.analysis.table.response_table import Answers, Coded
from backend.experiment.staircase import NAMED_RULES, StaircaseRule, equilibrium_accuracy

SHOWN = 50
"""Number of fakes, and of reals, in a session of HYPE-infinity."""
SHAPES = ("normal", "skewed", "two groups")


def deviations(shape: str, size: int | tuple[int, ...] | None, rng: np.random.Generator) -> np.ndarray:
    """Return draws with mean 0 and SD 1 of a distribution between people.

    Args:
        shape: `normal`; `skewed`, exponential; or `two groups`, normal, one in seven of them 2.4 SDs above
            the others.
    """
    if shape == "skewed":
        return rng.exponential(size=size) - 1
    drawn = rng.standard_normal(size)
    if shape == "normal":
        return drawn
    return np.sqrt(0.3) * drawn + np.sqrt(0.7) * np.where(rng.random(size) < 1 / 7, 6, -1) / np.sqrt(6)


@dataclass(frozen=True)
class InfinityPopulation:
    """A population of evaluators and stimuli for HYPE-infinity; SDs are in probits."""

    rate: float
    """True share of errors (0 to 1) over people and stimuli."""
    people: float = 0.3
    """SD of `a` between evaluators."""
    pictures: float = 0.6
    leaning: float = 0.2
    pool: int | None = None
    """Number of fakes, and of reals, that evaluators share; None: nobody sees the same ones."""

    def study(self, evaluators: int, rng: np.random.Generator) -> Answers:
        """Return the responses of one study."""
        spread = np.sqrt(1 + self.people**2 + self.pictures**2 + self.leaning**2)
        middle = ndtri(self.rate) * spread
        ability = self.people * rng.standard_normal(evaluators)
        leaning = self.leaning * rng.standard_normal(evaluators)
        shown = SHOWN if self.pool is None else min(SHOWN, self.pool)
        sides = []
        for is_fake in (False, True):
            if self.pool is None:
                image = np.arange(evaluators * shown).reshape(evaluators, shown)
            elif self.pool == shown:
                image = np.tile(np.arange(shown), (evaluators, 1))
            else:
                image = rng.random((evaluators, self.pool)).argpartition(shown, axis=1)[:, :shown]
            hardness = self.pictures * rng.standard_normal(int(image.max()) + 1)
            person = ability + (leaning if is_fake else -leaning)
            wrong = rng.random(image.shape) < ndtr(middle + person[:, None] + hardness[image])
            sides.append((is_fake, image, wrong))
        return _answers("infinity", evaluators, sides)


def multi_model_study(
    population: InfinityPopulation,
    models: int,
    evaluators: int,
    rng: np.random.Generator,
    each_judges: float = 0.0,
) -> Answers:
    """Return the responses of one HYPE-infinity study of equal models, with different fakes, the same reals.

    Args:
        population: population with a shared `pool`.
        each_judges: probability that an evaluator judges a model, 1 for all models; default, different
            people for each model.
    """
    spread = np.sqrt(1 + population.people**2 + population.pictures**2 + population.leaning**2)
    middle, shown = ndtri(population.rate) * spread, min(SHOWN, population.pool)
    reals = population.pictures * rng.standard_normal(population.pool)
    parts: dict[str, list[np.ndarray]] = {name: [] for name in ("model", "person", "image", "fake", "wrong")}
    everybody = population.people * rng.standard_normal(evaluators)
    for model in range(models):
        ability, person = population.people * rng.standard_normal(evaluators), np.arange(evaluators)
        if each_judges:  # leniency correlates between models
            ability = everybody + ability / 2
        else:
            person = person + model * evaluators
        does_judge = (rng.random(evaluators) < each_judges) | (each_judges in (0, 1))
        ability, person = ability[does_judge], person[does_judge]
        for is_fake in (False, True):
            hardness = population.pictures * rng.standard_normal(population.pool) if is_fake else reals
            image = rng.random((len(person), population.pool)).argpartition(shown - 1, axis=1)[:, :shown]
            wrong = rng.random(image.shape) < ndtr(middle + ability[:, None] + hardness[image])
            parts["model"].append(np.full(image.size, model))
            parts["person"].append(np.repeat(person, shown))
            parts["image"].append((image + (1 + model) * population.pool * is_fake).ravel())
            parts["fake"].append(np.full(image.size, is_fake))
            parts["wrong"].append(wrong.ravel())
    found = {name: np.concatenate(arrays) for name, arrays in parts.items()}
    return Answers(
        "infinity",
        Coded(found["model"].astype(np.int32), [f"m{i}" for i in range(models)]),
        Coded(found["person"].astype(np.int32), list(range(models * evaluators))),
        found["fake"],
        found["fake"] != found["wrong"],
        texts={
            "stimulus": Coded(
                found["image"].astype(np.int32), list(map(str, range((models + 1) * population.pool)))
            )
        },
    )


@dataclass(frozen=True)
class TimePopulation:
    """A population for HYPE-time; a threshold is the exposure at the staircase's equilibrium accuracy."""

    threshold_ms: float
    """Threshold of the typical (median) evaluator."""
    people: float = 0.5
    """SD of log thresholds between evaluators."""
    slope: float = 2.0
    lapse: float = 0.02
    refresh_hz: float | None = 60
    pictures: float = 0.0
    """SD of log thresholds between stimuli."""
    pool: int | None = None
    """Number of fakes, and of reals, that evaluators share; None: nobody sees the same ones."""
    trials: int = 150
    blocks: int = 3
    rule: StaircaseRule = NAMED_RULES["hype-2019"]
    shape: str = "normal"
    """Distribution of log thresholds between evaluators: `normal`; `skewed`, an exponential one with the SD
    `people`; or `two groups`, of which one in seven is at 700 ms."""
    same: int | None = None
    """Seed of the effects of shared stimuli, if they are the same ones in all studies."""

    def truth(self) -> float:
        """Return the true score (ms): the mean modal exposure over the population."""
        return _truth(self)

    def study(self, evaluators: int, rng: np.random.Generator) -> Answers:
        """Return the responses of one study."""
        return self.studies(1, evaluators, rng)[0]

    def studies(self, count: int, evaluators: int, rng: np.random.Generator) -> list[Answers]:
        """Return the responses of `count` studies, simulated together."""
        people = count * evaluators
        shape = "skewed" if self.shape == "skewed" else "normal"
        threshold = np.log(self.threshold_ms) + self.people * deviations(shape, people, rng)
        if self.shape == "two groups":
            threshold[rng.random(people) < 1 / 7] += np.log(700 / self.threshold_ms)
        decks = [self._deck(count, evaluators, side, rng) for side in (False, True)]
        shown, right, sides, images = self._blocks(threshold, decks, rng)
        return [
            self._study(
                *(one[:, i * evaluators : (i + 1) * evaluators] for one in (shown, right, sides, images))
            )
            for i in range(count)
        ]

    def _deck(
        self, count: int, evaluators: int, side: bool, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return codes of stimuli, (evaluators, trials), and the effects of stimuli on log thresholds."""
        needed = self.trials * self.blocks // 2
        people = count * evaluators
        if self.pool is None:
            codes = np.arange(people * needed).reshape(people, needed)
            return codes, self.pictures * rng.standard_normal(people * needed)
        order = rng.random((people, self.pool)).argsort(axis=1)[:, :needed]
        study = np.repeat(np.arange(count), evaluators)[:, None]
        shape, of_pictures = (count, self.pool), rng
        if self.same is not None:
            shape, of_pictures = (1, self.pool), np.random.default_rng([self.same, side])
        effects = np.broadcast_to(of_pictures.standard_normal(shape), (count, self.pool)).ravel()
        return study * self.pool + order, self.pictures * effects

    def _blocks(self, threshold: np.ndarray, decks: list, rng: np.random.Generator) -> tuple:
        people, rule = np.arange(len(threshold)), self.rule
        equilibrium = equilibrium_accuracy(rule)
        middle = threshold - logit((equilibrium - 0.5) / (0.5 - self.lapse)) / self.slope
        total = self.trials * self.blocks
        shown, right = np.empty((total, len(people))), np.empty((total, len(people)), bool)
        sides, images = np.empty((total, len(people)), bool), np.empty((total, len(people)), int)
        taken = np.zeros((2, len(people)), int)
        halves = np.arange(self.trials) % 2 == 1
        for block in range(self.blocks):
            order = rng.random((self.trials, len(people))).argsort(axis=0)
            ms, in_a_row = np.full(len(people), float(rule.start_ms)), np.zeros(len(people), int)
            for trial in range(self.trials):
                place = block * self.trials + trial
                side = halves[order[trial]]
                index = taken[side.astype(int), people]
                taken[side.astype(int), people] += 1
                image = np.where(side, decks[1][0][people, index], decks[0][0][people, index])
                hard = np.where(
                    side, decks[1][1][image % len(decks[1][1])], decks[0][1][image % len(decks[0][1])]
                )
                chance = 0.5 + (0.5 - self.lapse) * expit(
                    self.slope * (np.log(self._displayed(ms)) - middle - hard)
                )
                was_right = rng.random(len(people)) < chance
                shown[place], right[place], sides[place], images[place] = ms, was_right, side, image
                in_a_row = np.where(was_right, in_a_row + 1, 0)
                falls = in_a_row >= rule.right_to_descend
                in_a_row[falls] = 0
                step = np.where(falls, -rule.down_ms, np.where(was_right, 0, rule.up_ms))
                ms = np.clip(ms + step, rule.min_ms, rule.max_ms)
        return shown, right, sides, images

    def _displayed(self, ms: np.ndarray) -> np.ndarray:
        if self.refresh_hz is None:
            return ms
        frame = 1000 / self.refresh_hz
        return np.maximum(1, np.round(ms / frame)) * frame

    def _study(self, shown: np.ndarray, right: np.ndarray, is_fake: np.ndarray, image: np.ndarray) -> Answers:
        evaluators = shown.shape[1]
        person = np.tile(np.arange(evaluators, dtype=np.int32), (len(shown), 1)).T.ravel()
        fake = is_fake.T.ravel()
        trial = np.tile(np.arange(len(shown)), evaluators)
        names, codes = np.unique(image.T.ravel() * 2 + fake, return_inverse=True)
        return Answers(
            "time",
            Coded(np.zeros(len(person), np.int32), ["m"]),
            Coded(person, list(range(evaluators))),
            fake,
            fake == right.T.ravel(),
            block=(trial // self.trials).astype(np.int32),
            exposure_ms=shown.T.ravel(),
            texts={"stimulus": Coded(codes.astype(np.int32), names.astype(str).tolist())}
            if self.pool
            else {},
            numbers={"trial_index": trial.astype(float)},
        )


@cache
def _truth(population: TimePopulation) -> float:
    """Return the mean modal exposure (ms) in one block of 40,000 people, each with their own stimuli."""
    from dataclasses import replace

    from backend.analysis.table.evaluator_values import modal_exposures

    alone = replace(population, pool=None, blocks=1)
    rng = np.random.default_rng(99)
    total = 0.0
    for _ in range(8):
        answers = alone.study(5000, rng)
        total += float(modal_exposures(answers)[1].mean())
    return total / 8


def _answers(method: str, evaluators: int, sides: list) -> Answers:
    person = [np.repeat(np.arange(evaluators, dtype=np.int32), image.shape[1]) for _, image, _ in sides]
    is_fake = [np.full(image.size, fake) for fake, image, _ in sides]
    image = np.concatenate([2 * image.ravel() + fake for fake, image, _ in sides])
    wrong = np.concatenate([wrong.ravel() for _, _, wrong in sides])
    names, codes = np.unique(image, return_inverse=True)
    fake = np.concatenate(is_fake)
    return Answers(
        method,
        Coded(np.zeros(len(fake), np.int32), ["m"]),
        Coded(np.concatenate(person), list(range(evaluators))),
        fake,
        fake != wrong,
        texts={"stimulus": Coded(codes.astype(np.int32), names.astype(str).tolist())},
    )
