"""The audit log: an entry before each change, completed afterwards; pages from the latest entry down."""

import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest

from backend.foundation.errors import InvalidInput, NotFound, StoreFailed
from backend.members import audit_log, memberships

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_pages_come_from_the_latest_down_with_every_entry_once(each_world):
    store = each_world.store
    for i in range(7):
        audit_log.write(store, NOW + timedelta(seconds=i), "ada", None, "POST /api/x", f"t{i}", 201)

    seen, before = [], None
    while True:
        entries, before = audit_log.page(store, 3, before)
        seen.append([entry.target for entry in entries])
        if before is None:
            break

    assert seen == [["t6", "t5", "t4"], ["t3", "t2", "t1"], ["t0"]]
    assert entries[0] == audit_log.AuditEntry(
        "2026-01-01T00:00:00.000Z", "ada", None, "POST /api/x", "t0", 201, "done"
    )


def test_a_page_that_ends_with_the_log_has_no_next_one(world):
    for _ in range(3):
        audit_log.write(world.store, NOW, "ada", None, "POST /api/x", "", 200)

    entries, following = audit_log.page(world.store, 3)

    assert (len(entries), following) == (3, None)


def test_a_target_is_stored_on_one_line_and_shortened(world):
    audit_log.write(world.store, NOW, "ada", None, "POST /api/x", "a\n\0\ud800" + "b" * 999, 200)

    ((entry,), _) = audit_log.page(world.store)

    assert entry.target.startswith(r"a\n\x00\ud800b")
    assert len(entry.target) == 300


def last(store):
    ((entry, *_), _) = audit_log.page(store)
    return entry.target, entry.status, entry.outcome


def test_a_change_is_in_the_log_before_it_is_made_and_its_outcome_afterwards(each_world):
    store = each_world.store

    with audit_log.recorded(store, NOW, "ada", None, "openhype x", "") as change:
        begun = last(store)
        change.concerns("t")
        named = last(store)

    assert [begun, named] == [("", None, "unknown"), ("t", None, "unknown")]
    assert last(store) == ("t", None, "done")


def test_a_change_that_was_refused_is_told_from_one_that_failed_in_the_middle(world):
    with pytest.raises(NotFound, match="no x"), record(world, "refused"):
        raise NotFound("no x")
    refused = last(world.store)
    with pytest.raises(StoreFailed, match="full"), record(world, "failed"):
        raise StoreFailed("full")

    assert (refused, last(world.store)) == (("refused", None, "refused"), ("failed", None, "unknown"))


def record(world, target):
    world.clock.move(seconds=1)
    return audit_log.recorded(world.store, world.clock(), "ada", None, "openhype x", target)


@pytest.mark.parametrize(
    ("status", "outcome"), [(200, "done"), (304, "done"), (409, "refused"), (503, "failed")]
)
def test_the_status_of_a_reply_says_what_became_of_a_change(status, outcome):
    assert audit_log.outcome_of(status) == outcome


KILLED = """
import os, signal, sys
from pathlib import Path
from backend.handlers import create_app
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store

class Store:
    def __init__(self, store):
        self.store = store
    def __getattr__(self, name):
        return getattr(self.store, name)
    def write_entry(self, book, *rest):
        written = self.store.write_entry(book, *rest)
        if book == "members":
            os.kill(os.getpid(), signal.SIGKILL)
        return written

data = DataDir(Path(sys.argv[1]))
app = create_app(Store(open_store("sqlite:///openhype.db", data.root)), data, data.keys())
headers = {"X-Openhype-Token": data.keys().researcher}
app.test_client().post("/api/members", json={"member": "bob", "role": "submitter"}, headers=headers)
"""


def test_a_change_whose_server_was_killed_in_the_middle_is_in_the_log(world):
    world.data.keys()

    ended = subprocess.run([sys.executable, "-c", KILLED, str(world.data.root)], timeout=60)

    assert ended.returncode == -signal.SIGKILL
    assert memberships.membership(world.store, "bob").role == "submitter"
    assert last(world.store) == ("bob as submitter", None, "unknown")


@pytest.mark.parametrize("before", ["", "x", "\ud800", "\0", "2026-01-01T00:00:00.000Z"])
def test_a_page_that_begins_nowhere_is_refused(world, before):
    with pytest.raises(InvalidInput, match="must be the `next` of an earlier page"):
        audit_log.page(world.store, 3, before)


@pytest.mark.parametrize("limit", [0, -1, 501, 10**400])
def test_a_page_of_no_or_too_many_entries_is_refused(world, limit):
    with pytest.raises(InvalidInput, match="limit must be from 1 to 500"):
        audit_log.page(world.store, limit)
