"""Entry point of the Lambda functions: passes HTTP requests, and nothing else, to Zappa's handler.

Zappa's handler also runs code from an event (`raw_command`, `command`, `manage`), for its own tools, so
anyone permitted to invoke the function could do everything that its role permits.
"""

import gc
import json
import sys
from collections.abc import Mapping
from importlib import import_module
from types import SimpleNamespace
from typing import Any

# Zappa's handler imports boto3 for annotations and event sources alone, which takes a tenth of the start.
if "boto3" not in sys.modules:
    sys.modules["boto3"] = SimpleNamespace(Session=object)  # type: ignore[assignment]
    import_module("zappa.utilities")
    del sys.modules["boto3"]

MOST_BYTES = 6_291_556
"""Longest reply of a function, as JSON. Source: "Lambda quotas", and the message of Lambda's error."""
_SURELY_SHORT = MOST_BYTES // 6
"""No character of a text takes more bytes as JSON than six."""

# What is loaded before the first reply stays: to look at it again and again takes a fifth of the start.
gc.disable()
from zappa.handler import lambda_handler  # noqa: E402


def handle(event: Mapping[str, Any], context: Any) -> dict[str, Any]:
    """Return the reply to a request from a Function URL or API Gateway.

    Raises:
        ValueError: the event is not an HTTP request.
    """
    is_request = event.get("version") == "2.0" or bool(event.get("httpMethod"))
    if not is_request or "requestContext" not in event:
        raise ValueError("this function takes HTTP requests only")
    try:
        # Zappa would set environment variables from the stage variables.
        return _sendable(lambda_handler({**event, "stageVariables": None}, context))
    finally:
        if not gc.isenabled():
            gc.freeze()
            gc.enable()


def _sendable(reply: dict[str, Any]) -> dict[str, Any]:
    """Return a reply, or in place of one that Lambda would not send the reason, in words."""
    if len(reply.get("body") or "") <= _SURELY_SHORT or (size := _length(reply)) <= MOST_BYTES:
        return reply
    message = (
        f"this reply has {size / 1e6:.1f} MB, and a function on AWS sends {MOST_BYTES / 1e6:.1f} MB at most; "
        "ask for less, or have openhype make it on a machine of your own with the deployment's store"
    )
    error = json.dumps({"error": {"code": "too_long", "message": message, "id": ""}})
    headers = {"Content-Type": "application/json", "Cache-Control": "no-store"}
    return {"statusCode": 501, "headers": headers, "body": error, "isBase64Encoded": False}


def _length(reply: dict[str, Any]) -> int:
    return len(json.dumps(reply, ensure_ascii=False).encode())
