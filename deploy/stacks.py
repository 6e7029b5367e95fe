"""CloudFormation stacks: plan, apply and remove them, from every state that they can be in."""

import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError, WaiterError

from backend.foundation.errors import Conflict, StoreFailed

OWNER_TAG, _ROLE_TAG = "openhype", "openhype-role"
DATA, SERVICE, BUDGET = "data", "service", "budget"
"""Roles of a stack: table and bucket; functions and distribution; the budget and CloudFront's alarm."""
_CAPABILITIES = ["CAPABILITY_IAM"]
_NO_UPDATES = "No updates"
_NEVER_WORKED = (
    "ROLLBACK_COMPLETE",
    "ROLLBACK_FAILED",
    "CREATE_FAILED",
    "DELETE_FAILED",
    "REVIEW_IN_PROGRESS",
)
"""States that a stack can only leave by deletion; data that it retained are not deleted."""
_NOT_UNDONE = "UPDATE_ROLLBACK_FAILED"
_LONGEST_S, _LOOK_S = 3600, 5
"""Timeout and interval between looks at a stack (s); a distribution takes up to half an hour."""
_VERBS = {"Add": "create", "Modify": "change", "Remove": "remove", "Import": "change", "Dynamic": "change"}


_RESOURCE = re.compile(r"^  (\w+):\n    Type: (AWS::\S+)(?:\n    Condition: (\w+))?$", re.MULTILINE)
_CONDITIONS = {
    "HasPanel": ("PanelPackage",),
    "HasAlarms": ("AlarmMail",),
    "HasPanelAlarms": ("AlarmMail", "PanelPackage"),
    "HasBudget": ("MonthlyBudget",),
}
"""The templates' conditions, by name: the parameters that must not be empty."""


@dataclass(frozen=True)
class Change:
    """One line of a plan: `verb` is `create`, `change`, `leave` or `remove`; `what` is its object."""

    verb: str
    what: str


