"""The simulation of AWS's published limits: rates that follow by hand, and the table in the docs."""

from dataclasses import fields
from pathlib import Path

import pytest

from deploy import capacity
from deploy.capacity import Limits, simulate

WITHOUT = {field.name: float("inf") for field in fields(Limits)}


def test_without_limits_everybody_is_in_when_the_last_one_has_come():
    found = simulate(5000, Limits(**WITHOUT))

    assert (found.first, found.opened_s, found.longest_wait_s) == ("", capacity.ARRIVE_S, 0)


@pytest.mark.parametrize(
    ("name", "value", "first"),
    [
        ("partition_reads", 40.0, "study's record"),  # four reads each: ten people a second
        ("concurrency", 0.9, "concurrency"),  # 0.03 s a request: three requests each make ten people a second
    ],
)
def test_a_limit_lets_in_as_many_as_it_has_capacity_for(name, value, first):
    answers = name == "concurrency"

    found = simulate(1000, Limits(**{**WITHOUT, name: value}))

    assert found.first == first
    assert found.opened_s >= 1000 / 10
    assert answers or found.opened_s == pytest.approx(1000 / 10, abs=2)


def test_the_limit_that_is_exceeded_first_is_named_and_moving_it_helps():
    tight = Limits(**{**WITHOUT, "table_writes": 500.0, "table_reads": 2000.0})

    found = simulate(10_000, tight)
    later = simulate(10_000, capacity.moved(tight, found.first))

    assert found.first in ("table's writes", "table's reads")
    assert later.first not in ("", found.first)
    assert later.opened_s < found.opened_s
    assert simulate(10_000, capacity.moved(capacity.moved(tight, found.first), later.first)).first == ""


def test_more_people_never_wait_less():
    waits = [simulate(people, Limits()).longest_wait_s for people in (100, 1000, 5000, 10_000, 50_000)]

    assert waits == sorted(waits)
    assert waits[0] == 0


def test_the_docs_show_what_the_command_prints():
    text = (Path(capacity.__file__).parents[1] / "docs" / "serverless.md").read_text("utf-8")

    assert capacity.table() in text
