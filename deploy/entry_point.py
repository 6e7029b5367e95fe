"""What Lambda calls: requests go on to Zappa's handler, and nothing else does.

Zappa also runs code that an event brings along (`raw_command`, `command`, `manage`), for its own tools.
Whoever may invoke the function could do whatever the function's role may.
"""

from collections.abc import Mapping
from typing import Any

from handler import lambda_handler


def handle(event: Mapping[str, Any], context: Any) -> dict[str, Any]:
    """Return the reply to a request from a Function URL or API Gateway.

    Raises:
        ValueError: the event is no request.
    """
    is_request = event.get("version") == "2.0" or bool(event.get("httpMethod"))
    if not is_request or "requestContext" not in event:
        raise ValueError("this function takes HTTP requests only")
    # Zappa would make environment variables of what a stage is configured with.
    return lambda_handler({**event, "stageVariables": None}, context)
