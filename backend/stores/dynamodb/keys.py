"""DynamoDB key layout and encoding of session items."""

import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace

from backend.experiment.records import Response
from backend.experiment.session import Cursor
from backend.stores.dynamodb import response_codec
from backend.stores.dynamodb.client import Item

WRITES_PER_ITEM = 6
"""Writes per item. A HYPE-time response takes about 90 bytes, the cursor and the display facts reported by
the browser about 300: six writes leave room for long flags within a kilobyte.
"""
LISTS = 8
"""Partitions in which a study's sessions are listed."""
PAGE_SHARDS = 8
"""Partitions in which the pages of a pool are: each takes some thousand reads a second."""
NONCE_BYTES = 4
_USUAL_DISPLAYS = (
    b'[{"frame_ms":16.666666666666668,"refresh_hz":60.0,"jitter_ms":0.0,"dropped_frames":0,"is_variable":false,'
    b'"full_screen":true,"width_px":1920,"height_px":1080,"pixel_ratio":1.0,"shown_css_px":256.0,"shown_px":256}]'
)
"""Displays as browsers report them: only differences take bytes. Never change it, since stored items need it.

Those of version 0.1 were compressed without it, and are read as well.
"""
HEAD = f"{0:08d}"
"""The sort key of a session's immutable item."""


def of_session(session_id: str) -> str:
    """Return the partition of a session."""
    return f"session {session_id}"


def of_pool(study: str, upload: str) -> str:
    """Return the partition of a pool's directory; version 0.1 stored all its stimuli there."""
    return f"pool {study} {upload}"


def page_of_pool(study: str, upload: str, page: int) -> tuple[str, str]:
    """Return the key of a page of a pool's names."""
    return f"{of_pool(study, upload)} {page % PAGE_SHARDS}", f"{page:08d}"


def sources_of_pool(study: str, upload: str) -> str:
    """Return the partition of the paths of the researcher's files."""
    return f"{of_pool(study, upload)} sources"


def all_of_pool(study: str, upload: str) -> list[str]:
    """Return all partitions of a pool."""
    pages = [page_of_pool(study, upload, shard)[0] for shard in range(PAGE_SHARDS)]
    return [*pages, sources_of_pool(study, upload), of_pool(study, upload)]


def of_listed(study: str, session_id: str, simulated: bool) -> str:
    """Return the partition in which a session is listed."""
    return all_listed(study, simulated)[shard_of(session_id, LISTS)]


def all_listed(study: str, simulated: bool) -> list[str]:
    """Return the partitions in which a study's sessions are listed: `closed`, as version 0.1 named them."""
    name = f"simulated closed {study}" if simulated else f"closed {study}"
    return [f"{name} {shard}" for shard in range(LISTS)]


def shard_of(session_id: str, shards: int) -> int:
    """Return the shard of a session, which is the same in every process."""
    return zlib.crc32(session_id.encode()) % shards


def place_of(version: int) -> tuple[str, int]:
    """Return the sort key of the item that holds a version (from 1), and the index of the version in it."""
    entry = (version - 1) % WRITES_PER_ITEM
    return f"{version - entry:08d}", entry


def cursor_attributes(cursor: Cursor, pictures: Sequence[str]) -> Item:
    """Return a cursor encoded as attributes."""
    squeeze = zlib.compressobj(9, zdict=_USUAL_DISPLAYS)
    displays = squeeze.compress(json.dumps(cursor.displays, separators=(",", ":")).encode())
    item: Item = {
        "v": {"N": str(cursor.version)},
        "c": {"B": response_codec.pack_cursor(cursor, pictures)},
        "d": {"B": displays + squeeze.flush()},
    }
    if cursor.questions:
        answers = json.dumps(cursor.questions, ensure_ascii=False, separators=(",", ":")).encode()
        item["a"] = {"B": zlib.compress(answers, 9)}
    return item


def cursor_in(item: Item, pictures: Sequence[str]) -> Cursor:
    """Return the cursor encoded in an item's attributes."""
    displays = json.loads(zlib.decompressobj(zdict=_USUAL_DISPLAYS).decompress(item["d"]["B"]))
    cursor = response_codec.unpack_cursor(item["c"]["B"], int(item["v"]["N"]), displays, pictures)
    return replace(cursor, questions=json.loads(zlib.decompress(item["a"]["B"]))) if "a" in item else cursor


def responses_in(item: Item, pictures: Sequence[str]) -> Iterator[Response]:
    """Yield the responses stored in an item: packed ones first, then those of its writes."""
    if "b" in item:
        yield from response_codec.unpack_responses(item["b"]["B"], pictures)
    for entry in range(WRITES_PER_ITEM):
        written = item.get(str(entry), {"B": b""})["B"]
        if len(written) > NONCE_BYTES:
            yield response_codec.unpack_response(written[NONCE_BYTES:], pictures)
