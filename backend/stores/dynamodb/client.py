"""DynamoDB calls over one connection pool, retried with full jitter.

botocore's own retries are switched off because they hide what a conditional write has to know: whether
an earlier try may have been stored although its reply was an error or was lost. `Refused` says so.
"""

import os
import random
import re
import time
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from threading import Lock
from typing import Any
from urllib.parse import parse_qs, urlsplit

from backend.foundation.errors import InvalidInput, NotFound, StoreFailed
from backend.foundation.optional_packages import not_installed
from backend.foundation.request_deadline import seconds_left

_TRIES = 9
_FIRST_PAUSE_S = 0.05
_LONGEST_PAUSE_S = 2.0
_CONNECT_S, _READ_S = 1, 3
LONGEST_TRY_S = _CONNECT_S + _READ_S
"""The longest time (s) of one try; within a request none begins that could end after the deadline."""
_POOLED = 64
_BATCH = 100  # most keys of a BatchGetItem
_THROTTLED = {
    "ProvisionedThroughputExceededException",
    "ThrottlingException",
    "RequestLimitExceeded",
    "TransactionInProgressException",
}
_LOOPBACK = {"127.0.0.1", "localhost", "::1"}
_EMULATED = {"aws_access_key_id": "emulator", "aws_secret_access_key": "emulator"}
"""Credentials for an emulator, which requires some, but checks none."""
_MAKING = Lock()
FORM = "dynamodb://TABLE?region=REGION"

Item = dict[str, dict[str, Any]]


class Refused(Exception):
    """The condition of a write did not hold."""

    def __init__(self, may_be_ours: bool):
        super().__init__("the condition did not hold")
        self.may_be_ours = may_be_ours
        """Whether an earlier try of this call may have been stored."""


