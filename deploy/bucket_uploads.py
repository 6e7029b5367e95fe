"""Uploads that browsers and programs send to an S3 bucket themselves, by presigned URLs of parts.

Each upload is an S3 multipart upload. A URL is valid for one part of one length with one CRC-32: S3 refuses
another length by the signature, and compares the checksum with what it receives. The table's book `uploads`
says whose an upload is; the bucket has the checksums of its parts and the archive, in `uploads/<id>/`.

A function has no disk to speak of: `archive` copies the archive into a folder of the worker.
"""

import base64
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO

from backend.client.file_stream import PART_BYTES
from backend.foundation.errors import Conflict, NotFound, StoreFailed
from backend.foundation.timestamps import stamp
from backend.stores.store import Entry, Stale, Store
from backend.stores.updates import update
from backend.uploads import uploads
from backend.uploads.limits import GB, Quota
from backend.uploads.uploads import COMPLETE, EXPIRES, RECEIVING, PartUrl, Upload
from deploy.s3_upload import Place

BOOK, LOOKED = "uploads", "uploads looked at"
_URL_SECONDS = 3600
_CHECKSUM_BYTES = 4
_CHECKSUM = "x-amz-checksum-crc32"
_GONE = frozenset({"NoSuchUpload", "NoSuchKey", "404"})


