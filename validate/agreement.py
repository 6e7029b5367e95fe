"""Validation of the agreement of metrics with people: reference implementation, and coverage of intervals.

Items have a true preference (2AFC) or similarity (JND); evaluators have a bias and a noise of their own,
and answer a share of the items. A metric's distances are the truth with an error. What is true of the
population comes from one simulated study of many evaluators and items.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from backend.analysis.agreement import jnd, two_afc
from backend.analysis.agreement.item_agreement import agreement
from backend.analysis.agreement.votes import JND, TWO_AFC, Votes
from validate.studies import deviations

Row = dict[str, object]
_STUDIES = 1000
_SE = 100 * np.sqrt(0.95 * 0.05 / _STUDIES)


@dataclass(frozen=True)
class Judges:
    """A population of evaluators and of items; SDs are in units of the noise of one answer."""

    kind: str = TWO_AFC
    item_sd: float = 1.0
    """SD of the items' true differences: how much they are agreed on."""
    mean: float = 0.0
    bias_sd: float = 0.4
    """SD of the evaluators' tendency to prefer one side of the truth, or to say `same`."""
    noise: tuple[float, ...] = (0.8, 1.2)
    """SDs of the errors of the metrics a, b, ..."""
    shape: str = "normal"
    """Distribution of evaluators' tendencies, as in `studies.deviations`."""

    def study(
        self,
        items: int,
        evaluators: int,
        votes: int,
        rng: np.random.Generator,
        sets: int = 1,
    ) -> tuple[Votes, dict[str, np.ndarray]]:
        """Return the votes of one study, and the distances of the metrics.

        Args:
            votes: votes an item, of different evaluators drawn at random.
        """
        truth = self.mean + self.item_sd * rng.standard_normal(items)
        bias = self.bias_sd * deviations(self.shape, evaluators, rng)
        judges = rng.random((items, evaluators)).argpartition(votes - 1, axis=1)[:, :votes]
        answers = rng.random((items, votes)) < ndtr(truth[:, None] + bias[judges])
        noisy = [truth + noise * rng.standard_normal(items) for noise in self.noise]
        if self.kind == TWO_AFC:
            distances = [np.stack([np.zeros(items), -value], axis=1) for value in noisy]
        else:
            distances = [-value for value in noisy]
        names = tuple(f"{i:06}" for i in range(items))
        found = Votes(
            self.kind,
            names,
            tuple(f"set{i}" for i in range(sets)),
            np.arange(items) * sets // items,
            np.repeat(np.arange(items), votes),
            answers.ravel().astype(float),
            judges.ravel(),
        )
        return found, dict(zip("abcdefgh", distances, strict=False))


def run() -> dict[str, Row]:
    """Return the results by name."""
    return {**_coverage(), **_bias_of_ceilings()}


_DESIGNS = {
    "5 votes a triplet, 30 evaluators of 50": (TWO_AFC, 300, 30, 5),
    "5 votes a triplet, 10 evaluators of 50": (TWO_AFC, 100, 10, 5),
    "everyone judges the same 40 triplets, 15 evaluators": (TWO_AFC, 40, 15, 15),
    "3 votes a pair, 30 evaluators of 40": (JND, 400, 30, 3),
    "everyone judges the same 60 pairs, 15 evaluators": (JND, 60, 15, 15),
}


def judges_of(kind: str) -> Judges:
    return Judges() if kind == TWO_AFC else Judges(JND, mean=-0.4)


def _coverage() -> dict[str, Row]:
    found: dict[str, Row] = {}
    true = {kind: _true(judges_of(kind)) for kind in (TWO_AFC, JND)}
    for name, (kind, items, evaluators, votes) in _DESIGNS.items():
        held: dict[str, list[bool]] = {}
        for seed in range(_STUDIES):
            rng = np.random.default_rng([18, items, evaluators, seed])
            study, distances = judges_of(kind).study(items, evaluators, votes, rng)
            data = agreement(study, distances)
            (human, *_) = [*data["human"], None]
            rows = {"score": data["metrics"][0]["ci"], "difference of two metrics": data["pairs"][0]["ci"]}
            if human:
                rows["human ceiling"] = human["ci"]
            for what, ci in rows.items():
                held.setdefault(what, []).append(ci is not None and ci[0] <= true[kind][what] <= ci[1])
        for what, hits in held.items():
            found[f"agreement: coverage of a {kind} {what}, {name}"] = _between(float(np.mean(hits)))
    return found


def _true(judges: Judges) -> dict[str, float]:
    """Return the scores (percent) of the population, from the chance of each vote on a million items."""
    rng = np.random.default_rng(1)
    truth = judges.mean + judges.item_sd * rng.standard_normal(1_000_000)
    share = ndtr(truth / np.sqrt(1 + judges.bias_sd**2))
    noisy = [truth + noise * rng.standard_normal(len(truth)) for noise in judges.noise]
    if judges.kind == JND:
        first, second = (100 * jnd.area(-value, share) for value in noisy)
        return {"score": first, "difference of two metrics": first - second}
    first, second = (100 * two_afc.score(np.zeros(len(truth)), -value, share) for value in noisy)
    return {
        "score": first,
        "difference of two metrics": first - second,
        "human ceiling": _true_ceiling(judges),
    }


def _true_ceiling(judges: Judges) -> float:
    """Return the share (percent) of pairs of people who agree, by numerical integration over items."""
    z = np.linspace(-8, 8, 20_001)
    share = ndtr((judges.mean + judges.item_sd * z) / np.sqrt(1 + judges.bias_sd**2))
    return 100 * float(np.average(two_afc.as_printed(share), weights=np.exp(-(z**2) / 2)))


def _bias_of_ceilings() -> dict[str, Row]:
    """Return how far mean ceilings from 5 votes are from the ceiling of the population."""
    judges, printed, unbiased = Judges(), [], []
    true = _true_ceiling(judges)
    for seed in range(_STUDIES):
        study, _ = judges.study(300, 60, 5, np.random.default_rng([19, seed]))
        (row,) = agreement(study, {})["human"]
        printed.append(row["as_printed"])
        unbiased.append(row["unbiased"])
    z = np.linspace(-8, 8, 20_001)
    share = ndtr(judges.item_sd * z / np.sqrt(1 + judges.bias_sd**2))
    excess = 100 * float(np.average(2 * share * (1 - share) / 5, weights=np.exp(-(z**2) / 2)))
    agrees_if = f"<= 0.2 ({_STUDIES} studies, SE {np.std(unbiased) / np.sqrt(_STUDIES):.2f})"
    return {
        "agreement: bias of the unbiased ceiling from 5 votes (points)": _row(
            abs(np.mean(unbiased) - true), 0.2, agrees_if
        ),
        "agreement: bias of the ceiling as printed, less 2 p (1 - p) / n (points)": _row(
            abs(np.mean(printed) - true - excess), 0.2, agrees_if
        ),
    }


def _between(value: float, least: float = 0.92, most: float = 0.98) -> Row:
    agrees_if = f"{least} to {most} ({_STUDIES} studies, SE {_SE:.1f}%)"
    return {"value": value, "agrees_if": agrees_if, "agrees": bool(least <= value <= most)}


def _row(value: float, most: float, agrees_if: str) -> Row:
    return {"value": float(value), "agrees_if": agrees_if, "agrees": bool(value <= most)}