class Calls:
    """The operations of the store on one table. Safe to use from many threads.

    Args:
        meter: if given, called with each operation and the capacity units it consumed.
    """

    def __init__(
        self,
        client: Any,
        table: str,
        *,
        sleep: Callable[[float], None] = time.sleep,
        rng: random.Random | None = None,
        meter: Callable[[str, float], None] | None = None,
    ):
        self.client, self.table = client, table
        self._sleep, self._rng, self._meter = sleep, rng or random.Random(), meter

    def get(self, p: str, s: str) -> Item | None:
        """Return the current item (a strongly consistent read), or None."""
        return self._call("get_item", Key=key(p, s), ConsistentRead=True).get("Item")

    def put(self, item: Item, condition: str | None = None, values: Item | None = None) -> None:
        """Store an item.

        Raises:
            Refused: the condition does not hold.
        """
        self._call("put_item", Item=item, **_given(ConditionExpression=condition, values=values))

    def update(
        self,
        p: str,
        s: str,
        change: str,
        condition: str,
        values: Item,
        names: dict[str, str] | None = None,
        returns_before: bool = False,
    ) -> Item | None:
        """Change an item, and create it if the condition allows that.

        Args:
            returns_before: return the item as it was before, or None if there was none.

        Raises:
            Refused: the condition does not hold.
        """
        reply = self._call(
            "update_item",
            Key=key(p, s),
            UpdateExpression=change,
            ConditionExpression=condition,
            **_given(
                values=values,
                ExpressionAttributeNames=names,
                ReturnValues="ALL_OLD" if returns_before else None,
            ),
        )
        return reply.get("Attributes") or None

    def delete(self, p: str, s: str) -> None:
        self._call("delete_item", Key=key(p, s))

    def newest(self, p: str) -> Item | None:
        """Return the current item of partition `p` that sorts last."""
        reply = self._call("query", **_of(p), ScanIndexForward=False, Limit=1, ConsistentRead=True)
        return reply["Items"][0] if reply["Items"] else None

    def latest(self, p: str, limit: int, before: str | None = None) -> list[Item]:
        """Return at most `limit` current items of partition `p`, the ones that sort last first.

        Args:
            before: return only items whose sort key is smaller.
        """
        asked: dict[str, Any] = {**_of(p), "ScanIndexForward": False, "ConsistentRead": True}
        if before is not None:
            asked["KeyConditionExpression"] += " AND s < :before"
            asked["ExpressionAttributeValues"] |= {":before": {"S": before}}
        items: list[Item] = []
        while len(items) < limit:  # a reply holds at most a megabyte
            reply = self._call("query", **asked, Limit=limit - len(items))
            items += reply["Items"]
            if "LastEvaluatedKey" not in reply:
                break
            asked["ExclusiveStartKey"] = reply["LastEvaluatedKey"]
        return items

    def each(self, p: str, attributes: Iterable[str] = ()) -> Iterator[Item]:
        """Yield the current items of partition `p` in order, with all attributes or only those named."""
        asked: dict[str, Any] = _of(p)
        if names := {f"#{i}": name for i, name in enumerate(attributes)}:
            asked |= {"ProjectionExpression": ",".join(names), "ExpressionAttributeNames": names}
        while True:
            reply = self._call("query", **asked, ConsistentRead=True)
            yield from reply["Items"]
            if "LastEvaluatedKey" not in reply:
                return
            asked["ExclusiveStartKey"] = reply["LastEvaluatedKey"]

    def many(self, keys: Iterable[tuple[str, str]], is_consistent: bool = True) -> list[Item]:
        """Return the current items that exist among `keys`, in no particular order.

        Args:
            is_consistent: False for half the cost, if an item that was stored just now may be missing.

        Raises:
            StoreFailed: ten replies in a row left out all keys they were asked for.
        """
        wanted, items = [key(p, s) for p, s in keys], []
        tries = 0
        while wanted:
            asked = {self.table: {"Keys": wanted[:_BATCH], "ConsistentRead": is_consistent}}
            reply = self._call("batch_get_item", RequestItems=asked)
            items += reply["Responses"].get(self.table, [])
            left = reply.get("UnprocessedKeys", {}).get(self.table, {}).get("Keys", [])
            tries = tries + 1 if len(left) == len(wanted[:_BATCH]) else 1
            wanted = left + wanted[_BATCH:]
            if left:
                self.pause(tries, "batch_get_item left keys out")
        return items

    def _call(self, operation: str, **arguments: Any) -> dict[str, Any]:
        from botocore.exceptions import (
            BotoCoreError,
            ClientError,
            ConnectionError,
            HTTPClientError,
            IncompleteReadError,
        )

        if operation != "batch_get_item":
            arguments["TableName"] = self.table
        if self._meter:
            arguments["ReturnConsumedCapacity"] = "TOTAL"
        may_be_ours, reason = False, "the request's time is used up"
        self._check_time(0, reason)
        for tries in range(1, _TRIES + 2):
            try:
                reply: dict[str, Any] = getattr(self.client, operation)(**arguments)
                self._measure(operation, reply)
                return reply
            except ClientError as error:
                code = error.response["Error"]["Code"]
                status = error.response["ResponseMetadata"].get("HTTPStatusCode", 0)
                if code == "ConditionalCheckFailedException":
                    raise Refused(may_be_ours) from None
                if code not in _THROTTLED and status < 500:
                    raise self._failed(code, error) from None
                may_be_ours |= status >= 500
                reason = code
            except (
                HTTPClientError,
                ConnectionError,
                IncompleteReadError,
            ) as error:  # refused, timed out, or closed before all of the reply arrived
                may_be_ours = True
                reason = str(error)
            except BotoCoreError as error:  # no credentials, no region
                raise StoreFailed(f"DynamoDB could not be called: {error}") from None
            self.pause(tries, reason)
        raise AssertionError("the last pause raises")

    def pause(self, tries: int, reason: str) -> None:
        """Wait before the next try: a random time up to a bound that doubles, so that callers spread out."""
        if tries > _TRIES:
            raise StoreFailed(f"table {self.table} did not answer {tries} times ({reason}); try again")
        pause_s = self._rng.uniform(0, min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2**tries))
        self._check_time(pause_s, reason)
        self._sleep(pause_s)

    def _check_time(self, pause_s: float, reason: str) -> None:
        """Raise StoreFailed if a try after a pause could end after the request's deadline."""
        if seconds_left() < pause_s + LONGEST_TRY_S:
            raise StoreFailed(f"table {self.table} did not answer in time ({reason}); try again")

    def _failed(self, code: str, error: Exception) -> Exception:
        if code == "ResourceNotFoundException":
            return NotFound(f"there is no table {self.table} in this account and region", code="no_table")
        return StoreFailed(f"table {self.table}: {error}")

    def _measure(self, operation: str, reply: dict[str, Any]) -> None:
        if self._meter:
            consumed = reply.get("ConsumedCapacity") or []
            parts = consumed if isinstance(consumed, list) else [consumed]
            self._meter(operation, sum(part["CapacityUnits"] for part in parts))


