"""Uploads in files of the data directory.

`uploads/<id>/upload.json` says what was announced; a part is written to its place in `uploads/<id>/archive`
once it was received whole and checked, and then `uploads/<id>/received/<number>` is made, after which it is
not written again. `complete` is there once all parts are. The time at which `used` was last changed
is the last use. A folder appears with its `upload.json`, and disappears by being renamed, so that a server
killed at any moment leaves neither half a part nor half an upload.
"""

import fcntl
import json
import os
import secrets
import shutil
import tempfile
import threading
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, BinaryIO

from backend.client.file_stream import PART_BYTES
from backend.foundation.errors import Conflict, NotFound, StoreFailed, Unavailable, reason
from backend.foundation.file_permissions import make_folder, private
from backend.foundation.syncing import sync
from backend.stores.datadir import DataDir
from backend.uploads import uploads
from backend.uploads.limits import GB, Quota
from backend.uploads.uploads import EXPIRES, PartUrl, Upload

_CHUNK = 256 * 1024
_PAUSE_S = 0.006
"""Pause (s) after each chunk: at most some 37 MB/s are taken in all, so that answers are not delayed."""
_TURN = threading.Lock()
"""Held while a chunk is written, and during the pause after it."""
_WAITING = threading.BoundedSemaphore(8)
"""Of the server's 16 threads, those that parts may occupy."""
_PARTIAL, _DELETED = ".partial-", ".deleted-"


class LocalUploads:
    """Uploads of one machine; several processes may serve the same data directory."""

    origins: tuple[str, ...] = ()

    def __init__(self, data: DataDir, quota: Quota | None = None):
        self._data, self._quota = data, quota or Quota()
        self._root = data.root / "uploads"

    def begin(self, member: str, format: str, bytes: int, parts: Sequence[str], now: datetime) -> Upload:
        uploads.check_upload(format, bytes, parts)
        id = uploads.upload_id(member, format, bytes, parts)
        with _stored("the upload could not be begun"), self._data.locked("uploads"):
            if not (is_known := self._folder(id).is_dir()):
                self._check_quota(member, bytes)
                about = {"member": member, "format": format, "bytes": bytes, "parts": [*parts]}
                self._make(id, json.dumps(about))
            self._use(id, now)
        return self._upload(id, is_new=not is_known)

    def upload(self, id: str) -> Upload:
        return self._upload(id)

    def urls(self, id: str, parts: Sequence[int]) -> list[PartUrl]:
        """Return the paths of this server that receive parts."""
        upload = self._upload(id)
        for part in parts:
            uploads.check_part(upload, part)
        headers = {"Content-Type": "application/octet-stream"}
        return [PartUrl(part, f"/api/uploads/{id}/parts/{part}", headers) for part in parts]

    def write(self, id: str, part: int, stream: BinaryIO, now: datetime) -> Upload:
        upload = self._upload(id)
        uploads.check_part(upload, part)
        length = uploads.part_length(upload.bytes, part)
        self._check_disk(length)
        try:
            # Memory stays flat: until it is checked, a part is in a file without a name
            with _admitted(), tempfile.TemporaryFile(dir=self._folder(id)) as content:
                _receive(stream, content, part, length, upload.parts[part])
                if part in upload.missing:
                    _store(self._folder(id), part, content)
            self._use(id, now)
        except FileNotFoundError:  # the upload was deleted in the meantime
            raise uploads.unknown(id) from None
        except OSError as error:
            raise StoreFailed(f"part {part} could not be stored: {reason(error)}") from None
        return self._upload(id)

    def complete(self, id: str, now: datetime) -> Upload:
        upload = self._upload(id)
        uploads.check_complete(upload)
        with _stored("the upload could not be completed"):
            try:
                (self._folder(id) / "complete").touch(mode=0o600)
                sync(self._folder(id))
                self._use(id, now)
            except FileNotFoundError:
                raise uploads.unknown(id) from None
        return self._upload(id)

    def delete(self, id: str) -> None:
        self._upload(id)
        if not self._removed(id):
            raise Conflict(f"upload {id} is being read by a job; try again later", code="upload_in_use")

    @contextmanager
    def archive(self, id: str) -> Iterator[Path]:
        """Give the archive of an upload, as in `Uploads`: no second copy is made."""
        upload = self._upload(id)
        uploads.check_complete(upload)
        folder = self._folder(id)
        with _open_folder(folder, id) as descriptor:
            fcntl.flock(descriptor, fcntl.LOCK_SH)
            self._upload(id)  # it may have been deleted before it was locked
            yield folder / "archive"
            with suppress(OSError):  # it was deleted meanwhile, or nothing can be written
                (folder / "used").touch()

    def expire(self, now: datetime) -> int:
        """Delete what was not used for `EXPIRES`, and what a killed process left; return how many uploads."""
        count = 0
        self._follow_clock(now)
        for folder in self._folders():
            if folder.name.startswith((_PARTIAL, _DELETED)):
                if _age(folder, now) > EXPIRES.total_seconds() or folder.name.startswith(_DELETED):
                    shutil.rmtree(folder, ignore_errors=True)
            elif uploads.is_id(folder.name) and _age(folder / "used", now) > EXPIRES.total_seconds():
                with suppress(NotFound):  # another process deletes it
                    count += self._removed(folder.name)
        return count

    def _follow_clock(self, now: datetime) -> None:
        """Note when uploads were looked at; if the clock jumped since the last time, move their last uses."""
        if not self._root.is_dir():
            return
        with self._data.locked("uploads"):
            looked = self._root / "looked"
            last = datetime.fromtimestamp(looked.stat().st_mtime, UTC) if looked.exists() else now
            jump = uploads.jump(last, now)
            known = [folder for folder in self._folders() if uploads.is_id(folder.name)]
            for folder in known if jump else ():
                with suppress(FileNotFoundError):  # it is being deleted
                    used_s = (folder / "used").stat().st_mtime + jump.total_seconds()
                    _date(folder / "used", min(used_s, now.timestamp()))
            looked.touch(mode=0o600)
            _date(looked, now.timestamp())

    def _folder(self, id: str) -> Path:
        if not uploads.is_id(id):
            raise uploads.unknown(id)
        return self._root / id

    def _folders(self) -> list[Path]:
        return [*self._root.iterdir()] if self._root.is_dir() else []

    def _upload(self, id: str, is_new: bool = False) -> Upload:
        folder = self._folder(id)
        try:
            about = json.loads((folder / "upload.json").read_text("utf-8"))
            used_at = (folder / "used").stat().st_mtime
            there = set(os.listdir(folder / "received"))
        except (FileNotFoundError, NotADirectoryError):
            raise uploads.unknown(id) from None
        missing = tuple(n for n in range(len(about["parts"])) if str(n) not in there)
        return Upload(
            id=id,
            member=about["member"],
            format=about["format"],
            bytes=about["bytes"],
            parts=tuple(about["parts"]),
            state="complete" if (folder / "complete").exists() else "receiving",
            missing=missing,
            expires_at=uploads.expiry(datetime.fromtimestamp(used_at, UTC)),
            is_new=is_new,
        )

    def _make(self, id: str, about: str) -> None:
        """Make the folder of an upload, whole at once."""
        partial = self._root / f"{_PARTIAL}{secrets.token_hex(8)}"
        try:
            make_folder(partial / "received")
            for name, content in (("upload.json", about), ("used", ""), ("archive", "")):
                with open(partial / name, "x", opener=private) as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
            os.rename(partial, self._root / id)
            sync(self._root)
        except OSError:
            shutil.rmtree(partial, ignore_errors=True)
            raise

    def _use(self, id: str, now: datetime) -> None:
        """Have an upload expire `EXPIRES` from now."""
        with suppress(FileNotFoundError):
            _date(self._folder(id) / "used", now.timestamp())

    def _removed(self, id: str) -> bool:
        """Delete an upload; return False if it is being read."""
        folder = self._folder(id)
        gone = self._root / f"{_DELETED}{secrets.token_hex(8)}"
        with _open_folder(folder, id) as descriptor:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            with suppress(FileNotFoundError):  # deleted by another process
                os.rename(folder, gone)
        shutil.rmtree(gone, ignore_errors=True)
        return True

    def _check_quota(self, member: str, bytes: int) -> None:
        own, every = [], []
        for folder in self._folders():
            if not uploads.is_id(folder.name):
                continue
            with suppress(FileNotFoundError):  # it is being deleted
                about = json.loads((folder / "upload.json").read_text("utf-8"))
                every.append(about["bytes"])
                if about["member"] == member:
                    own.append(about["bytes"])
        uploads.check_quota(self._quota, own, every, bytes)
        make_folder(self._root)
        self._check_disk(bytes)

    def _check_disk(self, bytes: int) -> None:
        free = shutil.disk_usage(self._root).free
        if free - bytes < self._quota.free:
            raise StoreFailed(
                f"{bytes / GB:.3g} GB more do not fit on the server's disk, of which "
                f"{self._quota.free / GB:.3g} GB are to stay free",
                code="disk_full",
            )


