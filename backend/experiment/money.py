"""Currencies: how amounts are written, and the least that panels let a study pay.

Inside, money is in hundredths of the study's currency, called cents whatever the currency: for pounds
they are pence. Amounts of different currencies never meet: a study has one, and so has its ledger.
"""

import re
from dataclasses import dataclass
from decimal import Decimal

from backend.foundation.errors import InvalidInput


@dataclass(frozen=True)
class Currency:
    """A currency that panels pay in, and Prolific's rules for it."""

    code: str
    symbol: str
    least_wage_cents: int
    """An hour, on the median of real time: what Prolific asks at least."""
    fair_wage_cents: int
    """An hour; what Prolific advises."""
    least_screen_out_cents: int
    """The smallest fixed screen-out payment."""


CURRENCIES = {
    known.code: known for known in (Currency("USD", "$", 800, 1200, 14), Currency("GBP", "£", 600, 900, 10))
}


def currency(code: str) -> Currency:
    """Return a currency by its ISO 4217 code.

    Raises:
        InvalidInput: it is none that panels pay in.
    """
    if code not in CURRENCIES:
        raise InvalidInput(f"currency must be one of {', '.join(CURRENCIES)}, not {code!r}")
    return CURRENCIES[code]


def format_money(cents: float, code: str) -> str:
    """Return an amount to read: 123456 cents of USD are $1,234.56."""
    sign = "-" if cents < 0 else ""
    return f"{sign}{currency(code).symbol}{abs(cents) / 100:,.2f}"


def parse_money(text: str) -> int:
    """Return an amount in whole currency as written, such as 250 or 99.50, in cents.

    Raises:
        InvalidInput: it is no such amount.
    """
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,2})?", text):
        raise InvalidInput(f"an amount must be written as 250 or 99.50, not {text!r}")
    return int(Decimal(text) * 100)


def parse_fee(text: str) -> str:
    """Return a panel's fee in percent, as it is written without a percent sign.

    Raises:
        InvalidInput: no number of percent, or one under 1, which is a share taken for percent.
    """
    number = text.strip().removesuffix("%").rstrip()
    if not re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,6})?", number):
        raise InvalidInput(f"a fee must be in percent, such as 42.8, not {text!r}")
    check_fee(float(number))
    return number


def check_fee(percent: float) -> None:
    """Raise InvalidInput for what is no fee in percent, or under 1 percent: a share was meant."""
    if not 0 <= percent < 1000:
        raise InvalidInput(f"a fee must be in percent, such as 42.8, not {percent:g}")
    if 0 < percent < 1:
        raise InvalidInput(
            f"a fee is in percent, and {percent:g} would be less than one percent; "
            f"for a share of {percent:g} write {100 * percent:g}"
        )