def key(p: str, s: str) -> Item:
    """Return the primary key of an item: its partition and its sort key."""
    return {"p": {"S": p}, "s": {"S": s}}


def parse_url(url: str) -> tuple[str, dict[str, str]]:
    """Return the table and the options of a `dynamodb://` URL.

    Raises:
        InvalidInput: the URL is malformed or has an unknown option.
    """
    wrong = InvalidInput(
        f"a table's URL must be of the form {FORM}, with endpoint=URL and expire_days=N besides, not {url!r}"
    )
    try:
        parts = urlsplit(url)
    except ValueError:
        raise wrong from None
    options = {name: values[-1] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}
    unknown = sorted(set(options) - {"region", "endpoint", "expire_days"})
    if parts.scheme != "dynamodb" or not parts.netloc or parts.path not in ("", "/") or unknown:
        raise wrong
    if not re.fullmatch(r"[0-9]{1,5}(\.[0-9]+)?", options.get("expire_days", "0")):
        raise wrong
    return parts.netloc, options


def connect(options: dict[str, str]) -> Any:
    """Return a DynamoDB client; region and credentials default to those of the environment.

    Raises:
        InvalidInput: no region is given, or the region or the endpoint is invalid.
        NotInstalled: the library is missing.
    """
    try:
        from botocore.config import Config
        from botocore.exceptions import BotoCoreError, NoRegionError
    except ImportError:
        raise not_installed("a store in DynamoDB", "boto3") from None
    config = Config(
        retries={"total_max_attempts": 1},
        connect_timeout=_CONNECT_S,
        read_timeout=_READ_S,
        max_pool_connections=_POOLED,
        parameter_validation=False,
    )
    endpoint = options.get("endpoint")
    credentials = _EMULATED if endpoint and urlsplit(endpoint).hostname in _LOOPBACK else {}
    where = {"region_name": options.get("region"), "endpoint_url": endpoint}
    try:
        client = aws_client("dynamodb", **where, config=config, **credentials)
    except NoRegionError:
        raise InvalidInput(f"no AWS region is named; use {FORM}, or set AWS_DEFAULT_REGION") from None
    except (BotoCoreError, ValueError) as error:  # an invalid region or endpoint
        raise InvalidInput(f"a store in DynamoDB must be of the form {FORM}: {error}") from None
    client.meta.events.register("before-parse.dynamodb", _check_length)
    return client


def aws_client(service: str, **options: Any) -> Any:
    """Return a client of a service of AWS, with the options of botocore's `create_client`.

    All clients share one session as long as the environment stays: making one takes as long as a client.
    """
    configured = sorted(item for item in os.environ.items() if item[0].startswith("AWS_"))
    with _MAKING:  # botocore's sessions make one client at a time
        return _session(tuple(configured)).create_client(service, **options)


@lru_cache(maxsize=1)
def _session(configured: tuple[tuple[str, str], ...]) -> Any:
    import botocore.session

    return botocore.session.get_session()


def _check_length(response_dict: dict[str, Any], **_: Any) -> None:
    """Raise botocore's IncompleteReadError for a reply that ended early.

    botocore takes it for a reply without an item, so that a session would seem not to exist.
    """
    from botocore.exceptions import IncompleteReadError

    promised, came = response_dict["headers"].get("Content-Length"), len(response_dict["body"])
    if promised is not None and came < int(promised):
        raise IncompleteReadError(actual_bytes=came, expected_bytes=int(promised))


def _of(p: str) -> dict[str, Any]:
    return {"KeyConditionExpression": "p = :p", "ExpressionAttributeValues": {":p": {"S": p}}}


def _given(values: Item | None = None, **arguments: Any) -> dict[str, Any]:
    """Return the arguments that have a value: DynamoDB rejects empty ones."""
    return {
        name: value for name, value in {**arguments, "ExpressionAttributeValues": values}.items() if value
    }
