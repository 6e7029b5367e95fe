"""Money as commands tell and take it, and the least wage that panels let a study pay."""

import re

from backend.errors import InvalidInput

LEAST_WAGE_USD_CENTS = 800
"""An hour, on the median of real time: what Prolific asks at least (USD 8); it advises 12."""


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


def dollars(usd_cents: float) -> str:
    """Return cents as dollars to read: 123456 is $1,234.56."""
    sign = "-" if usd_cents < 0 else ""
    return f"{sign}${abs(usd_cents) / 100:,.2f}"