@contextmanager
def _stored(failure: str) -> Iterator[None]:
    """Raise StoreFailed, with the reason, where the disk cannot be written."""
    try:
        yield
    except OSError as error:
        raise StoreFailed(f"{failure}: {reason(error)}") from None


@contextmanager
def _admitted() -> Iterator[None]:
    """Occupy one of the threads that parts may have.

    Raises:
        Unavailable: they have all; the others are needed for evaluators' requests.
    """
    if not _WAITING.acquire(blocking=False):
        raise Unavailable("many parts are being received; send this one again", code="busy")
    try:
        yield
    finally:
        _WAITING.release()


def _store(folder: Path, part: int, content: IO[bytes]) -> None:
    """Write a part to its place, and note it once it is on the disk."""
    with (folder / "archive").open("r+b") as archive:
        archive.seek(part * PART_BYTES)
        content.seek(0)
        shutil.copyfileobj(content, archive, _CHUNK)
        archive.flush()
        os.fsync(archive.fileno())
    (folder / "received" / str(part)).touch(mode=0o600)
    sync(folder / "received")


def _receive(stream: BinaryIO, content: IO[bytes], part: int, length: int, checksum: str) -> None:
    """Write a part of `length` bytes to a file; of a longer one, one byte more is read, to notice it.

    Raises:
        InvalidInput: `wrong_part`.
    """
    count, crc = 0, 0
    while chunk := stream.read(min(_CHUNK, length + 1 - count)):
        with _TURN:
            content.write(chunk)
            count, crc = count + len(chunk), zlib.crc32(chunk, crc)
            time.sleep(_PAUSE_S)
    if count != length:
        raise uploads.wrong_part(part, f"{length} bytes", "more" if count > length else f"{count}")
    if (sent := f"{crc:08x}") != checksum:
        raise uploads.wrong_part(part, f"the CRC-32 {checksum}", sent)


@contextmanager
def _open_folder(folder: Path, id: str) -> Iterator[int]:
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except FileNotFoundError:
        raise uploads.unknown(id) from None
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _date(path: Path, at_s: float) -> None:
    os.utime(path, (at_s, at_s))


def _age(path: Path, now: datetime) -> float:
    """Return how long ago (s) a file was last changed; 0 if it is gone."""
    try:
        return now.timestamp() - path.stat().st_mtime
    except FileNotFoundError:
        return 0.0
