"""The cost of evaluators, and the duration of a study."""

import math
from dataclasses import dataclass

from backend.experiment.money import check_fee
from backend.foundation.errors import InvalidInput

_AMOUNTS = (
    "base_usd_cents", "right_usd_cents", "hourly_usd_cents", "image_seconds", "base_seconds",
)  # fmt: skip


@dataclass(frozen=True)
class Costs:
    """Pay and time of one evaluator; money in US cents. Defaults are the papers' (HYPE 2.3, 4.3)."""

    base_usd_cents: float = 0.0
    """Pay for taking part: consent, instructions, qualification."""
    right_usd_cents: float = 2.0
    """Pay for each right answer."""
    hourly_usd_cents: float = 0.0
    """Wage for the time that images take; the base pays for taking part."""
    fee_percent: float = 0.0
    """The panel's fee in addition to the pay; 25 is a quarter."""
    image_seconds: float = 6.0
    """100 images take about 10 minutes (HYPE 2.2)."""
    base_seconds: float = 60.0
    """Time for consent and instructions."""
    at_once: int = 10
    """Evaluators who take part at the same time."""

    def __post_init__(self) -> None:
        for name in _AMOUNTS:
            value = getattr(self, name)
            if not 0 <= value < math.inf:
                raise InvalidInput(f"{name} must be 0 or more, not {value}")
        check_fee(self.fee_percent)
        if self.at_once < 1:
            raise InvalidInput(f"at_once must be 1 or more, not {self.at_once}")

    def evaluator_usd_cents(self, images: float, accuracy: float) -> float:
        """Return the cost of an evaluator who judges `images` with `accuracy` (0 to 1), fee included."""
        return (self.base_usd_cents + self.image_usd_cents(accuracy) * images) * self.with_fee

    @property
    def with_fee(self) -> float:
        """Amount paid to the panel for each cent that an evaluator receives."""
        return 1 + self.fee_percent / 100

    def image_usd_cents(self, accuracy: float) -> float:
        """Return the pay for judging an image, without the panel's fee."""
        return self.right_usd_cents * accuracy + self.hourly_usd_cents * self.image_seconds / 3600

    def evaluator_seconds(self, images: float) -> float:
        """Return the time that an evaluator needs for `images`."""
        return self.base_seconds + self.image_seconds * images

    def study_hours(self, evaluators: int, images: float) -> float:
        """Return the hours that all evaluators need, `at_once` of them at a time."""
        return math.ceil(evaluators / self.at_once) * self.evaluator_seconds(images) / 3600
