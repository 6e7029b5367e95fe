"""Stacks in every state that CloudFormation can leave them in: each has a way out."""

import pytest
from botocore.exceptions import ClientError, WaiterError

from backend.foundation.errors import Conflict, StoreFailed
from deploy.stacks import Stack
from deploy.template import text_of

TEMPLATE = "Resources:\n  Table:\n    Type: AWS::DynamoDB::Table\n"
STEADY = ("CREATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE")
DELETABLE = (*STEADY, "ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "CREATE_FAILED", "DELETE_FAILED",
             "REVIEW_IN_PROGRESS", "UPDATE_ROLLBACK_FAILED")  # fmt: skip
"""As in the user guide, "Understand stack creation events" and the description of DeleteStack."""


class CloudFormation:
    """One stack, with the rules of its states; a change that is under way takes a few looks."""

    def __init__(self, status=None, then=None, looks=0, fails=(), role="service"):
        self.status, self.then, self.looks, self.fails = status, then, looks, list(fails)
        self.done, self.waited = [], []
        self.tags = [{"Key": "openhype", "Value": "faces"}, {"Key": "openhype-role", "Value": role}]

    def describe_stacks(self, StackName):  # noqa: N803
        if self.then and self.status.endswith("_IN_PROGRESS"):
            if self.looks == 0:
                self.status, self.then = self.then, None
            self.looks -= 1
        if self.status in (None, "DELETE_COMPLETE"):
            raise self._error(f"Stack with id {StackName} does not exist")
        return {"Stacks": [{"StackStatus": self.status, "Tags": self.tags, "Outputs": []}]}

    def create_stack(self, **_):
        if self.status not in (None, "DELETE_COMPLETE"):
            raise self._error("Stack [faces] already exists", "AlreadyExistsException")
        self._begin("CREATE", "ROLLBACK_COMPLETE")

    def update_stack(self, **_):
        if self.status not in STEADY:
            raise self._error(f"Stack is in {self.status} state and can not be updated.")
        self._begin("UPDATE", "UPDATE_ROLLBACK_COMPLETE")

    def delete_stack(self, **_):
        if self.status not in DELETABLE:
            raise self._error(f"Stack [faces] cannot be deleted while in status {self.status}")
        self._begin("DELETE", "DELETE_FAILED")

    def continue_update_rollback(self, **_):
        if self.status != "UPDATE_ROLLBACK_FAILED":
            raise self._error(f"Stack is in {self.status} state")
        self.done.append("continue")
        self.status, self.then, self.looks = "UPDATE_ROLLBACK_IN_PROGRESS", "UPDATE_ROLLBACK_COMPLETE", 2

    def describe_stack_events(self, **_):
        failed = {"ResourceStatus": "CREATE_FAILED", "LogicalResourceId": "Table"}
        return {"StackEvents": [failed | {"ResourceStatusReason": "no quota"}]}

    def get_waiter(self, name):
        verb = name.split("_")[1].upper()
        client = self

        class Waiter:
            def wait(self, StackName, WaiterConfig):  # noqa: N803
                client.waited.append(WaiterConfig["Delay"] * WaiterConfig["MaxAttempts"])
                client.looks = 0
                try:
                    status = client.describe_stacks(StackName)["Stacks"][0]["StackStatus"]
                except ClientError:
                    status = "DELETE_COMPLETE"
                if status != f"{verb}_COMPLETE":
                    raise WaiterError(name, "failed", {})

        return Waiter()

    def _begin(self, verb, if_it_fails):
        self.done.append(verb.lower())
        has_failed = verb in self.fails
        if has_failed:
            self.fails.remove(verb)
        self.status, self.looks = f"{verb}_IN_PROGRESS", 2
        self.then = if_it_fails if has_failed else f"{verb}_COMPLETE"

    def _error(self, message, code="ValidationError"):
        return ClientError({"Error": {"Code": code, "Message": message}}, "x")


def stack(client):
    return Stack(client, "faces", TEMPLATE, owner="faces", role="service", sleep=lambda seconds: None)


