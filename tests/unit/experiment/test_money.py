"""Amounts are written in the currency they are in, and read without floating point."""

import pytest

from backend.experiment.money import currency, format_money, parse_money
from backend.foundation.errors import InvalidInput


@pytest.mark.parametrize(
    ("cents", "code", "text"),
    [(0, "USD", "$0.00"), (123456, "USD", "$1,234.56"), (200, "GBP", "£2.00"), (-5, "GBP", "-£0.05")],
)
def test_an_amount_is_written_in_its_currency(cents, code, text):
    assert format_money(cents, code) == text


@pytest.mark.parametrize(("text", "cents"), [("0", 0), ("250", 25000), ("99.5", 9950), ("0.29", 29)])
def test_an_amount_is_read_in_whole_currency(text, cents):
    assert parse_money(text) == cents


@pytest.mark.parametrize("text", ["", "ten", "1.234", "-5", "1e9", "£5", "1,000", "５"])
def test_another_text_is_no_amount(text):
    with pytest.raises(InvalidInput, match=r"an amount must be written as 250 or 99\.50"):
        parse_money(text)


def test_a_currency_that_no_panel_pays_in_is_refused():
    with pytest.raises(InvalidInput, match="currency must be one of USD, GBP, not 'EUR'"):
        currency("EUR")
