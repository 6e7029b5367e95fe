"""Uploads in the data directory: parts in any order, from many writers, with kills and full disks."""

import errno
import io
import os
import signal
import subprocess
import sys
import threading
import tracemalloc
from datetime import UTC, datetime, timedelta

import pytest

from backend.client.file_stream import PART_BYTES, digest_of
from backend.foundation.errors import Conflict, InvalidInput, NotFound, StoreFailed
from backend.stores.datadir import DataDir
from backend.uploads.limits import Limits, Quota, limits, quota
from backend.uploads.local_uploads import LocalUploads

from .streams import checksums

NOW = datetime(2026, 1, 1, tzinfo=UTC)
CONTENT = os.urandom(PART_BYTES) + os.urandom(PART_BYTES) + b"the end"
PARTS = [CONTENT[start : start + PART_BYTES] for start in range(0, len(CONTENT), PART_BYTES)]
ANY = Quota(free=0)


def small(content=b"abc"):
    """Return the arguments by which an upload of one short part begins."""
    return "files", len(content), checksums([content])


@pytest.fixture
def uploads(tmp_path):
    return LocalUploads(DataDir(tmp_path), ANY)


def begin(uploads, member="ada", content=CONTENT, parts=PARTS):
    return uploads.begin(member, "files", len(content), checksums(parts), NOW)


def files(tmp_path):
    return sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file())


@pytest.mark.parametrize("call", ["utime", "rename", "open"])
def test_a_disk_that_cannot_be_written_is_named_at_the_beginning_and_the_end(uploads, monkeypatch, call):
    def refused(*_, **__):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    begun = begin(uploads)
    for number, part in enumerate(PARTS):
        uploads.write(begun.id, number, io.BytesIO(part), NOW)
    monkeypatch.setattr(os, call, refused)
    if call == "utime":
        with pytest.raises(StoreFailed, match=r"could not be completed: .*written"):
            uploads.complete(begun.id, NOW)

    with pytest.raises(StoreFailed, match=r"could not be begun: .*written"):
        begin(uploads, member="ada" if call == "utime" else "bob")


def test_an_upload_begins_while_another_one_is_being_deleted(uploads, tmp_path):
    begun = begin(uploads)
    (tmp_path / "uploads" / begun.id / "upload.json").unlink()

    assert begin(uploads, member="bob").is_new


def test_no_part_is_held_in_memory(uploads):
    begun, part = begin(uploads), io.BytesIO(PARTS[0])
    tracemalloc.start()
    try:
        uploads.write(begun.id, 0, part, NOW)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert most < PART_BYTES / 4


def test_parts_come_in_any_order_and_twice(uploads):
    begun = begin(uploads)

    missing = [uploads.write(begun.id, part, io.BytesIO(PARTS[part]), NOW).missing for part in (2, 0, 2, 1)]

    assert (begun.state, begun.missing, begun.is_new) == ("receiving", (0, 1, 2), True)
    assert missing == [(0, 1), (1,), (1,), ()]
    assert begun.digest == digest_of(checksums(PARTS))
    assert uploads.complete(begun.id, NOW) == uploads.complete(begun.id, NOW)
    with uploads.archive(begun.id) as archive:
        assert archive.read_bytes() == CONTENT


def test_the_same_content_is_the_same_upload_of_its_member_alone(uploads):
    first = begin(uploads)
    uploads.write(first.id, 0, io.BytesIO(PARTS[0]), NOW)

    again, other = begin(uploads), begin(uploads, "bob")
    as_zip = uploads.begin("ada", "zip", len(CONTENT), checksums(PARTS), NOW)

    assert (again.id, again.missing, again.is_new) == (first.id, (1, 2), False)
    assert len({first.id, other.id, as_zip.id}) == 3
    assert other.missing == (0, 1, 2)


