"""CloudFormation stacks: what would change, changing it, and taking it away again."""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError, WaiterError

from backend.foundation.errors import Conflict, StoreFailed

OWNER_TAG = "openhype"
_CAPABILITIES = ["CAPABILITY_IAM"]
_NO_UPDATES = "No updates"
_STEADY = ("CREATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE")
_VERBS = {"Add": "create", "Modify": "change", "Remove": "remove", "Import": "change", "Dynamic": "change"}


_RESOURCE = re.compile(r"^  (\w+):\n    Type: (AWS::\S+)$", re.MULTILINE)


@dataclass(frozen=True)
class Change:
    """One line of a plan: `create`, `change`, `leave` or `remove`, and what."""

    verb: str
    what: str


class Stack:
    """A stack of our own, by its name.

    Args:
        template: YAML in block style, `Type` first in each resource.
    """

    def __init__(self, client: Any, name: str, template: str):
        self._client, self.name, self._template = client, name, template

    def found(self) -> dict[str, Any] | None:
        """Return the stack as it stands, None if there is none.

        Raises:
            Conflict: somebody else's stack has the name, or the stack is being changed or broken.
        """
        try:
            (stack,) = self._client.describe_stacks(StackName=self.name)["Stacks"]
        except ClientError as error:
            if "does not exist" in str(error):
                return None
            raise
        tags = {tag["Key"]: tag["Value"] for tag in stack.get("Tags", [])}
        if OWNER_TAG not in tags:
            raise Conflict(f"there is a stack {self.name} that openhype did not make; deploy by another name")
        if stack["StackStatus"] not in _STEADY:
            raise Conflict(
                f"the stack {self.name} is in the state {stack['StackStatus']}; wait until it is done, or "
                "look at it in the CloudFormation console, and delete it there if its creation failed"
            )
        return stack

    def outputs(self) -> dict[str, str]:
        """Return what the stack tells of itself, empty if there is none."""
        stack = self.found()
        return {output["OutputKey"]: output["OutputValue"] for output in (stack or {}).get("Outputs", [])}

    def plan(self, parameters: Mapping[str, str]) -> list[Change]:
        """Return what `apply` would do."""
        if self.found() is None:
            return [Change("create", f"{self.name}: {what}") for what in self._parts()]
        changes = self._change_set(parameters)
        if not changes:
            return [Change("leave", f"{self.name}: {len(self._parts())} resources")]
        return [
            Change(_VERBS[change["Action"]], f"{self.name}: {_named(change)}{_replaced(change)}")
            for change in changes
        ]

    def apply(self, parameters: Mapping[str, str]) -> bool:
        """Create or update the stack, and wait until it is done; return whether anything changed.

        Raises:
            StoreFailed: it did not succeed; the message is CloudFormation's first reason.
        """
        asked = self._asked(parameters)
        if self.found() is None:
            tags = [{"Key": OWNER_TAG, "Value": self.name}]
            self._client.create_stack(**asked, Tags=tags)
            self._wait("stack_create_complete")
            return True
        try:
            self._client.update_stack(**asked)
        except ClientError as error:
            if _NO_UPDATES in str(error):
                return False
            raise
        self._wait("stack_update_complete")
        return True

    def planned_removal(self) -> list[Change]:
        """Return what `remove` would take away."""
        if self.found() is None:
            return []
        return [Change("remove", f"{self.name}: {what}") for what in self._parts()]

    def remove(self) -> None:
        """Delete the stack with all that it made; one that is not there is left."""
        if self.found() is None:
            return
        self._client.delete_stack(StackName=self.name)
        self._wait("stack_delete_complete")

    def _asked(self, parameters: Mapping[str, str]) -> dict[str, Any]:
        return {
            "StackName": self.name,
            "TemplateBody": self._template,
            "Capabilities": _CAPABILITIES,
            "Parameters": [
                {"ParameterKey": key, "ParameterValue": value} for key, value in sorted(parameters.items())
            ],
        }

    def _parts(self) -> list[str]:
        return [f"{name} ({kind})" for name, kind in _RESOURCE.findall(self._template)]

    def _change_set(self, parameters: Mapping[str, str]) -> list[dict[str, Any]]:
        """Return the changes that CloudFormation would make, by a change set that is deleted again."""
        named = {"StackName": self.name, "ChangeSetName": f"{self.name}-plan"}
        try:
            self._client.create_change_set(**{**self._asked(parameters), **named}, ChangeSetType="UPDATE")
        except ClientError as error:
            if _NO_UPDATES in str(error):
                return []
            raise
        with suppress(WaiterError):  # to have nothing to change is a failure, told apart below
            self._client.get_waiter("change_set_create_complete").wait(**named, WaiterConfig={"Delay": 2})
        described = self._client.describe_change_set(**named)
        self._client.delete_change_set(**named)
        reason = described.get("StatusReason", "")
        if described["Status"] == "FAILED" and "contain changes" not in reason and _NO_UPDATES not in reason:
            raise StoreFailed(f"CloudFormation refuses the change of {self.name}: {reason}")
        return [change["ResourceChange"] for change in described.get("Changes", [])]

    def _wait(self, waiter: str) -> None:
        try:
            self._client.get_waiter(waiter).wait(StackName=self.name, WaiterConfig={"Delay": 5})
        except WaiterError:
            raise StoreFailed(f"the stack {self.name}: {self._reason()}") from None

    def _reason(self) -> str:
        events = self._client.describe_stack_events(StackName=self.name)["StackEvents"]
        failed = [event for event in events if event["ResourceStatus"].endswith("FAILED")]
        if not failed:
            return "not done in time; look at it in the CloudFormation console"
        first = failed[-1]
        return f"{first['LogicalResourceId']}: {first.get('ResourceStatusReason', 'no reason given')}"


def _named(change: Mapping[str, Any]) -> str:
    return f"{change['LogicalResourceId']} ({change['ResourceType']})"


def _replaced(change: Mapping[str, Any]) -> str:
    return ", made anew" if change.get("Replacement") == "True" else ""
