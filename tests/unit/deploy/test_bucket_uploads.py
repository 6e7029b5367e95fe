"""Uploads in a bucket, against moto: presigned parts, what S3 knows of them, and what ends them."""

import base64
import hashlib
import io
import os
import urllib.error
import urllib.request
import zlib
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import ClassVar

import pytest

from backend.client.file_stream import PART_BYTES, digest_of
from backend.foundation.errors import Conflict, InvalidInput, NotFound, StoreFailed
from backend.uploads.limits import Quota
from deploy.bucket_uploads import BOOK, BucketUploads, make_client
from deploy.s3_upload import Place

from ..memory import MemoryStore
from ..uploads.streams import checksums

NOW = datetime(2026, 1, 1, tzinfo=UTC)
PLACE = Place("pictures", "uploads/")
CONTENT = os.urandom(PART_BYTES) + b"the end"
PARTS = [CONTENT[:PART_BYTES], CONTENT[PART_BYTES:]]
CHECKSUMS = checksums(PARTS)


class ListingChecksums:
    """An S3 client whose `list_parts` has the checksums of parts, as S3's has and moto's has not.

    Source: "ListParts", Amazon S3 API reference, `ChecksumCRC32`. Both know parts by their MD5 (ETag).
    """

    KNOWN: ClassVar = {
        f'"{hashlib.md5(part).hexdigest()}"': base64.b64encode(zlib.crc32(part).to_bytes(4)).decode()
        for part in PARTS
    }

    def __init__(self):
        self._client = make_client(None)

    def __getattr__(self, name):
        return getattr(self._client, name)

    def list_parts(self, **arguments):
        found = self._client.list_parts(**arguments)
        for part in found.get("Parts", ()):
            if part["ETag"] in self.KNOWN:
                part["ChecksumCRC32"] = self.KNOWN[part["ETag"]]
        return found


@pytest.fixture
def received(bucket, tmp_path):
    return BucketUploads(MemoryStore(), PLACE, tmp_path / "scratch", client=ListingChecksums())


def begin(uploads, member="ada", now=NOW):
    return uploads.begin(member, "files", len(CONTENT), CHECKSUMS, now)


def put(place, content):
    headers = {"Content-Type": "application/octet-stream", **place.headers}
    asked = urllib.request.Request(place.url, content, headers, method="PUT")
    with urllib.request.urlopen(asked, timeout=20) as reply:
        return reply.status


def send(uploads, upload, parts=(0, 1)):
    for place in uploads.urls(upload.id, parts):
        put(place, PARTS[place.part])


def objects(bucket):
    return [entry["Key"] for entry in bucket.list_objects_v2(Bucket="pictures").get("Contents", [])]


def running(bucket):
    return bucket.list_multipart_uploads(Bucket="pictures").get("Uploads", [])


def test_parts_go_to_the_bucket_and_make_up_the_archive(received, tmp_path):
    begun = begin(received)
    send(received, begun, [1])
    half = received.upload(begun.id)
    send(received, begun, [0, 1])

    done = received.complete(begun.id, NOW)

    assert (begun.missing, begun.is_new, half.missing) == ((0, 1), True, (0,))
    assert (done.state, done.digest, done) == (
        "complete",
        digest_of(CHECKSUMS),
        received.complete(begun.id, NOW),
    )
    with received.archive(begun.id) as archive:
        assert archive.read_bytes() == CONTENT
    assert list((tmp_path / "scratch").iterdir()) == []


def test_a_url_is_for_one_part_of_one_length_with_one_checksum(received):
    begun = begin(received)

    (place,) = received.urls(begun.id, [1])

    expected = base64.b64encode(zlib.crc32(PARTS[1]).to_bytes(4)).decode()
    assert (place.part, place.headers) == (1, {"x-amz-checksum-crc32": expected})
    assert "partNumber=2" in place.url
    assert "X-Amz-SignedHeaders=content-length%3Bhost%3Bx-amz-checksum-crc32" in place.url
    assert "X-Amz-Expires=3600" in place.url
    assert received.origins == ("/".join(place.url.split("/")[:3]),)


def test_urls_name_the_buckets_regional_host(monkeypatch, tmp_path):
    for name, value in {"ID": "a", "KEY": "b"}.items():
        monkeypatch.setenv(f"AWS_{'ACCESS_KEY_ID' if name == 'ID' else 'SECRET_ACCESS_KEY'}", value)
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)

    uploads = BucketUploads(MemoryStore(), PLACE, tmp_path, region="eu-west-3")

    assert uploads.origins == ("https://pictures.s3.eu-west-3.amazonaws.com",)


def test_a_part_with_another_content_is_not_counted(received):
    begun = begin(received)
    (place,) = received.urls(begun.id, [1])
    other = base64.b64encode(zlib.crc32(b"other").to_bytes(4)).decode()

    with_other = type(place)(1, place.url, {"x-amz-checksum-crc32": other})
    with suppress(urllib.error.HTTPError):  # S3 refuses the signature, which moto does not check
        put(with_other, b"other")

    assert received.upload(begun.id).missing == (0, 1)
    with pytest.raises(Conflict, match=r"2 of 2 parts were not received yet"):
        received.complete(begun.id, NOW)


