"""Planning of studies: evaluators, cost and time for an aim, and the number of images of least cost.

Evaluators are those with which the interval is as narrow as wanted with the probability `assurance`, and the
test finds the difference with the probability `power`, as `power.py` has both. An evaluator costs a fixed
amount to take part and an amount for each image, so that few images take many evaluators and many images are
dear: the number of least cost is searched for among those of `IMAGES`. A session that shows several models
counts as an evaluator of each.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from backend.analysis.planning.costs import Costs
from backend.analysis.planning.power import MOST, evaluators_for, other_score, power, width
from backend.analysis.planning.spread import PRIOR_DF, Spread
from backend.analysis.planning.tournament_spreads import PEOPLE_SD
from backend.experiment.groups.stimuli import MOST_MODELS
from backend.experiment.judgment import Planning
from backend.experiment.judgments import METHODS, method_named
from backend.experiment.observer import LOGITS, PICTURE_SD
from backend.foundation.errors import InvalidInput

CURVE = (5, *range(10, 125, 5))
"""Numbers of evaluators in the figure."""
IMAGES = tuple(range(4, 201, 4))
"""Numbers of images for each evaluator in the figure."""
_DEFAULT_WIDTH = {"percent": 5.0, "ms": 100.0, "log-odds": 0.5}
UNITS = {"percent": "points", "ms": "ms", "log-odds": "log-odds"}
"""Units in words."""


@dataclass(frozen=True)
class Aim:
    """The precision or power that a study should have, in the score's unit."""

    width: float | None = None
    """Width of the interval of a score."""
    assurance: float = 0.8
    """Probability that the interval is no wider."""
    difference: float | None = None
    """Difference between two models that should be found significant."""
    power: float = 0.8
    level: float = 0.95
    models: int | None = None
    """Number of models in the study: by default two with a `difference`, else one; if sessions show all, at
    least the pilot's. With three or more, the test is that of all pairs, except in a tournament."""

    @property
    def model_count(self) -> int:
        """`models`, or its default."""
        return self.models or (1 if self.difference is None else 2)

    def __post_init__(self) -> None:
        for name in ("width", "difference"):
            value = getattr(self, name)
            if value is not None and not 0 < value < math.inf:
                raise InvalidInput(f"{name} must be a number above 0, not {value}")
        for name in ("power", "level", "assurance"):
            value = getattr(self, name)
            if not 0 < value < 1:
                raise InvalidInput(f"{name} must be between 0 and 1, such as 0.8, not {value}")
        fewest = 1 if self.difference is None else 2
        if self.models is not None and self.models < fewest:
            what = "models" if fewest == 1 else "models that are to differ"
            raise InvalidInput(f"{what} must be {fewest} or more, not {self.models}")


def plan(
    spreads: Sequence[Spread],
    method: str,
    aim: Aim,
    costs: Costs,
    images: int | None = None,
    most_images: int = 200,
    pictures: int | None = None,
    models_per_session: int | None = None,
) -> dict[str, Any]:
    """Return the plan as plain data: a row for each spread, with its assumptions in `assumptions`.

    Without an aim, an interval 5 points (HYPE-time: 100 ms, a tournament: 0.5 log-odds) wide is planned for.
    Money is in dollars, for the complete study of `aim.models` models; `evaluators` are those of each model,
    `people` those of the study, and None, with the reason in `why_none`, where no number reaches the aim.

    Args:
        images: number that an evaluator judges; default, that of the spread.
        most_images: maximum number for an evaluator.
        pictures: number of each model, and of reals, from which evaluators' are drawn; default, the papers'
            5,000, or that of the pilot.
        models_per_session: models that a session shows; default, one or as many as in the pilot, and all of
            them where the method shows all.

    Raises:
        InvalidInput: a number out of range, images or several models a session for HYPE-time, or a difference
            for 2AFC.
    """
    unit = spreads[0].scale
    _check(method, aim, images, most_images, pictures, models_per_session)
    is_open = aim.width is None and aim.difference is None
    aim = replace(
        aim, width=_DEFAULT_WIDTH[unit] if is_open else aim.width, models=_models(aim, spreads, method)
    )
    spreads = _in_study(spreads, aim, _at_once(aim, spreads, method, models_per_session), pictures)
    if pictures is not None and images is not None and images > min(each.most_images for each in spreads):
        raise InvalidInput(
            f"an evaluator judges a picture once: {pictures} pictures a side are too few for {images} images"
        )
    rows = [_row(spread, aim, costs, images, most_images) for spread in spreads]
    return {
        "method": method,
        "unit": unit,
        "aim": asdict(aim),
        "costs": asdict(costs),
        "rows": rows,
        "assumptions": [*_assumptions(spreads, method, aim, costs, pictures)],
    }