class Stack:
    """A stack of a deployment, identified by its name.

    Args:
        template: YAML in block style, with `Type` first in each resource.
        owner: the deployment's name.
        role: `DATA`, `SERVICE` or `BUDGET`. Tags record owner and role, so that no other deployment changes
            the stack.
    """

    def __init__(
        self,
        client: Any,
        name: str,
        template: str,
        *,
        owner: str,
        role: str,
        sleep: Callable[[float], None] = time.sleep,
    ):
        self._client, self.name, self._template, self._sleep = client, name, template, sleep
        self._tag = (owner, role)

    def description(self) -> dict[str, Any] | None:
        """Return CloudFormation's description of the stack, or None if it does not exist.

        Raises:
            Conflict: a stack of this name belongs to somebody else or to another deployment, or has the
                other role.
        """
        try:
            (stack,) = self._client.describe_stacks(StackName=self.name)["Stacks"]
        except ClientError as error:
            if "does not exist" in str(error):
                return None
            raise
        tags = {tag["Key"]: tag["Value"] for tag in stack.get("Tags", [])}
        if (tags.get(OWNER_TAG), tags.get(_ROLE_TAG)) != self._tag:
            raise Conflict(
                f"there is a stack {self.name} that is not this deployment's; deploy under another name"
            )
        return stack

    def outputs(self) -> dict[str, str]:
        """Return the stack's outputs, empty if it does not exist."""
        stack = self.description()
        return {output["OutputKey"]: output["OutputValue"] for output in (stack or {}).get("Outputs", [])}

    def plan(self, parameters: Mapping[str, str]) -> list[Change]:
        """Return what `apply` would do."""
        status = self._status()
        self._check_deletion(status)
        if status in _NEVER_WORKED:
            left = Change("remove", f"{self.name}: what is left of it ({status})")
            return [left, *self._creation(parameters)]
        if _is_in_progress(status):
            return [Change("change", f"{self.name}: wait for what is in progress ({status})")]
        if status == _NOT_UNDONE:
            return [Change("change", f"{self.name}: undo the update that failed, then update")]
        if status is None:
            return self._creation(parameters)
        changes = self._change_set(parameters)
        if not changes:
            return [Change("leave", f"{self.name}: {len(self._parts(parameters))} resources")]
        return [
            Change(_VERBS[change["Action"]], f"{self.name}: {_named(change)}{_replaced(change)}")
            for change in changes
        ]

    def apply(self, parameters: Mapping[str, str]) -> bool:
        """Create or update the stack and wait for completion; return whether anything changed.

        Raises:
            StoreFailed: it failed; the message has CloudFormation's first reason.
            Conflict: the stack is another's, its deletion failed, or it stayed in progress for an hour.
        """
        asked = self._asked(parameters)
        status = self._rest()
        self._check_deletion(status)
        if status in _NEVER_WORKED:
            self._delete()
            status = None
        if status is None:
            tags = [
                {"Key": key, "Value": value}
                for key, value in zip((OWNER_TAG, _ROLE_TAG), self._tag, strict=True)
            ]
            self._client.create_stack(**asked, Tags=tags)
            self._wait("stack_create_complete")
            return True
        if status == _NOT_UNDONE:
            self._client.continue_update_rollback(StackName=self.name)
            self._rest()
        try:
            self._client.update_stack(**asked)
        except ClientError as error:
            if _NO_UPDATES in str(error):
                return False
            raise
        self._wait("stack_update_complete")
        return True

    def parameters(self) -> dict[str, str] | None:
        stack = self.description()
        if stack is None:
            return None
        return {one["ParameterKey"]: one["ParameterValue"] for one in stack.get("Parameters", ())}

    def planned_removal(self) -> list[Change]:
        """Return what `remove` would delete."""
        status = self._status()
        if status is None:
            return []
        if status in _NEVER_WORKED:
            return [Change("remove", f"{self.name}: what is left of it ({status})")]
        return [Change("remove", f"{self.name}: {what}") for what in self._parts(self.parameters() or {})]

    def remove(self) -> None:
        """Delete the stack with all its resources, if it exists."""
        if self._rest() is not None:
            self._delete()

    def _delete(self) -> None:
        self._client.delete_stack(StackName=self.name)
        self._wait("stack_delete_complete")

    def _status(self) -> str | None:
        stack = self.description()
        return stack["StackStatus"] if stack else None

    def _rest(self) -> str | None:
        """Wait for operations in progress, for example of an interrupted run; return the stack's status.

        Raises:
            Conflict: this takes longer than an hour.
        """
        for _ in range(_LONGEST_S // _LOOK_S):
            status = self._status()
            if not _is_in_progress(status):
                return status
            self._sleep(_LOOK_S)
        raise Conflict(
            f"the stack {self.name} is still in the state {status} after {_LONGEST_S // 60} "
            "minutes; look at it in the CloudFormation console"
        )

    def _check_deletion(self, status: str | None) -> None:
        """Raise Conflict if this is a data stack whose deletion failed: it may still hold responses."""
        owner, role = self._tag
        if role == DATA and status == "DELETE_FAILED":
            raise Conflict(
                f"the deletion of the stack {self.name} failed, and data may be left in it; delete them "
                f"first with --destroy --with-data {owner}"
            )

    def _creation(self, parameters: Mapping[str, str]) -> list[Change]:
        return [Change("create", f"{self.name}: {what}") for what in self._parts(parameters)]

    def _asked(self, parameters: Mapping[str, str]) -> dict[str, Any]:
        return {
            "StackName": self.name,
            "TemplateBody": self._template,
            "Capabilities": _CAPABILITIES,
            "Parameters": [
                {"ParameterKey": key, "ParameterValue": value} for key, value in sorted(parameters.items())
            ],
        }

    def _parts(self, parameters: Mapping[str, str]) -> list[str]:
        return [
            f"{name} ({kind})"
            for name, kind, condition in _RESOURCE.findall(self._template)
            if all(map(parameters.get, _CONDITIONS.get(condition, ())))
        ]

    def _change_set(self, parameters: Mapping[str, str]) -> list[dict[str, Any]]:
        """Return the changes that CloudFormation would make, from a temporary change set."""
        named = {"StackName": self.name, "ChangeSetName": f"{self.name}-plan"}
        try:
            self._client.create_change_set(**{**self._asked(parameters), **named}, ChangeSetType="UPDATE")
        except ClientError as error:
            if _NO_UPDATES in str(error):
                return []
            raise
        with suppress(WaiterError):  # "no changes" counts as a failure too; see below
            self._client.get_waiter("change_set_create_complete").wait(**named, WaiterConfig={"Delay": 2})
        described = self._client.describe_change_set(**named)
        self._client.delete_change_set(**named)
        reason = described.get("StatusReason", "")
        if described["Status"] == "FAILED" and "contain changes" not in reason and _NO_UPDATES not in reason:
            raise StoreFailed(f"CloudFormation refuses the change of {self.name}: {reason}")
        return [change["ResourceChange"] for change in described.get("Changes", [])]

    def _wait(self, waiter: str) -> None:
        try:
            self._client.get_waiter(waiter).wait(
                StackName=self.name, WaiterConfig={"Delay": _LOOK_S, "MaxAttempts": _LONGEST_S // _LOOK_S}
            )
        except WaiterError:
            raise StoreFailed(
                f"the stack {self.name}: {self._reason()}; run this again to resume, or remove it "
                "with --destroy"
            ) from None

    def _reason(self) -> str:
        events = self._client.describe_stack_events(StackName=self.name)["StackEvents"]
        failed = [event for event in events if event["ResourceStatus"].endswith("FAILED")]
        if not failed:
            return "not done in time; look at it in the CloudFormation console"
        first = failed[-1]
        return f"{first['LogicalResourceId']}: {first.get('ResourceStatusReason', 'no reason given')}"


def _is_in_progress(status: str | None) -> bool:
    return status is not None and status.endswith("_IN_PROGRESS") and status not in _NEVER_WORKED


def _named(change: Mapping[str, Any]) -> str:
    return f"{change['LogicalResourceId']} ({change['ResourceType']})"


def _replaced(change: Mapping[str, Any]) -> str:
    return ", made anew" if change.get("Replacement") == "True" else ""