class BucketUploads:
    """Uploads in a bucket. Safe to use from many threads.

    Args:
        place: the folder of the bucket.
        scratch: where archives are copied to be read.
        region: of the bucket; by default as boto3 is configured.
    """

    def __init__(
        self,
        store: Store,
        place: Place,
        scratch: Path,
        quota: Quota | None = None,
        region: str | None = None,
        client: Any = None,
    ):
        self._store, self._place, self._scratch = store, place, scratch
        self._quota = quota or Quota()
        self._s3 = client or make_client(region)

    @property
    def origins(self) -> tuple[str, ...]:
        """The origin of the presigned URLs, which a page must be allowed to connect to."""
        url = self._s3.generate_presigned_url("head_bucket", Params={"Bucket": self._place.bucket})
        return ("/".join(url.split("/")[:3]),)

    def begin(self, member: str, format: str, bytes: int, parts: Sequence[str], now: datetime) -> Upload:
        uploads.check_upload(format, bytes, parts)
        id = uploads.upload_id(member, format, bytes, parts)
        is_new = not self._is_usable(id)
        if is_new:
            self._check_quota(member, bytes)
            self._ask("put_object", Key=self._key(id, "parts"), Body=b"".join(map(_raw, parts)))
            begun = self._ask(
                "create_multipart_upload", Key=self._key(id, "archive"), ChecksumAlgorithm="CRC32"
            )
            facts = {
                "member": member,
                "format": format,
                "bytes": bytes,
                "multipart": begun["UploadId"],
                "state": RECEIVING,
                "used_at": stamp(now),
            }
            try:
                self._store.write_entry(BOOK, id, 0, facts)
            except Stale:  # begun at the same moment by another request
                is_new = False
                self._abort(id, begun["UploadId"])
        self._change(id, {"used_at": stamp(now)})
        return self._upload(id, is_new)

    def upload(self, id: str) -> Upload:
        return self._upload(id)

    def urls(self, id: str, parts: Sequence[int]) -> list[PartUrl]:
        """Return presigned URLs of parts, valid for an hour."""
        upload, entry = self._upload(id), self._entry(id)
        for part in parts:
            uploads.check_part(upload, part)
        return [self._url(upload, entry.data["multipart"], part) for part in parts]

    def write(self, id: str, part: int, stream: BinaryIO, now: datetime) -> Upload:
        """Refuse a part: functions take no bodies of this length.

        Raises:
            Conflict: `sent_elsewhere`.
        """
        uploads.check_part(self._upload(id), part)
        raise Conflict(
            "this server receives parts at the addresses that POST /api/uploads/{upload}/urls gives",
            code="sent_elsewhere",
        )

    def complete(self, id: str, now: datetime) -> Upload:
        upload = self._upload(id)
        uploads.check_complete(upload)
        if upload.state != COMPLETE:
            self._join(upload)
            self._change(id, {"state": COMPLETE, "used_at": stamp(now)})
        return self._upload(id)

    def delete(self, id: str) -> None:
        """Delete an upload; a job that reads it has a copy."""
        self._remove(self._entry(id))

    @contextmanager
    def archive(self, id: str) -> Iterator[Path]:
        upload = self._upload(id)
        if upload.state != COMPLETE:
            uploads.check_complete(upload)
            raise Conflict("the upload was not completed yet", code="parts_missing")
        self._scratch.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(self._scratch).free
        if free < upload.bytes:
            raise StoreFailed(
                f"the archive has {upload.bytes / GB:.3g} GB, and {free / GB:.3g} GB are free where jobs are "
                "done; send fewer or smaller pictures",
                code="disk_full",
            )
        with tempfile.TemporaryDirectory(dir=self._scratch, prefix="archive-") as folder:
            path = Path(folder) / "archive"
            with path.open("wb") as file:
                reply = self._ask("get_object", Key=self._key(id, "archive"))
                with closing(reply["Body"]) as body:
                    for chunk in _chunks(body, self._place):
                        file.write(chunk)
            yield path

    def expire(self, now: datetime) -> int:
        """Delete uploads that were not used for `EXPIRES`; return their number."""
        self._follow_clock(now)
        latest = stamp(now - EXPIRES)
        old = [entry for entry in self._store.entries(BOOK) if entry.data["used_at"] < latest]
        for entry in old:
            self._remove(entry)
        return len(old)

    def _follow_clock(self, now: datetime) -> None:
        """Note when uploads were looked at; if the clock jumped since the last time, move their last uses."""
        looked = self._store.entry(LOOKED, "-")
        with suppress(Stale):  # another function looks at this moment
            at = {"at": stamp(now)}
            self._store.write_entry(LOOKED, "-", looked.version if looked else 0, at)
            jump = uploads.jump(datetime.fromisoformat(looked.data["at"]), now) if looked else None
            for entry in self._store.entries(BOOK) if jump else ():
                used_at = datetime.fromisoformat(entry.data["used_at"]) + (jump or timedelta(0))
                self._change(entry.key, {"used_at": stamp(min(used_at, now))})

    def _is_usable(self, id: str) -> bool:
        """Return whether an upload was begun before; forget one that a lifecycle rule of the bucket ended."""
        entry = self._store.entry(BOOK, id)
        if entry is None:
            return False
        with suppress(NotFound):
            if self._upload(id).state != COMPLETE or self._is_joined(id):
                return True
        self._remove(entry)
        return False

    def _entry(self, id: str) -> Entry:
        entry = self._store.entry(BOOK, id) if uploads.is_id(id) else None
        if entry is None:
            raise uploads.unknown(id)
        return entry

    def _upload(self, id: str, is_new: bool = False) -> Upload:
        facts = self._entry(id).data
        checksums = self._checksums(id)
        is_complete = facts["state"] == COMPLETE
        received = None if is_complete else self._received(id, facts["multipart"])
        missing = (
            [] if received is None else [n for n, each in enumerate(checksums) if received.get(n) != each]
        )
        return Upload(
            id=id,
            member=facts["member"],
            format=facts["format"],
            bytes=facts["bytes"],
            parts=tuple(each.hex() for each in checksums),
            state="complete" if is_complete else "receiving",
            missing=tuple(missing),
            expires_at=uploads.expiry(datetime.fromisoformat(facts["used_at"])),
            is_new=is_new,
        )

    def _checksums(self, id: str) -> list[bytes]:
        try:
            reply = self._ask("get_object", Key=self._key(id, "parts"))
        except _Gone:
            raise uploads.unknown(id) from None
        with closing(reply["Body"]) as body:
            data = b"".join(_chunks(body, self._place))
        return [data[start : start + _CHECKSUM_BYTES] for start in range(0, len(data), _CHECKSUM_BYTES)]

    def _listed(self, id: str, multipart: str) -> Iterator[Mapping[str, Any]]:
        after = 0
        while True:
            reply = self._ask(
                "list_parts", Key=self._key(id, "archive"), UploadId=multipart, PartNumberMarker=after
            )
            yield from reply.get("Parts", ())
            if not reply.get("IsTruncated"):
                return
            after = reply["NextPartNumberMarker"]

    def _received(self, id: str, multipart: str) -> dict[int, bytes] | None:
        """Return the checksums of received parts by number; None if S3 has joined them."""
        try:
            parts = [*self._listed(id, multipart)]
        except _Gone:
            if self._is_joined(id):
                return None
            raise uploads.unknown(id) from None  # aborted by the bucket's lifecycle rule
        return {
            each["PartNumber"] - 1: base64.b64decode(each["ChecksumCRC32"])
            for each in parts
            if each.get("ChecksumCRC32")
        }

    def _is_joined(self, id: str) -> bool:
        try:
            self._ask("head_object", Key=self._key(id, "archive"))
        except _Gone:
            return False
        return True

    def _join(self, upload: Upload) -> None:
        """Have S3 make one object of the parts, and compare its checksum with the digest."""
        key, multipart = self._key(upload.id, "archive"), self._entry(upload.id).data["multipart"]
        try:
            parts = [
                {name: each[name] for name in ("PartNumber", "ETag", "ChecksumCRC32")}
                for each in self._listed(upload.id, multipart)
            ]
            self._ask(
                "complete_multipart_upload", Key=key, UploadId=multipart, MultipartUpload={"Parts": parts}
            )
        except _Gone:  # joined by another request
            pass
        head = self._ask("head_object", Key=key)
        if head["ContentLength"] != upload.bytes:
            raise StoreFailed(
                f"the archive has {head['ContentLength']} bytes in the bucket, not {upload.bytes}; "
                "delete the upload and send it again"
            )

    def _url(self, upload: Upload, multipart: str, part: int) -> PartUrl:
        checksum = base64.b64encode(_raw(upload.parts[part])).decode()
        url = self._s3.generate_presigned_url(
            "upload_part",
            Params={
                "Bucket": self._place.bucket,
                "Key": self._key(upload.id, "archive"),
                "UploadId": multipart,
                "PartNumber": part + 1,
                "ChecksumCRC32": checksum,
                "ContentLength": uploads.part_length(upload.bytes, part),
            },
            ExpiresIn=_URL_SECONDS,
        )
        return PartUrl(part, url, {_CHECKSUM: checksum})

    def _change(self, id: str, facts: Mapping[str, Any]) -> None:
        update(self._store, BOOK, id, lambda now: None if now is None else {**now, **facts})

    def _remove(self, entry: Entry) -> None:
        self._abort(entry.key, entry.data["multipart"])
        for name in ("archive", "parts"):
            self._ask("delete_object", Key=self._key(entry.key, name))
        self._store.erase_entry(BOOK, entry.key)

    def _abort(self, id: str, multipart: str) -> None:
        with suppress(_Gone):
            self._ask("abort_multipart_upload", Key=self._key(id, "archive"), UploadId=multipart)

    def _check_quota(self, member: str, bytes: int) -> None:
        held = [entry.data for entry in self._store.entries(BOOK)]
        own = [each["bytes"] for each in held if each["member"] == member]
        uploads.check_quota(self._quota, own, [each["bytes"] for each in held], bytes)

    def _key(self, id: str, name: str) -> str:
        return f"{self._place.prefix}{id}/{name}"

    def _ask(self, call: str, **arguments: Any) -> Mapping[str, Any]:
        """Return S3's reply.

        Raises:
            _Gone: what was asked for does not exist.
            StoreFailed: S3 refused, or was not reached.
        """
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            return getattr(self._s3, call)(Bucket=self._place.bucket, **arguments)
        except ClientError as error:
            if error.response["Error"]["Code"] in _GONE:
                raise _Gone(f"{self._place}: {error}") from None
            raise StoreFailed(f"{self._place}: {error}") from None
        except BotoCoreError as error:
            raise StoreFailed(f"{self._place}: {error}") from None


class _Gone(StoreFailed):
    """An object or a multipart upload does not exist."""


def _raw(checksum: str) -> bytes:
    return bytes.fromhex(checksum)


def _chunks(body: Any, place: Place) -> Iterator[bytes]:
    from botocore.exceptions import BotoCoreError

    try:
        yield from body.iter_chunks(PART_BYTES)
    except BotoCoreError as error:
        raise StoreFailed(f"{place}: {error}") from None


def make_client(region: str | None) -> Any:
    """Return the S3 client of a region; by default that of the environment."""
    import boto3
    from botocore.config import Config

    # Presigned URLs name the bucket's regional host: one that redirects would break a browser's request.
    config = Config(
        signature_version="s3v4",
        s3={"addressing_style": "virtual"},
        connect_timeout=3,
        read_timeout=20,
        retries={"total_max_attempts": 3, "mode": "standard"},
    )
    return boto3.client("s3", region_name=region, config=config)
