"""The pools of a table: stored once, read a page at a time, and cached up to a number of bytes.

A pool belongs to one upload: the name of a study that was deleted before it was begun may be reused by
another study, with another pool. A pool that grows is stored anew, as another upload: sessions of before
name the upload that they were planned from.
"""

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence

from backend.experiment.records import Stimulus
from backend.foundation.bounded_cache import Recent
from backend.stores.dynamodb import keys, pool_codec
from backend.stores.dynamodb.client import Calls, Item, key
from backend.stores.dynamodb.pool_codec import StoredPool
from backend.stores.name_pages import PackedNames
from backend.stores.store import no_study

UPLOAD, EARLIER = "u", "us"
"""The upload id of a study's pool, stored in its record and in the heads of its sessions."""
_DIRECTORY_BYTES = 48 << 20
"""Cached directories, in bytes of memory."""
_PAGES_BYTES = 48 << 20
"""Cached pages: those of some millions of stimuli."""
_BYTES_PER_PAGE = 200
"""Memory that a cached page takes besides its names."""
_PART_BYTES = 350_000
"""Bytes of a directory per item; DynamoDB's limit is 400 KB."""
_PAGES_AT_ONCE = 100
_SMALL_PAGES = 20
"""A pool of up to so many pages, of which a session needs most, is read as a whole."""


