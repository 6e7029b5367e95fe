"""Wakes the function `work` when a request, of whatever kind, has asked for a job that waits.

The invocation is asynchronous and may be lost: the function's schedule makes up for that.
"""

import logging
import time
from collections.abc import Callable, Iterable
from typing import Any

from backend.jobs import queue

_TIMEOUT_S = 2
_AGAIN_S = 5.0
"""Time (s) after which the function is woken again for a job that still waits: a call may have been lost."""
log = logging.getLogger("openhype")


def with_waking(app: Callable, wake: Callable[[], Any]) -> Callable:
    """Return a WSGI application that has `wake` called when a job waits that a request has asked for."""
    woken: dict[str, float] = {}

    def once(job_id: str) -> None:
        now = time.monotonic()
        for known in [each for each, at in woken.items() if now - at >= _AGAIN_S]:
            del woken[known]
        if job_id not in woken:
            woken[job_id] = now
            wake()

    def waking(environ: dict[str, Any], start_response: Callable) -> Iterable[bytes]:
        with queue.waking(once):
            return app(environ, start_response)

    return waking


def invoke(function: str, client: Any = None) -> None:
    """Have the function do the jobs that wait."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        lambda_ = client or _client()
        lambda_.invoke(FunctionName=function, InvocationType="Event", Payload=b'{"task": "work"}')
    except (BotoCoreError, ClientError) as error:
        log.warning("the function %s was not invoked, its schedule will: %s", function, error)


def _client() -> Any:
    import boto3
    from botocore.config import Config

    config = Config(
        connect_timeout=_TIMEOUT_S,
        read_timeout=_TIMEOUT_S,
        retries={"total_max_attempts": 2, "mode": "standard"},
    )
    return boto3.client("lambda", config=config)
