"""Encoding of pools and sessions; a session's stimuli are stored as numbers into its study's pool.

A HYPE-time session plans 510 stimuli. Their names would take eight kilobytes, their numbers one or two. A
pool never changes. It is stored by sides: a directory, which says how many names each side has and which
name each page begins with; pages of names (`name_pages.py`), read when a session shows one of theirs; and
the paths of the researcher's files, which no session needs.
"""

import json
import string
import struct
import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, permutations
from typing import Any, NamedTuple

from backend.experiment.records import (
    CHECK,
    INSTRUCTED,
    PRACTICE,
    TEST,
    PlannedBlock,
    Session,
    Stimulus,
)
from backend.experiment.sampling import Pool
from backend.experiment.unscored import right_answer, role_of
from backend.stores import json_codec
from backend.stores.name_pages import (
    NAMES_PER_PAGE,
    PackedNames,
    Pages,
    held_bytes,
    held_pages,
    names_at,
    pack_names,
    page_count,
    pages_of,
    pool_of_sides,
)

SOURCES_PER_ITEM = 4000
"""Paths per item: some bytes each, far below the 400 KB limit of an item."""


SideKey = tuple[str, str | None, str, str]
"""Truth, model, class and role of a side's stimuli."""
_KIND_LETTERS = {TEST: "t", PRACTICE: "p", CHECK: "c", INSTRUCTED: "i"}
_DIGITS = string.digits + string.ascii_lowercase
_ORDERS = {count: list(permutations(range(count))) for count in range(1, 5)}
"""All orders of as many pictures."""
_KINDS = {letter: kind for kind, letter in _KIND_LETTERS.items()}


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
    """A study's pool by sides, and the number of each of its stimuli: by page, and index in it.

    Args:
        sides: in the order of their first names; each begins a page.
        pages: what reads pages of names.
        firsts: the first name of each page.
        memory_bytes: about how much memory the pool takes, besides pages that are read on demand.
    """

    def __init__(self, sides: Sequence[Side], pages: Pages, firsts: Sequence[str], memory_bytes: int):
        self.sides, self.memory_bytes = sides, memory_bytes
        self._pages, self._firsts = pages, firsts
        *self._begins, self.page_count = accumulate((page_count(side.count) for side in sides), initial=0)
        self._of = {side.key: i for i, side in enumerate(sides)}
        self.size = self.page_count * NAMES_PER_PAGE
        """Numbers below this one are in use."""

    def pool(self) -> Pool:
        """Return the pool to draw from."""
        placed = zip(self.sides, self._begins, strict=True)
        sides = ((side.key, begin, side.count) for side, begin in placed)
        return pool_of_sides(sides, self._pages, self.memory_bytes)

    def places_of(self, blocks: Sequence[PlannedBlock]) -> "list[Place] | None":
        """Return where all stimuli of `blocks` are, in order; None if one is not as in the pool."""
        trials = [(block, offset, name) for block in blocks for offset, name in enumerate(block.stimuli)]
        candidates = [list(self._candidates(block, offset, name)) for block, offset, name in trials]
        pages = self._pages({page for found in candidates for _, page, _ in found})
        opened = {page: PackedNames(data) for page, data in pages.items()}
        places = []
        for (_, _, name), found in zip(trials, candidates, strict=True):
            place = self._place_among(name, found, opened)
            if place is None:
                return None
            places.append(place)
        return places

    def _candidates(self, block: PlannedBlock, offset: int, name: str) -> Iterator[tuple[int, int, str]]:
        """Yield the sides and pages that may have a stimulus, each with the picture that is its first there.

        An item may be shown in another order than that of its parts in the pool.
        """
        pictures = name.split(" ")
        for side in self._sides_of_item(block, offset) if pictures[1:] else [self._side_of(block, offset)]:
            if side is None:
                continue
            for first in pictures:
                page = self._page_of(side, f"{first} " if pictures[1:] else first)
                if page >= 0:
                    yield side, page, first

    def _place_among(
        self, name: str, candidates: Iterable[tuple[int, int, str]], opened: Mapping[int, PackedNames]
    ) -> "Place | None":
        pictures = name.split(" ")
        for side, page, first in candidates:
            names = opened[page]
            place = names.place_of_item(first, {*pictures}) if pictures[1:] else names.place_of(name)
            if place is None:
                continue
            stored = names[place].split(" ")
            order = tuple(map(stored.index, pictures))
            number = page * NAMES_PER_PAGE + place
            return Place(number, _ORDERS[len(order)].index(order), self.sides[side].truth)
        return None

    def blocks(self, numbers: Sequence[int], parts: Iterable[Sequence[Any]]) -> list[PlannedBlock]:
        """Return the blocks of the stimuli of `numbers`, described by `parts` as returned by `_part`."""
        names = names_at(self._pages, numbers)
        sides = [self.sides[bisect_right(self._begins, n // NAMES_PER_PAGE) - 1] for n in numbers]
        blocks, start = [], 0
        for size, class_, *more in parts:
            facts: dict[str, Any] = more[0] if more else {}
            shown = sides[start : start + size]
            truths, models = tuple(side.truth for side in shown), tuple(side.model for side in shown)
            kinds = tuple(_KINDS[letter] for letter in facts.get("kinds", ""))
            if kinds:
                truths = tuple(map(right_answer, truths, kinds))
            if "truths" in facts:
                words, letters = facts["truths"]
                truths = tuple(words[int(letter, 36)] for letter in letters)
            of_block = tuple(names[start : start + size])
            if "orders" in facts:
                of_block = tuple(map(_in_order, of_block, facts["orders"]))
            by_need = tuple(facts.get("by_need", ()))
            exposures_ms = tuple(facts.get("exposures_ms", ()))
            blocks.append(PlannedBlock(of_block, truths, models, class_, by_need, kinds, exposures_ms))
            start += size
        return blocks

    def _side_of(self, block: PlannedBlock, offset: int) -> int | None:
        """Return the side that has the stimulus of a trial."""
        truth, model, kind = block.truths[offset], block.models[offset], block.kind(offset)
        class_ = block.class_ if kind == TEST else ""
        return self._of.get((right_answer(truth, kind), model, class_, role_of(kind)))

    def _sides_of_item(self, block: PlannedBlock, offset: int) -> list[int]:
        """Return the sides that may have the item of a trial, whose right answer depends on its order."""
        model, role = block.models[offset], role_of(block.kind(offset))
        return [i for i, side in enumerate(self.sides) if (side.model, side.role) == (model, role)]

    def _page_of(self, side: int, name: str) -> int:
        """Return the number of the only page that can have a name, or, of an item, its first picture and a
        blank; -1 if none can."""
        begin = self._begins[side]
        end = begin + page_count(self.sides[side].count)
        after = f"{name}\x7f" if name.endswith(" ") else name
        page = bisect_right(self._firsts, after, begin, end) - 1
        return page if page >= begin else -1


EMPTY = StoredPool((), held_pages(()), (), 0)
"""The pool of a study that is not there."""


class Place(NamedTuple):
    """Where a stimulus of a session is in the pool."""

    number: int
    order: int
    """Index, among all orders of its pictures, of that in which they are shown; 0 for that of the pool."""
    truth: str
    """Its truth in the pool."""


@dataclass(frozen=True)
class PackedPool:
    """A pool as it is stored.

    Args:
        sides: the encoded list of sides.
        firsts: the encoded first names of all pages.
    """

    sides: bytes
    firsts: bytes
    pages: Sequence[bytes]
    sources: Sequence[bytes]


def pack_pool(stimuli: Iterable[Stimulus]) -> PackedPool:
    """Return a pool encoded."""
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
        pack_names([PackedNames(page)[0] for page in pages]),
        pages,
        [_squeezed(sources[start : start + SOURCES_PER_ITEM]) for start in parts],
    )


def unpack_directory(sides: bytes, firsts: bytes, pages: Pages) -> StoredPool:
    """Return the pool whose directory was encoded by `pack_pool`; `pages` reads its pages."""
    found = [Side(*row) for row in json.loads(zlib.decompress(sides))]
    return StoredPool(found, pages, PackedNames(firsts), len(firsts) + held_bytes((), len(found)))


def unpack_sources(data: bytes) -> list[str]:
    """Return the paths in one item of sources, in the order of the pages' names."""
    paths: list[str] = json.loads(zlib.decompress(data))
    return paths


def pack_session(session: Session, pool: StoredPool) -> tuple[bytes, bytes]:
    """Return the encoded facts of a session, and the numbers of its stimuli in the pool.

    The numbers are empty if a stimulus differs from that of the pool; the facts then hold the whole
    session.
    """
    places = pool.places_of((*session.blocks, *session.spares))
    if places is None:
        return zlib.compress(json_codec.dump(session).encode(), 9), b""
    facts = vars(session)
    left = iter(places)
    blocks, spares = (
        [_part(block, [next(left) for _ in block.stimuli]) for block in part]
        for part in (session.blocks, session.spares)
    )
    numbers = [place.number for place in places]
    return _squeezed({**facts, "blocks": blocks, "spares": spares}), struct.pack(
        f">{len(numbers)}{_width(pool)}", *numbers
    )


def _part(block: PlannedBlock, places: Sequence[Place]) -> list[Any]:
    """Return size and class of a block, and by name what else it has.

    That is `by_need`, the trials' `kinds`, and their exposures if these are fixed; for items, the order of
    their pictures, and the right answers, where they are not as in the pool.
    """
    kinds = "".join(_KIND_LETTERS[kind] for kind in block.kinds)
    parts = {"by_need": block.by_need, "kinds": kinds, "exposures_ms": block.exposures_ms}
    if any(place.order for place in places):
        parts["orders"] = "".join(_DIGITS[place.order] for place in places)
    if any(" " in name for name in block.stimuli) and block.truths != tuple(p.truth for p in places):
        words = sorted(set(block.truths))
        parts["truths"] = [words, "".join(_DIGITS[words.index(truth)] for truth in block.truths)]
    more = {name: value for name, value in parts.items() if value}
    return [len(block.stimuli), block.class_, *([more] if more else [])]


def unpack_session(facts: bytes, numbers: bytes, pool: Callable[[], StoredPool]) -> Session:
    """Return the session encoded by `pack_session`; `pool` is called if the session refers to its pool."""
    text = zlib.decompress(facts).decode()
    if not numbers:
        return json_codec.load_session(text)
    data: dict[str, Any] = json.loads(text)
    stored = pool()
    width = _width(stored)
    flat = struct.unpack(f">{len(numbers) // struct.calcsize(width)}{width}", numbers)
    blocks = stored.blocks(flat, [*data["blocks"], *data["spares"]])
    count = len(data["blocks"])
    data["blocks"], data["spares"] = tuple(blocks[:count]), tuple(blocks[count:])
    return json_codec.session_of(data)


def pictures(session: Session) -> list[str]:
    """Return all stimulus names of a session, in the order in which responses index them."""
    return [name for block in (*session.blocks, *session.spares) for name in block.stimuli]


def _in_order(name: str, order: str) -> str:
    """Return a stimulus with its pictures in the order of a digit, an index among all orders."""
    pictures = name.split(" ")
    return " ".join(pictures[place] for place in _ORDERS[len(pictures)][int(order, 36)])


def _width(pool: StoredPool) -> str:
    return "H" if pool.size <= 1 << 16 else "I"


def _squeezed(data: Any) -> bytes:
    return zlib.compress(json.dumps(data, separators=(",", ":")).encode(), 9)