FAILED = ["ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "CREATE_FAILED", "DELETE_FAILED", "REVIEW_IN_PROGRESS"]


@pytest.mark.parametrize("status", FAILED)
def test_a_stack_that_never_worked_is_removed_and_made_anew(status):
    client = CloudFormation(status)

    plan = stack(client).plan({})

    assert [(change.verb, change.what) for change in plan] == [
        ("remove", f"faces: what is left of it ({status})"),
        ("create", "faces: Table (AWS::DynamoDB::Table)"),
    ]
    assert client.done == []
    assert stack(client).apply({}) is True
    assert (client.done, client.status) == (["delete", "create"], "CREATE_COMPLETE")


def test_data_that_a_failed_deletion_may_have_left_are_deleted_by_name_only():
    client = CloudFormation("DELETE_FAILED", role="data")
    of_data = Stack(client, "faces-data", TEMPLATE, owner="faces", role="data")

    for work in (of_data.plan, of_data.apply):
        with pytest.raises(Conflict, match="delete them first with --destroy --with-data faces"):
            work({})
    assert client.done == []
    of_data.remove()
    assert client.done == ["delete"]


@pytest.mark.parametrize("status", [*FAILED, *STEADY, "UPDATE_ROLLBACK_FAILED"])
def test_a_stack_can_be_removed_in_every_state_of_rest(status):
    client = CloudFormation(status)

    assert [change.verb for change in stack(client).planned_removal()] == ["remove"]
    stack(client).remove()

    assert (client.done, client.status) == (["delete"], "DELETE_COMPLETE")
    stack(client).remove()
    assert client.done == ["delete"]


def test_an_update_whose_undoing_failed_is_undone_and_done_again():
    client = CloudFormation("UPDATE_ROLLBACK_FAILED")

    assert stack(client).apply({}) is True
    assert (client.done, client.status) == (["continue", "update"], "UPDATE_COMPLETE")


@pytest.mark.parametrize(
    ("status", "then", "done"),
    [
        ("CREATE_IN_PROGRESS", "CREATE_COMPLETE", ["update"]),
        ("ROLLBACK_IN_PROGRESS", "ROLLBACK_COMPLETE", ["delete", "create"]),
        ("UPDATE_IN_PROGRESS", "UPDATE_COMPLETE", ["update"]),
        ("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS", "UPDATE_COMPLETE", ["update"]),
        ("DELETE_IN_PROGRESS", "DELETE_COMPLETE", ["create"]),
        ("DELETE_IN_PROGRESS", "DELETE_FAILED", ["delete", "create"]),
    ],
)
def test_what_another_process_began_is_waited_for(status, then, done):
    client = CloudFormation(status, then, looks=5)

    (change,) = stack(client).plan({})
    assert (change.verb, change.what) == ("change", f"faces: wait for what is in progress ({status})")
    assert client.done == []
    assert stack(client).apply({}) is True
    assert client.done == done


def test_what_another_process_began_is_waited_for_before_it_is_removed():
    client = CloudFormation("CREATE_IN_PROGRESS", "CREATE_COMPLETE", looks=5)

    stack(client).remove()

    assert (client.done, client.status) == (["delete"], "DELETE_COMPLETE")


def test_what_never_ends_is_not_waited_for_without_end():
    client = CloudFormation("CREATE_IN_PROGRESS", "CREATE_COMPLETE", looks=10**6)

    with pytest.raises(Conflict, match="still in the state CREATE_IN_PROGRESS after 60 min"):
        stack(client).apply({})


def test_a_failure_says_why_and_the_next_try_recovers():
    client = CloudFormation(fails=["CREATE"])

    with pytest.raises(StoreFailed, match="the stack faces: Table: no quota; run this again to"):
        stack(client).apply({})
    assert client.status == "ROLLBACK_COMPLETE"
    assert stack(client).apply({}) is True
    assert client.status == "CREATE_COMPLETE"


def test_a_distribution_is_given_an_hour():
    client = CloudFormation()

    stack(client).apply({})

    assert client.waited == [3600]


def test_a_plan_names_conditional_resources_only_where_they_are_made():
    stack = Stack(CloudFormation(), "faces", text_of("service"), owner="faces", role="service")

    plain, with_panel = (
        {change.what.partition(" (")[0] for change in stack.plan({"PanelPackage": package})}
        for package in ("", "packages/panel.zip")
    )

    assert "faces: ApiFunction" in plain
    assert with_panel - plain >= {"faces: PanelFunction", "faces: PanelRole", "faces: Recruitment"}
    assert not any("Panel" in what for what in plain)
