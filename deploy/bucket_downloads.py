"""Files to download that the function `work` leaves in a bucket; clients fetch them by a presigned link.

A function's reply has 6 MB at most, and what it started stands still once it has replied. So `score` only
enqueues the job, wakes `work`, and replies with the link when the file is there. The file's name changes with
what it is made of: once somebody withdrew, no link leads to a file that has the answers, and the bucket's
lifecycle rule deletes it.
"""

import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any
from urllib.parse import quote

from flask import Response

from backend.foundation.errors import Conflict, StoreFailed
from backend.web.downloads import Downloads
from deploy.bucket_uploads import make_client
from deploy.s3_upload import Place

LINK_S = 60
"""Seconds in which a file can be fetched by its link."""
_WAIT_S = 10.0
"""Longest wait of a request: a function has few instances, and each takes one request at a time."""
_AGAIN_S = 5.0
"""Time (s) after which a worker is asked for again, if the job still waits: a call may have been lost."""
_GONE = frozenset({"NoSuchKey", "404", "NotFound"})


class BucketDownloads(Downloads):
    """The downloads of a function."""

    longest_wait_s = _WAIT_S
    is_elsewhere = True

    def __init__(self, *surroundings: Any, place: Place, wake: Callable[[], Any], client: Any = None):
        """
        Args:
            surroundings: those of `Downloads`.
            place: the folder of the bucket.
            wake: has the jobs done that wait.
        """
        super().__init__(*surroundings)
        self._bucket, self._wake, self._s3 = place, wake, client or make_client(None)
        self._woken: dict[str, float] = {}

    def sent(self, path: Path, media: str, name: str) -> Response:
        """Return a redirect to the file."""
        asked = {
            **self._object(path),
            "ResponseContentType": f"{media}; charset=utf-8" if media.startswith("text/") else media,
            "ResponseContentDisposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}",
        }
        link = self._s3.generate_presigned_url("get_object", Params=asked, ExpiresIn=LINK_S)
        return Response(status=303, headers={"Location": link})

    def content(self, path: Path) -> bytes:
        """Return the content of a file, as in `Downloads`."""
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

    def start_worker(self, job_id: str) -> None:
        """Have a job done, asking again after some time."""
        now = time.monotonic()
        self._woken = {id: at for id, at in self._woken.items() if now - at < _AGAIN_S}
        if job_id not in self._woken:
            self._woken[job_id] = now
            self._wake()

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
