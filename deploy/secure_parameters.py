"""Secure parameters of AWS, and the keys of a function; the researcher's can change while it runs."""

import logging
import time
from collections.abc import Callable
from typing import Any

from backend.foundation.errors import StoreFailed
from backend.stores.datadir import Keys

log = logging.getLogger("openhype")

FRESH_S = 60.0
"""Seconds after which a replaced researcher's key opens nothing more, also in an instance that runs on."""
_CONNECT_S, _READ_S, _TRIES = 1, 2, 3
"""A cold start has 10 s. Parameter Store refuses more than 40 reads a second: these are tried again."""


def read(name: str, client: Any = None) -> str:
    """Return the value of a secure parameter.

    Raises:
        StoreFailed: it could not be read.
    """
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        reply = (client or _client()).get_parameter(Name=name, WithDecryption=True)
    except (BotoCoreError, ClientError) as error:
        log.error("the secure parameter %s could not be read: %s", name, error)
        raise StoreFailed("a secure parameter could not be read; try again, or look into the log") from None
    return reply["Parameter"]["Value"]


class CurrentKeys(Keys):
    """Keys of which the researcher's is read again when it was read more than `FRESH_S` ago.

    If it cannot be read then, it opens nothing. The hashing key never changes. Safe to use from many threads.

    Args:
        now: the time of day (s): a process that AWS freezes between requests has no other that goes on.
    """

    _source: Callable[[], Keys]
    _now: Callable[[], float]
    _current: tuple[float, Keys]
    """When it was read, from the beginning of the reading on, and what."""

    def __init__(self, read: Callable[[], Keys], now: Callable[[], float] = time.time):
        values = {"_source": read, "_now": now, "_current": (now(), read())}
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def hashing(self) -> bytes:
        return self._current[1].hashing

    @property
    def researcher(self) -> str:
        """Return the researcher's key.

        Raises:
            StoreFailed: it cannot be read.
        """
        at = self._now()
        if not 0 <= at - self._current[0] < FRESH_S:
            object.__setattr__(self, "_current", (at, self._source()))
        return self._current[1].researcher


def _client() -> Any:
    from botocore.config import Config

    from backend.stores.dynamodb.client import aws_client

    config = Config(
        connect_timeout=_CONNECT_S,
        read_timeout=_READ_S,
        retries={"total_max_attempts": _TRIES, "mode": "standard"},
    )
    return aws_client("ssm", config=config)
