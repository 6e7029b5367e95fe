"""The panel as seen by the function `api`, which has no token: it asks the function `panel`.

What need not be waited for is an asynchronous invocation, which Lambda repeats if it fails; the function's
schedule makes up for one that is lost.
"""

import json
import logging
from collections.abc import Mapping
from typing import Any

from backend.experiment.records import Session, Study
from backend.foundation.errors import NotAllowed, OpenhypeError
from backend.foundation.request_deadline import seconds_left
from backend.panels.api import (
    NotThere,
    PanelRefused,
    PanelUnreached,
    PanelUnsure,
    Submission,
    TokenRefused,
)

_CONNECT_S, _READ_S = 1, 8
ERRORS = {
    "NotThere": NotThere,
    "TokenRefused": TokenRefused,
    "PanelUnreached": PanelUnreached,
    "PanelUnsure": PanelUnsure,
    "PanelRefused": PanelRefused,
}
"""The panel's errors by the names with which they are returned, most specific first."""
log = logging.getLogger("openhype")


class PanelCalls:
    """What `Watch` is on a machine of one's own. Safe to use from many threads.

    Args:
        function: name of the function that has the token.
    """

    def __init__(self, function: str, client: Any = None):
        self._function, self._client = function, client or _client()
        self.panel = RemotePanel(self)

    def closed(self, study: Study, session: Session) -> None:
        """Have the panel notified of a session that was closed here."""
        if session.panel.get(study.protocol.admission.panel.submission):
            self._send({"task": "closed", "study": study.name, "session": session.id})

    def screened_out(self, study: Study, submission: str) -> None:
        """Have the panel notified of a person who was screened out, and whom it pays for that."""
        self._send({"task": "screened_out", "study": study.name, "submission": submission})

    def read_places(self, study: Study) -> bool:
        """Have the places of a study that seems full read; return whether another try is worthwhile."""
        try:
            return bool(self.ask({"task": "read_places", "study": study.name})["is_worthwhile"])
        except OpenhypeError as error:
            log.warning("the submissions of %s were not read: %s", study.name, error)
            return False

    def heard(self, headers: Mapping[str, str], body: bytes) -> None:
        raise NotAllowed("the panel's events go to another function", code="no_webhooks")

    def ask(self, task: Mapping[str, Any]) -> dict[str, Any]:
        """Return the result of a task.

        Raises:
            PanelUnreached: the function did not run, or there is no time left for it.
            PanelUnsure: it failed, or its result was lost.
        """
        if seconds_left() < _CONNECT_S + _READ_S:
            raise PanelUnreached("there is no time left to ask the panel")
        return self._invoke(task, "RequestResponse")

    def _send(self, task: Mapping[str, Any]) -> None:
        try:
            self._invoke(task, "Event")
        except OpenhypeError as error:  # the schedule makes up for it
            log.warning("the function %s was not told of %s: %s", self._function, task["task"], error)

    def _invoke(self, task: Mapping[str, Any], kind: str) -> dict[str, Any]:
        from botocore.exceptions import BotoCoreError, ClientError, ReadTimeoutError

        try:
            reply = self._client.invoke(
                FunctionName=self._function, InvocationType=kind, Payload=json.dumps(task).encode()
            )
        except ReadTimeoutError as error:
            raise PanelUnsure(f"the function {self._function} did not answer in time: {error}") from None
        except (BotoCoreError, ClientError) as error:
            raise PanelUnreached(f"the function {self._function} could not be invoked: {error}") from None
        if kind == "Event":
            return {}
        if reply.get("FunctionError"):
            raise PanelUnsure(f"the function {self._function} failed; see its log")
        return json.loads(reply["Payload"].read())


class RemotePanel:
    """The panel's records, as `Panel` returns them."""

    name = "prolific"

    def __init__(self, calls: PanelCalls):
        self._calls = calls

    def submission(self, id: str, is_urgent: bool = False) -> Submission:
        """Return the panel's record of a place.

        Raises:
            PanelRefused, PanelUnreached, PanelUnsure: as the panel's own client does.
        """
        reply = self._calls.ask({"task": "submission", "submission": id})
        if "error" in reply:
            raise ERRORS.get(reply["error"], PanelRefused)(reply["message"])
        data = reply["submission"]
        lists = {name: tuple(data[name]) for name in ("bonuses_cents", "studies")}
        return Submission(**{**data, **lists})


def _client() -> Any:
    import boto3
    from botocore.config import Config

    once = {"total_max_attempts": 1}
    return boto3.client(
        "lambda", config=Config(retries=once, connect_timeout=_CONNECT_S, read_timeout=_READ_S)
    )
