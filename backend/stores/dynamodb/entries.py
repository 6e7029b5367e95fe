"""Books of entries in a table: one partition per book, one item per entry.

Entries change about once per session, far below the thousand writes a second that a partition allows. Long
ones are compressed: an item has 400 KB at most, and each KB of it is billed at each write.
"""

import json
import secrets
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

from backend.stores.dynamodb.client import Calls, Item, Refused, key
from backend.stores.store import Entry, Stale

_LONG_BYTES = 20_000
"""Length from which an entry is compressed."""


class Books:
    """`Store.entry`, `entries` and `write_entry` on one table."""

    def __init__(self, calls: Calls):
        self._calls = calls

    def entry(self, book: str, name: str) -> Entry | None:
        item = self._calls.get(f"book {book}", name)
        return _entry(item) if item else None

    def entries(self, book: str) -> Iterator[Entry]:
        return map(_entry, self._calls.each(f"book {book}"))

    def latest(self, book: str, limit: int, before: str | None) -> list[Entry]:
        return list(map(_entry, self._calls.latest(f"book {book}", limit, before)))

    def erase(self, book: str, name: str) -> None:
        self._calls.delete(f"book {book}", name)

    def write(self, book: str, name: str, expected_version: int, data: Mapping[str, Any]) -> Entry:
        text = json.dumps(data, separators=(",", ":"), allow_nan=False)
        ours = {"S": secrets.token_hex(8)}
        version = {"N": str(expected_version + 1)}
        item = {**key(f"book {book}", name), "v": version, "j": _packed(text), "u": ours}
        try:
            if expected_version:
                self._calls.put(item, "v = :old", {":old": {"N": str(expected_version)}})
            else:
                self._calls.put(item, "attribute_not_exists(p)")
        except Refused as refused:
            # If the reply to an earlier try was lost, only the stored item shows whether it took effect.
            stored = self._calls.get(f"book {book}", name) if refused.may_be_ours else None
            if stored is None or stored["u"] != ours:
                message = f"entry {name} of {book} is no longer at version {expected_version}"
                raise Stale(message) from None
        return Entry(name, expected_version + 1, json.loads(text))


def _entry(item: Item) -> Entry:
    stored = item["j"]
    text = stored["S"] if "S" in stored else zlib.decompress(stored["B"])
    return Entry(item["s"]["S"], int(item["v"]["N"]), json.loads(text))


def _packed(text: str) -> dict[str, Any]:
    if len(text) < _LONG_BYTES:
        return {"S": text}
    return {"B": zlib.compress(text.encode())}
