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
        ("keys_a_second", 0.009, "keys of new instances"),  # an instance in 111 s, for 0.03 s a request
    ],
)
def test_a_limit_lets_in_as_many_as_it_has_capacity_for(name, value, first):
    answers = name != "partition_reads"

    found = simulate(1000, Limits(**{**WITHOUT, name: value}))

    assert found.first == first
    assert found.opened_s >= 1000 / 10
    assert answers or found.opened_s == pytest.approx(1000 / 10, abs=2)


def test_a_unit_of_concurrency_lets_in_ten_requests_a_second_however_short_they_are():
    by_number = Limits(**{**WITHOUT, "requests_a_unit": 10.0, "concurrency": 3.0})
    by_time = Limits(**{**WITHOUT, "concurrency": 3.0})

    # 30 requests a second are ten openings of three; by time alone 3 / 0.03 s are 100
    found, faster = simulate(1000, by_number), simulate(1000, by_time)

    assert found.first == faster.first == "concurrency"
    assert found.opened_s >= 1000 / 10
    assert faster.opened_s < found.opened_s


def test_instances_come_only_as_fast_as_they_can_read_their_keys():
    # 10,000 people within a minute need 500 requests a second in the first, which are 50 instances
    assert simulate(10_000, Limits(**{**WITHOUT, "requests_a_unit": 10.0})).first == ""
    limited = Limits(**{**WITHOUT, "requests_a_unit": 10.0, "keys_a_second": 40.0})
    assert simulate(10_000, limited).first == "keys of new instances"


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
