"""Pay, and what it follows from."""

from backend.experiment import money
from backend.experiment.setting_groups import Group, setting
from backend.foundation.errors import under
from backend.foundation.frozen import dataclass


@dataclass(frozen=True)
class PaySettings(Group):
    """What evaluators earn. Money in cents of the currency."""

    currency: str = setting(
        "USD",
        "currency of all pay: `USD`, or `GBP`, whose cents are pence",
        choices=tuple(money.CURRENCIES),
        label="Currency",
        choice_labels=("US dollars", "pounds sterling"),
        meaning="Currency of all pay.",
    )
    base_usd_cents: int = setting(
        0,
        "pay for taking part, whatever the answers; where the panel pays and nothing is set, 100 for a "
        "qualification",
        0,
        100000,
        label="Pay for taking part (cents)",
        asked=6,
        meaning="Who finishes gets it, whatever the answers.",
    )
    bonus_usd_cents: int = setting(
        0,
        "pay for each right answer; where the panel pays and nothing is set, 2 for a study",
        0,
        1000,
        label="Pay for each right answer (cents)",
        asked=7,
        meaning="It comes on top of that.",
    )
    target_wage_usd_cents: int = setting(
        1200,
        "wage an hour that the study aims at; `openhype status` warns where the median is lower",
        0,
        100000,
        meaning=(
            "Wage an hour that the study aims at, in cents; the study’s page warns where the median is lower."
        ),
        label="Wage aimed at (cents an hour)",
    )
    retainer_usd_cents: int = setting(
        0,
        "pay for each minute of waiting to be called (`/wait/NAME`); 0: nobody waits",
        0,
        1000,
        label="Pay for waiting (cents a minute)",
        meaning="Pay for each minute of waiting to be called; 0: nobody waits.",
    )
    retainer_minutes: int = setting(
        30,
        "minutes of waiting that one person is paid for at most",
        1,
        600,
        label="Minutes of waiting that are paid",
    )
    retainer_budget_usd_cents: int = setting(
        2000,
        "maximum total pay for waiting",
        0,
        1000000,
        label="Pay for waiting in all (cents)",
    )

    def __post_init__(self) -> None:
        with under("settings", "currency"):
            money.currency(self.currency)
        super().__post_init__()

    @property
    def is_paid(self) -> bool:
        """Whether evaluators are paid for taking part or for right answers."""
        return self.base_usd_cents > 0 or self.bonus_usd_cents > 0
