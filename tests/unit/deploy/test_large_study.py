"""A study of 1,000 HYPE-time evaluators on the packaged functions, under AWS' limits: everything arrives.

`SUITE_EVALUATORS=1000 pytest -s tests/unit/deploy/test_large_study.py` prints what each took: time, length,
calls of the table, and the most memory of a function. By default fewer evaluators are enough for replies and
files that are longer than a function may send.
"""

import dataclasses
import io
import json
import os
import re
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, closing
from itertools import accumulate
from pathlib import Path
from random import Random

import boto3
import pytest
from PIL import Image

from backend.experiment import session as sessions
from backend.experiment.records import Timing
from backend.experiment.session import Posted
from backend.stores.datadir import DataDir
from backend.stores.dynamodb import keys, record_codec
from backend.stores.dynamodb.client import key
from backend.stores.dynamodb.session_records import pictures_of
from backend.stores.opening import open_store
from deploy.s3_upload import Place
from tests import aws
from tests.cloudfront import Cloudfront, serving
from tests.faults import FaultyServer
from tests.function import MOST_BYTES, Function, invocations
from tests.switches import switch

from .. import sample_studies as studies

EVALUATORS, PLAYED, INSTANCES = int(switch("SUITE_EVALUATORS", "30")), 50, 2
PLACE, WORK = Place("openhype-large", "public/"), "openhype-large-work"
TEMPORARY = (429, 502, 503, 504)
RESOURCES = aws.template("service")["Resources"]
WORK_FUNCTION, SCORE_FUNCTION = (RESOURCES[name]["Properties"] for name in ("WorkFunction", "ScoreFunction"))
SECONDS = 3600
"""For one file, on a busy machine: the time of a processor is what is held to the template."""


def played(study, pool, number):
    """Return a whole session with its responses, of somebody who sees more the longer a picture is shown."""
    session = studies.session(study, pool, study.models[number % 2], number, f"s{number:04d}")
    cursor, rng = sessions.opening(study.protocol, studies.CREATED_AT), Random(number)
    starts = [*accumulate((len(block.stimuli) for block in session.blocks), initial=0)]
    responses = []
    while cursor.state == "active":
        at = f"2026-01-02T00:{number // 60 % 60:02d}:{number % 60:02d}.000Z"
        if cursor.trial_index in starts[cursor.blocks_begun : cursor.blocks_begun + 1]:
            block = cursor.blocks_begun
            cursor = sessions.begin_block(session, study.protocol, cursor, 1, block, {}, at)
        response, cursor = sessions.answer(session, study.protocol, cursor, answer(session, cursor, rng), at)
        responses.append(response)
    return session, cursor, responses


def answer(session, cursor, rng):
    picture = sessions.stimulus_at(session, cursor, cursor.trial_index)
    is_right = rng.random() < 1 - 0.5 * 0.997**cursor.exposure_ms
    flash = studies.flash(rng, cursor.exposure_ms)
    return Posted(
        lease=cursor.lease,
        trial_index=cursor.trial_index,
        stimulus=picture.stimulus,
        response=picture.truth if is_right else {"real": "fake", "fake": "real"}[picture.truth],
        exposure_ms=cursor.exposure_ms,
        flags=(),
        **{**flash, "timing": Timing(**flash["timing"])},
    )


def packed(session, cursor, responses):
    """Return a session with its cursor, and the attributes of its item: all was one write."""
    pictures = pictures_of(session)
    cursor = dataclasses.replace(cursor, version=1)
    answers = {"b": {"B": record_codec.pack(responses, pictures)}}
    return session, cursor, {**keys.cursor_attributes(cursor, pictures), **answers}


def store_all(store, study, pool):
    """Write sessions as they are once they are packed, each of those that were played for several people."""
    some = [packed(*played(study, pool, number)) for number in range(min(PLAYED, EVALUATORS))]
    for number in range(EVALUATORS):
        session, cursor, item = some[number % len(some)]
        own = {"id": f"s{number:04d}", "evaluator": f"e{number:04d}", "completion_code": f"C{number}"}
        head = store._heads.add(dataclasses.replace(session, **own), cursor)
        partition = keys.of_listed(study.name, own["id"], simulated=False)
        store._calls.put({**key(keys.of_session(own["id"]), keys.of_version(1)), **item})
        store._calls.put({**key(partition, own["id"]), **item})
        store._counters_of(head).add(session.condition, None, cursor.last_at)


