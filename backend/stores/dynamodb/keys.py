"""DynamoDB key layout and encoding of session items."""

import zlib
from collections.abc import Sequence

from backend.experiment.records import Response
from backend.experiment.session import Cursor
from backend.stores.dynamodb import record_codec
from backend.stores.dynamodb.client import Item

LISTS = 8
"""Partitions in which a study's sessions are listed."""
PAGE_SHARDS = 8
"""Partitions in which the pages of a pool are: each takes some thousand reads a second."""
HEAD = f"{0:08d}"
"""The sort key of a session's immutable item."""


def of_session(session_id: str) -> str:
    return f"session {session_id}"


def of_pool(study: str, upload: str) -> str:
    """Return the partition of a pool's directory."""
    return f"pool {study} {upload}"


def page_of_pool(study: str, upload: str, page: int) -> tuple[str, str]:
    return f"{of_pool(study, upload)} {page % PAGE_SHARDS}", f"{page:08d}"


def sources_of_pool(study: str, upload: str) -> str:
    """Return the partition of the paths of the researcher's files."""
    return f"{of_pool(study, upload)} sources"


def all_of_pool(study: str, upload: str) -> list[str]:
    pages = [page_of_pool(study, upload, shard)[0] for shard in range(PAGE_SHARDS)]
    return [*pages, sources_of_pool(study, upload), of_pool(study, upload)]


def of_listed(study: str, session_id: str, simulated: bool) -> str:
    return all_listed(study, simulated)[shard_of(session_id, LISTS)]


def all_listed(study: str, simulated: bool) -> list[str]:
    """Return the partitions in which a study's sessions are listed."""
    name = f"simulated closed {study}" if simulated else f"closed {study}"
    return [f"{name} {shard}" for shard in range(LISTS)]


def shard_of(session_id: str, shards: int) -> int:
    """Return the shard of a session, which is the same in every process."""
    return zlib.crc32(session_id.encode()) % shards


def of_version(version: int) -> str:
    """Return the sort key of the item that holds a version (from 1) of a session's cursor."""
    return f"{version:08d}"


def cursor_attributes(cursor: Cursor, pictures: Sequence[str]) -> Item:
    return {"v": {"N": str(cursor.version)}, "c": {"B": record_codec.pack(cursor, pictures)}}


def cursor_in(item: Item, pictures: Sequence[str]) -> Cursor:
    """Return the cursor encoded in an item's attributes."""
    cursor: Cursor = record_codec.unpack(Cursor, item["c"]["B"], pictures)
    return cursor


def responses_in(item: Item, pictures: Sequence[str]) -> list[Response]:
    """Return the responses stored in an item: none, one, or many."""
    if "b" not in item:
        return []
    responses: list[Response] = record_codec.unpack(list[Response], item["b"]["B"], pictures)
    return responses
