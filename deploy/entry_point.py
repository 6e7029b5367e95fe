"""Entry point of the Lambda functions: passes HTTP requests, and nothing else, to Zappa's handler.

Zappa's handler also runs code from an event (`raw_command`, `command`, `manage`), for its own tools, so
anyone permitted to invoke the function could do everything that its role permits.
"""

import gc
from collections.abc import Mapping
from typing import Any

# What is loaded before the first reply stays: to look at it again and again takes a fifth of the start.
gc.disable()
from handler import lambda_handler  # noqa: E402


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
        return lambda_handler({**event, "stageVariables": None}, context)
    finally:
        if not gc.isenabled():
            gc.freeze()
            gc.enable()