class CountingServer(FaultyServer):
    """Forwards all calls to the table, and counts them."""

    def fault(self, is_write: bool) -> None:
        with self.lock:
            self.calls += 1


class Process:
    """What a function takes of its machine, since `forget` was called."""

    def __init__(self, function: Function, folder: Path):
        """
        Args:
            folder: where the function writes its files.
        """
        self._process, self._folder = Path(f"/proc/{function._process.pid}"), folder
        self._before = self._most_on_disk = 0.0

    def forget(self) -> None:
        (self._process / "clear_refs").write_text("5")
        self._before, self._most_on_disk = self._processor_s(), 0

    def peak(self) -> int:
        """Return the most memory (bytes)."""
        (line,) = re.findall(r"^VmHWM:\s+(\d+) kB$", (self._process / "status").read_text(), re.MULTILINE)
        return int(line) * 1024

    def processor_s(self) -> float:
        """Return the time of a processor, which other work on this machine makes little longer."""
        return self._processor_s() - self._before

    def on_disk(self) -> float:
        """Return the most that was seen of its files at any call (bytes)."""
        self._most_on_disk = max(self._most_on_disk, sum(map(_size_of, _files(self._folder))))
        return self._most_on_disk

    def _processor_s(self) -> float:
        numbers = (self._process / "stat").read_text().rpartition(")")[2].split()[11:15]
        return sum(map(int, numbers)) / os.sysconf("SC_CLK_TCK")


