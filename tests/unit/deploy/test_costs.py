"""What a study is said to take of AWS is what dynalite measures, and what the docs say."""

import dataclasses
import re
from math import ceil
from pathlib import Path

import pytest
from click.testing import CliRunner

from backend.administration import aws_costs as costs
from backend.cli import main
from backend.client.file_stream import PART_BYTES
from backend.experiment import sampling
from backend.experiment.judgments import real_or_fake
from backend.foundation.errors import NotFound
from backend.foundation.timestamps import utc_now
from backend.jobs import queue
from backend.jobs.worker import Worker
from backend.stores.datadir import DataDir
from backend.stores.dynamodb.client import connect, parse_url
from backend.uploads.limits import quota
from deploy import template
from deploy.bucket_uploads import BucketUploads
from deploy.s3_upload import Place

from .. import sample_studies as studies
from ..stores.dynamodb.test_store import Meter, metered, play

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


def stored(medium, method, names, **settings):
    """Return costs of a study of two models whose files have 750,000 bytes, and its masks 50,000."""
    of = studies.study(method=method, panel="link", **settings)
    of = dataclasses.replace(of, medium=medium)
    pool = sampling.pool_of(studies.pool(of, each=names))
    return costs.of_stored_study(
        of, pool, lambda _, name: bytes(50_000 if name in of.masks else 750_000), costs.prices()
    )


def test_a_stored_study_of_clips_costs_what_its_own_files_do():
    """By hand: 20 clips of 0.75 MB, 37 files of the page in 130 kB, and 24 replies (3 + 20 + 1) of 1 kB."""
    found = stored("clip", "infinity", 12, images=20, evaluators=15)

    assert (found.files, found.evaluators, found.file_bytes) == (36, 30, 750_000)
    assert found.session.sent_bytes == 20 * 750_000 + 130_000 + 24_000
    assert found.session.picture_requests == 20
    network, sent = costs.prices()["cloudfront"], 30 * 15_154_000 / 1e9
    requests = 30 * (20 + 37 + 24)
    assert found.bill["CloudFront"] == pytest.approx(sent * network["sent_gb"] + requests * 1e-6)
    assert found.bill["S3"] > 36 * 0.75e6 / 1e9 * costs.prices()["s3"]["stored_gb_month"]


def test_pairs_send_two_files_a_trial_and_masks_have_a_length_of_their_own():
    pairs = stored("clip", "pair", 30, images=20)
    flashes = stored("picture", "time", 300)

    assert pairs.session.picture_requests == 40
    assert pairs.session.sent_bytes == 40 * 750_000 + 130_000 + 24_000
    assert flashes.session.sent_bytes == 450 * 750_000 + 64 * 50_000 + 130_000 + 456_000


def test_costs_of_a_study_whose_files_are_elsewhere_are_not_guessed():
    of = studies.study()

    with pytest.raises(NotFound, match="the pictures of faces are not here"):
        costs.of_stored_study(of, sampling.pool_of(studies.pool(of)), lambda *_: None, costs.prices())


def test_the_page_of_costs_is_what_the_command_says():
    page = (ROOT / "docs" / "costs.md").read_text("utf-8")

    said = CliRunner().invoke(main, ["costs"]).output

    assert said in page


def test_a_look_for_jobs_takes_what_is_said(table, bucket, tmp_path):
    """Reads are counted: DynamoDB bills a unit for one that finds nothing, dynalite none."""
    meter, data = Meter(), DataDir(tmp_path)
    store = metered(table, meter)
    uploads = BucketUploads(store, Place("pictures", "uploads/"), tmp_path, quota({}))
    worker = Worker(store, data, uploads=uploads)

    assert [*worker.run_until_idle()] == []  # as `work.handle` does
    queue.forget(store, utc_now())
    uploads.expire(utc_now())

    said = costs.prices()["looks"]["work"]
    reads = sum(meter.calls[name] for name in ("get_item", "batch_get_item", "query"))
    assert (said["read_units"], said["write_units"]) == (reads, meter.calls.total() - reads)


def test_a_deployment_without_visitors_has_one_price():
    """By the memory and the schedules of the template.

    By hand: 8,640 x (0.2 + 0.3 x 2.94 x 16.6667 + 9 x 0.125 + 2 x 0.625) = $0.149 for a million of each, and
    43,950 x (0.2 + 0.05 x 0.5 x 16.6667 + 2 x 0.125) = $0.038 more.
    """
    service, found = template.text_of("service"), costs.prices()
    memory = [int(mb) / 1024 for mb in re.findall(r"MemorySize: (\d+)", service)]
    schedules = re.findall(r"rate\((.+)\)", service)
    docs = [(ROOT / "docs" / name).read_text("utf-8") for name in ("costs.md", "serverless.md")]

    said = [f"${costs.idle_usd(found, has_panel):.2f}" for has_panel in (False, True)]

    assert schedules == ["5 minutes", "1 minute", "1 hour", "1 day"]
    assert memory == pytest.approx(
        [
            found["assumed"]["function_gb"],
            found["assumed"]["score_gb"],
            found["looks"]["work"]["gb"],
            found["looks"]["panel"]["gb"],
        ],
        abs=0.01,
    )
    assert said == ["$0.15", "$0.19"]
    assert f"costs {said[0]} a month besides storage, {said[1]} with the function `panel`" in docs[0]
    assert re.findall(r"costs (\$\d\S*) a month besides storage", "".join(docs)) == said[:1]


def test_an_upload_costs_what_the_docs_say():
    bucket = costs.prices()["s3"]

    requests = ceil(10**9 / PART_BYTES) * bucket["puts_million"] / 1e6
    stored_a_week = bucket["stored_gb_month"] * 7 / 30

    assert requests == pytest.approx(0.001, rel=0.1)  # a tenth of a cent
    assert stored_a_week == pytest.approx(0.005, rel=0.1)  # half a cent
