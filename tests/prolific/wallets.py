"""Workspaces and their money: each has a currency, a balance, a fee, and projects that studies belong to."""

import math
from dataclasses import dataclass, field
from fractions import Fraction

CURRENCIES = {"USD": {"least_wage": 800, "fair_wage": 1200, "least_screen_out": 14},
              "GBP": {"least_wage": 600, "fair_wage": 900, "least_screen_out": 10}}  # fmt: skip
FEATURES = frozenset({"screen_out", "secure_urls", "test_participants"})
"""What Prolific enables for chosen workspaces only."""
_NO_END = 10**9


@dataclass
class Project:
    id: str
    title: str


@dataclass
class Workspace:
    """Money in minor units of the workspace's currency (cents or pence)."""

    id: str
    title: str
    currency: str = "USD"
    fee: Fraction = Fraction(1, 3)
    """Of what a participant gets."""
    vat: Fraction = Fraction(0)
    """Of the fee."""
    balance: int | None = None
    """What was paid in and is not spent; None is no end of money."""
    features: frozenset = frozenset()
    projects: list = field(default_factory=list)

    @property
    def rules(self):
        return CURRENCIES[self.currency]

    def with_fee(self, minor):
        """Return what it costs that a participant gets `minor`; fee and VAT are rounded up together."""
        return minor + math.ceil(minor * self.fee * (1 + self.vat))

    def parts(self, minor):
        """Return (amount, fee, VAT) of what a participant gets."""
        fee = math.ceil(minor * self.fee)
        return minor, fee, self.with_fee(minor) - minor - fee

    def lacks(self, minor, reserved=0):
        return self.balance is not None and minor > self.balance - reserved

    def spend(self, minor):
        if self.balance is not None:
            self.balance -= minor

    def balances(self, reserved):
        """Return the reply of `GET /workspaces/ID/balance/`."""
        total = _NO_END if self.balance is None else self.balance
        available = total - reserved

        def breakdown(amount):
            rate = self.fee * (1 + self.vat)
            rewards = math.floor(Fraction(amount) / (1 + rate))
            fees = math.floor(rewards * self.fee)
            return {"rewards": rewards, "fees": fees, "vat": amount - rewards - fees}

        return {
            "currency_code": self.currency,
            "total_balance": total,
            "balance_breakdown": breakdown(total),
            "available_balance": available,
            "available_balance_breakdown": breakdown(available),
        }
