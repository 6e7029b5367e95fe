"""Currencies: how amounts are written, and the minimum pay that panels require.

Internally, money is in hundredths of the study's currency, called cents in every currency (pence, for
pounds). Amounts in different currencies are never combined: a study has one currency, and so has its ledger.
"""

import re
from decimal import Decimal

from backend.foundation.errors import InvalidInput
from backend.foundation.frozen import dataclass


@dataclass(frozen=True)
class Currency:
    """A currency that panels pay in, and Prolific's rules for it."""

    code: str
    symbol: str
    least_wage_cents: int
    """Minimum hourly wage that Prolific requires, at the median of the time actually taken."""
    fair_wage_cents: int
    """Hourly wage that Prolific recommends."""
    least_screen_out_cents: int
    """The smallest fixed screen-out payment."""


CURRENCIES = {
    known.code: known for known in (Currency("USD", "$", 800, 1200, 14), Currency("GBP", "£", 600, 900, 10))
}


def currency(code: str) -> Currency:
    """Return a currency by its ISO 4217 code.

    Raises:
        InvalidInput: panels do not pay in this currency.
    """
    if code not in CURRENCIES:
        raise InvalidInput(f"currency must be one of {', '.join(CURRENCIES)}, not {code!r}")
    return CURRENCIES[code]


def format_money(cents: float, code: str) -> str:
    """Return an amount formatted for display: 123456 cents of USD as $1,234.56."""
    sign = "-" if cents < 0 else ""
    return f"{sign}{currency(code).symbol}{abs(cents) / 100:,.2f}"


def parse_money(text: str) -> int:
    """Return in cents an amount that is written in dollars or pounds, such as 250 or 99.50.

    Raises:
        InvalidInput: the text is not such an amount.
    """
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,2})?", text):
        raise InvalidInput(f"an amount must be written as 250 or 99.50, not {text!r}")
    return int(Decimal(text) * 100)


def parse_fee(text: str) -> str:
    """Return a panel's fee in percent, as written but without a percent sign.

    Raises:
        InvalidInput: the text is not a percentage, or is one between 0 and 1, which is probably a share.
    """
    number = text.strip().removesuffix("%").rstrip()
    if not re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,6})?", number):
        raise InvalidInput(f"a fee must be in percent, such as 42.8, not {text!r}")
    check_fee(float(number))
    return number


def check_fee(percent: float) -> None:
    """Raise InvalidInput unless a fee is 0, or from 1 to below 1000 percent; 0 to 1 is probably a share."""
    if not 0 <= percent < 1000:
        raise InvalidInput(f"a fee must be in percent, such as 42.8, not {percent:g}")
    if 0 < percent < 1:
        raise InvalidInput(
            f"a fee is in percent, and {percent:g} would be less than one percent; "
            f"for a share of {percent:g} write {100 * percent:g}"
        )
