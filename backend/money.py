"""Money as commands tell it, and the least that panels let a study pay."""

LEAST_WAGE_USD_CENTS = 800
"""An hour, on the median of real time: what Prolific asks at least (USD 8); it advises 12."""


def dollars(usd_cents: float) -> str:
    """Return cents as dollars to read: 123456 is $1,234.56."""
    sign = "-" if usd_cents < 0 else ""
    return f"{sign}${abs(usd_cents) / 100:,.2f}"
