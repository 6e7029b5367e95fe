"""Wakes the function `work` when a request has enqueued a job.

The invocation is asynchronous and may be lost: the function's schedule makes up for that.
"""

import logging
from typing import Any

from flask import Flask, Response, request

_TIMEOUT_S = 2
_ACCEPTED = 202
log = logging.getLogger("openhype")


def wake_after_jobs(app: Flask, function: str, client: Any = None) -> None:
    """Have the function invoked after each request that was accepted to be done by a job."""

    @app.after_request
    def wake(reply: Response) -> Response:
        is_enqueued = reply.status_code == _ACCEPTED or request.path.endswith("/pictures")
        if request.method == "POST" and is_enqueued and reply.status_code < 300:
            invoke(function, client)
        return reply


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