def _files(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder, from which others are removed meanwhile."""
    return (Path(parent, name) for parent, _, names in os.walk(folder) for name in names)


def _size_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:  # removed just now
        return 0


@dataclasses.dataclass
class Deployed:
    """The functions and what is around them."""

    browser: "Browser"
    cloudfront: Cloudfront
    table: CountingServer
    work: Process
    score: list[Process]


class Browser:
    """Somebody who asks again where a server is busy, as browsers' pages and the client do."""

    def __init__(self, url, key, look):
        """
        Args:
            look: is called each time it asks.
        """
        self._url, self._token, self._look = url, {"X-Openhype-Token": key}, look

    def get(self, path):
        """Return the body of the reply, and how long it took to get it (s)."""
        began = time.monotonic()
        while time.monotonic() - began < SECONDS:
            request = urllib.request.Request(f"{self._url}{path}", headers={"Prefer": "wait=2"})
            for name, value in self._token.items():
                request.add_unredirected_header(name, value)
            try:
                with urllib.request.urlopen(request, timeout=120) as reply:
                    return reply.read(), time.monotonic() - began
            except urllib.error.HTTPError as refused:
                self._look()
                with refused:
                    if refused.code not in TEMPORARY:
                        raise AssertionError(refused.read()) from None
                    time.sleep(float(refused.headers["Retry-After"] or 1) / 5)
        raise AssertionError(f"{path} did not arrive within {SECONDS} s")


@pytest.fixture
def deployed(cloud, dynalite, table, tmp_path):
    """The functions over the table, with a browser before them."""
    where = {"LocationConstraint": aws.REGION}
    s3 = boto3.client("s3")
    s3.create_bucket(Bucket=PLACE.bucket, CreateBucketConfiguration=where)
    study = studies.study("faces", "time")
    pool = studies.pool(study, each=400)
    with closing(open_store(table, tmp_path)) as store, ExitStack() as stack:
        store.add_study(study, pool)
        study = store.study("faces")
        store_all(store, study, pool)
        content = io.BytesIO()
        Image.new("RGB", (64, 64), (90, 120, 160)).save(content, "PNG")
        for name in (*study.masks, *(each.name for each in pool)):
            s3.put_object(Bucket=PLACE.bucket, Key=f"public/i/faces/{name}", Body=content.getvalue())
        counting = CountingServer(dynalite.endpoint)
        stack.callback(counting.stop)
        secrets = DataDir(tmp_path / "work").keys()
        environment = {
            **aws.environment(cloud),
            "OPENHYPE_STORE": table.replace(dynalite.endpoint, counting.endpoint),
            "OPENHYPE_DATA": str(tmp_path / "work"),
            "OPENHYPE_IMAGES": f"s3://{PLACE.bucket}/public",
            "OPENHYPE_DOWNLOADS": f"s3://{PLACE.bucket}/downloads",
            "OPENHYPE_WORK_FUNCTION": WORK,
            "OPENHYPE_REQUEST_SECONDS": "58",
            "MPLCONFIGDIR": str(tmp_path / "matplotlib"),
        }

        def start(*about):
            return stack.enter_context(closing(Function(*about)))

        work = start("score", environment, "deploy.work.handle")
        environment["AWS_ENDPOINT_URL_LAMBDA"] = stack.enter_context(invocations({WORK: work}))
        score = [start("score", environment) for _ in range(INSTANCES)]
        cloudfront = Cloudfront(PLACE.bucket, {"score": score})
        working = Process(work, tmp_path)
        browser = Browser(stack.enter_context(serving(cloudfront)), secrets.researcher, working.on_disk)
        yield Deployed(browser, cloudfront, counting, working, [Process(each, tmp_path) for each in score])


@pytest.mark.slow("thousands of answers are written, scored, reported and exported by the packaged functions")
def test_console_downloads_and_report_of_a_large_study_arrive(deployed):
    study = "/api/studies/faces"

    def get(path):
        calls = deployed.table.calls
        deployed.work.forget()
        body, seconds = deployed.browser.get(path)
        work = deployed.work
        took = (
            f"{deployed.table.calls - calls:6d} calls, of work {work.processor_s():5.1f} s of a processor, "
            f"{work.peak() / 1e6:5.0f} MB of memory, {work.on_disk() / 1e6:5.0f} MB on disk"
        )
        print(f"{seconds:7.1f} s {len(body) / 1e6:8.2f} MB {took} {path}", flush=True)  # noqa: T201
        assert work.peak() < WORK_FUNCTION["MemorySize"] * 2**20
        assert work.processor_s() < WORK_FUNCTION["Timeout"]
        assert work.on_disk() < WORK_FUNCTION["EphemeralStorage"]["Size"] * 2**20
        return body

    for path in ("/console", "/api/me", "/api/studies", f"{study}/record", f"{study}/sessions/all"):
        assert get(path)
    until = time.monotonic() + SECONDS
    while (live := json.loads(get(f"{study}/live")))["scores"] is None and time.monotonic() < until:
        time.sleep(3)
    scores, full = json.loads(get(f"{study}/scores")), json.loads(get(f"{study}/scores?full=true"))
    page = get("/results/faces").decode()
    answers = get(f"{study}/responses.csv")
    names = ("export.zip", "report.zip", "site.zip?each=300")
    export, report, site = (zipfile.ZipFile(io.BytesIO(get(f"{study}/{name}"))).namelist() for name in names)
    masks = get(f"{study}/masks.png")

    assert sum(each["evaluators"] for each in scores["models"]) == EVALUATORS
    assert [each["score"] for each in live["scores"]["models"]] == [
        each["score"] for each in scores["models"]
    ]
    assert "findings" in full
    assert "Results of faces" in page
    assert answers.count(b"\n") == 1 + EVALUATORS * 450
    assert len(answers) > MOST_BYTES
    assert "faces-data/README.md" in export
    assert "faces-report/index.html" in report
    assert "faces-demo/index.html" in site
    assert Image.open(io.BytesIO(masks)).size[0] > 0
    assert max(each.peak() for each in deployed.score) < SCORE_FUNCTION["MemorySize"] * 2**20
    refused = ("Bad Gateway", "Payload Too Large")
    assert [deployed.cloudfront.counts[name] for name in refused] == [0, 0]
