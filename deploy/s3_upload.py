"""Upload of files to an S3 bucket: in parallel, skipping those already there with the same content.

A study's stimuli are stored in the data directory. If a bucket serves them to browsers (`OPENHYPE_IMAGES`,
`s3://BUCKET/PREFIX`), they are also uploaded, as `PREFIX/i/STUDY/NAME`. Names are keyed hashes, and files
are uploaded in order of their names, so that the time of an upload reveals nothing about real and fake.
"""

import hashlib
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from backend.foundation.errors import InvalidInput, StoreFailed
from backend.foundation.optional_packages import not_installed
from backend.web import headers

_AT_ONCE = 16


class MayNotDelete(StoreFailed):
    """These credentials may not delete pictures in the bucket; the deployment's function `work` may."""


@dataclass(frozen=True)
class Place:
    """A folder of a bucket; `prefix` is empty or ends with a slash."""

    bucket: str
    prefix: str

    def __str__(self) -> str:
        return f"s3://{self.bucket}/{self.prefix}".rstrip("/")


def parse_place(url: str) -> Place:
    """Return the bucket and prefix of `s3://BUCKET/PREFIX`.

    Raises:
        InvalidInput: `url` has another form.
    """
    scheme, _, rest = url.partition("://")
    bucket, _, prefix = rest.partition("/")
    if scheme != "s3" or not bucket:
        raise InvalidInput(f"pictures are uploaded to s3://BUCKET/PREFIX, not to {url!r}")
    prefix = prefix.strip("/")
    return Place(bucket, f"{prefix}/" if prefix else "")


def upload_pictures(place: Place, study: str, folder: Path, progress: Callable | None = None) -> int:
    """Upload the stimuli and masks of a study; return the number of files uploaded.

    Raises:
        InvalidInput: `folder` does not exist.
        NotInstalled: the package boto3 is missing.
        StoreFailed: the bucket could not be read or written; files already there are not sent again.
    """
    if not folder.is_dir():
        raise InvalidInput(f"{folder} does not exist; upload from the data directory the study was made in")
    files = {f"i/{study}/{path.name}": path for path in folder.iterdir()}
    return upload(place, files, headers.IMMUTABLE, progress)


def publisher(place: str | None, progress: Callable | None = None) -> Callable[[str, Path], int] | None:
    """Return what uploads a study's pictures (study, folder) to a place such as `s3://BUCKET/PREFIX`.

    None for no place.

    Raises:
        InvalidInput: the place is not of this form.
    """
    return partial(upload_pictures, parse_place(place), progress=progress) if place else None


def remove_pictures(
    place: Place, study: str, client: Any = None, names: Collection[str] | None = None
) -> int:
    """Delete the uploaded stimuli and masks of a study; return the number of files deleted.

    Args:
        names: delete only files of these names.

    Raises:
        As `remove_folder`.
    """
    return remove_folder(place, f"i/{study}", client, names)


def remove_folder(place: Place, folder: str, client: Any = None, names: Collection[str] | None = None) -> int:
    """Delete a folder of a place; return the number of files deleted.

    Args:
        names: delete only files of these names.

    Raises:
        NotInstalled: the package boto3 is missing.
        MayNotDelete: the credentials do not suffice.
        StoreFailed: the bucket could not be read or written; a second call deletes the remaining files.
    """
    client = client or s3_client()
    from botocore.exceptions import BotoCoreError, ClientError

    prefix = f"{place.prefix}{folder}/"
    count = 0
    try:
        for page in client.get_paginator("list_objects_v2").paginate(Bucket=place.bucket, Prefix=prefix):
            keys = [entry["Key"] for entry in page.get("Contents", ())]
            objects = [{"Key": key} for key in keys if names is None or key.removeprefix(prefix) in names]
            if objects:
                gone = client.delete_objects(Bucket=place.bucket, Delete={"Objects": objects, "Quiet": True})
                if left := gone.get("Errors"):
                    raise _not_deleted(left[0])(
                        f"{place}: {left[0]['Key']} could not be deleted: {left[0]['Message']}"
                    )
                count += len(objects)
    except (BotoCoreError, ClientError) as error:
        details = error.response["Error"] if isinstance(error, ClientError) else {}
        raise _not_deleted(details)(f"{place}: {error}; what is left is deleted the next time") from None
    return count


def _not_deleted(error: Mapping[str, Any]) -> type[StoreFailed]:
    """Return the class of an error that S3 gave when it was to delete."""
    return MayNotDelete if error.get("Code") == "AccessDenied" else StoreFailed


def upload(
    place: Place,
    files: Mapping[str, Path | bytes],
    cache_control: str,
    progress: Callable | None = None,
    client: Any = None,
) -> int:
    """Upload the files that the bucket lacks or has with other content; return their number.

    Args:
        files: paths or contents, by key relative to the prefix.
        client: S3 client; default, one configured by the environment.

    Raises:
        NotInstalled, StoreFailed: as in `upload_pictures`.
    """
    client = client or s3_client()
    from botocore.exceptions import BotoCoreError, ClientError

    def send(key: str) -> None:
        client.put_object(
            Bucket=place.bucket,
            Key=place.prefix + key,
            Body=_content(files[key]),
            ContentType=headers.content_type(key),
            CacheControl=cache_control,
        )

    try:
        missing = missing_files(place, files, client)
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            sending = pool.map(send, missing)
            for _ in progress(sending, len(missing), "uploading") if progress else sending:
                pass
    except (BotoCoreError, ClientError) as error:
        raise StoreFailed(f"{place}: {error}; what is there already is not sent again") from None
    return len(missing)


def missing_files(place: Place, files: Mapping[str, Path | bytes], client: Any) -> list[str]:
    """Return the keys of `files` that the bucket lacks or has with other content, sorted."""
    there = _there(client, place, files)
    return [key for key in sorted(files) if there.get(key) != _etag(files[key])]


def _there(client: Any, place: Place, files: Mapping[str, Path | bytes]) -> dict[str, str]:
    """Return the ETag by key of each file that the bucket has in the folders of `files`."""
    etags: dict[str, str] = {}
    for folder in sorted({key.rpartition("/")[0] for key in files}):
        prefix = f"{place.prefix}{folder}/" if folder else place.prefix
        pages = client.get_paginator("list_objects_v2").paginate(
            Bucket=place.bucket, Prefix=prefix, Delimiter="/"
        )
        for page in pages:
            for entry in page.get("Contents", ()):
                etags[entry["Key"].removeprefix(place.prefix)] = entry["ETag"].strip('"')
    return etags


def _etag(file: Path | bytes) -> str:
    """Return the ETag that S3 gives a file uploaded in one part: the MD5 of its content."""
    return hashlib.md5(_content(file), usedforsecurity=False).hexdigest()


def _content(file: Path | bytes) -> bytes:
    return file if isinstance(file, bytes) else file.read_bytes()


def s3_client(session: Any = None) -> Any:
    """Return an S3 client with a connection for each parallel upload.

    Args:
        session: boto3 session; default, the one that the environment configures.

    Raises:
        NotInstalled: the package boto3 is missing.
    """
    try:
        import boto3
        from botocore.config import Config
    except ImportError:
        raise not_installed("a bucket", "boto3") from None
    retries = {"mode": "standard", "max_attempts": 8}
    return (session or boto3).client("s3", config=Config(max_pool_connections=_AT_ONCE, retries=retries))