def test_the_same_content_is_the_same_upload_of_its_member_alone(received, bucket):
    first, again, other = begin(received), begin(received), begin(received, "bob")

    assert (again.id, again.is_new) == (first.id, False)
    assert other.id != first.id
    assert len(running(bucket)) == 2


def test_two_requests_that_begin_at_once_begin_one_upload(received, bucket, tmp_path):
    class Racing(MemoryStore):
        def write_entry(self, book, key, expected_version, data):
            if expected_version == 0 and not self.raced:
                self.raced = True
                begin(BucketUploads(self, PLACE, tmp_path))
            return super().write_entry(book, key, expected_version, data)

        raced = False

    upload = begin(BucketUploads(Racing(), PLACE, tmp_path))

    assert (upload.is_new, upload.missing, len(running(bucket))) == (False, (0, 1), 1)


def test_a_function_killed_between_s3_and_the_table_leaves_a_complete_upload(received, bucket):
    begun = begin(received)
    send(received, begun)
    multipart = received._entry(begun.id).data["multipart"]
    key = f"uploads/{begun.id}/archive"
    listed = bucket.list_parts(Bucket="pictures", Key=key, UploadId=multipart)["Parts"]
    parts = [{name: each[name] for name in ("PartNumber", "ETag")} for each in listed]
    bucket.complete_multipart_upload(
        Bucket="pictures", Key=key, UploadId=multipart, MultipartUpload={"Parts": parts}
    )

    before = received.upload(begun.id)

    assert (before.state, before.missing) == ("receiving", ())
    assert received.complete(begun.id, NOW).state == "complete"


@pytest.mark.parametrize("jump", [timedelta(days=8), timedelta(days=-4000)])
def test_uploads_expire_by_days_that_pass_and_not_by_a_jump_of_the_clock(received, jump):
    old = begin(received)
    received.expire(NOW)

    removed = [received.expire(NOW + jump + timedelta(days=days)) for days in range(10)]

    assert (sum(removed[:6]), sum(removed)) == (0, 1)
    with pytest.raises(NotFound, match=r"there is no upload"):
        received.upload(old.id)


def test_unused_uploads_expire_and_leave_nothing(received, bucket):
    old = begin(received)
    used = begin(received, "bob", NOW + timedelta(days=5))

    removed = received.expire(NOW + timedelta(days=8))
    received.delete(used.id)

    assert (removed, objects(bucket), running(bucket)) == (1, [], [])
    for id in (old.id, used.id, "../x", "0" * 32):
        with pytest.raises(NotFound, match=r"there is no upload"):
            received.upload(id)
    assert list(received._store.entries(BOOK)) == []


@pytest.mark.parametrize("is_complete", [False, True])
def test_an_upload_that_the_buckets_rules_ended_begins_anew(received, bucket, is_complete):
    begun = begin(received)
    if is_complete:
        send(received, begun)
        received.complete(begun.id, NOW)
        bucket.delete_object(Bucket="pictures", Key=f"uploads/{begun.id}/archive")
    else:
        (one,) = running(bucket)
        bucket.abort_multipart_upload(Bucket="pictures", Key=one["Key"], UploadId=one["UploadId"])
        with pytest.raises(NotFound, match=r"there is no upload"):
            received.upload(begun.id)

    again = begin(received)

    assert (again.id, again.is_new, again.missing, again.state) == (begun.id, True, (0, 1), "receiving")


def test_quotas_and_lists_are_checked_as_on_one_machine(bucket, tmp_path):
    uploads = BucketUploads(MemoryStore(), PLACE, tmp_path, Quota(each=10))

    with pytest.raises(Conflict, match=r"with it your uploads would be"):
        begin(uploads)
    with pytest.raises(InvalidInput, match=r"2 for 5242887 bytes"):
        uploads.begin("ada", "files", len(CONTENT), CHECKSUMS[:1], NOW)
    assert (objects(bucket), running(bucket)) == ([], [])


def test_parts_are_not_taken_by_the_function(received):
    begun = begin(received)

    with pytest.raises(Conflict, match=r"receives parts at the addresses") as refused:
        received.write(begun.id, 0, io.BytesIO(PARTS[0]), NOW)
    with pytest.raises(NotFound, match=r"parts are numbered from 0 to 1"):
        received.urls(begun.id, [2])
    with pytest.raises(Conflict, match=r"2 of 2 parts"), received.archive(begun.id):
        pass

    assert refused.value.code == "sent_elsewhere"


def test_a_bucket_that_cannot_be_used_is_reported(cloud, tmp_path):
    uploads = BucketUploads(MemoryStore(), Place("none", ""), tmp_path)

    with pytest.raises(StoreFailed, match=r"s3://none: .*bucket does not exist"):
        begin(uploads)