def shows_all(method: str) -> bool:
    """Return whether every session shows all models, as in tournaments and of sets of pairs."""
    return method_named(method).protocol.stimuli.models_per_session == MOST_MODELS


def _models(aim: Aim, spreads: Sequence[Spread], method: str) -> int:
    if aim.models or not shows_all(method):
        return aim.model_count
    lost = spreads[0].centred
    return max(round(1 / lost) if lost else spreads[0].models, aim.model_count)


def _at_once(aim: Aim, spreads: Sequence[Spread], method: str, wanted: int | None) -> int:
    """Return how many models a session shows."""
    if shows_all(method):
        return aim.model_count
    return min(wanted or spreads[0].models, aim.model_count)


def _in_study(spreads: Sequence[Spread], aim: Aim, at_once: int, pictures: int | None) -> list[Spread]:
    """Return the spreads as the study has them; a difference is that of all exposures."""
    if aim.difference is not None:
        spreads = [spread for spread in spreads if spread.part == 1]
    return [
        (spread if pictures is None else spread.with_pictures(pictures)).in_sessions_of(at_once)
        for spread in spreads
    ]


def planning_of(method: str) -> Planning:
    """Return how studies of a method are planned.

    Raises:
        InvalidInput: they are not, so that its responses cannot be a pilot.
    """
    if own := method_named(method).planning:
        return own
    methods = (judgment.methods[name] for name, judgment in METHODS.items())
    *titles, last = sorted(each.title for each in methods if each.planning)
    raise InvalidInput(
        f"plans are for {', '.join(titles)} and {last}; these responses are of "
        f"{method_named(method).title}; `openhype simulate` shows how results may look"
    )


def panel_costs(method: str) -> Costs:
    """Return typical pay at a panel.

    It is $1.00 for taking part (consent, instructions, qualification: HYPE 2.3), $12 an hour for the time
    that images take (450 flashes take an hour), and $0.02 more for each right answer.
    """
    own = planning_of(method)
    return Costs(100, own.right_usd_cents, 1200, image_seconds=own.image_seconds)


def _row(spread: Spread, aim: Aim, costs: Costs, images: int | None, most: int) -> dict[str, Any]:
    usual = images or round(spread.images)
    needs = _needs(spread, aim, costs, images or spread.images)
    row = {
        "model": spread.model,
        "score": spread.score,
        "sd": spread.sd_at(images or spread.images),
        "evaluators_sd": math.sqrt(spread.between) if spread.has_images else None,
        "pictures_sd": math.sqrt(spread.of_picture) if spread.has_images else None,
        "pictures": _finite(min(spread.pictures)),
        "images": usual,
        **needs,
        "best": None,
        "curve": _curve(spread, aim, costs, usual),
    }
    if spread.has_images:
        each, near = {usual: needs}, needs["evaluators"]
        for k in IMAGES:
            if k <= min(most, spread.most_images):
                each[k] = _needs(spread, aim, costs, k, near)
                near = each[k]["evaluators"]
        row["by_images"] = [{"images": k, "usd": each[k]["usd"]} for k in sorted(each)]
        row["best"] = _best(each, costs, usual)
    return row


def _needs(spread: Spread, aim: Aim, costs: Costs, images: float, near: int | None = None) -> dict[str, Any]:
    """Return the number of evaluators of each model that the aim requires, and the cost of the study."""
    needed: dict[str, int | None] = {}
    start, models = near or 30, max(aim.model_count, 2)
    if (wanted := aim.width) is not None:
        needed["width"] = evaluators_for(
            lambda n: width(spread, n, images, aim.level, aim.assurance) <= wanted, start
        )
    if (difference := aim.difference) is not None:
        needed["difference"] = (
            None
            if other_score(spread, difference) is None
            else evaluators_for(
                lambda n: power(spread, difference, n, images, aim.level, models) >= aim.power, start
            )
        )
    if not spread.varies:
        needed = dict.fromkeys(needed)
    known = [count for count in needed.values() if count is not None]
    count = max(known) if len(known) == len(needed) else None
    why = None if count else "; ".join(_why_none(spread, aim, images, needed))
    return {
        "evaluators": count,
        "evaluators_for": needed,
        "why_none": why,
        "people": None if count is None else _people(spread, aim, count),
        **_cost(spread, aim, costs, count, images),
    }


