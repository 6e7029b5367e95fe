"""Stimuli read from the bucket that serves them, for the results pages of a function."""

import logging

from deploy.s3_upload import Place

log = logging.getLogger("openhype")

_TIMEOUT_S = 3


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
