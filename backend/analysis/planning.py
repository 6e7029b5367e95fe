"""Planning of studies: evaluators, cost and time for an aim, and the number of images of least cost.

An evaluator costs F to take part and C for each image. For a wanted variance of the score, the cost of n
evaluators of k images is proportional to (F + C k) (B + W / k), where B and W are the variances of
`spreads.py`. The minimum is at k = sqrt(F W / (C B)) (Cochran, 1977, section 10.6: two-stage sampling).
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from backend.analysis.costs import Costs
from backend.analysis.power import FEWEST, evaluators_for_power, evaluators_for_width, width
from backend.analysis.spreads import Spread
from backend.foundation.errors import InvalidInput

PANEL_COSTS = {
    "infinity": Costs(base_usd_cents=100, hourly_usd_cents=1200),
    "time": Costs(base_usd_cents=100, hourly_usd_cents=1200, image_seconds=8),
}
"""Typical pay at a panel: $1.00 for taking part (consent, instructions, qualification: HYPE 2.3), $12 an hour
for the time that images take, and $0.02 more for each right answer. 450 flashes take an hour."""
CURVE = (5, *range(10, 125, 5))
"""Numbers of evaluators in the figure."""
IMAGES = tuple(range(4, 201, 4))
"""Numbers of images for each evaluator in the figure."""
_FEW = 10
_DEFAULT_WIDTH = {"infinity": 5.0, "time": 100.0}
_UNITS = {"infinity": "percent", "time": "ms"}


@dataclass(frozen=True)
class Aim:
    """The precision or power that a study should have, in the score's unit."""

    width: float | None = None
    """Width of the interval of a score."""
    difference: float | None = None
    """Difference between two models that should be found significant."""
    power: float = 0.8
    level: float = 0.95
    models: int | None = None
    """Number of models in the study: by default two with a `difference`, else one. With three or more,
    Tukey's test is planned for as well."""

    @property
    def model_count(self) -> int:
        """`models`, or its default."""
        return self.models or (1 if self.difference is None else 2)

    def __post_init__(self) -> None:
        for name in ("width", "difference"):
            value = getattr(self, name)
            if value is not None and not 0 < value < math.inf:
                raise InvalidInput(f"{name} must be a number above 0, not {value}")
        for name in ("power", "level"):
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
) -> dict[str, Any]:
    """Return the plan as plain data: a row for each spread, with its assumptions in `assumptions`.

    Without an aim, an interval 5 points (HYPE-time: 100 ms) wide is planned for. Money is in dollars, for
    the complete study of `aim.models` models; evaluators are those of each model.

    Args:
        images: number that an evaluator judges; default, that of the spread.
        most_images: maximum number for an evaluator, half of them real.

    Raises:
        InvalidInput: a number out of range, or images for HYPE-time.
    """
    _check_images(method, images, most_images)
    aim = _completed(aim, method)
    rows = [_row(spread, aim, costs, images, most_images) for spread in spreads]
    return {
        "method": method,
        "unit": _UNITS[method],
        "aim": asdict(aim),
        "costs": asdict(costs),
        "rows": rows,
        "assumptions": [*_assumptions(spreads, method, aim, costs, rows, most_images)],
    }


def best_images(spread: Spread, costs: Costs, most: int) -> int:
    """Return the even number of images for each evaluator, up to `most`, at which an interval costs least."""
    fixed, each = costs.base_usd_cents, costs.image_usd_cents(spread.accuracy)
    return _least(*spread.components, fixed, each, most)


def quickest_images(spread: Spread, costs: Costs, most: int) -> int:
    """Return the even number of images at which a wanted interval takes the least time of evaluators."""
    return _least(*spread.components, costs.base_seconds, costs.image_seconds, most)


def _least(between: float, within: float, fixed: float, each: float, most: int) -> int:
    if between == 0 or each == 0:
        return most if within > 0 else 2
    free = math.sqrt(fixed * within / (each * between))
    below = min(max(2, 2 * math.floor(free / 2)), most)
    return min((below, min(below + 2, most)), key=lambda k: (fixed + each * k) * (between + within / k))


def _completed(aim: Aim, method: str) -> Aim:
    """Return the aim with defaults for what is not set."""
    is_open = aim.width is None and aim.difference is None
    return replace(
        aim,
        width=_DEFAULT_WIDTH[method] if is_open else aim.width,
        models=aim.model_count,
    )


def _row(spread: Spread, aim: Aim, costs: Costs, images: int | None, most: int) -> dict[str, Any]:
    usual = images or round(spread.images)
    row = {
        "model": spread.model,
        "score": spread.score,
        "sd": spread.sd_at(images or spread.images),
        "between_sd": None if spread.between is None else math.sqrt(spread.between),
        "within_sd": None if spread.within is None else math.sqrt(spread.within / usual),
        "images": usual,
        **_needs(spread, aim, costs, images or spread.images),
        "best": None,
        "curve": _curve(spread, aim, costs, usual),
    }
    if spread.between is not None:
        row["best"] = _best(spread, aim, costs, row, most)
        row["by_images"] = [
            {"images": k, "usd": _needs(spread, aim, costs, k)["usd"]} for k in IMAGES if k <= most
        ]
    return row