def _people(spread: Spread, aim: Aim, evaluators: int) -> int:
    """Return the evaluators of a study from those of each model."""
    return math.ceil(evaluators * aim.model_count / min(spread.models, aim.model_count))


def _why_none(spread: Spread, aim: Aim, images: float, needed: Mapping[str, int | None]) -> Iterator[str]:
    """Yield the reasons for which no number of evaluators suffices."""
    if not spread.varies:
        yield "all evaluators have one value, from which no number of evaluators follows"
        return
    unit = UNITS[spread.scale]
    least = width(spread, MOST, images, aim.level, aim.assurance)
    digits = 2 if spread.scale == "log-odds" else 1
    are_pictures = spread.covariance > spread.sd_at(images) ** 2 / MOST
    lost = (
        f"the shared pictures alone make the interval {least:.{digits}f} {unit} wide; show more of them"
        if are_pictures
        else f"more than {MOST:,} evaluators would be needed"
    )
    if needed.get("width", 1) is None:
        yield lost
    if needed.get("difference", 1) is None:
        if other_score(spread, aim.difference or 0.0) is None:
            low, high = spread.range
            yield (
                f"no score differs by {aim.difference:g} {unit} from {spread.score:.1f}, scores being from "
                f"{low:g} to {high:g}"
            )
        elif needed.get("width", 1) is not None:
            yield lost


def _cost(spread: Spread, aim: Aim, costs: Costs, evaluators: int | None, images: float) -> dict[str, Any]:
    if evaluators is None:
        return dict.fromkeys(("usd", "pay_usd", "fee_usd", "hours"))
    people = _people(spread, aim, evaluators)
    total = people * costs.evaluator_usd_cents(images, spread.accuracy) / 100
    pay = total / costs.with_fee
    return {"usd": total, "pay_usd": pay, "fee_usd": total - pay, "hours": costs.study_hours(people, images)}


def _best(each: Mapping[int, dict[str, Any]], costs: Costs, usual: int) -> dict[str, Any] | None:
    """Return the plan with the number of images of least cost; None if no number reaches the aim."""
    possible = [k for k in sorted(each) if each[k]["evaluators"] is not None]
    if not possible:
        return None
    images = min(possible, key=lambda k: each[k]["usd"])
    saved = each[usual]["usd"]
    return {
        "images": images,
        **each[images],
        "saving_usd": None if saved is None else saved - each[images]["usd"],
        "quickest_images": min(possible, key=lambda k: each[k]["evaluators"] * costs.evaluator_seconds(k)),
    }


def _curve(spread: Spread, aim: Aim, costs: Costs, images: float) -> list[dict[str, Any]]:
    return [
        {
            "evaluators": count,
            "width": width(spread, count, images, aim.level, aim.assurance),
            **_cost(spread, aim, costs, count, images),
        }
        for count in CURVE
    ]


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def _check(
    method: str,
    aim: Aim,
    images: int | None,
    most_images: int,
    pictures: int | None,
    models_per_session: int | None,
) -> None:
    own = planning_of(method)
    if method_named(method).unit == "ms" and (images is not None or (models_per_session or 1) > 1):
        raise InvalidInput(
            "images go with shares; the spread of HYPE-time is known only for sessions as long as those in "
            "which it was seen, of one model"
        )
    if aim.difference is not None and own.difference is None:
        raise InvalidInput(
            f"{method_named(method).title} has no test between sets, since which picture is p1 has no "
            "meaning; plan a width"
        )
    if aim.models is not None and aim.models < own.fewest_models:
        raise InvalidInput(f"a tournament has two models or more, not {aim.models}")
    for name, value in (("images", images), ("most_images", most_images)):
        if value is not None and (value < 2 or (own.is_halved and value % 2)):
            even = "an even number from 2, half of them being real" if own.is_halved else "2 or more"
            raise InvalidInput(f"{name} must be {even}, not {value}")
    if pictures is not None and pictures < 2:
        raise InvalidInput(f"pictures must be 2 or more of each side, not {pictures}")
    if models_per_session is not None and models_per_session < 1:
        raise InvalidInput(f"models_per_session must be 1 or more, not {models_per_session}")


