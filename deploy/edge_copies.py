"""Copies of pictures at CloudFront's edges, which keep them for as long as the pictures' headers say.

They are removed when a model has joined, since files that were there before may be longer by then: an older,
shorter copy beside a new picture would tell which of the two is of the new model. They also are when a study
is deleted.
"""

import logging
import secrets
import time
from collections.abc import Callable
from typing import Any

from backend.foundation.errors import StoreFailed

log = logging.getLogger("openhype")

_LOOK_S, _LOOKS = 5, 36
"""Interval (s) and number of looks at whether copies are removed; that usually takes some seconds."""


class EdgeCopies:
    """The copies of a distribution.

    Args:
        distribution: its id.
    """

    def __init__(self, distribution: str, client: Any = None, sleep: Callable[[float], Any] = time.sleep):
        self._distribution, self._client, self._sleep = distribution, client, sleep

    def remove(self, study: str, is_waited_for: bool = False) -> None:
        """Have the copies of a study's pictures removed, and wait for that, but for some minutes only.

        Raises:
            StoreFailed: CloudFront refused, or was not reached.
        """
        from botocore.exceptions import BotoCoreError, ClientError

        paths = {"Quantity": 1, "Items": [f"/i/{study}/*"]}
        batch = {"Paths": paths, "CallerReference": secrets.token_hex(16)}
        try:
            client = self._client or _client()
            named = {"DistributionId": self._distribution}
            made = client.create_invalidation(**named, InvalidationBatch=batch)["Invalidation"]
            for _ in range(_LOOKS if is_waited_for else 0):
                if made["Status"] == "Completed":
                    return
                self._sleep(_LOOK_S)
                made = client.get_invalidation(**named, Id=made["Id"])["Invalidation"]
        except (BotoCoreError, ClientError) as error:
            raise StoreFailed(
                f"CloudFront did not remove copies of the pictures of {study}: {error}"
            ) from None
        if is_waited_for:
            log.warning("CloudFront still removes copies of the pictures of %s", study)


def _client() -> Any:
    import boto3
    from botocore.config import Config

    # botocore's own are 60 s, longer than a function may take
    retries = {"total_max_attempts": 3, "mode": "standard"}
    return boto3.client("cloudfront", config=Config(connect_timeout=2, read_timeout=8, retries=retries))