class Pools:
    """The pools of a table. Safe to use from many threads."""

    def __init__(self, calls: Calls):
        self._calls = calls
        self._uploads: dict[str, str] = {}
        self._earlier: dict[str, frozenset[str]] = {}
        self._directories = Recent[StoredPool](_DIRECTORY_BYTES, lambda pool: pool.memory_bytes)
        self._pages = Recent[bytes](_PAGES_BYTES, lambda page: len(page) + _BYTES_PER_PAGE)

    def add(self, study: str, stimuli: Iterable[Stimulus]) -> str:
        """Store a pool and return its upload id, by which the study's record makes it visible."""
        upload = secrets.token_hex(8)
        packed = pool_codec.pack_pool(stimuli)
        for number, page in enumerate(packed.pages):
            self._put(*keys.page_of_pool(study, upload, number), page)
        for part, sources in enumerate(packed.sources, start=1):
            self._put(keys.sources_of_pool(study, upload), f"{part:08d}", sources)
        starts = range(0, len(packed.sides), _PART_BYTES)
        for part, start in enumerate(starts, start=1):
            place = f"{part:04d} of {len(starts):04d}"
            self._put(keys.of_pool(study, upload), place, packed.sides[start : start + _PART_BYTES])
        return upload

    def remove(self, study: str, upload: str) -> None:
        for partition in keys.all_of_pool(study, upload):
            for item in list(self._calls.each(partition, ("s",))):
                self._calls.delete(partition, item["s"]["S"])

    def know_upload(self, study: str, upload: str, earlier: Iterable[str] = ()) -> None:
        """Remember the upload of a study's pool, and those before it grew, as read from its record."""
        self._uploads[study], self._earlier[study] = upload, frozenset(earlier)

    def know_item(self, study: str, item: Item) -> None:
        """Remember the uploads that a study's item names."""
        self.know_upload(study, item[UPLOAD]["S"], uploads_of(item)[1:])

    def is_of(self, study: str, upload: str) -> bool:
        """Return whether an upload is of a study's pool, or of what it was before it grew."""
        if self._knows(study, upload):
            return True
        item = self._calls.get("studies", study)  # it may have grown meanwhile
        if item is None:
            return False
        self.know_item(study, item)
        return self._knows(study, upload)

    def _knows(self, study: str, upload: str) -> bool:
        return upload == self._uploads.get(study) or upload in self._earlier.get(study, ())

    def upload_of(self, study: str) -> str | None:
        """Return the upload id of a study's pool, as last read; None if there is no such study."""
        if study not in self._uploads:
            item = self._calls.get("studies", study)
            if item is None:
                return None
            self.know_item(study, item)
        return self._uploads[study]

    def of(self, study: str) -> StoredPool:
        """Return a study's pool; an empty one if there is no such study."""
        upload = self.upload_of(study)
        if upload is None:
            return pool_codec.EMPTY
        pool = self._directories.get(upload)
        if pool is None:
            pool = self._read(study, upload)
            self._directories.put(upload, pool)
        return pool

    def stimuli(self, study: str) -> Iterator[Stimulus]:
        """Yield a study's stimuli in the order of their names; none if there is no such study."""
        upload = self.upload_of(study)
        if upload is None:
            return
        yield from sorted(self._by_side(study, upload), key=lambda stimulus: stimulus.name)

    def _by_side(self, study: str, upload: str) -> Iterator[Stimulus]:
        pool = self._read(study, upload)
        parts = self._calls.each(keys.sources_of_pool(study, upload))
        sources = (source for part in parts for source in pool_codec.unpack_sources(part["b"]["B"]))
        names = self._all_names(study, upload, pool.page_count)
        for side in pool.sides:
            for _ in range(side.count):
                yield Stimulus(next(names), side.truth, side.model, side.class_, next(sources), side.role)

    def _all_names(self, study: str, upload: str, pages: int) -> Iterator[str]:
        for start in range(0, pages, _PAGES_AT_ONCE):
            wanted = range(start, min(start + _PAGES_AT_ONCE, pages))
            page_contents = self._pages_in_table(study, upload, wanted)
            for page in wanted:
                yield from PackedNames(page_contents[page])

    def _read(self, study: str, upload: str) -> StoredPool:
        """Return a pool, of which whoever deletes it meanwhile may leave nothing."""
        parts = list(self._calls.each(keys.of_pool(study, upload)))
        if not parts:
            return pool_codec.EMPTY
        if len(parts) != int(parts[0]["s"]["S"].rpartition(" ")[2]):
            raise no_study(study)

        def pages(wanted: Iterable[int]) -> Mapping[int, bytes]:
            small = range(pool.page_count if pool.page_count <= _SMALL_PAGES else 0)
            return self._read_pages(study, upload, wanted, small)

        sides = pool_codec.unpack_sides(b"".join(part["b"]["B"] for part in parts))
        pool = StoredPool(sides, pages)
        return pool

    def _read_pages(
        self, study: str, upload: str, wanted: Iterable[int], besides: Iterable[int]
    ) -> Mapping[int, bytes]:
        """Return pages by number; if some are not cached, they and those `besides` are read at once.

        Raises:
            NotFound: the study was deleted.
        """
        pages, missing = {}, []
        for page in wanted:
            cached = self._pages.get(f"{upload} {page}")
            if cached is None:
                missing.append(page)
            else:
                pages[page] = cached
        if not missing:
            return pages
        for page, data in self._pages_in_table(study, upload, list({*missing, *besides})).items():
            self._pages.put(f"{upload} {page}", data)
            pages[page] = data
        return pages

    def _pages_in_table(self, study: str, upload: str, wanted: Sequence[int]) -> dict[int, bytes]:
        contents: dict[int, bytes] = {}
        for is_consistent in (False, True):  # a pool never changes, but may have been stored just now
            missing = [page for page in wanted if page not in contents]
            places = (keys.page_of_pool(study, upload, page) for page in missing)
            contents |= {
                int(item["s"]["S"]): item["b"]["B"] for item in self._calls.many(places, is_consistent)
            }
        if len(contents) < len(wanted):
            raise no_study(study)
        return contents

    def _put(self, partition: str, place: str, data: bytes) -> None:
        self._calls.put({**key(partition, place), "b": {"B": data}})


def uploads_of(item: Item) -> list[str]:
    """Return the uploads that a study's item names: that of its pool, then those before it grew."""
    return [item[UPLOAD]["S"], *(earlier["S"] for earlier in item.get(EARLIER, {"L": []})["L"])]