@pytest.mark.parametrize(
    "sent",
    [b"", PARTS[2][:-1], PARTS[2] + b"x", b"THE END", PARTS[0]],
    ids=["0", "short", "long", "other", "5M"],
)
def test_a_part_that_is_not_what_was_announced_is_refused(uploads, tmp_path, sent):
    begun = begin(uploads)
    before = files(tmp_path)

    with pytest.raises(InvalidInput, match=r"part 2 must have (7 bytes|the CRC-32)") as refused:
        uploads.write(begun.id, 2, io.BytesIO(sent), NOW)

    assert refused.value.code == "wrong_part"
    assert files(tmp_path) == before


def test_a_connection_that_breaks_leaves_nothing(uploads, tmp_path):
    class Broken(io.BytesIO):
        def read(self, size=-1):
            if self.tell():
                raise ConnectionResetError("broken")
            return super().read(1000)

    begun = begin(uploads)
    before = files(tmp_path)

    with pytest.raises(StoreFailed, match=r"part 0 could not be stored"):
        uploads.write(begun.id, 0, Broken(PARTS[0]), NOW)

    assert files(tmp_path) == before


def test_many_writers_of_the_same_parts_make_each_whole(uploads):
    begun, failed = begin(uploads), []

    def write(part, sent):
        try:
            uploads.write(begun.id, part, io.BytesIO(sent), NOW)
        except InvalidInput:
            failed.append(part)

    wrong = bytes(len(PARTS[0]))
    jobs = [(part, sent) for part in (0, 1) for sent in (PARTS[part], wrong, PARTS[part], PARTS[part])]
    writers = [threading.Thread(target=write, args=job) for job in jobs]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    uploads.write(begun.id, 2, io.BytesIO(PARTS[2]), NOW)
    uploads.complete(begun.id, NOW)

    assert sorted(failed) == [0, 1]
    with uploads.archive(begun.id) as archive:
        assert archive.read_bytes() == CONTENT


KILLED = """
import io, os, sys
from datetime import UTC, datetime
from backend.stores.datadir import DataDir
from backend.uploads.limits import Quota
from backend.uploads.local_uploads import LocalUploads
from pathlib import Path

class Slow(io.BytesIO):
    def read(self, size=-1):
        if self.tell() > 1_000_000:
            print("half", flush=True)
            sys.stdin.read()
        return super().read(size)

LocalUploads(DataDir(Path(sys.argv[1])), Quota(free=0)).write(
    sys.argv[2], 0, Slow(bytes(5_000_000)), datetime.now(UTC))
"""


def test_a_server_killed_in_the_middle_of_a_part_leaves_no_part(uploads, tmp_path):
    now = datetime.now(UTC)
    begun = uploads.begin("ada", "files", len(CONTENT), checksums(PARTS), now)
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, tmp_path, begun.id], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout.readline() == b"half\n"
    process.send_signal(signal.SIGKILL)
    process.communicate()

    assert uploads.upload(begun.id).missing == (0, 1, 2)
    assert not [name for name in files(tmp_path) if "partial" in name or "received" in name]


def test_an_upload_is_complete_only_with_all_parts(uploads):
    begun = begin(uploads)
    uploads.write(begun.id, 1, io.BytesIO(PARTS[1]), NOW)

    with pytest.raises(Conflict, match=r"2 of 3 parts were not received yet, the first is 0") as refused:
        uploads.complete(begun.id, NOW)
    with pytest.raises(Conflict, match=r"2 of 3 parts"), uploads.archive(begun.id):
        pass

    assert refused.value.code == "parts_missing"


@pytest.mark.parametrize("id", ["", "..", "../../etc", "0" * 32, "A" * 32, "0" * 33, "0" * 31 + "\n"])
def test_what_is_no_upload_is_not_found(uploads, tmp_path, id):
    for call in (
        lambda: uploads.upload(id),
        lambda: uploads.urls(id, [0]),
        lambda: uploads.write(id, 0, io.BytesIO(b""), NOW),
        lambda: uploads.complete(id, NOW),
        lambda: uploads.delete(id),
        lambda: uploads.archive(id).__enter__(),
    ):
        with pytest.raises(NotFound, match=r"there is no upload"):
            call()


