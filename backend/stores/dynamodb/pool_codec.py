"""Encoding of pools, which never change: by sides, so that a session reads only the names that it shows.

A directory says how many names each side has; its pages of names (`name_pages.py`) are read when a session
shows one of theirs, and the paths of the researcher's files by no session.
"""

import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from backend.experiment.records import Stimulus
from backend.experiment.sampling import Pool
from backend.stores.name_pages import Pages, held_bytes, held_pages, page_count, pages_of, pool_of_sides

SOURCES_PER_ITEM = 4000
"""Paths per item: some bytes each, far below the 400 KB limit of an item."""

SideKey = tuple[str, str | None, str, str]
"""Truth, model, class and role of a side's stimuli."""


@dataclass(frozen=True)
class Side:
    """The stimuli of one truth, model, class and role."""

    truth: str
    model: str | None
    class_: str
    count: int
    role: str = ""

    @property
    def key(self) -> SideKey:
        return self.truth, self.model, self.class_, self.role


class StoredPool:
    """A study's pool by sides.

    Args:
        sides: in the order of their first names; each begins a page.
        pages: what reads pages of names.
    """

    def __init__(self, sides: Sequence[Side], pages: Pages):
        self.sides, self._pages = sides, pages
        *self._begins, self.page_count = accumulate((page_count(side.count) for side in sides), initial=0)
        self.memory_bytes = held_bytes((), len(sides))
        """About how much memory the pool takes, besides pages that are read on demand."""

    def pool(self) -> Pool:
        placed = zip(self.sides, self._begins, strict=True)
        sides = ((side.key, begin, side.count) for side, begin in placed)
        return pool_of_sides(sides, self._pages, self.memory_bytes)


EMPTY = StoredPool((), held_pages(()))
"""The pool of a study that has none here."""


@dataclass(frozen=True)
class PackedPool:
    """A pool as it is stored: the encoded list of sides, the pages of their names, and the sources."""

    sides: bytes
    pages: Sequence[bytes]
    sources: Sequence[bytes]


def pack_pool(stimuli: Iterable[Stimulus]) -> PackedPool:
    by_side: dict[SideKey, list[Stimulus]] = {}
    for stimulus in sorted(stimuli, key=lambda stimulus: stimulus.name):
        key = (stimulus.truth, stimulus.model, stimulus.class_, stimulus.role)
        by_side.setdefault(key, []).append(stimulus)
    sides = [(*side, len(members), *([role] if role else [])) for (*side, role), members in by_side.items()]
    pages = [page for members in by_side.values() for page in pages_of([each.name for each in members])]
    sources = [each.source for members in by_side.values() for each in members]
    parts = range(0, len(sources), SOURCES_PER_ITEM)
    return PackedPool(
        _squeezed(sides),
        pages,
        [_squeezed(sources[start : start + SOURCES_PER_ITEM]) for start in parts],
    )


def unpack_sides(data: bytes) -> list[Side]:
    """Return the sides that were encoded by `pack_pool`."""
    return [Side(*row) for row in json.loads(zlib.decompress(data))]


def unpack_sources(data: bytes) -> list[str]:
    """Return the paths in one item of sources, in the order of the pages' names."""
    paths: list[str] = json.loads(zlib.decompress(data))
    return paths


def _squeezed(data: Any) -> bytes:
    return zlib.compress(json.dumps(data, separators=(",", ":")).encode(), 9)