def _needs(spread: Spread, aim: Aim, costs: Costs, images: float) -> dict[str, Any]:
    """Return the number of evaluators of each model that the aim requires, and the cost of the study."""
    sd, needed = spread.sd_at(images), {}
    if aim.width is not None:
        needed["width"] = evaluators_for_width(spread, aim.width, images, aim.level)
    if aim.difference is not None:
        needed["difference"] = _for_difference(sd, aim.difference, aim)
        if aim.model_count > 2:
            needed["tukey"] = _for_difference(sd, aim.difference, aim, aim.model_count)
    count = max(needed.values())
    return {"evaluators": count, "evaluators_for": needed, **_cost(spread, aim, costs, count, images)}


def _for_difference(sd: float, difference: float, aim: Aim, tukey_models: int | None = None) -> int:
    if sd == 0:
        return FEWEST
    return evaluators_for_power(difference / sd, aim.power, aim.level, tukey_models)


def _cost(spread: Spread, aim: Aim, costs: Costs, evaluators: int, images: float) -> dict[str, float]:
    people = evaluators * aim.model_count
    total = people * costs.evaluator_usd_cents(images, spread.accuracy) / 100
    pay = total / costs.with_fee
    return {"usd": total, "pay_usd": pay, "fee_usd": total - pay, "hours": costs.study_hours(people, images)}


def _best(spread: Spread, aim: Aim, costs: Costs, usual: dict[str, Any], most: int) -> dict[str, Any]:
    """Return the plan with the number of images of least cost, and its savings.

    `saving_usd` is the difference of two plans with integer numbers of evaluators; `saving_share` is the
    relative saving at exactly the same interval.
    """
    images = best_images(spread, costs, most)
    needs = _needs(spread, aim, costs, images)
    prices = [
        costs.evaluator_usd_cents(k, spread.accuracy) * spread.sd_at(k) ** 2
        for k in (images, usual["images"])
    ]
    return {
        "images": images,
        **needs,
        "saving_usd": usual["usd"] - needs["usd"],
        "saving_share": 1 - prices[0] / prices[1] if prices[1] > 0 else 0.0,
        "quickest_images": quickest_images(spread, costs, most),
    }


def _curve(spread: Spread, aim: Aim, costs: Costs, images: float) -> list[dict[str, float]]:
    return [
        {
            "evaluators": count,
            "width": width(spread, count, images, aim.level),
            **_cost(spread, aim, costs, count, images),
        }
        for count in CURVE
    ]


def _check_images(method: str, images: int | None, most_images: int) -> None:
    if method not in _UNITS:
        raise InvalidInput(f"method must be 'infinity' or 'time', not {method!r}")
    if images is not None and method == "time":
        raise InvalidInput(
            "images go with HYPE-infinity; the spread of HYPE-time is known only for sessions as long as "
            "those it was seen in"
        )
    for name, value in (("images", images), ("most_images", most_images)):
        if value is not None and (value < 2 or value % 2):
            raise InvalidInput(f"{name} must be an even number from 2, half of them being real, not {value}")


def _assumptions(
    spreads: Sequence[Spread], method: str, aim: Aim, costs: Costs, rows: Sequence[dict[str, Any]], most: int
) -> Iterator[str]:
    """Yield the assumptions behind the numbers, as sentences."""
    yield from _of_aim(aim, any(spread.values is not None for spread in spreads))
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
    if method == "time":
        yield (
            "a HYPE-time score is not a mean over images, so there is no best number of images; sessions "
            "are assumed to be as long as those of the SDs"
        )
    yield from _of_spreads(spreads, most)
    if min(part["evaluators"] for row in rows for part in (row, row["best"] or row)) < _FEW:
        yield (
            f"with fewer than {_FEW} evaluators a percentile interval of 95% covers less than 90%; "
            f"take {_FEW} or more"
        )


def _of_aim(aim: Aim, is_pilot: bool) -> Iterator[str]:
    source = "the exact bootstrap of the pilot's values" if is_pilot else "a normal distribution"
    if aim.width is not None:
        yield f"widths are those of {source}, on average; a study's own evaluators spread more or less"
    if aim.difference is not None:
        yield (
            f"power {aim.power:g} of a two-sided t-test at {1 - aim.level:g}, both models with the SD of "
            "the row"
        )
        if aim.model_count > 2:
            yield (
                f"Tukey's test over {aim.model_count} models asks more of a pair than the t-test; it is "
                "planned"
            )


def _of_spreads(spreads: Sequence[Spread], most: int) -> Iterator[str]:
    clipped = [spread.model for spread in spreads if spread.is_clipped]
    if clipped:
        yield (
            f"{', '.join(clipped)}: images explain all of the spread; the variance between evaluators is "
            f"taken for 0, and the more images the better, up to {most}"
        )
    still = [spread.model for spread in spreads if spread.sd == 0]
    if still:
        yield f"{', '.join(still)}: all evaluators have one value, from which no number of evaluators follows"
    if all(spread.values is None for spread in spreads):
        yield "SDs are read off the papers' bootstrap tables; those of a pilot (--pilot) are better"