@pytest.mark.parametrize("part", [-1, 3, 10**6])
def test_a_part_beyond_the_list_is_not_found(uploads, part):
    begun = begin(uploads)

    with pytest.raises(NotFound, match=r"parts are numbered from 0 to 2"):
        uploads.write(begun.id, part, io.BytesIO(b""), NOW)
    with pytest.raises(NotFound, match=r"parts are numbered from 0 to 2"):
        uploads.urls(begun.id, [0, part])


@pytest.mark.parametrize(
    ("format", "count", "parts", "why"),
    [
        ("rar", 3, checksums([b"abc"]), r"format must be 'files' or 'zip'"),
        ("files", 0, [], r"bytes must be from 1"),
        ("files", 10**15, [], r"bytes must be from 1 to 52428800000"),
        ("files", PART_BYTES + 1, checksums([b"abc"]), r"2 for 5242881 bytes, not 1"),
        ("files", 3, ["a" * 7], r"parts\[0\] must be a CRC-32"),
        ("files", 3, ["A" * 8], r"parts\[0\] must be a CRC-32"),
        ("files", 3, ["é" * 8], r"parts\[0\] must be a CRC-32"),
        ("files", 3, ["٣" * 8], r"parts\[0\] must be a CRC-32"),
    ],
)
def test_what_makes_up_no_archive_is_refused(uploads, tmp_path, format, count, parts, why):
    with pytest.raises(InvalidInput, match=why):
        uploads.begin("ada", format, count, parts, NOW)

    assert files(tmp_path) == []


def test_quotas_count_what_was_announced(tmp_path):
    uploads = LocalUploads(DataDir(tmp_path), Quota(each=10, all=15, free=0, count=3))
    uploads.begin("ada", *small(b"12345678"), NOW)

    with pytest.raises(Conflict, match=r"with it your uploads would be") as refused:
        uploads.begin("ada", *small(b"123"), NOW)
    with pytest.raises(Conflict, match=r"all members' uploads") as full:
        uploads.begin("bob", *small(b"87654321"), NOW)
    assert "1.6e-08" not in str(full.value)  # how much others have uploaded is theirs
    uploads.begin("ada", *small(b"1"), NOW)
    uploads.begin("ada", *small(b"2"), NOW)
    with pytest.raises(Conflict, match=r"you have 3 uploads"):
        uploads.begin("ada", *small(b""[:0] + b"3"), NOW)

    assert refused.value.code == "quota"
    assert not uploads.begin("ada", *small(b"12345678"), NOW).is_new


def test_disk_space_is_left_free(tmp_path):
    uploads = LocalUploads(DataDir(tmp_path), Quota(free=10**18))

    with pytest.raises(StoreFailed, match=r"are to stay free") as refused:
        uploads.begin("ada", *small(), NOW)

    assert refused.value.code == "disk_full"


@pytest.mark.parametrize("jump", [timedelta(days=8), timedelta(days=4000), timedelta(days=-4000)])
@pytest.mark.parametrize("is_back", [True, False])
def test_uploads_expire_by_days_that_pass_and_not_by_a_jump_of_the_clock(uploads, jump, is_back):
    old = uploads.begin("ada", *small(b"old"), NOW)
    uploads.expire(NOW)

    assert uploads.expire(NOW + jump) == 0
    new = uploads.begin("ada", *small(b"new"), NOW + jump)
    start = NOW if is_back else NOW + jump
    removed = [uploads.expire(start + timedelta(days=days)) for days in range(10)]

    assert sum(removed[:6]) == 0
    assert sum(removed) == 2
    for upload in (old, new):
        with pytest.raises(NotFound, match=r"not used for 7 days"):
            uploads.upload(upload.id)


