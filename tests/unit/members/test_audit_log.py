"""The audit log: pages from the latest entry down."""

from datetime import UTC, datetime, timedelta

import pytest

from backend.foundation.errors import InvalidInput
from backend.members import audit_log

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
        "2026-01-01T00:00:00.000Z", "ada", None, "POST /api/x", "t0", 201
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


@pytest.mark.parametrize("before", ["", "x", "\ud800", "\0", "2026-01-01T00:00:00.000Z"])
def test_a_page_that_begins_nowhere_is_refused(world, before):
    with pytest.raises(InvalidInput, match="must be the `next` of an earlier page"):
        audit_log.page(world.store, 3, before)


@pytest.mark.parametrize("limit", [0, -1, 501, 10**400])
def test_a_page_of_no_or_too_many_entries_is_refused(world, limit):
    with pytest.raises(InvalidInput, match="limit must be from 1 to 500"):
        audit_log.page(world.store, limit)
