"""What a study is said to take of AWS is what dynalite measures, and what the docs say."""

import re
from math import ceil
from pathlib import Path

import pytest
from click.testing import CliRunner

from backend.administration import aws_costs as costs
from backend.cli import main
from backend.client.tar_stream import PART_BYTES
from backend.experiment.judgments import real_or_fake
from backend.stores.dynamodb.client import connect, parse_url
from deploy import template

from ..stores.dynamodb.test_store import play

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("method", ["infinity", "time"])
@pytest.mark.slow("plays whole sessions, request by request")
def test_a_session_takes_what_is_said(table, tmp_path, method):
    told = costs.of_session({"infinity": real_or_fake.INFINITY, "time": real_or_fake.TIME}[method], assumed())
    before = stored_bytes(table)

    meter, requests = play(table, tmp_path, method)

    stored = stored_bytes(table, ("session", "closed", "claim")) - before
    reads = sum(meter.units[name] for name in ("get_item", "batch_get_item", "query"))
    assert told.api_requests == requests
    assert told.table_calls == sum(meter.calls.values())
    assert told.write_units == pytest.approx(meter.write_units, rel=0.01)
    assert told.least_read_units == pytest.approx(reads, rel=0.05)
    assert told.table_bytes == pytest.approx(stored, rel=0.1)


def assumed():
    return costs.prices()["assumed"]


def stored_bytes(url, kinds=()):
    """Return the bytes of a table's items as DynamoDB counts them: names and values."""
    name, options = parse_url(url)
    pages = connect(options).get_paginator("scan").paginate(TableName=name)
    items = [item for page in pages for item in page["Items"]]
    return sum(
        len(attribute) + len(content)
        for item in items
        if item["p"]["S"].startswith(kinds)
        for attribute, value in item.items()
        for content in value.values()
    )


def test_costs_add_up_and_grow_with_the_evaluators():
    few, many = (costs.of_study(real_or_fake.TIME, count, 2000, assumed()) for count in (30, 1000))
    bills = [costs.cost_usd(used, 2000, costs.prices()) for used in (few, many)]

    assert bills[1]["Lambda"] == pytest.approx(bills[0]["Lambda"] * 1000 / 30)
    assert bills[1]["DynamoDB"] > 20 * bills[0]["DynamoDB"]


def test_write_units_are_priced_by_the_million():
    used = costs.Usage(0, 0, 2e6, 0, 0, 0, 0, 0, 0)

    bill = costs.cost_usd(used, 0, costs.prices())

    assert bill == {"DynamoDB": pytest.approx(1.25), "Lambda": 0, "CloudFront": 0, "S3": 0}


def test_the_page_of_costs_is_what_the_command_says():
    page = (ROOT / "docs" / "costs.md").read_text("utf-8")

    said = CliRunner().invoke(main, ["costs"]).output

    assert said in page


def test_an_idle_deployment_costs_what_the_docs_say():
    """By the memory and the schedule of the template."""
    service, found = template.text_of("service"), assumed()
    memory = [int(mb) / 1024 for mb in re.findall(r"MemorySize: (\d+)", service)]

    said = costs.idle_usd(costs.prices())

    assert "ScheduleExpression: rate(5 minutes)" in service
    assert memory == pytest.approx(
        [found[name] for name in ("function_gb", "score_gb", "work_gb", "function_gb")], abs=0.01
    )
    assert f"about ${said:.2f} a month" in (ROOT / "docs" / "costs.md").read_text("utf-8")


def test_an_upload_costs_what_the_docs_say():
    bucket = costs.prices()["s3"]

    requests = ceil(10**9 / PART_BYTES) * bucket["puts_million"] / 1e6
    stored_a_week = bucket["stored_gb_month"] * 7 / 30

    assert requests == pytest.approx(0.001, rel=0.1)  # a tenth of a cent
    assert stored_a_week == pytest.approx(0.005, rel=0.1)  # half a cent