def test_a_part_that_is_there_is_not_written_again(uploads):
    begun = begin(uploads)
    uploads.write(begun.id, 0, io.BytesIO(PARTS[0]), NOW)
    archive = uploads._root / begun.id / "archive"
    before = archive.stat().st_mtime_ns

    uploads.write(begun.id, 0, io.BytesIO(PARTS[0]), NOW)

    assert archive.stat().st_mtime_ns == before


def test_an_upload_begun_by_an_older_version_is_unknown_and_expires(uploads, tmp_path):
    old = begin(uploads)
    folder = tmp_path / "uploads" / old.id
    (folder / "received").rename(folder / "parts")  # where each part was a file
    (folder / "archive").unlink()

    for call in (uploads.upload, uploads.delete, lambda id: uploads.write(id, 0, io.BytesIO(PARTS[0]), NOW)):
        with pytest.raises(NotFound, match=r"there is no upload"):
            call(old.id)
    assert begin(uploads, "bob").is_new
    uploads.expire(NOW)
    assert sum(uploads.expire(NOW + timedelta(days=days)) for days in range(10)) == 2


def test_unused_uploads_expire_and_used_ones_do_not(uploads, tmp_path):
    day = timedelta(days=1)
    old, used, read = (uploads.begin("ada", *small(content), NOW) for content in (b"old", b"used", b"read"))
    uploads.write(used.id, 0, io.BytesIO(b"used"), NOW + 5 * day)
    uploads.write(read.id, 0, io.BytesIO(b"read"), NOW)
    uploads.complete(read.id, NOW)

    with uploads.archive(read.id):
        removed = uploads.expire(NOW + 8 * day)
        with pytest.raises(Conflict, match=r"is being read by a job") as refused:
            uploads.delete(read.id)

    assert (removed, refused.value.code) == (1, "upload_in_use")
    assert old.expires_at == "2026-01-08T00:00:00.000Z"
    assert uploads.upload(used.id).expires_at == "2026-01-13T00:00:00.000Z"
    with pytest.raises(NotFound, match=r"not used for 7 days"):
        uploads.upload(old.id)
    uploads.delete(read.id)
    uploads.delete(used.id)
    assert files(tmp_path / "uploads") == ["looked"]


def test_an_upload_deleted_while_a_part_arrives_stays_deleted(uploads, tmp_path):
    begun = uploads.begin("ada", *small(), NOW)

    class Deleting(io.BytesIO):
        def read(self, size=-1):
            if not self.tell():
                uploads.delete(begun.id)
            return super().read(size)

    with pytest.raises(NotFound, match=r"there is no upload"):
        uploads.write(begun.id, 0, Deleting(b"abc"), NOW)

    assert files(tmp_path / "uploads") == []


def test_limits_come_from_the_environment():
    given = {
        "OPENHYPE_UPLOAD_GB": "1", "OPENHYPE_UPLOADS_GB": "3", "OPENHYPE_FREE_GB": "0",
        "OPENHYPE_UPLOAD_FILES": "10",
    }  # fmt: skip

    assert quota(given) == Quota(each=1_000_000_000, all=3_000_000_000, free=0)
    assert limits(given) == Limits(files=10, bytes=1_000_000_000, free=0)
    assert (quota({}), limits({})) == (Quota(), Limits())


@pytest.mark.parametrize("text", ["-1", "nan", "1e9", "1.5", "many", "1" * 400, "٣"])
def test_limits_that_are_no_numbers_are_refused(text):
    with pytest.raises(InvalidInput, match=r"OPENHYPE_FREE_GB must be a whole number from 0"):
        quota({"OPENHYPE_FREE_GB": text})
    with pytest.raises(InvalidInput, match=r"OPENHYPE_UPLOAD_FILES must be a whole number"):
        limits({"OPENHYPE_UPLOAD_FILES": text + "x"})
