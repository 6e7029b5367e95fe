"""The same over HTTP and on disk: connections that drop, processes that end, payers at once."""

import os
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest

from backend.panels.prolific import ProlificPanel
from backend.stores.opening import open_store
from tests import prolific
from tests.prolific import Books, Clock

from ..payday import FEE, Payday
from ..payment.test_payer_faults import finish

ROOT = Path(__file__).resolve().parents[3]
SCHEDULES = 30
CALLS = [
    ("GET", "/submissions/$"),
    ("GET", "/submissions/[^/]+/$"),
    ("POST", "/transition/$"),
    ("POST", "/bonus-payments/$"),
    ("POST", "/pay/$"),
]
WAYS = ["before", "after", 500, 502, 503, 429]
KILLS = [
    ("after", "write_entry", 1),
    ("before", "write_entry", 7),
    ("after", "write_entry", 14),
    ("before", "approve", 1),
    ("after", "approve", 1),
    ("after", "propose_bonuses", 1),
    ("before", "pay_bonuses", 1),
    ("after", "pay_bonuses", 1),
    ("after", "pay_bonuses", 2),
    ("after", "submission", 8),
]


@pytest.fixture
def store(tmp_path):
    store = open_store("sqlite:///openhype.db", tmp_path)
    yield store
    store.close()


def panel_at(fake):
    return ProlificPanel(fake.token, f"{fake.url}/api/v1/", sleep=lambda _: None, rng=Random(1))


@pytest.mark.slow("connections drop around every call over HTTP")
def test_connections_drop_around_every_kind_of_call(store):
    for seed in range(SCHEDULES):
        rng = Random(seed)
        books = Books(
            clock=Clock(datetime(2026, 1, 5, tzinfo=UTC)), fee=FEE, ids=Random(seed),
            pay_delay=timedelta(minutes=rng.choice([0, 15, 200])),
        )  # fmt: skip
        with prolific.running(books) as fake:
            payday = Payday(store, f"faces-{seed}", panel_at(fake), books)
            payday.everyone()
            for _ in range(rng.randint(1, 3)):
                for _ in range(rng.randint(1, 3)):
                    call, how = rng.choice(CALLS), rng.choice(WAYS)
                    fake.fail(*call, how, skip=rng.randint(0, 3), times=rng.choice([1, 1, 5]))
                payday.payer(batch=3).run()
                payday.check(complete=None)
                payday.clock.advance(minutes=rng.choice([0, 20, 1500]))
            fake.faults.clear()
            finish(payday, batch=3)
            payday.check()


def test_several_payers_at_once_pay_everybody_once(store):
    books = Books(fee=FEE, pay_delay=timedelta(0))
    with prolific.running(books) as fake:
        payday = Payday(store, "faces", panel_at(fake), books)
        payday.everyone()
        obstacles = []

        def pay():
            obstacles.extend(payday.payer(panel=panel_at(fake), batch=2).run())

        payers = [threading.Thread(target=pay) for _ in range(4)]
        for payer in payers:
            payer.start()
        for payer in payers:
            payer.join()
        finish(payday)

        payday.check()


@pytest.mark.slow("a process is killed again and again")
def test_processes_that_end_anywhere_leave_nobody_unpaid_or_paid_twice(store, tmp_path):
    for number, kill in enumerate(KILLS):
        with prolific.running(fee=FEE) as fake:
            payday = Payday(store, f"faces-{number}", panel_at(fake), fake.books)
            payday.everyone()
            payer = [str(tmp_path), payday.study.name, payday.panel_study, *map(str, kill)]
            command = [sys.executable, "-m", "tests.unit.killed_payer", *payer]
            environment = {**os.environ, **fake.environment()}

            ended = subprocess.run(command, cwd=ROOT, env=environment, timeout=60, check=False)
            payday.check(complete=None)
            finish(payday)

            assert ended.returncode == 9, f"the process was to end {kill}"
            payday.check()
