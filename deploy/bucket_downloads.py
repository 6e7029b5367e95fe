"""Files to download that the function `work` leaves in a bucket; clients fetch them by a presigned link.

A function's reply has 6 MB at most, and what it started stands still once it has replied. So `score` only
enqueues the job, which wakes `work`, and replies with the link when the file is there. The file's name
changes with what it is made of: once somebody withdrew, no link leads to a file that has the answers.

Those that a member's request makes outdated are deleted at once, and so are those of a deleted study. `work`
deletes others with the job that made them, one to two hours after it ended; the bucket's lifecycle rule
deletes what is left.
"""

import logging
from collections.abc import Collection
from pathlib import Path
from typing import Any
from urllib.parse import quote

from flask import Response

from backend.foundation.errors import Conflict, StoreFailed
from backend.jobs.queue import Job
from backend.web.downloads import Downloads
from deploy.bucket_uploads import make_client
from deploy.s3_upload import Place, remove_folder

LINK_S = 60
"""Seconds in which a file can be fetched by its link."""
_WAIT_S = 10.0
"""Longest wait of a request: a function has few instances, and each takes one request at a time."""
log = logging.getLogger("openhype")
_GONE = frozenset({"NoSuchKey", "404", "NotFound"})


class BucketDownloads(Downloads):
    """The downloads of a function."""

    longest_wait_s = _WAIT_S
    most_bytes = 3_000_000
    """In Lambda's JSON, of 6 MB at most, a quotation mark has two bytes, and three bytes of gzip four."""
    is_elsewhere = True

    def __init__(self, *surroundings: Any, place: Place, client: Any = None):
        """
        Args:
            surroundings: those of `Downloads`.
            place: the folder of the bucket.
        """
        super().__init__(*surroundings)
        self._bucket, self._s3 = place, client or make_client(None)

    def sent(self, path: Path, media: str, name: str) -> Response:
        asked = {
            **self._object(path),
            "ResponseContentType": f"{media}; charset=utf-8" if media.startswith("text/") else media,
            "ResponseContentDisposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}",
        }
        link = self._s3.generate_presigned_url("get_object", Params=asked, ExpiresIn=LINK_S)
        return Response(status=303, headers={"Location": link})

    def content(self, path: Path) -> bytes:
        return self._asked("get_object", path)["Body"].read()

    def _place(self) -> str:
        return str(self._bucket)

    def _is_there(self, path: Path) -> bool:
        try:
            self._asked("head_object", path)
        except FileNotFoundError:
            return False
        return True

    def _expire_later(self) -> None:
        """Leave that to the bucket's lifecycle rule."""

    def remove(self, study: str) -> None:
        """Remove the files of a study, as in `Downloads`; `work` does it in its time if S3 refuses."""
        try:
            remove_folder(self._bucket, study, self._s3)
        except StoreFailed as error:
            log.warning("%s", error)

    def start_worker(self) -> None:
        """Leave that to whoever enqueued the job: `deploy.work_calls`."""

    def _object(self, path: Path) -> dict[str, str]:
        return {"Bucket": self._bucket.bucket, "Key": key_of(self._bucket, path)}

    def _asked(self, call: str, path: Path) -> Any:
        """Return S3's reply on a file.

        Raises:
            FileNotFoundError: there is no such file.
            StoreFailed: S3 refused, or was not reached.
        """
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            return getattr(self._s3, call)(**self._object(path))
        except ClientError as error:
            if error.response["Error"]["Code"] in _GONE:
                raise FileNotFoundError(path.name) from None
            raise StoreFailed(f"{self._bucket}: {error}") from None
        except BotoCoreError as error:
            raise StoreFailed(f"{self._bucket}: {error}") from None


class NoDownloads(Downloads):
    """Those of a function that nobody makes files for, such as one that Zappa alone has deployed."""

    kinds: Collection[str] = ()

    def get(self, *asked: Any, **options: Any) -> Path:
        """Refuse every file.

        Raises:
            Conflict: `not_offered`.
        """
        raise Conflict(
            "this server offers no files to download; on your own machine, `openhype export`, `openhype "
            "report` and `openhype site` make them from its store",
            code="not_offered",
        )


def key_of(place: Place, path: Path) -> str:
    """Return the key of a file, named after the study in whose folder of downloads it would be."""
    return f"{place.prefix}{path.parent.name}/{path.name}"


def remove_made(place: Place, job: Job, client: Any = None) -> None:
    """Delete the file that a job left in a place, if it is a download and left one there.

    Raises:
        StoreFailed: S3 refused, or was not reached.
    """
    from botocore.exceptions import BotoCoreError, ClientError

    if job.args.get("place") != str(place):
        return
    key = key_of(place, Path(job.study or "") / job.args["file"])
    try:
        (client or make_client(None)).delete_object(Bucket=place.bucket, Key=key)
    except (BotoCoreError, ClientError) as error:
        raise StoreFailed(f"{place}: {error}") from None


def deliver(place: Place, path: Path, client: Any = None) -> None:
    """Move a file that was made from its study's folder of downloads into the bucket.

    Raises:
        StoreFailed: S3 refused, or was not reached.
    """
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        with path.open("rb") as file:
            (client or make_client(None)).put_object(Bucket=place.bucket, Key=key_of(place, path), Body=file)
    except (BotoCoreError, ClientError) as error:
        raise StoreFailed(f"{place}: {error}") from None
    finally:
        path.unlink(missing_ok=True)