def _assumptions(
    spreads: Sequence[Spread], method: str, aim: Aim, costs: Costs, pictures: int | None
) -> Iterator[str]:
    """Yield the assumptions behind the numbers, as sentences."""
    if aim.width is not None:
        yield (
            f"in {aim.assurance:.0%} of studies the interval over evaluators and pictures is at most "
            f"{aim.width:g} {UNITS[spreads[0].scale]} wide"
        )
    if aim.difference is not None:
        yield (
            f"power {aim.power:g} of the test over evaluators and pictures at {1 - aim.level:g}"
            + _pair(spreads[0], aim)
        )
    yield from _of_sessions(spreads, aim)
    yield (
        f"an evaluator is paid ${costs.base_usd_cents / 100:.2f} for taking part, "
        f"${costs.hourly_usd_cents / 100:.2f} an hour for the time that images take "
        f"({costs.image_seconds:g} s each), and ${costs.right_usd_cents / 100:.2f} for each right answer; "
        f"the panel takes {costs.fee_percent:g}% on top"
    )
    yield (
        f"hours: {costs.at_once} evaluators at a time, each with {costs.base_seconds:g} s of consent and "
        "instructions besides the images"
    )
    if method_named(method).unit == "ms":
        yield (
            "a HYPE-time score is not a mean over images, so there is no best number of images; sessions "
            "are assumed to be as long as those of the SDs"
        )
    yield from _of_spreads(spreads, pictures)


def _pair(spread: Spread, aim: Aim) -> str:
    """Return which pair the test is of."""
    if spread.scale == "log-odds":
        return ", of the pair alone; its models are as far above the mean of all as below it"
    several = aim.model_count > 2
    corrected = " within evaluators, corrected for all (Holm)" if spread.models > 1 and several else ""
    return (
        f", for one pair among {aim.model_count} models{corrected}" if several else ""
    ) + "; the other model has the score at which evaluators vary more"


def _of_sessions(spreads: Sequence[Spread], aim: Aim) -> Iterator[str]:
    """Yield what is assumed where sessions show several models, or several exposures."""
    if any(spread.part < 1 for spread in spreads):
        yield "each evaluator sees all exposures, each equally often"
    first = spreads[0]
    if first.models == 1:
        return
    if first.scale == "log-odds":
        yield "pairs meet equally often, and every evaluator judges all models"
        return
    yield f"a session shows {first.models} of {aim.model_count} models, which share its images"
    if aim.difference is not None:
        yield (
            f"{first.alike:.0%} of the variance between evaluators is alike for all models of a session, as "
            "in the pilot"
            if first.alike is not None
            else "how an evaluator differs from others is taken as unrelated from model to model; a pilot of "
            "such sessions may show that fewer evaluators suffice"
        )


def _of_spreads(spreads: Sequence[Spread], pictures: int | None) -> Iterator[str]:
    first = spreads[0]
    if first.df == first.of_picture_df == PRIOR_DF:
        yield (
            f"evaluators differ by {PEOPLE_SD:g} log-odds in what they think of a model, and its pictures by "
            f"{LOGITS * PICTURE_SD:.2g}, as simulated ones do; how far off that may be is part of the plan, "
            "and a pilot (--pilot) tells more"
        )
        yield from _of_pictures(spreads, pictures)
        return
    clipped = [spread.model for spread in spreads if spread.is_clipped]
    if clipped:
        yield (
            f"{', '.join(clipped)}: images explain all of the spread; evaluators are taken to differ as much "
            "as so few of them leave open"
        )
    # those of a tournament are of all models together
    people = {round(spread.df * (spread.centred / (1 - spread.centred) or 1)) + 1 for spread in spreads}
    fewest = f"{min(people)} to {max(people)}" if len(people) > 1 else f"{min(people)}"
    yield f"the SDs are those of {fewest} evaluators; how far off they may be is part of the plan"
    if first.has_images:
        yield from _of_pictures(spreads, pictures)


def _of_pictures(spreads: Sequence[Spread], pictures: int | None) -> Iterator[str]:
    counts = [min(spread.pictures) for spread in spreads]
    shown = f"{min(counts):,.0f}" if math.isfinite(min(counts)) else "very many"
    of_what = "of each model" if spreads[0].centred else "a side"
    yield (
        f"{shown} pictures {of_what}, from which each evaluator's are sampled"
        + ("" if pictures else " (--pictures plans for others)")
    )
