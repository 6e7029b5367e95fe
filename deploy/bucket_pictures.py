"""Stimuli read from the bucket that serves them, for the results pages and jobs of functions."""

import logging
import os
import secrets
import shutil
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from backend.foundation.errors import StoreFailed
from deploy.s3_upload import Place, s3_client

log = logging.getLogger("openhype")

_TIMEOUT_S = 3
_AT_ONCE = 16


class BucketPictures:
    """The stimuli that `upload_pictures` stored in a bucket. Safe to use from many threads."""

    def __init__(self, place: Place):
        import boto3
        from botocore.config import Config

        config = Config(
            connect_timeout=_TIMEOUT_S,
            read_timeout=_TIMEOUT_S,
            retries={"total_max_attempts": 2, "mode": "standard"},
            max_pool_connections=16,
        )
        self._place, self._s3 = place, boto3.client("s3", config=config)

    def read(self, study: str, name: str) -> bytes | None:
        """Return the content of a stimulus; None if it is not in the bucket, or cannot be read in time."""
        from botocore.exceptions import BotoCoreError, ClientError

        key = f"{self._place.prefix}i/{study}/{name}"
        try:
            return self._s3.get_object(Bucket=self._place.bucket, Key=key)["Body"].read()
        except (ClientError, BotoCoreError) as error:  # a report is right without its thumbnails
            log.warning("no thumbnail of %s: %s", key, error)
            return None


def fetch_pictures(
    place: Place, study: str, folder: Path, client: Any = None, names: Collection[str] | None = None
) -> int:
    """Copy the stimuli and masks of a study into a new folder, whole or not at all; return their number.

    Nothing is made if the bucket has none.

    Args:
        names: copy only files of these names.

    Raises:
        StoreFailed: the bucket could not be read.
    """
    client = client or s3_client()
    from botocore.exceptions import BotoCoreError, ClientError

    partial = folder.with_name(f".partial-{study}-{secrets.token_hex(8)}")
    prefix = f"{place.prefix}i/{study}/"
    try:
        pages = client.get_paginator("list_objects_v2").paginate(Bucket=place.bucket, Prefix=prefix)
        stored_keys = (entry["Key"] for page in pages for entry in page.get("Contents", ()))
        keys = [key for key in stored_keys if names is None or key.removeprefix(prefix) in names]
        if not keys:
            return 0
        partial.mkdir(parents=True, mode=0o700)

        def fetch(key: str) -> None:
            body = client.get_object(Bucket=place.bucket, Key=key)["Body"].read()
            (partial / key.removeprefix(prefix)).write_bytes(body)

        with ThreadPoolExecutor(_AT_ONCE) as pool:
            for _ in pool.map(fetch, keys):
                pass
        os.rename(partial, folder)
    except (BotoCoreError, ClientError) as error:
        raise StoreFailed(f"{place}: {error}") from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return len(keys)
